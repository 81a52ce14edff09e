"""The official MCP library's server of one selection, over the handlers of ours.

Rule 1: what goes out has the shape of the revision that the client speaks: the library sees to it.
Rule 2: only what is done is advertised: of the lists, that of the resources changes, that of the
tools where commands or those of upstream servers are among them, that of the prompts with these.
"""

from typing import Any

import mcp_types as types
from mcp.server.lowlevel import NotificationOptions, Server

from nacre.doors.mcp.library.asked_calls import AskedCalls, add_tools
from nacre.doors.mcp.library.asked_requests import AskedRequests
from nacre.doors.mcp.library.failures import explain
from nacre.doors.mcp.library.offered import add_completion, add_prompts, add_resources
from nacre.doors.mcp.library.rounds import HeldCalls
from nacre.doors.mcp.library.subscriptions import Subscriptions
from nacre.doors.mcp.offer import Offers
from nacre.doors.mcp.resources import Resources
from nacre.doors.mcp.server import build_call_tool
from nacre.doors.mcp.standing import SERVER
from nacre.doors.mcp.tools.selection import Selection
from nacre.services.dispatch.dispatch import Dispatch
from nacre.settings.table import Settings


class _Server(Server[Any]):
    """The SDK's server, which by itself advertises either all lists as changing or none."""

    changes = False  # its list of tools
    changes_prompts = False

    def get_capabilities(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
        *,
        protocol_version: str | None = None,
    ) -> types.ServerCapabilities:
        told = super().get_capabilities(
            NotificationOptions(resources_changed=True),
            experimental_capabilities,
            extensions,
            protocol_version=protocol_version,
        )
        told.prompts = types.PromptsCapability(list_changed=self.changes_prompts)
        told.tools = types.ToolsCapability(list_changed=self.changes)
        told.logging = None  # a level is taken, but there is no log for clients
        return told


def build_server(
    dispatch: Dispatch,
    subscriptions: Subscriptions,
    selection: Selection,
    settings: Settings,
    held: HeldCalls,
) -> Server[Any]:
    """Make the SDK's server for these tools; the caller is in each request's context."""
    offers = Offers(selection)
    standing, words = offers.now.standing, offers.now.words
    server = _Server(
        SERVER["name"],
        version=SERVER["version"],
        title=SERVER["title"],
        instructions=standing.instructions,
    )
    server.changes = selection.changes
    server.changes_prompts = selection.upstream is not None
    server.middleware.append(explain)
    call_tool = build_call_tool(dispatch, offers, settings)
    calls = AskedCalls(offers, call_tool, settings, held)
    add_tools(server, dispatch, offers, subscriptions, calls)
    questions = AskedRequests(settings, held)
    add_prompts(server, dispatch, offers, subscriptions, questions, words)
    resources = Resources(dispatch, selection.prefix, words, selection.upstream)
    add_resources(server, resources, subscriptions, offers, questions, words)
    add_completion(server, dispatch, resources, selection)
    return server
