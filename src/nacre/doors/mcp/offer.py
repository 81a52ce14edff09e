"""What the clients of one selection are offered: its tools, how errors about them are worded, and
the answers that stand.

Rule: an offer never changes. When the selection's tools have changed, there is another one, and who
has asked for the current one each time gets it.
"""

from functools import cached_property

from nacre.doors.mcp.standing import Standing
from nacre.doors.mcp.tools.selection import Selection
from nacre.doors.mcp.tools.tool import Tool
from nacre.doors.mcp.words import ToolWords


class Offer:
    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self.tools: dict[str, Tool] = selection.tools()
        self.words = ToolWords(self.tools)
        self.standing = Standing(selection, self.tools)

    @cached_property
    def _unlisted(self) -> dict[str, Tool]:
        return self._selection.unlisted()

    def find(self, name: str) -> Tool | None:
        """Return what a call of this name is for; what is listed comes first."""
        return self.tools.get(name) or self._unlisted.get(name)

    @cached_property
    def words_about(self) -> dict[str, ToolWords]:
        """The wording of errors about a call of each tool."""
        found = {**self._unlisted, **self.tools}
        return {name: self.words.about(tool) for name, tool in found.items()}


class Offers:
    """The offers of one selection, one at a time."""

    def __init__(self, selection: Selection) -> None:
        self.selection = selection
        self._edition = selection.edition
        self._offer = Offer(selection)

    @property
    def now(self) -> Offer:
        if self.selection.changes and (edition := self.selection.edition) != self._edition:
            self._edition, self._offer = edition, Offer(self.selection)
        return self._offer
