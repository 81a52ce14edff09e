"""Start a shell so that it marks its prompts and commands, without changing the user's files.

Rule: the shell gets its nonce through a pipe, which bash and zsh empty and close before they read
any of the user's files (fish after its configuration). So no child finds the nonce in the
environment, a command line or a file, and a full disk keeps no shell from starting. What may read
the shell's memory finds it there (docs/safety.md).
"""

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from nacre.core.shell.dialects import dialect_of

SCRIPTS = Path(__file__).parent / "scripts"
_VARIABLE = "NACRE_NONCE_FD"  # the number of the pipe's descriptor
_SIGN = f"{_VARIABLE}=".encode()


class Integration(Struct, frozen=True):
    """What to start instead of the plain shell; `pipe` goes to it, and is then closed here."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    pipe: int


def integrate(shell: str, argv: tuple[str, ...], env: Mapping[str, str], nonce: str) -> Integration:
    """Return how to start a shell with marks, if it has a native start (dialects.py).

    Raises OSError when no descriptor is left.
    """
    native = dialect_of(shell).native
    assert native is not None
    pipe, writer = os.pipe()
    os.write(writer, nonce.encode() + b"\n")  # an empty pipe takes that much (pipe(7), PIPE_BUF)
    os.close(writer)
    env = {**env, _VARIABLE: str(pipe)}
    script = str(SCRIPTS / native.script)
    if (name := native.variable) is not None:
        if name in env:
            env[f"NACRE_{name}"] = env[name]
        env[name] = script
    words = (word.format(script=script, quoted=_quoted(script)) for word in native.arguments)
    return Integration((*argv, *words), env, pipe)


def is_integrated(pid: int) -> bool:
    """Return whether a process is still the shell that integrate() started, not another program.

    A program that the shell execs does not have the variable that the script has unset.
    """
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return any(pair.startswith(_SIGN) for pair in file.read().split(b"\0"))
    except PermissionError:
        return False
    except OSError:  # no /proc here
        return True


def _quoted(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
