"""Tests of words that no pattern can say: the small languages of sed and awk, and their like.

Rule: a test says yes only to what it knows.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from nacre.core.policy.words import Word

Check = Callable[[Sequence[Word]], bool]

# sed: an address, and commands that print, delete or replace text. `e` runs a program, `w` and `r`
# write and read files, and so do the flags e and w of s.
_ADDRESS = r"(?:\d+|\$|/(?:[^/\\\n]|\\.)*/I?|\\(.)(?:(?!\1).)*\1)"
_SED_COMMAND = (
    rf"\s*(?:{_ADDRESS}(?:\s*,\s*[+~]?{_ADDRESS})?\s*!?\s*)?"
    r"(?:[pdDPgGhHnNxq=lF]\d*"
    r"|s(?P<d%d>[^\w\s\\])(?:(?!(?P=d%d))[^\\\n]|\\.)*(?P=d%d)(?:(?!(?P=d%d))[^\\]|\\.)*(?P=d%d)[gpiImM0-9]*"
    r"|y(?P<y%d>[^\w\s\\])(?:(?!(?P=y%d))[^\\\n]|\\.)*(?P=y%d)(?:(?!(?P=y%d))[^\\]|\\.)*(?P=y%d)"
    r"|[aic]\\?\s?[^\n]*)\s*"
)


def _sed_expression() -> "re.Pattern[str]":
    def command(number: int) -> str:
        text = _SED_COMMAND.replace("%d", str(number))
        return text.replace(r"\\(.)(?:(?!\1).)*\1", r"\\#[^#]*#")  # one other delimiter will do

    one, two = command(1), command(2)
    more = "".join(rf"(?:[;\n]{command(index)})?" for index in range(3, 7))
    return re.compile(rf"(?:{one})(?:[;\n]{two})?{more};?\s*", re.DOTALL)


_SED = _sed_expression()
_SED_FLAGS = re.compile(
    r"-[nErsuz]+|-i|-ni|-i\.\w+|-Ei|-ri|--in-place(=\.\w+)?|--quiet|--silent|--regexp-extended"
    r"|--null-data|--separate|--unbuffered|--posix|--sandbox"
)
# awk: what runs a program, writes a file or reads a command.
_AWK_ACTS = re.compile(r"system|getline|[|>]|@\w|-f\b|ENVIRON|printf?\s*>|close\s*\(")
_AWK_SAFE = re.compile(r'"(?:[^"\\]|\\.)*"|/(?:[^/\\\n]|\\.)*/')
_TAR_LETTERS = re.compile(r"[cxtruzjJvfkpOmhlaZ]+")
_ADDRESSED = re.compile(r"\w+:/|(?:localhost|127\.0\.0\.1)(?:[:/]|$)")
_WEB = re.compile(r"(?:https?://|localhost|127\.0\.0\.1)[^@\s]*")
_AWK_FLAGS = re.compile(r"-F.*|-v\w+=.*|--field-separator=.*|--assign=\w+=.*|--csv|--posix")


def _sed(words: Sequence[Word]) -> bool:
    scripts: list[str] = []
    index = 0
    while index < len(words):
        text = words[index].text
        if text is None:
            if words[index].may_be_option or not scripts:
                return False
        elif text in ("-e", "--expression"):
            index += 1
            if index >= len(words) or words[index].text is None:
                return False
            scripts.append(words[index].text or "")
        elif text.startswith("--expression="):
            scripts.append(text.partition("=")[2])
        elif text.startswith("-") and len(text) > 1:
            if not _SED_FLAGS.fullmatch(text):
                return False
        elif not scripts:
            scripts.append(text)
        index += 1
    return bool(scripts) and all(_SED.fullmatch(script) for script in scripts)


def _awk(words: Sequence[Word]) -> bool:
    index, program = 0, None
    while index < len(words) and program is None:
        text = words[index].text
        if text is None:
            return False
        if text in ("-F", "-v", "--field-separator", "--assign"):
            index += 2
            continue
        if text.startswith("-") and len(text) > 1:
            if not _AWK_FLAGS.fullmatch(text):
                return False
            index += 1
            continue
        program = text
        index += 1
    if program is None or any(word.may_be_option for word in words[index:]):
        return False
    if any((word.text or "").startswith("-") for word in words[index:]):
        return False
    return not _AWK_ACTS.search(_without_comparisons(_AWK_SAFE.sub('""', program)))


def _without_comparisons(program: str) -> str:
    """Take out what only compares: > between two values within a condition, and ||."""
    program = program.replace("||", "  ").replace(">=", "  ")
    # In a pattern or a condition in parentheses > compares; in a print it would write a file.
    program = re.sub(r"\(([^(){};|]*)\)", lambda found: found.group(0).replace(">", " "), program)
    if "print" not in program:
        return program.replace(">", " ")
    head, brace, rest = program.partition("{")
    return head.replace(">", " ") + brace + rest


def _test(words: Sequence[Word]) -> bool:
    return all(word.text != "-v" for word in words)


def _no_script(words: Sequence[Word]) -> bool:
    """Only options, and one of them asks for the version or for help."""
    return len(words) == 1 and words[0].text in ("--version", "--help", "-V", "version", "help")


def _http(words: Sequence[Word]) -> bool:
    """Every word that is no option's is an address of the web's."""
    addresses = [word.text for word in words if word.text and _ADDRESSED.match(word.text)]
    return bool(addresses) and all(_WEB.fullmatch(address) for address in addresses)


def _tar(words: Sequence[Word]) -> bool:
    """No compressor of one's own in the old spelling (tar cIf), no archive on another machine."""
    first = (words[0].text if words else None) or "-"
    if not first.startswith("-") and not _TAR_LETTERS.fullmatch(first):
        return False
    return not any(":" in (word.text or word.lead) for word in words)


CHECKS: Mapping[str, Check] = {
    "sed": _sed,
    "awk": _awk,
    "tar": _tar,
    "test": _test,
    "version": _no_script,
    "http": _http,
}
