"""/ws/raw: the session's bytes for a terminal elsewhere, and a person's keys."""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection

from conftest import Daemon, load_all
from nacre.settings.table import Settings
from restarts import crash

from doors.sockets import JsonSocket, Replay, closing, log_in, open_socket, receive

Json = dict[str, Any]


def sight(ws: JsonSocket, session: str) -> Json:
    screen = ws.call("get_screen", session)
    return {key: screen[key] for key in ("lines", "cursor", "rows", "cols")}


def come_to_the_same(replay: Replay, ws: JsonSocket, session: str) -> None:
    """Take messages until the replayed screen is the session's."""
    while replay.sight() != sight(ws, session):
        replay.take()


def test_a_snapshot_is_announced_right_before_its_bytes(daemon: Daemon, job: str) -> None:
    with open_socket(daemon, f"/ws/raw/{job}") as raw:
        assert receive(raw) == {"event": "resized", "rows": 24, "cols": 80}
        assert receive(raw) == {
            "event": "snapshot",
            "rows": 24,
            "cols": 80,
            "alternate": False,
            "history_lines": 0,
            "line": 0,
        }
        assert b"ready" in receive(raw)


def test_output_and_keys_are_bytes(daemon: Daemon, ws: JsonSocket, job: str) -> None:
    with open_socket(daemon, f"/ws/raw/{job}") as raw:
        replay = Replay(raw)
        replay.until("ready")
        for line in ("héllo".encode(), b"\xffno UTF-8"):
            raw.send(line + b"\r")
            printed = b""
            while len(printed) < len(line) + 2:
                printed += receive(raw)
            assert printed == line + b"\r\n"


@pytest.mark.parametrize("reference", ["name", "session_id", "port"])
def test_a_session_is_named_as_everywhere(
    daemon: Daemon, ws: JsonSocket, job: str, reference: str
) -> None:
    named = ws.call("list_sessions", session=job)[reference]
    with open_socket(daemon, f"/ws/raw/{named}") as raw:
        Replay(raw).until("ready")


DRAWING = r"""
printf '\033]2;a title\007\033[31mred \033[1;4;48;5;22mloud\033[0m \033[38;2;9;8;7mrgb\n'
printf 'wide 漢字 é 👍🏽\n\033[7minverse\033[0m\ttabbed\n'
for n in $(seq 60); do printf 'line %s\r\n' $n; done
printf '\033[5;10Hplaced\033[20;1H\033[?25lend of it'
read line
"""


def test_what_is_replayed_into_a_terminal_is_what_get_screen_shows(
    daemon: Daemon, ws: JsonSocket, tmp_path: Path
) -> None:
    script = tmp_path / "drawing.sh"
    script.write_text(f"stty -echo; echo ready; read line\n{DRAWING}")
    ws.call("create_session", name="art", command="bash", args=[str(script)])
    ws.until("art", "ready")
    with open_socket(daemon, "/ws/raw/art") as early:
        live = Replay(early)
        live.until("ready")
        early.send(b"\r")
        live.until("end of it")
        assert live.snapshots == 1
        come_to_the_same(live, ws, "art")
        with open_socket(daemon, "/ws/raw/art") as late:
            drawn = Replay(late)
            drawn.until("end of it")
            assert drawn.sight() == live.sight()
    ws.call("manage_session", "art", action="kill")


def test_the_alternate_screen_is_announced_not_entered(daemon: Daemon, ws: JsonSocket) -> None:
    line = r"printf 'below\r\n\033[?1049h\033[Habove'; cat"
    ws.call("create_session", name="full", command=line)
    ws.until("full", "above")
    with open_socket(daemon, "/ws/raw/full") as raw:
        receive(raw)
        assert receive(raw)["alternate"] is True
        assert b"1049" not in receive(raw)
    ws.call("manage_session", "full", action="kill")


# --- keys with numbers -------------------------------------------------------------------------

NAME = "0123456789abcdef"


