"""Programs in a sandbox do what they can to get out of it, or to deceive who watches.

Nacre's own folder lies within the workspace here, and the session's user is the daemon's: whatever
holds, holds by the sandbox alone.
"""

import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from confining import needs_bubblewrap
from conftest import Daemon
from crashing import call, create, is_dead, run, start, until
from escapes.attack import ATTACKS
from nacre.settings.paths import find_paths

pytestmark = needs_bubblewrap

PROFILES = ("readonly", "workspace", "strict", "review")
PYTHON = os.path.realpath(sys.executable)
HERE = Path(__file__).parent
# These only look, or write to what is the test's.
HARMLESS = (
    *("read_token", "connect_to_the_socket", "connect_to_the_daemon_port", "read_the_home"),
    *("connect_to_another_session", "signal_the_daemon", "read_the_daemon"),
    *("open_another_terminal", "list_own_folders", "see_an_interface"),
)


@dataclass
class Confined:
    daemon: Daemon
    workspace: Path
    other: Path  # another workspace: that of a review cannot hold nacre's own folder
    outside: Path  # must never exist

    def create(self, name: str, profile: str, **more: Any) -> None:
        workspace = self.other if profile == "review" else self.workspace
        create(self.daemon, name, cwd=str(workspace), sandbox=profile, **more)

    def attack(self, name: str, *attacks: str) -> dict[str, str]:
        line = f"{PYTHON} attack.py facts.json {' '.join(attacks)}"
        done = run(self.daemon, name, line, timeout_ms=60_000)
        assert done["output"].splitlines()[-1] == "all tried", done
        lines = [line.split(None, 2) for line in done["output"].splitlines()[:-1]]
        return {line[0]: f"{line[1]} {line[2]}" for line in lines}


@pytest.fixture(scope="module")
def confined(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Confined]:
    root = tmp_path_factory.mktemp("escapes")
    workspace, other = root / "project", root / "other"
    workspace.mkdir()
    other.mkdir()
    (root / "secret").write_text("my secret\n")
    # The interpreter may lie in a home, which is hidden.
    own = {"HOME": str(workspace / ".nacre"), "sandbox_read": sys.base_prefix}
    daemon = start(root, doctored=None, wrapper=(), **own)
    paths = find_paths(daemon.env)
    there = create(daemon, "there", "tty; exec cat")
    shown = until(daemon, "there", regex=r"/dev/\S+")
    facts = {
        "token": paths.token_file,
        "folders": [paths.config, paths.state, paths.runtime],
        "socket": paths.socket,
        "port": daemon.state["port"],
        "session_port": there["port"],
        "daemon": daemon.pid,
        "outside": str(root / "outside"),
        "secret": str(root / "secret"),
        "terminal": shown["match"],
    }
    for folder in (workspace, other):
        (folder / "facts.json").write_text(json.dumps(facts))
        (folder / "attack.py").write_text((HERE / "attack.py").read_text())
    yield Confined(daemon, workspace, other, root / "outside")
    assert daemon.stop() == 0


@pytest.mark.parametrize("profile", PROFILES)
def test_no_attack_gets_out_of_a_sandbox(confined: Confined, profile: str) -> None:
    confined.create(f"attacked-{profile}", profile)
    came = confined.attack(f"attacked-{profile}")
    assert set(came) == {attack.__name__ for attack in ATTACKS}
    assert [f"{name}: {how}" for name, how in came.items() if not how.startswith("held")] == []
    assert not confined.outside.exists(), "a link led out of the sandbox"
    call(confined.daemon, "manage_session", session=f"attacked-{profile}", action="kill")


def test_without_a_sandbox_the_same_attacks_succeed(confined: Confined) -> None:
    """Else they would prove nothing; and docs/sandbox.md says that `off` does not hold them."""
    confined.create("open", "off")
    came = confined.attack("open", *HARMLESS, "write_through_a_link")
    for name in HARMLESS:
        assert came[name].startswith("ESCAPED"), (name, came[name])
    confined.outside.unlink()
    call(confined.daemon, "manage_session", session="open", action="kill")


