# PYTHON_ARGCOMPLETE_OK
"""The entry point: finds the subcommand and loads only what it needs."""

import errno
import gc
import io
import os
import sys
from contextlib import suppress

TYPE_CHECKING = False  # typing takes a while to load, and some commands need nothing of it
if TYPE_CHECKING:
    from typing import Any


def main() -> int:
    """Run one command; return the exit code."""
    arguments = sys.argv[1:]
    _fill_closed_streams()
    _forgive_standard_error()
    if arguments[:1] in (["mcp"], ["server"]):
        _keep_compiled()
    try:
        if arguments[:1] == ["mcp"] and not {"-h", "--help"} & set(arguments):
            # The bridge is started by AI hosts that wait for it: no argument parser before it.
            from nacre.cli.bridge.bridge import main_mcp

            return main_mcp(arguments[1:])
        if arguments[:1] == ["server"] and "_ARGCOMPLETE" not in os.environ:
            _become_keeper(arguments)
            gc.disable()  # what is loaded is no garbage; system/memory.py turns it on again
        from nacre.cli.parser import run

        return run(arguments)
    except KeyboardInterrupt:
        return 130  # as a program that SIGINT ended


def _become_keeper(arguments: list[str]) -> None:
    """Be the keeper, if it is plain that this will be one; it starts us again, as the daemon."""
    from nacre.client.keeping import server_command, will_keep

    if will_keep(arguments[1:]):
        command = server_command(arguments)
        with suppress(OSError):  # the long way says what is wrong
            os.execv(command[0], command)  # noqa: S606  # its words are ours


def _keep_compiled() -> None:
    """Keep compiled modules in the state folder if none are beside the sources.

    PYTHONDONTWRITEBYTECODE (usual in containers), or a folder that is not ours, forbids them there.
    Compiling everything at each start takes twice as long as the rest of it.
    """
    compiled = __spec__.cached  # this module's
    if compiled is None or os.path.exists(compiled):
        return
    from nacre.settings.paths import find_paths, make_private

    state = find_paths().state
    try:
        make_private(state)
    except OSError:
        return  # who needs the folder says so
    sys.pycache_prefix = os.path.join(state, "compiled")
    sys.dont_write_bytecode = False


def _fill_closed_streams() -> None:
    """Let no file or socket get the number of a stream that is closed (`nacre list >&-`)."""
    if None not in (sys.stdin, sys.stdout, sys.stderr):
        return
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    sys.stdin = sys.stdin or open(0)  # noqa: SIM115  # it lives as long as we do
    sys.stdout = sys.stdout or _ClosedOutput()


def _forgive_standard_error() -> None:
    """Let what cannot be said (`2>/dev/full`) change neither what is done nor the exit code."""
    encoding = getattr(sys.stderr, "encoding", None)  # it may be closed
    kept = io.BufferedWriter(_Forgiving(2, "w", closefd=False))
    sys.stderr = io.TextIOWrapper(kept, encoding, "backslashreplace", line_buffering=True)


class _Forgiving(io.FileIO):
    def write(self, data: "Any") -> int:
        try:
            written = super().write(data)
        except OSError:
            written = None
        return memoryview(data).nbytes if written is None else written


class _ClosedOutput(io.TextIOBase):
    """Standard output that was closed: who prints nothing can go without it."""

    @property
    def buffer(self) -> "_ClosedOutput":
        return self

    def write(self, _: object) -> int:
        raise OSError(errno.EBADF, "standard output is closed")