def numbered(typed: bytes, number: int, **more: object) -> str:
    return json.dumps({"type": base64.b64encode(typed).decode(), "number": number, **more})


def told(raw: ClientConnection, event: str) -> Json:
    """Return the next message about this."""
    while True:
        message = receive(raw)
        if isinstance(message, dict) and message["event"] == event:
            return message


def test_numbered_keys_are_confirmed_and_typed_once(
    daemon: Daemon, ws: JsonSocket, job: str
) -> None:
    with open_socket(daemon, f"/ws/raw/{job}?typing={NAME}") as raw:
        first = told(raw, "typing")
        assert {"taken": 0, "received": 0, "unsure": False, "dropped": False}.items() <= (
            first.items()
        )
        assert first["silence_ms"] > first["beat_ms"] > 0
        raw.send(numbered(b"one\r", 0))
        assert told(raw, "taken")["number"] == 4
        raw.send(numbered(b"one\rtwo\r", 0))
        assert told(raw, "taken")["number"] == 8
    ws.until_line(job, "two")
    with open_socket(daemon, f"/ws/raw/{job}?typing={NAME}") as raw:
        assert told(raw, "typing")["taken"] == 8
        raw.send(b"plain\r")  # the old way
        raw.send(numbered(b"three\r", 8))
        assert told(raw, "taken")["number"] == 14
    ws.until_line(job, "three")
    lines = [line for line in ws.call("get_screen", job, format="plain")["lines"] if line]
    assert lines == ["ready", "one", "two", "plain", "three"]


def test_beats_say_how_much_has_come(daemon: Daemon, job: str) -> None:
    with open_socket(daemon, f"/ws/raw/{job}?typing={NAME}") as raw:
        assert told(raw, "beat")["got"] == 0
        raw.send(numbered(b"one\r", 0))
        raw.send(numbered(b"two\r", 4))
        while told(raw, "beat")["got"] < 2:
            pass


def test_the_next_daemon_knows_what_was_typed(own_daemon: Callable[..., Daemon]) -> None:
    daemon = own_daemon()
    daemon.rest("POST", "/sessions", {"name": "job", "command": "stty -echo; exec cat"})
    with open_socket(daemon, f"/ws/raw/job?typing={NAME}") as raw:
        raw.send(numbered(b"one\r", 0))
        assert told(raw, "taken")["number"] == 4
    crash(daemon)
    with open_socket(daemon, f"/ws/raw/job?typing={NAME}") as raw:
        known = told(raw, "typing")
        assert (known["taken"], known["received"], known["unsure"]) == (4, 4, False)


def test_keys_that_were_under_way_for_long_are_dropped_with_their_line(
    daemon: Daemon, ws: JsonSocket, job: str
) -> None:
    with open_socket(daemon, f"/ws/raw/{job}?typing={NAME}") as raw:
        beat = told(raw, "beat")["beat"]
        raw.send(numbered(b"in ", 0, beat=beat))
        raw.send(numbered(b"time\r", 3, beat=-1))  # one that was sent long ago
        raw.send(numbered(b"rest\r", 8, beat=beat))
        assert "late" in told(raw, "dropped")["why"]
        assert told(raw, "dropped")["number"] == 13
        raw.send(numbered(b"\x03", 13, beat=-1, go_on=True))  # never late
        raw.send(numbered(b"again\r", 14, beat=beat))
        while told(raw, "taken")["number"] < 20:
            pass
    details = ws.call("list_sessions", session=job)
    assert details["running"] is False  # Ctrl+C ended it


def test_numbers_need_a_name_for_who_types(daemon: Daemon, job: str) -> None:
    with open_socket(daemon, f"/ws/raw/{job}") as raw:
        raw.send(numbered(b"x", 0))
        assert "typing" in told(raw, "error")["error"]["message"]
    with open_socket(daemon, f"/ws/raw/{job}?typing=me") as raw:
        assert closing(raw) == 4400


