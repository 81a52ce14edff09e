"""Tokens on disk: only their hashes, for their owner alone, void when revoked or too old."""

import json
from pathlib import Path

import pytest

from nacre.core.catalog.caller import Scope
from nacre.core.catalog.grant import Grant
from nacre.errors import Failed, InvalidInput, LimitReached
from nacre.system.tokens import TokenStore, load_page_key


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def store_in(folder: Path, clock: Clock, most: int = 100) -> TokenStore:
    return TokenStore(str(folder / "tokens.json"), clock, most)


def make(store: TokenStore, lifetime: float | None = None, name: str = "ci") -> tuple[str, str]:
    token, stored = store.create(
        scope="drive", name=name, sessions=["dev"], person=False, lifetime=lifetime
    )
    return token, stored.id


def test_a_token_allows_what_it_was_made_for_also_in_the_next_daemon(
    tmp_path: Path, clock: Clock
) -> None:
    token, identifier = make(store_in(tmp_path, clock))
    wanted = Grant(Scope.DRIVE, False, frozenset({"dev"}), identifier, "ci")
    assert store_in(tmp_path, clock).grant(token) == wanted


def test_nothing_of_a_token_is_on_the_disk(tmp_path: Path, clock: Clock) -> None:
    token, _ = make(store_in(tmp_path, clock))
    path = tmp_path / "tokens.json"
    assert token.split("_", 2)[2] not in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir()] == ["tokens.json"]


def test_a_token_expires(tmp_path: Path, clock: Clock) -> None:
    store = store_in(tmp_path, clock)
    token, identifier = make(store, lifetime=60)
    clock.now += 59.9
    assert store.grant(token) is not None
    clock.now += 0.1
    assert store.grant(token) is None
    assert store.granted_by(identifier) is None
    assert store.all() == []


def test_a_revoked_token_is_void_at_once_and_for_good(tmp_path: Path, clock: Clock) -> None:
    store = store_in(tmp_path, clock)
    (first, identifier), (second, _) = make(store), make(store, name="other")
    store.revoke(identifier)
    assert store.grant(first) is None
    assert store_in(tmp_path, clock).grant(first) is None
    store.revoke("other")
    assert store.grant(second) is None


def test_what_is_revoked_must_be_one_token(tmp_path: Path, clock: Clock) -> None:
    store = store_in(tmp_path, clock)
    with pytest.raises(InvalidInput, match="there is no token 'ci'"):
        store.revoke("ci")
    make(store)
    make(store)
    with pytest.raises(InvalidInput, match="several tokens have the name"):
        store.revoke("ci")


def test_a_full_disk_makes_no_token_and_revokes_one_all_the_same(
    tmp_path: Path, clock: Clock
) -> None:
    store = store_in(tmp_path, clock)
    token, identifier = make(store)
    (tmp_path / "tokens.json").unlink()
    (tmp_path / "tokens.json").mkdir()  # so that nothing can take its place
    (tmp_path / "tokens.json" / "x").touch()
    with pytest.raises(
        Failed, match=r"cannot be stored in .*tokens\.json: Is a directory; 'nacre d"
    ):
        make(store)
    assert [one.id for one in store.all()] == [identifier]
    with pytest.raises(Failed, match="cannot be stored"):
        store.revoke(identifier)
    assert store.grant(token) is None


def test_the_number_of_tokens_is_bounded(tmp_path: Path, clock: Clock) -> None:
    store = store_in(tmp_path, clock, most=2)
    make(store, lifetime=10)
    make(store)
    with pytest.raises(LimitReached, match="max_tokens"):
        make(store)
    clock.now += 10  # what has expired does not count
    make(store)


@pytest.mark.parametrize("wrong", ["", "nacre_", "nacre_12345678_", "nacre_12345678_" + "x" * 43])
def test_what_is_no_token_allows_nothing(tmp_path: Path, clock: Clock, wrong: str) -> None:
    store = store_in(tmp_path, clock)
    make(store)
    assert store.grant(wrong) is None


def test_a_file_that_others_can_read_or_that_is_none_is_refused(
    tmp_path: Path, clock: Clock
) -> None:
    make(store_in(tmp_path, clock))
    path = tmp_path / "tokens.json"
    path.chmod(0o644)
    with pytest.raises(InvalidInput, match="other users can read"):
        store_in(tmp_path, clock)
    path.chmod(0o600)
    path.write_text(json.dumps({"no": "list"}))
    with pytest.raises(InvalidInput, match="delete it"):
        store_in(tmp_path, clock)


def test_the_key_of_the_page_stays_until_it_is_deleted(tmp_path: Path) -> None:
    path = tmp_path / "page.key"
    key = load_page_key(str(path))
    assert path.stat().st_mode & 0o777 == 0o600
    assert load_page_key(str(path)) == key
    path.unlink()
    assert load_page_key(str(path)) != key
