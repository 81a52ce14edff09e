"""Overlays, panels, keys and control by REST; and that all of it outlives a crash."""

import base64
import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Daemon
from crashing import call, crash, create, start, text_of, until
from nacre.errors import WIRE

from doors.wire import GREETING, Answer, Bridge, Line, http_call, local_line

WINCH = """
import os, signal
def tell(*_):
    size = os.get_terminal_size()
    os.write(1, b"%dx%d\\n" % (size.lines, size.columns))
signal.signal(signal.SIGWINCH, tell)
tell()
while True:
    signal.pause()
"""


def post(daemon: Daemon, path: str, **body: Any) -> Answer:
    return http_call(daemon, "POST", f"/api/sessions/{path}", body)


def ask(daemon: Daemon, path: str, **body: Any) -> Any:
    answer = post(daemon, path, **body)
    assert answer.status == 200, answer
    return answer.json


def refusal(answer: Answer) -> tuple[int, str]:
    error = answer.json["error"]
    assert WIRE[error["code"]].http == answer.status
    assert error["message"]
    return answer.status, error["code"]


@pytest.fixture
def job(daemon: Daemon) -> Iterator[str]:
    create(daemon, "job", "cat")
    yield "job"
    call(daemon, "manage_session", session="job", action="kill")


def person_at(line: Line, session: str) -> bytes:
    """Attach; return what draws the first picture."""
    line.send({**GREETING, "door": "attach", "person": True, "session": session})
    assert "error" not in line.read()
    while "snapshot" not in (message := line.read()):
        pass
    return base64.b64decode(message["snapshot"])


def types(line: Line, data: bytes) -> None:
    line.send({"input": base64.b64encode(data).decode()})


# --- routes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["overlay", "panel"])
def test_elements_are_made_listed_changed_and_removed(daemon: Daemon, job: str, kind: str) -> None:
    made = ask(daemon, f"{job}/{kind}", spans=[{"text": "x"}], background={"bg": "blue"})
    assert made["background"] == {"bg": "blue"}
    assert ask(daemon, f"{job}/{kind}", list=True) == {f"{kind}s": [made]}
    changed = ask(daemon, f"{job}/{kind}", id=made["id"], z=7)
    assert changed == {**made, "z": 7}
    assert ask(daemon, f"{job}/{kind}/remove", id=made["id"]) == {"success": True}
    assert ask(daemon, f"{job}/{kind}", list=True) == {f"{kind}s": []}
    missing = f"{kind.upper()}_NOT_FOUND"
    assert refusal(post(daemon, f"{job}/{kind}", id="x")) == (404, missing)
    assert refusal(post(daemon, f"{job}/{kind}/remove", id="x")) == (404, missing)
    assert refusal(post(daemon, f"nobody/{kind}")) == (404, "SESSION_NOT_FOUND")
    for wrong in ({"height": 0}, {"spans": "x"}, {"background": "reddish"}, {"unknown": 1}):
        assert refusal(post(daemon, f"{job}/{kind}", **wrong)) == (400, "INVALID_INPUT")
    large = refusal(post(daemon, f"{job}/{kind}", spans=[{"text": "x" * 20_001}]))
    assert large == (429, "RESOURCE_LIMIT")


def test_modes_are_read_and_set(daemon: Daemon, job: str) -> None:
    assert ask(daemon, f"{job}/input_mode") == {"mode": "passthrough", "focused_element": None}
    assert ask(daemon, f"{job}/input_mode", mode="capture")["mode"] == "capture"
    assert ask(daemon, f"{job}/await_input", max_wait_ms=1)["keys"] == []
    assert refusal(post(daemon, f"{job}/input_mode", focus="x")) == (400, "INVALID_INPUT")
    assert ask(daemon, f"{job}/input_mode", mode="release")["mode"] == "passthrough"
    assert refusal(post(daemon, f"{job}/await_input")) == (400, "INVALID_INPUT")
    assert ask(daemon, f"{job}/screen_mode", action="enter_alt") == {"mode": "alt"}
    assert refusal(post(daemon, f"{job}/screen_mode", action="enter_alt")) == (
        400,
        "INVALID_INPUT",
    )
    assert ask(daemon, f"{job}/screen_mode", action="exit_alt") == {"mode": "normal"}
    assert ask(daemon, f"{job}/control") == {"driver": None, "yours": False}
    assert refusal(post(daemon, f"{job}/control", action="take")) == (403, "FORBIDDEN")


def test_a_person_is_shown_text_and_nothing_that_a_terminal_obeys(daemon: Daemon, job: str) -> None:
    evil = "good\x1b]0;evil\x07\x1b[2J\x9b3J\r\x1bcday"
    for kind in ("overlay", "panel"):
        ask(daemon, f"{job}/{kind}", spans=[{"text": evil}], writes=[_cell(evil)])
    with local_line(daemon.env) as line:
        picture = person_at(line, job)
    assert picture.count(b"good]0;evil[2J3Jcday") >= 2
    for order in (b"\x1b]0;evil", b"\x9b", b"\x1bc", b"\x07"):
        assert order not in picture


def _cell(text: str) -> dict[str, Any]:
    return {"row": 0, "col": 30, "text": text}


# --- who drives --------------------------------------------------------------------------------


