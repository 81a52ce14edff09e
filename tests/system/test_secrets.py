"""The stored secrets: a private file, or the keyring; nothing that quotes a value."""

import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from nacre.errors import InvalidInput
from nacre.system.secrets import SecretStore


def test_a_secret_is_stored_for_its_owner_alone_and_removed(tmp_path: Path) -> None:
    path = tmp_path / "secrets.json"
    store = SecretStore(str(path))
    first = store.version
    assert store.all() == []
    assert not store.set("DB", "hunter2hunter2", ["dev"])
    before = store.version
    assert before != first
    assert store.set("DB", "another value")
    assert store.version != before
    assert path.stat().st_mode & 0o777 == 0o600
    [stored] = store.all()
    assert (stored.name, stored.sessions, store.value(stored)) == ("DB", None, "another value")
    assert os.listdir(tmp_path) == ["secrets.json"]
    store.remove("DB")
    assert store.all() == []
    with pytest.raises(InvalidInput, match="no secret 'DB'"):
        store.remove("DB")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("", "x"),
        ("1DB", "x"),
        ("A B", "x"),
        ("A}}", "x"),
        ("A" * 65, "x"),
        ("DB", ""),
        ("DB", "two\nlines"),
        ("DB", "tab\t"),
        ("DB", "nul\0"),
        ("DB", "x" * 8193),
    ],
)
def test_what_cannot_be_typed_is_refused(tmp_path: Path, name: str, value: str) -> None:
    store = SecretStore(str(tmp_path / "secrets.json"))
    with pytest.raises(InvalidInput):
        store.set(name, value)
    assert store.all() == []


def test_a_file_that_others_can_read_or_that_is_damaged_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "secrets.json"
    store = SecretStore(str(path))
    store.set("DB", "hunter2hunter2")
    path.chmod(0o644)
    with pytest.raises(InvalidInput, match="chmod 600"):
        store.all()
    path.chmod(0o600)
    path.write_text('[{"name": "DB", "value": "hunter2hunter2", "created": "wrong"}]')
    with pytest.raises(InvalidInput, match="damaged") as refused:
        store.all()
    assert "hunter2" not in str(refused.value)


class Keyring(ModuleType):
    """What the package keyring offers, with a locked state."""

    def __init__(self) -> None:
        super().__init__("keyring")
        self.kept: dict[tuple[str, str], str] = {}
        self.locked = False

    def _check(self) -> None:
        if self.locked:
            raise RuntimeError("locked: hunter2hunter2")

    def set_password(self, service: str, name: str, value: str) -> None:
        self._check()
        self.kept[service, name] = value

    def get_password(self, service: str, name: str) -> str | None:
        self._check()
        return self.kept.get((service, name))

    def delete_password(self, service: str, name: str) -> None:
        del self.kept[service, name]


def test_with_a_keyring_the_file_has_the_names_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyring: Any = Keyring()
    monkeypatch.setitem(sys.modules, "keyring", keyring)
    path = tmp_path / "secrets.json"
    store = SecretStore(str(path), "keyring")
    store.set("DB", "hunter2hunter2")
    assert "hunter2" not in path.read_text()
    [stored] = store.all()
    assert store.value(stored) == "hunter2hunter2"
    keyring.locked = True
    with pytest.raises(InvalidInput, match="does not give 'DB'") as refused:
        store.value(stored)
    assert "hunter2" not in str(refused.value)
    with pytest.raises(InvalidInput, match="does not take it"):
        store.set("DB", "new value")
    keyring.locked = False
    store.remove("DB")
    assert keyring.kept == {}


def test_without_the_package_the_way_out_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    store = SecretStore(str(tmp_path / "secrets.json"), "keyring")
    with pytest.raises(InvalidInput, match=r"nacre\[keyring\]"):
        store.set("DB", "hunter2hunter2")
    assert store.all() == []
