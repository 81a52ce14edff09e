"""Walk the tree of a line: its commands, redirections and assignments, and what is doubtful in it.

Rule: nothing is passed over (reading.py says why). What is not listed in nodes.py is a doubt.
"""

import re
from collections.abc import Sequence
from itertools import islice

from tree_sitter import Node

from nacre.core.policy.grammar.arithmetic import CODE, Calculations
from nacre.core.policy.grammar.documents import (
    document_of,
    has_lost_dash,
    is_where_it_says,
    with_code,
)
from nacre.core.policy.grammar.folders import reach_of
from nacre.core.policy.grammar.forks import starts_copies
from nacre.core.policy.grammar.line import LineReading
from nacre.core.policy.grammar.listing import with_names
from nacre.core.policy.grammar.nodes import (
    BLOCKS,
    CALCULATING,
    EXPANDED,
    KINDS,
    READING,
    REPEATING,
    RESERVED,
)
from nacre.core.policy.grammar.pipes import fed_part, is_fed, lists_files, reads_names
from nacre.core.policy.grammar.rough import MOST_ROUGH, rough_commands
from nacre.core.policy.grammar.signs import Syntax
from nacre.core.policy.grammar.spelling import Speller, text_of
from nacre.core.policy.grammar.values import Values
from nacre.core.policy.words import (
    FOLDER_COMMANDS,
    UNKNOWN,
    Assignment,
    Feed,
    Reach,
    Redirect,
    SimpleCommand,
    Word,
    literal,
)

_MOST_NODES = 1500
_MOST_DEPTH = 60

_HIDDEN = re.compile(r"\$[({]|`|[<>]\(")  # what is still to be expanded or run
_ESCAPED = re.compile(r"\\.", re.DOTALL)
# ${name}, ${name[@]}, ${#name} and the operators that only change text.
_EXPANSION = re.compile(
    r"\$\{#?(?:[A-Za-z_]\w*|[0-9@*#?$!-])(?:\[[@*\w]*\])?"
    r"(?:(?::?[-+?]|%%?|##?|\^\^?|,,?|/[/#%]?).*|: ?-?\d+(?:: ?-?\d+)?|@[QUuLEA])?\}",
    re.DOTALL,
)
_DELIMITER = re.compile(r"""[A-Za-z_]\w*|'[A-Za-z_]\w*'|"[A-Za-z_]\w*"|\\[A-Za-z_]\w*""")
_SENDING = frozenset(("ssh", "/usr/bin/ssh"))
_NAME = re.compile(r"[A-Za-z_]\w*")


