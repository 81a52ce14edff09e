"""The keeper as a program, with daemons that do what a test says."""

import ast
import asyncio
import json
import os
import secrets
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from nacre.client.keeping import keeper_command
from nacre.system.keeper import keeper
from nacre.system.keeper.client import Keeping

PUPPET = str(Path(__file__).with_name("puppet.py"))
PATIENCE = 60.0  # seconds until an event that does not come fails the test


class Puppet:
    """A test's end of a daemon."""

    def __init__(self, control: socket.socket) -> None:
        control.settimeout(PATIENCE)
        self._control = control
        self.pid = int(control.recv(100))
        self._end = os.pidfd_open(self.pid)

    def __call__(self, order: str) -> Any:
        self._control.send(order.encode())
        answer = ast.literal_eval(self._control.recv(65536).decode())
        assert not str(answer).partition(":")[0].endswith(("Error", "Exception")), answer
        return answer

    def order(self, order: str) -> None:
        """Say something that has no answer: it ends."""
        self._control.send(order.encode())

    def end(self, code: int) -> None:
        self.order(f"os._exit({code})")
        gone(self._end)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        gone(self._end)

    def close(self) -> None:
        self._control.close()
        os.close(self._end)


def gone(descriptor: int) -> None:
    """Return when a process has ended, a zombie or not."""
    assert select.select([descriptor], [], [], PATIENCE)[0]


