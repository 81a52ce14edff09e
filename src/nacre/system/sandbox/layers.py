"""Layers: where a session of the profile `review` writes instead of into its workspace.

A layer is a folder of nacre's. With overlayfs it has what was written (upper), else a copy of the
workspace. `base` tells what the workspace was like when the layer was made: what differs from it
there has changed meanwhile.

Rule 1: the program in the sandbox may change the layer at any moment, and may want to deceive us.
So nothing in it is opened by a path: each folder is opened from the one above it, and no link is
followed (Rooted).
Rule 2: what a caller is shown is found in the same way as what is applied.
"""

import json
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Literal, NamedTuple

import msgspec

from nacre.errors import Failed, LimitReached
from nacre.system.sandbox.bubblewrap import UPPER, WORK
from nacre.system.sandbox.layer_work import LayerWork

_COPY, _BASE = "copy", "base"
_OPAQUE = "user.overlay.opaque"  # overlayfs.rst: nothing of the folder below is seen
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

What = Literal["file", "folder", "link", "other"]


class LayerEntry(NamedTuple):
    """What is known of a file without reading it. A folder's size and time say nothing."""

    what: What
    mode: int = 0
    size: int = 0
    time: int = 0  # nanoseconds
    link: str = ""


Walked = Iterator[tuple[str, LayerEntry]]

# Called again and again by what takes long; it raises what ends that.
Check = Callable[[], None]


def go_on() -> None:
    return None


class Base(msgspec.Struct, frozen=True):
    workspace: str
    entries: dict[str, LayerEntry]


class Touched(NamedTuple):
    """What a program has done to its workspace, as far as the layer tells."""

    there: dict[str, LayerEntry]  # written or made
    gone: set[str]


# --- making --------------------------------------------------------------------------------------


def make_layer(root: str, workspace: str, work: LayerWork, *, overlay: bool, most: int) -> str:
    """Make a layer for a workspace; return its folder.

    Raises LimitReached for a workspace of more than `most` bytes, if it has to be copied, and
    Failed where it cannot be read.
    """
    folder = os.path.join(root, secrets.token_hex(8))
    os.makedirs(folder, mode=0o700)
    try:
        with Rooted(workspace) as place:
            base = Base(workspace, dict(place.walk()))
        if overlay:
            for name in (UPPER, WORK):
                os.mkdir(os.path.join(folder, name), 0o700)
            shutil.copymode(workspace, os.path.join(folder, UPPER))
        else:
            _copy(workspace, folder, base, most, work)
        write_base(folder, base)
    except BaseException:
        work.remove(folder)
        raise
    return folder


def _copy(workspace: str, folder: str, base: Base, most: int, work: LayerWork) -> None:
    size = sum(entry.size for entry in base.entries.values())
    if size > most:
        raise LimitReached(
            f"a review copies its workspace here, which has {size} bytes: more than {most} "
            "(review_copy_bytes)",
            "choose a smaller folder",
            "install bubblewrap 0.11 or later, with which nothing is copied",
        )
    # Where the file system can share blocks, nothing is copied before it is written to.
    argv = ["cp", "-a", "--reflink=auto", "--", workspace, os.path.join(folder, _COPY)]
    code, said = work.copy(argv)
    if code:
        reason = said.decode(errors="replace").strip().split("\n")[0] or "cp was killed"
        raise Failed(f"the workspace cannot be copied: {reason}", "make it readable")


def is_overlay(folder: str) -> bool:
    return os.path.isdir(os.path.join(folder, UPPER))


def place_of(folder: str) -> str:
    """Return the folder with what was written."""
    return os.path.join(folder, UPPER if is_overlay(folder) else _COPY)


def has_base(folder: str) -> bool:
    """Return whether a layer is still there; one without changes is removed with the daemon."""
    return os.path.exists(os.path.join(folder, _BASE))


def read_base(folder: str) -> Base:
    """Raises Failed for a folder that is no layer, or no longer."""
    try:
        with open(os.path.join(folder, _BASE), "rb") as file:
            return msgspec.convert(json.load(file), Base)
    except (OSError, ValueError) as error:
        raise Failed("the layer of this session is gone", "start a new session") from error


def write_base(folder: str, base: Base) -> None:
    path = os.path.join(folder, _BASE)
    with open(f"{path}.new", "w", encoding="ascii") as file:
        json.dump(msgspec.to_builtins(base), file)  # not msgspec: a name may be no text
    os.replace(f"{path}.new", path)


# --- what a program has done ---------------------------------------------------------------------


def touched_in(folder: str, base: Base, check: Check = go_on) -> Touched:
    with Rooted(place_of(folder)) as place:
        walked = _checked(place.walk(), check)
        if is_overlay(folder):
            return _in_upper(place, base, walked)
        found = dict(walked)
    there = {path: entry for path, entry in found.items() if base.entries.get(path) != entry}
    return Touched(there, set(base.entries) - set(found))


def _checked(walked: Walked, check: Check) -> Walked:
    for one in walked:
        check()
        yield one


