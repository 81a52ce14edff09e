"""A child on a pseudo-terminal: what it has, and what it must not have."""

import os
import resource
import select
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nacre.errors import Internal, InvalidInput
from nacre.system.processes.pty import (
    Child,
    SessionLimits,
    find_program,
    foreground_group,
    raise_descriptor_limit,
    set_size,
    spawn,
)
from nacre.system.processes.tree import Tree, look, send_signal
from reading import read_available

PATIENCE = 60.0  # seconds until an event that does not come fails the test


class Terminal:
    """The master's side of a child: what it printed so far."""

    def __init__(self, child: Child) -> None:
        self.child = child
        self.output = b""
        self.at_end = False

    def until(self, text: bytes) -> bytes:
        """Read on until the text was printed; return all that was."""
        while text not in self.output:
            assert not self.at_end, self.output
            self._read()
        return self.output

    def until_end(self) -> bytes:
        while not self.at_end:
            self._read()
        return self.output

    def write(self, data: bytes) -> None:
        assert os.write(self.child.master, data) == len(data)

    def press(self, key: bytes) -> None:
        """Write a key, and forget what was printed before it."""
        self.output = b""
        self.write(key)

    def _read(self) -> None:
        ready, _, _ = select.select([self.child.master], [], [], PATIENCE)
        assert ready, self.output
        data, self.at_end = read_available(self.child.master, 1 << 20)
        self.output += data


@contextmanager
def running(
    *argv: str,
    cwd: str = "/",
    env: dict[str, str] | None = None,
    rows: int = 24,
    cols: int = 80,
    limits: SessionLimits = SessionLimits(256),  # noqa: B008  cannot be changed
    **more: int,
) -> Iterator[Terminal]:
    given = {"PATH": os.environ["PATH"], "TERM": "dumb", "PS1": "> "} if env is None else env
    child = spawn(
        argv,
        cwd=cwd,
        env=given,
        rows=rows,
        cols=cols,
        limits=limits,
        **more,  # type: ignore[arg-type]  # handed on as they are
    )
    try:
        yield Terminal(child)
    finally:
        send_signal(look([Tree(child.pid, "none")]).members, signal.SIGKILL)
        os.close(child.master)
        child.process.wait(PATIENCE)


def lines_of(*argv: str, **options: object) -> list[str]:
    with running(*argv, **options) as terminal:  # type: ignore[arg-type]  # handed on as they are
        return terminal.until_end().decode().splitlines()


PROMPT = b"> "
BASH = ("/bin/bash", "--norc", "--noprofile", "-i")


def test_child_leads_a_session_with_a_controlling_terminal() -> None:
    probe = (
        "import os; tty = os.open('/dev/tty', os.O_RDWR); "
        "print(os.getsid(0) == os.getpid(), os.tcgetpgrp(tty) == os.getpgrp(), "
        "[os.isatty(fd) for fd in (0, 1, 2)])"
    )
    assert lines_of(sys.executable, "-c", probe) == ["True True [True, True, True]"]


def test_job_control_brings_a_background_job_to_the_foreground() -> None:
    with running(*BASH) as terminal:
        terminal.write(b"set -m; cat &\nfg\n")
        terminal.until(b"\ncat\r\n")  # what fg says
        terminal.write(b"hello\n")
        terminal.until(b"hello\r\nhello\r\n")  # the echo, and what the job read and printed
        assert foreground_group(terminal.child.master) != terminal.child.pid
        terminal.press(b"\x1a")
        terminal.until(PROMPT)
        assert foreground_group(terminal.child.master) == terminal.child.pid
        terminal.write(b"echo over-$?\n")
        terminal.until(b"over-148")


def test_ctrl_c_interrupts_the_foreground_job_and_not_the_shell() -> None:
    with running(*BASH) as terminal:
        terminal.write(b"sh -c 'printf u; printf \"p\\n\"; exec sleep 1000'\n")
        terminal.until(b"\nup")
        assert foreground_group(terminal.child.master) != terminal.child.pid
        terminal.press(b"\x03")
        terminal.until(PROMPT)
        terminal.write(b"echo status-$?\n")
        terminal.until(b"status-130")