class Walk:
    def __init__(self, reading: LineReading, data: bytes, syntax: Syntax) -> None:
        self._reading = reading
        self._data = data
        self._syntax = syntax
        self._calculations = Calculations()
        self._documents: list[Node] = []
        self._values = Values(data)
        self._speller = Speller(data, reading.doubt, self._note_text)

    def walk(self, root: Node) -> None:
        reading = self._reading
        if root.has_error:
            reading.doubt("it is no complete line of the shell's")
            text = self._data.decode(errors="surrogateescape")
            reading.commands += islice(rough_commands(text), MOST_ROUGH)
        stack = [(root, 0)]
        seen = 0
        while stack:
            node, depth = stack.pop()
            seen += 1
            if seen > _MOST_NODES or depth > _MOST_DEPTH:
                reading.doubt("it is too long or too deep")
                break
            children = node.children
            self._check(node, children)
            # The order of the line: a later command may run what an earlier one wrote.
            stack.extend((child, depth + 1) for child in reversed(children))
        for command in reading.commands:
            for assignment in command.assignments:
                self._calculations.assigned(assignment)
        if why := self._calculations.doubt():
            reading.doubt(why)
        reading.commands.sort(key=lambda command: command.at)

    # --- one node --------------------------------------------------------------------------

    def _check(self, node: Node, children: Sequence[Node]) -> None:
        kind = node.type
        if node.is_missing or node.is_error:
            self._reading.doubt("it is no complete line of the shell's")
            return
        if not node.is_named:
            if kind == "((" and node.parent is not None:
                self._calculation(node.parent)
            elif kind == "&":
                self._reading.repeats = True
            return
        if kind not in KINDS:
            self._reading.doubt(f"it has a part that is not read here ({kind.replace('_', ' ')})")
            return
        if kind in REPEATING:
            self._reading.repeats = True
        if children:
            self._check_gaps(node, children)
        elif kind in EXPANDED:
            self._check_leaf(text_of(node))
        handler = _HANDLERS.get(kind)
        if handler is not None:
            handler(self, node)

    def _check_leaf(self, text: str) -> None:
        if _HIDDEN.search(_ESCAPED.sub("", text)):
            self._reading.doubt("it has an expansion that the parser did not see")

    def _check_gaps(self, node: Node, children: Sequence[Node]) -> None:
        """Between two nodes stand only blanks; in quoted text also what no leaf has."""
        quoted = node.type in ("string", "heredoc_body")
        at = node.start_byte
        lost_dash = node.type == "redirected_statement" and has_lost_dash(children[0], self._data)
        for index, child in enumerate(children):
            if child.start_byte > at and not (lost_dash and index == 1):
                self._check_gap(node, self._data[at : child.start_byte], quoted=quoted)
            at = max(at, child.end_byte)
        if at < node.end_byte:
            self._check_gap(node, self._data[at : node.end_byte], quoted=quoted)

    def _check_gap(self, node: Node, gap: bytes, *, quoted: bool) -> None:
        text = gap.decode(errors="replace")
        if quoted:
            self._check_leaf(text)
            return
        rest = text.replace("\\\n", "")
        if rest.strip():
            self._reading.doubt("it has text that the parser left out")
        elif "\n" in rest and node.type in ("command", "concatenation", "file_redirect"):
            self._reading.doubt("a command goes over the end of a line")

    # --- what is more than a holder --------------------------------------------------------

    def _command(self, node: Node) -> None:
        for values in self._values.ways(node):
            self._speller.values = values
            self._one_command(node)
        self._speller.values = {}

    def _one_command(self, node: Node) -> None:
        words: list[Word] = []
        assignments: list[Assignment] = []
        for child in node.named_children:
            kind = child.type
            if kind == "variable_assignment":
                assignments.append(self._assigned(child))
            elif kind == "command_name":
                inner = child.named_children
                words.append(self._speller.word(inner[0] if len(inner) == 1 else child))
            elif kind in ("file_redirect", "herestring_redirect", "heredoc_redirect"):
                continue
            elif kind == "comment":
                self._reading.doubt("a comment stands within a command")
            elif self._syntax == "posix":
                words += self._speller.words(child)
            else:
                words.append(self._speller.word(child))
        reach = Reach()
        if words and has_lost_dash(node, self._data):
            words.append(literal("-"))
        if words:
            words = with_code(node, words)
            self._check_name(words[0])
            if words[0].text in READING:
                names = [Assignment(word.text or "", UNKNOWN) for word in words[1:]]
                self._reading.commands.append(SimpleCommand((), tuple(names), node.start_byte))
            if any(word.text in FOLDER_COMMANDS for word in words[:3]):
                reach = reach_of(node)
            if (
                words[0].text in ("echo", "printf")
                and node.parent
                and node.parent.type == "pipeline"
            ):
                # A shell at the pipe's end would run it.
                text = " ".join(word.text or "" for word in words[1:])
                self._reading.scripts.append(text.replace("\\n", "\n"))
        if words and (part := fed_part(node, words[0].text)) is not None:
            self._reading.feeds.append(Feed(tuple(words), *part))
        if any(word.text in _SENDING for word in words[:3]) and is_fed(node):
            self._reading.doubt("what it reads would leave the machine")
        fed = any(word.text == "xargs" for word in words[:3]) and lists_files(node)
        self._reading.commands.append(
            SimpleCommand(tuple(words), tuple(assignments), node.start_byte, reach, fed)
        )

    def _check_name(self, name: Word) -> None:
        if name.text in CALCULATING:
            self._calculations.calculates = True
        if self._values.forget(name.text):
            self._reading.doubt(f"{name.text} may change a variable of the line's")
        if name.text in RESERVED:
            self._reading.doubt(f"{name.text!r} stands where a command is expected")

    def _declaration(self, node: Node) -> None:
        """export, declare, unset and their like: builtins with a grammar of their own."""
        keyword = node.children[0]
        words = [Word(text_of(keyword), text_of(keyword))]
        self._check_name(words[0])
        assignments = []
        for child in node.named_children:
            if child.type == "variable_assignment":
                assignments.append(self._assigned(child))
            elif child.type == "variable_name":
                words.append(Word(text_of(child), text_of(child)))
            else:
                words.append(self._speller.word(child))
        self._reading.commands.append(
            SimpleCommand(tuple(words), tuple(assignments), node.start_byte)
        )

    def _assignment(self, node: Node) -> None:
        parent = node.parent
        if parent is not None and parent.type in ("command", "declaration_command"):
            return
        assigned = self._assigned(node)
        self._reading.commands.append(SimpleCommand((), (assigned,), node.start_byte))
        if self._syntax == "posix" and node.named_children[0].type == "variable_name":
            self._values.assigned(node, assigned)

    def _assigned(self, node: Node) -> Assignment:
        name, *rest = node.named_children
        if name.type == "subscript":
            self._calculations.calculates = True
        value = self._speller.word(rest[-1]) if rest else Word("", "")
        found = _NAME.match(text_of(name))
        return Assignment(found.group(0) if found else text_of(name), value)

    def _redirect(self, node: Node) -> None:
        targets = [child for child in node.named_children if child.type != "file_descriptor"]
        operator = "".join(text_of(child) for child in node.children if not child.is_named)
        if len(targets) > 1:
            self._reading.doubt("a redirection has more than one target")
        if not targets and "&" not in operator:
            self._reading.doubt("a redirection has no target")
        above = node.parent
        if above is not None and above.type == "heredoc_redirect":
            above = above.parent  # it stands behind the document's operator
        begin = node.start_byte if above is None else above.start_byte
        if above is not None and above.type == "redirected_statement" and above.children[0] == node:
            # Without a command it is the same as with one that does nothing.
            self._reading.commands.append(SimpleCommand((literal(":"),), (), begin))
        for values in self._values.ways(node):
            self._speller.values = values
            target = self._speller.word(targets[0]) if targets else Word("-", "-")
            if target.text is None and (named := with_names(target.raw.strip('"'))):
                target = target._replace(text=named)
            if target.globs and ">" in operator:
                self._reading.doubt("a redirection's target is a pattern")
            self._reading.redirects.append(Redirect(operator, target, node.start_byte, begin))
        self._speller.values = {}

    def _herestring(self, node: Node) -> None:
        word = self._speller.word(node.named_children[-1]) if node.named_children else UNKNOWN
        self._reading.redirects.append(Redirect("<<<", word, node.start_byte, 0))
        if word.text is not None:
            self._reading.scripts.append(word.text)
            if (part := fed_part(node, None)) is not None:
                self._reading.feeds.append(Feed((literal("echo"), literal(word.text)), *part))

    def _heredoc(self, node: Node) -> None:
        self._documents.append(node)
        if len(self._documents) > 1 and not all(
            is_where_it_says(one, self._data) for one in self._documents[-2:]
        ):
            self._reading.doubt("it has several here-documents, and which is whose is not known")
        starts = [child for child in node.named_children if child.type == "heredoc_start"]
        if len(starts) != 1 or not _DELIMITER.fullmatch(text_of(starts[0])):
            self._reading.doubt("a here-document has an odd delimiter")
            return
        quoted = not text_of(starts[0])[0].isalpha() and text_of(starts[0])[0] != "_"
        for child in node.named_children:
            if child.type == "heredoc_body":
                text = text_of(child)
                self._reading.scripts.append(text)
                self._note_text(text)
                # A document without quotes around its delimiter is expanded. The grammar shows
                # what it saw of that; it overlooks backticks, and all of it behind a tab (<<-).
                seen = child.named_child_count > 0
                if not quoted and ("`" in text or not seen):
                    self._check_leaf(text)
        whole = document_of(node)
        target = UNKNOWN if whole is None else literal(whole)
        begin = 0 if node.parent is None else node.parent.start_byte
        self._reading.redirects.append(Redirect("<<", target, node.start_byte, begin))

    def _function(self, node: Node) -> None:
        names = [child for child in node.named_children if child.type == "word"]
        if not names:
            self._reading.doubt("a function has no name")
            return
        name = text_of(names[0])
        self._reading.functions.add(name)
        if starts_copies(node, name):
            self._reading.forks_itself = name

    def _expansion(self, node: Node) -> None:
        text = text_of(node).lstrip(" \t")  # the grammar counts blanks before it in a string
        if not _EXPANSION.fullmatch(text):
            self._reading.doubt(f"what {text[:40]} stands for is not known")

    def _substitution(self, node: Node) -> None:
        text = text_of(node)
        if text.startswith("`") and "\\" in text:
            # The shell takes a layer of backslashes away before it reads the rest.
            self._reading.doubt("a backslash between backticks is read twice")

    def _comment(self, node: Node) -> None:
        parent = node.parent
        if self._syntax == "zsh":
            self._reading.doubt("an interactive zsh may run what stands behind a #")
        if parent is None or parent.type not in BLOCKS:
            self._reading.doubt("a comment stands within a command")

    def _calculation(self, node: Node) -> None:
        if why := self._calculations.see(node):
            self._reading.doubt(why)

    def _for(self, node: Node) -> None:
        names = [child for child in node.named_children if child.type == "variable_name"]
        items = [one for one in node.named_children[1:] if one.type != "do_group"]
        words = tuple(word for one in items for word in self._speller.words(one))
        plain = bool(words) and all(word.text is not None and not word.globs for word in words)
        value = words[0] if plain else UNKNOWN
        assigned = tuple(Assignment(text_of(name), value) for name in names[:1])
        self._reading.commands.append(SimpleCommand((), assigned, node.start_byte))
        if assigned and self._syntax == "posix" and node.children[0].type == "for":
            self._values.rounds(node, assigned[0].name, words)

    def _while(self, node: Node) -> None:
        if self._syntax == "posix" and (name := reads_names(node)) is not None:
            self._values.lines(node, name)

    def _subshell(self, node: Node) -> None:
        # Two parentheses are arithmetic to the shell first, whatever the parser makes of them: the
        # quotes in it count for nothing then, and what they hold runs.
        if self._data[: node.start_byte].replace(b"\\\n", b"").endswith(b"("):
            self._reading.doubt("its parentheses may be read as a calculation")

    def _quoted(self, node: Node) -> None:
        self._note_text(text_of(node))

    def _note_text(self, text: str) -> None:
        if CODE.search(text):
            self._calculations.code_as_text = True


_HANDLERS = {
    "command": Walk._command,
    "declaration_command": Walk._declaration,
    "unset_command": Walk._declaration,
    "variable_assignment": Walk._assignment,
    "file_redirect": Walk._redirect,
    "herestring_redirect": Walk._herestring,
    "heredoc_redirect": Walk._heredoc,
    "function_definition": Walk._function,
    "expansion": Walk._expansion,
    "command_substitution": Walk._substitution,
    "subshell": Walk._subshell,
    "comment": Walk._comment,
    "test_command": Walk._calculation,
    "subscript": Walk._calculation,
    "arithmetic_expansion": Walk._calculation,
    "c_style_for_statement": Walk._calculation,
    "for_statement": Walk._for,
    "while_statement": Walk._while,
    "raw_string": Walk._quoted,
    "ansi_c_string": Walk._quoted,
}
