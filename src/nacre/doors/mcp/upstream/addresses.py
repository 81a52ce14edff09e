"""Addresses of upstream servers' resources among ours: nacre://upstream/<server>/<URI>.

Rule 1: the server's own URI is percent-encoded, all of it. So it has no colon, by which it is told
from the other form: what a client made of a template has the server's URI as it is, for the values
in it are encoded already.
Rule 2: links in what a server sent are rewritten, so that the host can read them here. A link to
the web stays: by the protocol a server gives one only for what hosts fetch themselves.
"""

from typing import Any, NamedTuple
from urllib.parse import quote, unquote

_FOLDER = "upstream/"
_WEB = ("http:", "https:")


class UpstreamAddress(NamedTuple):
    server: str
    uri: str  # as the server knows it


def address_of(root: str, server: str, uri: str) -> str:
    """Return our address of a server's resource. `root` is such as nacre://."""
    return f"{root}{_FOLDER}{server}/{quote(uri, safe='')}"


def template_of(root: str, server: str, template: str) -> str:
    return f"{root}{_FOLDER}{server}/{template}"


def parse_address(path: str) -> UpstreamAddress | None:
    """Return what is meant by the part behind the root; None for what is no such address."""
    if not path.startswith(_FOLDER):
        return None
    server, slash, rest = path.removeprefix(_FOLDER).partition("/")
    if not (server and slash and rest):
        return None
    return UpstreamAddress(unquote(server), rest if ":" in rest else unquote(rest))


def with_our_links(content: list[dict[str, Any]], root: str, server: str) -> list[dict[str, Any]]:
    """Return blocks of content whose links lead to resources of ours."""
    return [_rewritten(block, root, server) for block in content]


def _rewritten(block: dict[str, Any], root: str, server: str) -> dict[str, Any]:
    if block.get("type") == "resource_link":
        return _moved(block, root, server)
    resource = block.get("resource")
    if block.get("type") == "resource" and isinstance(resource, dict):
        return {**block, "resource": _moved(resource, root, server)}
    return block


def _moved(named: dict[str, Any], root: str, server: str) -> dict[str, Any]:
    uri = str(named.get("uri", ""))
    if not uri or uri.lower().startswith(_WEB):
        return named
    return {**named, "uri": address_of(root, server, uri)}


def read_as(content: dict[str, Any], root: str, read: UpstreamAddress, uri: str) -> dict[str, Any]:
    """Return what was read of a resource: its own URI as the client wrote it, others as ours."""
    contents = [
        {**one, "uri": uri if one.get("uri") == read.uri else address_of(root, read.server, own)}
        for one in content.get("contents", ())
        if (own := str(one.get("uri", "")))
    ]
    return {**content, "contents": contents}
