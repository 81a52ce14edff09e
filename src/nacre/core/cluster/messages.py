"""What hosts of a cluster say to each other, as MessagePack.

Rule 1: an AskHost has an id that the asking host chose. Who gets it twice does it once, and answers
twice. When no answer comes, the asking host asks whether it arrived (StillAsked), and repeats it
only if it did not.
Rule 2: an AskHost names the daemon that it is meant for by its incarnation. The next daemon of that
host does not know what the one before it has done, and says so (HostRestarted) instead of doing it.
Rule 3: fields are added at the end, with a default: hosts of the next and the last minor version
read what they know.
"""

from collections.abc import Callable

import msgspec

from nacre.core.cluster.carried import CarriedError


class AskHost(msgspec.Struct, frozen=True, array_like=True, tag="ask"):
    id: str
    incarnation: str  # of the daemon that is meant
    credential: bytes  # who asks, signed by the asking host
    operation: str
    params: bytes
    tells: bool  # the caller can be told of a hand-over
    request: str = ""  # the id of the call in logs and audit of both hosts
    patience: float | None = None  # seconds that the caller still waits, if that is known
    follows: bool = False  # the caller wants the id of its run as soon as there is one
    asks: bool = False  # its client can ask the person at it
    input: str = ""  # the name of the input that its run reads, at the asking host


class StillAsked(msgspec.Struct, frozen=True, array_like=True, tag="still"):
    """No answer came yet: did the ask arrive? It is sent in place of the ask, which may be long."""

    id: str
    incarnation: str


class PersonAnswered(msgspec.Struct, frozen=True, array_like=True, tag="answered"):
    """What the person at the caller's client said to a question."""

    id: str
    number: int
    answer: str | None  # None: nothing


class GiveUp(msgspec.Struct, frozen=True, array_like=True, tag="give up"):
    """The caller has left."""

    id: str


class Working(msgspec.Struct, frozen=True, array_like=True, tag="working"):
    """It goes on: an answer to StillAsked."""


class NotHere(msgspec.Struct, frozen=True, array_like=True, tag="not here"):
    """The ask did not arrive: an answer to StillAsked."""


class AskPerson(msgspec.Struct, frozen=True, array_like=True, tag="person"):
    """The person at the caller's client is asked something. It may come again."""

    number: int
    approval: bytes


class RunBegun(msgspec.Struct, frozen=True, array_like=True, tag="begun"):
    """The run that was asked for has begun."""

    run_id: str


class AskDone(msgspec.Struct, frozen=True, array_like=True, tag="done"):
    kind: str  # the class of the result
    data: bytes
    told: bytes | None = None  # a hand-over
    notices: tuple[str, ...] = ()


class AskFailed(msgspec.Struct, frozen=True, array_like=True, tag="error"):
    error: CarriedError


class HostRestarted(msgspec.Struct, frozen=True, array_like=True, tag="restarted"):
    """The daemon that was meant is gone; nothing was done by this one."""

    incarnation: str


class OpenStream(msgspec.Struct, frozen=True, array_like=True, tag="open"):
    """Begin a stream: watching or following."""

    id: str
    incarnation: str
    credential: bytes
    kind: str  # watch or follow
    params: bytes
    request: str = ""


class Act(msgspec.Struct, frozen=True, array_like=True, tag="act"):
    """Do something at a stream: type, look, fit … In their order."""

    id: str
    number: int  # of this act; the answer has it
    what: str
    data: bytes


class Credit(msgspec.Struct, frozen=True, array_like=True, tag="credit"):
    """The reader took so many bytes: as many more may be sent."""

    id: str
    size: int


class StreamOpened(msgspec.Struct, frozen=True, array_like=True, tag="opened"):
    """The stream has begun."""


class StreamItem(msgspec.Struct, frozen=True, array_like=True, tag="item"):
    kind: str  # the class of the event
    data: bytes


class Acted(msgspec.Struct, frozen=True, array_like=True, tag="acted"):
    number: int
    kind: str = ""  # the class of what it returned, if it returned something
    data: bytes = b""
    error: CarriedError | None = None


class StreamEnded(msgspec.Struct, frozen=True, array_like=True, tag="ended"):
    """No more items come."""

    error: CarriedError | None = None


OfStream = StreamOpened | StreamItem | Acted | StreamEnded | HostRestarted
ToStream = OpenStream | Act | Credit | GiveUp
ToHost = AskHost | StillAsked | PersonAnswered | GiveUp
HostAnswer = Working | NotHere | RunBegun | AskPerson | AskDone | AskFailed | HostRestarted

# A reader that is made anew for each message looks through all its classes first: 27 µs, not 0.8.
# Each raises DecodeError.
read_of_stream: Callable[[bytes], OfStream] = msgspec.msgpack.Decoder(OfStream).decode
read_to_stream: Callable[[bytes], ToStream] = msgspec.msgpack.Decoder(ToStream).decode
read_to_host: Callable[[bytes], ToHost] = msgspec.msgpack.Decoder(ToHost).decode
read_answer: Callable[[bytes], HostAnswer] = msgspec.msgpack.Decoder(HostAnswer).decode


class Claim(msgspec.Struct, frozen=True, array_like=True):
    """The owner of a session's name."""

    host: str


class HostKey(msgspec.Struct, frozen=True, array_like=True):
    """What others must know of a host to believe it."""

    public_key: bytes
    draining: bool = False
    incarnation: str = ""  # of the daemon that has the host's name
