"""What is fetched from the web to a file, and whether the file is code by its name.

Rule: data may be fetched unseen. Code, scripts and settings of the workspace would run, or say what
runs, before anybody has read them.
"""

import re
from collections.abc import Iterator, Sequence

from nacre.core.policy.words import Program, Word

_FETCHING = frozenset(("curl", "wget"))
_CODE = re.compile(
    r"(?:^|/)(?:[^/]+\.(?:pyi?|pyx|[cm]?[jt]sx?|sh|bash|zsh|fish|ksh|rb|p[lm]|php\d?|go|rs|[ch]|cc|cpp|cxx"
    r"|h(?:h|pp|xx)|java|kts?|scala|swift|cs|fs|vb|lua|r|jl|exs?|erl|hs|ml|cljs?|dart|vue|svelte|ps1|bat|cmd"
    r"|gradle|groovy|cmake|mk|mak|toml|ini|cfg|conf|ya?ml|tf|nix|bzl|awk|sed|exe|so|dll|dylib|jar|war"
    r"|service|desktop|vim|el|ipynb|wasm|m4|ac|am|env|properties|patch|diff|sql|proto)"
    r"|(?:GNU)?[Mm]akefile|Dockerfile[\w.-]*|Containerfile|Jenkinsfile|Rakefile|Gemfile(?:\.lock)?|Vagrantfile"
    r"|Procfile|Justfile|justfile|Brewfile|Podfile|BUILD|WORKSPACE|CMakeLists\.txt|configure|gradlew|mvnw"
    r"|(?:package|package-lock|composer|deno|tsconfig[\w.-]*|jsconfig|turbo|nx|lerna|angular|biome|babel"
    r"\.config)\.json|(?:requirements|constraints)[\w.-]*\.txt|go\.(?:mod|sum)|[\w-]+\.lock|\.[^/]+)$"
)
_TO_NAME = re.compile(r"-[A-Za-z#0-9]*O|--remote-name")
_ADDRESS = re.compile(r"\w+://[^/]+/|[\w.:\[\]-]+/")
_NEAR = re.compile(r"(?:\w+://)?(?:localhost|127\.0\.0\.1|\[::1\])(?:[:/?]|$)")


def is_code(path: str) -> bool:
    """Return whether a file is code, a script or settings by its name."""
    return _CODE.search(path) is not None


def fetches(program: Program) -> bool:
    """Return whether a program fetches from elsewhere than this machine."""
    if program.name not in _FETCHING:
        return False
    texts = [word.text for word in program.arguments if word.text]
    addresses = [text for text in texts if "://" in text or _NEAR.match(text)]
    return not addresses or not all(_NEAR.match(address) for address in addresses)


def named_by_address(words: Sequence[Word]) -> Iterator[str]:
    """Yield the files to which curl -O writes: the last parts of its addresses."""
    if any(_TO_NAME.fullmatch(word.text or "") for word in words):
        for word in words:
            if _ADDRESS.match(word.text or ""):
                yield re.split(r"[?#]", word.text or "")[0].rpartition("/")[2]
