"""The operations on what a session of the sandbox profile `review` has changed."""

from typing import Annotated, Literal

from msgspec import Meta

from nacre.core.catalog.caller import Scope
from nacre.core.catalog.catalog import Operation, Result, operation
from nacre.core.operations.parameters import MaxChars, SessionRef


class ChangedFile(Result, frozen=True, kw_only=True, omit_defaults=True):
    path: str  # in the workspace
    kind: Literal["added", "changed", "deleted"]
    what: Literal["file", "folder", "link", "other"]
    conflict: bool = False  # it was changed in the workspace, too, since the session began
    refused: str | None = None  # why it will not be applied


class Review(Result, frozen=True, kw_only=True, omit_defaults=True):
    session: str
    workspace: str
    by: Literal["overlay", "copy"]  # what keeps the changes apart from the workspace
    conflicts: int = 0
    omitted_files: int = 0  # for which there was no room in `changes`
    omitted_diffs: int = 0  # changed files whose lines are not in `diff`
    hint: str | None = None
    changes: list[ChangedFile]
    diff: str  # as `diff -u` shows it


class LeftFile(Result, frozen=True, kw_only=True):
    path: str
    reason: str


class Applied(Result, frozen=True, kw_only=True):
    session: str
    applied: list[str]
    left: list[LeftFile]  # what was not applied; it stays in the session's layer


class Discarded(Result, frozen=True, kw_only=True):
    session: str
    discarded: int  # files and folders
    restarted: bool  # the session's program was running, and was started again


@operation(
    "diff_session",
    "GET /sessions/{session}/diff",
    result=Review,
    scope=Scope.OBSERVE,
    idempotent=True,
)
class DiffSession(Operation, frozen=True, kw_only=True):
    """Show what a session with the sandbox profile review has changed, against its workspace."""

    session: SessionRef
    max_chars: MaxChars | None = None


@operation(
    "apply_session",
    "POST /sessions/{session}/apply",
    result=Applied,
    scope=Scope.ADMIN,
    destructive=True,
)
class ApplySession(Operation, frozen=True, kw_only=True):
    """Apply what a session with the sandbox profile review has changed to its workspace.

    If the workspace was changed in the same places meanwhile, nothing is applied. Links that lead
    out of the workspace, devices and sockets are never applied. The session continues.
    """

    session: SessionRef
    force: Annotated[
        bool, Meta(description="Apply in spite of conflicts: what is in the workspace is lost.")
    ] = False


@operation(
    "discard_session",
    "POST /sessions/{session}/discard",
    result=Discarded,
    scope=Scope.ADMIN,
    destructive=True,
    acts=True,
)
class DiscardSession(Operation, frozen=True, kw_only=True):
    """Discard what a session with the sandbox profile review has changed.

    A running program would still see the changes, so it is restarted.
    """

    session: SessionRef
