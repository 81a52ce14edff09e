"""What goes wrong inside: an engine that crashes, damaged journals, a full disk."""

import os
import re
import shutil
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from crashing import (
    Json,
    call,
    crash,
    create,
    journal_of,
    kill,
    listed,
    log_of,
    portrait,
    run,
    send,
    sight,
    start,
    text_of,
    until,
    wait_gone,
)
from nacre.settings.paths import find_paths

from crashes.conftest import Start

POISONED = """
from nacre.core.terminal.terminal import Terminal
feed = Terminal.feed
def feed_or_die(self, data):
    if b"POISON" in data:
        os.abort()
    feed(self, data)
Terminal.feed = feed_or_die
"""


def test_session_whose_output_crashes_the_engine_is_put_aside(begin: Start) -> None:
    daemon = begin(doctored=POISONED)
    made = create(daemon, "poisoned", "echo fine; read line; printf 'POI%s\\n' SON; exec cat")
    create(daemon, "other", "seq 1 50; exec cat")
    until(daemon, "poisoned", text="fine")
    until(daemon, "other", text="50")
    before = portrait(daemon, "other")
    send(daemon, "poisoned", "\r")
    details = call(daemon, "list_sessions", session="poisoned")
    while not text_of(daemon, "poisoned").startswith(" nacre  The screen of this session"):
        details = call(daemon, "list_sessions", session="poisoned")
    assert (details["alive"], details["session_id"]) == (True, made["session_id"])
    assert portrait(daemon, "other") == before
    aside = journal_of(daemon, f"{made['session_id']}.quarantine")
    assert str(aside) in text_of(daemon, "poisoned").replace("\n", "")
    kept = b"".join(path.read_bytes() for path in aside.iterdir())
    assert b"fine" in kept
    assert b"POISON" in kept
    send(daemon, "poisoned", "new output\r")
    until(daemon, "poisoned", regex=r"new output\s+new output")
    crash(daemon)
    assert text_of(daemon, "poisoned").startswith(" nacre  The screen of this session")
    until(daemon, "poisoned", regex=r"new output\s+new output")


POISONED_WORKERS = f"""{POISONED}
from nacre.services.recovery import workers
worker = {POISONED!r} + "from nacre.services.recovery.worker import main; main()"
workers.COMMAND = (sys.executable, "-c", "import os" + worker)
"""


def test_engine_that_crashes_in_the_replay_takes_no_second_daemon_along(begin: Start) -> None:
    daemon = begin(doctored=POISONED_WORKERS)
    create(daemon, "poisoned", "echo fine; read line; printf 'POI%s\\n' SON; exec cat")
    others = [f"other{number}" for number in range(4)]
    for name in others:
        create(daemon, name, "seq 1 50; exec cat")
        until(daemon, name, text="50")
    until(daemon, "poisoned", text="fine")
    before = [portrait(daemon, name) for name in others]
    gone = [os.pidfd_open(daemon.pid)]
    send(daemon, "poisoned", "\r")
    wait_gone(gone)
    assert text_of(daemon, "poisoned").startswith(" nacre  The screen of this session")
    assert [portrait(daemon, name) for name in others] == before
    crashes = [line for line in log_of(daemon) if "signal 6" in line["message"]]
    assert len(crashes) == 1, "one daemon died, and its successor did not"
    send(daemon, "poisoned", "new output\r")
    until(daemon, "poisoned", regex=r"new output\s+new output")


# --- damaged journals --------------------------------------------------------------------------


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 0x55
    path.write_bytes(data)


def spoil_begin(folder: Path) -> None:
    flip(sorted(folder.glob("*.log"))[-1], 0)


