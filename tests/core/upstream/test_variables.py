"""Variables in a server's table expand as a shell's do, and no others."""

import pytest

from nacre.core.upstream.variables import (
    UnsetVariables,
    expand,
    is_well_formed,
    literally,
    names_in,
)

VALUES = {"TOKEN": "s3cret", "EMPTY": "", "A_1": "x"}


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("plain", "plain"),
        ("$TOKEN", "s3cret"),
        ("Bearer ${TOKEN}!", "Bearer s3cret!"),
        ("$A_1-$TOKEN", "x-s3cret"),
        ("${NONE:-d}", "d"),
        ("${NONE:-}", ""),
        ("${EMPTY:-d}", "d"),
        ("$EMPTY.", "."),
        ("${TOKEN:-d}", "s3cret"),
        ("$$TOKEN costs $$5", "$TOKEN costs $5"),
        ("$$$TOKEN", "$s3cret"),
        ("5$ and $1", "5$ and $1"),
    ],
)
def test_text_expands(text: str, expanded: str) -> None:
    assert expand(text, VALUES) == expanded


def test_values_are_not_expanded_again() -> None:
    assert expand("$A", {"A": "$B", "B": "no"}) == "$B"


def test_all_unset_variables_are_named() -> None:
    with pytest.raises(UnsetVariables) as caught:
        expand("$ONE $TOKEN ${TWO} $ONE", VALUES)
    assert caught.value.names == ("ONE", "TWO")


def test_names_are_those_that_are_referred_to() -> None:
    assert names_in("$A ${B} ${C:-$D} $$E ${") == {"A", "B", "C"}
    assert is_well_formed("$A ${B}")
    assert not is_well_formed("${A")
    assert not is_well_formed("${1}")


def test_a_literal_text_expands_to_itself() -> None:
    assert expand(literally("$TOKEN ${X} $$"), {}) == "$TOKEN ${X} $$"