def test_size_is_set_before_the_child_starts() -> None:
    assert lines_of("stty", "size", rows=7, cols=132) == ["7 132"]


def test_set_size_reaches_the_child_as_sigwinch() -> None:
    program = (
        "import os, signal\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGWINCH])\n"
        "print('ready', flush=True)\n"
        "signal.sigwait([signal.SIGWINCH])\n"
        "print(os.get_terminal_size(), flush=True)\n"
    )
    with running(sys.executable, "-c", program) as terminal:
        terminal.until(b"ready")
        set_size(terminal.child.master, 33, 99)
        terminal.until(b"columns=99, lines=33")


def test_core_dumps_are_as_large_as_they_may_be_and_can_be_allowed_again() -> None:
    line = "ulimit -Sc; ulimit -Sc 10 && ulimit -Sc"
    assert lines_of("/bin/sh", "-c", line) == ["0", "10"], "in blocks of 512 bytes"
    assert lines_of("/bin/sh", "-c", "ulimit -Sc", limits=SessionLimits(256, core_bytes=4096)) == [
        "8"
    ]


def test_programs_cannot_open_or_write_more_than_a_session_may() -> None:
    limits = SessionLimits(64, most_descriptors=128, file_bytes=1 << 20)
    asked = "ulimit -Sn; ulimit -Hn; ulimit -f; ulimit -Hf"
    assert lines_of("/bin/sh", "-c", asked, limits=limits) == ["64", "128", "2048", "2048"]
    raising = "ulimit -Sn 128 && ulimit -n 129"
    assert "128" in " ".join(lines_of("/bin/sh", "-c", f"{raising} || ulimit -Sn", limits=limits))


def test_limits_of_a_session_are_never_above_those_of_the_daemon() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = str(hard) if hard != resource.RLIM_INFINITY else "unlimited"
    asked = SessionLimits(64, most_descriptors=0)
    assert lines_of("/bin/sh", "-c", "ulimit -Hn; ulimit -f", limits=asked)[0] == most
    if hard != resource.RLIM_INFINITY:
        beyond = SessionLimits(64, most_descriptors=hard * 2)
        assert lines_of("/bin/sh", "-c", "ulimit -Hn", limits=beyond) == [most]


def test_program_joins_its_cgroup_or_does_not_start(tmp_path: Path) -> None:
    """A process that writes 0 joins itself (cgroups(7)); here a folder takes the kernel's place."""
    joining = SessionLimits(64, cgroup=str(tmp_path))
    assert lines_of("/bin/sh", "-c", "echo started", limits=joining) == ["started"]
    assert (tmp_path / "cgroup.procs").read_text() == "0\n"
    nowhere = SessionLimits(64, cgroup=str(tmp_path / "gone"))
    with running("/bin/sh", "-c", "echo started", limits=nowhere) as terminal:
        assert b"started" not in terminal.until_end()
        assert terminal.child.process.wait(PATIENCE) == 125


def test_programs_are_killed_before_us_when_memory_runs_out() -> None:
    own = int(Path("/proc/self/oom_score_adj").read_text())
    asked = ("/bin/sh", "-c", "cat /proc/self/oom_score_adj")
    assert lines_of(*asked, limits=SessionLimits(256, oom_score_adj=200)) == [
        str(min(own + 200, 1000))
    ]
    assert lines_of(*asked, limits=SessionLimits(256, oom_score_adj=1000)) == ["1000"]
    assert lines_of(*asked) == [str(own)]


def test_raised_descriptor_limit_is_not_handed_to_the_child() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (512, before[1]))
        was = raise_descriptor_limit()
        assert was == 512
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 512
        assert lines_of("/bin/sh", "-c", "ulimit -Sn", limits=SessionLimits(was)) == ["512"]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_no_descriptor_leaks_into_the_child() -> None:
    inheritable = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(inheritable, True)
    try:
        with running("sleep", "1000"):  # another child's terminal is open meanwhile
            # 3 is the folder that ls itself reads.
            assert lines_of("ls", "-C", "/proc/self/fd") == ["0  1  2  3"]
    finally:
        os.close(inheritable)


