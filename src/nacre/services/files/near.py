"""Files of a session whose shell sees the files that we see: by plain reading and writing.

Rule: only a shell's session, without a sandbox: who may type there could do the same. What runs in
a sandbox, behind ssh or as somebody else is reached through its shell alone (far.py).
"""

import os
from functools import partial

from nacre.core.shell.programs import MULTIPLEXERS, OPAQUE
from nacre.errors import Failed, InvalidInput, LimitReached, NacreError
from nacre.services.dispatch.permit import turn
from nacre.services.host.host import Host
from nacre.services.session.session import Session
from nacre.system.processes.tree import working_directory
from nacre.system.whole_files import (
    NotAFile,
    OtherContent,
    TooLarge,
    WholeFile,
    read_whole,
    shares_files,
    write_whole,
)

_NO_UMASK = 0o022  # if the daemon was not told what sessions have


def folder_of(session: Session) -> str | None:
    """Return the folder of a session's shell; None if its files are not ours."""
    if session.launch.sandbox != "off" or not session.launch.is_shell:
        return None
    if session.in_foreground:
        pid = session.leader
        folder = session.stream.prompting.folder or working_directory(pid)
    else:
        facts = session.facts()
        if facts is None or facts.pid is None or facts.program in OPAQUE | MULTIPLEXERS:
            return None
        pid, folder = facts.pid, working_directory(facts.pid)
    return folder if shares_files(pid) else None


class NearFiles:
    def __init__(self, host: Host) -> None:
        self._host = host

    async def read(self, folder: str, path: str) -> WholeFile:
        whole = _absolute(folder, path)
        most = self._host.settings.max_file_bytes
        try:
            return await self._host.loop.run_in_executor(None, read_whole, whole, most)
        except OSError as error:
            raise explained(error, path, most, "read") from error

    async def write(
        self,
        session: Session,
        folder: str,
        path: str,
        data: bytes,
        *,
        mode: str | None,
        overwrite: bool,
        before: str | None,
    ) -> str:
        """Return the file's permissions."""
        umask = self._host.umask if self._host.umask >= 0 else _NO_UMASK
        write = partial(
            write_whole,
            _absolute(folder, path),
            data,
            mode=None if mode is None else int(mode, 8),
            umask=umask,
            overwrite=overwrite,
            before=before,
        )
        await turn(session)  # a person may have taken it over
        try:
            return f"{await self._host.loop.run_in_executor(None, write):o}"
        except OSError as error:
            raise explained(error, path, self._host.settings.max_file_bytes, "written") from error


def _absolute(folder: str, path: str) -> str:
    return os.path.join(folder, os.path.expanduser(path))


def explained(error: OSError, path: str, most: int, done: str) -> NacreError:
    """Return the error that a caller is told."""
    if isinstance(error, TooLarge):
        return too_large(path, error.size, most)
    if isinstance(error, NotAFile):
        return InvalidInput(f"{path} is no regular file")
    if isinstance(error, OtherContent):
        return other_content(path)
    if isinstance(error, FileExistsError):
        return already_there(path)
    if isinstance(error, IsADirectoryError):
        return InvalidInput(f"{path} is a folder", "name the file in it")
    return Failed(f"{path} cannot be {done}: {error.strerror}")


def too_large(path: str, size: int, most: int) -> LimitReached:
    return LimitReached(f"{path} has {size} bytes, more than {most} (max_file_bytes)")


def other_content(path: str) -> Failed:
    return Failed(f"{path} is not the file that it was: nothing was written", "read it again")


def already_there(path: str) -> Failed:
    return Failed(f"{path} is there already: nothing was written", "let it be replaced")
