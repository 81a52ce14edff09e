"""Which operations are tools, under which names, and what their results look like.

Rule: the toolset terminal has wsh's names, parameters and result fields, the toolset shell those of
SILC, the toolset apps those of the Terminal Tester. A prefix goes before every name.
"""

import logging
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Protocol
from urllib.parse import quote

import msgspec

from nacre.core.agent.tools import AGENT, ALWAYS_LOADED, SEARCH_HINTS, AgentAnswer
from nacre.core.catalog.catalog import Operation, Result, Spec, parse_parameters
from nacre.core.catalog.schema import input_schema, output_schema
from nacre.core.operations.all import CATALOG
from nacre.core.operations.display import OverlayList, PanelList
from nacre.core.operations.results import PictureTaken, RunOutcome, SessionList
from nacre.core.operations.upstream import UpstreamAnswer
from nacre.core.text.budget import json_chars
from nacre.errors import Busy, InvalidInput, LimitReached, NotAtPrompt
from nacre.services.dispatch.call import HandedOver
from nacre.services.dispatch.dispatch import Answer
from nacre.wording import Words

_log = logging.getLogger("nacre.mcp")

# What a server of the 2026 revision says of itself in each result; ours says who we are.
_STAMP = "io.modelcontextprotocol/serverInfo"


class Entry(NamedTuple):
    """A tool: its operation, and the parameters that have another name in the tool."""

    operation: str
    renamed: Mapping[str, str] = MappingProxyType({})  # the tool's name → the operation's


# In SILC a session is named by its port. The parameter takes a name or an id too.
_BY_PORT = MappingProxyType({"port": "session"})

# The toolset of a model that was written for no other terminal: few tools, and plain text.
PLAIN = "agent"

# In the Terminal Tester by its id; a name or a port will do.
_BY_ID = MappingProxyType({"session_id": "session"})

# toolset → tool
TOOLSETS: dict[str, dict[str, Entry]] = {
    PLAIN: {
        "run": Entry("agent_run"),
        "type": Entry("agent_type"),
        "wait": Entry("agent_wait", MappingProxyType({"for": "pattern"})),
        "read": Entry("agent_read", MappingProxyType({"from": "first"})),
        "sessions": Entry("agent_sessions"),
        "screenshot": Entry("agent_screenshot"),
    },
    "terminal": {
        name: Entry(name)
        for name in (
            "create_session",
            "list_sessions",
            "manage_session",
            "send_input",
            "get_screen",
            "get_scrollback",
            "await_quiesce",
            "run_command",
            "overlay",
            "remove_overlay",
            "panel",
            "remove_panel",
            "input_mode",
            "screen_mode",
            "read_run",  # not the document's: run_command's whole output
        )
    },
    "shell": {
        "send": Entry("send", _BY_PORT),
        "read": Entry("read_output", _BY_PORT),
        "send_key": Entry("send_key", _BY_PORT),
        "run": Entry("run", _BY_PORT),
        "start_session": Entry("start_session"),
        "close_session": Entry("close_session", _BY_PORT),
        "get_status": Entry("get_status", _BY_PORT),
        "list_sessions": Entry("list_sessions"),
    },
    "apps": {
        "launch_app": Entry("launch_app"),
        **{
            name: Entry(name, _BY_ID)
            for name in (
                "view_screen",
                "send_keys",
                "get_cursor_position",
                "get_screen_size",
                "resize_terminal",
                "restart_app",
                "stop_app",
            )
        },
        "list_sessions": Entry("list_sessions"),
    },
    "extra": {
        name: Entry(name)
        for name in (
            "wait_for",
            "read_run",
            "screenshot",
            "restart_session",
            "resize_session",
            "screen_at",
            "export_recording",
            "await_input",
            "control",
            "mouse",
            "snapshot",
            "get_cells",
            "screen_hash",
            "screen_diff",
            "put_file",
            "get_file",
            "edit_file",
        )
    },
}
DEFAULT_TOOLSET = PLAIN

