"""Ask the person at an agent's host what the policy asks: MCP's elicitation, in its form mode.

Rule 1: only the host's own answer counts, which no tool can give. A host that answers without
asking its user is believed: the setting `elicitation` turns this off.
Rule 2: a password is never asked for in this way: a host may show its model what was answered.
Rule 3: no MCP library in here (server.py).
"""

from collections.abc import Mapping
from typing import Any

from nacre.core.operations.safety.approvals import Answer, Approval
from nacre.core.text.unseen import on_one_line, quoted
from nacre.services.dispatch.forwarding.relay import Ask

CREATE = "elicitation/create"

_TITLES: dict[Answer, str] = {
    "once": "Allow once",
    "session": "Allow in this session",
    "save": "Always allow exactly this line",
    "deny": "Deny",
    "yes": "Yes",
    "no": "No",
    "text": "Type it",  # never asked for here
}
_MOST_SHOWN = 4000  # characters of a command in a form


def offers(capabilities: Mapping[str, Any] | None) -> bool:
    """Return whether a client can show forms; before there were modes, `{}` said so."""
    found = (capabilities or {}).get("elicitation")
    return isinstance(found, Mapping) and ("form" in found or "url" not in found)


def limited(capabilities: Mapping[str, Any], ask: Ask) -> Ask:
    """Return what asks a host that has these capabilities; None for a question that it cannot
    show.
    """
    found = capabilities.get("elicitation")
    opens = isinstance(found, Mapping) and "url" in found

    async def asking(params: Mapping[str, Any]) -> dict[str, Any] | None:
        return await ask(params) if opens or params.get("mode") != "url" else None

    return asking


def form_of(approval: Approval) -> dict[str, Any]:
    """Return the parameters of a request that asks for an answer."""
    command = approval.command
    if len(command) > _MOST_SHOWN:
        left_out = len(command) - _MOST_SHOWN
        command = (
            f"{command[:_MOST_SHOWN]}[… {left_out} characters left out: to allow it, read it all "
            "on nacre's page or by 'nacre approvals' …]"
        )
    where = f"session {approval.session}" if approval.session else "a new session"
    folder = on_one_line(approval.cwd or "a folder that is not known")
    if approval.kind != "command":
        message = f"A program in {where} asks:\n\n{quoted(command)}"
        return {"message": message, "requestedSchema": _schema(approval)}
    asked = f"May this run in {where}, in {folder}?"
    if approval.tool is not None:
        asked = f"May the tool {on_one_line(approval.tool)} be called?"
    message = (
        f"{asked}\n\n{quoted(command)}\n\n"
        f"The policy ({approval.policy}) asks because: {on_one_line('; '.join(approval.reasons))}"
    )
    return {"message": message, "requestedSchema": _schema(approval)}


def _schema(approval: Approval) -> dict[str, Any]:
    choice = {
        "type": "string",
        "title": "Answer",
        "enum": _offered(approval),
        "enumNames": [_title(answer, approval) for answer in _offered(approval)],
    }
    return {"type": "object", "properties": {"answer": choice}, "required": ["answer"]}


def _offered(approval: Approval) -> list[Answer]:
    """Return what a form can answer: nobody allows what is not shown to its end."""
    if approval.kind == "command" and len(approval.command) > _MOST_SHOWN:
        return ["deny"]
    return list(approval.answers)


def _title(answer: Answer, approval: Approval) -> str:
    always = answer == "save" and approval.tool is not None
    return "Always allow this tool" if always else _TITLES[answer]


def answer_of(result: Mapping[str, Any], approval: Approval) -> Answer | None:
    """Return what the person said; None when they said nothing."""
    action = result.get("action")
    if action == "decline":
        return "deny" if approval.kind == "command" else None
    content = result.get("content")
    if action != "accept" or not isinstance(content, Mapping):
        return None
    return next((answer for answer in _offered(approval) if answer == content.get("answer")), None)
