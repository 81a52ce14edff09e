"""Ways around the checks that somebody tried; each was open once, or would be easy to open."""

import gzip
import json
import os
import stat
import subprocess
import tarfile
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from nacre.errors import CommandNotFound, Forbidden, InvalidInput, SandboxUnavailable

from services.catalog.test_service import Agent, catalog

pytestmark = pytest.mark.anyio


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    return made


@pytest.fixture
async def agent(folder: Path) -> AsyncIterator[Agent]:
    async with catalog(folder) as found:
        yield found.agent()


# --- paths -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "/proc/self/cwd/etc/hostname",
        "/proc/thread-self/cwd/etc/hostname",
        "/proc/1/root/etc/hostname",
        "{folder}/through/etc/hostname",
        "/dev/fd/5",
        "/dev/sda",
    ],
)
async def test_what_each_process_sees_otherwise_is_blocked(
    agent: Agent, folder: Path, path: str
) -> None:
    """The check saw the daemon's own folder there, the program that of the context."""
    (folder / "through").symlink_to("/proc/self/cwd")
    await agent("cd", path="/")
    with pytest.raises(Forbidden, match="Path contains dangerous pattern"):
        await agent("cat", path=path.format(folder=folder))
    with pytest.raises(Forbidden, match="Path contains dangerous pattern"):
        await agent("cd", path="/proc/self/cwd")


async def test_nothing_is_written_through_a_link_that_lies_in_the_folder(
    agent: Agent, folder: Path, tmp_path: Path
) -> None:
    for name in ("passwd", "target"):
        (folder / name).write_text("new")
    into = folder / "into"
    into.mkdir()
    (into / "passwd").symlink_to("/etc/passwd")
    for tool in ("cp", "mv"):
        with pytest.raises(Forbidden, match="Path contains dangerous pattern"):
            await agent(tool, source="passwd", dest="into")
        with pytest.raises(Forbidden, match="Path contains dangerous pattern"):
            await agent(tool, source="passwd", dest="into/")
    victim = tmp_path / "victim"
    victim.write_text("old")
    (folder / "tree").mkdir()
    (folder / "tree" / "leaf").write_text("new")
    (into / "tree").mkdir()
    (into / "tree" / "leaf").symlink_to(victim)
    done = await agent("cp", source="tree", dest="into", recursive=True)
    assert done.exit_code == 0
    assert victim.read_text() == "old"
    assert (into / "tree" / "leaf").read_text() == "new"


