"""The words of the policy: verdicts and presets, from the mildest to the strictest."""

from collections.abc import Mapping
from typing import Literal

Verdict = Literal["allow", "ask", "deny"]
Preset = Literal["open", "guarded", "strict"]

STRICTNESS: Mapping[Verdict, int] = {"allow": 0, "ask": 1, "deny": 2}
_PRESETS: tuple[Preset, ...] = ("open", "guarded", "strict")


def stricter(one: Preset, other: Preset) -> Preset:
    return max(one, other, key=_PRESETS.index)