# --- sizes -------------------------------------------------------------------------------------


def test_resize_changes_the_session_and_a_snapshot_follows(
    daemon: Daemon, ws: JsonSocket, job: str
) -> None:
    with open_socket(daemon, f"/ws/raw/{job}") as raw:
        replay = Replay(raw)
        replay.until("ready")
        raw.send(json.dumps({"resize": [30, 100]}))
        while replay.snapshots < 2:
            replay.take()
        assert replay.size == (30, 100)
        come_to_the_same(replay, ws, job)
        # Others are told, too.
        ws.call("resize_session", job, rows=10, cols=40)
        while replay.snapshots < 3:
            replay.take()
        assert replay.size == (10, 40)


def test_a_smaller_viewer_gets_what_fits_and_leaves_the_session_as_it_is(
    daemon: Daemon, ws: JsonSocket, job: str
) -> None:
    with open_socket(daemon, f"/ws/raw/{job}?rows=5&cols=3") as raw:
        assert receive(raw)["event"] == "resized"
        assert receive(raw)["event"] == "snapshot"
        data = receive(raw)
        assert b"rea" in data
        assert b"ready" not in data
        assert ws.call("list_sessions", session=job)["cols"] == 80


def test_a_session_that_was_renamed_is_still_resized(
    daemon: Daemon, ws: JsonSocket, job: str
) -> None:
    with open_socket(daemon, f"/ws/raw/{job}") as raw:
        replay = Replay(raw)
        replay.until("ready")
        ws.call("manage_session", job, action="rename", new_name="other")
        raw.send(json.dumps({"resize": [30, 100]}))
        while replay.size != (30, 100):
            replay.take()


# --- scrollback --------------------------------------------------------------------------------


def test_a_snapshot_brings_as_much_scrollback_as_was_asked_for(
    daemon: Daemon, ws: JsonSocket
) -> None:
    ws.call("create_session", name="long", command="seq 500; echo done; cat")
    ws.until_line("long", "done")
    total = ws.call("get_scrollback", "long", format="plain")["total"]
    with open_socket(daemon, "/ws/raw/long?scrollback=100") as raw:
        receive(raw)
        snapshot = receive(raw)
        assert (snapshot["history_lines"], snapshot["line"]) == (100, total)
        raw.send(json.dumps({"refresh": True, "scrollback": 1000}))
        replay = Replay(raw)
        while replay.terminal.scrollback_total != total:
            replay.take()
        shown = replay.terminal.scrollback_plain(0, total)
        assert shown == [str(number + 1) for number in range(total)]
        come_to_the_same(replay, ws, "long")
    with open_socket(daemon, "/ws/raw/long") as raw:
        receive(raw)
        assert receive(raw)["history_lines"] == 0
    ws.call("manage_session", "long", action="kill")


def test_refresh_brings_a_snapshot(daemon: Daemon, job: str) -> None:
    with open_socket(daemon, f"/ws/raw/{job}") as raw:
        replay = Replay(raw)
        replay.until("ready")
        raw.send('{"refresh": true}')
        while replay.snapshots < 2:
            replay.take()


# --- ends and errors ---------------------------------------------------------------------------


def test_detached_viewers_are_told_and_closed(daemon: Daemon, ws: JsonSocket, job: str) -> None:
    with open_socket(daemon, f"/ws/raw/{job}") as raw:
        replay = Replay(raw)
        replay.until("ready")
        ws.call("manage_session", job, action="detach")
        told = replay.take()
        assert told is not None
        assert told["event"] == "detached"
        assert told["message"]
        assert closing(raw) == 1000


