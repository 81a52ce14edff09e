"""What a login at a remote MCP server left: its tokens, and how they are renewed.

Rule 1: a file is the user's alone (0600), in the state folder. Nothing of it is ever shown.
Rule 2: it is for one server at one address: another address gets no token of it.
"""

import hashlib
import os
from contextlib import suppress
from typing import Any

import msgspec

from nacre.settings.paths import make_private


class KeptLogin(msgspec.Struct, kw_only=True, omit_defaults=True):
    """All but `expires_at` as the protocol has it; see OAuth 2.1 and RFC 7591, 8414, 9728."""

    tokens: dict[str, Any] = {}
    expires_at: float | None = None  # seconds since the epoch; None: it was not told
    client: dict[str, Any] = {}  # how we are registered there
    issuer: dict[str, Any] = {}  # what the authorization server says of itself
    resource: dict[str, Any] = {}  # what the MCP server says of its protection
    wanted: str = ""  # scopes that a call was refused for; the next login asks for them


class LoginFile:
    def __init__(self, path: str) -> None:
        self.path = path

    def read(self) -> KeptLogin | None:
        """Return the login; None where there is none that can be read."""
        try:
            with open(self.path, "rb") as file:
                return msgspec.json.decode(file.read(), type=KeptLogin)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None

    def write(self, login: KeptLogin) -> None:
        """Raises OSError."""
        make_private(os.path.dirname(self.path))
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(f"{self.path}.new", flags, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(login))
        os.replace(f"{self.path}.new", self.path)

    def remove(self) -> bool:
        """Return whether there was one. Raises OSError where it cannot be removed."""
        with suppress(FileNotFoundError):
            os.unlink(self.path)
            return True
        return False


def login_file(folder: str, name: str, url: str) -> LoginFile:
    """Return where the login of a server at this address is kept, in the folder of upstreams."""
    digest = hashlib.sha256(url.encode(errors="surrogatepass")).hexdigest()[:16]
    return LoginFile(os.path.join(folder, "logins", f"{name}-{digest}.json"))
