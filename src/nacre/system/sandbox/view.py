"""What a sandbox shows of the machine: a list of mounts, of which later ones lie over earlier ones.

Rule 1: nothing of nacre is shown: not its socket, token, settings or journals. A read-only mount
keeps nobody from connecting to a socket, so they are covered.
Rule 2: only the workspace can be written to, and what is empty at the start: /tmp, the home.
Rule 3: all paths are without links, because a link may lead out of what is shown.
"""

import os
import pwd
from collections.abc import Iterable
from contextlib import suppress
from typing import Literal, NamedTuple

from msgspec import Struct

from nacre.errors import BadParameter, InvalidInput
from nacre.system.processes.integration import SCRIPTS
from nacre.system.sandbox.profiles import Profile

# Private and empty in every sandbox. Sockets of the system lie in /run: docker, dbus, an X server's
# and ssh-agents' in /tmp.
_EMPTY = ("/tmp", "/var/tmp", "/run", "/home", "/root")  # noqa: S108  no file is made there
# What is needed of /run where it holds programs (NixOS).
_OF_RUN = ("/run/current-system", "/run/wrappers")
# Where desktops mount drives: the rest of /run has sockets, by which systemd or docker would start
# programs without a sandbox, and no projects.
_DRIVES = "/run/media"
# The folders of the system itself, for profiles that show nothing else.
_SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt"),
    *("/nix", "/gnu", "/snap"),
)
_BIN = ("/usr/bin", "/usr/sbin", "/bin", "/sbin", "/usr/local/bin", "/usr/local/sbin")
DENIED = os.path.join(os.path.dirname(os.path.realpath(__file__)), "denied")
# They are made anew, or belong to the kernel.
_NO_WORKSPACE = ("/proc", "/sys", "/dev")


class Mount(NamedTuple):
    """`source` is what is shown at `path`; for an overlay it is the folder of a layer.

    A `folder` is made in what is empty around it, with whose room it shares.
    """

    kind: Literal["read", "write", "empty", "folder", "link", "overlay"]
    path: str
    source: str = ""


class Surroundings(Struct, frozen=True):
    """What all sandboxes of a daemon have in common."""

    hidden: tuple[str, ...]  # nacre's own folders
    homes: tuple[str, ...]
    readable: tuple[str, ...]  # the setting sandbox_read
    denied: tuple[str, ...]  # the setting sandbox_deny


class SandboxView(NamedTuple):
    mounts: tuple[Mount, ...]

    def layered(self, workspace: str, layer: Mount) -> "SandboxView | None":
        """Return the same with a layer in the workspace's place; None: it has no such place."""
        before = Mount("write", workspace, workspace)
        if self.mounts.count(before) != 1:
            return None
        return SandboxView(tuple(layer if one == before else one for one in self.mounts))

    def shows(self, path: str) -> bool:
        """Return whether a file of the machine is there inside, under its own path."""
        return self.shows_real(os.path.realpath(path))

    def shows_real(self, path: str) -> bool:
        """Return the same for a path without links."""
        over = [mount for mount in self.mounts if is_below(path, mount.path)]
        return bool(over) and over[-1].kind not in ("empty", "folder", "link")


def find_surroundings(hidden: Iterable[str], readable: str, denied: str) -> Surroundings:
    """`readable` are paths with colons between them, as in PATH, `denied` words."""
    homes = {os.path.expanduser("~")}
    with suppress(KeyError):  # a user without an entry, as in some containers
        homes.add(pwd.getpwuid(os.getuid()).pw_dir)
    extra = [os.path.expanduser(one) for one in readable.split(":") if one.strip()]
    return Surroundings(
        hidden=_real(hidden),
        homes=tuple(sorted(set(_real(homes)) - {"/"})),
        readable=_real(extra),
        denied=tuple(denied.split()),
    )


def view_of(
    profile: Profile, around: Surroundings, workspace: str, layer: Mount | None = None
) -> SandboxView:
    """Return what a profile shows; `layer` takes the place of the workspace."""
    mounts = _visible(profile, around, workspace, layer)
    seen = SandboxView(tuple(mounts))
    mounts += [
        Mount("empty", path)
        for path in _outermost(path for path in around.hidden if os.path.isdir(path))
        if seen.shows(path) or _holds(seen, path)
    ]
    if profile.denies:
        mounts += _denied(around.denied, SandboxView(tuple(mounts)))
    return SandboxView(tuple(mounts))


