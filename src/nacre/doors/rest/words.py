"""How REST words errors: it names routes, with what goes into their path, query and body."""

from collections.abc import Mapping
from typing import Any

from nacre.core.operations.all import CATALOG
from nacre.doors.http.words import as_request, fill_path
from nacre.wording import Use, Words


class RouteWords(Words):
    def call(self, operation: str, params: Mapping[str, Any]) -> str | None:
        return as_request(_route_of(operation), params)

    def as_call(self, use: Use) -> dict[str, Any]:
        route, rest = fill_path(_route_of(use.operation), use.params)
        return {"operation": use.operation, "route": route, "params": rest, "why": use.to}


def _route_of(operation: str) -> str:
    method, _, path = CATALOG[operation].route.partition(" ")
    return f"{method} /api{path}"


ROUTES = RouteWords()
