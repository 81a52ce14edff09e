"""The page's address, and the browser that is expected at it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from nacre.core.catalog.caller import Caller
from nacre.core.operations.daemon import OpenPage
from nacre.services.daemon.page import Pages

from services.clock import advance, with_clock
from services.living import living

PERSON = Caller(door="cli", person=True)


def test_an_expected_browser_is_a_client_until_it_has_come_or_the_code_is_old() -> None:
    clients = 0
    come: list[Callable[[], None]] = []

    @contextmanager
    def client() -> Iterator[None]:
        nonlocal clients
        clients += 1
        yield
        clients -= 1

    def new_code(used: Callable[[], None]) -> str:
        come.append(used)
        return "code"

    async def test() -> None:
        async with living() as services:
            pages = Pages(services.registry, 19999, new_code, 600, client)
            opened = await pages.open(PERSON, OpenPage())
            assert (opened.url, opened.expires_in) == ("http://127.0.0.1:19999/#code=code", 600)
            await pages.open(PERSON, OpenPage())
            assert clients == 2
            come[0]()
            await advance(10)
            left = clients
            assert left == 1, "the one that came counts for itself by now"
            await advance(600)
            left = clients
            assert left == 0, "nobody comes by a code that is too old"

    with_clock(test)
