"""The secrets that people stored, on disk or in the system's keyring.

Rule 1: the file is for its owner alone (0600), is replaced as a whole, and is refused if others can
read it. With a keyring it has the names only.
Rule 2: a value is one line of printable text: it is typed, and a line's end would press Enter.
Rule 3: nothing here prints a value, and no message has one.
"""

import os
import time
from contextlib import suppress
from typing import Any, Literal

import msgspec

from nacre.core.text.placeholders import is_secret_name
from nacre.errors import InvalidInput, LimitReached
from nacre.system.private_files import replace_private

_SERVICE = "nacre"  # under which the keyring has them
_MOST = 500
_LONGEST = 8192  # characters of a value


class StoredSecret(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    name: str
    created: float  # seconds since the epoch
    value: str | None = None  # None: the keyring has it
    sessions: list[str] | None = None  # names of the only ones that it is typed into


class SecretStore:
    def __init__(self, path: str, place: Literal["file", "keyring"] = "file") -> None:
        """`place` is where new values go."""
        self._path = path
        self._keyring = place == "keyring"

    @property
    def version(self) -> object:
        """What changes when the file does."""
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def all(self) -> list[StoredSecret]:
        """Return what is stored. Raises InvalidInput for a file that others can read."""
        try:
            with open(self._path, "rb") as file:
                if os.fstat(file.fileno()).st_mode & 0o077:
                    raise InvalidInput(
                        f"other users can read {self._path}", f"run: chmod 600 {self._path}"
                    )
                data = file.read()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise InvalidInput(f"{self._path} cannot be read: {error.strerror}") from error
        try:
            return msgspec.json.decode(data, type=list[StoredSecret])
        except msgspec.DecodeError:  # its message might quote a value
            raise InvalidInput(
                f"{self._path} is damaged", "delete it, and set the secrets again"
            ) from None

    def value(self, stored: StoredSecret) -> str:
        """Return its value. Raises InvalidInput when the keyring does not give it."""
        if stored.value is not None:
            return stored.value
        try:
            found = _load_keyring().get_password(_SERVICE, stored.name)
        except Exception as error:  # noqa: BLE001  # each backend raises its own
            raise InvalidInput(
                f"the keyring does not give {stored.name!r}: {type(error).__name__}",
                "unlock it",
            ) from None
        if found is None:
            raise InvalidInput(f"the keyring no longer has {stored.name!r}", "set it again")
        return str(found)

    def set(self, name: str, value: str, sessions: list[str] | None = None) -> bool:
        """Store a value; return whether it took another's place. Raises InvalidInput, Internal."""
        check_name(name)
        check_value(value)
        kept = {one.name: one for one in self.all()}
        if name not in kept and len(kept) >= _MOST:
            raise LimitReached(f"there are {_MOST} secrets", "remove some of them")
        there = name in kept
        inline: str | None = value
        if self._keyring:
            try:
                _load_keyring().set_password(_SERVICE, name, value)
            except InvalidInput:
                raise
            except Exception as error:  # noqa: BLE001  # each backend raises its own
                raise InvalidInput(
                    f"the keyring does not take it: {type(error).__name__}",
                    "unlock it",
                    "set secret_store to file",
                ) from None
            inline = None
        kept[name] = StoredSecret(name=name, created=time.time(), value=inline, sessions=sessions)
        self._replace(list(kept.values()))
        return there

    def remove(self, name: str) -> None:
        """Raises InvalidInput for one that is not there, Internal when the file is not written."""
        kept = {one.name: one for one in self.all()}
        if name not in kept:
            raise InvalidInput(f"there is no secret {name!r}", f"there are {_listed(kept)}")
        if kept.pop(name).value is None:
            with suppress(Exception):  # the keyring may have lost it already
                _load_keyring().delete_password(_SERVICE, name)
        self._replace(list(kept.values()))

    def _replace(self, secrets: list[StoredSecret]) -> None:
        replace_private(self._path, msgspec.json.encode(secrets) + b"\n", "the secret")


def check_name(name: str) -> None:
    """Raises InvalidInput."""
    if not is_secret_name(name):
        raise InvalidInput(
            f"{name!r} cannot be the name of a secret",
            "use up to 64 letters, digits, _, . and -, of which a letter or _ is the first",
        )


def check_value(value: str) -> None:
    """Raises InvalidInput."""
    if not value:
        raise InvalidInput("the value is empty", "give it on standard input")
    if len(value) > _LONGEST:
        raise InvalidInput(f"the value has more than {_LONGEST} characters")
    if not value.isprintable():
        raise InvalidInput(
            "the value has line ends or other control characters",
            "store what is one line; longer secrets belong in a file",
        )


def _listed(names: dict[str, Any]) -> str:
    return ", ".join(names) or "none yet"


def _load_keyring() -> Any:
    try:
        import keyring  # an extra: few need it
    except ImportError:
        raise InvalidInput(
            "the keyring cannot be used: the package keyring is not installed",
            "run: pip install 'nacre[keyring]'",
            "set secret_store to file",
        ) from None
    return keyring