# The toolset whose tools are the commands of the catalog (command_tools.py): only for who names it.
COMMANDS = "commands"

# The toolset whose tools are those of MCP servers behind us (upstream/tools.py), in the same way.
UPSTREAM = "upstream"

_BY_NAME = (PLAIN, COMMANDS, UPSTREAM)  # all are all but these

# Toolsets whose document wants JSON-RPC errors, but for the tools that are not the document's. Else
# an error is a result, which the model reads.
_PROTOCOL_ERRORS = frozenset({"terminal"})
_NOT_THE_DOCUMENTS = frozenset({"read_run"})

# Results that are a bare array in wsh and SILC.
_BARE = {SessionList: "sessions", OverlayList: "overlays", PanelList: "panels"}

# Clients accept only tool names that match ^[A-Za-z0-9_-]{1,64}$.
_PREFIX = re.compile(r"[A-Za-z0-9_-]{0,32}")


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    spec: Spec
    output: dict[str, Any] | None  # the schema of what is structured
    renamed: Mapping[str, str]
    toolset: str = DEFAULT_TOOLSET  # the first of those chosen that has it

    @property
    def plain(self) -> bool:
        """Whether it answers with one text, also when it fails."""
        return self.spec.result is AgentAnswer

    @property
    def raises(self) -> bool:
        """Whether what is wrong with a call is an error of the protocol, not a result."""
        return self.toolset in _PROTOCOL_ERRORS and self.spec.name not in _NOT_THE_DOCUMENTS

    def parse(self, given: dict[str, Any]) -> Operation:
        """Return the operation for the tool's parameters.

        The operation's own name of a parameter is accepted too. Raises InvalidInput, which uses the
        operation's names.
        """
        for ours, theirs in self.renamed.items():
            if ours in given and theirs in given:
                raise InvalidInput(f"{ours} and {theirs} are the same here", "give one of them")
        named = {self.renamed.get(name, name): value for name, value in given.items()}
        return parse_parameters(self.spec.type, named)

    def parameter(self, name: str) -> str:
        """Return what a parameter of the operation is called in this tool."""
        return next((ours for ours, theirs in self.renamed.items() if theirs == name), name)

    def as_wire(self, name_of: Callable[[str], str | None] = str) -> dict[str, Any]:
        """Return the tool for tools/list. `name_of` returns the tool of another operation."""
        spec = self.spec
        structured = {} if self.output is None else {"outputSchema": self.output}
        if self.plain:
            return _plain_wire(self, name_of)
        return {
            "name": self.name,
            "title": spec.name.replace("_", " ").capitalize(),
            "description": spec.describe(name_of),
            "inputSchema": self.input(),
            **structured,
            "annotations": {
                "readOnlyHint": spec.read_only,
                "destructiveHint": spec.destructive,
                "idempotentHint": spec.idempotent,
                "openWorldHint": not spec.read_only,
            },
        }

    def input(self) -> dict[str, Any]:
        schema = input_schema(self.spec.type)
        properties = schema["properties"].items()
        schema["properties"] = {self.parameter(name): value for name, value in properties}
        schema["required"] = [self.parameter(name) for name in schema.get("required", ())]
        return schema


class OffersTools(Protocol):
    """What has tools of its own, which may change."""

    @property
    def edition(self) -> object:
        """What is another one when the tools have changed."""

    def tools(self, prefix: str) -> "Iterable[Tool]": ...

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


@dataclass(frozen=True, slots=True)
class Selection:
    """The toolsets and the prefix that one client asked for."""

    toolsets: tuple[str, ...] = (DEFAULT_TOOLSET,)
    prefix: str = ""
    commands: "OffersTools | None" = None  # those of the toolset commands
    upstream: "OffersUpstream | None" = None  # those of the toolset upstream

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
                tool = Tool(full, spec, _output(spec), entry.renamed, toolset)
                found.setdefault(full, tool)
        return found


