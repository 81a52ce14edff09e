"""What is known to be secret: stored secrets, variables that hold one, nacre's own token.

Rule 1: values stay in memory, and are told to nobody: they are looked for, so that they can be
taken out of what agents read and of logs, and typed where a placeholder names them.
Rule 2: a person's own views (page, attach, command line) are not redacted.
"""

import asyncio
import json
import os
import re
from collections.abc import Mapping

from nacre.core.catalog.caller import Caller
from nacre.core.text.placeholders import filled, filled_bytes, names_in, placeholder
from nacre.core.text.redaction import LEAST, Redaction, SecretValues
from nacre.errors import InvalidInput, NacreError
from nacre.settings.table import Settings
from nacre.system.secrets import SecretStore, StoredSecret

_SECRET_NAME = re.compile(
    r"TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|API_?KEY|_KEY$|_KEY_", re.IGNORECASE
)
_MOST_VALUES = 1000  # each is looked for in every answer
_LEAST_STORED = 4  # characters of a stored one: with fewer it would be found in words


class KnownSecrets:
    def __init__(self, settings: Settings, store: SecretStore | None = None) -> None:
        self._on = settings.redact
        self._store = store
        self._version: object = None
        self._stored: dict[str, StoredSecret] = {}
        self._values = SecretValues()
        self._loaded = False

    # --- redaction -------------------------------------------------------------------------

    def redaction_for(self, caller: Caller) -> Redaction | None:
        """Return what redacts what this caller reads; None for a person."""
        if caller.person or not self._on:
            return None
        if not self._loaded:
            self._loaded = True
            asyncio.get_running_loop().run_in_executor(None, self._values.load)
        self._look()
        return Redaction(self._values)

    def redaction_of_logs(self) -> Redaction:
        """Return what redacts logs and the audit, whatever agents are shown."""
        return Redaction(self._values)

    def learn_value(self, value: str, name: str) -> None:
        if len(value) >= LEAST and len(self._values) < _MOST_VALUES:
            for form in _forms(value):
                self._values.setdefault(form, name)

    def learn_variables(self, env: Mapping[str, str]) -> None:
        """Take in the values of variables whose names say that they are secret."""
        for name, value in env.items():
            if len(value) < LEAST or value in self._values or not _SECRET_NAME.search(name):
                continue
            if not (value[0] in "/~" and os.path.exists(os.path.expanduser(value))):
                self.learn_value(value, name)

    # --- placeholders ----------------------------------------------------------------------

    def check(self, text: str, session: str) -> None:
        """Raises InvalidInput if a secret that a text names cannot be typed into this session."""
        for name in names_in(text):
            self._value(name, session)

    def fill(self, text: str, session: str) -> str:
        """Return a text with the values of the secrets that it names. Raises InvalidInput."""
        return filled(text, lambda name: self._value(name, session))

    def fill_bytes(self, data: bytes, session: str) -> bytes:
        return filled_bytes(data, lambda name: self._value(name, session))

    def _value(self, name: str, session: str) -> str:
        self._look()
        stored = self._stored.get(name)
        if stored is None or self._store is None:
            known = ", ".join(self._stored) or "none yet"
            raise InvalidInput(
                f"there is no secret {name!r}, and nothing was typed (there are: {known})",
                f"ask your user to store it with: nacre secret set {name}",
            )
        if stored.sessions is not None and session not in stored.sessions:
            raise InvalidInput(
                f"the secret {name!r} is not for the session {session!r}, and nothing was typed",
                f"use it in: {', '.join(stored.sessions)}",
            )
        value = self._store.value(stored)
        self._note(name, value)
        return value

    def _look(self) -> None:
        """Read the store again if it has changed."""
        if self._store is None or (version := self._store.version) == self._version:
            return
        self._version = version
        for value in [one for one, label in self._values.items() if label.startswith("{{")]:
            del self._values[value]
        try:
            self._stored = {one.name: one for one in self._store.all()}
        except NacreError:
            self._stored = {}  # who uses one is told
            return
        for one in self._stored.values():
            if one.value is not None:
                self._note(one.name, one.value)

    def _note(self, name: str, value: str) -> None:
        if len(value) >= _LEAST_STORED:
            self._values |= dict.fromkeys(_forms(value), placeholder(name))


def _forms(value: str) -> set[str]:
    """Return a value as it is, and as JSON writes it: arguments of tools are told as that."""
    return {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
