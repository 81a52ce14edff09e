"""Words of builds and package managers: what NAME=value sets, and where a package comes from.

Rule: a name that a build runs (a compiler, a launcher) is one that everybody has installed.
"""

import re
from collections.abc import Sequence

from nacre.core.policy.words import Word

_SETTING = re.compile(r"[.\w-]+[:+?]?")
_RUNNING = re.compile(r"[;|&`<>]|\$[({]")
# Options of compilers by which they load or run something.
_LOADING = re.compile(r"(?:^|[\s,='\"])(?:-wrapper|-f(?:pass-)?plugin|-specs|-load|-B|-Xclang|@)")
_STEERING = re.compile(
    r"\.?SHELL(?:FLAGS)?|MAKE|MAKEFLAGS|MAKEFILES|CONFIG_SHELL|PATH|LD_\w+|DYLD_\w+|BASH_ENV|GIT_\w+"
    r"|NODE_OPTIONS|PERL5\w*|RUBYOPT|PYTHONSTARTUP|PYTHONHOME|GOFLAGS|\w+_WRAPPER|\w+_LAUNCHER"
)
_TOOLS = frozenset(("CC", "CXX", "LD", "AR", "AS", "NM", "CPP", "FC", "RANLIB", "STRIP", "PYTHON"))
# What cmake runs, or reads as its own code, by a variable (cmake-variables(7)).
_CMAKE_TOOLS = re.compile(
    r"CMAKE_\w*(?:COMPILER|LAUNCHER|LINKER|MAKE_PROGRAM|_AR|_NM|_STRIP|RANLIB|OBJCOPY|EMULATOR"
    r"|CLANG_TIDY|CPPCHECK|CPPLINT|WHAT_YOU_USE|RULE_LAUNCH\w*|_COMMAND|EXECUTABLE)"
)
_COMPILERS = frozenset(
    (
        *("gcc", "g++", "cc", "c++", "clang", "clang++", "ccache", "ld", "lld", "ld.lld", "mold"),
        *("ar", "llvm-ar", "as", "nm", "ranlib", "strip", "python", "python3", "gfortran", "cpp"),
        *("sccache", "ninja", "make", "clang-tidy", "cppcheck", "nvcc", "hipcc", "icx", "icpx"),
    )
)
_VERSIONED = re.compile(r"-\d+(?:\.\d+)*$")  # clang-17
_PROGRAMS = frozenset(
    (
        *("rm", "sh", "bash", "zsh", "dash", "ksh", "perl", "ruby", "node", "sudo", "curl", "wget"),
        *("eval", "exec", "env", "dd", "chmod", "chown", "kill", "shred", "unlink", "find"),
        "xargs",
    )
)
_REPOSITORY = re.compile(r"[\w-][\w.-]*/[\w.-]+(?:#\S*)?|(?:github|gitlab|bitbucket|gist):\S+")
_TAKES_FOLDER = frozenset(
    (
        *("-w", "--workspace", "-C", "--dir", "--cwd", "--prefix", "--filter", "-F"),
        *("--modules-folder", "--lockfile-dir", "--cache", "--store-dir"),
    )
)


def settings(words: Sequence[Word]) -> bool:
    """Return whether what NAME=value gives a build is no command of one's own."""
    return all(_is_plain(word.text or "") for word in words)


def _is_plain(text: str) -> bool:
    name, equals, value = text.removeprefix("-D").partition("=")
    name = name.partition(":")[0] if text.startswith("-D") else name
    if not equals or not _SETTING.fullmatch(name):
        return True
    words = value.split() or [""]
    first = _VERSIONED.sub("", words[0].rsplit("/", 1)[-1])
    if _RUNNING.search(value) or _LOADING.search(value) or first in _PROGRAMS:
        return False
    if name in _TOOLS or _CMAKE_TOOLS.fullmatch(name):
        folder = words[0].rpartition("/")[0]
        return first in _COMPILERS and folder in ("", "/usr/bin", "/usr/local/bin")
    return _STEERING.fullmatch(name) is None


def elsewhere(words: Sequence[Word]) -> bool:
    """Return whether it is told to build or run what lies at an absolute path.

    Behind an option stands where it writes to (-o /tmp/app).
    """
    before = ""
    for word in words:
        text, last = word.text or word.lead, before
        before = text
        if text[:1] in ("/", "~") and not last.startswith("-"):
            return True
    return False


def repository_names(words: Sequence[Word]) -> bool:
    """Return whether a package is named by its repository (someone/x), which npm then clones."""
    before = ""
    for word in words:
        text, last = word.text or "", before
        before = text
        if last not in _TAKES_FOLDER and _REPOSITORY.fullmatch(text):
            return True
    return False


_SCRATCH = re.compile(r"(?:[^/]*(?:file|link):(?://)?)?(?:/private)?/(?:tmp|var/tmp|dev/shm)/")
# Behind them stands no package.
_NO_PACKAGE = frozenset(
    (
        *("-o", "-d", "-w", "--cache-dir", "--cache"),
        *("--python", "-p", "--dest", "--wheel-dir", "--output-file", "--report", "--prefix"),
        *("--root", "--target-dir", "--userconfig", "--store-dir", "--pack-destination"),
    )
)


_LISTING = ("-r", "-c", "-e")


def packages_of_scratch(words: Sequence[Word]) -> bool:
    """Return whether a package, or a list of them, lies where anybody may have put it."""
    before = ""
    for word in words:
        text, last = word.text or word.lead, before
        before = text
        value = text.partition("=")[2] if text.startswith("-") else text
        name = text.partition("=")[0] if text.startswith("-") else last
        if name not in _NO_PACKAGE and _SCRATCH.match(value):
            return True
        # What a list names is installed as well, glued to its option or not.
        if text[:2] in _LISTING and _SCRATCH.match(text[2:]):
            return True
    return False


# Of jq: a program in a file, and a folder of them; alone, in a group, or with the value glued on.
_LOADS = re.compile(r"-[A-Za-z]*[fL](.*)|--(?:from-file|library-path)(?:=(.*))?")


def loads_from_elsewhere(words: Sequence[Word]) -> bool:
    """Return whether a program file is given by an absolute path, or one that leads up."""
    for index, word in enumerate(words):
        found = _LOADS.fullmatch(word.text or "")
        if found is None:
            continue
        given = found[1] or found[2]
        if not given and index + 1 < len(words):
            given = words[index + 1].text or words[index + 1].lead
        if (given or "").startswith(("/", "~", "../")):
            return True
    return False
