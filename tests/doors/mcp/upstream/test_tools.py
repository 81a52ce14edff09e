"""The toolset upstream: which tools are listed, and which can be called."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from nacre.core.operations.upstream import CallUpstreamTool
from nacre.doors.mcp.offer import Offers
from nacre.doors.mcp.tools.selection import parse_selection
from nacre.doors.mcp.upstream.tools import UpstreamTools


@dataclass(frozen=True)
class Listed:
    name: str
    server: str
    tool: dict[str, Any]


class Hub:
    """Two servers with a tool each."""

    version = 1

    def servers(self) -> dict[str, Any]:
        return {"a": None, "b": None}

    def tools(self) -> dict[str, Listed]:
        return {f"mcp_{one}_t": Listed(f"mcp_{one}_t", one, {"name": "t"}) for one in "ab"}

    def listings(self) -> dict[str, Any]:
        return {}

    def on_change(self, listener: Callable[[], None], kind: str = "tools") -> Callable[[], None]:
        return lambda: None

    def on_update(self, listener: Callable[[str, str], None]) -> Callable[[], None]:
        return lambda: None


@pytest.mark.parametrize(("most", "listed"), [(2, True), (1, False)])
def test_a_tool_is_called_by_its_name_whether_it_is_listed_or_not(most: int, listed: bool) -> None:
    offers = Offers(parse_selection("upstream", "x_", None, lambda: UpstreamTools(Hub(), most)))
    assert ("x_mcp_a_t" in offers.now.tools) == listed
    assert ("x_call_upstream_tool" in offers.now.tools) != listed
    tool = offers.now.find("x_mcp_a_t")
    assert tool is not None
    assert tool.parse({"x": 1}) == CallUpstreamTool(server="a", tool="t", arguments={"x": 1})
