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
    """One tool, which counts its calls."""

    calls = 0

    async def tools(self) -> list[ModelTool]:
        return [ModelTool(TOOL, "", {"type": "object"})]

    async def call(self, name: str, arguments: dict[str, Any]) -> Outcome:
        self.calls += 1
        return Outcome("made", failed=False)


class SaysAlways(PlainFace):
    asked = 0

    async def choose(self, call: str, pattern: str) -> tuple[Choice, str]:
        self.asked += 1
        return "exact always", pattern


async def test_a_call_that_cannot_be_a_rule_is_allowed_in_this_chat(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def nowhere(_: str | None) -> str | None:
        return None

    box, face = Box(), SaysAlways()
    rules = Rules(find_paths({"NACRE_HOME": str(tmp_path)}), nowhere)
    desk = Desk(cast("Toolbox", box), face, rules)
    for _ in range(2):
        assert not (await desk.call(TOOL, {"title": "x"})).failed
    assert (box.calls, face.asked) == (2, 1)
    assert "it is allowed in this chat" in capsys.readouterr().err
