"""How much later a session in a sandbox is at its first prompt than a plain one.

It has to be within 15 ms on a machine that does nothing else. A profile is tried before it is used
for the first time; that is measured apart. The rounds take turns, so that a busy machine slows all
of them down, and bubblewrap alone, with `true` in it, which is the lower bound. `landlock` as the
argument measures what Landlock makes.
"""

import asyncio
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Literal

from nacre.core.catalog.caller import Caller
from nacre.core.operations.sessions import CreateSession
from nacre.services.wiring import Services, build_services
from nacre.settings.table import Settings

from scratch import p50, table

CALLER = Caller(door="bench")
ENV = {"HOME": "/dev/null", "HISTFILE": "", "LC_ALL": "C.UTF-8"}
BACKEND: Literal["auto", "landlock"] = "landlock" if "landlock" in sys.argv else "auto"
MADE = ("readonly", "workspace", "strict")
PROFILES = ("off", *MADE, "review") if BACKEND == "auto" else ("off", *MADE)
ROUNDS = 40
ALONE = "bubblewrap alone"
BARE = [
    *("bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"),
    *("--tmpfs", "/run", "--tmpfs", "/home", "--unshare-user", "--unshare-pid", "--unshare-ipc"),
    *("--unshare-uts", "--unshare-net", "--unshare-cgroup-try", "--cap-drop", "ALL", "true"),
]


async def open_shell(services: Services, workspace: str, profile: str) -> float:
    """Return the milliseconds until its prompt."""
    started = time.perf_counter()
    request = CreateSession(command="bash", env=ENV, cwd=workspace, sandbox=profile)  # type: ignore[arg-type]
    created = await services.sessions.create(CALLER, request)
    session = services.registry.find(created.session_id)
    while session.stream.prompting.phase != "prompt":
        await session.next_change(session.now + 60, output=True)
    took = (time.perf_counter() - started) * 1000
    await session.end()
    return took


def alone() -> float:
    started = time.perf_counter()
    subprocess.run(BARE, check=True)
    return (time.perf_counter() - started) * 1000


async def measured(folder: Path) -> dict[str, list[float]]:
    workspace = folder / "project"
    workspace.mkdir()
    services = build_services(
        Settings(max_sessions=1000, max_ended=0, kill_grace=0.2, sandbox_backend=BACKEND),
        descriptor_limit=1024,
        home="/",
        runtime=str(folder),
        layers=str(folder / "layers"),
    )
    first = {name: [await open_shell(services, str(workspace), name)] for name in PROFILES}
    times: dict[str, list[float]] = {name: [] for name in (*PROFILES, ALONE)}
    for _ in range(ROUNDS):
        times[ALONE].append(alone())
        for name in PROFILES:
            times[name].append(await open_shell(services, str(workspace), name))
        await services.janitor.sweep()
    await services.sessions.end_all()
    services.ports.close()
    print(f"the first one of each, with its trial: {[round(first[name][0]) for name in PROFILES]}")
    return times


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as folder:
        times = asyncio.run(measured(Path(folder)))
    plain = p50(times["off"])
    rows = [
        (name, p50(found), "" if name == ALONE else p50(found) - plain, min(found), max(found))
        for name, found in times.items()
    ]
    header = ("sandbox, until the first prompt", "p50 ms", "more than off", "best ms", "worst ms")
    table(header, *rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
