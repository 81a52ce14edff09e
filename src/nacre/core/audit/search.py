"""Find records of the audit: by session, kind, caller, call, time and text."""

import json
from typing import Any, NamedTuple


class AuditSearch(NamedTuple):
    """What a record has to be like; None stands for any."""

    session: str | None = None  # its name or id
    kind: str | None = None
    caller: str | None = None  # a door, a part of the client's name, a token, person or agent
    since: str | None = None  # as records write their time, which sorts as text
    until: str | None = None
    text: str | None = None  # anywhere in it, in any case
    request: str | None = None  # the id of the call, which all hosts of a cluster have

    def finds(self, record: dict[str, Any]) -> bool:
        moment = str(record.get("time", ""))
        return (
            (self.kind is None or record.get("kind") == self.kind)
            and (
                self.session is None
                or self.session in (record.get("session"), record.get("session_id"))
            )
            and (self.request is None or record.get("request") == self.request)
            and (self.since is None or moment >= self.since)
            and (self.until is None or moment < self.until)
            and (self.caller is None or _is_by(record.get("caller"), self.caller))
            and (self.text is None or self.text.casefold() in _as_text(record).casefold())
        )


def _is_by(caller: Any, wanted: str) -> bool:
    if not isinstance(caller, dict):
        return False
    if wanted in ("person", "agent"):
        return bool(caller.get("person")) is (wanted == "person")
    named = (caller.get("door"), caller.get("token"), caller.get("token_name"))
    return wanted in named or wanted.casefold() in str(caller.get("client", "")).casefold()


def _as_text(record: dict[str, Any]) -> str:
    told = {name: value for name, value in record.items() if name not in ("prev", "mac")}
    return json.dumps(told, ensure_ascii=False)
