"""Reviews: what sessions of the sandbox profile `review` have changed, and what comes of it.

Rule 1: threads read and write the files. One at a time works on a layer.
Rule 2: changes are kept until somebody applies or discards them, or the session is removed.
"""

import asyncio
import logging
import os
import time

from msgspec.structs import replace

from nacre.core.catalog.caller import Caller
from nacre.core.operations.safety.review import (
    Applied,
    ApplySession,
    ChangedFile,
    DiffSession,
    Discarded,
    DiscardSession,
    LeftFile,
    Review,
)
from nacre.core.text.budget import json_chars, json_size
from nacre.errors import Failed, InvalidInput
from nacre.services.dispatch.handlers import Handlers
from nacre.services.host.host import Host
from nacre.services.registry.registry import Registry
from nacre.services.session.session import Session
from nacre.system.sandbox import review
from nacre.system.sandbox.layer_work import LayerWork
from nacre.system.sandbox.layers import is_overlay, read_base
from nacre.wording import Give, Higher, Hint

_log = logging.getLogger("nacre.reviews")

_TOLD = 20  # paths that a message names


class Reviews:
    def __init__(self, registry: Registry, host: Host) -> None:
        self._registry = registry
        self._host = host
        self._locks: dict[str, asyncio.Lock] = {}

    def handlers(self) -> Handlers:
        return (
            Handlers()
            .on(DiffSession, self.diff)
            .on(ApplySession, self.apply)
            .on(DiscardSession, self.discard)
        )

    async def diff(self, caller: Caller, request: DiffSession) -> Review:
        session, layer = self._find(request.session)
        async with self._lock(layer):
            return await asyncio.to_thread(
                self._compare, session.identity.name, layer, self._host.budget(request.max_chars)
            )

    async def apply(self, caller: Caller, request: ApplySession) -> Applied:
        """Raises Failed, with the paths, when there are conflicts and nobody insists."""
        session, layer = self._find(request.session)
        async with self._lock(layer):
            done = await asyncio.to_thread(_apply, layer, force=request.force)
        return Applied(
            session=session.identity.name,
            applied=[_shown(change.path) for change in done.done],
            left=[LeftFile(path=_shown(one.path), reason=reason) for one, reason in done.left],
        )

    async def discard(self, caller: Caller, request: DiscardSession) -> Discarded:
        session, layer = self._find(request.session)
        async with self._lock(layer):
            changes = await asyncio.to_thread(review.compare, layer)
            restarted = session.alive
            await self._begin_anew(session)
            await asyncio.to_thread(self._host.sandboxes.layer_work.remove, layer)
        self._locks.pop(layer, None)
        return Discarded(session=session.identity.name, discarded=len(changes), restarted=restarted)

    async def _begin_anew(self, session: Session) -> None:
        """Give a session a layer without changes; one that nobody can restart needs none."""
        launch = session.launch
        if not session.listed:
            session.change_launch(replace(launch, layer=""))
            return
        await self._host.sandboxes.require(launch.sandbox)
        fresh = replace(launch, layer=await self._host.sandboxes.new_layer(launch.workspace))
        if session.alive:
            await session.restart(fresh)
        else:
            session.change_launch(fresh)

    async def remove_orphans(self, layers: str) -> None:
        """Remove layers of sessions that nobody knows any more, when they are old enough.

        Those at once that an earlier daemon was about to remove.
        """
        work = self._host.sandboxes.layer_work
        await asyncio.to_thread(work.remove_rubbish, layers)
        known = {session.launch.layer for session in self._registry.all()}
        before = time.time() - self._host.settings.lost_keep
        await asyncio.to_thread(_remove_old, layers, known, before, work)

    def _find(self, reference: str | int) -> tuple[Session, str]:
        session = self._registry.find(reference)
        name, layer = session.identity.name, session.launch.layer
        if not session.launch.confined or (session.launch.sandbox != "review" and not layer):
            raise InvalidInput(
                f"session {name!r} writes straight into its workspace: it has the sandbox "
                f"{session.launch.sandbox!r}",
                Give(("sandbox",), "start one in the sandbox review"),
            )
        if not layer:
            raise Failed(f"the changes of session {name!r} were discarded")
        return session, layer

    def _lock(self, layer: str) -> asyncio.Lock:
        return self._locks.setdefault(layer, asyncio.Lock())

    def _compare(self, name: str, layer: str, budget: int) -> Review:
        changes = review.compare(layer)
        found = Review(
            session=name,
            workspace=read_base(layer).workspace,
            by="overlay" if is_overlay(layer) else "copy",
            conflicts=sum(change.conflict for change in changes),
            omitted_files=len(changes),
            omitted_diffs=len(changes),
            hint=_too_long(),
            changes=[],
            diff="",
        )
        room = budget - json_size(found)
        files: list[ChangedFile] = []
        for change in changes:
            file = _changed(change)
            room -= json_size(file) + 1
            if room < 0:
                break
            files.append(file)
        texts: list[str] = []
        for change in changes[: len(files)]:
            text = review.text_of(layer, change, self._host.settings.review_file_bytes)
            room -= json_chars(text)
            if room < 0:
                break
            texts.append(text)
        omitted = len(changes) - len(files), len(changes) - len(texts)
        return Review(
            session=found.session,
            workspace=found.workspace,
            by=found.by,
            conflicts=found.conflicts,
            omitted_files=omitted[0],
            omitted_diffs=omitted[1],
            hint=_too_long() if any(omitted) else None,
            changes=files,
            diff=_shown("".join(texts)),
        )


def _apply(layer: str, *, force: bool) -> review.AppliedChanges:
    changes = review.compare(layer)
    conflicts = [_shown(change.path) for change in changes if change.conflict]
    if conflicts and not force:
        told = ", ".join(conflicts[:_TOLD]) + (" …" if len(conflicts) > _TOLD else "")
        raise Failed(
            f"nothing was applied, because the workspace was changed meanwhile: {told}",
            "bring both together by hand",
            Give(("force",), "overwrite it"),
            conflicts=conflicts,
        )
    return review.apply(layer, changes)


def _remove_old(layers: str, known: set[str], before: float, work: LayerWork) -> None:
    for name in os.listdir(layers) if os.path.isdir(layers) else ():
        folder = os.path.join(layers, name)
        if folder not in known and os.stat(folder).st_mtime < before:
            _log.warning("a layer that no session has is removed", extra={"layer": folder})
            work.remove(folder)


def _changed(change: review.Change) -> ChangedFile:
    return ChangedFile(
        path=_shown(change.path),
        kind=change.kind,
        what=change.entry.what,
        conflict=change.conflict,
        refused=change.refused or None,
    )


def _too_long() -> Hint:
    return Hint("the answer would be too long with all of it", Higher("max_chars", "get all"))


def _shown(path: str) -> str:
    """A name is bytes; what is no text is shown as an escape, because it could not be sent."""
    return os.fsencode(path).decode(errors="backslashreplace")
