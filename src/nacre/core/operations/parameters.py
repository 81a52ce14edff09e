"""Parameters that several operations share, with their limits and descriptions."""

from typing import Annotated, Literal

from msgspec import Meta

from nacre.core.catalog.limits import cut_at, milliseconds

SessionRef = Annotated[str | int, Meta(description="Session: its name, id or port.")]
Rows = Annotated[int, Meta(ge=1, le=1000, description="Terminal rows; 1 is raised to 2.")]
Cols = Annotated[int, Meta(ge=1, le=2000, description="Terminal columns.")]
Format = Annotated[
    Literal["styled", "plain"],
    Meta(description="styled: a line is a list of spans with colours; plain: a line is a string."),
]
MaxChars = Annotated[
    int,
    Meta(
        ge=1,
        description="Most characters of the answer, as JSON; what does not fit is counted.",
    ),
]
SinceGeneration = Annotated[
    int,
    Meta(ge=0, description="Last generation you saw; if nothing changed since, no lines are sent."),
]
LastGeneration = Annotated[
    int,
    Meta(
        ge=0,
        description="Last generation you saw; wait for newer output first, then for quiet.",
    ),
]
Quiet = Annotated[
    int, milliseconds("Time in ms without output that counts as quiet.", deadline=False)
]
MaxWait = Annotated[int, milliseconds("Longest wait in ms.", deadline=True)]
TimeOut = Annotated[int, milliseconds("Max wait time in milliseconds.", deadline=True)]
PictureFormat = Annotated[
    Literal["png", "svg"],
    Meta(description="png: pixels, for a model to look at; svg: shapes and text, for documents."),
]
Scale = Annotated[int, cut_at(4, "1: a cell is 8 by 16 pixels; 2: 16 by 32.", least=1)]

HostWanted = Annotated[
    str, Meta(min_length=1, max_length=63, description="In a cluster: the host to start it on.")
]
Labels = Annotated[list[str], Meta(description="In a cluster: labels that the host must have.")]
