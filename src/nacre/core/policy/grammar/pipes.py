"""What comes through a pipe: names of files, or anything; and who gets it.

Rule: a program that gets words from its input (xargs) may get options too. Only what lists files of
the workspace is known not to.
"""

import re

from tree_sitter import Node

from nacre.core.policy.grammar.listing import are_lists
from nacre.core.policy.grammar.spelling import text_of

_READS = re.compile(r"while (?:IFS= )?read(?: -r)? ([A-Za-z_]\w*);")
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


def is_fed(command: Node) -> bool:
    """Return whether a command reads what others print, or a file."""
    at: Node | None = command
    while at is not None and at.type != "command_substitution":
        above = at.parent
        if above is not None and above.type == "pipeline" and above.named_children[0] != at:
            return True
        if above is not None and above.type == "redirected_statement":
            for child in above.named_children:
                if child.type == "file_redirect" and "<" in _operator(child):
                    return not text_of(child).endswith("/dev/null")
        at = above
    return False


def _operator(redirect: Node) -> str:
    return "".join(text_of(child) for child in redirect.children if not child.is_named)


def lists_files(command: Node) -> bool:
    """Return whether the commands before this one in its pipeline list files, or names."""
    return are_lists(_before(command))


def reads_names(loop: Node) -> str | None:
    """Return the variable into which a `while read` takes files or names that programs print."""
    found = _READS.match(text_of(loop))
    return found[1] if found is not None and lists_files(loop) else None


def _before(command: Node) -> list[str]:
    """Return the commands before this one in its pipeline; empty: there is more than commands."""
    at: Node | None = command
    if at is not None and at.parent is not None and at.parent.type == "redirected_statement":
        at = at.parent
    if at is None or at.parent is None or at.parent.type != "pipeline":
        return []
    if any(_is_read(one) for one in (command, at, at.parent.parent) if one is not None):
        return []  # it reads a file or a text instead
    before = [child for child in at.parent.named_children if child.end_byte <= at.start_byte]
    if any(child.type not in ("command", "redirected_statement") for child in before):
        return []
    return [text_of(child).replace(" 2>/dev/null", "") for child in before]


def _is_read(node: Node) -> bool:
    """Return whether a redirection of its own gives it its input."""
    return any(
        child.type in ("herestring_redirect", "heredoc_redirect")
        or (child.type == "file_redirect" and "<" in _operator(child))
        for child in node.named_children
    )
