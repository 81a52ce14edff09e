"""Find out whether a profile works on this machine, by running it, and say what to fix if not.

Rule 1: a profile works if what it hides is hidden, and not if bubblewrap only started.
Rule 2: a trial writes to its own workspace alone: where the sandbox does not hold, it is outside.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import NamedTuple

_PATIENCE = 20.0  # seconds for what takes 10 ms: only a machine that hangs takes longer

# Says what is wrong, in one line; without a word all is as it should be.
_INSIDE = r"""
[ "$(cat token 2>/dev/null)" != secret ] && echo "the workspace is not shown"
[ -e "$1" ] && echo "$1 can be seen"
[ "$$" -lt 10 ] || echo "processes of the machine can be seen"
while read -r name _; do
    case $name in lo: | Inter-\|* | face) ;; *) echo "the network can be reached ($name)" ;; esac
done </proc/net/dev
if (echo changed >"$2/token") 2>/dev/null; then
    [ "$3" = read ] && echo "the workspace can be written to"
else
    [ "$3" = read ] || echo "the workspace cannot be written to"
fi
[ -w /etc ] && echo "/etc can be written to"
[ -w /tmp ] || echo "/tmp cannot be written to"
[ -z "$4" ] || "$4" 2>/dev/null
[ "$?" = 126 ] || [ -z "$4" ] || echo "$4 is not denied"
echo done
"""


class Trial(NamedTuple):
    """What `enclose` makes of a shell: the command and the descriptors that go with it."""

    argv: list[str]
    descriptors: tuple[int, ...]


class Trouble(NamedTuple):
    """Why a profile cannot be had, and what to do about it."""

    reason: str
    fix: str


NOT_LINUX = Trouble("sandboxes need Linux", "use Linux, or a virtual machine")
NOT_INSTALLED = Trouble(
    "bubblewrap (bwrap) or setsid is not installed",
    "install it: apt install bubblewrap, dnf install bubblewrap, pacman -S bubblewrap",
)


def script(secret: str, workspace: str, way: str, denied: str | None) -> list[str]:
    """Return what has to run in the sandbox; `secret` is a path that must not be there."""
    return ["/bin/sh", "-c", _INSIDE, "sh", secret, workspace, way, denied or ""]


def judge(trial: Trial, advise: Callable[[str], str] | None = None) -> Trouble | None:
    """Run a trial; return what is wrong. `advise` says what helps against a message."""
    try:
        done = subprocess.run(
            trial.argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE,
            check=False,
            pass_fds=trial.descriptors,
            env={},
            cwd="/",
        )
    except (OSError, subprocess.SubprocessError) as error:
        return Trouble(f"it does not run: {error}", "install bubblewrap again")
    said = done.stdout.split("\n")
    if said == ["done", ""]:
        return None
    if "done" in said:
        leaks = "; ".join(line for line in said if line not in ("done", ""))
        return Trouble(f"the sandbox does not hold: {leaks}", "report this as a bug")
    words = done.stderr.strip().split("\n")[-1] or f"exit code {done.returncode}"
    return Trouble(words, (advise or _advice)(words))


def _advice(words: str) -> str:
    """Return what mostly helps against a message of bubblewrap."""
    if _knob("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1" and _is_about_users(
        words
    ):
        return (
            "let bubblewrap make user namespaces: load an AppArmor profile for bwrap (apt install "
            "apparmor-profiles; ln -s /usr/share/apparmor/extra-profiles/bwrap-userns-restrict "
            "/etc/apparmor.d/ && apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict), or "
            "sysctl kernel.apparmor_restrict_unprivileged_userns=0"
        )
    if _knob("/proc/sys/kernel/unprivileged_userns_clone") == "0":
        return "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1"
    if _knob("/proc/sys/user/max_user_namespaces") == "0":
        return "allow user namespaces: sysctl user.max_user_namespaces=10000"
    if "proc" in words or os.path.exists("/.dockerenv") or os.path.exists("/run/.containerenv"):
        return (
            "a container keeps bubblewrap from working: start it with --security-opt "
            "seccomp=unconfined --security-opt systempaths=unconfined, or run nacre outside of it"
        )
    if "option" in words:
        return "install a newer bubblewrap (0.8 or later)"
    return "run 'bwrap --ro-bind / / --unshare-all true' and mend what it complains about"


def _is_about_users(words: str) -> bool:
    return any(word in words for word in ("uid map", "namespace", "RTM_NEWADDR", "ermission"))


def _knob(path: str) -> str:
    try:
        with open(path, encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


def has_linux() -> bool:
    return sys.platform == "linux"


class Stage:
    """A workspace for a trial, and a folder in it that must not be seen."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="nacre-probe-")
        root = os.path.realpath(self._folder.name)
        self.workspace, self.layers = os.path.join(root, "work"), os.path.join(root, "layers")
        # Within the workspace, where it would be seen if nothing covered it.
        self.hidden = os.path.join(self.workspace, "hidden")
        self.outside = os.path.join(root, "outside")
        for folder in (self.workspace, self.hidden, self.layers, self.outside):
            os.mkdir(folder, 0o700)
        for folder in (self.workspace, self.hidden, self.outside):
            with open(os.path.join(folder, "token"), "w", encoding="ascii") as file:
                file.write("secret")

    def __enter__(self) -> "Stage":
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()