@pytest.fixture
async def hidden(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is blocked; the home is beside where commands work."""
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    return home / ".ssh"


WRITES: dict[str, tuple[dict[str, Any], str]] = {
    "split": ({"path": "data", "lines": 1}, "xab"),
    "split with a prefix": ({"path": "data", "lines": 1, "dest": "sub/p"}, "sub/paa"),
    "gzip": ({"path": "data", "keep": True}, "data.gz"),
    "gunzip": ({"path": "packed.gz", "keep": True}, "packed"),
    "cp": ({"path": "data", "dest": "new"}, "new"),
    "cp into a folder": ({"path": "data", "dest": "sub"}, "sub/data"),
    "cp of a folder": ({"path": "sub", "dest": "into", "recursive": True}, "into/sub/inner"),
    "mv": ({"path": "data", "dest": "sub"}, "sub/data"),
    "ln": ({"path": "data", "dest": "sub"}, "sub/data"),
    "touch": ({"path": "new"}, "new"),
    "truncate": ({"path": "new", "size": 9}, "new"),
    "mkdir": ({"path": "new/inner", "parents": True}, "new"),
    "tar": ({"action": "create", "file": "new.tar", "path": ["data"]}, "new.tar"),
    "tar out": ({"action": "extract", "file": "some.tar", "directory": "into"}, "into/data"),
}


def _fill(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "inner").write_text("evil\n")
    (folder / "into" / "sub").mkdir(parents=True)
    (folder / "data").write_text("evil\nmore\n")
    with gzip.open(folder / "packed.gz", "wb") as packed:
        packed.write(b"evil\n")
    with tarfile.open(folder / "some.tar", "w") as archive:
        archive.add(folder / "data", "data")


def _files(folder: Path) -> list[Path]:
    return sorted(one for one in folder.rglob("*") if not one.is_symlink())


@pytest.mark.parametrize("case", WRITES)
@pytest.mark.parametrize("there", [True, False], ids=["over a file", "a new file"])
async def test_no_command_writes_through_a_link_of_any_name(
    folder: Path, hidden: Path, case: str, there: bool
) -> None:
    """Also not where the name of what it writes is none of its arguments."""
    args, link = WRITES[case]
    _fill(folder)
    victim = hidden / "authorized_keys"
    if there:
        victim.write_text("mine")
    before = _files(hidden)
    (folder / link).symlink_to(victim)
    async with catalog(folder) as found:
        with suppress(Forbidden):
            await found.agent()(case.split()[0], **args)
    assert _files(hidden) == before
    assert not there or victim.read_text() == "mine"


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("diff", {"path": "a", "other": "links"}),
        ("diff", {"path": "links", "other": "more"}),
        ("diff", {"path": "home", "other": "more"}),
        ("zcat", {"path": "links/packed"}),
        ("gunzip", {"path": "links/packed", "keep": True}),
        ("grep", {"pattern": "secret", "file": "links", "recursive": True}),
        ("cp", {"path": "links", "dest": "copied", "recursive": True}),
        ("tar", {"action": "create", "file": "x.tar", "path": ["links"]}),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
async def test_no_command_reads_through_a_link_that_it_was_not_given(
    folder: Path, hidden: Path, tool: str, args: dict[str, object]
) -> None:
    (hidden / "a").write_text("secret\n")
    with gzip.open(hidden / "packed.gz", "wb") as packed:
        packed.write(b"secret\n")
    (folder / "a").write_text("plain\n")
    for name in ("links", "more"):
        (folder / name).mkdir()
    for name in ("a", "packed.gz"):
        (folder / "links" / name).symlink_to(hidden / name)
    (folder / "more" / "a").write_text("plain\n")
    (folder / "home").symlink_to(hidden.parent)
    async with catalog(folder) as found:
        try:
            output = (await found.agent()(tool, **args)).output
        except Forbidden:
            output = ""
    assert "secret" not in output
    assert not [one for one in _files(folder) if one.is_file() and b"secret" in one.read_bytes()]


async def test_an_archive_is_not_unpacked_without_a_sandbox(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would write through links that lie in the folder; the rest does not, and runs."""
    monkeypatch.setattr("nacre.system.sandbox.sandboxes.find_bubblewrap", lambda: None)
    (folder / "data").write_text("x")
    async with catalog(folder) as found:
        agent = found.agent()
        packed = await agent("tar", action="create", file="a.tar", path=["data"])
        assert packed.exit_code == 0
        assert (await agent("tar", action="list", file="a.tar")).output == "data\n"
        with pytest.raises(SandboxUnavailable):
            await agent("tar", action="extract", file="a.tar")


async def test_an_archive_writes_into_its_folder_alone(
    agent: Agent, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (folder / "made" / "link").mkdir(parents=True)
    (folder / "made" / "link" / "file").write_text("evil")
    (folder / "made" / "plain").write_text("good")
    packing = {"action": "create", "file": "a.tar", "directory": "made"}
    packed = await agent("tar", **packing, path=["link/file", "plain"])
    assert packed.exit_code == 0, packed.output
    (folder / "target").mkdir()
    (folder / "target" / "link").symlink_to(tmp_path / "outside")
    await agent("tar", action="extract", file="a.tar", directory="target")
    assert (folder / "target" / "plain").read_text() == "good"
    assert list((tmp_path / "outside").iterdir()) == []


async def test_recursion_stops_above_what_is_secret(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(folder))
    async with catalog(folder) as found:
        agent = found.agent()
        for tool, args in (
            ("grep", {"pattern": "x", "recursive": True, "file": "."}),
            ("tar", {"action": "extract", "file": "a.tar"}),
            ("find", {}),
            ("myrm", {"path": str(folder), "recursive": True}),
        ):
            with pytest.raises(Forbidden, match=r"\.ssh' is below"):
                await agent(tool, **args)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MAGIC", "lies-here"),
        ("TZ", ":/etc/passwd"),
        ("ANY", "/etc/passwd"),
        ("ANY", "x:/usr/../etc"),
        ("GLIBC_TUNABLES", "x"),
        ("MALLOC_TRACE", "out"),
        ("NACRE_SESSION_COOKIE", "00"),
        ("SSH_AUTH_SOCK", "x"),
    ],
)
async def test_a_variable_names_no_file_that_is_blocked(
    agent: Agent, folder: Path, name: str, value: str
) -> None:
    """With MAGIC=/etc/passwd, file printed each of its lines as one that it does not know."""
    (folder / "lies-here").symlink_to("/etc/passwd")
    with pytest.raises(Forbidden):
        await agent("export", name=name, value=value)
    with pytest.raises(Forbidden):
        await agent("export", name=f"{name}={value}")
    assert (await agent("export", name="TZ", value="Europe/Berlin")).exit_code == 0


# --- git -------------------------------------------------------------------------------------

HOSTILE = """
[core]
	fsmonitor = touch {pwned}
	sshCommand = touch {pwned}
	pager = touch {pwned}
	editor = touch {pwned}
	hooksPath = {folder}/hooks
[filter "evil"]
	clean = touch {pwned}; cat
	smudge = touch {pwned}; cat
	process = touch {pwned}
	required = false
[diff]
	external = touch {pwned}
[diff "evil"]
	command = touch {pwned}
	textconv = touch {pwned}; cat
[log]
	showSignature = true
[gpg]
	program = touch {pwned}
[pager]
	log = touch {pwned}
	diff = touch {pwned}
[protocol "ext"]
	allow = always
[remote "origin"]
	url = ext::touch {pwned}
	promisor = true
[extensions]
	partialClone = origin
"""


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def repository(folder: Path) -> None:
    git(folder, "init")
    (folder / "a.txt").write_text("one\n")
    (folder / "sub").mkdir()
    (folder / "sub" / "b.txt").write_text("two\n")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "first")


