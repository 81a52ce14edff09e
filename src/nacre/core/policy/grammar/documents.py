"""Code that a here-document or a here-string gives to an interpreter: python3 - <<'EOF'.

Rule: it is known only if nothing else can be the interpreter's input, and the shell changes nothing
in it. Then it is the same as the code behind -c.
"""

import re

from tree_sitter import Node

from nacre.core.policy.grammar.spelling import text_of
from nacre.core.policy.words import Word, literal

_CODE_OPTION = {"python": "-c", "python3": "-c", "node": "-e"}
_QUOTED = re.compile(r"""'\w+'|"\w+"|\\\w+""")


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
    code = _document(inputs[0])
    return words if code is None else [words[0], literal(option), literal(code)]


def _document(redirect: Node) -> str | None:
    parts = {child.type: child for child in redirect.named_children}
    start, body = parts.get("heredoc_start"), parts.get("heredoc_body")
    if start is None or body is None or (redirect.text or b"").startswith(b"<<-"):
        return None
    if any(b"<" in (one.text or b"") for one in redirect.named_children if "redirect" in one.type):
        return None
    code = text_of(body)
    quoted = _QUOTED.fullmatch(text_of(start)) is not None
    return code if quoted or not set("$`\\") & set(code) else None