def spoil_middle(folder: Path) -> None:
    newest = sorted(folder.glob("*.log"))[-1]
    flip(newest, newest.stat().st_size // 2)


def spoil_end(folder: Path) -> None:
    newest = sorted(folder.glob("*.log"))[-1]
    os.truncate(newest, newest.stat().st_size - 3)


def empty_it(folder: Path) -> None:
    for path in folder.glob("*.log"):
        os.truncate(path, 0)


def spoil_checkpoints(folder: Path) -> None:
    assert list(folder.glob("*.screen"))
    for path in folder.glob("*.screen"):
        flip(path, path.stat().st_size // 2)


def drop_checkpoints(folder: Path) -> None:
    for path in folder.glob("*.screen"):
        path.unlink()


def drop_first(folder: Path) -> None:
    drop_checkpoints(folder)
    sorted(folder.glob("*.log"))[0].unlink()


def spoil_first(folder: Path) -> None:
    drop_checkpoints(folder)
    oldest = sorted(folder.glob("*.log"))[0]
    flip(oldest, oldest.stat().st_size // 2)


def put_a_folder(folder: Path) -> None:
    newest = sorted(folder.glob("*.log"))[-1]
    newest.unlink()
    newest.mkdir()


def put_a_stranger(folder: Path) -> None:
    (folder / "stranger.log").write_bytes(b"\0" * 100)


def drop_all(folder: Path) -> None:
    shutil.rmtree(folder)


SPOILERS = (
    *(spoil_begin, spoil_middle, spoil_end, empty_it, spoil_checkpoints, drop_checkpoints),
    *(drop_first, spoil_first, put_a_folder, put_a_stranger, drop_all),
)
NOTICE = re.compile(r" nacre  The (end of this session's journal|journal of)")


@dataclass
class Spoilt:
    intact: Json
    after_damage: dict[str, Json]
    before_next: dict[str, Json]
    after_next: dict[str, Json]


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Spoilt]:
    """Sessions whose journals were damaged in all ways before their daemon was killed twice."""
    daemon = start(tmp_path_factory.mktemp("spoilt"), journal_segment_bytes=65536)
    try:
        names = [spoiler.__name__ for spoiler in SPOILERS]
        made = {name: create(daemon, name, "seq 1 30000; exec cat") for name in names}
        for name in names:
            until(daemon, name, regex="(?m)^30000$")
            until(daemon, name, quiet_ms=300)  # the ring is empty: all is in the journal alone
        intact = sight(daemon, names[0])
        daemon.process.send_signal(signal.SIGSTOP)
        kill(daemon)
        for spoiler in SPOILERS:
            spoiler(journal_of(daemon, made[spoiler.__name__]["session_id"]))
        daemon.process.send_signal(signal.SIGCONT)
        first = {name: sight(daemon, name) for name in names}
        for name in names:
            send(daemon, name, f"typed into {name}\r")
            until(daemon, name, regex=f"into {name}\\s+typed into {name}")
        second = {name: sight(daemon, name) for name in names}
        crash(daemon)
        yield Spoilt(intact, first, second, {name: sight(daemon, name) for name in names})
    finally:
        code = daemon.stop()
    assert code == 0


@pytest.mark.parametrize("name", [spoiler.__name__ for spoiler in SPOILERS])
def test_damaged_journal_is_said_and_never_shown_wrong(spoilt: Spoilt, name: str) -> None:
    seen = spoilt.after_damage[name]
    text = "".join(span["text"] for line in seen["screen"][:1] for span in line)
    assert NOTICE.match(text) or seen == spoilt.intact, text
    assert spoilt.after_next[name] == spoilt.before_next[name], "the journal goes on after it"


# --- a full disk -------------------------------------------------------------------------------


def test_full_disk_stops_the_journal_and_nothing_else(begin: Start) -> None:
    limit = ("/bin/bash", "-c", 'ulimit -f 1024; exec "$@"', "limit")  # 1 MiB a file
    # The next file would have room again.
    never = {"journal_segment_bytes": 4 * 1024 * 1024, "journal_retry": 1000}
    daemon = begin(wrapper=limit, **never)
    create(daemon, "loud", "seq -f %070.0f 1 30000; exec cat")
    create(daemon, "quiet", "echo little; exec cat")
    until(daemon, "loud", text="0030000")
    until(daemon, "quiet", text="little")
    while listed(daemon)["loud"].get("notice") is None:
        until(daemon, "loud", quiet_ms=50)  # it is written a moment after it is shown
    assert [line["level"] for line in log_of(daemon) if "journal has stopped" in line["message"]]
    details = listed(daemon)
    assert details["loud"]["notice"].startswith("the journal has stopped")
    assert details["quiet"].get("notice") is None
    quiet = portrait(daemon, "quiet")
    crash(daemon)
    assert portrait(daemon, "quiet") == quiet
    # The notice, and below it what was still in the ring.
    seen = sight(daemon, "loud")
    assert NOTICE.match(seen["scrollback"][0])
    numbers = [*seen["scrollback"][3:], *text_of(daemon, "loud").split("\n")]
    assert numbers == [f"{number:070d}" for number in range(int(numbers[0]), 30_001)]
    send(daemon, "loud", "goes on\r")
    until(daemon, "loud", regex=r"goes on\s+goes on")


def test_keys_that_cannot_be_used_are_put_aside_when_sessions_are_running(begin: Start) -> None:
    daemon = begin()
    paths = find_paths(daemon.env)
    create(daemon, "a")
    for path in (paths.token_file, paths.tokens_file, paths.page_key_file):
        Path(path).write_bytes(b"\xff\x00\x01")
    Path(paths.page_key_file).chmod(0o644)  # others may have read it
    crash(daemon)
    assert run(daemon, "a", "echo $((40 + 2))")["output"] == "42"
    for path in (paths.token_file, paths.tokens_file, paths.page_key_file):
        assert len(list(Path(paths.state).glob(f"{os.path.basename(path)}.aside-*"))) == 1
    assert daemon.rest("GET", "/sessions")["sessions"][0]["name"] == "a", "there is a new token"
