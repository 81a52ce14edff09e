"""What proves who may come in: each with its lifetime, by a handed-in clock."""

import pytest

from nacre.doors.http.credentials import Credentials, Holder, OneTime
from nacre.settings.table import Settings

TOKEN = "correct-horse-battery"


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def credentials(clock: Clock) -> Credentials:
    return Credentials(TOKEN, clock, Settings())


def test_the_token_is_a_scripts_and_a_key_a_pages(credentials: Credentials) -> None:
    assert credentials.holder(TOKEN) is Holder.SCRIPT
    assert credentials.holder(credentials.new_key()) is Holder.PAGE


@pytest.mark.parametrize("wrong", ["", ".", "x", "x.y", TOKEN[:-1], TOKEN + "x", "ü", "\udc80"])
def test_all_else_is_nobodys(credentials: Credentials, wrong: str) -> None:
    assert credentials.holder(wrong) is None
    assert credentials.redeem_ticket(wrong) is None
    assert not credentials.redeem_code(wrong)


def test_a_key_that_was_changed_is_void(credentials: Credentials) -> None:
    nonce, proof = credentials.new_key().split(".")
    assert credentials.holder(f"x{nonce[1:]}x.{proof}") is None
    assert credentials.holder(f"{nonce}.{proof[:-1]}") is None
    assert credentials.holder(f"{nonce}.") is None


def test_a_key_outlives_the_daemon_but_not_the_token(clock: Clock) -> None:
    key = Credentials(TOKEN, clock, Settings()).new_key()
    assert Credentials(TOKEN, clock, Settings()).holder(key) is Holder.PAGE
    assert Credentials(TOKEN + "x", clock, Settings()).holder(key) is None


def test_keys_differ_and_hold_nothing_of_the_token(credentials: Credentials) -> None:
    first, second = credentials.new_key(), credentials.new_key()
    assert first != second
    assert TOKEN not in first


@pytest.mark.parametrize("holder", list(Holder))
def test_a_ticket_is_good_once_for_who_it_was_made_for(
    credentials: Credentials, holder: Holder
) -> None:
    ticket = credentials.new_ticket(holder)
    assert credentials.redeem_ticket(ticket) is holder
    assert credentials.redeem_ticket(ticket) is None


@pytest.mark.parametrize("seconds", [1, 30])
def test_a_ticket_is_good_for_as_long_as_the_setting_says(clock: Clock, seconds: int) -> None:
    credentials = Credentials(TOKEN, clock, Settings(ticket_lifetime=seconds))
    in_time, late = (credentials.new_ticket(Holder.PAGE) for _ in range(2))
    clock.now += seconds - 0.1
    assert credentials.redeem_ticket(in_time) is Holder.PAGE
    clock.now += 0.1
    assert credentials.redeem_ticket(late) is None


@pytest.mark.parametrize("seconds", [1, 600])
def test_a_code_is_good_once_for_as_long_as_the_setting_says(clock: Clock, seconds: int) -> None:
    credentials = Credentials(TOKEN, clock, Settings(code_lifetime=seconds))
    in_time, late = credentials.new_code(), credentials.new_code()
    clock.now += seconds - 0.1
    assert credentials.redeem_code(in_time)
    assert not credentials.redeem_code(in_time)
    clock.now += 0.1
    assert not credentials.redeem_code(late)


def test_a_ticket_is_no_code_and_neither_is_a_key(credentials: Credentials) -> None:
    ticket, code = credentials.new_ticket(Holder.PAGE), credentials.new_code()
    assert not credentials.redeem_code(ticket)
    assert credentials.redeem_ticket(code) is None
    assert credentials.holder(ticket) is None
    assert credentials.holder(code) is None


def test_of_too_many_the_oldest_is_void(clock: Clock) -> None:
    once: OneTime[int] = OneTime(10, 3, clock)
    secrets = [once.issue(number) for number in range(4)]
    assert [once.redeem(secret) for secret in secrets] == [None, 1, 2, 3]


@pytest.mark.parametrize("wrong", [1, 20])
def test_after_too_many_wrong_tokens_none_is_looked_at_for_a_while(
    clock: Clock, wrong: int
) -> None:
    credentials = Credentials(TOKEN, clock, Settings(max_wrong_tokens=wrong))
    for _ in range(wrong):
        assert credentials.seconds_to_wait() == 0
        assert not credentials.log_in("wrong")
        clock.now += 1
    assert credentials.seconds_to_wait() == 60 - wrong
    clock.now += 60 - wrong
    assert credentials.seconds_to_wait() == 0
    assert credentials.log_in(TOKEN)
