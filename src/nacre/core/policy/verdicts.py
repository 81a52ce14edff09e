"""The words of the policy: verdicts and presets, from the mildest to the strictest; sandboxes.

Rule: of some two sandboxes each forbids what the other allows (readonly, strict). Then neither is
the stricter one, and the caller must choose.
"""

from collections.abc import Mapping
from typing import Literal

from nacre.errors import BadParameter

Verdict = Literal["allow", "ask", "deny"]
Preset = Literal["open", "guarded", "strict"]
Sandbox = Literal["off", "readonly", "workspace", "strict", "review"]

STRICTNESS: Mapping[Verdict, int] = {"allow": 0, "ask": 1, "deny": 2}
_PRESETS: tuple[Preset, ...] = ("open", "guarded", "strict")


def stricter(one: Preset, other: Preset) -> Preset:
    return max(one, other, key=_PRESETS.index)


# What is at least as strict as each (docs/sandbox.md).
_AS_STRICT: dict[Sandbox, frozenset[Sandbox]] = {
    "off": frozenset({"off", "readonly", "workspace", "strict", "review"}),
    "workspace": frozenset({"workspace", "readonly", "strict", "review"}),
    "review": frozenset({"review", "readonly"}),
    "readonly": frozenset({"readonly"}),
    "strict": frozenset({"strict"}),
}


def stricter_sandbox(one: Sandbox, other: Sandbox) -> Sandbox | None:
    """Return the stricter one of two; None if each forbids what the other allows."""
    if other in _AS_STRICT[one]:
        return other
    return one if one in _AS_STRICT[other] else None


def sandbox_of(asked: Sandbox | None, here: Sandbox, door: Sandbox) -> Sandbox:
    """Return the sandbox of a new session: what was asked for, else the stricter default.

    `here` is the default of the session's host, `door` that of the caller's. Raises BadParameter.
    """
    if asked is not None:
        return asked
    if (found := stricter_sandbox(here, door)) is None:
        raise BadParameter(
            "sandbox",
            f"is missing: this host has {here} by default, the one at whose door you are {door}, "
            "and neither is the stricter one",
            f"give one of the two: sandbox={here} or sandbox={door}",
        )
    return found
