"""Code that a here-document or a here-string gives to an interpreter: python3 - <<'EOF'.

Rule: it is known only if nothing else can be the interpreter's input, and the shell changes nothing
in it. Then it is the same as the code behind -c.
"""

import re

from tree_sitter import Node

from nacre.core.policy.grammar.spelling import text_of
from nacre.core.policy.words import Word, literal

_CODE_OPTION = {"python": "-c", "python3": "-c", "node": "-e"}
_LOST = re.compile(rb"[ \t]+-[ \t]*")
_DOCUMENT = re.compile(r"""\w+|'\w+'|"\w+"|\\\w+""")
_QUOTED = re.compile(r"""'\w+'|"\w+"|\\\w+""")


def has_lost_dash(command: Node, data: bytes) -> bool:
    """Return whether a command ends with the - that the grammar loses before a document."""
    above = command.parent
    if command.type != "command" or above is None or above.type != "redirected_statement":
        return False
    if above.children[0].id != command.id:
        return False
    following = above.children[1]
    lost = data[command.end_byte : following.start_byte]
    return following.type == "heredoc_redirect" and _LOST.fullmatch(lost) is not None


def with_code(node: Node, words: list[Word]) -> list[Word]:
    """Return the words of a command with the code that its input brings; else as they are."""
    option = _CODE_OPTION.get(words[0].text or "")
    above = node.parent
    if option is None or above is None or above.type != "redirected_statement":
        return words
    if [word.text for word in words[1:]] not in ([], ["-"]):
        return words
    redirects = [one for one in above.named_children if one.id != node.id]
    inputs = [one for one in redirects if one.type != "file_redirect" or b"<" in (one.text or b"")]
    if len(inputs) != 1 or inputs[0].type != "heredoc_redirect":
        return words
    code = document_of(inputs[0])
    return words if code is None else [words[0], literal(option), literal(code)]


def is_where_it_says(redirect: Node, data: bytes) -> bool:
    """Return whether a document is just the lines from its operator's line to its delimiter.

    The grammar mistakes some lines with several of them, so where there is more than one, each is
    looked for again by its text alone.
    """
    parts = {child.type: child for child in redirect.named_children}
    start, body, end = (
        parts.get(kind) for kind in ("heredoc_start", "heredoc_body", "heredoc_end")
    )
    if start is None or body is None or end is None:
        return False
    if _DOCUMENT.fullmatch(text_of(start)) is None or not data.startswith(
        b"<<", redirect.start_byte
    ):
        return False
    delimiter = (start.text or b"").strip(b"'\"\\")
    first = data.find(b"\n", redirect.start_byte)
    line = data[data.rfind(b"\n", 0, redirect.start_byte) + 1 : first]
    if first < 0 or line.count(b"<<") != 1:
        return False
    at = first + 1
    while at <= len(data):
        after = data.find(b"\n", at)
        after = len(data) if after < 0 else after
        if data[at:after] == delimiter:
            return data[body.start_byte : body.end_byte].strip(b"\n") == data[first + 1 : at].strip(
                b"\n"
            ) and (end.start_byte, end.end_byte) == (at, after)
        at = after + 1
    return False


def document_of(redirect: Node) -> str | None:
    parts = {child.type: child for child in redirect.named_children}
    start, body = parts.get("heredoc_start"), parts.get("heredoc_body")
    whole = redirect.text or b""
    if start is None or body is None or whole.startswith(b"<<-") or not whole.startswith(b"<<"):
        return None
    if any(b"<" in (one.text or b"") for one in redirect.named_children if "redirect" in one.type):
        return None
    code = text_of(body)
    quoted = _QUOTED.fullmatch(text_of(start)) is not None
    return code if quoted or not set("$`\\") & set(code) else None
