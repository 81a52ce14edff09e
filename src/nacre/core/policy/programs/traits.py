"""What a program is known for by its name and words: what it prints, changes and runs."""

import re
from collections.abc import Iterable

from nacre.core.policy.behind.wrappers import SCRIPT
from nacre.core.policy.words import Program, Word

# Commands that print nothing: what they are redirected to is emptied.
NOTHING = frozenset(
    (
        *((":",), ("true",), ("false",), ("cat", "/dev/null"), ("echo", "-n"), ("printf", "")),
        *(("echo",), ("echo", ""), ("echo", "-n", ""), ("printf", "%s", "")),
    )
)
_ENDLESS = frozenset(("/dev/zero", "/dev/urandom", "/dev/random"))
_BUILT = re.compile(
    r"(?:\./)?(?:build|dist|out|target|_build|\.build|bazel-bin|cmake-build-\w+)(?:/(?!\.\.?/)[\w.+-]+)+"
)
_CHANGING = frozenset(
    ("--write", "-w", "--fix", "-i", "--in-place", "--inplace", "-a", "-A", "--autocorrect", "fix")
)
_GIT_MAKING = frozenset(("mv", "worktree", "bundle", "merge-file", "clone", "init"))
# What they make is empty, so nothing of it runs.
EMPTY_MAKERS = frozenset(("mkdir", "touch", "mktemp"))
# They only lay out what is the project's already.
FORMATTERS = frozenset(
    (
        *("ruff", "black", "isort", "gofmt", "goimports", "rustfmt", "clang-format", "shfmt"),
        *("codespell", "typos", "taplo"),
    )
)


def runs_more_than_hooks(program: Program) -> bool:
    """Return whether code of the workspace that it runs is more than git's hooks."""
    return program.name != "git" and program.name not in FORMATTERS


def applies_patch(program: Program) -> bool:
    """Return whether it changes files that it does not name."""
    if program.name == "git":
        return any(word.text in ("am", "apply") for word in program.arguments[:3])
    return program.name == "patch"


def changes_files(program: Program) -> bool:
    """Return whether it is told to write down what it would change in the files it is given."""
    return any(word.text in _CHANGING for word in program.arguments)


def makes_files(program: Program) -> bool:
    """Return whether it is a git that writes to the paths that it is given."""
    return program.name == "git" and any(word.text in _GIT_MAKING for word in program.arguments[:3])


def is_endless(program: Program) -> bool:
    return program.name == "yes" or (
        program.name == "cat" and any(word.text in _ENDLESS for word in program.arguments)
    )


def is_built(name: Word) -> bool:
    """Return whether it is a program of the workspace, in a folder that builds write to."""
    return name.text is not None and _BUILT.fullmatch(name.text) is not None


def is_installed(name: Word) -> bool:
    """Return whether a name is one that a search finds, or one of an environment's own."""
    text = name.text or ""
    if "/" not in text:
        return True
    folder = text.rsplit("/", 1)[0]
    if folder in ("/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/opt/homebrew/bin"):
        return True
    if SCRIPT.fullmatch(text):
        return True
    parts = folder.split("/")
    if ".." in parts or text.startswith(("/", "~")):
        return False
    return parts[-1] in ("bin", ".bin") or text in ("./gradlew", "./mvnw", "./configure")


def paths_in(word: Word) -> Iterable[str]:
    """Yield what in a word may be a path: it, or what follows an option."""
    text = word.text if word.text is not None else word.guess or word.lead
    if not text:
        return ()
    if not text.startswith("-"):
        name, equals, value = text.partition("=")
        # of=FILE, NAME=/path
        return (text, value) if equals and value and "/" not in name else (text,)
    _, equals, value = text.partition("=")
    if equals:
        kind, colon, path = value.partition(":")
        if colon and kind.isalpha() and path and not path.startswith("//"):
            return (value, path)  # --cov-report=html:/path
        return (value,) if value else ()
    if text[1:2] in ("I", "L") and "/" in text:  # -Iinclude/x of compilers
        return (text[2:],)
    slash = text.find("/")
    return (text[slash:],) if slash > 0 else ()
