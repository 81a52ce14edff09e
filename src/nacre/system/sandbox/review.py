"""Compare a layer with its workspace, and apply to the workspace what was found.

Rule 1: nothing is applied that was not found, and nothing outside of the workspace is touched: no
link is followed on the way (layers.Rooted).
Rule 2: a conflict is a file that was changed in the workspace after the layer was made. With one,
nothing is applied, unless the caller insists.
Rule 3: a link that leads out of the workspace, a device or a socket is shown and never applied: a
program could have us or a person write through it later.
"""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Literal, NamedTuple

from nacre.core.text.unseen import spelled_out
from nacre.system.sandbox.layers import (
    Base,
    Check,
    LayerEntry,
    Rooted,
    go_on,
    place_of,
    read_base,
    touched_in,
    write_base,
)

Kind = Literal["added", "changed", "deleted"]

_BLOCK = 256 * 1024
_DIFF_TIME = 20.0  # seconds for one file; `diff` gives up on nothing by itself


class Change(NamedTuple):
    path: str
    kind: Kind
    entry: LayerEntry  # as it is in the layer; of what is deleted, as it was
    conflict: bool = False  # the workspace has changed there, too
    refused: str = ""  # why it cannot be applied
    contents: bool = True  # not only its mode


class NotCompared(Exception):
    """It takes too long to know whether there are changes."""


class AppliedChanges(NamedTuple):
    done: list[Change]
    left: list[tuple[Change, str]]  # with the reason


def compare(folder: str) -> list[Change]:
    """Return what a session has changed, in the order of the paths. Raises Failed, OSError."""
    return sorted(_changes(folder, go_on), key=lambda change: change.path)


def has_changes(folder: str, patience: float) -> bool:
    """Return whether `compare` would find anything. Raises as that does.

    NotCompared when it is not known after so many seconds.
    """
    until = time.monotonic() + patience

    def check() -> None:
        if time.monotonic() > until:
            raise NotCompared(f"a layer was not compared within {patience:g} s")

    return next(_changes(folder, check), None) is not None


def _changes(folder: str, check: Check) -> Iterator[Change]:
    base = read_base(folder)
    touched = touched_in(folder, base, check)
    with Rooted(base.workspace) as now, Rooted(place_of(folder)) as layer:
        for path in touched.gone:
            check()
            if (entry := now.look(path)) is not None:
                yield Change(path, "deleted", entry, _differs(base, path, entry))
        for path, entry in touched.there.items():
            check()
            there = now.look(path)
            same = there is not None and _has_same_contents(path, entry, there, layer, now, check)
            if there is not None and same and entry.mode == there.mode:
                continue
            conflict = _differs(base, path, there)
            if entry.what == "folder" and there is not None and there.what == "folder":
                conflict = False  # only its mode
            kind: Kind = "added" if there is None else "changed"
            refused = _why_not(path, entry, base.workspace)
            yield Change(path, kind, entry, conflict, refused, not same)


def apply(folder: str, changes: list[Change]) -> AppliedChanges:
    """Apply changes to the workspace, and note what it is like now. Raises Failed, OSError."""
    base = read_base(folder)
    done: list[Change] = []
    left: list[tuple[Change, str]] = [(one, one.refused) for one in changes if one.refused]
    wanted = [change for change in changes if not change.refused]
    # What is deeper goes first; then folders come before what is in them.
    deleted = [one for one in reversed(wanted) if one.kind == "deleted"]
    with Rooted(base.workspace) as now, Rooted(place_of(folder)) as layer:
        for change in (*deleted, *(one for one in wanted if one.kind != "deleted")):
            try:
                _apply(change, now, layer)
            except OSError as error:
                left.append((change, error.strerror or str(error)))
                continue
            done.append(change)
            if (entry := now.look(change.path)) is not None:
                base.entries[change.path] = entry
            else:
                base.entries.pop(change.path, None)
    write_base(folder, base)
    return AppliedChanges(done, left)