class Kept:
    """A keeper, and the daemons that it starts one after the other."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listener.settimeout(PATIENCE)
        # Never used twice: a puppet that an earlier keeper started last must not come to this one.
        self._path = f"/tmp/nacre-puppet-{secrets.token_hex(8)}"
        self._listener.bind(self._path)
        self._listener.listen()
        self._puppets: list[Puppet] = []
        self.log = folder / "log"
        self.process: subprocess.Popen[bytes]

    def start(
        self,
        *,
        command: list[str] | None = None,
        before: tuple[str, ...] = (),
        pass_fds: tuple[int, ...] = (),
        changed: dict[str, str] | None = None,
    ) -> None:
        """Start it; `changed` are constants that a copy of the program has otherwise."""
        words = [sys.executable, "-I", "-S", PUPPET, self._path]
        argv = keeper_command(command or words)
        if changed:
            argv[argv.index(keeper.__file__)] = str(self._copy(changed))
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*before, *argv],
                stdin=subprocess.DEVNULL,
                stderr=log,
                pass_fds=pass_fds,
                env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            )

    def _copy(self, changed: dict[str, str]) -> Path:
        lines = Path(keeper.__file__).read_text().splitlines(keepends=True)
        for name, value in changed.items():
            at = next(at for at, line in enumerate(lines) if line.startswith(f"{name} = "))
            lines[at] = f"{name} = {value}\n"
        copy = self._folder / "keeper.py"
        copy.write_text("".join(lines))
        return copy

    def daemon(self) -> Puppet:
        """Return the next daemon, once the keeper has started it."""
        connection, _ = self._listener.accept()
        self._puppets.append(Puppet(connection))
        return self._puppets[-1]

    def ready(self) -> Puppet:
        started = self.daemon()
        started("say('READY')")
        return started

    def ended(self) -> int:
        return self.process.wait(PATIENCE)

    def messages(self) -> list[str]:
        return [json.loads(line)["message"] for line in self.log.read_text().splitlines()]

    def close(self) -> None:
        for one in self._puppets:
            with suppress(ProcessLookupError):
                os.kill(one.pid, signal.SIGKILL)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(PATIENCE)
        self._listener.close()
        os.unlink(self._path)
        for one in self._puppets:  # one may have been started just before the end
            with suppress(ProcessLookupError):
                os.kill(one.pid, signal.SIGKILL)
            one.close()


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    made = Kept(tmp_path)
    yield made
    made.close()


# --- descriptors -------------------------------------------------------------------------------


def test_three_hundred_descriptors_outlive_their_daemon(kept: Kept) -> None:
    kept.start()
    first = kept.ready()
    first("[keep(f'sessions/{n:08x}/master', f'{n} told') for n in range(300)] and None")
    first.kill()
    found, exits = kept.daemon()("take()")
    assert found == {f"sessions/{n:08x}/master": f"{n} told" for n in range(300)}
    assert exits == {}


def test_descriptors_survive_many_daemons_and_go_when_they_are_dropped(kept: Kept) -> None:
    kept.start()
    daemon = kept.ready()
    daemon("[keep(key, key) for key in ('lock', 'a/1', 'a/2', 'b/1')] and None")
    daemon("keep('b/1', 'replaced')")
    daemon("say('DROP a/')")
    for _ in range(3):
        daemon.kill()
        daemon = kept.ready()
    assert daemon("take()")[0] == {"lock": "lock", "b/1": "replaced"}
    daemon("say('DROP b/1')")
    assert list(daemon("take()")[0]) == ["lock"]


def test_what_is_dropped_or_replaced_is_closed(kept: Kept) -> None:
    kept.start()
    daemon = kept.ready()
    daemon("take()")
    before = len(os.listdir(f"/proc/{kept.process.pid}/fd"))
    daemon("[keep('one', 'x') for _ in range(50)] and None")
    daemon("take()")
    assert len(os.listdir(f"/proc/{kept.process.pid}/fd")) == before + 1
    daemon("say('DROP one')")
    daemon("take()")
    assert len(os.listdir(f"/proc/{kept.process.pid}/fd")) == before


def test_what_is_dropped_while_it_is_handed_out_is_left_out(kept: Kept) -> None:
    kept.start()
    daemon = kept.ready()
    daemon("[keep(f'a/{n}', 'x') for n in range(150)] and None")
    assert daemon("say('TAKE') or hear()").startswith("HAVE a/0\n")
    daemon("say('DROP a/')")
    assert daemon("say('MORE') or hear()") == "END "
    assert daemon("take()")[0] == {}


def test_last_words_of_a_daemon_that_left_something_unread_are_heard(kept: Kept) -> None:
    """Linux tells of the reset before it hands out what was sent before that."""
    kept.start()
    first = kept.ready()
    first("say('MORE')")
    assert first("bool(select.select([channel], [], [], 20)[0])"), "the answer is there"
    kept.process.send_signal(signal.SIGSTOP)
    first("keep('a', 'last'), keep('b', 'words')")
    first.kill()
    kept.process.send_signal(signal.SIGCONT)
    assert kept.daemon()("take()")[0] == {"a": "last", "b": "words"}


def test_next_daemon_inherits_nothing_but_its_channel(kept: Kept) -> None:
    """Neither what the first was started with nor what it left with the keeper."""
    read, write = os.pipe()
    high = [os.dup2(write, number) for number in (40, 200)]
    kept.start(pass_fds=tuple(high))
    for one in (write, *high):
        os.close(one)
    first = kept.ready()
    inherited = first("opened")
    assert {40, 200} < set(inherited)
    first("[keep(f'a/{n}', 'x') for n in range(5)] and None")
    first.kill()
    assert select.select([read], [], [], PATIENCE)[0]
    assert os.read(read, 1) == b"", "nobody has the other end any more"
    os.close(read)
    second = kept.daemon()
    channel = int(second("os.environ[CHANNEL]"))
    assert second("opened") == [0, 1, 2, channel]


# --- exit codes --------------------------------------------------------------------------------


def test_exit_codes_of_those_who_end_while_no_daemon_is_there_are_kept(kept: Kept) -> None:
    """Also of one that the daemon had just spoken of, and of one that it had not yet."""
    kept.start()
    first = kept.ready()
    # They live as long as their daemon: its end closes the pipe that they read.
    first("globals().update(zip(('inner', 'outer'), os.pipe()))")
    known = first("child('read x; exit 7', inner)")
    first(f"say('WATCH {known}')")
    first("take()")
    kept.process.send_signal(signal.SIGSTOP)
    spoken = first("child('read x; kill -TERM $$', inner)")
    first(f"say('WATCH {spoken}')")
    unknown = first("child('read x; exit 9', inner)")
    ends = [os.pidfd_open(pid) for pid in (known, spoken, unknown)]
    first.kill()
    for end in ends:
        gone(end)
        os.close(end)
    kept.process.send_signal(signal.SIGCONT)
    second = kept.daemon()
    exits = second("take()")[1]
    assert exits == {known: 7 << 8, spoken: signal.SIGTERM, unknown: 9 << 8}
    # Until they are forgotten, a third daemon finds them too; who is not watched is dropped.
    second("say('READY')")
    second(f"say('FORGET {spoken}')")
    second.kill()
    assert kept.daemon()("take()")[1] == {known: 7 << 8}


def adopted(kept: Kept, line: str, *, watched: bool) -> tuple[Puppet, int, int]:
    """A child of a first daemon, and the second; the child ends when the pipe is written to."""
    reader, writer = os.pipe()
    kept.start(pass_fds=(reader,))
    first = kept.daemon()
    pid = first(f"child('read x; {line}', {reader})")
    os.close(reader)
    if watched:
        first(f"say('WATCH {pid}')")
    first("say('READY')")
    first("take()")
    first.kill()
    return kept.daemon(), pid, writer


def test_daemon_is_told_of_an_exit_as_it_comes(kept: Kept) -> None:
    second, pid, writer = adopted(kept, "exit 3", watched=True)
    assert second("take()")[1] == {}
    second("say('READY')")
    os.close(writer)
    assert second("hear()") == f"EXIT {pid} {3 << 8}"


def test_watch_that_comes_after_the_end_is_answered_at_once(kept: Kept) -> None:
    """The first daemon was killed between the start of a process and its word about it."""
    second, pid, writer = adopted(kept, "exit 4", watched=False)
    assert second("take()")[1] == {}
    end = os.pidfd_open(pid)
    os.close(writer)
    gone(end)
    os.close(end)
    until_reaped([pid])
    second(f"say('WATCH {pid}')")
    assert second("hear()") == f"EXIT {pid} {4 << 8}"


UNREAD = """
import os, socket

