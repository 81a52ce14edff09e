"""The toolsets and the prefix that one client asked for, and the tools that it gets.

Rule: a prefix goes before every name. Of two tools with one name the first toolset's counts.
"""

import logging
import re
from collections.abc import Callable, Iterable
from typing import Any, Literal, Protocol

from msgspec import Struct

from nacre.doors.mcp.tools.tool import ClusteredTool, Tool, output_of
from nacre.doors.mcp.tools.toolsets import (
    COMMANDS,
    DEFAULT_TOOLSET,
    PLAIN,
    TOOLSETS,
    UPSTREAM,
    spec_named,
)
from nacre.errors import InvalidInput

_log = logging.getLogger("nacre.mcp")
_BY_NAME = (PLAIN, COMMANDS, UPSTREAM)  # all are all but these

# Clients accept only tool names that match ^[A-Za-z0-9_-]{1,64}$.
_PREFIX = re.compile(r"[A-Za-z0-9_-]{0,32}")


class OffersTools(Protocol):
    """What has tools of its own, which may change."""

    @property
    def edition(self) -> object:
        """What is another one when the tools have changed."""

    def tools(self, prefix: str) -> "Iterable[Tool]": ...

    def unlisted(self, prefix: str) -> "Iterable[Tool]":
        """Return what can be called, although no list has it."""

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call this whenever they have changed; return what ends that."""


UpstreamListKind = Literal["tools", "prompts", "resources"]


class OffersUpstream(OffersTools, Protocol):
    """What has tools, prompts and resources of servers behind us. `root` is such as nacre://."""

    def prompts(self, prefix: str) -> list[dict[str, Any]]: ...

    def prompt(self, prefix: str, name: str) -> tuple[str, str] | None:
        """Return server and prompt by what it is called here."""

    def resources(self, root: str) -> list[dict[str, Any]]: ...

    def templates(self, root: str) -> list[dict[str, Any]]: ...

    def on_change(
        self, listener: Callable[[], None], kind: UpstreamListKind = "tools"
    ) -> Callable[[], None]: ...

    def on_update(self, listener: Callable[[str, str], None]) -> Callable[[], None]:
        """Call this with server and URI when a watched resource has changed."""


class Selection(Struct, frozen=True):
    """The toolsets and the prefix that one client asked for."""

    toolsets: tuple[str, ...] = (DEFAULT_TOOLSET,)
    prefix: str = ""
    commands: "OffersTools | None" = None  # those of the toolset commands
    upstream: "OffersUpstream | None" = None  # those of the toolset upstream
    clustered: bool = False  # there are other hosts: tools say that one can be chosen

    @property
    def _changing(self) -> "dict[str, OffersTools]":
        named = {COMMANDS: self.commands, UPSTREAM: self.upstream}
        return {name: offers for name, offers in named.items() if offers is not None}

    @property
    def changes(self) -> bool:
        """Whether its tools can become others."""
        return self.commands is not None or self.upstream is not None

    @property
    def edition(self) -> tuple[object, ...]:
        """What is another one when its tools have changed."""
        return tuple(offers.edition for offers in self._changing.values())

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call this whenever its tools have changed; return what ends that."""
        ends = [offers.on_change(listener) for offers in self._changing.values()]

        def end() -> None:
            for one in ends:
                one()

        return end

    def tools(self) -> dict[str, Tool]:
        """Return the tools by their names. Of two with one name the first toolset's counts."""
        found: dict[str, Tool] = {}
        kind = ClusteredTool if self.clustered else Tool
        for toolset in self.toolsets:
            if (offers := self._changing.get(toolset)) is not None:
                for tool in offers.tools(self.prefix):
                    if found.setdefault(tool.name, tool) is not tool:
                        _log.warning(
                            "a tool is hidden by one of the same name",
                            extra={"tool": tool.name, "toolset": toolset},
                        )
                continue
            for name, entry in TOOLSETS[toolset].items():
                spec = spec_named(entry.operation)
                full = self.prefix + name
                output = output_of(spec, clustered=self.clustered)
                tool = kind(full, spec, output, entry.renamed, toolset)
                found.setdefault(full, tool)
        return found

    def unlisted(self) -> dict[str, Tool]:
        """Return what can be called, although no list has it: names that no tool has."""
        found: dict[str, Tool] = {}
        for offers in self._changing.values():
            for tool in offers.unlisted(self.prefix):
                found.setdefault(tool.name, tool)
        return found


def parse_selection(
    toolsets: str | None,
    prefix: str | None,
    commands: "Callable[[], OffersTools] | None" = None,
    upstream: "Callable[[], OffersUpstream] | None" = None,
    *,
    clustered: bool = False,
) -> Selection:
    """Parse "a,b" or "all", and a prefix. Raises InvalidInput, which lists the toolsets.

    `commands` and `upstream` give the tools of the toolsets of these names, for who names them; all
    are all others. `clustered`: the daemon is in a cluster.
    """
    names = [name.strip() for name in (toolsets or DEFAULT_TOOLSET).split(",") if name.strip()]
    if "all" in names:
        # The plain toolset has tools of the same names, and needs no others beside it.
        named = [name for name in names if name in _BY_NAME]
        listed = (*TOOLSETS, COMMANDS, UPSTREAM)
        names = [name for name in listed if name in named or name not in _BY_NAME]
    changing = {COMMANDS: commands, UPSTREAM: upstream}
    known = (*TOOLSETS, *(name for name, offers in changing.items() if offers is not None))
    for name in names:
        if name not in known:
            raise InvalidInput(f"no toolset {name!r}", f"there are {', '.join(known)} and all")
    if not _PREFIX.fullmatch(prefix or ""):
        raise InvalidInput(
            f"{prefix!r} cannot be a prefix", "use up to 32 letters, digits, _ and -"
        )
    chosen = tuple(dict.fromkeys(names)) or (DEFAULT_TOOLSET,)
    return Selection(
        chosen,
        prefix or "",
        commands() if commands is not None and COMMANDS in chosen else None,
        upstream() if upstream is not None and UPSTREAM in chosen else None,
        clustered,
    )
