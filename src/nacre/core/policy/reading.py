"""Read a shell line: the commands in it, and what its text does not tell.

The grammar is tree-sitter's for bash. A parser is no boundary, and this one accepts lines that bash
reads otherwise. So the walk is fail-closed:

Rule 1: nothing is passed over. A kind of node that is not listed here, text between two nodes that
is not blank, and a leaf in which the shell would still expand something are doubts.
Rule 2: a doubt takes a line its proof, and nothing else: its commands are read all the same,
because one of them may be forbidden.
Rule 3: the walk has no recursion that a line could make deep, and a line has a longest length.
"""

import re
from functools import cache
from itertools import islice

from tree_sitter import Language, Parser

from nacre.core.policy.grammar.line import LineReading
from nacre.core.policy.grammar.rough import MOST_ROUGH, is_too_dense, rough_commands
from nacre.core.policy.grammar.signs import Syntax, odd_signs
from nacre.core.policy.grammar.walk import Walk

MOST_BYTES = 16 * 1024  # of a line; longer ones are scripts, which nobody reads before they run
_TIMED = re.compile(rb"((?:^|[;&|({\n]|\bdo|\bthen|\belse)[ \t]*)(time[ \t]+(?:-p[ \t]+)?)(?=[({])")
# The grammar loses the string of >f <<<x.
_STRING_LAST = re.compile(
    rb"(>>?[ \t]*[\w./-]+)([ \t]+)(<<<[ \t]*(?:\"[^\"$`\\]*\"|'[^']*'|[\w./-]+))"
    rb"(?=[ \t]*(?:$|[;&|\n)]))"
)


def read_line(line: str, syntax: Syntax = "posix") -> LineReading:
    """Read a line, or several. It never raises: what it does not understand is a doubt."""
    reading = LineReading()
    data = line.encode(errors="replace")
    if len(data) > MOST_BYTES:
        reading.doubt(f"it is longer than {MOST_BYTES} bytes")
        data = data[:MOST_BYTES]
    for why in odd_signs(line, syntax):
        reading.doubt(why)
    text = data.decode(errors="replace")
    if is_too_dense(text):
        reading.doubt("it is too long or too deep")
        reading.commands += islice(rough_commands(text), MOST_ROUGH)
        return reading
    if syntax != "fish" and b"time" in data:
        # A reserved word, of which the grammar knows nothing before a group.
        data = _TIMED.sub(lambda found: found[1] + b" " * len(found[2]), data)
    if b"<<" in data:
        data = _STRING_LAST.sub(rb"\3\2\1", data)
    tree = _parser().parse(data)
    Walk(reading, data, syntax).walk(tree.root_node)
    return reading


@cache
def _parser() -> Parser:
    # Loaded here: a daemon whose policy judges nothing does without it.
    import tree_sitter_bash

    return Parser(Language(tree_sitter_bash.language()))