from nacre.system.keeper import keeper

kept = keeper.Keeper(["/bin/true"], 0)
kept.channel, theirs = socket.socketpair(socket.AF_UNIX, keeper._KIND)
kept.channel.setblocking(False)
kept.was_ready, kept.ready_at = True, 1.0
child = os.posix_spawn("/bin/sh", ["sh", "-c", "exit 5"], os.environ)
os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
theirs.send(f"WATCH {child}".encode())
kept.reap()
socket.send_fds(theirs, [b"KEEP a"], [0])
theirs.close()
kept.daemon_ended(9)
print(kept.exits[child], *kept.kept)
"""


def test_words_that_come_between_a_look_and_the_reaping_count() -> None:
    """The daemon spoke and died after the keeper had looked who speaks: no event tells of it."""
    done = subprocess.run(
        [sys.executable, "-c", UNREAD], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert done.stdout == f"{5 << 8} a\n"


def until_signalled(daemon: Puppet) -> None:
    """Return when the keeper has handed a signal on; the puppet is asked until it has it."""
    deadline = time.monotonic() + PATIENCE
    while not daemon("signals"):
        assert time.monotonic() < deadline


def until_reaped(pids: list[int]) -> None:
    """Return when none of them is left, not even a zombie; there is no event for that."""
    deadline = time.monotonic() + PATIENCE
    while left := [pid for pid in pids if os.path.exists(f"/proc/{pid}")]:
        assert time.monotonic() < deadline, left
        os.sched_yield()


def test_orphans_are_reaped_without_a_word(kept: Kept) -> None:
    kept.start()
    daemon = kept.ready()
    orphans = [daemon("ended_child('sleep 1000 >&- & echo $!')") for _ in range(5)]
    for pid in orphans:
        assert parent_of(pid) == kept.process.pid
        end = os.pidfd_open(pid)
        os.kill(pid, signal.SIGKILL)
        gone(end)
        os.close(end)
    until_reaped(orphans)
    assert daemon("take()")[1] == {}, "nobody watched them"


def parent_of(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("PPid:")).split()[1])


def test_daemon_that_does_not_listen_does_not_block_the_keeper(kept: Kept) -> None:
    kept.start()
    first = kept.ready()
    first("globals().update(zip(('inner', 'outer'), os.pipe()))")
    pids = first("[child('read x', inner) for _ in range(300)]")
    first(f"[say('WATCH ' + str(pid)) for pid in {pids}] and None")
    first.kill()
    second = kept.daemon()
    found = second("take()")[1]
    missing = set(pids) - set(found)
    while missing:  # what came after the answer
        _, pid, _ = second("hear()").split()
        missing.discard(int(pid))
    second("say('READY')")
    kept.process.send_signal(signal.SIGTERM)
    assert kept.ended() == 128 + signal.SIGTERM


# --- starting again ----------------------------------------------------------------------------


def test_daemon_that_was_never_ready_is_not_started_again(kept: Kept) -> None:
    kept.start()
    kept.daemon().end(5)
    assert kept.ended() == 5


def test_signal_of_a_daemon_that_was_never_ready_is_its_exit_code(kept: Kept) -> None:
    kept.start()
    kept.daemon().kill()
    assert kept.ended() == 128 + signal.SIGKILL


def test_program_that_is_not_there_is_said(kept: Kept) -> None:
    kept.start(command=["/nonexistent/nacre"])
    assert kept.ended() == 127
    assert kept.messages() == ["the daemon cannot be started: No such file or directory"]


def test_program_that_is_gone_for_a_while_costs_nothing(kept: Kept, tmp_path: Path) -> None:
    """As while a package is being replaced."""
    program = tmp_path / "python"
    program.symlink_to(sys.executable)
    words = [str(program), "-I", "-S", PUPPET, kept._path]
    kept.start(command=words, changed={"_DELAYS": "(0.0, 0.001)"})
    first = kept.ready()
    first("keep('a', 'still here')")
    program.rename(tmp_path / "aside")
    first.kill()
    until_logged(kept, "the daemon ended with code 127; the next one starts in 0.001 s")
    (tmp_path / "aside").rename(program)
    assert kept.daemon()("take()")[0] == {"a": "still here"}


def until_logged(kept: Kept, message: str) -> None:
    """Return when a line has come; inotify would tell of each, reading again tells the same."""
    while message not in kept.log.read_text():
        assert kept.process.poll() is None, kept.log.read_text()


def test_clean_end_is_the_end_of_all(kept: Kept) -> None:
    read, write = os.pipe()
    kept.start(pass_fds=(write,))
    daemon = kept.ready()
    daemon(f"say('KEEP a', {write})")
    os.close(write)
    daemon.end(0)
    assert kept.ended() == 0
    assert os.read(read, 1) == b"", "what was kept is closed"
    os.close(read)
    assert kept.messages() == []


def test_upgrade_starts_the_next_at_once_and_tells_it(kept: Kept) -> None:
    kept.start()
    daemon = kept.ready()
    assert daemon("os.environ.get('NACRE_KEEPER_LAST')") is None
    for _ in range(3):
        daemon.end(keeper.UPGRADE)
        daemon = kept.daemon()
        assert daemon("os.environ['NACRE_KEEPER_LAST']") == str(keeper.UPGRADE << 8)
    assert kept.messages() == ["the daemon is replaced"] * 3


def test_daemon_that_fails_again_and_again_is_started_ever_later(kept: Kept) -> None:
    kept.start(changed={"_DELAYS": "(0.0, 0.01, 0.02, 0.03)"})
    daemon = kept.ready()
    for _ in range(5):
        daemon.end(1)
        daemon = kept.daemon()
    delays = [message.split()[-2] for message in kept.messages()]
    assert delays == ["0.0", "0.01", "0.02", "0.03", "0.03"]
    assert kept.messages()[0] == "the daemon ended with code 1; the next one starts in 0.0 s"


def test_delays_are_real(kept: Kept) -> None:
    kept.start(changed={"_DELAYS": "(0.0, 1000.0)"})
    daemon = kept.ready()
    os.kill(daemon.pid, signal.SIGSEGV)
    kept.ready().end(1)
    until_logged(kept, "the next one starts in 1000.0 s")
    kept._listener.setblocking(False)
    with pytest.raises(BlockingIOError):
        kept._listener.accept()
    assert "was killed by signal 11" in kept.messages()[0]
    kept.process.terminate()
    assert kept.ended() == 0, "and a signal ends it without one"


def test_daemon_that_lived_long_enough_fails_for_the_first_time_again(kept: Kept) -> None:
    kept.start(changed={"_STEADY": "0.0", "_DELAYS": "(0.0, 1000.0)"})
    daemon = kept.ready()
    for _ in range(4):
        daemon.end(1)
        daemon = kept.ready()
    assert {message.split()[-2] for message in kept.messages()} == {"0.0"}


def test_daemon_that_is_never_ready_again_does_not_count_as_having_lived(kept: Kept) -> None:
    """The moment at which the one before it was ready is not its own."""
    kept.start(changed={"_STEADY": "0.0", "_DELAYS": "(0.0, 0.01, 0.02)"})
    kept.ready().end(1)
    kept.daemon().end(1)
    kept.daemon().end(1)
    kept.daemon()
    assert [message.split()[-2] for message in kept.messages()] == ["0.0", "0.0", "0.01"]


def test_kills_are_made_up_for_at_once_unless_they_are_very_many(kept: Kept) -> None:
    kept.start(changed={"_QUICK": "4", "_SLOW": "0.01"})
    daemon = kept.ready()
    for _ in range(5):
        daemon.kill()
        daemon = kept.ready()
    delays = [message.split()[-2] for message in kept.messages()]
    assert delays == ["0.0", "0.0", "0.0", "0.01", "0.01"]


# --- signals -----------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_are_the_daemon_s_and_its_code_is_the_keeper_s(
    kept: Kept, number: signal.Signals
) -> None:
    kept.start()
    daemon = kept.ready()
    daemon("take_signals()")
    kept.process.send_signal(number)
    until_signalled(daemon)
    assert daemon("signals") == [number]
    daemon.end(6)
    assert kept.ended() == 6, "it is not started again, although it failed"


def test_signals_that_were_ignored_stay_so_in_keeper_and_daemon(kept: Kept) -> None:
    """As with nohup and with & in a script."""
    kept.start(before=("/bin/sh", "-c", "trap '' INT HUP; exec \"$@\"", "sh"))
    daemon = kept.ready()
    ignored = {signal.SIGINT, signal.SIGHUP}
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        known = daemon(f"signal.getsignal({int(number)}) is signal.SIG_IGN")
        assert known == (number in ignored)
    daemon("take_signals()")
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        kept.process.send_signal(number)
    until_signalled(daemon)  # TERM came last: what is not there by then was ignored
    assert daemon("signals") == [signal.SIGTERM]


# --- what it must bear -------------------------------------------------------------------------


def test_daemon_that_closes_its_channel_but_lives_is_replaced_when_it_ends(kept: Kept) -> None:
    kept.start()
    first = kept.ready()
    first("keep('a', 'x')")
    pid = first("child('exec sleep 1000')")
    first(f"say('WATCH {pid}')")
    first("channel.close()")
    first.kill()
    second = kept.daemon()
    assert second("take()") == ({"a": "x"}, {})
    os.kill(pid, signal.SIGKILL)
    assert second("hear()") == f"EXIT {pid} {signal.SIGKILL}"


GARBAGE = [
    *(
        "b'\\xff\\xfe\\x00'",
        "'WATCH'",
        "'WATCH x'",
        "'FORGET '",
        "'KEEP a'",
        "'MORE'",
        "'x' * 60000",
    ),
    *("'LOG /nonexistent/folder/log'", "'LOG /tmp'", "'LOG \\0'", "'READY now'", "'DROP nothing'"),
    *(
        "'WATCH -1'",
        "'WATCH 99999999999999999999999'",
        "'LOG '",
        "b'KEEP \\xff\\xff', 0",
        "'KEEP', 0",
    ),
    *("'NOTHING', 0, 1, 2", "'WATCH x', 0, 1, 2", "'KEEP b', *([0] * 200)"),
]


def test_garbage_does_not_kill_it(kept: Kept) -> None:
    kept.start()
    daemon = kept.ready()
    daemon("keep('a', 'x')")
    daemon("take()")
    before = len(os.listdir(f"/proc/{kept.process.pid}/fd"))
    for words in GARBAGE:
        daemon(f"say({words})")
    daemon("say('DROP b'), say('DROP \\udcff'.encode(errors='surrogateescape')), say('DROP')")
    # 'MORE' and 'WATCH' may have been answered: begin anew.
    daemon.kill()
    second = kept.daemon()
    assert second("take()")[0] == {}, "'DROP' drops everything below nothing"
    assert kept.process.poll() is None
    assert len(os.listdir(f"/proc/{kept.process.pid}/fd")) == before - 1, "no descriptor leaked"


def test_packet_without_a_word_is_taken_as_the_end_of_the_channel_only(kept: Kept) -> None:
    kept.start()
    first = kept.ready()
    first("keep('a', 'x')")
    first("channel.send(b'') and None")
    first.kill()
    assert kept.daemon()("take()")[0] == {"a": "x"}


def test_it_is_small(kept: Kept) -> None:
    kept.start()
    daemon = kept.ready()
    daemon("[keep(f'sessions/{n:08x}/ring', 'x') for n in range(300)] and None")
    daemon.kill()
    kept.daemon()("take()")
    status = Path(f"/proc/{kept.process.pid}/status").read_text()
    resident = int(next(line for line in status.splitlines() if "VmRSS" in line).split()[1])
    print(f"the keeper takes {resident} KiB")
    assert resident < 12 * 1024


def test_it_logs_where_the_daemon_says(kept: Kept, tmp_path: Path) -> None:
    kept.start()
    first = kept.daemon()
    path = tmp_path / "elsewhere \udcff"
    name = os.fsencode(path)
    first(f"say(b'LOG ' + {name!r})")
    first("say('READY')")
    first.kill()
    kept.daemon()
    assert kept.messages() == []
    (line,) = path.read_text().splitlines()
    assert json.loads(line)["message"].startswith("the daemon was killed by signal 9")


# --- the daemon's side -------------------------------------------------------------------------


def keeping_of(daemon: Puppet) -> None:
    """Give a puppet what a daemon has."""
    source = str(Path(keeper.__file__).parents[3])
    daemon(f"sys.path.insert(0, {source!r})")
    daemon("channel.detach() and None")
    daemon("exec('from nacre.system.keeper.client import Keeping')")
    daemon("globals().update(keeping=Keeping.from_environment())")


def test_daemon_s_side_takes_what_it_left(kept: Kept) -> None:
    kept.start()
    first = kept.daemon()
    keeping_of(first)
    assert first("keeping.alive, keeping.pid, keeping.last_status, keeping.crashed") == (
        *(True, kept.process.pid, None, False),
    )
    first("[keeping.keep(f'a/{n}', n % 3) for n in range(300)] and None")
    first("keeping.drop('a/299')")
    first("keeping.ready(None)")
    first.kill()
    second = kept.daemon()
    keeping_of(second)
    second("globals().update(taken=keeping.take())")
    assert second("sorted(taken)") == sorted(f"a/{n}" for n in range(299))
    assert not second("any(map(os.get_inheritable, taken.values()))")
    assert second("os.environ.get(CHANNEL), os.environ.get('NACRE_KEEPER_LAST')") == (None, None)
    assert second("keeping.last_status, keeping.crashed") == (9, False)


@pytest.mark.parametrize(
    ("status", "crashed"), [(None, False), (9, False), (15, False), (11, True), (3 << 8, False)]
)
def test_only_a_fault_of_its_own_counts_as_a_crash(status: int | None, crashed: bool) -> None:
    assert Keeping(None, status).crashed is crashed


def in_loop(test: Callable[[], Any]) -> None:
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(test())


def test_without_a_keeper_everything_is_said_to_nobody() -> None:
    keeping = Keeping(None)
    assert not keeping.alive
    assert keeping.pid is None
    assert keeping.take() == {}
    keeping.keep("a", 0)
    keeping.drop("a")
    keeping.watch(1)
    keeping.forget(1)
    keeping.ready("/log")


def test_keeper_that_is_gone_already_is_found_out_when_taking() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, keeper._KIND)
    theirs.close()
    keeping = Keeping(ours)
    assert keeping.take() == {}
    assert not keeping.alive


def test_keeper_that_goes_while_it_hands_out_is_found_out() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, keeper._KIND)
    socket.send_fds(theirs, [b"HAVE a"], [0])
    theirs.shutdown(socket.SHUT_RDWR)
    keeping = Keeping(ours)
    taken = keeping.take()
    for descriptor in taken.values():
        os.close(descriptor)
    assert not keeping.alive
    theirs.close()


def test_lost_keeper_leaves_no_reader_on_a_number_that_is_used_again() -> None:
    """It is found out while something is said, before the loop hears of it."""

    async def test() -> None:
        loop = asyncio.get_running_loop()
        ours, theirs = socket.socketpair(socket.AF_UNIX, keeper._KIND)
        number = ours.fileno()
        keeping = Keeping(ours)
        keeping.listen(loop)
        await asyncio.sleep(0)  # the loop watches it
        theirs.close()
        keeping.drop("a")
        assert not keeping.alive
        assert not loop.remove_reader(number), "nobody listens there any more"

    in_loop(test)


def test_a_keeper_that_lags_holds_nobody_up_and_gets_everything_in_order() -> None:
    async def test() -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, keeper._KIND)
        keeping = Keeping(ours)
        keeping.listen(asyncio.get_running_loop())
        before, sent = len(os.listdir("/dev/fd")), 0
        while len(os.listdir("/dev/fd")) < before + 20:  # those wait here that it did not take
            keeping.keep(f"a/{sent}", 0)
            sent += 1
        keeping.drop("a/5")
        theirs.setblocking(False)
        got: list[str] = []
        async with asyncio.timeout(PATIENCE):
            while len(got) <= sent:
                try:
                    data, descriptors, _, _ = socket.recv_fds(theirs, 100, 1)
                except BlockingIOError:
                    await asyncio.sleep(0.001)  # what waits is written when there is room
                    continue
                got.append(data.decode())
                for descriptor in descriptors:
                    os.close(descriptor)
        assert got == [*(f"KEEP a/{n}" for n in range(sent)), "DROP a/5"]
        await asyncio.sleep(0)
        assert len(os.listdir("/dev/fd")) == before
        assert keeping.alive
        theirs.close()
        ours.close()

    in_loop(test)


@pytest.mark.parametrize("limit", [{"seconds": 0.01}, {"messages": 3}])
def test_a_keeper_that_takes_nothing_is_killed_and_lost(limit: dict[str, Any]) -> None:
    in_loop(lambda: asyncio.sleep(0))  # what the first loop opens stays
    before = len(os.listdir("/dev/fd"))

    async def test() -> None:
        lost = asyncio.Event()
        ours, theirs = socket.socketpair(socket.AF_UNIX, keeper._KIND)
        keeping = Keeping(None)
        keeping.give_up_after(**limit)
        keeping.when_lost = lost.set
        keeping._loop = asyncio.get_running_loop()
        keeping.follow(ours, hung.pid)
        while not keeping._outbox:
            keeping.keep("a", 0)
        for _ in range(3):
            keeping.keep("a", 0)
        async with asyncio.timeout(PATIENCE):
            await lost.wait()
        assert not keeping.alive
        theirs.close()

    with subprocess.Popen(["sleep", "1000"]) as hung:
        hung.send_signal(signal.SIGSTOP)
        in_loop(test)
        assert hung.wait(PATIENCE) == -signal.SIGKILL
    assert len(os.listdir("/dev/fd")) == before


def test_exits_reach_who_watches_whether_they_come_before_or_after() -> None:
    async def test() -> None:
        loop = asyncio.get_running_loop()
        ours, theirs = socket.socketpair(socket.AF_UNIX, keeper._KIND)
        keeping = Keeping(ours)
        for message in (b"EXIT 11 256", b"END 12:512 13:9"):
            theirs.send(message)
        assert keeping.take() == {}
        assert keeping.exits == {11: 256, 12: 512, 13: 9}
        keeping.listen(loop)
        heard: asyncio.Queue[tuple[int, int]] = asyncio.Queue()
        keeping.watch(11, lambda status: heard.put_nowait((11, status)))
        keeping.watch(14, lambda status: heard.put_nowait((14, status)))
        keeping.forget(13)
        theirs.send(b"EXIT 14 0")
        async with asyncio.timeout(PATIENCE):
            assert {await heard.get(), await heard.get()} == {(11, 256), (14, 0)}
        assert keeping.exits == {12: 512}
        said = [theirs.recv(100) for _ in range(4)]
        assert said == [b"TAKE", b"WATCH 11", b"WATCH 14", b"FORGET 13"]
        theirs.close()

    in_loop(test)
