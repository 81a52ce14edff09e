"""The toolset upstream: which tools are listed, and which can be called."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from nacre.core.operations.upstream import CallUpstreamTool
from nacre.doors.mcp.offer import Offers
from nacre.doors.mcp.tools.selection import parse_selection
from nacre.doors.mcp.upstream.tools import UpstreamTools
from nacre.settings.table import Settings


@dataclass(frozen=True)
class Listed:
    name: str
    server: str
    tool: dict[str, Any]


class Hub:
    """Servers with a tool each."""

    version = 1

    def __init__(self, *names: str) -> None:
        self._names = names

    def servers(self) -> dict[str, Any]:
        return dict.fromkeys(self._names)

    def tools(self) -> dict[str, Listed]:
        return {f"mcp_{one}_t": Listed(f"mcp_{one}_t", one, {"name": "t"}) for one in self._names}

    def listings(self) -> dict[str, Any]:
        return {}

    def on_change(self, listener: Callable[[], None], kind: str = "tools") -> Callable[[], None]:
        return lambda: None

    def on_update(self, listener: Callable[[str, str], None]) -> Callable[[], None]:
        return lambda: None


@pytest.mark.parametrize(("most", "listed"), [(2, True), (1, False)])
def test_a_tool_is_called_by_its_name_whether_it_is_listed_or_not(most: int, listed: bool) -> None:
    hub = Hub("a", "b")
    offers = Offers(parse_selection("upstream", "x_", None, lambda: UpstreamTools(hub, most)))
    assert ("x_mcp_a_t" in offers.now.tools) == listed
    assert ("x_call_upstream_tool" in offers.now.tools) != listed
    tool = offers.now.find("x_mcp_a_t")
    assert tool is not None
    assert tool.parse({"x": 1}) == CallUpstreamTool(server="a", tool="t", arguments={"x": 1})


def test_the_tools_of_fifty_servers_are_listed() -> None:
    hub = Hub(*(f"s{number}" for number in range(50)))
    tools = {tool.name for tool in UpstreamTools(hub, Settings().max_upstream_tools).tools("")}
    assert set(hub.tools()) <= tools
