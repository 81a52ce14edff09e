"""Lines of small languages on a command line: perl, julia, and MongoDB's shell.

Rule: an expression says all of what is allowed; what it does not know is no proof.
"""

import re
from collections.abc import Sequence

from nacre.core.policy.words import Word

# perlop(1), perlre(1). No (?{ code }), no @{[ code ]}, no ${\ code }; a $ ends a line.
_REGEX = r"(?:[^/\\$@`({]|\\.|\$(?=[/)|])|\((?!\?\??\{)|\{[\d,]*\})*"
_NEW = r"(?:[^/\\$@`]|\\.|\$[\d&])*"
_TEXT = r"\"(?:[^\"\\$@`]|\\.|\$[\d&._](?![\w{\[]))*\""
_LINE = rf"/{_REGEX}/i?(?: ?\.\.\.? ?/{_REGEX}/i?)?"  # a line, or those from one to another
_IF = rf"(?:if|unless) (?:{_LINE}|\$\. ?(?:==|[<>]=?) ?\d+|\d+ ?\.\. ?\d+|eof)"
_STATEMENT = (
    rf"(?:s/{_REGEX}/{_NEW}/[gimsx]*|tr/[^/$@`]*/[^/$@`]*/[cdsr]*"
    rf"|print(?: (?:{_TEXT}|\$_|\$\d))?|next|last)(?: {_IF})?"
)
_PERL = re.compile(rf"{_STATEMENT}(?:; ?{_STATEMENT})*;?")
_PERL_READS = re.compile(r"-(?:0777 ?)?[alnp]*[np][al]*e")
_PERL_EDITS = re.compile(r"-(?:0777 ?)?(?:p?i(?:\.\w+)?|i(?:\.\w+)?p?)(?:pe|e)?|-p|-0777|-pe|-e")
_EMPTIES = re.compile(r"s/\^?(?:\.[*+]|\[\\s\\S\][*+])(?:\\n)?\$?//[gimsx]*")

_PACKAGES = re.compile(
    r"(?:using|import) Pkg; ?Pkg\.(?:test|instantiate|status|build|precompile|resolve)\(\);?"
)
_JULIA_OPTIONS = re.compile(r"--project(?:=[.@\w]*)?|--color=\w+")
_MONGO = re.compile(
    r"db(?:\.\w+)?\.(?:find|findOne|countDocuments|estimatedDocumentCount|distinct|getIndexes|stats"
    r"|getCollectionNames|serverStatus|version|hello)\([^;`()]*\)"
    r"(?:\.(?:limit|sort|pretty|count|toArray|skip|size)\([^;`()]*\))*;?"
)
_MONGO_WORDS = re.compile(
    r"\w+|(?:mongodb://)?(?:localhost|127\.0\.0\.1)(?::\d+)?(?:/\w*)?|--quiet|--json\S*"
)


def _perl_parts(words: Sequence[Word], options: "re.Pattern[str]") -> tuple[str, list[str]] | None:
    """Return the program and the files of a perl with such options; None: it has others."""
    texts = [word.text for word in words]
    at = 0
    while at < len(texts) and (text := texts[at]) is not None and text.startswith("-"):
        if not options.fullmatch(text):
            return None
        at += 1
    given = [text for text in texts[at:] if text is not None]
    if not at or not (texts[at - 1] or "").endswith("e") or len(given) != len(texts) - at:
        return None
    if not given or any(text[:1] in ("-", ">", "<") or "|" in text for text in given[1:]):
        return None
    return given[0], given[1:]


def perl_reads(words: Sequence[Word]) -> bool:
    """Return whether perl only prints what it reads, with parts of it replaced."""
    parts = _perl_parts(words, _PERL_READS)
    return parts is not None and _PERL.fullmatch(parts[0]) is not None


def perl_edits(words: Sequence[Word]) -> bool:
    """Return whether perl replaces parts of its files, and leaves the rest of them."""
    parts = _perl_parts(words, _PERL_EDITS)
    if parts is None or not parts[1] or not parts[0].startswith("s/"):
        return False
    printing = any("p" in (word.text or "") for word in words[:3] if word.text != parts[0])
    return printing and bool(_PERL.fullmatch(parts[0])) and not _EMPTIES.search(parts[0])


def perl_files(words: Sequence[Word]) -> tuple[Sequence[Word], bool]:
    """Leave options and the program out."""
    at = next(
        (index for index, word in enumerate(words) if not (word.text or "").startswith("-")), 0
    )
    return words[at + 1 :], any(re.match(r"-\w*i", word.text or "") for word in words[:at])


def julia_packages(words: Sequence[Word]) -> bool:
    """Return whether julia only installs or tests what its project names."""
    texts = [word.text or "$" for word in words]
    if len(texts) < 2 or texts[-2] != "-e" or not _PACKAGES.fullmatch(texts[-1]):
        return False
    return all(_JULIA_OPTIONS.fullmatch(text) for text in texts[:-2])


def mongo_reads(words: Sequence[Word]) -> bool:
    """Return whether a shell of MongoDB's is given one question, and nothing that changes data."""
    texts = [word.text or "$" for word in words]
    if texts.count("--eval") != 1 or texts[-1] == "--eval":
        return False
    at = texts.index("--eval")
    rest = [*texts[:at], *texts[at + 2 :]]
    return bool(_MONGO.fullmatch(texts[at + 1])) and all(map(_MONGO_WORDS.fullmatch, rest))
