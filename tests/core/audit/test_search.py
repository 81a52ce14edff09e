"""Finding records: every condition counts, and all of them together."""

from typing import Any

import pytest

from nacre.core.audit.search import AuditSearch

RECORD: dict[str, Any] = {
    "seq": 3,
    "time": "2026-05-04T12:00:00.000Z",
    "kind": "input",
    "session": "dev",
    "session_id": "a1b2c3d4",
    "caller": {"door": "mcp", "person": False, "client": "Claude Code 2.1", "token": "t1"},
    "text": "make Test\r",
    "prev": "feed" * 8,
    "mac": "beef" * 8,
}


@pytest.mark.parametrize(
    "search",
    [
        AuditSearch(),
        AuditSearch(session="dev"),
        AuditSearch(session="a1b2c3d4", kind="input"),
        AuditSearch(caller="mcp"),
        AuditSearch(caller="agent"),
        AuditSearch(caller="claude"),
        AuditSearch(caller="t1"),
        AuditSearch(since="2026-05-04T12:00:00.000Z", until="2026-05-04T12:00:00.001Z"),
        AuditSearch(text="make test"),
    ],
)
def test_what_fits_is_found(search: AuditSearch) -> None:
    assert search.finds(RECORD)


@pytest.mark.parametrize(
    "search",
    [
        AuditSearch(session="other"),
        AuditSearch(kind="exit"),
        AuditSearch(caller="person"),
        AuditSearch(caller="rest"),
        AuditSearch(since="2026-05-04T12:00:00.001Z"),
        AuditSearch(until="2026-05-04T12:00:00.000Z"),
        AuditSearch(text="beef"),  # seals are no text
        AuditSearch(session="dev", text="nothing"),
    ],
)
def test_what_does_not_fit_is_not_found(search: AuditSearch) -> None:
    assert not search.finds(RECORD)
