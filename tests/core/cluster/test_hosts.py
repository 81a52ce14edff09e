"""Who is there, who is lost, and who takes a new session."""

import pytest

from nacre.core.cluster.hosts import Heartbeat, HostTable, work_together


def said(host: str, **facts: object) -> Heartbeat:
    given = {"incarnation": "1", "version": "1.2.0", "sessions": 0, "capacity": 10, **facts}
    return Heartbeat(host=host, **given)  # type: ignore[arg-type]


def test_a_silent_host_is_suspect_and_then_lost_until_it_is_heard() -> None:
    table = HostTable(overdue=1, lost=2)
    table.hear(said("a"), 10.0)
    assert [table.standing("a", now) for now in (10.5, 11.5, 12.0)] == ["up", "suspect", "lost"]
    table.hear(said("a"), 13.0)
    assert table.standing("a", 13.5) == "up"


def test_a_host_where_nobody_answers_is_suspect_at_once() -> None:
    table = HostTable(overdue=1, lost=2)
    table.hear(said("a"), 10.0)
    table.doubt("a")
    assert table.standing("a", 10.0) == "suspect"
    table.hear(said("a"), 10.1)
    assert table.standing("a", 10.1) == "up"


def test_a_host_that_said_so_has_left() -> None:
    table = HostTable(overdue=1, lost=2)
    table.hear(said("a", leaving=True), 10.0)
    assert table.standing("a", 10.0) == "left"
    assert table.standing("b", 10.0) is None


def test_time_in_which_nobody_listened_is_no_silence() -> None:
    table = HostTable(overdue=1, lost=2)
    table.hear(said("a"), 10.0)
    table.excuse(1.8)
    assert table.standing("a", 12.5) == "up"
    table.excuse(1.8)  # once until it is heard again
    assert table.standing("a", 13.9) == "lost"
    table.hear(said("a"), 20.0)
    table.excuse(100.0)  # and no longer than it takes to be lost
    assert [table.standing("a", now) for now in (22.5, 24.0)] == ["up", "lost"]


def test_the_least_loaded_host_with_room_and_labels_comes_first() -> None:
    table = HostTable(overdue=1, lost=2)
    table.hear(said("full", sessions=10), 0)
    table.hear(said("draining", draining=True), 0)
    table.hear(said("busy", sessions=5, labels=("gpu",)), 0)
    table.hear(said("idle", sessions=1, capacity=100), 0)
    table.hear(said("silent"), -5)
    assert [one.host for one in table.with_room((), 0)] == ["idle", "busy"]
    assert [one.host for one in table.with_room(["gpu"], 0)] == ["busy"]


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        ("1.2.0", "1.2.9", True),
        ("1.2.0", "1.3.0", True),
        ("1.2.0", "1.4.0", False),
        ("1.9.0", "2.0.0", False),
        ("odd", "odd", True),
        ("odd", "1.2.0", False),
    ],
)
def test_versions_work_together_if_they_differ_by_one_minor(
    one: str, other: str, together: bool
) -> None:
    assert work_together(one, other) is together
