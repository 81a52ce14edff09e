"""The operations put_file, get_file and edit_file.

Rule 1: a path means what the session's shell would take it for, wherever that is.
Rule 2: content is exact, or the answer says that it is not. What agents must not see is taken out
of text; bytes with a secret in them are refused, and so is writing back what was taken out.
"""

import base64
import binascii
import hashlib
from typing import Literal

from msgspec.structs import replace

from nacre.core.catalog.caller import Caller
from nacre.core.operations.apps.files import (
    EditFile,
    FileEdited,
    FileRead,
    FileWritten,
    GetFile,
    PutFile,
)
from nacre.core.text.budget import json_chars, json_size
from nacre.core.text.redaction import redaction_of_call
from nacre.core.text.unseen import Counts, neutralise
from nacre.errors import BadParameter, Failed
from nacre.services.dispatch.handlers import Handlers
from nacre.services.files.far import FarFiles
from nacre.services.files.near import NearFiles, folder_of
from nacre.services.host.host import Host
from nacre.services.registry.registry import Registry
from nacre.services.runs.service import Runs
from nacre.services.session.session import Session
from nacre.wording import Give, Hint

_LABEL = "[redacted: "  # what stands for a secret (core/text/redaction.py)
_CHARACTER = 4  # bytes of the longest character in UTF-8
_COUNTS = 200  # characters of the counts and hints of an answer


class Files:
    def __init__(self, registry: Registry, runs: Runs, host: Host) -> None:
        self._registry = registry
        self._host = host
        self._near = NearFiles(host)
        self._far = FarFiles(runs, host)

    def handlers(self) -> Handlers:
        return Handlers().on(PutFile, self.put).on(GetFile, self.get).on(EditFile, self.edit)

    # --- writing ---------------------------------------------------------------------------

    async def put(self, caller: Caller, request: PutFile) -> FileWritten:
        session = self._found(request)
        data = self._data(request)
        written = await self._write(
            session,
            request,
            data,
            mode=request.mode,
            overwrite=request.overwrite,
            before=request.if_sha256,
        )
        self._note(caller, session, "put_file", written)
        return written

    def _data(self, request: PutFile) -> bytes:
        if request.encoding == "utf8":
            if _LABEL in request.content and redaction_of_call() is not None:
                raise BadParameter(
                    "content",
                    f"has {_LABEL!r}, which stands for a secret that you were not shown: it would "
                    "be lost",
                    "replace an exact text beside it instead",
                )
            data = request.content.encode()
        else:
            try:
                data = base64.b64decode(request.content, validate=True)
            except (binascii.Error, ValueError):
                raise BadParameter("content", "is no base64") from None
        most = self._host.settings.max_file_bytes
        if len(data) > most:
            raise BadParameter("content", f"has {len(data)} bytes, over {most} (max_file_bytes)")
        return data

    async def _write(
        self,
        session: Session,
        request: PutFile | EditFile,
        data: bytes,
        *,
        mode: str | None,
        overwrite: bool,
        before: str | None,
    ) -> FileWritten:
        path, checksum = request.path, hashlib.sha256(data).hexdigest()
        if (folder := folder_of(session)) is not None:
            told: str | None = await self._near.write(
                session, folder, path, data, mode=mode, overwrite=overwrite, before=before
            )
            way: Literal["local", "shell"] = "local"
            checked = True
        else:
            reach = self._far.reach(session, path, "write", request.timeout_ms)
            async with reach as side:
                told, checked = await side.write(
                    data, mode=mode, overwrite=overwrite, before=before
                )
            way = "shell"
        return FileWritten(
            path=path,
            size=len(data),
            sha256=checksum,
            mode=told,
            way=way,
            success=True,
            checked=checked,
        )

    # --- editing ---------------------------------------------------------------------------

    async def edit(self, caller: Caller, request: EditFile) -> FileEdited:
        """Raises InvalidInput if the text is not there as often as it is said to be."""
        session = self._found(request)
        before = await self._whole(session, request)
        old, new = request.old.encode(), request.new.encode()
        found = before.count(old)
        if found == 0:
            raise BadParameter(
                "old", f"is not in {request.path}: nothing was changed", "read the file again"
            )
        if found != request.count:
            raise BadParameter(
                "old",
                f"stands in {request.path} {found} times, not {request.count}: nothing was changed",
                "give more of the text around it",
                Give(("count",), "replace all of them"),
            )
        written = await self._write(
            session,
            request,
            before.replace(old, new),
            mode=None,
            overwrite=True,
            before=hashlib.sha256(before).hexdigest(),
        )
        facts = {name: getattr(written, name) for name in FileWritten.__struct_fields__}
        edited = FileEdited(**facts, replacements=found)
        self._note(caller, session, "edit_file", edited)
        return edited

    async def _whole(self, session: Session, request: EditFile) -> bytes:
        if (folder := folder_of(session)) is not None:
            return (await self._near.read(folder, request.path)).data
        async with self._far.reach(session, request.path, "read", request.timeout_ms) as side:
            facts = await side.look()
            data = await side.read(0, facts.size)
        if facts.sha256 not in (None, hashlib.sha256(data).hexdigest()):
            raise Failed(f"{request.path} was changed while it was read", "try again")
        return data

    # --- reading ---------------------------------------------------------------------------

    async def get(self, caller: Caller, request: GetFile) -> FileRead:
        session = self._found(request)
        budget = self._host.budget(request.max_chars)
        facts = FileRead(
            path=request.path,
            size=0,
            way="local",
            offset=request.offset,
            encoding="utf8",
            content="",
        )
        if (folder := folder_of(session)) is not None:
            file = await self._near.read(folder, request.path)
            size, mode, checksum = len(file.data), f"{file.mode:o}", file.sha256
            facts = replace(facts, size=size, mode=mode, sha256=checksum, checked=True)
            data = file.data[request.offset : request.offset + self._wanted(request, size, budget)]
        else:
            facts, data = await self._far_part(session, request, facts, budget)
        answer = self._shown(request, facts, data, budget)
        self._note(caller, session, "get_file", answer)
        return answer

    def _wanted(self, request: GetFile, size: int, budget: int) -> int:
        """Return how many bytes to read: no more than can be sent, and at least a character."""
        wanted = max(0, size - request.offset)
        return min(wanted, max(budget, _CHARACTER), request.limit or wanted)

    async def _far_part(
        self, session: Session, request: GetFile, facts: FileRead, budget: int
    ) -> tuple[FileRead, bytes]:
        async with self._far.reach(session, request.path, "read", request.timeout_ms) as side:
            there = await side.look()
            wanted = self._wanted(request, there.size, budget)
            data = await side.read(request.offset, wanted) if wanted else b""
        whole = request.offset == 0 and len(data) == there.size
        checked = whole and there.sha256 is not None
        if checked and hashlib.sha256(data).hexdigest() != there.sha256:
            raise Failed(f"{request.path} was changed while it was read", "try again")
        told = replace(
            facts,
            size=there.size,
            mode=there.mode,
            sha256=there.sha256,
            way="shell",
            checked=checked,
        )
        return told, data

    def _shown(self, request: GetFile, facts: FileRead, data: bytes, budget: int) -> FileRead:
        """Return the content as it can be sent, as much of it as fits."""
        more = request.offset + len(data) < facts.size
        text = None if request.encoding == "base64" else _text(data, cut=more)
        if text == "" and data:  # a part of one character: who reads on would stay there
            if request.encoding == "utf8":
                raise BadParameter("limit", "ends within a character", f"give {_CHARACTER} or more")
            text = None
        if request.encoding == "utf8" and text is None:
            raise BadParameter("encoding", f"{request.path} is no text in UTF-8", "take base64")
        room = budget - json_size(facts) - _COUNTS
        redaction = redaction_of_call()
        if text is not None:
            clean = text if redaction is None else redaction.masked(text, counted=False)
            seen = neutralise(text, Counts()) if self._host.settings.neutralise_output else text
            if clean == text and seen != text and request.encoding == "auto":
                text = None  # in base64 it is exact
            else:
                return _as_text(facts, text, room, exact=clean == text == seen)
        return _as_base64(facts, data, room, secret=_has_secret(data))

    # --- both ------------------------------------------------------------------------------

    def _found(self, request: PutFile | GetFile | EditFile) -> Session:
        if "\0" in request.path or "\n" in request.path:
            raise BadParameter("path", "must not contain a NUL character or a line feed")
        session = self._registry.find(request.session)
        session.require_alive()
        return session

    def _note(
        self, caller: Caller, session: Session, did: str, file: FileRead | FileWritten
    ) -> None:
        if (audit := self._host.audit) is not None:
            fields = {"operation": did, "path": file.path, "size": file.size, "way": file.way}
            fields |= {} if file.sha256 is None else {"sha256": file.sha256}
            audit.record("file", session.identity, caller, fields)


