"""The sessions as MCP resources: what a host can pull into the model's context without a call.

Rule 1: a resource reads as its tool answers: the list as list_sessions, a screen as get_screen, the
scrollback as get_scrollback of the last hundred lines.
Rule 2: {name} in an address is a session's name, id or port, percent-encoded.
"""

import re
from typing import Literal, NamedTuple
from urllib.parse import quote, unquote

import mcp_types as types
import msgspec

from nacre.core.caller import Caller
from nacre.core.operations import GetScreen, GetScrollback, ListSessions
from nacre.core.results import Scrollback, SessionDetails, SessionList
from nacre.doors.mcp.toolsets import shape_result
from nacre.errors import InvalidInput
from nacre.services.dispatch import Dispatch

Kind = Literal["screen", "scrollback"]

_LAST_LINES = 100  # of the scrollback, as wsh's document has it

_JSON = "application/json"
_OF_SESSION = re.compile(r"sessions/([^/?#]+)/(screen|scrollback)")

_ABOUT: dict[Kind, str] = {
    "screen": "What the session shows now: lines, cursor, rows, cols, mode.",
    "scrollback": f"The last {_LAST_LINES} lines above the screen, and how many there are.",
}


class Address(NamedTuple):
    """Where a URI points: at the list of sessions, or at something of one session."""

    session: str | None = None  # name, id or port
    kind: Kind | None = None


def scheme_of(prefix: str) -> str:
    """Return the scheme of the addresses: wsh for the prefix wsh_, else nacre.

    A scheme has no underscore and begins with a letter (RFC 3986, 3.1).
    """
    scheme = prefix.rstrip("_-").replace("_", "-").lower() or "nacre"
    return scheme if scheme[0].isalpha() else f"nacre-{scheme}"


class Resources:
    """The resources under one scheme."""

    def __init__(self, dispatch: Dispatch, prefix: str) -> None:
        self._dispatch = dispatch
        self._root = f"{scheme_of(prefix)}://"

    def parse(self, uri: str) -> Address:
        """Return where a URI points. Raises InvalidInput for one that is no resource's."""
        scheme, path = uri[: len(self._root)].lower(), uri[len(self._root) :]
        if scheme == self._root:
            if path == "sessions":
                return Address()
            if found := _OF_SESSION.fullmatch(path):
                return Address(
                    unquote(found[1]), "screen" if found[2] == "screen" else "scrollback"
                )
        known = ", ".join([self._list, self._template("screen"), self._template("scrollback")])
        raise InvalidInput(f"no resource {uri!r}; there are {known}", uri=uri)

    async def find(self, caller: Caller, address: Address) -> SessionDetails:
        """Return the session of an address. Raises SessionNotFound."""
        assert address.session is not None
        found = await self._dispatch(caller, ListSessions(session=address.session))
        assert isinstance(found, SessionDetails)
        return found

    async def read(self, caller: Caller, uri: str) -> types.ReadResourceResult:
        """Read a resource. Raises InvalidInput for an unknown one, SessionNotFound."""
        text = await self._text(caller, self.parse(uri))
        contents = types.TextResourceContents(uri=uri, mime_type=_JSON, text=text)
        return types.ReadResourceResult(contents=[contents])

    async def list(self, caller: Caller) -> types.ListResourcesResult:
        """List the sessions, and the screen and scrollback of each that there is."""
        sessions = await self._dispatch(caller, ListSessions())
        assert isinstance(sessions, SessionList)
        listed = [
            types.Resource(
                uri=self._list,
                name="sessions",
                title="Sessions",
                description="All sessions, as list_sessions tells them.",
                mime_type=_JSON,
            )
        ]
        for session in sessions.sessions:
            listed += [
                types.Resource(
                    uri=f"{self._list}/{quote(session.name, safe='')}/{kind}",
                    name=f"{session.name} {kind}",
                    title=f"{kind.capitalize()} of {session.name}",
                    description=about,
                    mime_type=_JSON,
                )
                for kind, about in _ABOUT.items()
            ]
        return types.ListResourcesResult(resources=listed)

    def templates(self) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    uri_template=self._template(kind),
                    name=kind,
                    title=f"{kind.capitalize()} of a session",
                    description=f"{about} {{name}} is a session's name, id or port.",
                    mime_type=_JSON,
                )
                for kind, about in _ABOUT.items()
            ]
        )

    @property
    def _list(self) -> str:
        return f"{self._root}sessions"

    def _template(self, kind: Kind) -> str:
        return f"{self._list}/{{name}}/{kind}"

    async def _text(self, caller: Caller, address: Address) -> str:
        if address.session is None:
            text: str = shape_result(await self._dispatch(caller, ListSessions()))["content"][0][
                "text"
            ]
            return text
        if address.kind == "screen":
            result = await self._dispatch(caller, GetScreen(session=address.session))
        else:
            counted = await self._dispatch(caller, GetScrollback(session=address.session, limit=0))
            assert isinstance(counted, Scrollback)
            result = await self._dispatch(
                caller,
                GetScrollback(
                    session=address.session,
                    offset=max(0, counted.total - _LAST_LINES),
                    limit=_LAST_LINES,
                ),
            )
        return msgspec.json.encode(result).decode()
