"""The connection of `nacre attach` to the daemon, and to the next one when that dies.

Rule 1: a daemon that dies is waited for: the next one shows the same session, by its id. Keys that
it may have taken are not sent again, those that it cannot have taken are.
Rule 2: this file never reads a clock; the caller passes now, and comes again at `patient_until`.
Rule 3: nothing here blocks but the goodbye; the caller says when to send and to receive.
"""

import base64
import json
import socket
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from nacre.cli.bridge import check_greeting, was_stopped
from nacre.cli.outgoing import Outgoing
from nacre.errors import DaemonUnreachable
from nacre.paths import find_paths

_CHUNK = 65536
_GOODBYE_PATIENCE = 2.0  # seconds for the last keys to reach the daemon
_RESTART_PATIENCE = 10.0  # seconds for the next daemon to show the session again
# One that paints and then throws us out, this often within that time, has something against us.
_MOST_RESTARTS = 20
# Bytes typed meanwhile that are sent then; what is more is lost. A terminal's own line holds as
# much (termios(3), canonical mode).
_KEPT_KEYS = 4096


class Connection:
    def __init__(
        self, daemon: socket.socket, rest: bytes, knock: Callable[[], socket.socket]
    ) -> None:
        """`daemon` has let us in, and said `rest` beyond that; `knock` is at the next one's door.

        `knock` raises DaemonUnreachable when nobody listens.
        """
        daemon.setblocking(False)
        self.inside = True  # a daemon that died leaves us outside until the next one's greeting
        self.painted = False  # by the daemon that is there now
        self.patient_until: float | None = None  # with a daemon that has not painted yet
        self._daemon = daemon
        self._knock = knock
        self._unread = rest  # of the daemon's, beyond the lines that were taken
        self._outgoing = Outgoing()
        self._hears = True  # one that is going takes no more, but may still have said something
        self._restarts: deque[float] = deque(maxlen=_MOST_RESTARTS)
        self._kept = b""  # keys that were typed outside

    def fileno(self) -> int:
        return self._daemon.fileno()

    def close(self) -> None:
        self._daemon.close()

    # --- to the daemon ---------------------------------------------------------------------

    def tell(self, message: dict[str, Any]) -> None:
        self._outgoing.add(json.dumps(message).encode() + b"\n")

    def type(self, keys: bytes) -> bool:
        """Tell the keys, or keep them for the next daemon; False when some of them are lost."""
        if self.inside:
            self.tell({"input": base64.b64encode(keys).decode()})
            return True
        room = _KEPT_KEYS - len(self._kept)
        self._kept += keys[:room]
        return len(keys) <= room

    @property
    def sending(self) -> bool:
        """Whether there is something to send, and somebody who takes it."""
        return self.inside and self._hears and bool(self._outgoing)

    def send(self) -> None:
        """Send as much as the daemon takes now."""
        try:
            self._outgoing.sent(self._daemon.send(self._outgoing.rest()))
        except BlockingIOError:
            pass
        except OSError:
            self._hears = False

    def say_goodbye(self) -> None:
        """Send all that is left, for as long as one waits for that."""
        if self.inside:
            self._daemon.settimeout(_GOODBYE_PATIENCE)
            with suppress(OSError):
                self._daemon.sendall(self._outgoing.rest())

    # --- from the daemon -------------------------------------------------------------------

    def receive(self) -> bool:
        """Read what has come; False when the daemon is gone."""
        try:
            data = self._daemon.recv(_CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self._unread += data
        return bool(data)

    def lines(self) -> list[bytes]:
        """Take the whole lines of what was read."""
        *lines, self._unread = self._unread.split(b"\n")
        return lines

    def has_painted(self) -> None:
        """Note that the session is shown: the daemon's restart is over."""
        self.painted, self.patient_until = True, None

    # --- a daemon that died ----------------------------------------------------------------

    def knock_again(self, now: float) -> bool:
        """Wait at the door of the next daemon; whoever holds its socket lets us in when it comes.

        Return whether the wait begins with this. Raises DaemonUnreachable when the daemon was
        stopped, nobody listens, or too many came and went.
        """
        self._daemon.close()
        if was_stopped(find_paths()):
            raise _lost("its sessions went with it")
        if len(self._restarts) == _MOST_RESTARTS and now - self._restarts[0] < _RESTART_PATIENCE:
            raise _lost("so are all that came after it")
        self._restarts.append(now)
        begins = self.patient_until is None
        if begins:
            self.patient_until = now + _RESTART_PATIENCE
        self.inside = self.painted = False
        self._hears = True
        self._unread = b""
        self._outgoing.rewind()
        try:
            self._daemon = self._knock()
        except DaemonUnreachable:
            raise _lost("nobody starts another one") from None
        self._daemon.setblocking(False)
        return begins

    def come_in(self, greeting: bytes) -> None:
        """Take the next daemon's first line, and tell it the keys that were kept.

        Raises DaemonUnreachable when it refuses us.
        """
        try:
            check_greeting(greeting + b"\n")
        except DaemonUnreachable as error:
            raise DaemonUnreachable(f"{self.since()}{error.message}") from None
        self.inside = True
        if self._kept:
            self.type(self._kept)
            self._kept = b""

    def check_patience(self, now: float) -> None:
        """Raises DaemonUnreachable when the next daemon took too long."""
        if self.patient_until is not None and now >= self.patient_until:
            raise _lost(f"no other one came within {_RESTART_PATIENCE:.0f} s")

    def since(self) -> str:
        """Return what to say before an error, when it is a next daemon's."""
        return "" if self.patient_until is None else "the daemon was restarted, and then: "


def _lost(why: str) -> DaemonUnreachable:
    return DaemonUnreachable(f"the daemon is gone, and {why}; 'nacre list' shows what is there")
