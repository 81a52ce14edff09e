"""Where nacre's files are.

Rule 1: everything is below NACRE_HOME if that is set, else in the XDG folders.
Rule 2: this file imports almost nothing, because the stdio bridge loads it at every start.
"""

import os
import stat
import sys
from contextlib import suppress
from typing import NamedTuple

# sun_path holds 108 bytes on Linux and 104 on macOS, the final NUL included (unix(7)).
_SUN_PATH = 107 if sys.platform == "linux" else 103


class Paths(NamedTuple):
    config: str  # folder of config.toml
    state: str  # what outlives the daemon: token, logs, journals; it is locked by the daemon
    runtime: str  # what does not, and may be removed under it: the socket, output of runs

    @property
    def config_file(self) -> str:
        return os.path.join(self.config, "config.toml")

    @property
    def token_file(self) -> str:
        return os.path.join(self.state, "token")

    @property
    def tokens_file(self) -> str:
        """What is stored of the tokens that people made."""
        return os.path.join(self.state, "tokens.json")

    @property
    def secrets_file(self) -> str:
        """What `nacre secret` stores."""
        return os.path.join(self.state, "secrets.json")

    @property
    def askpass_file(self) -> str:
        """The program that asks people for passwords, for sudo and ssh in sessions."""
        return os.path.join(self.state, "askpass")

    @property
    def askpass_socket(self) -> str:
        """By which it asks; not in the runtime folder, which may be removed under a session."""
        return os.path.join(self.state, "askpass.sock")

    @property
    def page_key_file(self) -> str:
        return os.path.join(self.state, "page.key")

    @property
    def log_file(self) -> str:
        return os.path.join(self.state, "daemon.log")

    @property
    def audit(self) -> str:
        return os.path.join(self.state, "audit")

    @property
    def journals(self) -> str:
        return os.path.join(self.state, "sessions")

    @property
    def layers(self) -> str:
        return os.path.join(self.state, "layers")

    @property
    def socket(self) -> str:
        return os.path.join(self.runtime, "nacre.sock")

    @property
    def lock_file(self) -> str:
        """Only where the state folder itself cannot be locked (client/lock.py)."""
        return os.path.join(self.state, "daemon.lock")

    @property
    def state_file(self) -> str:
        """Where the daemon of this state folder is, whatever the runtime folder of the reader."""
        return os.path.join(self.state, "daemon.json")

    @property
    def other_runtime(self) -> str:
        """The runtime folder while the usual one does not exist and cannot be made."""
        return os.path.join(self.state, "run")


def find_paths(environ: "os._Environ[str] | dict[str, str] | None" = None) -> Paths:
    env = os.environ if environ is None else environ
    if home := env.get("NACRE_HOME"):
        home = os.path.abspath(os.path.expanduser(home))
        return Paths(home, os.path.join(home, "state"), os.path.join(home, "run"))
    user = os.path.expanduser("~")
    config = os.path.join(env.get("XDG_CONFIG_HOME") or os.path.join(user, ".config"), "nacre")
    state_home = env.get("XDG_STATE_HOME") or os.path.join(user, ".local", "state")
    state = os.path.join(state_home, "nacre")
    runtime_home = env.get("XDG_RUNTIME_DIR")
    # logind removes it at the last logout, and nobody but root can make it again.
    if runtime_home and os.path.isdir(runtime_home):
        return Paths(config, state, os.path.join(runtime_home, "nacre"))
    return Paths(config, state, os.path.join(state, "run"))


def make_private(folder: str) -> None:
    """Make the folder with mode 0700, and the folders above it that are missing.

    If it exists, access for others is removed. Raises PermissionError when it belongs to another
    user, who could then take over a socket or token in it, or to all of them (/tmp), and other
    OSErrors with their reason.
    """
    missing = []
    above = folder
    while not os.path.isdir(above) and above != os.path.dirname(above):
        missing.append(above)
        above = os.path.dirname(above)
    for one in reversed(missing):
        with suppress(FileExistsError):  # another process made it meanwhile
            os.mkdir(one, 0o700)
            os.chmod(one, 0o700)  # whatever the umask has taken away
    try:
        found = os.stat(folder)
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{folder} is a link to a folder that does not exist; remove the link, or make the "
            "folder"
        ) from None
    # Root owns /tmp, and would shut it for everybody.
    if found.st_mode & stat.S_ISVTX or os.path.realpath(folder) == "/":
        raise PermissionError(
            f"{folder} is there for all users of this machine; set NACRE_HOME to a folder of yours"
        )
    # A link that another user planted may point to a folder of ours.
    if {os.lstat(folder).st_uid, found.st_uid} != {os.getuid()}:
        raise PermissionError(
            f"{folder} belongs to another user; set NACRE_HOME to a folder of yours"
        )
    if stat.S_IMODE(found.st_mode) != 0o700:
        os.chmod(folder, 0o700)


class SocketAddress:
    """A Unix socket's address that fits into sun_path, however long the path is.

    Use it as a context manager. On Linux a long path goes through /proc/self/fd, and that
    descriptor must stay open until bind or connect has returned, and as long as the address is
    used.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._folder = -1

    def __enter__(self) -> str:
        if len(os.fsencode(self.path)) <= _SUN_PATH:
            return self.path
        if sys.platform != "linux":
            raise OSError(
                f"the path {self.path} is too long for a socket; set NACRE_HOME to a shorter one"
            )
        self._folder = os.open(os.path.dirname(self.path), os.O_PATH | os.O_DIRECTORY)
        return f"/proc/self/fd/{self._folder}/{os.path.basename(self.path)}"

    def __exit__(self, *_: object) -> None:
        if self._folder >= 0:
            os.close(self._folder)
            self._folder = -1