def test_a_session_that_a_person_drives_is_locked_for_the_others(
    own_daemon: Callable[..., Daemon], bridges: Callable[..., Bridge]
) -> None:
    daemon = own_daemon(control_wait=0.05)
    create(daemon, "job", "stty -echo; echo ready; exec cat")
    until(daemon, "job", text="ready")
    bridge = bridges(daemon.env).handshake()
    with local_line(daemon.env) as line:
        person_at(line, "job")
        line.send({"control": True})
        types(line, b"person\r")
        until(daemon, "job", text="person")
        details = call(daemon, "list_sessions", session="job")
        assert (details["driver"], details["viewers"]) == ("attach", 1)
        answer = post(daemon, "job/input", input="x")
        assert refusal(answer) == (423, "CONTROL_HELD")
        assert answer.json["error"]["driver"] == "attach"
        # For a model it is a result to reason about, not an error of the protocol.
        given = {"name": "send_input", "arguments": {"session": "job", "input": "x"}}
        result = bridge.ask("tools/call", given)["result"]
        assert result["isError"]
        told = json.loads(result["content"][0]["text"])
        assert (told["code"], told["driver"]) == ("CONTROL_HELD", "attach")
        assert result["_meta"]["nacre/error"]["code"] == "CONTROL_HELD"
        # A second person at another terminal is told at once.
        with local_line(daemon.env) as other:
            person_at(other, "job")
            types(other, b"other\r")
            while "error" not in (message := other.read()):
                pass
            assert message["error"]["code"] == "CONTROL_HELD"
        # Who left drives no more.
        line.connection.shutdown(socket.SHUT_WR)
        line.reader.read()
    answer = ask(daemon, "job/input", input="agent\r")
    told = answer.pop("handover")
    assert answer == {"success": True, "generation": answer["generation"]}
    assert (told["session"], told["driver"], told["last_line"]) == ("job", "attach", "person")
    until(daemon, "job", text="agent")
    assert text_of(daemon, "job") == "ready\nperson\nagent"
    handover = ask(daemon, "job/control")["handover"]
    assert (handover["driver"], handover["keys"]) == ("attach", len("person\r"))


# --- a daemon that is killed -----------------------------------------------------------------


def test_what_is_shown_outlives_a_crash_and_the_child_notices_nothing(tmp_path: Path) -> None:
    daemon = start(tmp_path)
    try:
        _crash_with_panels(daemon)
    finally:
        daemon.stop()


def _crash_with_panels(daemon: Daemon) -> None:
    sizes = ["24x80", "21x80", "36x100", "40x100", "34x100"]
    create(daemon, "shown", "python3", args=["-c", WINCH])
    until(daemon, "shown", text=sizes[0])
    create(daemon, "resized", "python3", args=["-c", WINCH])
    until(daemon, "resized", text=sizes[0])
    call(daemon, "resize_session", session="resized", rows=30, cols=90)
    until(daemon, "resized", text="30x90")
    create(daemon, "plain", "cat")

    panel = call(daemon, "panel", session="shown", height=3, spans=[{"text": "panel"}])
    until(daemon, "shown", text=sizes[1])
    call(daemon, "panel", session="shown", position="top", height=1, background="red")
    call(daemon, "resize_session", session="shown", rows=40, cols=100)
    until(daemon, "shown", text=sizes[2])
    hidden = call(daemon, "panel", session="shown", height=50, spans=[{"text": "no room"}])
    assert not hidden["visible"]
    call(daemon, "overlay", session="shown", x=3, spans=[{"text": "over", "fg": "#102030"}])
    call(daemon, "input_mode", session="shown", mode="capture", focus=panel["id"])
    normal = _seen(daemon)
    call(daemon, "screen_mode", session="shown", action="enter_alt")
    until(daemon, "shown", text=sizes[3])
    call(daemon, "panel", session="shown", height=6, spans=[{"text": "of the layer"}])
    until(daemon, "shown", text=sizes[4])
    alt = _seen(daemon)

    crash(daemon)

    assert _seen(daemon) == alt
    assert call(daemon, "screen_mode", session="shown") == {"mode": "alt"}
    mode = call(daemon, "input_mode", session="shown")
    assert mode == {"mode": "capture", "focused_element": panel["id"]}
    details = call(daemon, "list_sessions", session="shown")
    assert (details["rows"], details["cols"]) == (34, 100)
    resized = call(daemon, "list_sessions", session="resized")
    assert (resized["rows"], resized["cols"]) == (30, 90)
    # No signal but those for real changes: the list is as long as it must be.
    call(daemon, "screen_mode", session="shown", action="exit_alt")
    until(daemon, "shown", text="36x100\n40x100\n34x100\n36x100")
    assert _seen(daemon) == normal
    call(daemon, "resize_session", session="shown", rows=60, cols=100)
    until(daemon, "shown", regex="(?m)^6x100")  # 60 rows less 3, 1 and 50
    assert [one["visible"] for one in _seen(daemon)["panels"]] == [True, True, True]
    assert text_of(daemon, "resized") == "24x80\n30x90"
    lines = text_of(daemon, "shown").splitlines()
    assert [line for line in lines if line][-2:] == ["36x100", "6x100"]

    made = call(daemon, "overlay", session="shown", spans=[{"text": "new"}])
    assert made["id"] not in {one["id"] for one in normal["overlays"]}
    call(daemon, "restart_session", session="shown")
    assert _seen(daemon) == {"overlays": [], "panels": []}
    until(daemon, "shown", regex="(?m)^60x100")
    assert text_of(daemon, "shown") == "60x100"
    crash(daemon)
    assert _seen(daemon) == {"overlays": [], "panels": []}
    assert text_of(daemon, "shown") == "60x100"


def _seen(daemon: Daemon) -> dict[str, Any]:
    overlays = call(daemon, "overlay", session="shown", list=True)
    return {**overlays, **call(daemon, "panel", session="shown", list=True)}
