"""Bring files into a session and out of it, wherever its shell is, and edit them."""

from typing import Annotated, Literal

from msgspec import Meta

from nacre.core.catalog.caller import Scope
from nacre.core.catalog.catalog import Operation, Result, operation
from nacre.core.operations.parameters import MaxChars, SessionRef, TimeOut

Way = Literal["local", "shell"]

_Path = Annotated[
    str,
    Meta(min_length=1, description="As the session's shell would take it: relative, ~/, or /."),
]
_Mode = Annotated[
    str,
    Meta(pattern="^[0-7]{3,4}$", description="Permissions, octal. Default: the file's, as it is."),
]
_Expected = Annotated[
    str, Meta(pattern="^[0-9a-f]{64}$", description="Write only if the file is still this one.")
]


class FileFacts(Result, frozen=True, kw_only=True, omit_defaults=True):
    path: str
    size: int  # of the whole file
    sha256: str | None = None  # of the whole file; None: nothing there can tell
    mode: str | None = None  # permissions, octal
    way: Way  # local: by this machine's files; shell: through the session's shell


class FileWritten(FileFacts, frozen=True, kw_only=True, omit_defaults=True):
    success: bool
    checked: bool  # the checksum was compared where the file is


class FileEdited(FileWritten, frozen=True, kw_only=True, omit_defaults=True):
    replacements: int


class FileRead(FileFacts, frozen=True, kw_only=True, omit_defaults=True):
    checked: bool = False  # the whole file was read, and its checksum compared
    offset: int = 0
    next_offset: int | None = None  # where to read on; none at the end
    exact: bool = True  # False: secrets or characters that nobody sees were taken out of content
    hint: str | None = None
    encoding: Literal["utf8", "base64"]
    content: str


@operation(
    "put_file",
    "POST /sessions/{session}/put_file",
    result=FileWritten,
    scope=Scope.DRIVE,
    destructive=True,
    types=True,
)
class PutFile(Operation, frozen=True, kw_only=True):
    """Write a file where a session's shell is: on this machine, in its sandbox, after ssh.

    It is written whole or not at all. Elsewhere than on this machine the shell must be at a prompt.
    """

    session: SessionRef
    path: _Path
    content: Annotated[str, Meta(description="What to write: all of the file.")]
    encoding: Annotated[
        Literal["utf8", "base64"], Meta(description="base64: content holds bytes in base64.")
    ] = "utf8"
    mode: _Mode | None = None
    overwrite: Annotated[bool, Meta(description="Replace a file that is there.")] = True
    if_sha256: _Expected | None = None
    timeout_ms: TimeOut = 60_000


@operation(
    "get_file",
    "POST /sessions/{session}/get_file",
    result=FileRead,
    scope=Scope.DRIVE,
    types=True,
)
class GetFile(Operation, frozen=True, kw_only=True):
    """Read a file where a session's shell is: on this machine, in its sandbox, after ssh."""

    session: SessionRef
    path: _Path
    encoding: Annotated[
        Literal["auto", "utf8", "base64"], Meta(description="auto: utf8 if it is text.")
    ] = "auto"
    offset: Annotated[int, Meta(ge=0, description="First byte.")] = 0
    limit: Annotated[int, Meta(ge=1, description="Most bytes. Default: to the end.")] | None = None
    max_chars: MaxChars | None = None
    timeout_ms: TimeOut = 60_000


@operation(
    "edit_file",
    "POST /sessions/{session}/edit_file",
    result=FileEdited,
    scope=Scope.DRIVE,
    destructive=True,
    types=True,
)
class EditFile(Operation, frozen=True, kw_only=True):
    """Replace an exact text in a file where a session's shell is; nothing else is changed."""

    session: SessionRef
    path: _Path
    old: Annotated[str, Meta(min_length=1, description="Text as it stands there, to the blank.")]
    new: Annotated[str, Meta(description="What takes its place.")]
    count: Annotated[int, Meta(ge=1, description="How often old must stand there.")] = 1
    timeout_ms: TimeOut = 60_000