async def test_a_repository_runs_nothing_of_its_own(agent: Agent, folder: Path) -> None:
    repository(folder)
    pwned = folder.parent / "pwned"
    hooks = folder / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "fsmonitor-watchman", "pre-commit"):
        hook = hooks / name
        hook.write_text(f"#!/bin/sh\ntouch {pwned}\n")
        hook.chmod(0o755)
    (folder / ".gitattributes").write_text("*.txt filter=evil diff=evil\n")
    with (folder / ".git" / "config").open("a") as config:
        config.write(HOSTILE.format(pwned=pwned, folder=folder))
    (folder / "a.txt").write_text("changed\n")
    for tool, args in (
        ("git_status", {}),
        ("git_diff", {}),
        ("git_diff", {"staged": True}),
        ("git_log", {"stat": True}),
        ("git_branch", {"verbose": True}),
        ("git_files", {"modified": True}),
    ):
        done = await agent(tool, **args)
        assert not pwned.exists(), (tool, done.output)


async def test_a_repository_shows_its_own_files_alone(
    agent: Agent, folder: Path, tmp_path: Path
) -> None:
    repository(folder)
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "a.txt").write_text("not for git\n")
    git(folder, "config", "core.worktree", str(secret))
    assert "not for git" not in (await agent("git_diff")).output
    git(folder, "config", "core.worktree", "/etc")
    assert "hostname" not in (await agent("git_files", untracked=True)).output


async def test_git_works_in_a_subfolder_and_in_a_worktree(
    agent: Agent, folder: Path, tmp_path: Path
) -> None:
    repository(folder)
    (folder / "sub" / "b.txt").write_text("changed\n")
    await agent("cd", path="sub")
    assert "+changed" in (await agent("git_diff")).output
    assert (await agent("git_status", short=True)).output == " M b.txt\n"
    git(folder, "worktree", "add", str(tmp_path / "tree"), "-b", "other")
    await agent("cd", path=str(tmp_path / "tree"))
    assert "first" in (await agent("git_log", oneline=True)).output
    assert (await agent("git_status")).exit_code == 0


# --- a user's own entries ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "entry",
    [
        {"name": "rm", "program": "ls"},
        {"name": "x", "aliases": ["rm"], "program": "ls"},
        {"name": "x", "program": "rm"},
        {"name": "x", "program": "/bin/rm"},
        {"name": "x", "program": "/usr/bin/../bin/rm"},
        {"name": "x", "program": "{folder}/innocent"},
        {"name": "x", "program": "env", "fixed": ["rm"]},
        {"name": "x", "program": "env", "fixed": ["-S", "rm"]},
        {"name": "x", "program": "env", "fixed": ["-iS", "rm -f"]},
        {"name": "x", "program": "env", "fixed": ["--split-string=rm -f"]},
        {"name": "x", "program": "xargs", "fixed": ["rm"]},
        {"name": "x", "program": "busybox", "fixed": ["rm"]},
        {"name": "x", "program": "nice", "fixed": ["-n", "5", "rm"]},
        {"name": "x", "program": "timeout", "fixed": ["5", "rm"]},
        {"name": "x", "program": "sh", "fixed": ["-c", 'rm "$0"']},
        {"name": "x", "program": "sh", "fixed": ["-c", "sudo id"]},
        {"name": "x", "program": "setsid", "fixed": ["kill"]},
        {"name": "x", "program": "find", "fixed": [".", "-exec", "rm"]},
        {"name": "x", "program": "ls", "risk": "refused"},
    ],
)
async def test_a_users_entry_lifts_no_blacklist(
    folder: Path, tmp_path: Path, entry: dict[str, object]
) -> None:
    (folder / "innocent").symlink_to("/bin/rm")
    (folder / "victim").touch()
    text = json.dumps([{"description": "d", "args": ["file"], **entry}])
    config = tmp_path / "config"
    config.mkdir()
    (config / "commands.json").write_text(text.replace("{folder}", str(folder)))
    async with catalog(folder, config) as found:
        with pytest.raises((Forbidden, CommandNotFound, InvalidInput)):
            await found.agent().call(tool=str(entry["name"]), args={"file": "victim"})
    assert (folder / "victim").exists()


async def test_a_hard_link_of_a_blacklisted_program_is_found(folder: Path, tmp_path: Path) -> None:
    program = tmp_path / "innocent"
    try:
        os.link("/bin/rm", program)
    except OSError:  # another device, or a file of root's (protected_hardlinks, proc_sys_fs(5))
        program.symlink_to("/bin/rm")
    assert program.stat().st_mode & stat.S_IXUSR
    config = tmp_path / "config"
    config.mkdir()
    entry = {"name": "x", "description": "d", "args": ["file"], "program": str(program)}
    (config / "commands.json").write_text(json.dumps([entry]))
    (folder / "victim").touch()
    async with catalog(folder, config) as found:
        with pytest.raises(Forbidden, match="blacklisted"):
            await found.agent()("x", file="victim")
    assert (folder / "victim").exists()