def _in_upper(place: "Rooted", base: Base, walked: Walked) -> Touched:
    """Read an overlay: a device 0:0 is something that is gone; an opaque folder hides all below."""
    there: dict[str, LayerEntry] = {}
    gone: set[str] = set()
    covered: set[str] = set()
    for path, entry in walked:
        if entry.what == "other" and place.is_whiteout(path):
            covered.add(path)
            gone.add(path)
            continue
        there[path] = entry
        before = base.entries.get(path)
        replaced = before is not None and before.what == "folder" and entry.what != "folder"
        if replaced or (entry.what == "folder" and place.is_opaque(path)):
            covered.add(path)
    for path in base.entries:
        if path not in there and any(above in covered for above in _above(path)):
            gone.add(path)
    return Touched(there, gone)


def _above(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


# --- a folder and what is in it ------------------------------------------------------------------


class Rooted:
    """A folder whose contents are reached without following a link. Use it as a context manager.

    Raises FileNotFoundError and other OSErrors for paths that are not what they were.
    """

    def __init__(self, root: str) -> None:
        self._root = os.open(root, _FOLDER)

    def __enter__(self) -> "Rooted":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._root)

    @contextmanager
    def folder_of(self, path: str) -> Iterator[tuple[int, str]]:
        """Open the folder that a path lies in; give its descriptor and the last name."""
        *parts, name = path.split("/")
        at = os.dup(self._root)
        try:
            for part in parts:
                below = os.open(part, _FOLDER, dir_fd=at)
                os.close(at)
                at = below
            yield at, name
        finally:
            os.close(at)

    def walk(self) -> Walked:
        """Yield everything below, each folder before what is in it."""
        for folder, names, files, at in os.fwalk(dir_fd=self._root, follow_symlinks=False):
            inside = "" if folder == "." else f"{folder.removeprefix('./')}/"
            for name in sorted((*names, *files)):
                with suppress(FileNotFoundError):  # it was removed meanwhile
                    yield f"{inside}{name}", _entry(name, at)

    def look(self, path: str) -> LayerEntry | None:
        try:
            with self.folder_of(path) as (at, name):
                return _entry(name, at)
        except OSError:
            return None

    def is_whiteout(self, path: str) -> bool:
        with self.folder_of(path) as (at, name):
            found = os.stat(name, dir_fd=at, follow_symlinks=False)
        return stat.S_ISCHR(found.st_mode) and found.st_rdev == 0

    def is_opaque(self, path: str) -> bool:
        with self.folder_of(path) as (at, name):
            below = os.open(name, _FOLDER, dir_fd=at)
        try:
            return os.getxattr(below, _OPAQUE) == b"y"
        except OSError:
            return False
        finally:
            os.close(below)

    def open(self, path: str) -> int:
        """Open a regular file for reading. Raises OSError for anything else."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with self.folder_of(path) as (at, name):
            descriptor = os.open(name, flags, dir_fd=at)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise FileNotFoundError(path)
        return descriptor

    def make_folder(self, path: str, mode: int) -> None:
        with self.folder_of(path) as (at, name):
            with suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=at)
            below = os.open(name, _FOLDER, dir_fd=at)
            try:
                os.fchmod(below, mode)
            finally:
                os.close(below)

    def make_link(self, path: str, target: str) -> None:
        with self.folder_of(path) as (at, name):
            fresh = f".nacre-{secrets.token_hex(8)}"
            os.symlink(target, fresh, dir_fd=at)
            os.replace(fresh, name, src_dir_fd=at, dst_dir_fd=at)

    def write(self, path: str, source: int, mode: int, time: int) -> None:
        """Put a file in its place, whole or not at all; `source` is what to read."""
        with self.folder_of(path) as (at, name):
            fresh = f".nacre-{secrets.token_hex(8)}"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(fresh, flags, 0o600, dir_fd=at)
            try:
                with os.fdopen(descriptor, "wb") as to, os.fdopen(os.dup(source), "rb") as file:
                    shutil.copyfileobj(file, to)
                    to.flush()
                    os.fchmod(descriptor, mode)
                    os.utime(descriptor, ns=(time, time))
                os.replace(fresh, name, src_dir_fd=at, dst_dir_fd=at)
            except BaseException:
                with suppress(OSError):
                    os.unlink(fresh, dir_fd=at)
                raise

    def remove(self, path: str, *, folder: bool) -> None:
        """Raises OSError for a folder that is not empty."""
        with self.folder_of(path) as (at, name):
            if folder:
                os.rmdir(name, dir_fd=at)
            else:
                os.unlink(name, dir_fd=at)


def _entry(name: str, at: int) -> LayerEntry:
    found = os.stat(name, dir_fd=at, follow_symlinks=False)
    # Who runs as whom is a right, and no content: it is neither compared nor applied.
    mode = stat.S_IMODE(found.st_mode) & 0o777
    if stat.S_ISDIR(found.st_mode):
        return LayerEntry("folder", mode)
    if stat.S_ISLNK(found.st_mode):
        return LayerEntry("link", link=os.readlink(name, dir_fd=at))
    if stat.S_ISREG(found.st_mode):
        return LayerEntry("file", mode, found.st_size, found.st_mtime_ns)
    return LayerEntry("other", mode)