def test_what_left_the_session_of_its_terminal_dies_with_it(confined: Confined) -> None:
    """A process that is nobody's child, in no session of ours, with nothing in its environment."""
    for how, seconds in (("exit", "98765.1"), ("kill", "98765.2")):
        confined.create(f"left-{how}", "workspace")
        is_there = f"pgrep -x -f 'sleep {seconds}'"  # only then it is no longer setsid
        line = f"(env -i setsid sleep {seconds} &); until {is_there}; do sleep 0; done"
        assert run(confined.daemon, f"left-{how}", line)["exit_code"] == 0
        assert sleepers(seconds)
        if how == "exit":
            call(confined.daemon, "send_input", session="left-exit", input="exit\r")
            assert is_dead(confined.daemon, "left-exit")
        call(confined.daemon, "manage_session", session=f"left-{how}", action="kill")
        assert not sleepers(seconds)


def sleepers(seconds: str) -> list[str]:
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path(f"/proc/{entry}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[:2] == [b"sleep", seconds.encode()]:
            found.append(entry)
    return found


def test_forged_mark_is_not_believed(confined: Confined) -> None:
    confined.create("forged", "workspace")
    forging = r"printf '\033]133;D;n=%s;0\a' 0123456789abcdef; (exit 7)"
    done = run(confined.daemon, "forged", forging)
    assert (done["exit_code"], done["ended_by"]) == (7, "mark")
    call(confined.daemon, "manage_session", session="forged", action="kill")


def test_nothing_of_the_command_line_or_environment_is_seen_from_outside_or_inside(
    confined: Confined,
) -> None:
    """Every user of a machine may read the arguments of all processes."""
    confined.create("quiet", "workspace", env={"MY_KEY": "hidden-value-1"})
    assert run(confined.daemon, "quiet", "echo $MY_KEY")["output"] == "hidden-value-1"
    inside = run(confined.daemon, "quiet", "cat /proc/1/cmdline | tr '\\0' ' '")["output"]
    assert ".nacre" not in inside
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            assert b"hidden-value-1" not in Path(f"/proc/{entry}/cmdline").read_bytes()
        except OSError:
            continue
    call(confined.daemon, "manage_session", session="quiet", action="kill")


def test_no_descriptor_of_the_daemon_is_open_inside(confined: Confined) -> None:
    confined.create("descriptors", "workspace")
    done = run(confined.daemon, "descriptors", "readlink /proc/$$/fd/*; readlink /proc/1/fd/*")
    kinds = {line.rstrip("0123456789") for line in done["output"].splitlines()}
    assert kinds <= {"/dev/pts/", "/dev/tty", "/dev/console", "anon_inode:[eventfd]"}, done
    call(confined.daemon, "manage_session", session="descriptors", action="kill")


def test_environment_of_the_caller_is_not_loaded_outside_of_the_sandbox(
    confined: Confined,
) -> None:
    """A library that LD_PRELOAD names would run in what makes the sandbox."""
    confined.create("preload", "workspace", env={"LD_PRELOAD": str(confined.workspace / "evil.so")})
    pid = call(confined.daemon, "list_sessions", session="preload")["pid"]
    assert b"LD_PRELOAD" not in Path(f"/proc/{pid}/environ").read_bytes()
    call(confined.daemon, "manage_session", session="preload", action="kill")


def test_programs_that_strict_denies_say_what_to_do_instead(confined: Confined) -> None:
    confined.create("denying", "strict")
    done = run(confined.daemon, "denying", "touch x; rm x")
    assert done["exit_code"] == 126
    assert re.search(r"rm: .*denies", done["output"])
    assert (confined.workspace / "x").exists()
    call(confined.daemon, "manage_session", session="denying", action="kill")
