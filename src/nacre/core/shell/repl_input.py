"""What is typed into a REPL for a command: its lines, as that REPL must get them.

Rule 1: a REPL that cannot be brought out of an open statement gets none: what is incomplete is
known before it is typed.
Rule 2: these scanners look for strings, comments and brackets, and know no more of a language.
"""

import re

from msgspec import Struct

from nacre.late_pattern import late_pattern


class IncompleteInput(Exception):
    """The command would leave the REPL waiting for the rest."""


def each_line(command: str) -> list[str]:
    return command.split("\n")


def one_paste(command: str) -> list[str]:
    return [command]


# --- Python --------------------------------------------------------------------------------

_OPENS_BLOCK = late_pattern(r"(?:@|(?:if|for|while|with|try|def|class|async)\b|.*:\s*(?:#.*)?$)")
_GOES_ON = late_pattern(r"(?:else|elif|except|finally)\b")


def python_lines(command: str) -> list[str]:
    """A blank line ends a block there: leave out those within it, and put one behind it."""
    found: list[str] = []
    scan = _Scan(_PYTHON)
    block = decorated = False
    for line in command.split("\n"):
        if scan.is_open:  # within a string or brackets
            found.append(line)
            scan.read(line)
            continue
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if not line[0].isspace():
            if block and not decorated and not _GOES_ON.match(line):
                found.append("")
                block = False
            decorated = line.startswith("@")
            block = block or _OPENS_BLOCK.match(line) is not None
        found.append(line)
        scan.read(line)
    return [*found, ""] if block else found or [""]


# --- Ruby ----------------------------------------------------------------------------------

_RUBY_GOES_ON = late_pattern(r"\s|$|(?:end|else|elsif|when|in|rescue|ensure)\b|[\])}.]")


def ruby_pastes(command: str) -> list[str]:
    """Lines that belong together are one paste: what is typed there is indented by the editor.

    It shows the value of a paste's last statement only: so each statement is one of its own.
    """
    if "<<" in command:  # a text may follow, of which any line may stand at the margin
        return [command]
    groups: list[str] = []
    for line in command.split("\n"):
        if groups and _RUBY_GOES_ON.match(line):
            groups[-1] += "\n" + line
        else:
            groups.append(line)
    return [group.rstrip("\n") for group in groups]


# --- Haskell -------------------------------------------------------------------------------

_HASKELL_NAME = late_pattern(r"[a-z_][\w']*(?=\s.*=|\s*::|\s*=)")


def haskell_lines(command: str) -> list[str]:
    """Lines that belong together, as a function's, are put between :{ and :}."""
    groups: list[list[str]] = []
    before = None
    for line in command.split("\n"):
        if not line.strip():
            continue
        found = _HASKELL_NAME.match(line)
        name = found.group() if found else None
        if groups and (line[0].isspace() or (name is not None and name == before)):
            groups[-1].append(line)
        else:
            groups.append([line])
            before = name
    if ":{" in command:
        return command.split("\n")
    return [
        line for group in groups for line in (group if len(group) == 1 else [":{", *group, ":}"])
    ]


# --- what must be complete before it is typed ----------------------------------------------


_TRIGGER = late_pattern(r"create\s+(?:temp(?:orary)?\s+)?trigger\b", re.IGNORECASE)
_END = late_pattern(r"\bend\s*;\s*$", re.IGNORECASE)


def sql_lines(command: str) -> list[str]:
    """Raises IncompleteInput for a statement without its semicolon."""
    if not command.lstrip().startswith("."):
        _require_end(command, _SQL, ";")
        if _TRIGGER.search(command) and not _END.search(command):
            raise IncompleteInput("the trigger has no END;")
    return command.split("\n")


def erlang_lines(command: str) -> list[str]:
    """Each expression by itself, line by line: behind each comes a prompt.

    Raises IncompleteInput for an expression without its full stop.
    """
    _require_end(command, _ERLANG, ".")
    found: list[str] = []
    scan = _Scan(_ERLANG)
    for line in command.split("\n"):
        begin = at = 0
        for stop in _FULL_STOP.finditer(line) if "%" not in line else ():
            scan.read(line[at : stop.end()])
            at = stop.end()
            if not scan.is_open and scan.last.endswith("."):
                found.append(line[begin:at].rstrip())
                begin = at
        scan.read(line[at:])
        if line[begin:].strip():
            found.append(line[begin:])
    return found


def lisp_lines(command: str) -> list[str]:
    """Raises IncompleteInput for brackets that are open."""
    _require_end(command, _LISP)
    return command.split("\n")


def ocaml_lines(command: str) -> list[str]:
    """Raises IncompleteInput for a phrase without its two semicolons."""
    _require_end(command, _OCAML, ";;")
    return command.split("\n")


def tcl_lines(command: str) -> list[str]:
    """Raises IncompleteInput for braces, brackets and quotes that are open."""
    _require_end(command, _TCL)
    return command.split("\n")


def script_paste(command: str) -> list[str]:
    """JavaScript as one paste. Raises IncompleteInput for what is open in it."""
    _require_end(command, _JAVASCRIPT)
    return [command]


