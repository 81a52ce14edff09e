"""What comes through a pipe: names of files, or anything; and who gets it.

Rule: a program that gets words from its input (xargs) may get options too. Only what lists files of
the workspace is known not to.
"""

import re

from tree_sitter import Node

from nacre.core.policy.grammar.spelling import text_of

_FILTERS = re.compile(r"(?:grep|egrep|sort|head|tail|uniq)\b(?:[^`$]|\$(?=['\"\s]))*")
_LISTS = re.compile(
    r"(?:find(?: [\w.][\w./-]*)* -|git ls-files|git diff\b.* --name-only|git grep -l|ls\b"
    r"|rg (?:\S+ )*(?:-l|--files\S*)|grep -\w*l|fd\b|fdfind\b)[^`$]*"
)
# They print what they are told, or lead elsewhere.
_ELSEWHERE = re.compile(r"-printf|-exec|-ok|-fprint|--format|--pretty|\.\.|(?:^|\s)['\"]?[/~]")


_TELLING = frozenset(("find", "echo", "printf", "ls"))


def fed_part(node: Node, name: str | None) -> tuple[int, int] | None:
    """Return the part of the line that reads what a command, or a here-string, has to say."""
    above = node.parent
    if node.type == "herestring_redirect":
        return None if above is None else (above.start_byte, above.end_byte)
    if name not in _TELLING:
        return None
    if above is not None and above.type == "redirected_statement":
        above = above.parent
    if above is None:
        return None
    if above.type == "pipeline":
        return node.end_byte, above.end_byte
    redirect = above.parent
    if above.type != "process_substitution" or redirect is None or redirect.parent is None:
        return None
    return redirect.parent.start_byte, redirect.parent.end_byte


def lists_files(command: Node) -> bool:
    """Return whether the commands before this one in its pipeline list files."""
    at: Node | None = command
    if at is not None and at.parent is not None and at.parent.type == "redirected_statement":
        at = at.parent
    if at is None or at.parent is None or at.parent.type != "pipeline":
        return False
    before = [child for child in at.parent.named_children if child.end_byte <= at.start_byte]
    if any(child.type not in ("command", "redirected_statement") for child in before):
        return False
    texts = [text_of(child).replace(" 2>/dev/null", "") for child in before]
    if not texts or not _LISTS.fullmatch(texts[0]) or _ELSEWHERE.search(texts[0]):
        return False
    return all(_FILTERS.fullmatch(text) for text in texts[1:])
