"""Real services in a test's own loop, and waiting for what their sessions show.

Rule: nothing here sleeps. A wait ends with the session's next output or its end; PATIENCE only
bounds how long a test that fails takes.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from nacre.core.catalog.caller import Caller
from nacre.core.operations.sessions import CreateSession
from nacre.services.session.session import Session
from nacre.services.wiring import Services, build_services
from nacre.settings.table import Settings

PATIENCE = 60.0  # seconds
CALLER = Caller(door="test", cwd="/")

# A shell with nothing of the user's; /etc/bash.bashrc may set PS1, so it is set once more. No
# program can write to this home or make it, not even as root: an earlier one was made by a program,
# and the tests after it found what should not have been there.
NO_HOME = "/dev/null"
PROMPT = "nacre>"
SHELL = {"HOME": NO_HOME, "PROMPT_COMMAND": f"PS1='{PROMPT} '", "HISTFILE": "/dev/null"}


@asynccontextmanager
async def living(
    runtime: Path | None = None,
    journals: Path | None = None,
    config: Path | None = None,
    layers: Path | None = None,
    home: Path | None = None,
    **settings: Any,
) -> AsyncIterator[Services]:
    """Services whose sessions are all ended when the block is left.

    With a runtime shells have marks, with a folder for journals sessions are recorded, with one for
    the configuration there may be rules of the user's, with one for layers there can be reviews.
    """
    given = {"shell": "/bin/bash", "kill_grace": 0.2, **settings}
    folder = None if runtime is None else str(runtime)
    services = build_services(
        Settings(**given),
        descriptor_limit=1024,
        home="/" if home is None else str(home),
        runtime=folder,
        journals=None if journals is None else str(journals),
        config=None if config is None else str(config),
        layers=None if layers is None else str(layers),
    )
    try:
        yield services
    finally:
        await services.sessions.end_all()
        await services.searching.end()
        services.ports.close()
        for session in services.registry.all():
            session.close()


async def start(services: Services, line: str | None = None, **parameters: Any) -> Session:
    """Make a session; without a line it is a shell at its prompt."""
    created = await services.sessions.create(CALLER, CreateSession(command=line, **parameters))
    return services.registry.find(created.session_id)


async def start_python(services: Services, program: str, **parameters: Any) -> Session:
    return await start(services, sys.executable, args=["-c", program], **parameters)


async def start_shell(services: Services, **parameters: Any) -> Session:
    """Make a shell; return it at its prompt."""
    session = await start(services, env=SHELL, **parameters)
    await at_prompt(session)
    return session


async def start_marked(services: Services, **parameters: Any) -> Session:
    """Make a shell that marks its prompts (`living` needs a runtime); return it at its first."""
    session = await start(services, env=SHELL, **parameters)
    await until(session, lambda: session.stream.prompting.phase == "prompt")
    return session


async def reads(session: Session) -> None:
    """Return when a program waits for keys; the kernel has no event for that.

    A key that comes while bash draws its prompt is a signal to it, and it may sleep on it.
    """
    while (facts := session.facts()) is None or not facts.waits:  # noqa: ASYNC110  # no event
        await asyncio.sleep(0)


async def until(session: Session, holds: Callable[[], bool]) -> None:
    """Return when something holds; it is looked at after each output."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + PATIENCE
    while not holds():
        assert loop.time() < deadline, "it did not come to that:\n" + text_of(session)
        await session.next_change(deadline, output=True)


async def shows(session: Session, line: str) -> None:
    """Return when a whole line of the screen is this, and the cursor has left it.

    The kernel may hand over a line's end apart from the line: the screen changes once more.
    """

    def is_shown() -> bool:
        lines = session.terminal.plain_lines()
        del lines[session.terminal.cursor().row]
        return line in lines

    await until(session, is_shown)


async def at_prompt(session: Session) -> None:
    """Return when a shell waits at its prompt, and nothing stands behind it."""

    def waits() -> bool:
        cursor = session.terminal.cursor()
        return (
            session.terminal.plain_lines()[cursor.row] == PROMPT and cursor.col == len(PROMPT) + 1
        )

    await until(session, waits)


async def ended(session: Session) -> Session:
    deadline = asyncio.get_running_loop().time() + PATIENCE
    while session.alive:
        assert asyncio.get_running_loop().time() < deadline, text_of(session)
        await session.next_change(deadline, output=False)
    return session


def lines_of(session: Session) -> list[str]:
    """Scrollback and screen, without the blank lines at the end."""
    terminal = session.terminal
    lines = terminal.scrollback_plain(0, terminal.scrollback_total) + terminal.plain_lines()
    while lines and not lines[-1]:
        lines.pop()
    return lines


def text_of(session: Session) -> str:
    return "\n".join(lines_of(session))


def processes_of(session: Session) -> set[int]:
    """Everybody whom the session's environment was handed down to; zombies have none."""
    mark = f"NACRE_SESSION={session.identity.id}".encode()
    found = set()
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/environ", "rb") as file:
                if mark in file.read().split(b"\0"):
                    found.add(int(entry))
        except OSError:
            continue
    return found


def is_process(pid: int) -> bool:
    """Whether the number is anybody's, a zombie's included."""
    return os.path.exists(f"/proc/{pid}")
