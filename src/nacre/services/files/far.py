"""Files that only a session's shell can reach: in a sandbox, after ssh, in a container, as root.

They go through its terminal as base64, in several commands of nacre's own (file_scripts.py). The
screen and the audit have a short line instead of each command.

Rule 1: the policy has judged the path (policy/police.py); these commands run that and nothing else.
Rule 2: nothing of the content is redacted on its way: the bytes are checked at the end.
"""

import base64
import hashlib
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from nacre.core.operations.results import RunOutcome
from nacre.core.shell.file_scripts import (
    FarFile,
    append,
    begin_writing,
    drop,
    far_file,
    finish_writing,
    last_words,
    look_at,
    read_part,
)
from nacre.core.text.redaction import redacting
from nacre.errors import Failed, InvalidInput, NacreError, WaitTimedOut
from nacre.services.dispatch.permit import permit_of_call
from nacre.services.files.near import already_there, other_content, too_large
from nacre.services.host.host import Host
from nacre.services.runs.service import Runs
from nacre.services.session.session import Session

_READ_BYTES = 128 * 1024  # of a file in one command: its output stays in memory (run_memory_bytes)
_WRITE_BYTES = 45_000  # an argument has at most 128 KB (MAX_ARG_STRLEN), as base64
_ALL = 1 << 31  # characters of a command's output

_TOLD = {
    "none": "there is no such file",
    "folder": "it is a folder",
    "special": "it is no regular file",
    "denied": "permission denied, or no space left",
    "nowhere": "its folder is not there",
    "untold": "neither base64 nor openssl is there",
    "unknown": "no program there can tell its checksum",
}


class FarFiles:
    def __init__(self, runs: Runs, host: Host) -> None:
        self._runs = runs
        self._host = host

    @asynccontextmanager
    async def reach(
        self, session: Session, path: str, doing: str, timeout_ms: int
    ) -> "AsyncIterator[FarSide]":
        """Keep others from running something in a session while a file goes through it."""
        session.require_alive()
        if self._runs.is_locked(session):
            raise Failed("another command is under way in this session", "try again later")
        deadline = self._host.loop.time() + timeout_ms / 1000
        with self._runs.lock(session), redacting(None):
            yield FarSide(self._runs, self._host, session, path, doing, deadline)


class FarSide:
    """One file behind a session's shell."""

    def __init__(
        self,
        runs: Runs,
        host: Host,
        session: Session,
        path: str,
        doing: str,
        deadline: float,
    ) -> None:
        self._runs = runs
        self._host = host
        self._session = session
        self._path = path
        self._shown = f"# nacre: {doing} {path!r}"
        self._deadline = deadline

    async def look(self) -> FarFile:
        """Raises Failed or InvalidInput for what cannot be read, LimitReached for a large one."""
        words = last_words(await self._run(look_at(self._path)))
        found = far_file(words)
        if found is None:
            raise self._refused(words, "read")
        most = self._host.settings.max_file_bytes
        if found.size > most:
            raise too_large(self._path, found.size, most)
        return found

    async def read(self, offset: int, size: int) -> bytes:
        """Return bytes of it; fewer if it has become shorter."""
        found = b""
        while len(found) < size:
            part = min(_READ_BYTES, size - len(found))
            output = await self._run(read_part(self._path, offset + len(found), part))
            data = _decoded("".join(output.split()), self._path)
            found += data
            if len(data) < part:
                break
        return found

    async def write(
        self, data: bytes, *, mode: str | None, overwrite: bool, before: str | None
    ) -> tuple[str | None, bool]:
        """Return its permissions, and whether its checksum was compared there."""
        token = secrets.token_hex(6)
        begin = begin_writing(self._path, token, overwrite=overwrite)
        words = last_words(await self._run(begin))
        if words != ["begun"]:
            raise self._refused(words, "written")
        try:
            for at in range(0, len(data), _WRITE_BYTES):
                part = base64.b64encode(data[at : at + _WRITE_BYTES]).decode()
                words = last_words(await self._run(append(self._path, token, part)))
                if words != ["added"]:
                    raise self._refused(words, "written")
            checksum = hashlib.sha256(data).hexdigest()
            finish = finish_writing(self._path, token, mode, len(data), checksum, before)
            words = last_words(await self._run(finish))
        except NacreError:
            await self._drop(token)
            raise
        if words[:1] != ["done"]:
            raise self._refused(words, "written")
        told = next((word for word in words[1:] if len(word) < 5), None)
        return told, checksum in words

    async def _drop(self, token: str) -> None:
        """Remove what was written so far, if the shell still takes a command."""
        try:
            await self._run(drop(self._path, token))
        except NacreError:
            return

    async def _run(self, command: str) -> str:
        left = self._deadline - self._host.loop.time()
        if left <= 0:
            raise WaitTimedOut("the file was not through in time", "allow more time")
        if (permit := permit_of_call()) is not None:
            permit.cleared = command  # the policy has judged what it does
        outcome = await self._runs.run_script(
            self._session, command, self._shown, int(left * 1000) + 1, _ALL
        )
        if outcome.status == "timeout":
            raise WaitTimedOut("the file was not through in time", "allow more time")
        if outcome.status != "completed":
            raise _no_prompt(outcome)
        return outcome.output

    def _refused(self, words: list[str], done: str) -> NacreError:
        told = words[0] if words else ""
        if told == "exists":
            return already_there(self._path)
        if told == "other":
            return other_content(self._path)
        if told in ("folder", "special"):
            return InvalidInput(f"{self._path} cannot be {done}: {_TOLD[told]}")
        if told in ("short", "changed"):
            return Failed(f"{self._path} did not arrive as it was sent: nothing was written")
        why = _TOLD.get(told, f"the shell there answered {' '.join(words)!r}")
        return Failed(f"{self._path} cannot be {done}: {why}")


def _decoded(text: str, path: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise Failed(f"{path} cannot be read: what came is no base64: {text[:80]!r}") from None


def _no_prompt(outcome: RunOutcome) -> Failed:
    hint = outcome.hint or "no shell is at its prompt"
    return Failed(f"files go through this session's shell, and no command can run: {hint}")
