"""Results that fit an answer: long texts are cut in the middle, and the whole can be read.

Rule 1: what is left out is counted, and the answer says how to read it.
Rule 2: pictures and sounds are not cut: half of one is of no use. Their size is bounded with that
of a message.
Rule 3: structured content is whole or not there: who reads it checks it against a schema.
"""

import secrets
from collections import OrderedDict
from typing import Any

import msgspec

from nacre.core.operations.upstream import ReadUpstreamResult, UpstreamAnswer, UpstreamText
from nacre.core.text.budget import first_characters, json_chars
from nacre.core.text.redaction import note_part, redact_text, searchable
from nacre.errors import InvalidInput, LimitReached
from nacre.wording import Use

_LEAST = 200  # characters of each text that stay, however many there are
_NOTE = 200  # characters for the note in the middle


class LongResults:
    """The texts that did not fit, up to a bound; the oldest are dropped first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._size = 0

    def keep(self, text: str) -> str:
        identifier = secrets.token_hex(6)
        self._texts[identifier] = text
        self._size += len(text)
        while self._size > self._most and len(self._texts) > 1:
            self._size -= len(self._texts.popitem(last=False)[1])
        return identifier

    def read(self, request: ReadUpstreamResult, room: int) -> UpstreamText:
        """Raises InvalidInput for one that is not kept."""
        text = self._texts.get(request.result_id)
        if text is None:
            raise InvalidInput(
                f"no result {request.result_id!r} is kept: it is too old, or never was",
                "call the tool again",
            )
        part = first_characters(searchable(text)[request.offset :][:room], room)
        note_part(text, request.offset, part)
        after = request.offset + len(part)
        return UpstreamText(
            chars=len(text), next_offset=after if after < len(text) else None, text=part
        )

    def fit(
        self, result: dict[str, Any], room: int, *, has_schema: bool, server: str | None = None
    ) -> UpstreamAnswer:
        """Return the result within so many characters. `server` has the resources it links to.

        Raises LimitReached for structured content that is too long and that callers expect.
        """
        content: list[dict[str, Any]] = list(result.get("content") or ())
        structured = result.get("structuredContent")
        size = _size(structured) if structured is not None else 0
        texts = sum(_text_size(block) for block in content)
        told: dict[str, Any] = {"is_error": bool(result.get("isError")), "server": server}
        if meta := result.get("_meta"):
            told["meta"] = meta
        if size + texts <= room:
            return UpstreamAnswer(content=content, structured_content=structured, **told)
        whole = _whole(content, structured)
        identifier = self.keep(whole)
        if structured is not None and size > room // 2:
            if has_schema and not told["is_error"]:
                raise LimitReached(
                    f"the result has {len(whole)} characters, and an answer {room} "
                    "(max_result_chars)",
                    Use("read_upstream_result", "read it", {"result_id": identifier}),
                    result_id=identifier,
                    chars=len(whole),
                )
            structured, size = None, 0
        cut, left_out = _cut(content, room - size, identifier)
        return UpstreamAnswer(
            content=cut,
            structured_content=structured,
            result_id=identifier,
            left_out=left_out,
            **told,
        )


def _size(value: Any) -> int:
    return len(msgspec.json.encode(value))


def _text_of(block: dict[str, Any]) -> str | None:
    if block.get("type") == "text":
        return str(block.get("text", ""))
    resource = block.get("resource")
    if block.get("type") == "resource" and isinstance(resource, dict) and "text" in resource:
        return str(resource["text"])
    return None


def _text_size(block: dict[str, Any]) -> int:
    text = _text_of(block)
    return 0 if text is None else json_chars(text)


def _whole(content: list[dict[str, Any]], structured: Any) -> str:
    texts = [text for block in content if (text := _text_of(block)) is not None]
    if structured is not None and not texts:
        return msgspec.json.encode(structured).decode()
    return "\n".join(texts)


def _cut(
    content: list[dict[str, Any]], room: int, identifier: str
) -> tuple[list[dict[str, Any]], int]:
    """Cut the texts to their shares: short ones stay whole, long ones share what they leave."""
    sizes = [size for block in content if (size := _text_size(block))]
    share = _share(sizes, room)
    left_out = 0
    cut = []
    for block in content:
        text = _text_of(block)
        if text is None or json_chars(text) <= share:
            cut.append(block)
            continue
        text = redact_text(text)
        half = max(_LEAST, (share - _NOTE)) // 2
        head, tail = (
            first_characters(text[:half], half),
            first_characters(text[-half:][::-1], half)[::-1],
        )
        missing = len(text) - len(head) - len(tail)
        left_out += missing
        note = f"\n[… {missing} characters left out; the whole has the result_id {identifier} …]\n"
        shown = head + note + tail
        if block.get("type") == "text":
            cut.append({**block, "text": shown})
        else:
            cut.append({**block, "resource": {**block["resource"], "text": shown}})
    return cut, left_out


def _share(sizes: list[int], room: int) -> int:
    """Return how long a text may be so that all of them fit."""
    left, rest = max(room, 0), sorted(sizes)
    while rest:
        share = left // len(rest)
        if rest[0] > share:
            return max(share, _LEAST)
        left -= rest.pop(0)
    return left
