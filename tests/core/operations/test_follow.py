"""Events on the wire: their names and fields are a contract."""

import base64
from typing import Any, get_args

import msgspec
import pytest

from nacre.core.catalog.catalog import parse_parameters
from nacre.core.operations.follow import (
    OF_ALL,
    ChangedEvent,
    ControlEvent,
    CursorEvent,
    Event,
    Follow,
    InputModeEvent,
    Kind,
    LaggedEvent,
    LineEvent,
    ModeEvent,
    OutputEvent,
    RunEvent,
    SessionEvent,
    SnapshotEvent,
    StateEvent,
    VisualsEvent,
    as_wire,
)
from nacre.errors import InvalidInput

OF = {"session": "dev", "session_id": "a1234567", "seq": 4}


@pytest.mark.parametrize(
    ("event", "wire"),
    [
        (
            OutputEvent(data=b"\x1b[m\xff"),
            {"event": "output", "data": base64.b64encode(b"\x1b[m\xff").decode()},
        ),
        (
            SnapshotEvent(data=b"", alternate=True, rows=24, cols=80),
            {"event": "snapshot", "data": "", "alternate": True, "rows": 24, "cols": 80},
        ),
        (
            LineEvent(index=3, total_lines=24, line="x"),
            {"event": "line", "index": 3, "total_lines": 24, "line": "x"},
        ),
        (
            CursorEvent(row=1, col=2, visible=False),
            {"event": "cursor", "row": 1, "col": 2, "visible": False},
        ),
        (
            ModeEvent(alternate_active=False, mode="alt"),
            {"event": "mode", "alternate_active": False, "mode": "alt"},
        ),
        (
            InputModeEvent(mode="capture", focused_element=None),
            {"event": "mode", "mode": "capture", "focused_element": None},
        ),
        (ChangedEvent(generation=9), {"event": "changed", "generation": 9}),
        (LaggedEvent(dropped=12), {"event": "lagged", "dropped": 12}),
        (
            RunEvent(status="started"),
            {
                "event": "run",
                "status": "started",
                "run_id": None,
                "command": None,
                "exit_code": None,
                "duration_ms": None,
                "entry": None,
            },
        ),
        (
            StateEvent(state="prompt", asks=None, last_line="$", title="", cwd="/", generation=1),
            {
                "event": "state",
                "state": "prompt",
                "asks": None,
                "last_line": "$",
                "title": "",
                "cwd": "/",
                "generation": 1,
                "question": None,
                "last_command": None,
                "line": None,
            },
        ),
        (
            SessionEvent(change="removed", details=None),
            {"event": "session", "change": "removed", "details": None},
        ),
        (
            VisualsEvent(overlays=[], panels=[], mode="normal"),
            {"event": "visuals", "overlays": [], "panels": [], "mode": "normal"},
        ),
        (
            ControlEvent(driver=None, since=None, handover=None),
            {
                "event": "control",
                "driver": None,
                "since": None,
                "handover": None,
                "waiting_since": None,
            },
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_event_has_the_documented_fields(event: Event, wire: dict[str, Any]) -> None:
    named = msgspec.structs.replace(event, **OF)
    sent = as_wire(named)
    assert sent == {**OF, **wire}
    assert msgspec.json.decode(msgspec.json.encode(named)) == sent


def test_what_is_told_of_all_sessions_names_none() -> None:
    assert as_wire(LaggedEvent(dropped=1, seq=7)) == {"event": "lagged", "dropped": 1, "seq": 7}


def test_what_can_be_followed_of_all_is_a_part_of_what_there_is() -> None:
    assert set(get_args(Kind)) > OF_ALL


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"events": []},
        {"events": ["nothing"]},
        {"events": "nothing"},
        {"events": ["lines"], "interval_ms": -1},
        {"events": ["lines"], "interval_ms": 60_001},
        {"events": ["lines"], "format": "html"},
        {"events": ["lines"], "idle_timeout_ms": -5},
        {"events": ["lines"], "other": 1},
    ],
)
def test_what_is_no_wish_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        parse_parameters(Follow, wrong)


def test_a_wish_has_defaults() -> None:
    follow = parse_parameters(Follow, {"events": ["lines"]})
    assert isinstance(follow, Follow)
    assert (follow.session, follow.interval_ms, follow.format, follow.idle_timeout_ms) == (
        None,
        100,
        "styled",
        0,
    )
