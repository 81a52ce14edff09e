"""What secrets look like: keys and tokens that are known by how they begin.

Rule 1: a shape is looked for only in a text that has its needle, a plain string. Needles are looked
for first, all at once, because most texts have none.
Rule 2: a shape demands what words do not have (a length, a digit), for redacting what is none is an
error too: an agent would work with a wrong text.
Rule 3: an expression begins with a plain string, so that most of a text is skipped, and its time
grows with the text alone, whatever a program prints: one class of characters follows the other, and
what may be long ends where the next of its kind can begin.
"""

import re
import string
from collections.abc import Collection, Iterator
from functools import cache
from typing import NamedTuple

from nacre.late_pattern import late_pattern


class SecretShape(NamedTuple):
    label: str
    needles: tuple[str, ...]  # a text without any of them has no such secret
    expression: str  # of its group "secret", or else of all of it
    before: str = r"[A-Za-z0-9]"  # no such character stands before it; "": any may
    whole_line: bool = False  # it is about lines that have the needle
    first: str = ""  # what the word before it begins with, which is a part of it


class SecretFound(NamedTuple):
    start: int
    end: int
    label: str


_WORD = "[A-Za-z0-9_-]"
_MIXED = f"(?={_WORD}{{0,80}}[0-9])(?={_WORD}{{0,80}}[A-Z])"  # no word, and no name of a style

SHAPES = (
    SecretShape("AWS key", ("AKIA", "ASIA"), r"A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])"),
    SecretShape(
        "GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9]{16,}"
    ),
    SecretShape("GitHub token", ("github_pat_",), r"github_pat_[A-Za-z0-9_]{16,}"),
    SecretShape(
        "GitLab token",
        ("glpat-", "glptt-", "gldt-", "glrt-", "glcbt-", "glsoat-", "glagent-"),
        rf"gl(?:pat|ptt|dt|rt|cbt|soat|agent)-{_WORD}{{16,}}",
    ),
    SecretShape(
        "Slack token", ("xox",), r"xox[abceoprs]-(?=[A-Za-z-]{0,80}[0-9])[A-Za-z0-9-]{10,}"
    ),
    SecretShape("Slack token", ("xapp-",), r"xapp-[0-9]-[A-Za-z0-9-]{10,}"),
    SecretShape(
        "Slack webhook",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/services/(?P<secret>[A-Za-z0-9/]{20,})",
    ),
    SecretShape("Anthropic key", ("sk-ant-",), rf"sk-ant-{_WORD}{{12,}}"),
    SecretShape("OpenAI key", ("sk-",), rf"sk-{_MIXED}{_WORD}{{18,}}"),
    SecretShape("Google key", ("AIza",), rf"AIza{_WORD}{{30,}}"),
    SecretShape("Google token", ("ya29.",), r"ya29\.[A-Za-z0-9_.-]{16,}"),
    SecretShape("Google secret", ("GOCSPX-",), rf"GOCSPX-{_WORD}{{16,}}"),
    SecretShape("Stripe key", ("k_live_", "k_test_"), r"[rs]k_(?:live|test)_[A-Za-z0-9]{12,}"),
    SecretShape("Stripe secret", ("whsec_",), r"whsec_[A-Za-z0-9+/=]{16,}"),
    SecretShape("npm token", ("npm_",), r"npm_(?=[A-Za-z]{0,80}[0-9])[A-Za-z0-9]{30,}"),
    SecretShape("PyPI token", ("pypi-",), rf"pypi-(?={_WORD}{{0,80}}[A-Z]){_WORD}{{30,}}"),
    SecretShape("Hugging Face token", ("hf_",), r"hf_(?=[a-z0-9]{0,80}[A-Z])[A-Za-z0-9]{30,}"),
    SecretShape("DigitalOcean token", ("dop_v1_", "doo_v1_"), r"do[op]_v1_[a-f0-9]{32,}"),
    SecretShape("SendGrid key", ("SG.",), rf"SG\.{_WORD}{{16,}}\.{_WORD}{{16,}}"),
    SecretShape("age key", ("AGE-SECRET-KEY-",), r"AGE-SECRET-KEY-1[A-Z0-9]{30,}"),
    SecretShape("nacre token", ("nacre_",), rf"nacre_[0-9a-f]{{8}}_{_WORD}{{40,}}"),
    # From its second part on: the first one is looked for backwards, and ends at a dot.
    SecretShape("JWT", (".eyJ",), rf"\.eyJ{_WORD}{{4,}}(?:\.{_WORD}*)?", first="eyJ"),
    SecretShape(
        "bearer token",
        ("earer ", "EARER "),
        r"(?:earer|EARER) +(?P<secret>(?=[A-Za-z._~+/-]{0,80}[0-9])[A-Za-z0-9._~+/=-]{16,})",
        before="",
    ),
    SecretShape(
        "basic credentials",
        ("uthorization: ",),
        r"uthorization: +[Bb]asic +(?P<secret>[A-Za-z0-9+/=]{8,})",
        before="",
    ),
    SecretShape(
        "password in a URL",
        ("://",),
        r"://(?P<user>[^\s/:@'\"]{0,80}):"
        r"(?P<secret>(?!(?P=user)@)[^\s/:@'\"$<>{}*\[\]]{8,200})@",
        before="",
    ),
    SecretShape(
        # As env, export and set print them, and as they stand in files of variables.
        "secret variable",
        ("TOKEN", "SECRET", "PASSW", "_KEY"),
        r"\s*+(?:export |declare -x |set -x )?+"
        r"(?=[A-Z0-9_]*(?:TOKEN|SECRET|PASSWORD|PASSWD|_KEY))[A-Z0-9_]++"
        r"[= ](?P<quote>['\"]?)(?P<secret>[A-Za-z0-9+/_.~@%^&!=-]{8,})(?P=quote)\s*",
        whole_line=True,
    ),
)

