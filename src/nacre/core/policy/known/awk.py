"""awk's language: does a program only read its input and print?

gawk(1): system(), pipes and getline run programs, > behind a print writes a file, @ loads or calls.
Rule: one pass over the program; what cannot be read is not harmless.
"""

import re

_TOKEN = re.compile(
    r"""(?P<blank>[ \t\r]+|\\\n|\#[^\n]*)
    |(?P<end>[;{}\n])
    |(?P<string>"(?:[^"\\\n]|\\.)*")
    |(?P<number>\.?[0-9][0-9.eExX]*)
    |(?P<name>[A-Za-z_][A-Za-z_0-9]*)
    |(?P<pipe>\|\||>=|>>|.)""",
    re.VERBOSE | re.DOTALL,
)
_REGEX = re.compile(r"/(?:[^/\\\n\[]|\\.|\[\^?\]?[^\]\n/]*\])*/")
# Behind these a / divides.
_WORDS = frozenset(("print", "printf", "return", "in", "if", "while", "else", "do", "case"))
_ACTS = frozenset(("system", "getline", "close", "fflush", "function", "func"))


def only_prints(program: str) -> bool:
    """Return whether an awk program starts nothing and writes no file."""
    at = 0
    printing = divides = False
    depth = 0
    while at < len(program):
        if program[at] == "/" and not divides:
            regex = _REGEX.match(program, at)
            if regex is None:
                return False
            at, divides = regex.end(), True
            continue
        found = _TOKEN.match(program, at)
        if found is None:
            return False
        at, kind, text = found.end(), found.lastgroup, found.group(0)
        if kind == "blank":
            continue
        if text in _ACTS or text in ('"', "@", "|", ">>", "&>"):
            return False
        if kind == "end":
            printing, depth = False, 0
        elif text in ("print", "printf"):
            printing, depth = True, 0
        elif text in "()":
            depth += 1 if text == "(" else -1
        elif text == ">" and printing and depth <= 0:
            return False
        # A $ before a / would be a field's number, which nobody writes so.
        divides = kind in ("string", "number") or text in (")", "]")
        divides = divides or (kind == "name" and text not in _WORDS)
    return True
