"""A command in a REPL: what is waited for, and for how long."""

import asyncio
from functools import partial

from nacre.core.operations.runs import Run
from nacre.services.session.session import Session

from services.clock import advance, with_clock
from services.living import CALLER, living, start_python, text_of, until

# It asks for the rest for ever, and takes no Ctrl+C.
STUBBORN = """
import signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
sys.stdout.write(">>> ")
while True:
    sys.stdout.flush()
    sys.stdin.readline()
    sys.stdout.write("... ")
"""


def _interrupted(session: Session, times: int) -> bool:
    return text_of(session).count("^C") == times


def test_repl_has_the_time_of_the_setting_to_be_back_at_its_prompt() -> None:
    async def test() -> None:
        async with living(repl_prompt_wait=500) as services:
            session = await start_python(services, STUBBORN)
            await until(session, lambda: ">>>" in text_of(session))
            request = Run(session=session.identity.name, command="if x:", timeout_ms=3_000_000)
            run = asyncio.create_task(services.runs.run(CALLER, request))
            for pressed in (1, 2, 3):
                await until(session, partial(_interrupted, session, pressed))
                await advance(480)
                assert not run.done()
                await advance(30)
            outcome = await run
            assert outcome.status == "error"
            assert "the REPL waits for the rest of it" in str(outcome.hint)

    with_clock(test)
