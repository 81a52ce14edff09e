"""The operations by which people answer what the policy asks."""

from typing import Annotated, Literal

from msgspec import Meta

from nacre.core.catalog.caller import Scope
from nacre.core.catalog.catalog import Operation, Result, operation

Answer = Literal["once", "session", "save", "deny"]


class Approval(Result, frozen=True, kw_only=True):
    """A question that the policy asks people, and what it is bound to."""

    id: str
    command: str  # the exact text; of keys that nobody can read, as they are written in Python
    session: str | None  # its name; null for one that is about to be created
    session_id: str | None
    cwd: str | None  # null: it is not known
    policy: str  # the preset that asks
    asked_by: str  # the door, and the name that the client gave itself
    reasons: list[str]
    rule: str | None
    answers: list[Answer]  # those that can be given
    asked: float  # seconds since the epoch
    expires: float  # the same
    waiting: bool  # the call that asked still waits


class ApprovalList(Result, frozen=True, kw_only=True):
    approvals: list[Approval]


class Answered(Result, frozen=True, kw_only=True):
    id: str
    answer: Answer
    command: str
    waiting: bool  # the call waited: it goes on now. Else the answer counts at the next try
    file: str | None = None  # the rule was added to this file


@operation(
    "list_approvals",
    "GET /approvals",
    result=ApprovalList,
    scope=Scope.OBSERVE,
    idempotent=True,
)
class ListApprovals(Operation, frozen=True, kw_only=True):
    """List what the policy asks people: commands that wait for an approval."""


@operation("answer_approval", "POST /approvals/{id}", result=Answered, scope=Scope.DRIVE)
class AnswerApproval(Operation, frozen=True, kw_only=True):
    """Answer what the policy asks. Only a person can: on the web page or at a command line."""

    id: Annotated[str, Meta(description="The id of the question, from list_approvals.")]
    answer: Annotated[
        Answer,
        Meta(
            description="once: this command, here, now; session: in this session from now on; "
            "save: always, as a rule in the user's file; deny."
        ),
    ]
