"""What stands left of the cursor in a REPL: its prompt, a question of code, or a line to go on.

Rule 1: a prompt is what stands left of the cursor. Numbers in it count: In [3]: is In [4]:.
Rule 2: one that is not in the table (repls.py) is known by the prompt that was typed at.
"""

import re
from typing import Literal

from nacre.core.shell.repls import GENERIC, Repl, matches, repl_at
from nacre.late_pattern import late_pattern

Place = Literal["prompt", "more"]
_SHARED = 3  # characters that two forms of a prompt begin with: user and host, or a folder
_NUMBER = late_pattern(r"\d+")
_FOLDER = late_pattern(r"[~/][^\s#$%>\])]*")


def prompt_in(repl: Repl, line: str) -> str:
    """Return the prompt at the end of a line, where a known one stands behind text."""
    shown = line.rstrip()
    if repl.prompt is None:
        return line
    if not repl.prompt.pattern:
        return ""  # whatever was printed last
    if matches(repl.prompt, shown) or matches(repl.more, shown):
        return line
    found = re.search(f"(?:{repl.prompt.pattern})$", shown)
    return found.group() if found is not None else line


def is_prompt(program: str | None, line: str) -> bool:
    """Whether a line is the prompt of the program, or of a debugger or console in it."""
    repl = repl_at(program, line)
    if repl is GENERIC:
        return False
    if repl.prompt is not None and not repl.prompt.pattern:
        return True  # it has none, whatever was printed last
    return _shows(repl, line.rstrip())


def is_at(program: str | None, known: str, line: str) -> bool:
    """Whether the prompt of a REPL is back that it was typed at, or waits for the rest."""
    repl, shown, asked = repl_at(program, known), line.rstrip(), prompt_pattern(known)
    return bool(asked) and (
        prompt_pattern(line).endswith(asked) or (bool(shown) and matches(repl.more, shown))
    )


def listens_always(program: str, *, draws_again: bool = False) -> bool:
    """Whether a REPL listens to the terminal also while it computes: only its prompt tells.

    With `draws_again` of those alone that draw their prompt again below what is printed later.
    """
    repl = repl_at(program, "")
    return repl.always_reads and not (draws_again and repl.drawn is not None)


def asks_for_more(program: str | None, line: str) -> bool:
    """Whether a known REPL waits for the rest of its input."""
    repl, shown = repl_at(program, line), line.rstrip()
    known = repl is not GENERIC and bool(shown) and not matches(repl.prompt, shown)
    return known and matches(repl.more, shown)


def place_of(repl: Repl, first: str, line: str) -> Place | None:
    """Tell the prompt from the wait for the rest and from anything else; `first` was typed at.

    What was printed without a line's end stands before the prompt.
    """
    shown, asked = prompt_pattern(line), prompt_pattern(first)
    if shown == asked or matches(repl.prompt, line.rstrip()):
        return "prompt"
    if repl.moves and matches(_in_any_folder(first), line.rstrip()):
        return "prompt"
    if matches(repl.more, line.rstrip()):
        return "more"
    return "prompt" if shown.endswith(asked) else None


def counted_on(repl: Repl, first: str, line: str) -> bool:
    """Whether the number of a prompt follows that of the one typed at.

    It does not after an error, or where the REPL was started anew.
    """
    before, now = _NUMBER.findall(first), _NUMBER.findall(line)
    if not repl.counts or not (before and now):
        return True
    return int(now[-1]) - int(before[-1]) == 1


def shown_by_code(program: str | None, first: str, line: str) -> bool:
    """Whether code in this REPL can show such a line as the REPL does its prompt."""
    repl = repl_at(program, line)
    if repl.alike is None or not (program and repl.named(program)):
        return False
    shown = line.rstrip()
    if matches(repl.prompt, shown) and not matches(repl.alike, shown):
        return False
    found = re.search(f"(?:{repl.alike.pattern})$", shown)
    return found is not None and prompt_pattern(found.group()) == prompt_pattern(first)


def without_prompt(repl: Repl, first: str, line: str) -> str:
    """Return what stands before the prompt in a line that `place_of` knows."""
    shown, asked = line.rstrip(), prompt_pattern(first)
    if prompt_pattern(shown) == asked or matches(repl.more, shown) or matches(repl.prompt, shown):
        return ""
    if asked and shown.endswith(first.rstrip()):
        return shown.removesuffix(first.rstrip())
    if repl.moves and matches(_in_any_folder(first), shown):
        return ""
    begins = (at for at in range(len(shown)) if shown[at] != " ")
    return next((shown[:at] for at in begins if prompt_pattern(shown[at:]) == asked), shown)


def prompt_pattern(prompt: str) -> str:
    """A prompt may count: In [3]: is the same prompt as In [4]:."""
    return _NUMBER.sub("0", prompt.strip())


def is_same_prompt(known: str, shown: str, *, sure: bool = False) -> bool:
    """Whether a shell's prompt is one that is known: in another folder, or behind some output.

    `sure` says that a prompt stands there, and only whose is asked: it may show an exit code too.
    """
    known, shown = prompt_pattern(known), prompt_pattern(shown)
    if not known or not shown:
        return known == shown
    if known.endswith(shown) or shown.endswith(known):
        return True
    elsewhere = _in_any_folder(known)
    if elsewhere is not None and elsewhere.fullmatch(shown):
        return True
    return sure and known[-1] == shown[-1]


def without_shell_prompt(known: str, line: str) -> str:
    """Return what stands before a shell's prompt in a line; `is_same_prompt` knows the prompt.

    In doubt it is output: what begins otherwise than the prompt, up to what both end with.
    """
    known, line = known.strip(), line.rstrip()
    elsewhere = _in_any_folder(known)
    if line.endswith(known):
        return line.removesuffix(known)
    if known.endswith(line) or prompt_pattern(known) == prompt_pattern(line):
        return ""
    if elsewhere is not None and elsewhere.fullmatch(prompt_pattern(line)):
        return ""
    if _equal_at_first(known, line) >= _SHARED:
        return ""
    return line[: len(line) - _equal_at_first(known[::-1], line[::-1])]


def _equal_at_first(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _in_any_folder(prompt: str) -> re.Pattern[str] | None:
    """Return how a prompt with a folder in it looks after a change of folder."""
    around = _FOLDER.split(prompt_pattern(prompt))
    if len(around) == 1:
        return None
    return re.compile(_FOLDER.pattern.join(map(re.escape, around)).replace("0", r"\d+"))


def _shows(repl: Repl, shown: str) -> bool:
    return matches(repl.prompt, shown) or (bool(shown) and matches(repl.more, shown))
