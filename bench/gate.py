"""What the policy costs a call: `run true` by an agent, who is judged, and by a person, who is not.

    python bench/gate.py [runs]

Both take turns in the same session, so that a busy machine slows them alike. Then the microseconds
that judging takes alone, before the call and at the write.
"""

import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import uvloop

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from nacre.core.catalog.caller import Caller
from nacre.core.catalog.catalog import spec_of
from nacre.core.operations.all import parse_operation
from nacre.services.dispatch.call import Call
from nacre.services.dispatch.permit import Permit, ToType, holding
from nacre.services.people.control import Controls

from services.living import living, start_marked

AGENT = Caller(door="bench", cwd="/")
PERSON = Caller(door="bench", cwd="/", person=True, key="bench")
LINES = ("true", "cd src && grep -rn 'a b' . | head -5", "git status && python -m pytest -q")


async def measure(preset: str, runs: int, folder: Path) -> None:
    runtime, config, work = (folder / name for name in ("run", "config", "work"))
    for made in (runtime, config, work):
        made.mkdir()
    async with living(runtime, config=config, policy=preset) as services:
        session = await start_marked(services, cwd=str(work))
        dispatch = services.dispatch()
        run = parse_operation("run", {"session": session.identity.id, "command": "true"})
        took: dict[str, list[float]] = {"agent": [], "person": []}
        for number in range(runs + 20):
            both = [("agent", AGENT), ("person", PERSON)]
            for name, caller in both if number % 2 else reversed(both):
                began = time.perf_counter()
                await dispatch(caller, run)
                if number >= 20:  # the first ones load what is loaded late
                    took[name].append(time.perf_counter() - began)
        agent, person = (median(took[name]) * 1e6 for name in ("agent", "person"))
        print(f"{preset}: run true {agent:.0f} µs, unjudged {person:.0f} µs: {agent / person:.3f}")
        controls = Controls(services.registry, services.host)
        for line in LINES:
            alone = []
            request = parse_operation("run", {"session": session.identity.id, "command": line})
            for _ in range(runs):
                call = Call(AGENT, request, spec_of(request), _nobody)
                permit = Permit(
                    controls, AGENT, types=True, police=services.police, judged=call.judged
                )
                with holding(permit):
                    began = time.perf_counter()
                    await services.police.before(call)
                    await permit.judge(session, ToType(b"\r", runs=line))
                    alone.append(time.perf_counter() - began)
            print(f"  {median(alone) * 1e6:6.1f} µs  {line}")


async def _nobody(call: Call) -> None:
    raise AssertionError(call)


async def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    for preset in ("open", "guarded"):
        with tempfile.TemporaryDirectory() as folder:
            await measure(preset, runs, Path(folder))


if __name__ == "__main__":
    uvloop.run(main())
