"""Hand-overs, and which agent was told of which."""

import pytest

from nacre.core.operations.control import CommandRun, Handover
from nacre.services.session.display.news import HandoverNews


def handover(number: int, driver: str = "Anna") -> Handover:
    return Handover(
        driver=driver,
        seconds=1.0,
        keys=number,
        commands=[CommandRun(command=f"c{number}", exit_code=0)],
        generation_before=10 * number,
        generation_after=10 * number + 5,
        last_line=f"line {number}",
        dropped=1,
    )


@pytest.fixture
def news() -> HandoverNews:
    return HandoverNews(lambda: None, agents=3, commands=4)


def test_each_agent_is_told_once(news: HandoverNews) -> None:
    news.add(handover(1))
    assert news.tell("one") == news.tell("two") == handover(1)
    assert news.tell("one") is None
    assert news.tell("two") is None


def test_who_asked_before_is_told_of_all_since_as_of_one(news: HandoverNews) -> None:
    assert news.tell("one") is None
    news.add(handover(1))
    news.add(handover(2, "Bert"))
    told = news.tell("one")
    assert told is not None
    assert (told.driver, told.keys, told.dropped, told.last_line) == ("Anna, Bert", 3, 2, "line 2")
    assert (told.generation_before, told.generation_after) == (10, 25)
    assert news.tell("newcomer") == handover(2, "Bert")


def test_old_ones_become_one_and_nobody_misses_any(news: HandoverNews) -> None:
    assert news.tell("one") is None
    for number in range(1, 31):
        news.add(handover(number))
    told = news.tell("one")
    assert told is not None
    assert (told.keys, told.seconds, told.generation_before) == (sum(range(31)), 30.0, 10)
    assert [one.command for one in told.commands] == ["c27", "c28", "c29", "c30"]
    news.add(handover(31))
    assert news.tell("one") == handover(31)


def test_who_has_not_asked_for_longest_is_forgotten_and_told_again(news: HandoverNews) -> None:
    news.add(handover(1))
    for agent in ("one", "two", "three"):
        news.tell(agent)
    assert news.tell("one") is None  # asks again: not the oldest any more
    news.tell("four")
    assert news.tell("one") is None
    assert news.tell("two") == handover(1)


def test_what_is_kept_is_told_by_the_next_daemon(news: HandoverNews) -> None:
    news.add(handover(1))
    news.tell("one")
    news.add(handover(2))
    after = HandoverNews(lambda: None, agents=3, commands=4)
    after.restore(news.kept())
    assert after.tell("one") == handover(2)
    assert after.last == handover(2)
    assert after.tell("one") is None