def test_folder_is_the_given_one(tmp_path: Path) -> None:
    folder = tmp_path / "with blanks and ümlauts"
    folder.mkdir()
    assert lines_of("/bin/pwd", cwd=str(folder)) == [str(folder)]


def test_environment_is_the_given_one_and_nothing_else() -> None:
    given = {"PATH": os.environ["PATH"], "A": "1 = 2", "EMPTY": "", "PWD": "/"}
    found = dict(line.split("=", 1) for line in lines_of("env", env=given))
    # What a bash that is installed as /bin/sh sets by itself.
    assert {key: found[key] for key in found if key not in ("_", "SHLVL", "OLDPWD")} == given


def test_variable_whose_name_is_no_shell_identifier_reaches_the_child() -> None:
    given = {"PATH": os.environ["PATH"], "npm_config_//registry:token": "t", "a.b": "1"}
    found = lines_of("env", env=given)
    assert "a.b=1" in found
    assert "npm_config_//registry:token=t" in found


def test_arguments_arrive_as_they_were_given() -> None:
    argv = ["", " ", "$HOME", "*", "a\nb", "-n", "'\"", "ü"]
    program = "import sys; print(ascii(sys.argv[1:]))"
    assert lines_of(sys.executable, "-c", program, *argv) == [ascii(argv)]


def test_sigpipe_has_its_default_action_in_the_child() -> None:
    # Python ignores SIGPIPE; a child that inherited that would print "Broken pipe".
    assert lines_of("/bin/sh", "-c", "yes | head -1") == ["y"]


def test_no_signal_is_ignored_or_blocked_in_the_child() -> None:
    found = lines_of("grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status")
    # Signals from 32 on are the C library's own; whoever runs the tests may ignore those.
    assert [int(line.split()[1], 16) & 0x7FFFFFFF for line in found] == [0, 0]


def test_folder_that_is_gone_is_an_error_and_leaks_no_descriptor(tmp_path: Path) -> None:
    before = os.listdir("/proc/self/fd")
    with pytest.raises(Internal, match="cannot start ls"):
        spawn(["ls"], cwd=str(tmp_path / "gone"), env={}, rows=2, cols=2, limits=SessionLimits(256))
    assert os.listdir("/proc/self/fd") == before


def test_character_split_by_a_read_is_whole_when_the_parts_are_joined() -> None:
    with running("/bin/sh", "-c", "printf '\\303'; printf '\\274'; printf 'END'") as terminal:
        assert terminal.until_end().decode() == "üEND"


def test_programs_are_found_as_exec_would_find_them(tmp_path: Path) -> None:
    tool = tmp_path / "bin" / "tool"
    tool.parent.mkdir()
    tool.touch(mode=0o755)
    cwd, name = str(tmp_path), "tool"
    (tmp_path / "plain").touch(mode=0o644)

    assert find_program(name, cwd=cwd, path=str(tool.parent)) == str(tool)
    assert find_program(name, cwd=cwd, path="/usr/bin:bin") == str(tool)
    assert find_program("bin/tool", cwd=cwd, path=None) == str(tool)
    assert find_program(str(tool), cwd="/", path="") == str(tool)
    assert find_program(name, cwd=cwd, path="/usr/bin") is None
    assert find_program("./plain", cwd=cwd, path=None) is None, "not executable"
    assert find_program("./bin", cwd=cwd, path=None) is None, "a folder"


def test_foreground_group_of_a_terminal_nobody_has_is_none() -> None:
    with running("true") as terminal:
        terminal.until_end()
        assert foreground_group(terminal.child.master) is None


def test_command_that_is_too_long_for_the_system_is_told_as_one(tmp_path: Path) -> None:
    argv = ["cat", "x" * 200_000]  # Linux allows 128 KiB an argument
    with pytest.raises(InvalidInput, match="longer than the system allows"):
        spawn(argv, cwd=str(tmp_path), env={}, rows=2, cols=2, limits=SessionLimits(256))