def _text(data: bytes, *, cut: bool) -> str | None:
    """Return text in UTF-8; None for what is none. What was cut may end within a character."""
    for back in range(4 if cut else 1):
        try:
            text = data[: len(data) - back].decode()
        except UnicodeDecodeError:
            continue
        return None if "\0" in text else text
    return None


def _has_secret(data: bytes) -> bool:
    redaction = redaction_of_call()
    text = data.decode(errors="replace")
    return redaction is not None and redaction.masked(text, counted=False) != text


def _as_text(facts: FileRead, text: str, room: int, *, exact: bool) -> FileRead:
    kept = text
    while json_chars(kept) > room and len(kept) > 1:
        kept = kept[: max(1, min(len(kept) - 1, len(kept) * room // json_chars(kept)))]
    hint = None if exact else Hint("content is not exact: some of it is not shown to agents")
    return _ended(replace(facts, content=kept, exact=exact, hint=hint), len(kept.encode()))


def _as_base64(facts: FileRead, data: bytes, room: int, *, secret: bool) -> FileRead:
    if secret:
        raise Failed(
            f"{facts.path} has secrets that no agent is shown, and is not given out as bytes",
            "read it as text (utf8), without them",
        )
    kept = data[: max(room, _CHARACTER) // 4 * 3]
    content = base64.b64encode(kept).decode()
    return _ended(replace(facts, encoding="base64", content=content), len(kept))


def _ended(answer: FileRead, size: int) -> FileRead:
    """Say where to read on."""
    after = answer.offset + size
    return replace(answer, next_offset=after) if after < answer.size else answer
