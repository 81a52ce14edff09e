"""The same attacks against sandboxes that Landlock makes, and those that it alone has to hold.

There is no namespace here: processes of the machine are seen, and files are only closed. So each
attack is held by a rule of Landlock, by the filter of system calls, or by the launcher.
"""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from confining import needs_landlock
from crashing import call, create, is_dead, run, start, until
from escapes.attack import ATTACKS
from escapes.test_escapes import HARMLESS, HERE, Confined, sleepers
from nacre.settings.paths import find_paths

pytestmark = needs_landlock

PROFILES = ("readonly", "workspace", "strict")


@pytest.fixture(scope="module")
def confined(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Confined]:
    root = tmp_path_factory.mktemp("landlock")
    workspace = root / "project"
    workspace.mkdir()
    (root / "secret").write_text("my secret\n")
    read = f"{sys.base_prefix}:{os.path.realpath(sys.executable)}"
    daemon = start(root, sandbox_backend="landlock", sandbox_read=read)
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
    (workspace / "facts.json").write_text(json.dumps(facts))
    (workspace / "attack.py").write_text((HERE / "attack.py").read_text())
    yield Confined(daemon, workspace, workspace, root / "outside")
    assert daemon.stop() == 0


@pytest.mark.parametrize("profile", PROFILES)
def test_no_attack_gets_out(confined: Confined, profile: str) -> None:
    name = f"attacked-{profile}"
    confined.create(name, profile)
    came = confined.attack(name)
    assert set(came) == {attack.__name__ for attack in ATTACKS}
    assert [f"{name}: {how}" for name, how in came.items() if not how.startswith("held")] == []
    assert not confined.outside.exists(), "a link led out of the sandbox"
    found = call(confined.daemon, "list_sessions", session=name)
    assert (found["sandbox"], found["sandbox_backend"]) == (profile, "landlock")
    call(confined.daemon, "manage_session", session=name, action="kill")


def test_without_a_sandbox_the_same_attacks_succeed(confined: Confined) -> None:
    confined.create("open", "off")
    came = confined.attack("open", *HARMLESS)
    assert [name for name in HARMLESS if not came[name].startswith("ESCAPED")] == []
    call(confined.daemon, "manage_session", session="open", action="kill")


# What namespaces would hold, and Landlock alone would not.
BEYOND = r"""
import ctypes, os, resource, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
daemon, secret, project = int(sys.argv[1]), sys.argv[2], os.getcwd()

def called(result):
    if result == -1:
        raise OSError(ctypes.get_errno(), "refused")

def by_a_link():
    os.symlink(secret, "link-out")
    try:
        os.chmod("link-out", 0o777)
    finally:
        os.unlink("link-out")

def by_a_descriptor():
    place = os.open(secret, os.O_PATH)
    os.chmod(f"/proc/self/fd/{place}", 0o777)

def by_a_folder():
    folder = os.open(os.path.dirname(secret), os.O_PATH)
    os.chmod(os.path.basename(secret), 0o777, dir_fd=folder)

TRIES = {
    "change a mode outside": lambda: os.chmod(secret, 0o777),
    "change a mode by a way up": lambda: os.chmod(f"{project}/../secret", 0o777),
    "change a mode by a link": by_a_link,
    "change a mode by a descriptor": by_a_descriptor,
    "change a mode by a folder": by_a_folder,
    "change times outside": lambda: os.utime(secret, (1, 1)),
    "change the owner outside": lambda: os.chown(secret, os.getuid(), os.getgid()),
    "set an attribute outside": lambda: os.setxattr(secret, "user.x", b"1"),
    "make a setuid program": lambda: os.chmod("attack.py", 0o4755),
    "link to a file outside": lambda: os.link(secret, "linked"),
    "limit the daemon": lambda: resource.prlimit(daemon, resource.RLIMIT_CPU, (1, 1)),
    "slow the daemon down": lambda: os.setpriority(os.PRIO_PROCESS, daemon, 19),
    "slow all of the user down": lambda: os.setpriority(os.PRIO_USER, 0, 19),
    "move the daemon to a processor": lambda: os.sched_setaffinity(daemon, {0}),
    "share memory": lambda: called(libc.shmget(1, 4096, 0o1600)),
    "have a queue": lambda: called(libc.mq_open(b"/nacre", 0o102, 0o600, None)),
    "watch a folder": lambda: called(libc.inotify_add_watch(
        libc.inotify_init(), os.path.dirname(secret).encode(), 0x100)),
    "send datagrams": lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM),
    "listen": lambda: socket.create_server(("127.0.0.1", 0)),
    "have a netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
    "use the root of the daemon": lambda: open(f"/proc/{daemon}/root{secret}").read(),
    "use a descriptor of the daemon": lambda: open(f"/proc/{daemon}/fd/1", "w"),
    "read its memory": lambda: open(f"/proc/{daemon}/mem", "rb").read(1),
    "signal its group": lambda: os.killpg(os.getpgid(daemon), 0),
    "signal the launcher": lambda: os.kill(os.getppid() and int(sys.argv[3]), 0),
    "use another's memory file": lambda: open("/dev/shm/nacre-trial", "w"),
    "write beside": lambda: open(f"{project}/../beside", "w"),
}
for name, attempt in TRIES.items():
    try:
        attempt()
        print("ESCAPED", name)
    except OSError as error:
        pass
print("all tried", len(TRIES))
"""


