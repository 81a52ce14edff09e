"""A model on loopback for each test, and people at terminals in which `nacre chat` runs."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cli.chat.model import ScriptedModel, scripted_model
from cli.conftest import Nacre
from cli.person import Person


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with scripted_model() as model:
        yield model


@pytest.fixture
def attend(nacre: Nacre) -> Iterator[Callable[..., Person]]:
    """Start `nacre` at a terminal of its own; `env` comes on top of the home's."""
    people: list[Person] = []

    def start(*command: str, env: dict[str, str], **options: Any) -> Person:
        person = Person({**nacre.env, **env}, command=command, **options)
        people.append(person)
        return person

    yield start
    for person in people:
        person.close()