def text_of(folder: str, change: Change, most: int) -> str:
    """Return a change as `diff -u` shows it, or a line that says what it is."""
    label, entry = _quoted(change.path), change.entry
    if entry.what == "link" and change.kind != "deleted":
        return f"{change.kind} link: {label} -> {_quoted(entry.link)}\n"
    if entry.what != "file" or not change.contents:
        mode = f" (mode {entry.mode:04o})" if change.kind == "changed" else ""
        return f"{change.kind} {entry.what}: {label}{mode}\n"
    if entry.size > most:
        return f"{change.kind} file: {label} ({entry.size} bytes)\n"
    base = read_base(folder)
    before = _open(base.workspace, change.path) if change.kind != "added" else None
    after = _open(place_of(folder), change.path) if change.kind != "deleted" else None
    try:
        shown = _diff(change.path, before, after, most)
    finally:
        for descriptor in (before, after):
            if descriptor is not None:
                os.close(descriptor)
    return shown or f"{change.kind} file: {label} ({entry.size} bytes)\n"


def _quoted(name: str) -> str:
    """Return a name as git does: in quotes, with escapes, if it could be taken for something else.

    A line's end in a name would let a program write lines of the diff that a person decides by.
    """
    shown = spelled_out(name).replace("\n", "\\n")
    if shown == name and not any(sign in name for sign in ('"', "\\", " -> ")):
        return name
    return f'"{spelled_out(name.translate(_ESCAPED))}"'


_ESCAPED = str.maketrans({"\n": "\\n", '"': '\\"', "\\": "\\\\"})


def _diff(path: str, before: int | None, after: int | None, most: int) -> str:
    """Return what diff(1) says; nothing where it cannot tell."""
    given = [one for one in (before, after) if one is not None]
    if any(os.fstat(one).st_size > most for one in given):
        return ""
    names = ["/dev/null" if one is None else f"/dev/fd/{one}" for one in (before, after)]
    labels = ["--label", _quoted(f"a/{path}"), "--label", _quoted(f"b/{path}")]
    try:
        done = subprocess.run(
            ["diff", "-u", *labels, *names],
            pass_fds=given,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_DIFF_TIME,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode(errors="replace")


def _open(root: str, path: str) -> int | None:
    try:
        with Rooted(root) as place:
            return place.open(path)
    except OSError:
        return None


def _apply(change: Change, now: Rooted, layer: Rooted) -> None:
    path, entry = change.path, change.entry
    if change.kind == "deleted":
        now.remove(path, folder=entry.what == "folder")
        return
    there = now.look(path)
    if there is not None and (there.what == "folder") != (entry.what == "folder"):
        now.remove(path, folder=there.what == "folder")
    if entry.what == "folder":
        now.make_folder(path, entry.mode)
    elif entry.what == "link":
        now.make_link(path, entry.link)
    else:
        source = layer.open(path)
        try:
            now.write(path, source, entry.mode, entry.time)
        finally:
            os.close(source)


def _differs(base: Base, path: str, there: LayerEntry | None) -> bool:
    before = base.entries.get(path)
    return before != there


def _has_same_contents(
    path: str, entry: LayerEntry, there: LayerEntry, layer: Rooted, now: Rooted, check: Check
) -> bool:
    if (entry.what, entry.link) != (there.what, there.link) or entry.what == "other":
        return False
    if entry.what != "file":
        return True
    if entry.size != there.size:
        return False
    with suppress(OSError):
        ours, theirs = layer.open(path), now.open(path)
        with os.fdopen(ours, "rb") as one, os.fdopen(theirs, "rb") as other:
            while block := one.read(_BLOCK):
                check()
                if block != other.read(_BLOCK):
                    return False
            return not other.read(1)
    return False


def _why_not(path: str, entry: LayerEntry, workspace: str) -> str:
    if entry.what == "other":
        return "it is a device, a pipe or a socket"
    if entry.what != "link":
        return ""
    leads = os.path.normpath(os.path.join(workspace, os.path.dirname(path), entry.link))
    inside = leads == workspace or leads.startswith(workspace.rstrip("/") + "/")
    return "" if inside else f"it is a link that leads out of the workspace, to {entry.link}"