def php_lines(command: str) -> list[str]:
    """Raises IncompleteInput for a statement that is open."""
    _require_end(command, _PHP, ";", "}")
    return command.split("\n")


def bracket_lines(command: str) -> list[str]:
    """Raises IncompleteInput for brackets and strings that are open.

    Within a string or comment bc reads elsewhere, as code does that asks: its lines stay together.
    """
    _require_end(command, _C)
    scan = _Scan(_C)
    parts: list[str] = []
    within = False
    for line in command.split("\n"):
        parts.append(f"{parts.pop()}\n{line}" if within else line)
        scan.read(line)
        within = scan.in_string
    return parts


def dc_lines(command: str) -> list[str]:
    """Raises IncompleteInput for a string that is open; there they stand in brackets."""
    parts: list[str] = []
    depth = 0
    for line in command.split("\n"):
        parts.append(f"{parts.pop()}\n{line}" if depth > 0 else line)
        code = line.partition("#")[0]
        depth = max(0, depth + code.count("[") - code.count("]"))
    if depth:
        raise IncompleteInput("a string is open")
    return parts


def _require_end(command: str, syntax: "_Syntax", *ends: str) -> None:
    scan = _Scan(syntax)
    for line in command.split("\n"):
        scan.read(line)
    if scan.is_open:
        raise IncompleteInput("a quote, bracket or comment is open")
    if ends and not scan.last.endswith(ends):
        raise IncompleteInput(f"it does not end with {' or '.join(map(repr, ends))}")


# --- scanning ------------------------------------------------------------------------------


class _Syntax(Struct, frozen=True):
    token: re.Pattern[str]  # what is skipped, comments, strings that begin, brackets
    ends: dict[str, str]  # of strings and comments, by what begins them
    long: frozenset[str]  # those that may go on in the next line
    escapes: bool


def _syntax(
    comment: str, ends: dict[str, str], long: str, *, skip: str = r"\\.", escapes: bool = True
) -> _Syntax:
    begins = "|".join(re.escape(begin) for begin in sorted(ends, key=len, reverse=True))
    token = rf"(?P<skip>{skip})|(?P<comment>{comment})|(?P<string>{begins})|[\[({{]|[\])}}]"
    return _Syntax(late_pattern(token), ends, frozenset(long.split()), escapes)


_PYTHON = _syntax("#", {'"""': '"""', "'''": "'''", '"': '"', "'": "'"}, "\"\"\" '''")
_SQL = _syntax("--", {"'": "'", '"': '"', "`": "`", "/*": "*/"}, "' \" ` /*", escapes=False)
_ERLANG = _syntax("%", {'"': '"', "'": "'"}, "\" '", skip=r"\$\\?.")
_FULL_STOP = late_pattern(r"\.\s+")
_LISP = _syntax(";", {'"': '"', "#|": "|#"}, '" #|')
_PHP = _syntax("//|#(?!\\[)", {'"': '"', "'": "'", "/*": "*/"}, "\" ' /*")
_OCAML = _syntax("(?!)", {'"': '"', "(*": "*)"}, '" (*', skip=r"\\.|'\\?.'")
_TCL = _syntax(r"(?<!\S)#", {'"': '"'}, '"')
_JAVASCRIPT = _syntax("//", {'"': '"', "'": "'", "`": "`", "/*": "*/"}, "` /*")
_C = _syntax("#", {'"': '"', "/*": "*/"}, '" /*')


_COMMENTS = ("/*", "(*", "#|")


class _Scan:
    """Reads line by line, and knows whether a string or a bracket is open behind the last."""

    def __init__(self, syntax: _Syntax) -> None:
        self._syntax = syntax
        self._string: str | None = None  # what began it
        self._depth = 0
        self._joined = False  # a backslash stands at the line's end
        self.last = ""  # the code of the last line that has some

    @property
    def in_string(self) -> bool:
        return self._string is not None

    @property
    def is_open(self) -> bool:
        return self._string is not None or self._depth > 0 or self._joined

    def read(self, line: str) -> None:
        at = 0
        code: list[str] = []
        while at < len(line):
            if self._string is not None:
                code += [] if self._string in _COMMENTS else ['"']
                at = self._end_of_string(line, at)
                continue
            found = self._syntax.token.search(line, at)
            if found is None or found.group("comment"):
                code.append(line[at : found.start() if found else len(line)])
                break
            is_comment = found.group("string") in _COMMENTS
            code.append(line[at : found.start() if is_comment else found.end()])
            at = found.end()
            if found.group("string"):
                self._string = found.group("string")
            elif not found.group("skip"):
                self._depth = max(0, self._depth + (1 if found.group() in "[({" else -1))
        if self._string is not None and self._string not in self._syntax.long:
            self._string = None  # it ends with its line: the REPL says that it is wrong
        self._joined = self._string is None and line.endswith("\\")
        if text := "".join(code).strip():
            self.last = text

    def _end_of_string(self, line: str, at: int) -> int:
        assert self._string is not None
        end = self._syntax.ends[self._string]
        while at < len(line):
            if line[at] == "\\" and self._syntax.escapes:
                at += 2
            elif line.startswith(end, at):
                self._string = None
                return at + len(end)
            else:
                at += 1
        return at