def _visible(
    profile: Profile, around: Surroundings, workspace: str, layer: Mount | None
) -> list[Mount]:
    # Where nothing is shown, nothing need be covered; each mount takes time.
    covered = _EMPTY if profile.whole else _EMPTY[:1]
    empty = [path for path in _real((*covered, *around.homes)) if os.path.isdir(path)]
    mounts = [Mount("read", "/", "/")] if profile.whole else _system()
    outermost = _outermost(empty)
    mounts += [Mount("empty", path) for path in outermost]
    # Where nothing else is shown below a home, it would not be there at all.
    mounts += [Mount("folder", path) for path in around.homes if path not in outermost]
    needed = (workspace, *around.homes, *around.readable)
    if not profile.whole and not any(is_below(path, _EMPTY[1]) for path in needed):
        mounts.append(Mount("link", _EMPTY[1], empty[0]))
    mounts += [Mount("read", path, path) for path in _OF_RUN if os.path.exists(path)]
    mounts += [Mount("read", path, path) for path in around.readable if os.path.exists(path)]
    mounts.append(layer or Mount("read", workspace, workspace))
    if layer is None and profile.workspace != "read":
        mounts[-1] = Mount("write", workspace, workspace)
    scripts = os.path.realpath(SCRIPTS)
    mounts.append(Mount("read", scripts, scripts))
    return mounts


def bare_view(shown: Iterable[Mount], cwd: str, program: str, hidden: Iterable[str]) -> SandboxView:
    """Return what a program sees that gets what it needs to run, and these mounts.

    The folder that it runs in is empty, unless a mount shows it. What is `hidden` stays so below
    them.
    """
    mounts = [mount for mount in _system() if mount.path != "/etc"]
    mounts += [Mount("read", path, path) for path in _OF_RUN if os.path.exists(path)]
    if not SandboxView(tuple(mounts)).shows(program):
        mounts.append(Mount("read", program, program))
    system = SandboxView(tuple(mounts))
    more = sorted((one for one in shown if not system.shows(one.path)), key=lambda one: one.path)
    if cwd != "/" and not system.shows(cwd) and not any(is_below(cwd, one.path) for one in more):
        mounts.append(Mount("empty", cwd))
    for path in hidden:
        if os.path.lexists(path) and any(is_below(path, one.path) for one in more):
            cover = Mount("empty", path) if os.path.isdir(path) else Mount("read", path, os.devnull)
            more.append(cover)
    return SandboxView((*mounts, *more))


def check_workspace(workspace: str, around: Surroundings) -> None:
    """Raises BadParameter for a folder that would show what a sandbox has to hide."""
    other = "choose the folder of a project"
    for path in _real((*_EMPTY, *around.homes)):
        if is_below(path, workspace):
            what = "is the root of the machine" if workspace == "/" else f"would show all of {path}"
            raise BadParameter("cwd", f"{what}, which a sandbox hides", other)
    for path in around.hidden:
        if is_below(workspace, path):
            raise BadParameter("cwd", "is nacre's own folder, which a sandbox hides", other)
    if any(is_below(workspace, path) for path in _NO_WORKSPACE):
        raise BadParameter("cwd", "is no folder of files, so a sandbox cannot show it", other)
    if is_below(workspace, "/run") and not is_below(workspace, _DRIVES, own=False):
        raise BadParameter("cwd", "is in /run, where the sockets of other programs are", other)
    if not os.path.isdir(workspace):
        raise InvalidInput(f"the workspace {workspace} is gone", "make it again")


def _system() -> list[Mount]:
    """Return the folders of the system; some are links to others (/bin to usr/bin)."""
    return [
        Mount("link", path, os.readlink(path))
        if os.path.islink(path)
        else Mount("read", path, path)
        for path in _SYSTEM
        if os.path.lexists(path)
    ]


def _denied(names: Iterable[str], view: SandboxView) -> list[Mount]:
    """Cover programs by one that refuses.

    Not a program of many names (busybox): that would deny the others, too.
    """
    # Each folder is looked up once, as most of them are links to others: a session waits for it.
    paths = [f"{folder}/{name}" for folder in _real(_BIN) for name in names]
    found = {_target(path) for path in paths if os.path.isfile(path)}
    return [
        Mount("read", path, DENIED)
        for path in sorted(found)
        if os.path.basename(path) in names and view.shows_real(path)
    ]


def _target(path: str) -> str:
    """Return where a file of a folder without links really is."""
    return os.path.realpath(path) if os.path.islink(path) else path


def _holds(view: SandboxView, path: str) -> bool:
    """Return whether a folder that is itself covered has come to light again by a later mount."""
    made = ("empty", "folder")
    return any(mount.kind not in made and is_below(mount.path, path) for mount in view.mounts)


def _outermost(paths: Iterable[str]) -> list[str]:
    """Return the paths without those that lie below another one, and so are gone with it."""
    known = list(paths)
    return [path for path in known if not any(is_below(path, one, own=False) for one in known)]


def _real(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(os.path.realpath(path) for path in paths))


def is_below(path: str, folder: str, *, own: bool = True) -> bool:
    if path == folder:
        return own
    return path.startswith(folder.rstrip("/") + "/")


def search_path(path: str, view: SandboxView, cwd: str) -> str:
    """Return those entries of PATH that are there inside."""
    entries = path.split(os.pathsep)
    return os.pathsep.join(one for one in entries if view.shows(os.path.join(cwd, one)))
