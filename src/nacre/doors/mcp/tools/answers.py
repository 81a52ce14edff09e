"""What a tool's results and failures look like in MCP.

Rule: a result is JSON as text, and the same as structured content. A plain tool's is one text.
"""

from typing import Any
from urllib.parse import quote

import msgspec

from nacre.core.agent.tools import AgentAnswer
from nacre.core.catalog.catalog import Result
from nacre.core.operations.display import OverlayList, PanelList
from nacre.core.operations.results import PictureTaken, RunOutcome, SessionList
from nacre.core.operations.upstream import UpstreamAnswer
from nacre.core.text.budget import json_chars
from nacre.errors import Busy, LimitReached, NotAtPrompt
from nacre.services.dispatch.call import HandedOver
from nacre.services.dispatch.dispatch import Answer
from nacre.wording import Words

# What a server of the 2026 revision says of itself in each result; ours says who we are.
_STAMP = "io.modelcontextprotocol/serverInfo"

# Results that are a bare array in wsh and SILC.
_BARE = {SessionList: "sessions", OverlayList: "overlays", PanelList: "panels"}
_WORTH_TELLING = ("reasons", "approval", "notice")  # of an error, below its message


def shape_answer(answer: Answer, words: Words, most: int, scheme: str = "nacre") -> dict[str, Any]:
    """Return the tool result, and what else is told, both as text and structured.

    Raises LimitReached for an SVG of more than `most` characters, which hosts would cut: services
    cut text, but half an SVG is of no use.
    """
    drawn = answer.result
    if isinstance(drawn, AgentAnswer):
        return _shape_plain(drawn)
    if isinstance(drawn, PictureTaken) and drawn.format == "svg" and json_chars(drawn.data) > most:
        raise LimitReached(
            f"the SVG has {len(drawn.data)} characters, and an answer {most} (max_result_chars)",
            "take it as png",
        )
    shaped = shape_result(answer.result, words, scheme, "; ".join(answer.notices))
    if answer.told is not None:
        _add_handover(shaped, answer.told)
    return shaped


def shape_result(
    result: Result, words: Words, scheme: str = "nacre", notice: str = ""
) -> dict[str, Any]:
    """Return the tool result: JSON as text, and the same as structured content."""
    if isinstance(result, UpstreamAnswer):
        return _pass_on(result, notice)
    structured = msgspec.to_builtins(result, enc_hook=words.encode)
    if notice:
        own = structured.pop("notice", None)  # of a session
        structured = {"notice": f"{notice}; {own}" if own else notice, **structured}
    if isinstance(result, PictureTaken):
        return _shape_picture(result, structured, scheme)
    if isinstance(result, RunOutcome) and result.status in ("busy", "error"):
        # A failure that the model can act on; the fields of the result stay readable.
        code = {"busy": Busy.code, "error": NotAtPrompt.code}[result.status]
        message = structured.get("hint", result.status)
        return shape_failure({"code": code, "message": message, **structured}, words)
    # wsh and SILC return a bare array. MCP demands an object as structured content, so the array
    # is the text only.
    field = _BARE.get(type(result))
    text = structured if field is None else structured[field]
    content = [_text(text)]
    if field is not None and (hint := structured.get("hint")):
        content.append({"type": "text", "text": hint})
    if field is not None and notice:
        content.append({"type": "text", "text": notice})
    return _succeeded(content, structured)


def _pass_on(result: UpstreamAnswer, notice: str) -> dict[str, Any]:
    """Return an upstream tool's result as its server sent it, and what we have to say of it."""
    told = [{"type": "text", "text": notice}] if notice else []
    shaped = _succeeded([*result.content, *told], result.structured_content)
    shaped["isError"] = result.is_error
    meta = {key: value for key, value in (result.meta or {}).items() if key != _STAMP}
    if result.result_id is not None:
        meta["nacre/result"] = {"result_id": result.result_id, "left_out": result.left_out}
    return {**shaped, "_meta": meta} if meta else shaped


def _shape_picture(result: PictureTaken, structured: dict[str, Any], scheme: str) -> dict[str, Any]:
    """Return the picture as what a model sees, and what is known of it as a text beside it."""
    data = structured.pop("data")
    if result.format == "png":
        picture = {"type": "image", "data": data, "mimeType": "image/png"}
    else:
        uri = f"{scheme}://sessions/{quote(result.session)}/screenshot.svg"
        resource = {"uri": uri, "mimeType": "image/svg+xml", "text": data}
        picture = {"type": "resource", "resource": resource}
    return _succeeded([picture, _text(structured)])


def _shape_plain(answer: AgentAnswer) -> dict[str, Any]:
    """Return one block of text, or the picture alone: that is what every host hands on whole."""
    content = [{"type": "text", "text": answer.text}] if answer.text else []
    if answer.picture is not None:
        content.insert(0, {"type": "image", "data": answer.picture, "mimeType": "image/png"})
    return {**_succeeded(content), "_meta": {"nacre/answer": answer.meta}}


def _succeeded(content: list[dict[str, Any]], structured: Any = None) -> dict[str, Any]:
    return {
        "content": content,
        **({} if structured is None else {"structuredContent": structured}),
        "isError": False,
        "resultType": "complete",  # the 2026 revision demands it, the older ones drop it
    }


def _add_handover(shaped: dict[str, Any], told: HandedOver) -> None:
    """Add what a person did meanwhile to a result; its first text stays as it is."""
    shaped["content"].append({"type": "text", "text": told.handover.in_words(told.session)})
    if (structured := shaped.get("structuredContent")) is not None:
        # `control` has a field of that name itself: the same hand-over.
        own = structured.get("handover")
        shaped["structuredContent"] = {**structured, "handover": own or told.as_dict()}
    shaped.setdefault("_meta", {})["nacre/handover"] = told.as_dict()


def _text(value: Any) -> dict[str, Any]:
    return {"type": "text", "text": msgspec.json.encode(value).decode()}


def shape_failure(error: dict[str, Any], words: Words, *, as_text: bool = False) -> dict[str, Any]:
    """Return the result of an operation that ran and failed. Clients check no schema for these.

    `as_text`: what happened and what to do as words, not as JSON.
    """
    plain = msgspec.to_builtins(error, enc_hook=words.encode)
    return {
        "content": [{"type": "text", "text": _in_words(plain)} if as_text else _text(plain)],
        "isError": True,
        "resultType": "complete",
        "_meta": {"nacre/error": {"code": plain["code"], "message": plain["message"]}},
    }


def _in_words(error: dict[str, Any]) -> str:
    told = [f"error: {error['message']}"]
    for name in _WORTH_TELLING:
        if value := error.get(name):
            text = "; ".join(map(str, value)) if isinstance(value, list) else str(value)
            told += [f"{name}: {text}"] if text not in error["message"] else []
    return "\n".join(told)
