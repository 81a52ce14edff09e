"""How things are said over HTTP: by requests that can be sent; and to people at the web page, where
no operation or route has a name.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from nacre.core.catalog.caller import Caller
from nacre.wording import OPERATIONS, Give, Takes, Words, with_json

_IN_PATH = re.compile(r"\{(\w+)\}")


def fill_path(route: str, params: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Fill a route's path ("METHOD /path/{name}"); return it and the parameters that are left."""
    rest = dict(params)

    def fill(found: re.Match[str]) -> str:
        value = rest.pop(found[1], None)
        return found[0] if value is None else quote(str(value), safe="")

    return _IN_PATH.sub(fill, route), rest


def as_request(route: str, params: Mapping[str, Any]) -> str:
    """Return a route with parameters in its path, query or body."""
    filled, rest = fill_path(route, params)
    if filled.startswith("GET "):
        return f"{filled}?{urlencode(rest)}" if rest else filled
    return with_json(filled, rest)


class PageWords(Words):
    """What happened, and the next steps that name no operation."""

    def call(self, operation: str, params: Mapping[str, Any]) -> str | None:
        return None

    def takes(self, step: Takes) -> str | None:
        return None

    def give(self, step: Give) -> str | None:
        return None  # the page may have no place for it


PAGE = PageWords()


def words_for(caller: Caller, words: Words = OPERATIONS) -> Words:
    """Return the page's words for its people, and the door's `words` for all others."""
    return PAGE if caller.door == "web" else words
