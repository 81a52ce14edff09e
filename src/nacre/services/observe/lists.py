"""Sessions in a list: as many, and of each as much, as an answer has room for.

Rule 1: what is left out is counted, or reached with a cursor.
Rule 2: a cursor names the last session of a page by its host, age and id. So the next page is right
though sessions have come and gone, at whichever host's door it is asked for.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from nacre.core.operations.results import SessionBrief, SessionDetails, SessionList, SessionShort
from nacre.core.text.budget import fitting, item_size, json_size, shortened
from nacre.errors import BadParameter
from nacre.wording import Higher, Hint, Use, also

_SHORT_COMMAND = 100  # characters of a command in a long list
_HIGHER = Higher("max_chars", "get all")


class ListPlace(NamedTuple):
    """Where a session stands in a list of all: by its host, then the oldest first."""

    host: str  # "" outside of a cluster
    created: float
    session_id: str

    def as_cursor(self) -> str:
        return f"{self.host}/{self.created:.3f}/{self.session_id}"


def place_of(session: SessionDetails) -> ListPlace:
    host = "" if isinstance(session.host, msgspec.UnsetType) else session.host
    return ListPlace(host, session.created, session.session_id)


def read_cursor(cursor: str) -> ListPlace:
    """Raises BadParameter."""
    host, *rest = cursor.split("/")
    try:
        created, identifier = rest
        return ListPlace(host, float(created), identifier)
    except ValueError as error:
        raise BadParameter(
            "cursor", "is none that a page of sessions ended with (next_cursor)"
        ) from error


def fit_page(sessions: Sequence[SessionDetails], budget: int, *, more: bool) -> SessionList:
    """Return the first of these for which there is room; `more`: others come after them.

    At least one, or who reads on would never get beyond it.
    """
    cursor = place_of(sessions[-1]).as_cursor() if more else None
    whole = SessionList(sessions=list(sessions), next_cursor=cursor)
    room = budget - json_size(replace(whole, sessions=[])) + 1  # a comma less than sessions
    if fitting((json_size(session) + 1 for session in sessions), room) == len(sessions):
        return whole
    longest = max((place_of(one).as_cursor() for one in sessions), key=len)
    told = replace(_list_of([], 0), next_cursor=longest)
    shorts = [_short(session) for session in sessions]
    count = max(1, fitting((json_size(one) + 1 for one in shorts), budget - json_size(told)))
    more = more or count < len(sessions)
    cursor = place_of(sessions[count - 1]).as_cursor() if more else None
    return replace(_list_of(shorts[:count], 0), next_cursor=cursor)


def fit_list(sessions: list[SessionDetails], budget: int) -> SessionList:
    """Over the budget each session has its main facts; then those that run come before the ended.

    What is left out is counted. Of many sessions only those are looked at that may fit: a thousand
    would hold all others for a tenth of a second.
    """
    room = budget - json_size(SessionList(sessions=[])) + 1  # a comma less than sessions
    if fitting((json_size(session) + 1 for session in sessions), room) == len(sessions):
        return SessionList(sessions=sessions)
    running_first = sorted(range(len(sessions)), key=lambda index: not sessions[index].alive)
    room = budget - json_size(_list_of([], len(sessions)))
    sizes = (json_size(_short(sessions[index])) + 1 for index in running_first)
    count = fitting(sizes, room)
    kept = [_short(sessions[index]) for index in sorted(running_first[:count])]
    return _list_of(kept, len(sessions) - count)


def fit_details(details: SessionDetails, budget: int) -> SessionDetails:
    """Over the budget the command is shortened, args and tags are left out; the notice says so."""
    if json_size(details) <= budget:
        return details
    told = Hint("its command is shortened, args and tags are left out", _HIGHER)
    short = replace(
        details,
        command=shortened(details.command, _SHORT_COMMAND),
        args=[],
        tags=[],
        notice=also(details.notice, told),
    )
    count = fitting(map(item_size, details.tags), budget - json_size(short))
    return replace(short, tags=details.tags[:count])


def _list_of(kept: list[Any], left_out: int) -> SessionList:
    told = f"{left_out} sessions are left out; " if left_out else ""
    hint = Hint(
        f"{told}of each only the main facts are here",
        Use("list_sessions", "get all about one", {"session": "its name"}),
        _HIGHER,
    )
    return SessionList(sessions=kept, omitted_sessions=left_out, hint=hint)


def _short(session: SessionDetails) -> SessionShort:
    fields = {name: getattr(session, name) for name in SessionBrief.__struct_fields__}
    return SessionShort(**{**fields, "command": shortened(session.command, _SHORT_COMMAND)})
