"""Two spellings of one thing: npm exec and npx, uv tool run and uvx, /p:X=y and -p:X=y."""

import re

from nacre.core.policy.words import Word, literal

_SAME = {
    ("npm", "exec"): "npx",
    ("npm", "x"): "npx",
    ("bun", "x"): "bunx",
    ("uv", "tool", "run"): "uvx",
}

# msbuild's switches begin with a slash on every system; a folder of that name has no such end.
_SWITCHED = frozenset(("dotnet", "msbuild"))
_SWITCH = re.compile(
    r"/(?:warnaserror|nologo|restore|m|maxcpucount|(?:p|property|v|verbosity|clp|m|nr):[^/]*)"
)


def same_program(name: str, words: tuple[Word, ...]) -> tuple[str, tuple[Word, ...]] | None:
    """Return the other name and the words for it; None: there is none."""
    if name in _SWITCHED and any(_SWITCH.fullmatch(word.text or "") for word in words):
        return name, tuple(_switched(word) for word in words)
    for spelled, other in _SAME.items():
        texts = (name, *(word.text for word in words[1 : len(spelled)]))
        if texts == spelled:
            rest = words[len(spelled) :]
            dashed = bool(rest) and rest[0].text == "--"
            if name == "npm" and not dashed:
                return None  # it takes options for itself up to the dashes, wherever they stand
            return other, (literal(other), *rest[int(dashed) :])
    return None


def _switched(word: Word) -> Word:
    text = word.text or ""
    return literal(f"-{text[1:]}") if _SWITCH.fullmatch(text) else word
