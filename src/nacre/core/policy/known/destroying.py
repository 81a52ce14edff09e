"""Code on the command line that destroys the machine: rmtree('/'), fork without end.

Rule: this only forbids, so it looks for what plainly says so, in whatever language.
"""

import re
from collections.abc import Sequence

from nacre.core.policy.words import Word

# The system's folders and homes, alone or with all that is in them, in quotes.
_VITAL = (
    r"['\"](?:~|/|/(?:bin|boot|dev|etc|home|lib(?:32|64)?|opt|proc|root|run|sbin|srv|sys|usr|var"
    r"|Users|System|Library)|/(?:home|Users)/\w+)/?\*?['\"]"
)
_HOME = (
    r"(?:Path\.home\(\)|os\.path\.expanduser\(['\"]~/?['\"]\)|Dir\.home|os\.homedir\(\)"
    r"|os\.environ\[['\"]HOME['\"]\]|process\.env\.HOME|\$ENV\{HOME\})"
)
_DELETES = re.compile(
    r"(?:rmtree|remove_tree|rm_rf?|rm_r|remove_entry(?:_secure)?|remove_dir_all|rm(?:dir)?Sync"
    r"|rm(?:dir)?|rimraf|removeSync|RemoveAll)\b[ (]*(?:glob[ (]*)?(?:" + _VITAL + "|" + _HOME + ")"
    r"|unlink[ (]*glob[ (]*" + _VITAL
)
_RUNS_RM = re.compile(
    r"\brm(?:['\"]\s*,\s*['\"]| )-(?:\w*r\w*|-recursive)(?:(?:['\"]\s*,\s*['\"]| )-[\w-]+)*"
    r"(?:['\"]\s*,\s*['\"]| )(?:~|/\*?|/(?:bin|boot|etc|home|lib|opt|root|usr|var)/?\*?)"
    r"(?:['\" ;&|]|$)",
    re.IGNORECASE,
)
_FORKS = re.compile(
    r"fork while|while\b.{0,40}\bfork\b|fork\(\).{0,20}fork\(\)"
    r"|(?:loop|for\s*\(;;\))\s*(?:do|\{)?\s*"
    r"(?:\w+\.)?fork|fork\(\)\s*until",
    re.DOTALL,
)


def code_destroys(words: Sequence[Word]) -> bool:
    """Return whether code among a program's words deletes the system, or forks without end."""
    for word in words:
        text = word.text or ""
        if _DELETES.search(text) or _RUNS_RM.search(text) or _FORKS.search(text):
            return True
    return False
