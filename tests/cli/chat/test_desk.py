"""What a person's answer comes to, where it cannot be saved."""

from pathlib import Path
from typing import Any, cast

import pytest

from nacre.cli.chat.apis.events import ModelTool
from nacre.cli.chat.desk import Desk
from nacre.cli.chat.face import Choice, PlainFace
from nacre.cli.chat.rules import Rules
from nacre.cli.chat.toolbox import Outcome, Toolbox
from nacre.settings.paths import find_paths

pytestmark = pytest.mark.anyio

TOOL = "mcp_github_create_issue"


class Box:
    """Tools that count their calls."""

    calls = 0

    async def tools(self) -> list[ModelTool]:
        names = (TOOL, "type", "call_upstream_tool")
        return [ModelTool(name, "", {"type": "object"}) for name in names]

    async def call(self, name: str, arguments: dict[str, Any]) -> Outcome:
        self.calls += 1
        return Outcome("made", failed=False)


class SaysAlways(PlainFace):
    asked = 0

    async def choose(self, call: str, pattern: str) -> tuple[Choice, str]:
        self.asked += 1
        return "exact always", pattern


async def nowhere(_: str | None) -> str | None:
    return None


def desk_of(home: Path, box: Box, face: PlainFace) -> Desk:
    rules = Rules(find_paths({"NACRE_HOME": str(home)}), nowhere)
    return Desk(cast("Toolbox", box), face, rules)


async def test_exactly_this_call_is_allowed_for_ever(tmp_path: Path) -> None:
    box, face = Box(), SaysAlways()
    for _ in range(2):  # another chat knows of it, too
        desk = desk_of(tmp_path, box, face)
        for _ in range(2):
            assert not (await desk.call(TOOL, {"title": "x", "n": 1})).failed
    assert (box.calls, face.asked) == (4, 1)
    # However it is called, it is the same call; and another call is another one.
    by_name = {"tool": TOOL, "arguments": {"n": 1, "title": "x"}}
    assert not (await desk.call("call_upstream_tool", by_name)).failed
    assert face.asked == 1
    assert not (await desk.call(TOOL, {"title": "y", "n": 1})).failed
    assert face.asked == 2


async def test_a_call_that_cannot_be_a_rule_is_allowed_in_this_chat(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    box, face = Box(), SaysAlways()
    desk = desk_of(tmp_path, box, face)
    for _ in range(2):
        assert not (await desk.call("type", {"text": "x"})).failed
    assert (box.calls, face.asked) == (2, 1)
    assert "it is allowed in this chat" in capsys.readouterr().err
    assert desk.permissions.exact == {'type: {"text": "x"}': 1}
