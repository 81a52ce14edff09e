"""Log the messages of a protocol, at the level debug.

Rule: a message is logged as data, so that the log's own redaction sees each text as it was written.
"""

import logging

import msgspec

_log = logging.getLogger("nacre.mcp.messages")
_LONGEST = 16_384  # bytes; of a longer one its size is told


def log_message(direction: str, data: bytes) -> None:
    """`direction` is received or sent."""
    if not _log.isEnabledFor(logging.DEBUG):
        return
    told: dict[str, object] = {"bytes": len(data)}
    if len(data) <= _LONGEST:
        try:
            told["body"] = msgspec.json.decode(data)
        except msgspec.DecodeError:
            told["body"] = "no JSON"  # what it is instead may be anything
    _log.debug(direction, extra=told)
