"""What upstream servers offer beside tools, as ours: prompts, resources and their templates.

Rule: all is passed on as a server described it; only names and addresses are ours.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from nacre.core.upstream.names import tool_name
from nacre.doors.mcp.upstream.addresses import address_of, template_of

_OF_PROMPT = ("title", "description", "arguments", "icons", "_meta")


def named_prompts(
    listings: Mapping[str, Any], servers: Mapping[str, Any], prefix: str
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Return each prompt as its name, its server, and how that described it."""
    told: set[str] = set()
    for server, listing in listings.items():
        for prompt in listing.prompts:
            name = tool_name(server, str(prompt["name"]), servers, prefix)
            if name not in told:
                told.add(name)
                yield name, server, prompt


def prompt_as_wire(name: str, server: str, prompt: dict[str, Any]) -> dict[str, Any]:
    told = {key: prompt[key] for key in _OF_PROMPT if key in prompt}
    if not name.endswith(f"mcp_{server}_{prompt['name']}"):  # what it was shortened from
        about = f"{told.get('description', '')}\n\n({prompt['name']} of {server})"
        told["description"] = about.strip()
    return {"name": name, **told}


def resources_as_wire(listings: Mapping[str, Any], root: str) -> list[dict[str, Any]]:
    return [
        {**one, "uri": address_of(root, server, str(one["uri"]))}
        for server, listing in listings.items()
        for one in listing.resources
    ]


def templates_as_wire(listings: Mapping[str, Any], root: str) -> list[dict[str, Any]]:
    return [
        {**one, "uriTemplate": template_of(root, server, str(one["uriTemplate"]))}
        for server, listing in listings.items()
        for one in listing.templates
    ]
