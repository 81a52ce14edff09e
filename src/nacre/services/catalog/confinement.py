"""What a confined program of the catalog is shown, beside what it needs to run.

Rule: nothing that the path rules block is shown, whatever a link or a repository's files say.
"""

import os
from collections.abc import Sequence
from contextlib import suppress

from nacre.core.commands.entry import Confinement
from nacre.core.policy.paths import BLOCKED, Where, is_below
from nacre.system.sandbox.view import Mount

_GITDIR = "gitdir:"
_LONGEST = 4096  # bytes of a path in a file of git's
_CONFIGURED = (".gitconfig", ".config/git")  # the user's own, which git reads


def mounts_of(confined: Confinement, files: Sequence[str], where: Where) -> list[Mount]:
    """Return the mounts for a call with these paths, as they were given."""
    assert where.folder is not None
    paths = [os.path.normpath(os.path.join(where.folder, one)) for one in files]
    if confined == "files":
        found = [Mount("read", path, _lead(path, where)) for path in paths]
    elif confined == "folder":
        found = _folders(paths, where)
    else:
        found = _repository(where.folder, where)
    return [one for one in found if os.path.exists(one.source) and _may_show(one.source, where)]


def _lead(path: str, where: Where) -> str:
    return where.path(path) or path


def _may_show(path: str, where: Where) -> bool:
    """Return whether a path is not blocked, and no folder above what is."""
    return not where.is_blocked(path) and not any(is_below(one, (path,)) for one in BLOCKED)


def _folders(paths: Sequence[str], where: Where) -> list[Mount]:
    """Return folders to write to: those of the paths that are one, and those of the others."""
    assert where.folder is not None
    folders = [where.folder]
    for path in paths:
        folders.append(path if os.path.isdir(path) else os.path.dirname(path))
    return [Mount("write", path, _lead(path, where)) for path in dict.fromkeys(folders)]


def _repository(folder: str, where: Where) -> list[Mount]:
    """Return the repository that a folder is in, where its objects are, and the user's settings."""
    found = [Mount("read", path, path) for path in _known_to_git(folder)]
    for name in _CONFIGURED:
        path = os.path.join(where.home, name)
        found.append(Mount("read", path, _lead(path, where)))
    return found


def _known_to_git(folder: str) -> list[str]:
    top = folder
    while not os.path.lexists(os.path.join(top, ".git")):
        if top in ("/", ""):
            return [folder]  # none, or a bare one
        top = os.path.dirname(top)
    entry = os.path.join(top, ".git")
    found = [top]
    if os.path.islink(entry):
        found.append(os.path.realpath(entry))
    elif os.path.isfile(entry):  # of a worktree, or of a submodule
        said = _read(entry)
        if said.startswith(_GITDIR):
            found += _elsewhere(os.path.join(top, said.removeprefix(_GITDIR).strip()))
    return found


def _elsewhere(folder: str) -> list[str]:
    """Return the folder of a worktree, and the one that it shares with others."""
    real = os.path.realpath(folder)
    shared = _read(os.path.join(real, "commondir"))
    return [real, os.path.realpath(os.path.join(real, shared))] if shared else [real]


def _read(path: str) -> str:
    with suppress(OSError, ValueError), open(path, encoding="utf-8") as file:
        return file.read(_LONGEST).strip()
    return ""
