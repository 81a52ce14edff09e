"""Files that hold keys and passwords by their name, in whatever folder they lie.

Rule: a pattern of the shell's that is nearly such a name may be one (`.en[v]`, `*.key`); one that
matches much else as well is none (`*`, `*.json`).
"""

import re
from fnmatch import fnmatchcase
from functools import lru_cache

# What only shows which names there are (.env.example) and a chart's template do not hold any.
_VALUES = re.compile(
    r"(?:^|/)(?:\.env(?:\.(?!example|sample|template|tpl|dist|defaults?|test|ci|schema|dev\b|development$)"
    r"[\w.*-]+|\*)?|secrets?\.(?:ya?ml|json|toml|env)|credentials(?:\.(?:json|ya?ml|toml))?"
    r"|service[-_]account[\w-]*\.json|[\w.-]+\.(?:key|p12|pfx|jks|keystore|ppk)"
    r"|[\w.-]*key\.pem|(?:[\w.-]*[-_.])?(?:server|client|private|tls|ssl|host|web|site)\.pem"
    r"|\.dockerconfigjson)$"
    r"|^(?:/var)?/run/secrets(?:/|$)"
)
_NAMES = (
    *(".env", ".env.local", ".env.production", "server.key", "private.key", "key.pem"),
    *("privkey.pem", "server.pem", "id_rsa", "id_ed25519", "id_ecdsa", "master.key", ".netrc"),
    *("secrets.yml", "secrets.yaml", "secrets.json", "credentials.json", "credentials"),
    *(".pgpass", ".htpasswd", "kubeconfig", "terraform.tfstate"),
)
_ENDINGS = ("key", "pem", "p12", "pfx", "jks")
_BEGINS = ("id_", "privk")  # nothing else does
_GLOB = re.compile(r"[*?]|\[[^\]]*\]")
# Of so few characters a pattern may leave open what they are, and still be nearly the name.
_OPEN_SHORT, _OPEN_LONG, _LONG = 2, 3, 6


def holds_keys(path: str) -> bool:
    """Return whether a file, or what a pattern of the shell's matches, holds keys by its name."""
    if "templates/" in path:
        return False
    if _VALUES.search(path) is not None:
        return True
    name = path.rpartition("/")[2]
    return _GLOB.search(name) is not None and _is_nearly_one(name)


@lru_cache(maxsize=256)
def _is_nearly_one(pattern: str) -> bool:
    """Return whether a pattern is nearly a name of a file with keys, or nearly their ending."""
    given = len(_GLOB.sub("", pattern))
    for name in _NAMES:
        hidden = name.startswith(".") and not pattern.startswith(".")
        left = len(name) - given
        most = _OPEN_LONG if len(name) >= _LONG else _OPEN_SHORT
        nearly = left <= most or pattern.startswith(_BEGINS)
        if not hidden and nearly and fnmatchcase(name, pattern):
            return True
    ending = pattern.rpartition(".")[2] if "." in pattern else ""
    letters = len(_GLOB.sub("", ending))
    return any(len(one) - letters <= 1 and fnmatchcase(one, ending) for one in _ENDINGS)