def test_the_end_is_told_with_the_last_words_before_it(daemon: Daemon, ws: JsonSocket) -> None:
    ws.call("create_session", name="brief", command="echo ready; read x; echo bye; exit 3")
    ws.until("brief", "ready")
    with open_socket(daemon, "/ws/raw/brief") as raw:
        replay = Replay(raw)
        replay.until("ready")
        raw.send(b"\r")
        while (told := replay.take()) is None:
            pass
        assert told == {"event": "ended", "exit_code": 3, "signal": None}
        assert "bye" in replay.terminal.plain_lines()
        assert closing(raw) == 1000
    # Who comes later sees the last screen, and that it has ended.
    with open_socket(daemon, "/ws/raw/brief") as raw:
        replay = Replay(raw)
        replay.until("bye")
        assert replay.take() == {"event": "ended", "exit_code": 3, "signal": None}
    ws.call("dismiss_session", "brief")


def test_an_unknown_session_is_told_and_closed(daemon: Daemon) -> None:
    with open_socket(daemon, "/ws/raw/nobody") as raw:
        told = receive(raw)
        assert (told["event"], told["error"]["code"]) == ("error", "SESSION_NOT_FOUND")
        assert closing(raw) == 4404


@pytest.mark.parametrize(
    "query", ["rows=0&cols=5", "rows=x", "scrollback=-1", "surplus=1", "composed=true"]
)
def test_a_query_that_does_not_fit_is_told_and_closed(daemon: Daemon, job: str, query: str) -> None:
    with open_socket(daemon, f"/ws/raw/{job}?{query}") as raw:
        assert receive(raw)["error"]["code"] == "INVALID_INPUT"
        assert closing(raw) == 4400


@pytest.mark.parametrize(
    "message",
    [
        "",
        "no json",
        "[]",
        '{"resize": [1]}',
        '{"resize": [0, 80]}',
        '{"resize": ["a", "b"]}',
        '{"surplus": 1}',
        '{"refresh": 1}',
        '{"refresh": true, "scrollback": -1}',
        "[" * 50_000,
    ],
    ids=lambda message: message[:30],
)
def test_what_is_wrong_is_told_and_the_socket_stays(daemon: Daemon, job: str, message: str) -> None:
    with open_socket(daemon, f"/ws/raw/{job}") as raw:
        replay = Replay(raw)
        replay.until("ready")
        raw.send(message)
        told = replay.take()
        assert told is not None
        assert (told["event"], told["error"]["code"]) == ("error", "INVALID_INPUT")
        raw.send(b"still here\r")
        replay.until("still here")


def test_keys_over_the_limit_are_refused(daemon: Daemon, job: str) -> None:
    with open_socket(daemon, f"/ws/raw/{job}") as raw:
        replay = Replay(raw)
        replay.until("ready")
        raw.send(b"x" * 3_000_000)
        told = replay.take()
        assert told is not None
        assert told["error"]["code"] == "INVALID_INPUT"


def test_keys_are_refused_while_another_person_drives(daemon: Daemon, job: str) -> None:
    key = log_in(daemon)
    with (
        open_socket(daemon, f"/ws/raw/{job}?client=one", token=key) as first,
        open_socket(daemon, f"/ws/raw/{job}?client=two", token=key) as second,
        JsonSocket(open_socket(daemon, "/ws/json?client=one", token=key)) as page,
    ):
        mine, theirs = Replay(first), Replay(second)
        mine.until("ready")
        theirs.until("ready")
        page.call("control", job, action="take")
        second.send(b"not now\r")
        told = theirs.take()
        assert told is not None
        assert told["error"]["code"] == "CONTROL_HELD"
        page.call("control", job, action="give")
        second.send(b"now\r")
        mine.until("now")
        assert "not now" not in mine.terminal.plain_lines()


def test_what_waits_for_its_turn_goes_with_who_typed_it(daemon: Daemon, job: str) -> None:
    key = log_in(daemon)
    with (
        open_socket(daemon, f"/ws/raw/{job}?client=one", token=key) as first,
        JsonSocket(open_socket(daemon, "/ws/json?client=one", token=key)) as page,
    ):
        mine = Replay(first)
        mine.until("ready")
        page.call("control", job, action="take")
        seen = page.subscribe(job, "sessions")
        with open_socket(daemon, f"/ws/raw/{job}") as script:
            Replay(script).until("ready")
            script.send(b"too late\r")
        for viewers in (2, 1):  # it came, and is gone
            while page.event(seen, "session")["details"]["viewers"] != viewers:
                pass
        page.call("control", job, action="give")
        first.send(b"now\r")
        mine.until("now")
        assert "too late" not in mine.terminal.plain_lines()


