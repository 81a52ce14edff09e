"""The operations on a session's terminal: type into it, and read what it shows."""

from typing import Annotated, Literal

from msgspec import Meta

from nacre.core.catalog.caller import Scope
from nacre.core.catalog.catalog import Note, Operation, operation
from nacre.core.catalog.limits import cut_at
from nacre.core.operations.parameters import (
    Format,
    MaxChars,
    PictureFormat,
    Scale,
    SessionRef,
    SinceGeneration,
)
from nacre.core.operations.results import (
    InputSent,
    Output,
    PictureTaken,
    Screen,
    Scrollback,
)

MOST_LINES = 100_000  # of one answer


@operation(
    "send_input",
    "POST /sessions/{session}/input",
    result=InputSent,
    scope=Scope.DRIVE,
    destructive=True,
    types=True,
)
class SendInput(Operation, frozen=True, kw_only=True):
    """Send keystrokes or text to a session, exactly as given: end a command with \\r for Enter."""

    session: SessionRef
    input: Annotated[str, Meta(description="Text or keystrokes; control characters are keys.")]
    encoding: Annotated[
        Literal["utf8", "base64"], Meta(description="base64: input holds bytes in base64.")
    ] = "utf8"


@operation(
    "press_keys",
    "POST /sessions/{session}/keys",
    result=InputSent,
    scope=Scope.DRIVE,
    destructive=True,
    types=True,
)
class PressKeys(Operation, frozen=True, kw_only=True):
    """Press named keys, encoded the way the program in the session expects them."""

    session: SessionRef
    keys: Annotated[
        list[str],
        Meta(
            min_length=1,
            description="Key names (enter, ctrl+c, f5, shift+tab) or single characters.",
        ),
    ]


@operation(
    "get_screen",
    "GET /sessions/{session}/screen",
    result=Screen,
    scope=Scope.OBSERVE,
    idempotent=True,
)
class GetScreen(Operation, frozen=True, kw_only=True):
    """Read the current screen of a session."""

    session: SessionRef
    format: Format = "styled"
    max_chars: MaxChars | None = None
    since_generation: SinceGeneration | None = None


@operation(
    "screenshot",
    "GET /sessions/{session}/screenshot",
    result=PictureTaken,
    scope=Scope.OBSERVE,
    idempotent=True,
    notes=(Note("get_screen", "{} is cheaper if the text is enough."),),
)
class Screenshot(Operation, frozen=True, kw_only=True):
    """Take a picture of a session's screen, with its colours, styles and cursor.

    For what text cannot show: layout, colours, charts, full-screen programs.
    """

    session: SessionRef
    format: PictureFormat = "png"
    scale: Scale = 2
    show_cursor: Annotated[bool, Meta(description="Draw the cursor where it is visible.")] = True


@operation(
    "get_scrollback",
    "GET /sessions/{session}/scrollback",
    result=Scrollback,
    scope=Scope.OBSERVE,
    idempotent=True,
)
class GetScrollback(Operation, frozen=True, kw_only=True):
    """Read the lines above the screen. offset 0 is the oldest; total excludes the screen."""

    session: SessionRef
    offset: Annotated[int, Meta(ge=0, description="First line; 0 is the oldest.")] = 0
    limit: Annotated[int, cut_at(10_000, "Most lines to return.")] = 100
    format: Format = "styled"
    max_chars: MaxChars | None = None
    since_generation: SinceGeneration | None = None


@operation(
    "read_output",
    "GET /sessions/{session}/output",
    result=Output,
    scope=Scope.OBSERVE,
    idempotent=True,
)
class ReadOutput(Operation, frozen=True, kw_only=True):
    """Read the last lines of a session as plain text, scrollback and screen together."""

    session: SessionRef
    lines: Annotated[int, cut_at(MOST_LINES, "Number of last lines.")] = 100
    join: Annotated[bool, Meta(description="Join lines that only the width has broken.")] = False
    max_chars: MaxChars | None = None
    since_generation: SinceGeneration | None = None
