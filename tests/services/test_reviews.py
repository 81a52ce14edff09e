"""Sessions whose changes wait for a person: shown, applied or discarded."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from confining import needs_bubblewrap
from nacre.core.operations.runs import Run
from nacre.core.operations.safety.review import ApplySession, DiffSession, DiscardSession
from nacre.errors import Failed, InvalidInput
from nacre.services.session.session import Session
from nacre.services.wiring import Services

from services.living import CALLER, living, start, start_marked, until

pytestmark = [pytest.mark.anyio, needs_bubblewrap]


@asynccontextmanager
async def reviewing(tmp_path: Path) -> AsyncIterator[tuple[Services, Session, Path]]:
    workspace = tmp_path / "project"
    workspace.mkdir()
    (workspace / "a").write_text("one\n")
    async with living(tmp_path, layers=tmp_path / "layers") as services:
        session = await start_marked(services, cwd=str(workspace), sandbox="review", name="dev")
        await run(services, "echo two >a; echo new >b; mkdir d; echo x >d/e")
        yield services, session, workspace


async def run(services: Services, command: str) -> int | None:
    return (await services.runs.run(CALLER, Run(session="dev", command=command))).exit_code


async def test_workspace_is_untouched_until_somebody_applies(tmp_path: Path) -> None:
    async with reviewing(tmp_path) as (services, session, workspace):
        assert await run(services, "grep -q two a && test -e d/e") == 0, "the session sees them"
        assert sorted(path.name for path in workspace.iterdir()) == ["a"]
        found = await services.reviews.diff(CALLER, DiffSession(session="dev"))
        assert [(one.path, one.kind) for one in found.changes] == [
            *(("a", "changed"), ("b", "added"), ("d", "added"), ("d/e", "added"))
        ]
        assert "-one\n+two\n" in found.diff
        assert found.by == ("overlay" if services.host.sandboxes.makes_overlays else "copy")
        done = await services.reviews.apply(CALLER, ApplySession(session="dev"))
        assert (done.applied, done.left) == (["a", "b", "d", "d/e"], [])
        assert (workspace / "a").read_text() == "two\n"
        assert (workspace / "d/e").read_text() == "x\n"
        assert session.alive
        assert not (await services.reviews.diff(CALLER, DiffSession(session="dev"))).changes
        # The session goes on, and so does its review.
        await run(services, "echo three >a")
        assert (workspace / "a").read_text() == "two\n"
        again = await services.reviews.diff(CALLER, DiffSession(session="dev"))
        assert [one.path for one in again.changes] == ["a"]


async def test_conflict_keeps_everything_from_being_applied(tmp_path: Path) -> None:
    async with reviewing(tmp_path) as (services, _, workspace):
        (workspace / "a").write_text("mine\n")
        with pytest.raises(Failed, match="changed meanwhile: a") as raised:
            await services.reviews.apply(CALLER, ApplySession(session="dev"))
        assert raised.value.details["conflicts"] == ["a"]
        assert (workspace / "a").read_text() == "mine\n"
        assert not (workspace / "b").exists()
        await services.reviews.apply(CALLER, ApplySession(session="dev", force=True))
        assert (workspace / "a").read_text() == "two\n"


async def test_discard_restarts_the_session_without_its_changes(tmp_path: Path) -> None:
    async with reviewing(tmp_path) as (services, session, workspace):
        layer = session.launch.layer
        done = await services.reviews.discard(CALLER, DiscardSession(session="dev"))
        assert (done.discarded, done.restarted) == (4, True)
        await until(session, lambda: session.stream.prompting.phase == "prompt")
        assert await run(services, "grep -q one a && test ! -e b") == 0
        assert not os.path.exists(layer)  # noqa: ASYNC240  # nothing else runs here
        assert sorted(path.name for path in workspace.iterdir()) == ["a"]


async def test_restart_keeps_the_changes_and_so_does_the_end(tmp_path: Path) -> None:
    async with reviewing(tmp_path) as (services, session, _):
        await session.restart()
        await until(session, lambda: session.stream.prompting.phase == "prompt")
        assert await run(services, "grep -q two a") == 0
        await session.end()
        found = await services.reviews.diff(CALLER, DiffSession(session="dev"))
        assert len(found.changes) == 4


async def test_long_diff_is_cut_and_counted(tmp_path: Path) -> None:
    async with reviewing(tmp_path) as (services, _, _):
        await run(services, "seq 1000 >long")
        whole = await services.reviews.diff(CALLER, DiffSession(session="dev"))
        assert "+1000\n" in whole.diff
        short = await services.reviews.diff(CALLER, DiffSession(session="dev", max_chars=900))
        assert len(short.changes) == 5
        assert short.omitted_diffs == 1
        assert short.hint is not None


async def test_other_sessions_have_no_review(tmp_path: Path) -> None:
    async with living(tmp_path) as services:
        await start(services, "cat", name="plain", cwd=str(tmp_path))
        with pytest.raises(InvalidInput, match="straight into its workspace"):
            await services.reviews.diff(CALLER, DiffSession(session="plain"))


async def test_layers_that_no_session_has_are_removed_when_they_are_old(tmp_path: Path) -> None:
    async with reviewing(tmp_path) as (services, session, _):
        layers = tmp_path / "layers"
        for name, age in (("old", 8 * 86400), ("new", 0)):
            (layers / name).mkdir()
            os.utime(layers / name, (time.time() - age,) * 2)
        os.utime(session.launch.layer, (1, 1))
        await services.reviews.remove_orphans(str(layers))
        left = {path.name for path in layers.iterdir()}
        assert left == {"new", os.path.basename(session.launch.layer)}


async def test_layer_goes_with_its_session(tmp_path: Path) -> None:
    async with reviewing(tmp_path) as (services, session, _):
        layer = session.launch.layer
        services.registry.forget(session)
        await session.end()
        session.close()
        while os.path.exists(layer):  # noqa: ASYNC110, ASYNC240  # a thread removes it
            await asyncio.sleep(0)
