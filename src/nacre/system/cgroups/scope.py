"""Ask systemd for a scope of our own, in which cgroups may be made (systemd.scope(5)).

Rule: nothing is moved that would end earlier by it. What belongs to a user's systemd ends with the
user's last login, unless they linger (loginctl(1)).
"""

import os
import pwd
import subprocess
from collections.abc import Collection
from contextlib import suppress

from nacre.system.cgroups.place import CgroupRefused

_PATIENCE = 5.0  # seconds for an answer that takes 20 ms
_LINGERING = "/var/lib/systemd/linger"
_ANSWERS = "/run/systemd/system"  # exists where systemd is the first process (sd_booted(3))


def enter_scope(pids: Collection[int], group: str) -> None:
    """Move processes to a new scope that is delegated to us; `group` is where they are now.

    Raises CgroupRefused where there is no systemd, or it does not do so.
    """
    if not os.path.isdir(_ANSWERS):
        raise CgroupRefused("systemd does not run here", "run nacre where it does")
    user = os.getuid()
    if user and f"user@{user}.service" not in group and not _lingers(user):
        raise CgroupRefused(
            "the user's systemd would end all sessions at the last logout",
            "loginctl enable-linger, if you want cgroups",
        )
    try:
        done = subprocess.run(
            _call("--user" if user else "--system", pids),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE,
            check=False,
            env=_environment(user),
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise CgroupRefused(f"systemd cannot be asked: {error}", "install systemd's busctl") from (
            error
        )
    if done.returncode:
        said = done.stderr.strip().split("\n")[-1] or f"exit code {done.returncode}"
        raise CgroupRefused(f"systemd gave no scope: {said}", "look at: systemctl --user status")


def _call(manager: str, pids: Collection[int]) -> list[str]:
    """Return a call of StartTransientUnit (org.freedesktop.systemd1(5))."""
    return [
        *("busctl", manager, "call", "org.freedesktop.systemd1", "/org/freedesktop/systemd1"),
        *("org.freedesktop.systemd1.Manager", "StartTransientUnit", "ssa(sv)a(sa(sv))"),
        *(f"nacre-{os.getpid()}.scope", "fail"),
        *("3", "PIDs", "au", str(len(pids)), *map(str, pids)),
        *("Delegate", "b", "true", "CollectMode", "s", "inactive-or-failed", "0"),
    ]


def _environment(user: int) -> dict[str, str]:
    runtime = os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{user}"
    return {"PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": runtime, "LC_ALL": "C"}


def _lingers(user: int) -> bool:
    with suppress(KeyError):
        return os.path.exists(os.path.join(_LINGERING, pwd.getpwuid(user).pw_name))
    return False
