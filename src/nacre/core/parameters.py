"""Parameters that several operations share, with their limits and descriptions."""

from typing import Annotated, Literal

from msgspec import Meta

SessionRef = Annotated[str | int, Meta(description="Session: its name, id or port.")]
Rows = Annotated[
    int, Meta(ge=1, le=1000, description="Terminal rows; the least that is used is 2.")
]
Cols = Annotated[int, Meta(ge=1, le=2000, description="Terminal columns.")]
Format = Annotated[
    Literal["styled", "plain"],
    Meta(description="styled: a line is a list of spans with colours; plain: a line is a string."),
]
MaxChars = Annotated[
    int,
    Meta(
        ge=1,
        description="Budget for the text: the lines that fit are sent, the rest is counted.",
    ),
]
SinceGeneration = Annotated[
    int,
    Meta(ge=0, description="Generation seen last: when nothing changed since, no lines are sent."),
]
LastGeneration = Annotated[
    int,
    Meta(
        ge=0,
        description="Generation seen last: wait for newer output, and then until it is quiet.",
    ),
]
Quiet = Annotated[int, Meta(ge=0, description="Silence in ms that counts as quiet.")]
MaxWait = Annotated[int, Meta(ge=0, description="Deadline in ms for the whole call.")]
PictureFormat = Annotated[
    Literal["png", "svg"],
    Meta(description="png: pixels, as a model sees them; svg: shapes and text, for documents."),
]
Scale = Annotated[int, Meta(ge=1, le=4, description="1: a cell is 8 by 16 pixels; 2: 16 by 32.")]
