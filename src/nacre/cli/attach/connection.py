"""The connection of `nacre attach` to the daemon, and to the next daemon when it dies.

Rule 1: when a daemon dies, wait for the next one and show the same session, by its id. Keys that
the terminal did not take are sent again, each once; typed.py knows which.
Rule 2: this file never reads a clock; the caller passes now, and calls again at `patient_until`.
Rule 3: nothing here blocks except the goodbye, and a knock while a daemon's socket is missing; the
caller says when to send and to receive.
"""

import json
import socket
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from nacre.cli.attach.outgoing import Outgoing
from nacre.cli.attach.typed import Unconfirmed
from nacre.client.greeting import check_greeting, was_stopped
from nacre.errors import DaemonUnreachable
from nacre.settings.paths import find_paths

_CHUNK = 65536
_GOODBYE_PATIENCE = 2.0  # seconds for the last keys to reach the daemon
RESTART_PATIENCE = 10.0  # seconds for the next daemon to show the session again
# Give up after this many daemons in that time that painted and then closed the connection.
_MOST_RESTARTS = 20


class Connection:
    def __init__(
        self,
        daemon: socket.socket,
        rest: bytes,
        knock: Callable[[], socket.socket],
        hello: bytes = b"{}",
    ) -> None:
        """`daemon` has accepted us by its greeting `hello`, and `rest` came after it. `knock`
        connects to the next one.

        `knock` raises DaemonUnreachable when nobody listens.
        """
        daemon.setblocking(False)
        self.inside = True  # False after a daemon died, until the next one's greeting
        self.painted = False  # by the current daemon
        self.patient_until: float | None = None  # how long to wait for a daemon to paint
        self._daemon = daemon
        self._knock = knock
        self._unread = rest  # received, but not yet taken as lines
        self._outgoing = Outgoing()
        self._hears = True  # False: it accepts no more input, but may still have sent something
        self._restarts: deque[float] = deque(maxlen=_MOST_RESTARTS)
        self._typed = Unconfirmed()
        self._typed.came(numbers=_numbers(hello))

    def fileno(self) -> int:
        return self._daemon.fileno()

    def close(self) -> None:
        self._daemon.close()

    # --- to the daemon ---------------------------------------------------------------------

    def tell(self, message: dict[str, Any]) -> None:
        self._outgoing.add(json.dumps(message).encode() + b"\n")

    def type(self, keys: bytes) -> bool:
        """Send the keys, or keep them for the next daemon.

        Return False if they are dropped.
        """
        kept = self._typed.add(keys)
        self._send_typed()
        return kept

    def _send_typed(self) -> None:
        if (typed := self._typed.message()) is not None:
            # A daemon without numbers confirms nothing: what it did not get wholly goes again.
            self._outgoing.add(json.dumps(typed).encode() + b"\n", typed="number" in typed)

    @property
    def sending(self) -> bool:
        """Whether there is something to send and a daemon that accepts it."""
        return self.inside and self._hears and bool(self._outgoing)

    def send(self) -> None:
        """Send as much as the daemon accepts now."""
        try:
            self._outgoing.sent(self._daemon.send(self._outgoing.rest()))
        except BlockingIOError:
            pass
        except OSError:
            self._hears = False

    def say_goodbye(self) -> None:
        """Send what is left, but wait only for a short time."""
        if self.inside:
            self._daemon.settimeout(_GOODBYE_PATIENCE)
            with suppress(OSError):
                self._daemon.sendall(self._outgoing.rest())

    # --- from the daemon -------------------------------------------------------------------

    def receive(self) -> bool:
        """Read what has arrived. Return False if the daemon is gone."""
        try:
            data = self._daemon.recv(_CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self._unread += data
        return bool(data)

    def lines(self) -> list[bytes]:
        """Return the complete lines of what was read."""
        *lines, self._unread = self._unread.split(b"\n")
        return lines

    def take_receipt(self, message: dict[str, Any]) -> str:
        """Take what the daemon says about what was typed; return what the person must know."""
        if "typing" in message:
            known = message["typing"]
            lost = known["unsure"] or known["dropped"]
            kept = self._typed.typing(known["taken"], known["received"], lost=lost)
            self._send_typed()
            return "" if kept else "the daemon died"
        if "dropped" in message:
            dropped = message["dropped"]
            news = self._typed.dropped(dropped["number"])
            return (dropped["why"] or "the daemon did not take it") if news else ""
        self._typed.taken(message["taken"])
        return ""

    def has_painted(self) -> None:
        """Note that the session is shown: the daemon's restart is over."""
        self.painted, self.patient_until = True, None

    # --- a daemon that died ----------------------------------------------------------------

    def knock_again(self, now: float) -> bool:
        """Connect to the socket of the next daemon, which will answer when it is up.

        Return whether this starts the wait. Raises DaemonUnreachable when the daemon was stopped,
        when nobody listens, or after too many daemons that died.
        """
        self._daemon.close()
        if was_stopped(find_paths()):
            raise _lost("its sessions went with it")
        if len(self._restarts) == _MOST_RESTARTS and now - self._restarts[0] < RESTART_PATIENCE:
            raise _lost("so are all that came after it")
        self._restarts.append(now)
        begins = self.patient_until is None
        if begins:
            self.patient_until = now + RESTART_PATIENCE
        self.inside = self.painted = False
        self._hears = True
        self._unread = b""
        self._typed.went()
        self._outgoing.rewind()
        try:
            self._daemon = self._knock()
        except DaemonUnreachable:
            raise _lost("nobody starts another one") from None
        self._daemon.setblocking(False)
        return begins

    def come_in(self, greeting: bytes) -> None:
        """Read the next daemon's greeting; an old one gets the keys that were kept.

        Raises DaemonUnreachable when it refuses us.
        """
        try:
            check_greeting(greeting + b"\n")
        except DaemonUnreachable as error:
            raise DaemonUnreachable(f"{self.since()}{error}") from None
        self.inside = True
        self._typed.came(numbers=_numbers(greeting))
        self._send_typed()

    def check_patience(self, now: float) -> None:
        """Raises DaemonUnreachable when the next daemon took too long."""
        if self.patient_until is not None and now >= self.patient_until:
            raise _lost(f"no other one came within {RESTART_PATIENCE:.0f} s")

    def since(self) -> str:
        """Return a prefix for an error message if the daemon was replaced."""
        return "" if self.patient_until is None else "the daemon was restarted, and then: "


def _numbers(greeting: bytes) -> bool:
    """Return whether the daemon confirms what is typed."""
    return bool(json.loads(greeting).get("numbers"))


def _lost(why: str) -> DaemonUnreachable:
    return DaemonUnreachable(f"the daemon is gone, and {why}; 'nacre list' shows the sessions")
