"""The keeper's command, and when `nacre server` can become the keeper before it looks at anything.

Rule 1: the keeper is a separate program, which nothing imports here (its first lines say how it is
started).
Rule 2: what `nacre server` was given is judged once, by the daemon that the keeper starts. If that
one complains, the keeper passes its exit code on.
Rule 3: clients load this file, so it imports almost nothing.
"""

import os
import sys

from nacre.settings.paths import find_paths

KEEPER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "system", "keeper", "keeper.py")

_STARTED = "NACRE_KEEPER_FD"  # keeper.DESCRIPTOR: a keeper has started us
_SETTING = "NACRE_KEEPER"  # the variable of the setting `keeper`
_NO_DAEMON = {"-h", "--help", "--upgrade"}
_ABOUT_IT = ("--keeper", "--no-keeper")


def keeper_command(daemon: "list[str]") -> "list[str]":
    """Return the command that runs a daemon under a keeper."""
    return [sys.executable, "-I", "-S", KEEPER, *daemon]


def server_command(arguments: "list[str]") -> "list[str]":
    """Return the command of the keeper that this process becomes for `nacre server …`."""
    return keeper_command([sys.executable, "-m", "nacre", *arguments])


def will_keep(words: "list[str]") -> bool:
    """Return whether `nacre server` with these words becomes a keeper, as far as is known at once.

    False also where only the settings tell: to load them takes longer than all else before that.
    """
    if _STARTED in os.environ or os.environ.get(_SETTING):
        return False
    if any(word in _NO_DAEMON or word.startswith(_ABOUT_IT) for word in words):
        return False
    try:
        with open(find_paths().config_file, "rb") as file:
            return b"keeper" not in file.read()
    except FileNotFoundError:
        return True
    except OSError:
        return False