_KEY_MARK = "PRIVATE KEY"
_KEY_BEGIN = late_pattern(
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
    r"(?P<secret>(?:\\[nr]|\s)*+"
    r"(?:[A-Za-z-]{1,20}: (?:[^\n\\]|\\(?![nr])){0,200}+(?:\n|\\[nr])(?:\\[nr]|\s)*+){0,8}"
    r"[A-Za-z0-9+/=]{16,}(?:[A-Za-z0-9+/=]|\s|\\[nr])*)"
)
_KEY_END = late_pattern(r"-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_KEY_LINE = late_pattern(r"\s*[A-Za-z0-9+/=]{4,}\s*")
_LONGEST_LINE = 4000  # characters of a line that may be a variable, or of a key
_LONGEST_WORD = 16_384  # characters of the first part of a secret
_LEAST_FIRST = 8  # characters of it behind what it begins with
_WORD_CHARS = f"{string.ascii_letters}{string.digits}_-"

# Longer ones first: who finds one of them at a place need not look for a shorter one there.
NEEDLES = (*sorted({one for shape in SHAPES for one in shape.needles}, key=len)[::-1], _KEY_MARK)


def find_shapes(text: str, needles: Collection[str]) -> Iterator[SecretFound]:
    """Yield what looks like a secret, in no order, in a text that has these needles."""
    for shape in SHAPES:
        present = [needle for needle in shape.needles if needle in needles]
        if present and shape.whole_line:
            yield from _find_lines(shape, text, present)
        elif present:
            yield from _find(shape, text)
    if _KEY_MARK in needles:
        yield from _find_keys(text)


def _find(shape: SecretShape, text: str) -> Iterator[SecretFound]:
    for match in _compiled(shape.expression).finditer(text):
        start = match.start()
        if shape.first:
            begin = _begin_before(text, start, shape.first)
            if begin is not None:
                yield SecretFound(begin, match.end(), shape.label)
            continue
        if start and shape.before and _compiled(shape.before).match(text, start - 1):
            continue  # the end of a word
        group = "secret" if "secret" in match.re.groupindex else 0
        yield SecretFound(*match.span(group), shape.label)


def _begin_before(text: str, end: int, first: str) -> int | None:
    """Return where a word begins that ends here and begins so; None: there is none."""
    before = text[max(0, end - _LONGEST_WORD) : end]
    word = before[len(before.rstrip(_WORD_CHARS)) :]
    at = word.find(first)
    if at < 0 or len(word) - at - len(first) < _LEAST_FIRST:
        return None
    if at and word[at - 1].isalnum():
        return None  # the end of a word
    return end - len(word) + at


def _find_lines(shape: SecretShape, text: str, needles: list[str]) -> Iterator[SecretFound]:
    line = _compiled(shape.expression)
    for needle in needles:
        at = text.find(needle)
        while at >= 0:
            start = text.rfind("\n", 0, at) + 1
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            if end - start <= _LONGEST_LINE and (match := line.fullmatch(text, start, end)):
                yield SecretFound(*match.span("secret"), shape.label)
            at = text.find(needle, end)


def _find_keys(text: str) -> Iterator[SecretFound]:
    for match in _KEY_BEGIN.finditer(text):
        yield SecretFound(*match.span("secret"), "private key")
    for match in _KEY_END.finditer(text):
        # Its beginning may be above what is shown: go back over lines that are nothing but base64.
        start = end = match.start()
        while start:
            above = text.rfind("\n", max(0, start - _LONGEST_LINE), start - 1)
            if above < 0 and start > _LONGEST_LINE:
                break
            begin = above + 1
            if not _KEY_LINE.fullmatch(text, begin, start):
                break
            start = begin
        if start < end:
            yield SecretFound(start, end, "private key")


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression)
