"""Type the items of one send_keys into a session, in order and as the program expects them.

Rule 1: a call is typed whole: another one waits for its turn. How much may wait is bounded; nothing
that was taken is dropped. Ctrl+C alone waits for nobody: it is to stop what the others wait for.
Rule 2: an Escape with something behind it is written alone. The rest waits until the program has
read it, no longer waits for the rest of a key, and escape_delay is over: else it sees Alt and a
key. The kernel has no event for that, so it is looked at while the call waits.
Rule 3: everything passes the gate of input (dispatch/permit.py), piece by piece, in the way in
which the terminal's modes want it when it is written.
Rule 4: tmux takes keys that come within a millisecond for a paste, in which its prefix means
nothing. So in a multiplexer a combination is read before more is written.
"""

import asyncio
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from nacre.core.keys.items import Item, TypedText, parts_of
from nacre.core.keys.names import KeyPress
from nacre.core.shell.programs import MULTIPLEXERS
from nacre.core.shell.quiet import Until
from nacre.errors import LimitReached
from nacre.services.dispatch.permit import type_into
from nacre.services.host.host import Host
from nacre.services.host.wait import Turn, wait_until
from nacre.services.observe.first_prompt import after_first_prompt
from nacre.services.session.session import Session
from nacre.system.processes.pty import unread

_ESCAPE = b"\x1b"
_INTERRUPT = KeyPress("c", ctrl=True)
_LOOKS = (0.001, 0.002, 0.004, 0.008, 0.016)  # seconds between two looks at the kernel
_PASTE_TIME = 0.01  # seconds; tmux's assume-paste-time is a tenth of that
_ALL_KEYS_AS_CODES = 0b1000  # of the Kitty keyboard protocol: "Report all keys as escape codes"


class KeyTyping:
    def __init__(self, host: Host) -> None:
        self._host = host
        self._turns: WeakKeyDictionary[Session, asyncio.Lock] = WeakKeyDictionary()
        self._usual: WeakKeyDictionary[Session, float | None] = WeakKeyDictionary()
        self._waiting: WeakKeyDictionary[Session, int] = WeakKeyDictionary()  # bytes of calls

    async def type(self, session: Session, items: Sequence[Item], *, paste: bool) -> int:
        """Return the generation before the first of it was typed.

        Raises SessionExited, LimitReached, ControlHeld, PolicyDenied.
        """
        session.require_alive()
        if list(items) == [_INTERRUPT]:
            generation = session.hand_out()
            await type_into(session, session.terminal.encode_key(_INTERRUPT))
            return generation
        size = sum(_size(item) for item in items)
        self._require_room(session, size)
        turn = self._turns.setdefault(session, asyncio.Lock())
        self._waiting[session] = self._waiting.get(session, 0) + size
        try:
            async with turn:
                return await self._type(session, items, paste=paste)
        finally:
            self._waiting[session] -= size

    def _require_room(self, session: Session, size: int) -> None:
        child = session.require_alive()
        waiting = self._waiting.get(session, 0) + child.input.pending
        most = self._host.settings.max_pending_input_bytes
        if waiting + size > most:
            raise LimitReached(
                f"{waiting} bytes of input are waiting for a program that does not read, and "
                f"{most} may (max_pending_input_bytes); nothing of this call was typed",
                "wait for it",
                "interrupt it (Ctrl+C)",
            )

    async def _type(self, session: Session, items: Sequence[Item], *, paste: bool) -> int:
        generation: int | None = None
        rest = list(items)
        in_tmux = any(map(_is_combined, rest[:-1])) and _is_multiplexed(session)
        while rest:
            await self._until_escape_is_read(session)
            data, rest, combined = _next_piece(session, rest, paste=paste, alone=in_tmux)
            if data.endswith(_ESCAPE) and (facts := session.facts()) is not None:
                self._usual[session] = facts.timeout
            async with after_first_prompt(session, data, self._host):
                generation = session.hand_out() if generation is None else generation
                await type_into(session, data)
            if combined and rest:
                longest = session.last_input + self._host.settings.escape_wait
                waiting = _ReadWait(session, _PASTE_TIME, self._host.settings.escape_wait, None)
                await wait_until(waiting.check, longest, session.next_change)
        assert generation is not None
        return generation

    async def _until_escape_is_read(self, session: Session) -> None:
        """Return when the Escape that was typed last cannot become one key with what follows."""
        settings = self._host.settings
        longest = session.last_input + settings.escape_wait
        if session.in_escape and session.now < longest:
            usual = self._usual.get(session)
            waiting = _ReadWait(session, settings.escape_delay, settings.escape_wait, usual)
            await wait_until(waiting.check, longest, session.next_change)


