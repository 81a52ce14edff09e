"""Record what callers did, and what they were refused.

Rule 1: what was typed and what ran is recorded where it happens, with what is known there: whether
it was shown, how it ended (services/session, services/runs). Here is recorded what these do not
tell: other acts, and everything that was refused or failed.
Rule 2: only reading is not recorded. Of a call that another host of the cluster answers, here is
recorded that it was asked, and there what was done: with one request id.
Rule 3: no text that was to be typed is recorded here: nobody knows yet whether it is a password.
"""

import asyncio
import time
from typing import Any

from nacre.core.catalog.caller import Scope
from nacre.core.operations.commands import CallCommand
from nacre.errors import NacreError
from nacre.services.audit.audit import Audit
from nacre.services.dispatch.call import Call, Onward
from nacre.services.dispatch.permit import Judgement

# Parameters that say what was done. Others may hold what nobody should read in a log.
_TOLD = (
    *("name", "new_name", "action", "signal", "mode", "rows", "cols", "port", "keep"),
    *("tags", "sandbox", "policy", "preset", "run_id", "path", "format", "profile"),
    *("server", "enabled", "uri", "prompt", "execution_id", "draining", "force"),
)
_PROGRAM = ("command", "args", "cwd", "shell", "tool", "pipeline")  # where nothing is typed
_EITHER_WAY = ("enabled", "draining")  # told also when they are false
_EXECUTES = ("run", "run_command")  # commands, as others than the policy may refuse them
_REFUSED = ("FORBIDDEN", "POLICY_DENIED")


class RecordCalls:
    def __init__(self, audit: Audit) -> None:
        self._audit = audit

    async def __call__(self, call: Call, onward: Onward) -> Any:
        spec = call.spec
        if spec.scope is Scope.OBSERVE:
            result = await onward(call)
            if call.host and call.stack is not None and spec.name == "watch":
                self._note(call, "ok")  # what is typed there is recorded there, under this id
            return result
        try:
            result = await self._judged(call, onward)
        except NacreError as error:
            self._note(call, error.code, reason=error.message)
            self._note_refusal(call, error)
            raise
        except asyncio.CancelledError:
            self._note(call, "given up")
            raise
        except Exception:
            self._note(call, "INTERNAL_ERROR")
            raise
        if call.host or not spec.types_into(call.operation):
            self._note(call, "ok")
        elif (status := getattr(result, "status", None)) in ("busy", "error"):
            self._note(call, status)
        return result

    async def _judged(self, call: Call, onward: Onward) -> Any:
        """Pass it on, and record what the policy did not simply allow."""
        try:
            return await onward(call)
        finally:
            # A line is judged when the call comes and again when it is typed.
            for one in dict.fromkeys(call.judged.judgements):
                if one.verdict != "allow":
                    self._note_judgement(call, one)

    def _note_judgement(self, call: Call, judgement: Judgement) -> None:
        target = next((one for one in call.targets if one.id == judgement.session), None)
        fields: dict[str, Any] = {
            "operation": call.spec.name,
            "verdict": judgement.verdict,
            **self._audit.text(judgement.line),
            "preset": judgement.preset,
            "reasons": list(judgement.reasons),
        }
        if judgement.rule is not None:
            fields["rule"] = judgement.rule
        if judgement.answer is not None:
            fields["answer"] = judgement.answer
        self._audit.record("decision", target, call.caller, fields)

    def _note(self, call: Call, outcome: str, *, reason: str | None = None) -> None:
        operation, spec = call.operation, call.spec
        fields: dict[str, Any] = {"operation": spec.name, "outcome": outcome}
        if reason is not None and not spec.types_into(operation):
            fields["reason"] = reason
        given = _TOLD if spec.types is not False else (*_TOLD, *_PROGRAM)
        for name in given:
            value = getattr(operation, name, None)
            if value not in (None, (), [], "", False) or (value is False and name in _EITHER_WAY):
                fields[name] = value
        if names := getattr(operation, "env", None):
            fields["env"] = sorted(names)  # not the values
        if call.host:  # its host knows the session; here it is what the caller named
            named = getattr(operation, "session", None)
            fields["host"] = call.host
            fields |= {} if named is None else {"session": str(named)}
        fields["ms"] = round((time.monotonic() - call.began) * 1000, 1)
        for target in call.targets or (None,):
            self._audit.record("call", target, call.caller, fields)

    def _note_refusal(self, call: Call, error: NacreError) -> None:
        """Add the one line of a command that was refused to the log of executions."""
        executions = self._audit.executions
        if executions is None or error.code not in _REFUSED:
            return
        line = error.details.get("command")  # what the policy has judged
        if line is None and call.spec.name in _EXECUTES:
            # What run_command was to type may be a password: the name of the operation must do.
            line = getattr(call.operation, "command", call.spec.name)
        elif isinstance(call.operation, CallCommand) and not call.begun:
            # Else the catalog has noted it. Arguments may be secrets, which it knows best.
            line = call.operation.tool or next(
                (one[0] for one in call.operation.pipeline or () if one), None
            )
        if line is not None:
            executions.add(str(line).strip(), "denied")
