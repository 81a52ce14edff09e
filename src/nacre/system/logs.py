"""Structured logs: one JSON object per line, or the same as text.

Rule 1: what is logged on behalf of a request has its id.
Rule 2: secrets are taken out of each text before it is encoded: a quotation mark, a backslash or a
letter that is not ASCII has another form in JSON. What is no text yet is looked at afterwards.
"""

import json
import logging
import logging.handlers
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, Literal

REQUEST: ContextVar[str] = ContextVar("request")  # the id of the request that is answered

# What every record has; everything else is the caller's `extra`.
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class JsonFormatter(logging.Formatter):
    redact: Callable[[str], str] = staticmethod(lambda text: text)  # see redact_logs

    def format(self, record: logging.LogRecord) -> str:
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line = {
            "time": f"{moment}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if (request := REQUEST.get("")) != "":
            line["request"] = request
        line.update({key: value for key, value in vars(record).items() if key not in _STANDARD})
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return self.redact(self.written({key: self._clean(one) for key, one in line.items()}))

    def _clean(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, dict):
            return {key: self._clean(one) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return [self._clean(one) for one in value]
        return value if value is None or isinstance(value, int | float) else self._clean(str(value))

    def written(self, line: dict[str, Any]) -> str:
        return json.dumps(line, default=str)


class TextFormatter(JsonFormatter):
    """The same in words: `12:00:00.518 info nacre.runs: message (name=value)`."""

    def written(self, line: dict[str, Any]) -> str:
        moment, level, logger, message = (line.pop(name) for name in _FIRST)
        trace = line.pop("traceback", None)
        rest = ", ".join(f"{name}={value}" for name, value in line.items())
        text = f"{moment} {level} {logger}: {message}{f' ({rest})' if rest else ''}"
        # A line of its own would be taken for another record; a trace is one by its indentation.
        text = text.replace("\n", "\\n").replace("\r", "\\r")
        return text if trace is None else text + "".join(f"\n  {one}" for one in trace.splitlines())


_FIRST = ("time", "level", "logger", "message")
_FORMATS = {"json": JsonFormatter, "text": TextFormatter}


class _LogFile(logging.handlers.RotatingFileHandler):
    def handleError(self, record: logging.LogRecord) -> None:
        """Say nothing about a disk that takes no line: standard error is the same file."""


def redact_logs(redact: Callable[[str], str]) -> None:
    """Take secrets out of every line from now on."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler.formatter, JsonFormatter):
            handler.formatter.redact = redact


def configure_logs(
    level: str, *, file: str | None, max_bytes: int, form: Literal["json", "text"] = "json"
) -> None:
    """Log to standard error, or to a file that is rotated when it is full.

    If the file cannot be opened or written (a full disk), there is no log, and nothing else fails.
    """
    handler: logging.Handler = logging.StreamHandler(sys.stderr)
    if file is not None:
        with suppress(OSError):
            handler = _LogFile(file, maxBytes=max_bytes, backupCount=1, encoding="utf-8")
    handler.setFormatter(_FORMATS[form]())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("nacre").setLevel(level.upper())
