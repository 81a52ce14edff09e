"""Messages that are no operations: what is wrong with one is said in plain words."""

import re
from typing import Annotated

import msgspec
import pytest
from msgspec import Meta

from nacre.core.catalog.messages import read_message
from nacre.errors import InvalidInput

OF_THE_PARSER = re.compile(r"Expected|`|\bint\b|\bstr\b|\$|Object|malformed")


class Message(msgspec.Struct, forbid_unknown_fields=True):
    method: str
    session: str | int | None = None
    resize: tuple[int, int] | None = None
    lines: Annotated[int, Meta(ge=0)] | None = None
    args: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ("x", "this is not valid JSON"),
        (b"\xff", "this is not valid JSON"),
        ("[" * 100_000, "this is not valid JSON"),
        ("[]", "this is no JSON object"),
        ("{}", "method is missing"),
        ('{"method": 5}', "method must be a string"),
        ('{"method": "m", "session": 1.5}', "session must be a string or an integer"),
        ('{"method": "m", "resize": 5}', "resize must be an array"),
        ('{"method": "m", "resize": ["a", 1]}', "resize[0] must be an integer"),
        ('{"method": "m", "lines": -1}', "lines must be an integer of at least 0"),
        ('{"method": "m", "args": "-l"}', "args must be an array"),
        ('{"method": "m", "args": ["-l", 1]}', "args[1] must be a string"),
        ('{"method": "m", "bogus": 1}', "bogus is not a parameter"),
    ],
)
def test_what_is_wrong_is_said_in_plain_words(sent: str | bytes, told: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_message(Message, sent, "a message is {method}")
    assert str(refused.value) == f"a message is {{method}}; {told}"
    assert not OF_THE_PARSER.search(str(refused.value))


def test_a_message_that_fits_is_read() -> None:
    message = read_message(Message, '{"method": "m", "resize": [5, 6]}', "a message")
    assert (message.method, message.resize) == ("m", (5, 6))
