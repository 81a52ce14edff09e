"""Whether a rule is about a program's words.

Rule: what is not known of a word (a variable) may be what the rule excludes. Then an allowing rule
does not match, and a forbidding one does as far as it can be seen.
"""

import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase

from nacre.core.policy.checks import CHECKS, FILES
from nacre.core.policy.known.option_names import harmless_names
from nacre.core.policy.known.task_names import is_risky_subcommand
from nacre.core.policy.paths import DISKS, Where
from nacre.core.policy.programs.given import KnownOptions, Read, are_harmless, read_options, told_by
from nacre.core.policy.programs.options import operands
from nacre.core.policy.rules import Rule
from nacre.core.policy.words import Word

_FETCHING = frozenset(("npx", "bunx", "pnpx"))  # the tool is their first word
_MOST_WORDS = 200  # of a program that is allowed: each is compared with many patterns
_nothing = KnownOptions  # is known of a program's options
_NOTHING = KnownOptions()


def holds(
    rule: Rule, words: Sequence[Word], where: Where, known: Callable[[], KnownOptions] = _nothing
) -> bool:
    """Return whether a rule is about these words, which follow the program's name."""
    following = rule.pattern[1:]
    if len(words) < len(following):
        return False
    for wanted, word in zip(following, words, strict=False):
        if word.text is None or word.globs:
            return False
        if not _is_word(word.text, (wanted,) if isinstance(wanted, str) else wanted):
            return False
    rest = words[len(following) :]
    if rule.verdict == "allow":
        return _allows(rule, rest, known)
    return _forbids(rule, rest, where)


def _is_word(text: str, wanted: Sequence[str]) -> bool:
    """Return whether a word is one of these; `describe-*` stands for all that begin so."""
    return text in wanted or any(
        "*" in one and not text.startswith("-") and fnmatchcase(text, one) for one in wanted
    )


def _allows(rule: Rule, rest: Sequence[Word], known: Callable[[], KnownOptions]) -> bool:
    if len(rest) > _MOST_WORDS:
        return False
    if rule.options or rule.most is not None:
        others = operands(rest, rule.options)
        if others is None or (rule.most is not None and len(others) > rule.most):
            return False
    given, rest = rest, without_texts(rest, rule.values)
    if not rule.speaks and any(_sends_unknown(word) for word in rest):
        return False
    if rule.known and any(word.text is None for word in rest):
        return False
    options = known() if rule.names else _NOTHING
    read = read_options(given, options, rule.values) if rule.names and not options.all else None
    if rule.unless:
        written = [one.value for one in told_by(given, options, runs=False) if one.written]
        judged = [word for word in rest if not any(word is one for one in written)]
        if _is_excluded(judged, rule.unless, read, dashes=options.dashes):
            return False
    if read is not None:
        if not are_harmless(read):
            return False
        own = without_texts(read.own, rule.values)
        if not harmless_names(own, options.kind_of):
            return False
        first = len(rule.pattern) <= 1 + (_first(rule) in _FETCHING)
        if first and rule.check != "grep" and is_risky_subcommand(rest):
            return False
    if rule.only and not all(
        word.text is not None and is_like(word.text, rule.only) for word in rest
    ):
        return False
    if rule.any and not any(
        word.text is not None and is_like(word.text, rule.any) for word in rest
    ):
        return False
    return not rule.check or CHECKS[rule.check](rest)


def _is_excluded(
    words: Sequence[Word], unless: Sequence[str], read: Read | None, *, dashes: bool
) -> bool:
    """Return whether a word is one that a rule leaves out; behind dashes are no options."""
    for word in words:
        if dashes and word.text == "--":
            dashes, unless = False, [one for one in unless if not one.startswith("-")]
        if may_be_like(word, unless) or (read is None and _has_letter(word.text, unless)):
            return True
    if read is not None:
        return any(is_like(f"-{letter}", unless) for letter in read.letters)
    return False


_LOCAL = re.compile(r"\w+://(?:localhost|127\.0\.0\.1|\[::1\])[:/]")


def _sends_unknown(word: Word) -> bool:
    """Return whether an address has something in it that would leave the machine with it."""
    return word.text is None and "://" in word.raw and not _LOCAL.search(word.raw)