class _ReadWait:
    """One wait for the program to have read a key, and to be through with it."""

    def __init__(self, session: Session, delay: float, longest: float, usual: float | None) -> None:
        """`usual` is after how many seconds the program stopped waiting before, if it did."""
        self._session = session
        self._delay, self._longest, self._usual = delay, longest, usual
        self._inputs = session.inputs
        self._looks = 0
        self._read_at: float | None = None

    async def check(self, turn: Turn) -> bool | Until:
        session = self._session
        if session.inputs != self._inputs or not session.alive:
            return True  # somebody typed something else meanwhile
        if not self._has_read():
            self._read_at = None
        elif self._read_at is None:
            self._read_at = turn.now
        if self._read_at is not None:
            over = self._read_at + self._delay
            return True if turn.now >= over else Until(over, on_output=False)
        self._looks += 1
        return Until(turn.now + _LOOKS[min(self._looks, len(_LOOKS)) - 1], on_output=False)

    def _has_read(self) -> bool:
        """Return whether the program has read all, and does not wait for the rest of a key.

        A program that has read an Escape looks for a short time whether more comes (ncurses'
        ESCDELAY, vim's ttimeoutlen, readline's keyseq-timeout); then it waits as it did before.
        """
        child = self._session.supervisor.last
        if child is None or not child.reading:
            return True
        if child.input.pending:
            return False
        facts = self._session.facts()
        if facts is None or facts.canonical:  # it gets whole lines: no key is part of another
            return True
        if unread(child.master):
            return False
        if facts.waits is None:  # who may not look knows only that it was read
            return True
        short = facts.timeout is not None and facts.timeout < self._longest
        return facts.waits and (not short or facts.timeout == self._usual)


# --- bytes -------------------------------------------------------------------------------------


def _next_piece(
    session: Session, items: list[Item], *, paste: bool, alone: bool
) -> tuple[bytes, list[Item], bool]:
    """Return the bytes up to and including the next Escape that stands alone, and what is left.

    With `alone` also up to a combination; the last says whether it ends with one.
    """
    parts: list[bytes] = []
    for at, item in enumerate(items):
        data = _encode(session, item, paste=paste)
        parts.append(data)
        combined = alone and _is_combined(item)
        if data == _ESCAPE or combined:
            return b"".join(parts), items[at + 1 :], combined
    return b"".join(parts), [], False


def _is_combined(item: Item) -> bool:
    return isinstance(item, KeyPress) and (item.ctrl or item.alt)


def _is_multiplexed(session: Session) -> bool:
    facts = session.facts()
    return facts is not None and facts.program in MULTIPLEXERS


def _encode(session: Session, item: Item, *, paste: bool) -> bytes:
    terminal = session.terminal
    if isinstance(item, KeyPress):
        return terminal.encode_key(item)
    if paste:
        return terminal.encode_paste(item.text)
    if terminal.modes().kitty_keyboard & _ALL_KEYS_AS_CODES:
        keys = (KeyPress(part) if isinstance(part, str) else part for part in _single(item.text))
        return b"".join(map(terminal.encode_key, keys))
    return b"".join(
        part.encode() if isinstance(part, str) else terminal.encode_key(part)
        for part in parts_of(item.text)
    )


def _single(text: str) -> list[str | KeyPress]:
    """Part text into characters and keys."""
    return [
        one for part in parts_of(text) for one in ([part] if isinstance(part, KeyPress) else part)
    ]


def _size(item: Item) -> int:
    """Return about how many bytes an item takes."""
    return len(item.text.encode()) if isinstance(item, TypedText) else 1
