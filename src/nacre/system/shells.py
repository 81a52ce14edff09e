"""Start a shell so that it marks its prompts and commands, without touching the user's files.

Rule: the nonce that makes a mark ours reaches the shell by a file that the shell deletes before it
reads any of the user's own: no environment, command line or file tells it to a child.
"""

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_SCRIPTS = Path(__file__).parent / "integration"

INTEGRATED = ("bash", "zsh", "fish")


@dataclass(frozen=True, slots=True)
class Integration:
    """What to start instead of the bare shell; `secret` is gone once the shell is up."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    secret: str


def integrate(
    shell: str, argv: tuple[str, ...], env: Mapping[str, str], nonce: str, folder: str
) -> Integration:
    """Return how to start one of INTEGRATED with its marks."""
    secret = os.path.join(folder, f"nonce-{secrets.token_hex(8)}")
    descriptor = os.open(secret, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, nonce.encode() + b"\n")
    finally:
        os.close(descriptor)
    env = {**env, "NACRE_NONCE_FILE": secret}
    if shell == "bash":
        return Integration((*argv, "--rcfile", str(_SCRIPTS / "nacre.bash")), env, secret)
    if shell == "fish":
        script = str(_SCRIPTS / "nacre.fish")
        return Integration((*argv, "--init-command", f"source {_quoted(script)}"), env, secret)
    if "ZDOTDIR" in env:
        env["NACRE_ZDOTDIR"] = env["ZDOTDIR"]
    env["ZDOTDIR"] = str(_SCRIPTS / "zsh")
    return Integration(argv, env, secret)


def is_integrated(pid: int) -> bool:
    """Whether a process is still the shell that integrate() started, not what it was replaced by.

    What a shell execs gets the environment without the variable that its script unset.
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
