"""What is kept of upstream servers between two daemons: their lists, and what people allowed.

Rule 1: files are the user's alone (0600), and hold no value of a variable: lists of tools, the
revision that a server speaks, and hashes of what was allowed.
Rule 2: a file that is missing or damaged is empty: all of it can be had again. One that cannot be
written costs time at the next start, and nothing else.
"""

import logging
import os
from contextlib import suppress
from typing import Any, TypeVar

import msgspec

from nacre.system.upstreams.logins import LoginFile, login_file

_log = logging.getLogger("nacre.upstream")


class KeptListing(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a server offered when it was last asked."""

    tools: list[dict[str, Any]] = []
    prompts: list[dict[str, Any]] = []
    resources: list[dict[str, Any]] = []
    templates: list[dict[str, Any]] = []
    reads: bool = False  # whether it has resources at all, be the list of them empty
    revision: str = ""  # the protocol's, as it was found
    transport: str = ""  # for a url: what the server turned out to speak
    discovered: dict[str, Any] = {}  # what it said of itself, in a revision without a handshake


class AllowedTools(msgspec.Struct, kw_only=True):
    """Which definition of a tool was meant when it was allowed: its hash, by the tool's name."""

    tools: dict[str, str] = {}


KeptT = TypeVar("KeptT", bound=msgspec.Struct)


class KeptUpstreams:
    def __init__(self, folder: str | None) -> None:
        """`folder` is in the state folder; None: nothing is kept."""
        self._folder = folder

    def listing(self, fingerprint: str) -> KeptListing | None:
        return self._read(f"{fingerprint}.json", KeptListing)

    def keep_listing(self, fingerprint: str, listing: KeptListing) -> None:
        self._write(f"{fingerprint}.json", listing)

    def login(self, name: str, url: str) -> LoginFile | None:
        """Return where a person's login at this address is; None if nothing is kept."""
        return None if self._folder is None else login_file(self._folder, name, url)

    def allowed(self) -> AllowedTools:
        return self._read("allowed.json", AllowedTools) or AllowedTools()

    def keep_allowed(self, allowed: AllowedTools) -> None:
        self._write("allowed.json", allowed)

    def forget_others(self, fingerprints: set[str]) -> None:
        """Remove the lists of servers that are no longer configured."""
        if self._folder is None:
            return
        with suppress(OSError):
            for name in os.listdir(self._folder):
                stem = name.removesuffix(".json")
                if len(stem) == 32 and stem not in fingerprints:
                    os.unlink(os.path.join(self._folder, name))

    def _read(self, name: str, kind: type[KeptT]) -> KeptT | None:
        if self._folder is None:
            return None
        try:
            with open(os.path.join(self._folder, name), "rb") as file:
                return msgspec.json.decode(file.read(), type=kind)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None

    def _write(self, name: str, value: msgspec.Struct) -> None:
        if self._folder is None:
            return
        path = os.path.join(self._folder, name)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        try:
            os.makedirs(self._folder, 0o700, exist_ok=True)
            descriptor = os.open(f"{path}.new", flags, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(msgspec.json.encode(value))
            os.replace(f"{path}.new", path)
        except OSError as error:
            _log.warning("cannot keep %s", path, extra={"reason": error.strerror})
