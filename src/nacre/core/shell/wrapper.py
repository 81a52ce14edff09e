"""A command as one line that any shell can run, and that reports where it starts and how it ends.

It is sent where no marks come by themselves: after ssh, su, docker exec, in a nested shell, in sh.
The line prints mark S, evaluates the command, and prints mark E with its exit code; both have a
nonce that is used once. It stays out of the history if the shell allows that. The parts for each
shell are in the table of dialects; their order, which is the same in all, is here.

Rule 1: the command finds in $? what the command before it left there, and so does the next one.
Rule 2: of a shell that is not the session's own, mark E tells the host and the folder: nobody else
knows them.
Rule 3: the command is sent as an argument of printf, because one encoding works in sh, bash, zsh
and ash; fish has the escapes of URLs. The echo of the line contains a literal backslash, never an
ESC, so it cannot be mistaken for a mark.
"""

from typing import Literal

from nacre.core.shell.dialects import Dialect, Syntax
from nacre.late_pattern import late_pattern

_PART = 800  # bytes of a part of a long command
_TELLING = 12  # letters of a nonce that tell a line in a history
_BOUNDING = 6  # letters of a nonce that no command has by chance

_PLAIN = frozenset(range(0x20, 0x7F)) - set(b"\\'!%")


def encode(command: str, escapes: Literal["printf", "url"] = "printf") -> str:
    """Return the command as a format of printf or part of a URL, for use between single quotes."""
    # A hyphen would begin an option of printf and eval; a blank before a command says nothing.
    out = [" "] if command.startswith("-") else []
    for byte in command.encode(errors="surrogateescape"):
        if byte in _PLAIN:
            out.append(chr(byte))
        elif escapes == "url":
            out.append(f"%{byte:02X}")  # RFC 3986 2.1
        elif byte == 0x0A:
            out.append("\\n")
        elif byte == 0x25:
            out.append("%%")
        else:
            out.append(f"\\{byte:03o}")
    return "".join(out)


def wrap(
    command: str, dialect: Dialect, nonce: str, *, own: bool = False, fed_by: str | None = None
) -> str:
    """Return the line for a command that is short enough for the shell's line length.

    `own` says that it is the session's own shell, `fed_by` is the file that the command reads.
    """
    words = dialect.syntax
    take = words.take.replace("{bound}", _bound(nonce))
    take = take.replace("{body}", encode(_with_line_behind(command, words), words.escapes))
    run = _run(words, fed_by)
    return _line(words, nonce, take, _evaluate(words, nonce, own, words.ask_host, run))


def wrap_long(
    command: str, dialect: Dialect, nonce: str, *, own: bool = False, fed_by: str | None = None
) -> tuple[str, list[str]]:
    """Return a line that makes the shell read a long command from the terminal, and its parts.

    Send the parts after mark R (an S mark with the value "read"): echo is off then.
    Only for a dialect whose syntax has `read`.
    """
    words = dialect.syntax
    assert words.read is not None
    reading = _mark(words, "S", nonce, own, "read")
    read = words.read.replace("{bound}", _bound(nonce)).replace("{reading}", reading)
    # The line is as long as ash takes one: it tells the host that a shorter one has asked for.
    run = _run(words, fed_by)
    evaluate = _evaluate(words, nonce, own, "", run)
    body = encode(_with_line_behind(command, words), words.escapes)
    if "{bound}" in words.read:
        body = f"{_bound(nonce)}{body}{_bound(nonce)}"
    return _line(words, nonce, read, evaluate), _parts(body)


# What a line behind it would become a part of: a command that goes on, the name of a function; or
# what a complaint would show.
_GOES_ON = late_pattern(r"(?:\bcase\s.*\sin|&&|\||[()]\s*\)|\bfunction\s+\S+)\s*(?:#|\Z)")
_DOCUMENTS = 20  # are looked at: what is behind each of them is searched
# Of `<<-'END'` the hyphen and the word.
_DOCUMENT = late_pattern(r"(?<!<)<<(?!<)(-?)[ \t]*(?:'([^'\n]*)'|\"([^\"\n]*)\"|\\?([\w.+-]+))?")


def _with_line_behind(command: str, words: Syntax) -> str:
    """Return the command with what a shell wants behind it, where that is a command of its own.

    In doubt it is not: an ERR trap that fires twice does less harm than a line of ours that is
    taken for a part of the command.
    """
    if words.behind is None or _goes_on(command) or not _has_documents_whole(command):
        return command
    return f"{command}\n{words.behind}"


def _goes_on(command: str) -> bool:
    if (len(command) - len(command.rstrip("\\"))) % 2:
        return True  # at the end of a text it is a backslash, or nothing
    for line in reversed(command.split("\n")):
        if (said := line.strip()) and not said.startswith("#"):
            return _GOES_ON.search(said) is not None
    return False


