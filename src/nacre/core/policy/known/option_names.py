"""Options by what their names say, for programs that have too many to list them.

Rule: what is not known to be harmless asks. A list of what is dangerous would have to know every
option of every version of hundreds of programs: so a name is taken apart, and each of its words is
one of those that nothing dangerous is called by (option_words.py).
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from nacre.core.policy.known.option_words import NAMES, WORDS
from nacre.core.policy.words import Word

# What is known of an option of that name, if anything is (programs/given.py).
Listed = Callable[[str], str | None]

# camelCase and digits end a word: maxWorkers, py311, log2.
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
# What they name is code, or says what code is loaded: of this project it may be.
_LOADING = re.compile(
    r"(?:^|-)(?:config(?:s|uration)?|rules?|rulesdir|settings?|env|setup|resolver|transform|preset"
    r"|tsconfig|project|environment|schema|policy|template|module|package|app|import|python|runtime"
    r"|toolchain|sdk|cwd|chdir|workdir|working-dir|working-directory|manifest-path)(?:-|$)"
    r"|^dir(?:ectory)?$|^roots?(?:-|$)"
)
# Of these not even this project's own code is meant, but a name (json, dot, verbose).
_SHOWING = re.compile(
    r"(?:^|-)(?:format|formatter|reporter|renderer|viewer|printer|parser|syntax|preset|use|processor|rule)s?$"
)
# An option for the interpreter below.
_HANDED_ON = re.compile(
    r"(?:^|[ =])(?:--(?:require|import|loader|eval)\b|-[re] |-javaagent|-agent)"
)
_CODE = re.compile(r"\.(?:[cm]?[jt]sx?|py|rb|php|lua|so|dylib|dll|jar|sh|pl|exe)$")
_ELSEWHERE = re.compile(r"(?:/(?!dev/)|~|\.\./|\w+://)")
_SOME_ELSEWHERE = re.compile(r"(?:^|[=:,\"' ])(?:/(?!dev/)|~|\.\./|\w+://)")
# To do less is harmless, and so is to tell: --no-scripts, --skip-hooks, --max-depth, --list-tests.
_LESS = frozenset(("no", "skip", "ignore", "exclude", "disable", "without", "omit", "hide"))
_TELLS = frozenset(("show", "list", "print", "max", "min", "only", "count", "dump", "enable"))
_TOLD = frozenset(
    (
        *("secret", "secrets", "token", "tokens", "password", "passwords", "key", "keys", "exec"),
        *("credential", "credentials", "command", "commands", "cmd", "shell", "script", "scripts"),
        *("plugin", "plugins", "hook", "hooks", "helm", "remote", "host", "root", "load", "run"),
        *("env", "open", "delete", "remove", "upload", "publish", "push", "write", "unsafe"),
    )
)
# What to run or load; tools that mean something else by them have them in the table.
_ORDERS = frozenset(("run", "load", "extension", "extensions", "use", "with"))
# What to run when something has happened: --onSuccess, --watch.onEnd.
_HANDLER = re.compile(r"(?:^|[.])on(?=[A-Z-])")
# Who is told to listen or to ask there: this machine alone.
_PLACE = re.compile(r"(?:^|-)(?:host|hostname|bind|listen|address|addr|ip)$")
_NEAR = re.compile(r"(?:localhost|127\.0\.0\.1|\[?::1\]?|unix:\S*)(?::\d+)?")
# A part follows a colon: --loader:.png=file (esbuild), --collect:"XPlat Code Coverage" (dotnet).
_TAKES_PART = re.compile(
    r"(?:loader|external|define|alias|banner|footer|pure|supported|collect):.+"
)
# They are told where somebody else is, and fetch nothing to run from there.
_ADDRESS = re.compile(r"(?:^|-)(?:url|uri|baseurl|homepage|site|origin|query|message|title)$")
_FETCHED = re.compile(
    r"(?:^|-)(?:source|repository|repo|registry|index|feed|channel|config|template|schema)s?$"
)
_LOCAL = re.compile(r"\w+://(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0)(?:[:/?]|$)")


def harmless_names(words: Sequence[Word], listed: Listed) -> bool:
    """Return whether all long options of a program are listed, or known by their words."""
    for index, word in enumerate(words):
        text = word.text if word.text is not None else word.lead
        if text.startswith(("@/", "@~", "@.")):
            return False  # a file of further words
        if not text.startswith("--") or len(text) == 2:
            continue
        name, equals, value = text[2:].partition("=")
        if word.text is None and not equals:
            return False  # the name goes on in what is not known
        if listed(f"--{name}") is not None:
            continue
        if not is_harmless_name(name):
            return False
        if not equals and index + 1 < len(words):
            value = words[index + 1].text or words[index + 1].lead
            value = "" if value.startswith("--") else value
        name = "-".join(_PART.findall(name))
        fetches = bool(equals) or _FETCHED.search(name.lower()) is not None
        if fetches and _is_far(name.lower(), value):
            return False
        if not _is_harmless_value(name.lower(), value):
            return False
    return True


def is_harmless_property(name: str, value: str) -> bool:
    """Return whether NAME=value that a build is given (-DskipTests) is known by its words."""
    words = "-".join(_PART.findall(name)).lower()
    return is_harmless_name(name) and not _is_far(words, value) and _is_harmless_value(words, value)


@lru_cache(maxsize=1024)
def is_harmless_name(name: str) -> bool:
    if name.lower() in NAMES or _TAKES_PART.fullmatch(name) or _PLACE.search(name.lower()):
        return True
    parts = _PART.findall(name)
    # A sign or letter that is no part of a word is nothing that anybody knows.
    if not parts or len("".join(parts)) != len(re.sub(r"[-_.:/@]", "", name)):
        return False
    words = [part.lower() for part in parts]
    if _HANDLER.search(name) or name in _ORDERS:
        return False
    if words[0] in _LESS or (words[0] in _TELLS and not _TOLD & set(words)):
        return name != "no-preserve-root"
    return name.lower() in WORDS or all(word in WORDS or word.isdigit() for word in words)


def _is_far(name: str, value: str) -> bool:
    return "://" in value and not _LOCAL.match(value) and not _ADDRESS.search(name)


def _is_harmless_value(name: str, value: str) -> bool:
    if _HANDED_ON.search(value):
        return False
    if _PLACE.search(name):
        return _NEAR.fullmatch(value) is not None
    if _SHOWING.search(name):
        return not _ELSEWHERE.match(value) and not _CODE.search(value) and value[:2] != "./"
    if _LOADING.search(name):
        if value.startswith("{"):
            return False  # a configuration of its own
        return not _SOME_ELSEWHERE.search(value) or _LOCAL.match(value) is not None
    return True
