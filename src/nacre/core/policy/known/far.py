"""Lines for another machine: ssh HOST 'LINE'.

Rule: what reads runs there as it does here. All else changes another machine, of which nothing is
known here: its folders, its files, what its programs are.
"""

import re
from collections.abc import Sequence

from nacre.core.policy.words import Word

_HOST = re.compile(r"(?:[A-Za-z0-9][\w.-]*@)?[A-Za-z0-9\[][\w.:\]-]*")
_ALONE = frozenset("46CqTtvnx")  # letters of options (ssh(1)) that neither forward nor run
_VALUED = frozenset("pl")
# What -o may set: nothing that runs a program, forwards or names a file.
_SETS = re.compile(
    r"(?:BatchMode|ConnectTimeout|ServerAliveInterval|ServerAliveCountMax|LogLevel"
    r"|ConnectionAttempts|RequestTTY)[= ]\w+",
    re.IGNORECASE,
)
READING = frozenset(
    (
        *(
            "ls",
            "cat",
            "head",
            "tail",
            "wc",
            "grep",
            "egrep",
            "fgrep",
            "zgrep",
            "zcat",
            "cut",
            "tr",
        ),
        *("sort", "uniq", "nl", "stat", "file", "find", "du", "df", "free", "uptime", "uname"),
        *("hostname", "whoami", "id", "groups", "date", "ps", "pgrep", "pidof", "ss", "netstat"),
        *("lsof", "lsblk", "lscpu", "findmnt", "nproc", "vmstat", "iostat", "last", "who", "w"),
        *("echo", "printf", "true", "false", "pwd", "which", "type", "readlink", "realpath"),
        *("basename", "dirname", "md5sum", "sha256sum", "cksum", "jq", "awk", "sed", "diff", "cmp"),
        *("systemctl", "journalctl", "dmesg", "test", "[", "cd", "xargs", "nvidia-smi", "ssh"),
        *("column", "timeout", "nice", "bash", "sh", "command"),
    )
)


def remote_line(words: Sequence[Word]) -> str | None:
    """Return the line that ssh hands to the other machine; None: it is not known, or there is none.

    The other machine's shell reads all words behind the host, joined by blanks.
    """
    index = _after_options(words)
    if index is None or index >= len(words):
        return None
    host = words[index].text
    rest = words[index + 1 :]
    if host is None or words[index].globs or not _HOST.fullmatch(host) or not rest:
        return None
    if any(word.text is None or word.globs for word in rest):
        return None
    return " ".join(word.text or "" for word in rest)


def _after_options(words: Sequence[Word]) -> int | None:
    index = 0
    while index < len(words):
        text = words[index].text
        if text is None:
            return None
        if not text.startswith("-"):
            return index
        if text == "-o":
            value = words[index + 1].text if index + 1 < len(words) else None
            if value is None or not _SETS.fullmatch(value):
                return None
            index += 2
        elif text.startswith("-o"):
            if not _SETS.fullmatch(text[2:]):
                return None
            index += 1
        elif len(text) == 2 and text[1] in _VALUED:
            index += 2
        elif len(text) > 1 and set(text[1:]) <= _ALONE:
            index += 1
        else:
            return None
    return None
