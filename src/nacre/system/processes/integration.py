"""Start a shell so that it marks its prompts and commands, without changing the user's files.

Rule: the shell gets its nonce from a file, which it deletes before it reads any of the user's
files. So no child can find the nonce in the environment, a command line or a file.
"""

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nacre.core.shell.dialects import dialect_of

_SCRIPTS = Path(__file__).parent / "scripts"


@dataclass(frozen=True, slots=True)
class Integration:
    """What to start instead of the plain shell; `secret` is deleted when the shell has started."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    secret: str


def integrate(
    shell: str, argv: tuple[str, ...], env: Mapping[str, str], nonce: str, folder: str
) -> Integration:
    """Return how to start a shell with marks, if it has a native start (dialects.py)."""
    native = dialect_of(shell).native
    assert native is not None
    secret = os.path.join(folder, f"nonce-{secrets.token_hex(8)}")
    descriptor = os.open(secret, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, nonce.encode() + b"\n")
    finally:
        os.close(descriptor)
    env = {**env, "NACRE_NONCE_FILE": secret}
    script = str(_SCRIPTS / native.script)
    if (name := native.variable) is not None:
        if name in env:
            env[f"NACRE_{name}"] = env[name]
        env[name] = script
    words = (word.format(script=script, quoted=_quoted(script)) for word in native.arguments)
    return Integration((*argv, *words), env, secret)


def is_integrated(pid: int) -> bool:
    """Return whether a process is still the shell that integrate() started, not another program.

    A program that the shell execs does not have the variable that the script has unset.
    """
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return any(pair.startswith(b"NACRE_NONCE_FILE=") for pair in file.read().split(b"\0"))
    except PermissionError:
        return False
    except OSError:  # no /proc here
        return True


def _quoted(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
