"""Spell out the words of a line: take quotes, backslashes and known variables away.

Rule: what only the shell can know makes the whole word unknown; how it begins is kept.
"""

import re
from collections.abc import Callable, Iterator, Mapping

from tree_sitter import Node

from nacre.core.policy.grammar.braces import expanded
from nacre.core.policy.grammar.listing import lead_of, with_names
from nacre.core.policy.words import Word, has_glob

_ECHO = re.compile(r"(?:\$\(|`)\s*(?:(?:echo|printf)\s+['\"]?([\w./~*-]+)['\"]?|pwd)\s*(?:\)|`)")
_UNGUESSED = re.compile(r"[$`'\\(){}\s]")
_ELSE = re.compile(r":?[?].*", re.DOTALL)  # ${HOME:?message}
_DERIVED = re.compile(r"\$\{(\w+)(%%?|##?\*/)[^${}`]*\}")
_BRACED = frozenset(("word", "concatenation", "brace_expression"))
_BRACES = re.compile(r"\{[^{}\s]*(?:,|\.\.)[^{}\s]*\}")
# bash(1), QUOTING: the escapes of $'…'.
_ESCAPES = dict(zip("ntrabfveE\\'\"?", "\n\t\r\a\b\f\v\x1b\x1b\\'\"?", strict=True))
_ANSI = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|c(.)|(.))",
    re.DOTALL,
)


def text_of(node: Node) -> str:
    return (node.text or b"").decode(errors="replace")


