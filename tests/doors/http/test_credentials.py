"""What proves who may come in: each with its lifetime, by a handed-in clock."""

import pytest

from nacre.core.catalog.caller import Scope
from nacre.core.catalog.grant import Grant
from nacre.doors.http.credentials import PAGE, SCRIPT, Credentials, OneTime
from nacre.settings.table import Settings

TOKEN = "correct-horse-battery"
KEY = b"k" * 32


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
    return Credentials(TOKEN, clock, Settings(), page_key=KEY)


def test_the_token_is_a_scripts_and_a_key_a_pages(credentials: Credentials) -> None:
    assert credentials.grant(TOKEN) is SCRIPT
    assert credentials.grant(credentials.new_key()) is PAGE


@pytest.mark.parametrize("wrong", ["", ".", "x", "x.y", TOKEN[:-1], TOKEN + "x", "ü", "\udc80"])
def test_all_else_is_nobodys(credentials: Credentials, wrong: str) -> None:
    assert credentials.grant(wrong) is None
    assert credentials.redeem_ticket(wrong) is None
    assert not credentials.redeem_code(wrong)


def test_a_key_that_was_changed_is_void(credentials: Credentials) -> None:
    nonce, proof = credentials.new_key().split(".")
    assert credentials.grant(f"x{nonce[1:]}x.{proof}") is None
    assert credentials.grant(f"{nonce}.{proof[:-1]}") is None
    assert credentials.grant(f"{nonce}.") is None


def test_a_key_outlives_the_daemon_but_not_what_it_was_made_of(clock: Clock) -> None:
    key = Credentials(TOKEN, clock, Settings(), page_key=KEY).new_key()
    assert Credentials(TOKEN, clock, Settings(), page_key=KEY).grant(key) is PAGE
    other = Credentials(TOKEN, clock, Settings(), page_key=b"o" * 32)
    assert other.grant(key) is None


class Book:
    """Tokens that people made, as a test has them."""

    def __init__(self, **grants: Grant) -> None:
        self.grants = grants

    def grant(self, bearer: str) -> Grant | None:
        return self.grants.get(bearer.removeprefix("token "))

    def granted_by(self, identifier: str) -> Grant | None:
        return self.grants.get(identifier)


def test_what_a_token_allows_goes_with_its_keys_and_tickets_until_it_is_void(
    clock: Clock,
) -> None:
    anna = Grant(Scope.DRIVE, person=True, sessions=frozenset({"dev"}), token="a1")
    book = Book(a1=anna)
    credentials = Credentials(TOKEN, clock, Settings(), page_key=KEY, tokens=book)
    assert credentials.grant("token a1") == anna
    assert credentials.log_in("token a1") == anna
    key = credentials.new_key(anna)
    assert credentials.grant(key) == anna
    tickets = [credentials.new_ticket(anna) for _ in range(2)]
    assert credentials.redeem_ticket(tickets[0]) == anna
    del book.grants["a1"]
    assert credentials.grant("token a1") is None
    assert credentials.grant(key) is None
    assert credentials.redeem_ticket(tickets[1]) is None
    nonce, _, proof = key.partition(".")
    assert credentials.grant(f"{nonce.partition('~')[0]}.{proof}") is None


def test_keys_differ_and_hold_nothing_of_the_token(credentials: Credentials) -> None:
    first, second = credentials.new_key(), credentials.new_key()
    assert first != second
    assert TOKEN not in first


@pytest.mark.parametrize("holder", [SCRIPT, PAGE])
def test_a_ticket_is_good_once_for_who_it_was_made_for(
    credentials: Credentials, holder: Grant
) -> None:
    ticket = credentials.new_ticket(holder)
    assert credentials.redeem_ticket(ticket) is holder
    assert credentials.redeem_ticket(ticket) is None


@pytest.mark.parametrize("seconds", [1, 30])
def test_a_ticket_is_good_for_as_long_as_the_setting_says(clock: Clock, seconds: int) -> None:
    credentials = Credentials(TOKEN, clock, Settings(ticket_lifetime=seconds), page_key=KEY)
    in_time, late = (credentials.new_ticket(PAGE) for _ in range(2))
    clock.now += seconds - 0.1
    assert credentials.redeem_ticket(in_time) is PAGE
    clock.now += 0.1
    assert credentials.redeem_ticket(late) is None


@pytest.mark.parametrize("seconds", [1, 600])
def test_a_code_is_good_once_for_as_long_as_the_setting_says(clock: Clock, seconds: int) -> None:
    credentials = Credentials(TOKEN, clock, Settings(code_lifetime=seconds), page_key=KEY)
    in_time, late = credentials.new_code(), credentials.new_code()
    clock.now += seconds - 0.1
    assert credentials.redeem_code(in_time)
    assert not credentials.redeem_code(in_time)
    clock.now += 0.1
    assert not credentials.redeem_code(late)


def test_a_ticket_is_no_code_and_neither_is_a_key(credentials: Credentials) -> None:
    ticket, code = credentials.new_ticket(PAGE), credentials.new_code()
    assert not credentials.redeem_code(ticket)
    assert credentials.redeem_ticket(code) is None
    assert credentials.grant(ticket) is None
    assert credentials.grant(code) is None


def test_of_too_many_the_oldest_is_void(clock: Clock) -> None:
    once: OneTime[int] = OneTime(10, 3, clock)
    secrets = [once.issue(number) for number in range(4)]
    assert [once.redeem(secret) for secret in secrets] == [None, 1, 2, 3]


@pytest.mark.parametrize("wrong", [1, 20])
def test_after_too_many_wrong_tokens_none_is_looked_at_for_a_while(
    clock: Clock, wrong: int
) -> None:
    credentials = Credentials(TOKEN, clock, Settings(max_wrong_tokens=wrong), page_key=KEY)
    for _ in range(wrong):
        assert credentials.seconds_to_wait() == 0
        assert not credentials.log_in("wrong")
        clock.now += 1
    assert credentials.seconds_to_wait() == 60 - wrong
    clock.now += 60 - wrong
    assert credentials.seconds_to_wait() == 0
    assert credentials.log_in(TOKEN)