@pytest.mark.parametrize("profile", ["readonly", "workspace"])
def test_what_landlock_does_not_know_of_is_held_too(confined: Confined, profile: str) -> None:
    (confined.workspace / "beyond.py").write_text(BEYOND)
    name = f"beyond-{profile}"
    confined.create(name, profile)
    leader = call(confined.daemon, "list_sessions", session=name)["pid"]
    launcher = int(Path(f"/proc/{leader}/stat").read_text().rpartition(")")[2].split()[1])
    secret = confined.workspace.parent / "secret"
    before = secret.stat()
    python = os.path.realpath(sys.executable)
    line = f"{python} beyond.py {confined.daemon.pid} {secret} {launcher}"
    done = run(confined.daemon, name, line, timeout_ms=60_000)
    assert done["output"].startswith("all tried"), done["output"]
    after = secret.stat()
    assert (before.st_mode, before.st_mtime_ns, before.st_ctime_ns) == (
        *(after.st_mode, after.st_mtime_ns, after.st_ctime_ns),
    )
    call(confined.daemon, "manage_session", session=name, action="kill")


def test_what_left_the_session_of_its_terminal_dies_with_it(confined: Confined) -> None:
    for how, seconds in (("exit", "98766.1"), ("kill", "98766.2")):
        confined.create(f"left-{how}", "workspace")
        line = f"(env -i setsid sleep {seconds} &) ; until pgrep -fx 'sleep {seconds}'; do :; done"
        assert run(confined.daemon, f"left-{how}", line)["exit_code"] == 0
        assert sleepers(seconds)
        if how == "exit":
            call(confined.daemon, "send_input", session="left-exit", input="exit\r")
            assert is_dead(confined.daemon, "left-exit")
        call(confined.daemon, "manage_session", session=f"left-{how}", action="kill")
        assert not sleepers(seconds)


def test_builds_work_and_leave_nothing_behind(confined: Confined) -> None:
    """What changes modes and times is made for the program, where it may write."""
    confined.create("builds", "workspace")

    def said(line: str) -> str:
        done = run(confined.daemon, "builds", line, timeout_ms=60_000)
        return str(done["output"])

    assert said("echo 'echo built' >b.sh && chmod +x b.sh && ./b.sh") == "built"
    assert said("touch -d @5 b.sh && cp -p b.sh c.sh && stat -c '%Y %a' c.sh") == "5 755"
    assert said("mkdir -p d && chmod 2750 d && stat -c %a d; chmod 700 d") == "2750"
    assert said("tar cf t.tar b.sh && tar xf t.tar -C d && ls -l d | grep -c rwx") == "1"
    assert said("cd d && chmod 640 ../c.sh && stat -c %a ../c.sh; cd ..") == "640"
    assert said("git init -q . && git add b.sh && git status --short | head -1") == "A  b.sh"
    box = said('echo "$TMPDIR"; touch "$TMPDIR/x" "$HOME/y" && ls "$HOME"').split()
    assert box[1:] == ["y"]
    assert os.path.isdir(box[0])
    assert said("sleep 60 & kill %1; wait; echo over").splitlines()[-1] == "over"
    call(confined.daemon, "manage_session", session="builds", action="kill")
    assert not os.path.exists(os.path.dirname(box[0]))


def test_strict_denies_programs_by_name(confined: Confined) -> None:
    confined.create("denying", "strict")
    done = run(confined.daemon, "denying", "touch x; rm x")
    assert done["exit_code"] == 126
    assert "denies" in done["output"]
    call(confined.daemon, "manage_session", session="denying", action="kill")


def test_descriptors_and_secrets_of_the_daemon_are_not_inside(confined: Confined) -> None:
    confined.create("descriptors", "workspace", env={"MY_KEY": "hidden-value-2"})
    done = run(confined.daemon, "descriptors", "readlink /proc/$$/fd/*")
    kinds = {line.rstrip("0123456789") for line in done["output"].splitlines()}
    assert kinds <= {"/dev/pts/", "/dev/tty"}, done
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            assert b"hidden-value-2" not in Path(f"/proc/{entry}/cmdline").read_bytes()
        except OSError:
            continue
    call(confined.daemon, "manage_session", session="descriptors", action="kill")