class Speller:
    def __init__(
        self, data: bytes, doubt: Callable[[str], None], note: Callable[[str], None]
    ) -> None:
        """`note` gets each text that quotes keep from being run."""
        self._data = data
        self._doubt = doubt
        self._note = note
        self.values: Mapping[str, Word] = {}  # what variables hold here

    def words(self, node: Node) -> list[Word]:
        """Return the words that one becomes by its braces; mostly it alone."""
        raw = text_of(node)
        if "{" in raw and node.type in _BRACED and _BRACES.search(raw):
            texts = expanded(raw)
            if texts is not None:
                return [Word(text, text, globs=has_glob(text)) for text in texts if text]
        return [self.word(node)]

    def word(self, node: Node) -> Word:
        raw = text_of(node)
        if node.type in ("word", "concatenation") and _BRACES.search(raw):
            return Word(None, raw, lead=raw[: raw.index("{")])
        if "$(" in raw or "`" in raw:
            return self._guessed(node, raw)
        return self._spelled(node, raw)

    def _guessed(self, node: Node, raw: str) -> Word:
        """Return an unknown word with what it will be if `echo` and `pwd` are what they were."""
        word = self._spelled(node, raw)
        if word.text is not None:
            return word
        if not word.lead:
            # $(git merge-base a b)..HEAD begins with a name as well.
            named = with_names(raw.replace('"', "")) or ""
            lead = lead_of(raw) or ("" if "/" in named else named[:1])
            word = word._replace(lead=lead)
        plain = _ECHO.sub(lambda found: found[1] or ".", raw)
        return word if _UNGUESSED.search(plain) else word._replace(guess=plain.strip('"'))

    def _spelled(self, node: Node, raw: str) -> Word:
        parts = list(self._parts(node))
        text, known, globs = "", True, False
        for part, quoted in parts:
            if part is None:
                known = False
                break
            text += part
            globs = globs or (not quoted and has_glob(part))
        if not known:
            return Word(None, raw, lead=text)
        return Word(text, raw, globs=globs)

    def _parts(self, node: Node) -> Iterator[tuple[str | None, bool]]:
        """Yield the texts that a word is made of, and whether quotes keep them; None: unknown."""
        kind = node.type
        if kind == "concatenation":
            for index, child in enumerate(node.children):
                if index and child.start_byte != node.children[index - 1].end_byte:
                    self._doubt("a word has a gap")
                yield from self._parts(child)
        elif kind in ("word", "number", "variable_name", "test_operator", "regex"):
            yield self._plain(node)
        elif kind == "raw_string":
            yield text_of(node)[1:-1], True
        elif kind == "ansi_c_string":
            decoded = _decode(text_of(node)[2:-1])
            if decoded is None:
                self._doubt("a $'…' has an escape that is not read here")
            yield decoded, True
        elif kind == "string":
            yield from self._string(node)
        elif kind in ("simple_expansion", "expansion"):
            yield from self._expanded(text_of(node), quoted=False)
        elif not node.is_named and kind in ("{", "}", "$", "="):
            yield kind, False  # no expansion: it stands for itself
        else:
            yield None, False

    def _expanded(self, raw: str, *, quoted: bool) -> Iterator[tuple[str | None, bool]]:
        derived = _DERIVED.fullmatch(raw)
        value = self.values.get(derived[1]) if derived else None
        if derived is not None and value is not None and quoted and value.globs:
            # ${f%.md}, ${f##*/}: a name in the folder that the pattern's files are in, or in this.
            folder = (value.text or "").rpartition("/")[0] if derived[2][0] == "%" else ""
            if not has_glob(folder):
                yield f"{folder or '.'}/", True
            yield None, True
            return
        listed = self.values.get(raw.strip("${}"))
        if listed is not None and listed.text is None:
            yield listed.lead, True
            yield None, True
            return
        yield self._held(raw, quoted=quoted)

    def _held(self, raw: str, *, quoted: bool) -> tuple[str | None, bool]:
        """Return what a variable holds, and whether it stands for itself, not for files."""
        value = self.values.get(raw.strip("${}"))
        if value is None:
            return _known_variable(raw), True
        if raw not in (f"${raw.strip('${}')}", f"${{{raw.strip('${}')}}}"):
            return None, True
        # A pattern's files may have blanks in their names, at which a bare $f falls apart.
        return (None, True) if value.globs and not quoted else (value.text, not value.globs)

    def _plain(self, node: Node) -> tuple[str | None, bool]:
        raw = text_of(node)
        if "\n" in raw:
            self._doubt("a word goes over the end of a line")
        if "\\" not in raw:
            return raw, False
        # What is behind a backslash stands for itself; a pattern it is no more.
        return re.sub(r"\\(.)", r"\1", raw, flags=re.DOTALL), not has_glob(raw)

    def _string(self, node: Node) -> Iterator[tuple[str | None, bool]]:
        """Yield a string's parts from its bytes: blanks of it may lie between the nodes."""
        at, end = node.start_byte + 1, node.end_byte - 1
        for child in node.named_children:
            if child.type == "string_content":
                continue
            if child.start_byte > at:
                yield self._unquote(self._data[at : child.start_byte]), True
            if child.type in ("simple_expansion", "expansion"):
                yield from self._expanded(text_of(child), quoted=True)
            else:
                yield None, True
            at = child.end_byte
        if end > at:
            yield self._unquote(self._data[at:end]), True

    def _unquote(self, data: bytes) -> str:
        text = re.sub(r"\\([$`\"\\\n])", _unescape, data.decode(errors="surrogateescape"))
        self._note(text)
        return text


def _unescape(found: "re.Match[str]") -> str:
    return "" if found.group(1) == "\n" else found.group(1)


def _known_variable(raw: str) -> str | None:
    """Return what stands for a variable whose value is known by what it is for."""
    name = _ELSE.sub("", raw.strip("${}"))
    return {"HOME": "~", "PWD": "."}.get(name)


def _decode(text: str) -> str | None:
    """Return what $'…' stands for; None if there is an escape that bash reads otherwise."""
    odd = False

    def replaced(found: "re.Match[str]") -> str:
        nonlocal odd
        for group in (1, 2, 3):
            if found.group(group):
                return chr(min(int(found.group(group), 16), 0x10FFFF))
        if found.group(4):
            return chr(int(found.group(4), 8) & 0xFF)
        if found.group(5):
            return chr(ord(found.group(5)) & 0x1F)
        if found.group(6) not in _ESCAPES:
            odd = True
        return _ESCAPES.get(found.group(6), "")

    decoded = _ANSI.sub(replaced, text)
    return None if odd or "\0" in decoded else decoded
