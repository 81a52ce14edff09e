"""Who gets a free place."""

import pytest

from nacre.errors import LimitReached
from nacre.services.catalog.places import Places

pytestmark = pytest.mark.anyio


async def test_a_free_place_goes_to_who_has_the_fewest_then_to_who_waited_longest() -> None:
    places = Places(2, 10)
    assert places.at_once("greedy")
    assert places.at_once("greedy")
    assert not places.at_once("modest")
    more = [places.join("greedy") for _ in range(3)]
    modest, third = places.join("modest"), places.join("third")
    places.leave("greedy")
    assert modest.done()
    places.leave("greedy")  # both have none now, and it has waited longer
    assert [turn.done() for turn in more] == [True, False, False]
    places.leave("modest")
    assert third.done()


async def test_nobody_overtakes_who_waits_and_the_queue_is_each_clients_own() -> None:
    places = Places(1, 1)
    assert places.at_once("a")
    turn = places.join("a")
    with pytest.raises(LimitReached, match="1 commands are running, and 1 of this client wait"):
        places.join("a")
    other = places.join("b")
    places.give_up("a", turn)
    assert places.waiting("a") == 0
    places.leave("a")
    assert other.done()
    places.give_up("b", other)  # it was given a place, and does not want it any more
    assert places.at_once("a")
