"""A daemon whose loop notes how long it was held, in processor time: for bombs.py.

Time on the wall tells little on a machine that others use; what a callback used of the processor is
the same everywhere. The loop is asyncio's own, because uvloop does not tell.

    python bench/measured_daemon.py HOLDS [flags of nacre server]

Appends a line to HOLDS for each callback, turn of the loop and garbage collection over LEAST: the
time of day, which of these it was, milliseconds, and whose callback.
"""

import asyncio
import gc
import os
import sys
import threading
import time
import types
from typing import Any

LEAST = 0.002  # seconds


def name_of(callback: Any) -> str:
    """Name a callback; of a task also where it waits now."""
    task = getattr(callback, "__self__", None)
    if not isinstance(task, asyncio.Task):
        owner = getattr(callback, "__self__", None)
        name = getattr(callback, "__qualname__", repr(callback))
        return name if owner is None else f"{type(owner).__name__}.{name.rpartition('.')[2]}"
    names: list[str] = []
    at: Any = task.get_coro()
    while at is not None and len(names) < 12:
        names.append(getattr(at, "__qualname__", type(at).__name__))
        at = getattr(at, "cr_await", None)
    return " > ".join(names) + f" [{task.get_name()}]"


def measure(path: str) -> type[asyncio.SelectorEventLoop]:
    notes = open(path, "a", buffering=1)  # noqa: SIM115  # as long as the process
    plain_run = asyncio.Handle._run
    loop_thread = threading.get_ident()

    def note(kind: str, seconds: float, name: str) -> None:
        notes.write(f"{time.time():.4f} {kind} {seconds * 1000:.2f} {name}\n")

    def run(handle: asyncio.Handle) -> None:
        callback, begun = handle._callback, time.thread_time()  # type: ignore[attr-defined]
        plain_run(handle)
        if (spent := time.thread_time() - begun) >= LEAST and threading.get_ident() == loop_thread:
            note("callback", spent, name_of(callback))

    class MeasuredLoop(asyncio.SelectorEventLoop):
        def _run_once(self) -> None:
            begun = time.thread_time()
            super()._run_once()  # type: ignore[misc]
            if (spent := time.thread_time() - begun) >= LEAST:
                note("turn", spent, "")

    collecting = 0.0

    def note_collection(phase: str, _: object) -> None:
        nonlocal collecting
        if phase == "start":
            collecting = time.thread_time()
        elif (spent := time.thread_time() - collecting) >= LEAST:
            note("collection", spent, "")

    gc.callbacks.append(note_collection)
    type.__setattr__(asyncio.Handle, "_run", run)
    return MeasuredLoop


def main() -> int:
    path, *flags = sys.argv[1:]
    stand_in = types.ModuleType("uvloop")
    vars(stand_in)["new_event_loop"] = measure(path)
    sys.modules["uvloop"] = stand_in
    from nacre.cli.main import main as nacre

    os.environ["NACRE_KEEPER"] = "false"
    sys.argv = ["nacre", "server", *flags]
    return nacre()


if __name__ == "__main__":
    sys.exit(main())