def spec_named(operation: str) -> Spec:
    """Return the entry of an operation, or of a tool that is composed of some."""
    return AGENT.get(operation) or CATALOG[operation]


def _output(spec: Spec) -> dict[str, Any] | None:
    """Return the schema of the structured content; a picture has none, and neither a plain text.

    Hosts that prefer structured content drop everything else, and so the picture.
    """
    return None if spec.result in (PictureTaken, AgentAnswer) else output_schema(spec.result)


# A session's reference in a schema, and the same in fewer words.
_EITHER, _EITHER_SHORT = [{"type": "string"}, {"type": "integer"}], ["string", "integer"]


def _plain_wire(tool: Tool, name_of: Callable[[str], str | None]) -> dict[str, Any]:
    """Return a tool of the plain toolset: every model pays for the list, so it says nothing twice.

    Hints that are as the protocol takes them to be by default are left out.
    """
    spec, schema = tool.spec, tool.input()
    for said in schema["properties"].values():
        if said.get("anyOf") == _EITHER:
            said["type"] = _EITHER_SHORT
            del said["anyOf"]
    if not schema["required"]:
        del schema["required"]
    world = {"openWorldHint": False} if spec.read_only else {}
    # Claude Code puts tools aside until its model looks for them, but for these.
    loaded = {"anthropic/alwaysLoad": True} if spec.name in ALWAYS_LOADED else {}
    return {
        "name": tool.name,
        "description": " ".join(spec.describe(name_of).split()),
        "inputSchema": schema,
        "annotations": {"readOnlyHint": spec.read_only, **world},
        "_meta": {**loaded, "anthropic/searchHint": SEARCH_HINTS[spec.name]},
    }


def parse_selection(
    toolsets: str | None,
    prefix: str | None,
    commands: "Callable[[], OffersTools] | None" = None,
    upstream: "Callable[[], OffersUpstream] | None" = None,
) -> Selection:
    """Parse "a,b" or "all", and a prefix. Raises InvalidInput, which lists the toolsets.

    `commands` and `upstream` give the tools of the toolsets of these names, for who names them; all
    are all others.
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
    )


def shape_answer(answer: Answer, words: Words, most: int, scheme: str = "nacre") -> dict[str, Any]:
    """Return the tool result, and what else is told, both as text and structured.

    Raises LimitReached for an SVG of more than `most` characters, which hosts would cut: services
    cut text, but half an SVG is of no use.
    """
    drawn = answer.result
    if isinstance(drawn, AgentAnswer):
        return _shape_plain(drawn)
    if isinstance(drawn, PictureTaken) and drawn.format == "svg" and json_chars(drawn.data) > most:
        raise LimitReached(
            f"the SVG has {len(drawn.data)} characters, and an answer {most} (max_result_chars)",
            "take it as png",
        )
    shaped = shape_result(answer.result, words, scheme, "; ".join(answer.notices))
    if answer.told is not None:
        _add_handover(shaped, answer.told)
    return shaped


def shape_result(
    result: Result, words: Words, scheme: str = "nacre", notice: str = ""
) -> dict[str, Any]:
    """Return the tool result: JSON as text, and the same as structured content."""
    if isinstance(result, UpstreamAnswer):
        return _pass_on(result)
    structured = msgspec.to_builtins(result, enc_hook=words.encode)
    if notice:
        own = structured.pop("notice", None)  # of a session
        structured = {"notice": f"{notice}; {own}" if own else notice, **structured}
    if isinstance(result, PictureTaken):
        return _shape_picture(result, structured, scheme)
    if isinstance(result, RunOutcome) and result.status in ("busy", "error"):
        # A failure that the model can act on; the fields of the result stay readable.
        code = {"busy": Busy.code, "error": NotAtPrompt.code}[result.status]
        message = structured.get("hint", result.status)
        return shape_failure({"code": code, "message": message, **structured}, words)
    # wsh and SILC return a bare array. MCP demands an object as structured content, so the array
    # is the text only.
    field = _BARE.get(type(result))
    text = structured if field is None else structured[field]
    content = [_text(text)]
    if field is not None and (hint := structured.get("hint")):
        content.append({"type": "text", "text": hint})
    if field is not None and notice:
        content.append({"type": "text", "text": notice})
    return _succeeded(content, structured)


def _pass_on(result: UpstreamAnswer) -> dict[str, Any]:
    """Return an upstream tool's result as its server sent it."""
    shaped = _succeeded(list(result.content), result.structured_content)
    shaped["isError"] = result.is_error
    meta = {key: value for key, value in (result.meta or {}).items() if key != _STAMP}
    if result.result_id is not None:
        meta["nacre/result"] = {"result_id": result.result_id, "left_out": result.left_out}
    return {**shaped, "_meta": meta} if meta else shaped


