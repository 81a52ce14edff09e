"""Names of secrets in a text that is to be typed: {{secret:NAME}}.

Rule: the text with the names is what is judged, recorded and shown. The values take their place at
the moment of typing, and nowhere else.
"""

import re
from collections.abc import Callable

PLACE = "{{secret:"  # what every placeholder begins with
NAME = r"[A-Za-z_][A-Za-z0-9_.-]{0,63}"

_NAME = re.compile(NAME)
_PLACEHOLDER = re.compile(rf"\{{\{{secret:({NAME})\}}\}}")
_IN_BYTES = re.compile(_PLACEHOLDER.pattern.encode())


def is_secret_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None


def placeholder(name: str) -> str:
    return f"{PLACE}{name}}}}}"


def names_in(text: str) -> list[str]:
    """Return the names of secrets in a text, each once."""
    return list(dict.fromkeys(_PLACEHOLDER.findall(text))) if PLACE in text else []


def filled(text: str, value_of: Callable[[str], str]) -> str:
    """Return a text with values in place of the names."""
    return _PLACEHOLDER.sub(lambda found: value_of(found[1]), text) if PLACE in text else text


def filled_bytes(data: bytes, value_of: Callable[[str], str]) -> bytes:
    return _IN_BYTES.sub(lambda found: value_of(found[1].decode()).encode(), data)
