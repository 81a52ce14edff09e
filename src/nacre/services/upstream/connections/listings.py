"""What an upstream server offers, read page by page, and what is remembered of it.

Rule: only what it says that it offers is asked for, and no more than so many of each: a list may
have no end.
"""

import contextlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import mcp_types as types
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, ValidationError

from nacre.system.upstreams.kept import KeptListing

_LEGACY = "legacy"


async def read_listing(client: Client, transport: str, most: int) -> KeptListing:
    """Read all of a server's lists. Raises MCPError, ValidationError."""
    offers = client.server_capabilities
    tools = await _all(client.list_tools, "tools", most) if offers.tools else []
    prompts = await _all(client.list_prompts, "prompts", most) if offers.prompts else []
    resources: list[dict[str, Any]] = []
    templates: list[dict[str, Any]] = []
    if offers.resources:
        resources = await _all(client.list_resources, "resources", most)
        with contextlib.suppress(MCPError):  # many have none, and say so by an error
            templates = await _all(client.list_resource_templates, "resource_templates", most)
    return KeptListing(
        tools=tools,
        prompts=prompts,
        resources=resources,
        templates=templates,
        reads=offers.resources is not None,
        revision=client.protocol_version,
        transport=transport,
        discovered=as_dict(found) if (found := client.session.discover_result) else {},
    )


async def _all(fetch: Callable[..., Awaitable[Any]], name: str, most: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        page = await fetch(cursor=cursor)
        found += [as_dict(one) for one in getattr(page, name)]
        following = page.next_cursor
        if not following or following == cursor or len(found) >= most:
            return found[:most]
        cursor = following


def as_dict(model: BaseModel) -> dict[str, Any]:
    found: dict[str, Any] = model.model_dump(by_alias=True, exclude_none=True, mode="json")
    return found


def discovered(kept: Mapping[str, Any]) -> types.DiscoverResult | None:
    """Return what a server of the newer revision said of itself the last time."""
    try:
        return types.DiscoverResult.model_validate(kept, by_name=False) if kept else None
    except ValidationError:
        return None


def modes(known: KeptListing) -> tuple[str, str]:
    """Return in which way to connect first, given what was found last, and in which then."""
    if known.revision in MODERN_PROTOCOL_VERSIONS and discovered(known.discovered) is not None:
        return known.revision, "auto"
    if known.revision and known.revision not in MODERN_PROTOCOL_VERSIONS:
        return _LEGACY, "auto"
    return "auto", _LEGACY