def without_texts(words: Sequence[Word], options: Sequence[str]) -> Sequence[Word]:
    """Leave out what stands behind an option that takes a text (git commit -m TEXT)."""
    if not options:
        return words
    return [
        word
        for index, word in enumerate(words)
        if not index or words[index - 1].text not in options
    ]


def paths_of(rule: Rule, words: Sequence[Word]) -> tuple[Sequence[Word], bool]:
    """Return which words of a program may be paths, and whether it writes to them."""
    words = without_texts(words, rule.values)
    if rule.check in FILES:
        return FILES[rule.check](words)
    return words, rule.writes


def _forbids(rule: Rule, rest: Sequence[Word], where: Where) -> bool:
    texts = [_as_far_as_known(word) for word in rest]
    if rule.flags and not any(has_flag(text, rule.flags) for text in texts):
        return False
    if rule.any and not any(is_like(text, rule.any) for text in texts):
        return False
    if rule.unless and any(is_like(text, rule.unless) for text in texts):
        return False
    if rule.only and not all(is_like(text, rule.only) for text in texts):
        return False
    places = [text for text in texts if not text.startswith("-")][-1:] if rule.last else texts
    if rule.paths and not any(is_path(text, rule.paths, where) for text in places):
        return False
    return not rule.check or CHECKS[rule.check](rest)


def _first(rule: Rule) -> str:
    return rule.pattern[0] if isinstance(rule.pattern[0], str) else rule.pattern[0][0]


def _as_far_as_known(word: Word) -> str:
    return word.text if word.text is not None else word.guess or word.lead


def has_flag(text: str, flags: Sequence[str]) -> bool:
    """Return whether a word has one of these options: a letter in a group, or a long name."""
    if text.startswith("--"):
        name = text[2:].split("=")[0]
        return bool(name) and any(len(flag) > 1 and flag.startswith(name) for flag in flags)
    return text.startswith("-") and any(len(flag) == 1 and flag in text[1:] for flag in flags)


# Letters that take their value glued to them: -DskipTests, -Wextra, -Iinclude.
_GLUED = frozenset("DPXWILf")


def _has_letter(text: str | None, unless: Sequence[str]) -> bool:
    """Return whether an excluded option (-f) is in a group (-xzf), or has its value glued to it."""
    if text is None or len(text) < 3 or text[0] != "-" or text[1] == "-":
        return False
    group = text[1:].isalpha() and not (len(text) > 4 and text[1] in _GLUED)
    letters = text[1:] if group else text[1]
    return any(
        len(one) in (2, 3) and one[0] == "-" and one[1].isalnum() and one[2:] in ("", "*")
        and one[1] in letters
        for one in unless
    )  # fmt: skip


def may_be_like(word: Word, patterns: Sequence[str]) -> bool:
    """Return whether a word is, or may turn out to be, like one of these patterns."""
    if word.text is not None:
        return word.may_be_option or is_like(word.text, patterns)
    if not word.lead:
        return True
    for pattern in patterns:
        begin = pattern.split("*")[0]
        if not begin and word.lead.startswith("-"):
            continue  # an option's value, such as -j$(nproc)
        if begin.startswith(word.lead) or word.lead.startswith(begin):
            return True
    return False


def is_like(text: str, patterns: Sequence[str]) -> bool:
    for pattern in patterns:
        if pattern == "@disk":
            if is_like(text, DISKS):
                return True
        elif text == pattern or fnmatchcase(text, pattern):
            return True
        elif pattern.startswith("--") and text.startswith("--"):
            # GNU's programs take every beginning of a long option for it.
            name, equals, value = text.partition("=")
            wanted, _, given = pattern.partition("=")
            if len(name) <= 2 or not wanted.rstrip("*").startswith(name):
                continue
            if not given.strip("*") or (equals and fnmatchcase(value, given)):
                return True
    return False


def is_path(text: str, patterns: Sequence[str], where: Where) -> bool:
    if not text or text.startswith("-"):
        return False
    if text.startswith("of="):  # dd's
        patterns = [pattern[3:] for pattern in patterns if pattern.startswith("of=")]
        text = text[3:]
    path = where.path(text)
    if path is None:
        return False
    for pattern in patterns:
        if pattern == "@vital":
            if where.is_vital(path):
                return True
        elif is_like(path, (pattern,)):
            return True
    return False
