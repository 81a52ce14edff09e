"""A command as one line that any shell can run, and that reports where it starts and how it ends.

It is sent where no marks come by themselves: after ssh, su, docker exec, in a nested shell, in sh.
The line prints mark S, evaluates the command, and prints mark E with its exit code; both carry a
nonce that is used once. It leaves no line in the history where the shell lets it.

Rule 1: what the command finds in $? is what the command before it left there; so for the next.
Rule 2: the command travels as the argument of printf, where one encoding fits sh, bash, zsh, ash
and fish from 3.4 on. The echo of the line holds a literal backslash, never an ESC, so that it
cannot be taken for a mark.
"""

from typing import Literal

ShellKind = Literal["sh", "bash", "zsh", "fish"]

# dash reads lines of 4,095 bytes, busybox's ash about 1,000 (measured).
SHORT_LINE = 900
_PART = 800  # bytes of a part of a long command

_PLAIN = frozenset(range(0x20, 0x7F)) - set(b"\\'!%")


def encode(command: str) -> str:
    """Return the command as a format of printf, for use between single quotes."""
    out = []
    for byte in command.encode(errors="surrogateescape"):
        if byte in _PLAIN:
            out.append(chr(byte))
        elif byte == 0x0A:
            out.append("\\n")
        elif byte == 0x25:
            out.append("%%")
        else:
            out.append(f"\\{byte:03o}")
    return "".join(out)


def ask_kind(nonce: str) -> str:
    """Return a line that makes a shell say what it is, by mark K."""
    return (
        f" printf '\\033]133;K;n={nonce};%s.%s.%s\\007' "
        '"$BASH_VERSION" "$ZSH_VERSION" "$FISH_VERSION"'
    )


def read_kind(value: str) -> ShellKind:
    """Read the value of mark K: versions have dots themselves, so the empty ones tell."""
    if value.startswith(".."):
        return "fish" if value != ".." else "sh"
    return "zsh" if value.startswith(".") else "bash"


def wrap(command: str, kind: ShellKind, nonce: str) -> str:
    """Return the line for a command that is short enough for the shell's line length."""
    body = encode(command)
    if kind == "fish":
        return _wrap_fish(body, nonce)
    return (
        f" _nacre_s=$?;{_clean_history(nonce, kind)}{_start(nonce)};"
        f"_nacre_c=\"$(printf '{body}')\";{_evaluate(kind, nonce)}"
    )


def report(kind: ShellKind, nonce: str) -> str:
    """Return a line that makes a shell say, by mark E, what $? is and who it is.

    For after Ctrl+C, which takes a shell back to its prompt past the end mark. $? stays.
    """
    if kind == "fish":
        return (
            f" set -g _nacre_s $status;"
            f"printf '\\033]133;E;n={nonce};%s;%s\\007' $_nacre_s $fish_pid;{_FISH_STATUS}"
        )
    return (
        f" _nacre_s=$?;{_clean_history(nonce, kind)}"
        f"printf '\\033]133;E;n={nonce};%s;%s\\007' $_nacre_s $$;{_STATUS}"
    )


# Leave in $? what the command left.
_STATUS = "[ $_nacre_s = 0 ]||(exit $_nacre_s)"
_FISH_STATUS = 'test $_nacre_s = 0;or sh -c "exit $_nacre_s"'


def _start(nonce: str) -> str:
    """Mark S says which shell it is: one that answers later may be another."""
    return f"printf '\\033]133;S;n={nonce};%s\\007' $$"


def _evaluate(kind: ShellKind, nonce: str) -> str:
    """Run $_nacre_c with $? as it was, report its exit code, and leave that in $?."""
    status = _STATUS
    # `command eval`: a syntax error must not end the line of a POSIX shell before its end mark.
    # In zsh that would be a program; it may stand at the other end of ssh, where nobody knows.
    run, choice = "eval", ""
    if kind != "zsh":
        run = "$_nacre_e eval"
        choice = '_nacre_e=command;[ "${ZSH_VERSION-}" ]&&_nacre_e=builtin;'
    end = f"_nacre_s=$?;printf '\\033]133;E;n={nonce};%s\\007' $_nacre_s"
    return f'{choice}{status};{run} "$_nacre_c";{end};{status}'


def _wrap_fish(body: str, nonce: str) -> str:
    start = f"set -g _nacre_s $status;printf '\\033]133;S;n={nonce};%s\\007' $fish_pid"
    status = _FISH_STATUS
    end = f"set -g _nacre_s $status;printf '\\033]133;E;n={nonce};%s\\007' $_nacre_s"
    return (
        f" {start};set -g _nacre_c (printf '{body}' | string collect);{status};"
        f"eval $_nacre_c;{end};{status}"
    )


def wrap_long(command: str, kind: ShellKind, nonce: str) -> tuple[str, list[str]]:
    """Return a line that makes the shell read a long command from the terminal, and its parts.

    The parts are sent once mark R (an S mark with the value "read") was seen: echo is off then.
    """
    body = encode(command)
    parts: list[str] = []
    while body:
        size = _part_size(body)
        parts.append(body[:size])
        body = body[size:]
    parts.append("")
    head = (
        f" _nacre_s=$?;{_clean_history(nonce, kind)}"
        f"stty -echo;printf '\\033]133;S;n={nonce};read\\007';_nacre_c=;"
        'while IFS= read -r _nacre_l&&[ "$_nacre_l" ];do _nacre_c=$_nacre_c$_nacre_l;done;'
        f"stty echo;{_start(nonce)};"
        '_nacre_c="$(printf "$_nacre_c")";'
    )
    return head + _evaluate(kind, nonce), parts


def _part_size(body: str) -> int:
    """Cut so that no escape (\\ooo, \\n, %%) is torn."""
    size = min(_PART, len(body))
    if size == len(body):
        return size
    for back in range(4):
        if body[size - back - 1] == "\\":
            return size - back - 1
    if body[size - 1] == "%" and (len(body[:size]) - len(body[:size].rstrip("%"))) % 2:
        return size - 1
    return size


def _clean_history(nonce: str, kind: ShellKind) -> str:
    """Bash keeps the line unless the user ignores leading blanks: take it out again."""
    if kind != "bash":
        return ""
    last = '"$(HISTTIMEFORMAT= history 1)"'
    return f'[ "${{BASH_VERSION-}}" ]&&case {last} in *{nonce}*)history -d -1;;esac;'
