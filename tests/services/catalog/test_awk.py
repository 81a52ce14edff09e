"""awk, whichever it is, sees its files alone and does nothing outside of its sandbox."""

import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from nacre.core.catalog.caller import Caller
from nacre.errors import SandboxUnavailable

from services.catalog.test_service import Agent, catalog

pytestmark = pytest.mark.anyio

KINDS = ("gawk", "mawk", "busybox")
SECRET = "not for awk"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    (made / "data").write_text("a 1\nb 2\n")
    (made / "other").write_text(SECRET)
    return made


def calling(agent: Agent, folder: Path, kind: str) -> Agent:
    """Let the caller's awk be one of this kind."""
    programs = folder.parent / f"bin-{kind}"
    programs.mkdir(exist_ok=True)
    found = shutil.which(kind)
    assert found is not None, f"{kind} is not installed: make programs"
    (programs / "awk").symlink_to(found)
    path = f"{programs}:{os.environ['PATH']}"
    agent.caller = Caller(door="test", told_as=kind, env={"PATH": path})
    return agent


@pytest.fixture(params=KINDS)
async def awk(folder: Path, request: pytest.FixtureRequest) -> AsyncIterator[Agent]:
    async with catalog(folder, commands_allow_patterns=True) as found:
        yield calling(found.agent(), folder, request.param)


async def test_it_reads_the_files_that_it_is_given(awk: Agent, folder: Path) -> None:
    (folder / "link").symlink_to("data")
    done = await awk("awk", program="{ s += $2 } END { print s }", file=["data", "link"])
    assert (done.output, done.exit_code) == ("6\n", 0)
    done = await awk("awk", program="{ print FILENAME, $1; exit 3 }", file=str(folder / "data"))
    assert (done.output, done.exit_code) == (f"{folder}/data a\n", 3)
    done = await awk.call(
        tool="awk", args={"program": "{ print $2 }", "delimiter": ","}, stdin="x,y\n"
    )
    assert done.output == "y\n"
    missing = await awk("awk", program="1", file="none")
    assert missing.exit_code != 0
    assert "none" in missing.output


@pytest.mark.parametrize(
    "program",
    [
        'BEGIN { system("cat other /etc/passwd; echo x > made") }',
        'BEGIN { while (("cat other; cat /etc/passwd" | getline l) > 0) print l }',
        'BEGIN { while ((getline l < "other") > 0) print l }',
        'BEGIN { while ((getline l < "/etc/passwd") > 0) print l }',
        'BEGIN { print "x" > "made"; print "x" | "cat > made" }',
        'BEGIN { while ((getline l < ENVIRON["HOME"] "/.bashrc") > 0) print l }',
    ],
)
async def test_it_reaches_nothing_else(awk: Agent, folder: Path, program: str) -> None:
    done = await awk("awk", program=program, file="data")
    assert SECRET not in done.output
    assert "root:" not in done.output
    assert not (folder / "made").exists()


async def test_without_a_sandbox_only_one_that_has_its_own_runs(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nacre.system.sandbox.sandboxes.find_bubblewrap", lambda: None)
    async with catalog(folder, commands_allow_patterns=True) as found:
        gawk = calling(found.agent("gawk"), folder, "gawk")
        assert (await gawk("awk", program="{ print $1 }", file="data")).output == "a\nb\n"
        done = await gawk("awk", program='BEGIN { system("id") }')
        assert done.exit_code != 0
        assert "uid=" not in done.output
        for kind in ("mawk", "busybox"):
            agent = calling(found.agent(kind), folder, kind)
            with pytest.raises(SandboxUnavailable, match="nothing was started without it"):
                await agent("awk", program="{ print $1 }", file="data")