def _shape_picture(result: PictureTaken, structured: dict[str, Any], scheme: str) -> dict[str, Any]:
    """Return the picture as what a model sees, and what is known of it as a text beside it."""
    data = structured.pop("data")
    if result.format == "png":
        picture = {"type": "image", "data": data, "mimeType": "image/png"}
    else:
        uri = f"{scheme}://sessions/{quote(result.session)}/screenshot.svg"
        resource = {"uri": uri, "mimeType": "image/svg+xml", "text": data}
        picture = {"type": "resource", "resource": resource}
    return _succeeded([picture, _text(structured)])


def _shape_plain(answer: AgentAnswer) -> dict[str, Any]:
    """Return one block of text, or the picture alone: that is what every host hands on whole."""
    content = [{"type": "text", "text": answer.text}] if answer.text else []
    if answer.picture is not None:
        content.insert(0, {"type": "image", "data": answer.picture, "mimeType": "image/png"})
    return {**_succeeded(content), "_meta": {"nacre/answer": answer.meta}}


def _succeeded(content: list[dict[str, Any]], structured: Any = None) -> dict[str, Any]:
    return {
        "content": content,
        **({} if structured is None else {"structuredContent": structured}),
        "isError": False,
        "resultType": "complete",  # the 2026 revision demands it, the older ones drop it
    }


def _add_handover(shaped: dict[str, Any], told: HandedOver) -> None:
    """Add what a person did meanwhile to a result; its first text stays as it is."""
    shaped["content"].append({"type": "text", "text": told.handover.in_words(told.session)})
    if (structured := shaped.get("structuredContent")) is not None:
        # `control` has a field of that name itself: the same hand-over.
        own = structured.get("handover")
        shaped["structuredContent"] = {**structured, "handover": own or told.as_dict()}
    shaped.setdefault("_meta", {})["nacre/handover"] = told.as_dict()


def _text(value: Any) -> dict[str, Any]:
    return {"type": "text", "text": msgspec.json.encode(value).decode()}


def shape_failure(error: dict[str, Any], words: Words, *, as_text: bool = False) -> dict[str, Any]:
    """Return the result of an operation that ran and failed. Clients check no schema for these.

    `as_text`: what happened and what to do as words, not as JSON.
    """
    plain = msgspec.to_builtins(error, enc_hook=words.encode)
    return {
        "content": [{"type": "text", "text": _in_words(plain)} if as_text else _text(plain)],
        "isError": True,
        "resultType": "complete",
        "_meta": {"nacre/error": {"code": plain["code"], "message": plain["message"]}},
    }


_WORTH_TELLING = ("reasons", "approval", "notice")  # of an error, below its message


def _in_words(error: dict[str, Any]) -> str:
    told = [f"error: {error['message']}"]
    for name in _WORTH_TELLING:
        if value := error.get(name):
            text = "; ".join(map(str, value)) if isinstance(value, list) else str(value)
            told += [f"{name}: {text}"] if text not in error["message"] else []
    return "\n".join(told)
