"""The operations by which people answer what the policy asks."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from nacre.core.catalog.caller import Scope
from nacre.core.catalog.catalog import Operation, Result, operation, unlisted
from nacre.core.operations.parameters import SessionRef

# Of what the policy asks: once, session, save, deny. Of what a program asks: text, yes, no, deny.
Answer = Literal["once", "session", "save", "deny", "text", "yes", "no"]
AskedKind = Literal["command", "password", "confirm"]


class Approval(Result, frozen=True, kw_only=True):
    """A question that the policy, or a program, asks people, and what it is bound to."""

    id: str
    kind: AskedKind = "command"  # may it run; else what a program asks for
    command: str  # the exact text; of keys that nobody can read, as they are written in Python
    session: str | None  # its name; null for one that is about to be created
    session_id: str | None
    cwd: str | None  # null: it is not known
    policy: str  # the preset that asks; what kind of question a program asks
    asked_by: str  # the door, and the name that the client gave itself
    reasons: list[str]
    rule: str | None
    answers: list[Answer]  # those that can be given
    asked: float  # seconds since the epoch
    expires: float  # the same
    waiting: bool  # the call that asked still waits
    tool: str | None = None  # it is about a call of this upstream tool, not about a command
    host: str | msgspec.UnsetType = msgspec.UNSET  # in a cluster: the one that asks


class ApprovalList(Result, frozen=True, kw_only=True):
    approvals: list[Approval]


class Answered(Result, frozen=True, kw_only=True):
    id: str
    answer: Answer
    command: str
    waiting: bool  # the call waited: it goes on now. Else the answer counts at the next try
    file: str | None = None  # the rule was added to this file
    arrived: bool | None = None  # the program took what was typed; None: nothing was


@operation(
    "list_approvals",
    "GET /approvals",
    result=ApprovalList,
    scope=Scope.OBSERVE,
    idempotent=True,
)
class ListApprovals(Operation, frozen=True, kw_only=True):
    """List what people are asked: commands that wait for an approval, questions of programs."""


@operation(
    "answer_approval",
    "POST /approvals/{id}",
    result=Answered,
    scope=Scope.DRIVE,
    types=lambda request: request.answer in ("text", "yes", "no"),
)
class AnswerApproval(Operation, frozen=True, kw_only=True):
    """Answer what people are asked. Only a person can: on the web page or at a command line."""

    id: Annotated[str, Meta(description="The id of the question, from list_approvals.")]
    answer: Annotated[
        Answer,
        Meta(
            description="once: this command, here, now; session: in this session from now on; "
            "save: always, as a rule in the user's file; deny. To a program that asks: text, "
            "yes or no, which is typed; deny leaves it unanswered."
        ),
    ]
    text: Annotated[
        str | None, Meta(description="With answer=text: what is typed. It is recorded nowhere.")
    ] = None


class QuestionAnswered(Result, frozen=True, kw_only=True):
    session: str
    arrived: bool  # the program took it; False: it was typed, and nothing shows that


@operation(
    "answer_question",
    "POST /sessions/{session}/answer",
    result=QuestionAnswered,
    scope=Scope.DRIVE,
    types=True,
)
class AnswerQuestion(Operation, frozen=True, kw_only=True):
    """Type an answer for the program that asks in a session, if it still asks. Only a person can.

    Nobody else types meanwhile, and the answer is recorded nowhere.
    """

    session: SessionRef
    question: Annotated[
        str,
        Meta(description="What it asks, as the list of sessions has it: else nothing is typed."),
    ]
    answer: Annotated[
        Literal["text", "yes", "no"],
        Meta(description="text: a password or a line; yes or no, typed as the program wants it."),
    ]
    text: Annotated[str | None, Meta(description="With answer=text: what is typed.")] = None


class PasswordGiven(Result, frozen=True, kw_only=True):
    """What a person typed. Bytes: nothing looks for secrets in these, and nothing logs them."""

    data: bytes


@unlisted("ask_password", scope=Scope.OBSERVE)
class AskPassword(Operation, frozen=True, kw_only=True):
    """Ask a person for a password, for a program in a session (client/askpass.py)."""

    session: str
    cookie: str
    prompt: str
    confirms: bool = False  # its exit code is the answer
