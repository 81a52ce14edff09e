"""The answers that stand, written down by a daemon for the bridge that starts a later one.

Rule 1: they follow from the program alone, like compiled modules, and stand beside those; in the
state folder where that is not writable.
Rule 2: they count only as long as all files that they follow from are what they were.
Rule 3: the stdio bridge loads this file while its host waits, so it imports almost nothing.
"""

import json
import os
import sys

import nacre
from nacre.settings.paths import Paths

_PROGRAM = os.path.dirname(os.path.abspath(nacre.__file__))

# What they follow from: modules of these rooms, and the library that makes schemas.
_ROOMS = ("nacre.doors.mcp", "nacre.core", "nacre.settings", "nacre.wording", "nacre.errors")
_LIBRARY = "msgspec"

# Names of toolsets and prefixes have no other characters; nothing else becomes a file's name.
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-,")
_LONGEST_NAME = 100


def read_answers(
    paths: Paths, toolsets: "str | None", prefix: "str | None"
) -> "dict[str, bytes] | None":
    """Return the answers by their keys; None if there are none, or the program is another."""
    if _may_be_clustered(paths):
        return None
    for place in _places(paths, toolsets, prefix):
        try:
            with open(place, "rb") as file:
                head, *lines = file.read().split(b"\n")
            known = json.loads(head)
            if known["version"] != nacre.__version__ or not _unchanged(known["files"]):
                continue
            pairs = (line.partition(b"\t") for line in lines if line)
            return {key.decode(): answer for key, _, answer in pairs}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue
    return None


def write_answers(
    paths: Paths, toolsets: "str | None", prefix: "str | None", answers: "dict[str, bytes]"
) -> bool:
    """Write them where they can be read; return whether there was a place. It blocks."""
    head = {"version": nacre.__version__, "files": _facts(_sources())}
    lines = [f"{key}\t".encode() + answer for key, answer in answers.items()]
    text = b"\n".join((json.dumps(head).encode(), *lines))
    for place in _places(paths, toolsets, prefix):
        beside = f"{place}.{os.getpid()}"
        try:
            with open(beside, "wb") as file:
                file.write(text)
            os.replace(beside, place)
        except OSError:
            continue
        return True
    return False


def _may_be_clustered(paths: Paths) -> bool:
    """Whether the daemon may be one of many hosts: then its tools have more parameters.

    It is the only setting that changes them. TOML is not read for that: it takes a while to load.
    """
    if os.environ.get("NACRE_CLUSTER"):
        return True
    try:
        with open(paths.config_file, "rb") as file:
            return b"cluster" in file.read()
    except OSError:
        return False


def _places(paths: Paths, toolsets: "str | None", prefix: "str | None") -> "list[str]":
    """Return where answers may be; nowhere if what was asked for is no name."""
    asked = (toolsets or "", prefix or "")
    if not _SAFE.issuperset("".join(asked)) or len("".join(asked)) > _LONGEST_NAME:
        return []
    name = f"answers.{'.'.join(asked)}"
    folders = [paths.state]
    if sys.pycache_prefix is None and not sys.dont_write_bytecode:
        folders.insert(0, os.path.join(_PROGRAM, "__pycache__"))
    return [os.path.join(folder, name) for folder in folders]


def _sources() -> "list[str]":
    """Return the files that the answers follow from; called once those are loaded."""
    found = {nacre.__file__}
    for name, module in list(sys.modules.items()):
        if name == _LIBRARY or name.startswith(_ROOMS):
            found.add(getattr(module, "__file__", None) or "")
    skills = os.path.join(_PROGRAM, "doors", "mcp")
    for folder in ("skills", "agent_skills"):
        with os.scandir(os.path.join(skills, folder)) as entries:
            found.update(entry.path for entry in entries)
    return sorted(found - {""})


def _facts(files: "list[str]") -> "dict[str, list[int]]":
    return {file: _fact(file) for file in files}


def _fact(file: str) -> "list[int]":
    found = os.stat(file)
    return [found.st_mtime_ns, found.st_size]


def _unchanged(files: "dict[str, list[int]]") -> bool:
    return bool(files) and all(_fact(file) == known for file, known in files.items())
