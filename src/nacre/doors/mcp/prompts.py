"""The skills as MCP prompts: markdown that teaches an agent to use the tools well.

Rule 1: the text uses the names of this connection. {{run_command}} becomes the tool's name with its
prefix, {{prompt:tui}} a prompt's name, {{uri:sessions}} a resource's address. Tools that are not
offered on this connection are listed at the top.
Rule 2: every example is a `call` block, so that a test can make the call.
Rule 3: no file is read before somebody asks for it.
Rule 4: where the toolset agent was named first, a skill is told in its tools if there is a page for
that; all others are about the other toolsets, and say how to get them.
"""

from functools import cache
from pathlib import Path
from typing import Any

from nacre.doors.mcp.resources import scheme_of
from nacre.doors.mcp.tools.selection import Selection
from nacre.doors.mcp.tools.toolsets import PLAIN, TOOLSETS
from nacre.errors import InvalidInput
from nacre.late_pattern import late_pattern

# skill → what a person or a host reads in the list
SKILLS = {
    "core": "API primitives and the send/wait/read/decide loop",
    "drive-process": "Running CLI commands, handling prompts",
    "tui": "Operating full-screen TUI applications",
    "multi-session": "Parallel session orchestration",
    "agent-orchestration": "Driving other AI agents",
    "monitor": "Watching terminal activity",
    "visual-feedback": "Overlays and panels",
    "input-capture": "Capturing keyboard input",
    "generative-ui": "Dynamic interactive experiences",
}

_FOLDER = Path(__file__).parent / "skills"
_PLAIN_FOLDER = Path(__file__).parent / "agent_skills"
_TOLD_PLAINLY = ("core",)  # the skills that have a page there
_PLACEHOLDER = late_pattern(r"\{\{(?:(prompt|uri):)?([^{}]+)\}\}")


def brand_of(prefix: str) -> str:
    """Return what goes before the names of prompts: wsh for the prefix wsh_, else nacre."""
    return prefix.rstrip("_-") or "nacre"


def list_prompts(selection: Selection) -> dict[str, Any]:
    brand = brand_of(selection.prefix)
    return {
        "prompts": [
            {"name": f"{brand}:{skill}", "title": _title(skill), "description": description}
            for skill, description in SKILLS.items()
        ]
    }


def get_prompt(selection: Selection, name: str) -> dict[str, Any]:
    """Return a skill as one user message. Raises InvalidInput for an unknown name."""
    brand = brand_of(selection.prefix)
    skill = name.removeprefix(f"{brand}:")
    if skill == name or skill not in SKILLS:
        names = ", ".join(f"{brand}:{one}" for one in SKILLS)
        raise InvalidInput(f"no prompt named {name!r}", f"there are {names}")
    text = {"type": "text", "text": render(selection, skill)}
    return {"description": SKILLS[skill], "messages": [{"role": "user", "content": text}]}


def render(selection: Selection, skill: str) -> str:
    """Return a skill's text with the names of this connection."""
    source = read_skill(skill, plainly=selection.toolsets[0] == PLAIN)
    before = {
        None: selection.prefix,
        "prompt": f"{brand_of(selection.prefix)}:",
        "uri": f"{scheme_of(selection.prefix)}://",
    }
    title, _, body = source.partition("\n")
    text = _PLACEHOLDER.sub(lambda found: before[found[1]] + found[2], body)
    return f"{title}\n{_missing(selection, source)}{text}"


@cache
def read_skill(skill: str, *, plainly: bool = False) -> str:
    folder = _PLAIN_FOLDER if plainly and skill in _TOLD_PLAINLY else _FOLDER
    return (folder / f"{skill}.md").read_text(encoding="utf-8")


def named_tools(source: str) -> list[str]:
    """Return the tools that a skill's source names, each once."""
    return list(dict.fromkeys(found[2] for found in _PLACEHOLDER.finditer(source) if not found[1]))


def _missing(selection: Selection, source: str) -> str:
    """Return a paragraph about tools that the text names but this client does not have."""
    served = selection.tools()
    missing: dict[str, list[str]] = {}
    for tool in named_tools(source):
        if selection.prefix + tool not in served:
            toolset = next(
                name for name, tools in TOOLSETS.items() if tool in tools and name != PLAIN
            )
            missing.setdefault(toolset, []).append(selection.prefix + tool)
    if not missing:
        return ""
    parts = [
        f"{', '.join(tools)} (toolset `{toolset}`)" for toolset, tools in sorted(missing.items())
    ]
    wanted = ",".join([*selection.toolsets, *sorted(missing)])
    text = (
        f"\nNot offered on this connection: {'; '.join(parts)}. A person can add them with "
        f"`nacre mcp --toolsets {wanted}` (over HTTP `?toolsets={wanted}`)."
    )
    p = selection.prefix
    if f"{p}wait_for" in missing.get("extra", ()) and f"{p}await_quiesce" in served:
        text += (
            f" Instead of {p}wait_for below, use {p}await_quiesce with last_generation. Then look "
            "at the screen for what you wait for, and wait again if it is not there."
        )
    return text + "\n"


def _title(skill: str) -> str:
    return "TUI" if skill == "tui" else skill.replace("-", " ").capitalize()
