"""Sessions in which somebody attaches to others: none is shown in itself, by whatever way."""

from collections.abc import Callable, Iterator

import pytest

from cli.conftest import Nacre
from cli.person import DETACH, Person


@pytest.fixture
def attach_in(running: Nacre) -> Iterator[Callable[..., Person]]:
    """Attach to a session from within another one."""
    people: list[Person] = []

    def start(outer: str, inner: str, *options: str) -> Person:
        identifier = running.listed(outer)["session_id"]
        env = {**running.env, "NACRE_SESSION": identifier}
        people.append(Person(env, inner, *options, rows=10, cols=60))
        return people[-1]

    yield start
    for person in people:
        person.close()


@pytest.fixture
def three(running: Nacre) -> Iterator[list[str]]:
    names = ["alpha", "beta", "gamma"]
    for name in names:
        running.call("create_session", name=name, command=f"echo this is {name}; exec cat")
    yield names
    for name in names:
        running.call("manage_session", session=name, action="kill")


@pytest.mark.parametrize("options", [(), ("--read-only",)])
def test_two_sessions_do_not_show_each_other(
    running: Nacre, three: list[str], attach_in: Callable[..., Person], options: tuple[str, ...]
) -> None:
    first = attach_in("alpha", "beta")
    first.sees("this is beta")
    second = attach_in("beta", "alpha", *options)
    assert second.leaves() == 2
    said = " ".join(second.text.split())
    assert "session 'alpha' already shows this session" in said
    assert running.listed("alpha")["rows"] == 24  # it was not even resized
    again = attach_in("alpha", "beta")  # the same way round is none
    again.sees("this is beta")
    for person in (first, again):
        person.type(DETACH)
        assert person.leaves() == 0
    second = attach_in("beta", "alpha", *options)
    second.sees("this is alpha")


def test_a_session_is_not_shown_in_itself_by_way_of_others(
    running: Nacre, three: list[str], attach_in: Callable[..., Person]
) -> None:
    attach_in("alpha", "beta").sees("this is beta")
    attach_in("beta", "gamma").sees("this is gamma")
    attach_in("alpha", "gamma").sees("this is gamma")
    third = attach_in("gamma", "alpha")
    assert third.leaves() == 2
    assert "they cannot watch each other" in third.text.replace("\n", "")