def test_what_was_typed_right_before_the_end_is_typed(
    daemon: Daemon, ws: JsonSocket, job: str
) -> None:
    with open_socket(daemon, f"/ws/raw/{job}") as raw:
        raw.send(b"last words\r")
    ws.until_line(job, "last words")


# --- slow readers ------------------------------------------------------------------------------


def memory(pid: int) -> int:
    """Return a process's resident memory in bytes."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no memory is told")


def test_for_who_does_not_read_nothing_piles_up_and_a_fresh_snapshot_comes(
    own_daemon: Callable[..., Daemon],
) -> None:
    daemon = own_daemon(scrollback=1000)
    load_all(daemon.env)
    with JsonSocket(open_socket(daemon, "/ws/json")) as ws:
        ws.call("create_session", name="flood", command="trap : INT; yes; echo over; cat")
        # The scrollback is full before anything is measured. Some 20 MB are printed in that time,
        # for each of six who do not read.
        flood = {"timeout_ms": 60_000, "max_wait_ms": 600}
        assert ws.error("await_quiesce", "flood", **flood)["code"] == "TIMEOUT"
        raws = [open_socket(daemon, "/ws/raw/flood") for _ in range(3)]
        followers = [JsonSocket(open_socket(daemon, "/ws/json")) for _ in range(3)]
        for one in followers:
            one.send("subscribe", "flood", events=["output", "lines", "diffs"], interval_ms=0)
        assert ws.error("await_quiesce", "flood", **flood)["code"] == "TIMEOUT"
        before = memory(daemon.pid)
        assert ws.error("await_quiesce", "flood", **flood)["code"] == "TIMEOUT"
        assert memory(daemon.pid) - before < 16 * 1024 * 1024
        ws.call("press_keys", "flood", keys=["ctrl+c"])
        ws.until("flood", "over")
        for raw in raws:
            replay = Replay(raw)
            replay.until("over")
            assert replay.snapshots > 1
            come_to_the_same(replay, ws, "flood")
            raw.close()
        for one in followers:
            one.connection.close()


def test_what_is_wrong_with_the_query_is_said_in_its_own_words(daemon: Daemon, job: str) -> None:
    with open_socket(daemon, f"/ws/raw/{job}?scrollback=-1") as raw:
        message = receive(raw)["error"]["message"]
        assert message.startswith("scrollback must be an integer from 0 to 100000")
        assert "history" not in message


def test_a_client_that_tells_what_it_drew_gets_no_more_than_it_can_draw(
    daemon: Daemon, ws: JsonSocket
) -> None:
    ws.call("create_session", name="ahead", command="read go; yes | head -c 3000000; echo end; cat")
    with open_socket(daemon, "/ws/raw/ahead?drawn=true") as raw:
        assert receive(raw)["event"] == "resized"
        assert receive(raw)["event"] == "snapshot"
        drawn = len(receive(raw))
        ws.call("send_input", "ahead", input="\r")
        while drawn <= AHEAD:  # then it waits for us
            told = receive(raw)
            drawn += len(told) if isinstance(told, bytes) else 0
        ws.until_line("ahead", "end")
        raw.send(json.dumps({"drawn": drawn}))
        # What came meanwhile is a fresh screen, not megabytes.
        while isinstance(told := receive(raw), bytes):
            assert len(told) < AHEAD
        assert told["event"] == "snapshot"
        assert b"end" in receive(raw)
    ws.call("manage_session", "ahead", action="kill")


AHEAD = Settings().viewer_ahead
