"""Two names for one program: npm exec and npx, bun x and bunx, uv tool run and uvx."""

from nacre.core.policy.words import Word, literal

_SAME = {
    ("npm", "exec"): "npx",
    ("npm", "x"): "npx",
    ("bun", "x"): "bunx",
    ("uv", "tool", "run"): "uvx",
}


def same_program(name: str, words: tuple[Word, ...]) -> tuple[str, tuple[Word, ...]] | None:
    """Return the other name and the words for it; None: there is none."""
    for spelled, other in _SAME.items():
        texts = (name, *(word.text for word in words[1 : len(spelled)]))
        if texts == spelled:
            rest = words[len(spelled) :]
            dashed = bool(rest) and rest[0].text == "--"
            if name == "npm" and not dashed:
                return None  # it takes options for itself up to the dashes, wherever they stand
            return other, (literal(other), *rest[int(dashed) :])
    return None
