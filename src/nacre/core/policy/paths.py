"""Paths as they are written: where they lead, without asking the file system.

Rule: a caller that can ask it (symbolic links) passes what it found as `real`.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from posixpath import isabs, join, normpath

from nacre.core.policy.keys import SECRET_NAMES, holds_secrets, is_secret

# What a machine or its user cannot do without. Below them much may be deleted.
_VITAL = frozenset(
    (
        *("/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib32", "/lib64", "/opt"),
        *("/proc", "/root", "/run", "/sbin", "/srv", "/sys", "/usr", "/usr/bin", "/usr/lib"),
        *("/usr/local", "/usr/sbin", "/usr/share", "/var", "/var/lib", "/Users", "/System"),
        *("/Library", "/Applications", "/private", "/mnt", "/media"),
    )
)
_HOMES = ("/home/", "/Users/")
_HOMES_OF_ALL = ("/home", "/Users", "/root")
DISKS = (
    *("/dev/sd*", "/dev/hd*", "/dev/vd*", "/dev/xvd*", "/dev/nvme*", "/dev/mmcblk*", "/dev/dm-*"),
    *("/dev/md*", "/dev/mapper/*", "/dev/disk/*", "/dev/disk*", "/dev/rdisk*", "/dev/mem"),
    *("/dev/kmem", "/dev/port", "/dev/ram*", "/dev/loop*"),
)
# The document's rules of paths: system folders, and privileged areas.
BLOCKED = ("/etc", "/sys", "/proc", "/root", "/boot")
# Plain facts about the machine or a process, and no word of what a program was told or holds.
_FACTS = re.compile(
    r"/proc/(?:cpuinfo|meminfo|loadavg|uptime|version|stat|mounts|filesystems|swaps|partitions|diskstats"
    r"|vmstat|interrupts|softirqs|devices|modules|zoneinfo|buddyinfo|slabinfo|cgroups|misc|locks"
    r"|pressure/\w+|driver/rtc|version_signature"
    r"|net/(?:dev|route|tcp6?|udp6?|unix|arp|snmp|netstat|sockstat6?|if_inet6|protocols)"
    r"|sys/(?:kernel|vm|fs|net)/[\w./-]+"
    r"|(?:self|thread-self|\d+)/(?:status|stat|statm|limits|cgroup|mounts|mountinfo|mountstats|io|sched"
    r"|schedstat|comm|oom_score|oom_score_adj|oom_adj|cpuset|wchan|uid_map|gid_map|net/\w+))"
)
# To begin in such a folder does not make it a workspace: agents choose where they begin.
_SYSTEM = (*BLOCKED, "/bin", "/sbin", "/lib", "/lib64", "/usr", "/dev", "/run", "/var/spool")
_SOURCES = ("/usr/src", "/usr/local/src")  # where images of containers have their programs' code
# Below a home: what is there runs by itself.
_BEGINNING = (
    *(".config/autostart", ".config/systemd", ".config/environment.d", ".config/fish"),
    *(".local/bin", ".local/share/systemd", ".local/share/applications"),
)
# What can be written to without a trace.
_NOWHERE = frozenset(("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/full"))
# What is in them runs when its name is typed.
_BY_NAME = ("/node_modules/.bin/", "/venv/bin/", "/.venv/bin/", "/vendor/bin/")
# What is in them runs by itself when git or nacre is used.
_HOOKS = ("/.git/", "/.nacre/", "/.husky/", "/.githooks/", *_BY_NAME)
# In a project: what runs elsewhere with the keys of others, or by itself as soon as somebody opens
# the folder or asks a package manager for something.
_STARTING = re.compile(
    r"/(?:\.github/(?:workflows|actions)/.+|\.circleci/.+|\.gitlab-ci\.ya?ml|\.travis\.yml|Jenkinsfile"
    r"|azure-pipelines\.ya?ml|bitbucket-pipelines\.yml|\.drone\.yml|\.woodpecker(?:/.+|\.ya?ml)"
    r"|\.buildkite/.+|\.envrc|\.vscode/(?:tasks|settings|launch)\.json|\.devcontainer/.+|\.mcp\.json"
    r"|\.devcontainer\.json|\.claude/.+|\.cursor/.+|\.codex/.+|\.npmrc|\.yarnrc(?:\.yml)?|\.pnpmfile\.cjs"
    r"|\.gitmodules|\.gitconfig|pip\.conf|\.pypirc|\.netrc|sitecustomize\.py|usercustomize\.py"
    r"|[^/]+\.pth|\.bash(?:rc|_profile|_login|_aliases)|\.profile|\.zsh(?:rc|env))$"
)
_SIGNS = ("/.", "Jenkinsfile", "-pipelines.", "pip.conf", "customize.py", ".pth")  # one is in each
_SCRATCH = ("/tmp", "/var/tmp")  # noqa: S108  # names to compare with, nothing is made there


@dataclass(frozen=True, slots=True)
class Where:
    """Where a line runs: paths are relative to it."""

    folder: str | None  # None: it is not known
    home: str = "~"
    workspace: str | None = None  # what may be written to; the folder, if it is not given
    private: tuple[str, ...] = ()  # nacre's own folders
    real: Callable[[str], str] | None = None

    def path(self, text: str, *, logical: bool = False) -> str | None:
        """Return the path that a word stands for; None: nobody knows.

        A shell that changes its folder takes `..` off the text (logical); everybody else comes
        to the folder above the one that a symbolic link leads to.
        """
        if "\0" in text:
            return None  # nothing has such a name
        if text == "~" or text.startswith("~/"):
            text = self.home + text[1:]
        elif text.startswith("~"):
            name = text[1:].split("/")[0]
            if not name[0].isalpha():
                return None  # ~+, ~-, ~1: where the shell has been
            text = ("/" if name == "root" else "/home/") + text[1:]
        if not isabs(text):
            if self.folder is None:
                return None
            text = join(self.folder, text)
        if self.real is not None and not logical and ".." in text:
            return self.real(text)
        text = "/" + normpath(text).lstrip("/")
        return text if self.real is None else self.real(text)

    def is_vital(self, path: str) -> bool:
        """Return whether to delete it destroys the machine or a home."""
        base = path
        for ending in ("/*", "/.*", "/.", "/**", "/{*,.*}"):
            if base.endswith(ending):
                base = base[: -len(ending)] or "/"
                break
        if base in _VITAL or base == self.home:
            return True
        if base.count("/") == 1 and any(sign in base for sign in "*?["):
            return any(fnmatchcase(folder, base) for folder in _VITAL if folder.count("/") == 1)
        return any(base.startswith(homes) and base.count("/") == 2 for homes in _HOMES)

    def keeps_no_code(self, path: str) -> bool:
        """Return whether nothing in the workspace runs what is written there: a log, scratch."""
        return path.endswith((".log", ".orig", ".bak")) or self.is_in_scratch(path)

    def may_write(self, path: str) -> bool:
        """Return whether it is the workspace's or scratch, and nothing that runs by itself.

        That is a hook of git's (_HOOKS), a hidden file of a home, where programs begin, or a rule
        of the policy itself.
        """
        if path in _NOWHERE or path.startswith("/dev/fd/"):
            return True
        if self.is_blocked(path) or starts_by_itself(path):
            return False
        if is_below(path, _SCRATCH) and not self._is_home_in_scratch(path):
            return True
        workspace = self.workspace or self.folder
        if (
            workspace is None
            or not is_below(path, (workspace,))
            or not self._is_workspace(workspace)
        ):
            return False
        return not (workspace == self.home and path.startswith(f"{self.home}/."))

    def _is_workspace(self, folder: str) -> bool:
        """Return whether a folder is one to work in: not the system's, and nothing starts there."""
        if is_below(folder, (self.home,)):
            return not is_below(folder, [f"{self.home}/{name}" for name in _BEGINNING])
        return folder != "/" and (not is_below(folder, _SYSTEM) or is_below(folder, _SOURCES))

    def is_own(self, path: str) -> bool:
        """Return whether it is the workspace's."""
        workspace = self.workspace or self.folder
        return workspace is not None and is_below(path, (workspace,))

    def is_in_scratch(self, path: str | None = None) -> bool:
        """Return whether a path, or the folder, lies where anybody may write; not the workspace."""
        path = path or self.folder
        if path is None or self.is_own(path):
            return False
        return is_below(path, _SCRATCH) and not self._is_home_in_scratch(path)

    def is_at_home(self, path: str) -> bool:
        """Return whether it lies in a home, outside of the workspace."""
        return not self.is_own(path) and is_below(path, (self.home, *_HOMES_OF_ALL))

    def _is_home_in_scratch(self, path: str) -> bool:
        """A home is no scratch, wherever it lies."""
        return is_below(self.home, _SCRATCH) and is_below(path, (self.home,))

    @property
    def secrets(self) -> list[str]:
        """Where keys and passwords of the home are."""
        return [f"{self.home}/{name}" for name in SECRET_NAMES]

    def holds_secrets(self, path: str) -> bool:
        """Return whether who reads all below it reads keys: it is a home, or above one."""
        return path != self.workspace and holds_secrets(path, self.home)

    def asks_for(self, path: str, *, known: bool = True) -> bool:
        """Return whether to name it asks first: what is blocked, but for the user's own home.

        That is root's, which is one of the blocked folders to everybody else. Of the kernel's
        files some are plain facts, if the whole path is known.
        """
        if known and path.startswith("/proc/") and _FACTS.fullmatch(path):
            return False
        if path.startswith("/dev/") and any(fnmatchcase(path, disk) for disk in DISKS):
            return True
        if not self.is_blocked(path):
            return False
        own = self.home in BLOCKED and is_below(path, (self.home,))
        return not own or is_below(path, self.private) or is_secret(path, self.home)

    def is_blocked(self, path: str) -> bool:
        """Return whether the document's rules, or nacre's own folders, forbid it."""
        if is_below(path, self.private) or is_secret(path, self.home):
            return True
        if not is_below(path, BLOCKED) and not _may_be_below(path, BLOCKED):
            return False
        # Root's home is one of them, and root may work there.
        workspace = self.workspace or ""
        return not (is_below(workspace, (self.home,)) and is_below(path, (workspace,)))


def starts_by_itself(path: str) -> bool:
    """Return whether what is written there runs without anybody calling it by its name."""
    if any(folder in f"{path}/" for folder in _HOOKS):
        return True
    return any(sign in path for sign in _SIGNS) and _STARTING.search(path) is not None


def _may_be_below(path: str, folders: Iterable[str]) -> bool:
    """Return whether a pattern of the shell's (/e?c/x) may match something there."""
    parts = path.split("/")
    if not any(sign in path for sign in "*?["):
        return False
    return any(
        fnmatchcase(folder[1:], parts[1]) and (parts[1].strip("*") or len(parts) > 2)
        for folder in folders
    )


def is_below(path: str, folders: Iterable[str]) -> bool:
    return any(
        folder == "/" or path == folder or path.startswith(f"{folder}/") for folder in folders
    )


def matches(path: str, pattern: str) -> bool:
    return fnmatchcase(path, pattern)