def _has_documents_whole(command: str) -> bool:
    """Whether each here-document has its end, as far as that can be told."""
    if command.count("<<") > _DOCUMENTS:
        return False
    for found in _DOCUMENT.finditer(command):
        tabs, *words = found.groups()
        end = next((word for word in words if word is not None), None)
        below = command[found.end() :].split("\n")[1:]
        if end not in ([line.lstrip("\t") for line in below] if tabs else below):
            return False
    return True


def _bound(nonce: str) -> str:
    """Return the word before and behind a command by which it is found in what a shell captured."""
    return f"{nonce[-_BOUNDING:]}:"


def as_fed(command: str) -> str:
    """Return a command that reads what its caller has piped in, in words that a policy can judge.

    They are the same for each caller, and others than those of the command alone: who may start an
    interpreter may not therefore run all that is piped into it.
    """
    return f"{{ {command}\n}} < /dev/stdin"


def report(dialect: Dialect, nonce: str, *, own: bool = False) -> str:
    """Return a line that makes a shell report $?, its process id and its place with mark E.

    For use after Ctrl+C, which brings a shell back to its prompt without the end mark. It keeps $?.
    The process id is that of the shell which began the last command, if it is this one still.
    """
    words = dialect.syntax
    place = [] if own else [words.place]
    told = _mark(words, "E", nonce, own, words.code, words.began_in, *place)
    begin = _begin(words, nonce, "", "" if own else words.ask_host)
    return f"{begin}{told};{words.leave}"


def mending(dialect: Dialect, nonce: str) -> str:
    """Return a line that gives the session's own shell its hooks back, then tells mark E.

    It keeps $?. Empty for a dialect whose key cannot be lost with them.
    """
    words = dialect.syntax
    if not words.mend:
        return ""
    begin = _begin(words, nonce, "")
    return f"{begin}{words.mend};{_mark(words, 'E', nonce, True, words.code)};{words.leave}"


def _begin(words: Syntax, nonce: str, noted: str, ask_host: str = "") -> str:
    """Begin with a space, which keeps the line out of the history of shells with that option."""
    told = nonce if words.nonce else nonce[:_TELLING]
    begin = words.begin.replace("{noted}", noted).replace("{host}", ask_host)
    return f" {begin.replace('{nonce}', told)};"


def _line(words: Syntax, nonce: str, take: str, evaluate: str) -> str:
    """Return the whole line. A shell that could not take the command neither starts nor ends it."""
    line = words.if_taken.replace("{take}", take, 1).replace("{rest}", evaluate, 1)
    return f"{_begin(words, nonce, words.noted)}{line}"


def _run(words: Syntax, fed_by: str | None) -> str:
    run = words.run.replace("{leave}", words.leave)
    return run if fed_by is None else f"{run} <{fed_by}"


def _evaluate(words: Syntax, nonce: str, own: bool, ask_host: str, run: str) -> str:
    """Run $_nacre_c with $? as it was, report exit code and place, and leave the code in $?.

    Mark S says which shell it is: one that answers later may be another.
    """
    values = [words.code] if own else [words.code, "", words.place]
    keep = words.keep.replace("{host}", "" if own else ask_host)
    start = _mark(words, "S", nonce, own, words.itself)
    end = f"{keep};{_mark(words, 'E', nonce, own, *values)}"
    mend = f"{words.mend};" if own and words.mend else ""
    return f"{start};{run};{end};{mend}{words.leave}"


def _mark(words: Syntax, kind: str, nonce: str, own: bool, *values: str) -> str:
    """Where the prompt goes there goes the mark.

    What /dev/tty is to another shell nobody knows; of the session's own it is the terminal.

    A hook that shows the line that runs, as terminal titles have it, may read its backslashes. So
    the format alone is no mark, and its octal numbers are of the short kind that echo leaves alone.
    """
    told = "".join(f";{one}" if one.isalpha() else ";%s" if one else ";" for one in values)
    form = f"\\33]%s;{kind};n=%s{told}\\7"
    expanded = (one for one in values if one and not one.isalpha())
    given = " ".join((words.nonce or nonce, *expanded))
    return f"{words.printf} '{form}' 133 {given} {words.own_out if own else '>&2'}"


def _parts(body: str) -> list[str]:
    """Cut a long command into lines; an empty one is the end."""
    parts: list[str] = []
    while body:
        size = _part_size(body)
        parts.append(body[:size])
        body = body[size:]
    return [*parts, ""]


def _part_size(body: str) -> int:
    """Cut so that no escape (\\ooo, \\n, %%) is split."""
    size = min(_PART, len(body))
    if size == len(body):
        return size
    for back in range(4):
        if body[size - back - 1] == "\\":
            return size - back - 1
    if body[size - 1] == "%" and (len(body[:size]) - len(body[:size].rstrip("%"))) % 2:
        return size - 1
    return size
