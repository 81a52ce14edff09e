"""Take secrets out of what a caller that is no person gets, and say how many there were.

Rule 1: whatever the door: all answers and errors pass here. What services cut is redacted before
that, by the same redaction (core/text/redaction.py).
Rule 2: an answer without a secret is the same object, and costs a look at its texts.
"""

from typing import Any, Protocol

from nacre.core.catalog.caller import Caller
from nacre.core.catalog.catalog import Operation
from nacre.core.operations.recordings import ExportRecording, FilmRecording
from nacre.core.text.placeholders import PLACE
from nacre.core.text.redaction import Redaction, redacted, redacting
from nacre.errors import NacreError
from nacre.services.dispatch.call import Call, Onward


class Redactions(Protocol):
    def redaction_for(self, caller: Caller) -> Redaction | None: ...

    def check(self, text: str, session: str) -> None:
        """Raises InvalidInput if a secret that a text names cannot be typed there."""


class Redact:
    def __init__(self, secrets: Redactions) -> None:
        self._secrets = secrets

    async def __call__(self, call: Call, onward: Onward) -> Any:
        redaction = self._secrets.redaction_for(call.caller)
        if redaction is None:
            return await onward(call)
        with redacting(redaction):
            try:
                result = await onward(call)
            except NacreError as error:
                redact_error(error, redaction)
                raise
            # A recording was redacted by the thread that wrote it: it may be many megabytes. So was
            # what a film is made of.
            if not isinstance(call.operation, ExportRecording | FilmRecording):
                result = redacted(result, redaction)
        if redaction.count:
            call.notices.append(_told(redaction.count))
        return result


def _told(count: int) -> str:
    secrets = "1 secret is" if count == 1 else f"{count} secrets are"
    return f"{secrets} redacted here: no agent is shown them"


def redact_error(error: NacreError, redaction: Redaction) -> None:
    error.message = redaction.text(error.message)
    error.details.update(redacted(error.details, redaction))
    error.args = (error.message, *error.args[1:])


_TYPED = ("command", "input", "text", "keys")  # parameters with what is typed
# Those with what goes elsewhere: into a file, to a program that is started, to another server.
_ELSEWHERE = ("content", "new", "env", "command", "args", "arguments")


class CheckSecrets:
    """Refuse a call that names a secret which is not there, before anything is typed; and say so
    where a name stays a name, because nothing is typed.
    """

    def __init__(self, secrets: Redactions) -> None:
        self._secrets = secrets

    async def __call__(self, call: Call, onward: Onward) -> Any:
        """Raises InvalidInput."""
        types = call.spec.types_into(call.operation)
        if call.targets and types:
            for name in _TYPED:
                given = getattr(call.operation, name, None) or ""
                for text in [given] if isinstance(given, str) else given:
                    if isinstance(text, str) and PLACE in text:
                        self._secrets.check(text, call.targets[0].name)
        names = [one for one in _ELSEWHERE if not (types and one in _TYPED)]
        if not call.caller.person and any(_names_one(call.operation, name) for name in names):
            call.notices.append(_STAYS)
        return await onward(call)


_STAYS = (
    "{{secret:NAME}} stayed as it is here: secrets are filled in only where text is typed into a "
    "session"
)


def _names_one(operation: Operation, name: str) -> bool:
    given = getattr(operation, name, None)
    if not given:
        return False
    # Whatever it is: a text, a list, a table of tables.
    return PLACE in (given if isinstance(given, str) else str(given))
