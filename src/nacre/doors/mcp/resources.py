"""The sessions as MCP resources: what a host can read into the model's context without a call.

Rule 1: a resource has the content of its tool's answer: the list of list_sessions, a screen of
get_screen, the scrollback of get_scrollback with the last hundred lines.
Rule 2: {name} in an address is a session's name, id or port, percent-encoded.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple
from urllib.parse import quote, unquote

import msgspec

from nacre.core.catalog.caller import Caller
from nacre.core.operations.results import Scrollback, SessionDetails, SessionList
from nacre.core.operations.sessions import ListSessions
from nacre.core.operations.terminal import GetScreen, GetScrollback
from nacre.core.operations.upstream import (
    GatherUpstreamTools,
    ReadUpstreamResource,
    UpstreamMessages,
    WatchUpstreamResource,
)
from nacre.doors.mcp.tools.answers import shape_result
from nacre.doors.mcp.tools.selection import OffersUpstream
from nacre.doors.mcp.upstream.addresses import UpstreamAddress, parse_address, read_as
from nacre.errors import InvalidInput
from nacre.late_pattern import late_pattern
from nacre.services.dispatch.dispatch import Dispatch
from nacre.wording import OPERATIONS, Words, quoted

Kind = Literal["screen", "scrollback"]

list_of = list  # a class below has a method of that name

_LAST_LINES = 100  # of the scrollback, as in wsh

_JSON = "application/json"
_OF_SESSION = late_pattern(r"sessions/([^/?#]+)/(screen|scrollback)")

_ABOUT: dict[Kind, str] = {
    "screen": "What the session shows now: lines, cursor, rows, cols, mode.",
    "scrollback": f"The last {_LAST_LINES} lines above the screen, and how many there are.",
}


class ResourceAddress(NamedTuple):
    """Where a URI points: to the list of sessions, to a resource of one session, or of a server
    behind us.
    """

    session: str | None = None  # name, id or port
    kind: Kind | None = None
    upstream: UpstreamAddress | None = None  # of a server behind us


def scheme_of(prefix: str) -> str:
    """Return the scheme of the addresses: wsh for the prefix wsh_, else nacre.

    A scheme contains no underscore and begins with a letter (RFC 3986, 3.1).
    """
    scheme = prefix.rstrip("_-").replace("_", "-").lower() or "nacre"
    return scheme if scheme[0].isalpha() else f"nacre-{scheme}"


def list_templates(prefix: str) -> dict[str, Any]:
    root = f"{scheme_of(prefix)}://"
    return {
        "resourceTemplates": [
            {
                "uriTemplate": _template(root, kind),
                "name": kind,
                "title": f"{kind.capitalize()} of a session",
                "description": f"{about} {{name}} is a session's name, id or port.",
                "mimeType": _JSON,
            }
            for kind, about in _ABOUT.items()
        ]
    }


def _template(root: str, kind: Kind) -> str:
    return f"{root}sessions/{{name}}/{kind}"


class Resources:
    """The resources under one scheme."""

    def __init__(
        self,
        dispatch: Dispatch,
        prefix: str,
        words: Words = OPERATIONS,
        upstream: OffersUpstream | None = None,
    ) -> None:
        self._dispatch = dispatch
        self.words = words
        self._upstream = upstream
        self._root = f"{scheme_of(prefix)}://"

    def parse(self, uri: str) -> ResourceAddress:
        """Return where a URI points. Raises InvalidInput if it is not a resource."""
        scheme, path = uri[: len(self._root)].lower(), uri[len(self._root) :]
        if scheme == self._root:
            if path == "sessions":
                return ResourceAddress()
            if named := _OF_SESSION.fullmatch(path):
                return ResourceAddress(
                    unquote(named[1]), "screen" if named[2] == "screen" else "scrollback"
                )
            if self._upstream is not None and (found := parse_address(path)) is not None:
                return ResourceAddress(upstream=found)
        known = ", ".join([self._list, self._template("screen"), self._template("scrollback")])
        raise InvalidInput(f"no resource {uri!r}", f"there are {known}", uri=quoted(uri))

    def parse_template(self, template: str) -> UpstreamAddress | None:
        """Return the server and its own template; None for one of ours. Raises InvalidInput."""
        if template in (self._template("screen"), self._template("scrollback")):
            return None
        return self.parse(template).upstream

    async def find(self, caller: Caller, address: ResourceAddress) -> SessionDetails:
        """Return the session of an address. Raises SessionNotFound."""
        assert address.session is not None
        found = await self._dispatch(caller, ListSessions(session=address.session))
        assert isinstance(found, SessionDetails)
        return found

    async def read(self, caller: Caller, uri: str) -> dict[str, Any]:
        """Read a resource.

        Raises InvalidInput for an unknown one, SessionNotFound; for a server's as its tools do.
        """
        address = self.parse(uri)
        if (behind := address.upstream) is not None:
            request = ReadUpstreamResource(server=behind.server, uri=behind.uri)
            told = await self._dispatch(caller, request)
            assert isinstance(told, UpstreamMessages)
            return read_as(told.content, self._root, behind, uri)
        text = await self._text(caller, address)
        return {"contents": [{"uri": uri, "mimeType": _JSON, "text": text}]}

    async def list(self, caller: Caller) -> dict[str, Any]:
        """List the sessions, the screen and scrollback of each of them, and servers' resources."""
        sessions = await self._dispatch(caller, ListSessions())
        assert isinstance(sessions, SessionList)
        listed: list_of[dict[str, Any]] = [
            {
                "uri": self._list,
                "name": "sessions",
                "title": "Sessions",
                "description": "All sessions, and what is known of each.",
                "mimeType": _JSON,
            }
        ]
        for session in sessions.sessions:
            listed += [
                {
                    "uri": f"{self._list}/{quote(session.name, safe='')}/{kind}",
                    "name": f"{session.name} {kind}",
                    "title": f"{kind.capitalize()} of {session.name}",
                    "description": about,
                    "mimeType": _JSON,
                }
                for kind, about in _ABOUT.items()
            ]
        if self._upstream is not None:
            await self.gather(caller)
            listed += self._upstream.resources(self._root)
        return {"resources": listed}

    async def gather(self, caller: Caller) -> None:
        """Wait a moment for what servers behind us offer, if that is not known yet."""
        if self._upstream is not None:
            await self._dispatch(caller, GatherUpstreamTools())

    async def watch(self, caller: Caller, address: UpstreamAddress, *, watch: bool = True) -> None:
        """Have a server tell of updates, or not any more. Raises InvalidInput if it does not."""
        request = WatchUpstreamResource(server=address.server, uri=address.uri, watch=watch)
        await self._dispatch(caller, request)

    def on_update(self, listener: Callable[[str, str], None]) -> Callable[[], None]:
        """Call this with server and URI when a watched resource of a server has changed."""
        assert self._upstream is not None
        return self._upstream.on_update(listener)

    @property
    def _list(self) -> str:
        return f"{self._root}sessions"

    def _template(self, kind: Kind) -> str:
        return _template(self._root, kind)

    async def _text(self, caller: Caller, address: ResourceAddress) -> str:
        if address.session is None:
            listed = await self._dispatch(caller, ListSessions())
            text: str = shape_result(listed, self.words)["content"][0]["text"]
            return text
        if address.kind == "screen":
            answer = await self._dispatch.noted(caller, GetScreen(session=address.session))
        else:
            counted = await self._dispatch(caller, GetScrollback(session=address.session, limit=0))
            assert isinstance(counted, Scrollback)
            answer = await self._dispatch.noted(
                caller,
                GetScrollback(
                    session=address.session,
                    offset=max(0, counted.total - _LAST_LINES),
                    limit=_LAST_LINES,
                ),
            )
        result: Any = answer.result
        if answer.notices:
            shown = msgspec.to_builtins(result, enc_hook=self.words.encode)
            result = {"notice": "; ".join(answer.notices), **shown}
        return msgspec.json.encode(result, enc_hook=self.words.encode).decode()
