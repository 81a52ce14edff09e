"""Where nacre's files are.

Rule 1: everything is below NACRE_HOME if that is set, else in the XDG folders.
Rule 2: this file imports almost nothing, because the stdio bridge loads it at every start.
"""

import os
import sys
from typing import NamedTuple

# sun_path holds 108 bytes on Linux and 104 on macOS, the final NUL included (unix(7)).
_SUN_PATH = 107 if sys.platform == "linux" else 103


class Paths(NamedTuple):
    config: str  # folder of config.toml
    state: str  # what outlives the daemon: token, logs
    runtime: str  # what does not: socket, lock, state file

    @property
    def config_file(self) -> str:
        return os.path.join(self.config, "config.toml")

    @property
    def token_file(self) -> str:
        return os.path.join(self.state, "token")

    @property
    def log_file(self) -> str:
        return os.path.join(self.state, "daemon.log")

    @property
    def journals(self) -> str:
        return os.path.join(self.state, "sessions")

    @property
    def socket(self) -> str:
        return os.path.join(self.runtime, "nacre.sock")

    @property
    def lock_file(self) -> str:
        return os.path.join(self.runtime, "daemon.lock")

    @property
    def state_file(self) -> str:
        return os.path.join(self.runtime, "daemon.json")


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
    runtime = os.path.join(runtime_home, "nacre") if runtime_home else os.path.join(state, "run")
    return Paths(config, state, runtime)


def make_private(folder: str) -> None:
    """Make the folder with mode 0700.

    If it exists, access for others is removed. Raises PermissionError when it belongs to another
    user, who could then take over a socket or token in it.
    """
    os.makedirs(folder, mode=0o700, exist_ok=True)
    found = os.stat(folder)
    if found.st_uid != os.getuid():
        raise PermissionError(
            f"{folder} belongs to another user; set NACRE_HOME to a folder of yours"
        )
    if found.st_mode & 0o077:
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
