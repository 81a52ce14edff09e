"""Programs that list files of the workspace, or print one name: how what they print begins.

Rule: what they print may be a program's words. So it is known that no word of it is an option, and
that no path of it leads out of the workspace, or it is not known at all.
"""

import re
from collections.abc import Sequence

from nacre.core.policy.words import Word

_FILTERS = re.compile(r"(?:grep|egrep|sort|head|tail|uniq)\b(?:[^`$]|\$(?=['\"\s]))*")
_LISTS = re.compile(
    r"(?:find(?: [\w.][\w./-]*)* -|git ls-files|git diff\b.* --name-only|git grep -l|ls\b"
    r"|rg (?:\S+ )*(?:-l|--files\S*)|grep -\w*l|fd\b|fdfind\b)[^`$]*"
)
# They print what they are told, or lead elsewhere.
_ELSEWHERE = re.compile(
    r"-printf|-exec|-ok|-fprint|--format|--pretty|(?:^|[\s'\"/=])\.\.(?:[/\s'\"]|$)|(?:^|\s)['\"]?[/~]"
)
# A hash, a number, a name: no option, and no path.
_NAMES = re.compile(
    r"git (?:rev-parse (?:--short(?:=\d+)? |--abbrev-ref |--verify )*[\w@][\w@{}^~./-]*"
    r"|merge-base [\w@][\w@{}^~./ -]*|branch --show-current"
    r"|describe(?: --[a-z-]+(?:=\d+)?)*(?: [\w@][\w@{}^~./-]*)?"
    r"|branch --format='?%\(refname:short\)'?"
    r"|rev-list --count [\w@{}^~./-]+|symbolic-ref --short HEAD|log -1 --format=%[Hh])"
    r"|date(?: -u)? \+?['\"]?%[\w%:.-]*['\"]?|nproc|whoami|hostname(?: -s)?|id -un?|uname -[a-z]"
    r"|wc -l(?: <? ?[\w./-]+)?|node -v|go env GO(?:OS|ARCH|VERSION)"
)
# Many such names: hashes of commits, containers, packages. None begins with a dash or leads up.
_IDS = re.compile(
    r"git rev-list(?: --(?:max-count=\d+|reverse|all|no-merges|first-parent)| -n ?\d+| -\d+"
    r"| [\w@][\w@{}^~./-]*)+"
    r"|git log(?: -\d+| -n ?\d+| --reverse)* --(?:format|pretty)=['\"]?%[hH]['\"]?(?: -n? ?\d+)*"
    r"|(?:docker|podman) (?:container )?(?:ps|ls)(?: -a)?"
    r" (?:-a?q|-qa|--format[ =]['\"]?\{\{ ?\.(?:Names|ID) ?\}\}['\"]?)"
    r"|go list(?: \./[\w./-]*\.\.\.)+"
)
# What stands for such a name, of which nobody knows more.
NAME = Word("0", "0")
_SUBSTITUTED = re.compile(r"\"?\$\(((?:[^()`]|%\([\w:]+\))*)\)\"?")
_INNER = re.compile(r"\$\(([^()`]*)\)")
_PLAIN = re.compile(r"[\w.~/-]+")
_UP = re.compile(r"(?:^|/|[\"'}])\.\.(?:/|[\"']|$)")  # a part of a path that goes up
_UNKNOWN = re.compile(r"[$`]")
_BASE = re.compile(r"\$\(basename [^()`]*\)")  # it prints no /
_TOGETHER = re.compile(r"[;&\n<>]|\$")


def are_lists(commands: Sequence[str]) -> bool:
    """Return whether the commands of a pipe list files of the workspace, or names."""
    if are_ids(commands):
        return True
    if not commands or not _LISTS.fullmatch(commands[0]) or _ELSEWHERE.search(commands[0]):
        return False
    return all(_FILTERS.fullmatch(text) for text in commands[1:])


def are_ids(commands: Sequence[str]) -> bool:
    """Return whether the commands of a pipe print names, one a line, and nothing else."""
    if not commands or not (_IDS.fullmatch(commands[0]) or _NAMES.fullmatch(commands[0])):
        return False
    return all(_FILTERS.fullmatch(text) for text in commands[1:])


def lead_of(raw: str) -> str:
    """Return how a word begins that a program prints, $(git ls-files); empty: it is not known."""
    found = _SUBSTITUTED.fullmatch(raw)
    if found is None:
        return ""
    line = found[1].strip().replace(" 2>/dev/null", "")
    if _NAMES.fullmatch(line):
        return NAME.text or ""
    if line in ("mktemp", "mktemp -d"):
        return "/tmp/"  # noqa: S108  where it makes them
    if _TOGETHER.search(line):
        return ""
    return "./" if are_lists([part.strip() for part in line.split("|")]) else ""


def with_names(raw: str) -> str | None:
    """Return a word in which programs print names, log-$(date +%F).txt; None: it has others."""
    spelled = _INNER.sub(lambda found: "0" if _NAMES.fullmatch(found[1].strip()) else "$", raw)
    return spelled if _PLAIN.fullmatch(spelled) else None


def may_lead_up(word: Word) -> bool:
    """Return whether what nobody knows of a word may be `..`, and lead it anywhere.

    How it begins is told by a program that lists or names, or by a loop over files (their lead ends
    with ./); or it is written there, and says nothing about a variable behind it.
    """
    if word.text is not None:
        return False
    if not word.lead or _UP.search(word.raw):
        return True
    raw = _BASE.sub("", word.raw.strip('"'))
    if not _UNKNOWN.search(raw) or raw[0] in "$`" or word.lead.endswith("./"):
        return False
    return with_names(raw) is None
