"""Ask the model of an agent's host: MCP's sampling, as a request or as part of a result.

Rule: no MCP library in here (server.py).
"""

from collections.abc import Mapping
from typing import Any

from nacre.services.dispatch.sampling import ModelPrompt, Sampled

CREATE_MESSAGE = "sampling/createMessage"


def offers_sampling(capabilities: Mapping[str, Any] | None) -> bool:
    return isinstance((capabilities or {}).get("sampling"), Mapping)


def message_of(prompt: ModelPrompt) -> dict[str, Any]:
    """Return the parameters of a request that asks for the model's answer."""
    said = {"role": "user", "content": {"type": "text", "text": prompt.text}}
    return {
        "messages": [said],
        "systemPrompt": prompt.system,
        "maxTokens": prompt.max_tokens,
        "includeContext": "none",
        "temperature": 0.0,
    }


def sampled_of(result: Mapping[str, Any]) -> Sampled | None:
    """Return what the model said; None if that is no text."""
    content = result.get("content")
    if isinstance(content, list):  # since 2025-11-25 it may be several
        content = next((one for one in content if _is_text(one)), None)
    if not isinstance(content, Mapping) or not _is_text(content):
        return None
    return Sampled(content["text"], str(result.get("model", "")))


def _is_text(content: Any) -> bool:
    return (
        isinstance(content, Mapping)
        and content.get("type") == "text"
        and isinstance(content.get("text"), str)
    )
