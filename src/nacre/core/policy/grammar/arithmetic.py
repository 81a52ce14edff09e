"""Where the shell calculates: a variable's text is read as an expression, and may run commands.

x='a[$(rm y)]'; echo $((x)) runs rm. So a line that calculates with what it got from a program, a
file or the keyboard has no proof, unless that program prints numbers and nothing else.
"""

import re
from collections.abc import Iterator

from tree_sitter import Node

from nacre.core.policy.grammar.spelling import text_of
from nacre.core.policy.words import Assignment

# A command that stands as text, plain or in an escape of printf's, echo's or $'…'.
CODE = re.compile(r"\$\(|`|\\(?:x24|0?44|u0*24|U0*24|x60|0?140|u0*60|U0*60)")
_RUNS = re.compile(r"\$\(|`")
_MISCOUNTED = re.compile(r"\bcase\b|#|<<")  # in which a parenthesis may stand alone
_BASE = re.compile(r"\b\d{1,2}#(?=\w)")  # of a number: 16#ff
_NAME = re.compile(r"[A-Za-z_]\w*")
_COMPARES = re.compile(r"\s-(?:eq|ne|lt|le|gt|ge)\s")
_NAMES_A_VARIABLE = re.compile(r"\s-v\s")
_NUMBERS = re.compile(
    r"\"?\$\((?:[^`;&]*\|\s*)?(?:wc|nproc|seq|date|bc|tput|id -u|stat -c ?['\"]?%s|grep -c"
    r"|git rev-list --count)\b[^|;&`]*\)\"?|\"?\$\(\(.*\)\)\"?|\"?\$[#?!]\"?|\"?\$\{#.*\}\"?",
    re.DOTALL,
)


def _printed_in(node: Node) -> Iterator[str]:
    """Yield the outermost commands whose output the shell calculates with."""
    waiting = list(node.children)
    while waiting:
        child = waiting.pop()
        if child.type == "command_substitution":
            yield text_of(child)
        else:
            waiting += child.children


class Calculations:
    """What a line calculates with, and which of its variables nobody knows."""

    def __init__(self) -> None:
        self.calculates = False
        self.code_as_text = False  # somewhere `$(` stands as text
        self._used: set[str] = set()
        self._unknown: set[str] = set()

    def see(self, node: Node) -> str | None:
        """Take note of a part of a line in which the shell calculates; return a doubt of it."""
        self.calculates = True
        text = text_of(node)
        if node.type == "subscript":
            text = text.partition("[")[2]
        if node.type == "test_command" and not text.startswith("(("):
            own = text
            for printed in _printed_in(node):
                own = own.replace(printed, "")
            if _NAMES_A_VARIABLE.search(own):
                return "-v calculates an index"
            if not _COMPARES.search(text) or not text.startswith("[["):
                return None
        self._used.update(_NAME.findall(text))
        # The shell counts the parentheses of $(( first; if they do not fit, it runs the text.
        if _RUNS.search(text) and (
            _MISCOUNTED.search(_BASE.sub("", text)) or text.count("(") != text.count(")")
        ):
            return "its parentheses may be read as commands"
        if any(not _NUMBERS.fullmatch(printed) for printed in _printed_in(node)):
            return "it calculates with what a program prints"
        return None

    def assigned(self, assignment: Assignment) -> None:
        value = assignment.value
        if value.text is None and not _NUMBERS.fullmatch(value.raw):
            self._unknown.add(assignment.name)

    def doubt(self) -> str | None:
        if self.calculates and self.code_as_text:
            return "it may calculate with a text that holds a command"
        if self._used & self._unknown:
            return "it calculates with a text that is known only when it runs"
        return None
