"""What happens between a person's terminal and the daemon while `nacre attach` runs.

Rule 1: it copies bytes. The daemon decides what reaches the terminal (core/display/passage.py), and
repaints it when it has fallen behind. If the terminal accepts no more, we stop reading; nothing
queues up.
Rule 2: it waits for events: keys, the daemon, signals. Only two things have a time: the message
with the detach key, which expires (lastrow.py), and the wait for the next daemon (connection.py).
Rule 3: while a person looks back, output of the session is received and dropped. When they return,
the daemon paints everything, in the size that the terminal has then.
"""

import base64
import json
import os
import selectors
import signal
import time
from collections.abc import Callable
from typing import Any

from nacre.cli.attach.asked import AskedPerson
from nacre.cli.attach.connection import Connection
from nacre.cli.attach.lastrow import LastRow
from nacre.cli.attach.looking import Looking
from nacre.cli.attach.over import Over, program_ended, program_lost, terminal_gone
from nacre.cli.attach.own_keys import (
    MOUSE_REPORT,
    SHIFT_PAGE_UP,
    OwnKey,
    first_pressed,
    part_report,
)
from nacre.cli.attach.window import window_size
from nacre.cli.output.words import CommandWords
from nacre.client.calls import AnsweredError
from nacre.core.display.lookback import wheel_lines
from nacre.core.keys.wheel import Wheel
from nacre.errors import WIRE, DaemonUnreachable

_CHUNK = 65536
_BELL = b"\x07"

ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)


class View:
    """Everything between a terminal and the daemon, until one of them ends it."""

    def __init__(
        self,
        connection: Connection,
        detach: OwnKey,
        control: OwnKey | None,
        look_back: OwnKey | None,
        name: str,
        *,
        status: bool,
        mouse: bool = False,
        approve: OwnKey | None = None,
        typed: Callable[[bytes], None] | None = None,
    ) -> None:
        """`control` is None for a read-only viewer; `status`: the last row is a status line.

        `typed` hears what the person types into the program, before it is sent.
        """
        self._typed = typed
        self._connection = connection
        self._to_screen = b""
        self._detach = detach
        self._control = control
        self._look_back = look_back
        self._approve = approve
        self._asked = AskedPerson(connection.tell, lambda: window_size().columns)
        self._looking: Looking | None = None
        self._live = True  # the terminal shows the session; else it waits for a snapshot
        self._resized = False  # and the daemon does not know yet
        self._wheel = Wheel() if mouse else None
        self._begun_report = b""
        self._status = status
        self._news = ""  # what is to be said after the next picture
        self._lament = ""  # why what was typed is dropped; "" if it is not
        self._name = name
        self._last_row = LastRow(None if status else _hint(detach, control, name))
        self._selector = selectors.DefaultSelector()

    def run(self, screen: int, wakeup: int) -> tuple[str, int]:
        """Return what to print at the end, and the exit code.

        `screen` is the terminal's non-blocking descriptor; the numbers of signals come from
        `wakeup`.
        """
        with self._selector:
            self._selector.register(wakeup, selectors.EVENT_READ)
            try:
                self._take_lines()
                while True:
                    self._turn(screen, wakeup)
            except Over as over:
                return over.said, over.code
            except DaemonUnreachable as error:
                return f"nacre: {error}", WIRE[error.code].exit
            finally:
                self._connection.close()

    def tell_size(self) -> None:
        """Resize the session to the terminal, but not while the person looks back."""
        size = window_size()
        if self._looking is not None:
            self._looking.resize(size.lines, size.columns)
            self._look_on()
        # A resize now would wrap the lines again while somebody reads them.
        self._resized = self._looking is not None and self._looking.shown
        if not self._resized:
            self._connection.tell({"resize": [size.lines, size.columns]})

    def _turn(self, screen: int, wakeup: int) -> None:
        sending = self._connection.sending
        self._watch(self._connection.fileno(), read=not self._to_screen, write=sending)
        self._watch(0, read=not sending)
        self._watch(screen, write=bool(self._to_screen))
        ready = self._selector.select(self._next_moment())
        self._look_at_the_clock()
        for selected, events in ready:
            if selected.fd == wakeup:
                self._take_signals(os.read(wakeup, 64))
            elif selected.fd == 0:
                self._take_keys()
            elif selected.fd == screen:
                self._write_screen(screen)
            else:
                self._exchange(events)

    def _next_moment(self) -> float | None:
        moments = (self._last_row.until, self._connection.patient_until)
        first = min((one for one in moments if one is not None), default=None)
        return None if first is None else first - time.monotonic()

    def _look_at_the_clock(self) -> None:
        now = time.monotonic()
        if self._last_row.until is not None and now >= self._last_row.until:
            if self._asked.takes_keys:
                self._say(self._asked.text)
            else:
                self._drop_said()
        self._connection.check_patience(now)

    def _watch(self, descriptor: int, *, read: bool = False, write: bool = False) -> None:
        events = read * selectors.EVENT_READ | write * selectors.EVENT_WRITE
        known = self._selector.get_map().get(descriptor)
        if known is not None and known.events != events:
            self._selector.unregister(descriptor)
            known = None
        if known is None and events:
            self._selector.register(descriptor, events)

    # --- the person ------------------------------------------------------------------------

    def _take_keys(self) -> None:
        try:
            typed = os.read(0, _CHUNK)
        except OSError:  # EIO: the terminal was hung up
            typed = b""
        if not typed:
            raise terminal_gone(self._name)
        if self._wheel is not None:
            typed, self._begun_report = part_report(self._begun_report + typed)
        before, after = self._detach.split(typed)
        self._drop_said()
        self._hear(before)
        if self._asked.takes_keys:
            self._say(self._asked.text)
        if after is not None:
            self._connection.say_goodbye()
            raise Over(f"nacre: detached from {self._name}; it is still running", 0)

    def _hear(self, typed: bytes) -> None:
        while typed:
            if self._asked.takes_keys:
                typed = self._asked.answer(typed)
            else:
                typed = self._command(typed) if self._looking else self._type_until_ours(typed)

    def _type_until_ours(self, typed: bytes) -> bytes:
        """Type what comes before one of our own keys, handle that key, and return the rest."""
        reports = [MOUSE_REPORT] if self._wheel is not None and self._wheel.ours else []
        asked = [self._approve] if self._asked.open and self._approve else []
        pressed = first_pressed(self._own_keys(SHIFT_PAGE_UP, *reports, *asked), typed)
        if pressed.before:
            self._type(pressed.before)
        if pressed.key is None:
            return b""
        if pressed.key is self._control:
            self._tell_control()
        elif pressed.key is self._approve and self._asked.open is not None:
            self._asked.begin()
        elif pressed.key is MOUSE_REPORT:
            if (lines := wheel_lines(pressed.raw)) < 0:
                self._begin_looking(lines=-lines)
        else:
            passed = pressed.raw if pressed.key is SHIFT_PAGE_UP else b""
            self._begin_looking(passed)
        return pressed.after

    def _own_keys(self, *more: OwnKey) -> list[OwnKey]:
        return [key for key in (self._control, self._look_back, *more) if key is not None]

    def _tell_control(self) -> None:
        if self._connection.inside:  # without a daemon there is nothing to take over
            self._connection.tell({"control": True})

    def _type(self, keys: bytes) -> None:
        if self._control is None:  # read-only
            return
        if self._typed is not None:
            self._typed(keys)
        if not self._connection.type(keys):
            self._to_screen += _BELL
            self._lament = self._lament or "too many without a daemon"
            self._say_lament()
        else:
            self._lament = ""

    def _take_signals(self, numbers: bytes) -> None:
        for number in numbers:
            if number == signal.SIGWINCH:
                self.tell_size()
            elif number in ENDING_SIGNALS:
                name = signal.Signals(number).name
                text = f"nacre: {name}: detached from {self._name}; it is still running"
                raise Over(text, 128 + number)

    def _write_screen(self, screen: int) -> None:
        try:
            self._to_screen = self._to_screen[os.write(screen, self._to_screen) :]
        except BlockingIOError:
            return
        except OSError:
            raise terminal_gone(self._name) from None

    # --- looking back ----------------------------------------------------------------------

    def _begin_looking(self, began: bytes = b"", lines: int | None = None) -> None:
        size = window_size()
        mouse = self._wheel is not None
        self._looking = Looking(size.lines, size.columns, began, lines, mouse=mouse)
        self._look_on()

    def _command(self, typed: bytes) -> bytes:
        """Handle commands for looking back. Return what was typed after the one that ends it."""
        assert self._looking is not None
        pressed = first_pressed(self._own_keys(), typed)
        rest = self._looking.feed(pressed.before)
        if self._looking.over:
            self._stop_looking()
            return rest + pressed.raw + pressed.after
        if pressed.key is None:
            self._look_on()
        else:  # a person who takes over wants to see the current screen
            self._stop_looking()
            if pressed.key is self._control:
                self._tell_control()
        return pressed.after

    def _look_on(self) -> None:
        """Send the next request for lines, and draw what has arrived."""
        assert self._looking is not None
        for question in self._looking.questions():
            self._connection.tell(question)
        if drawn := self._looking.draw():
            self._live = False
            self._to_screen += drawn

    def _take_answer(self, message: dict[str, Any]) -> None:
        looking = self._looking
        if looking is None:
            return
        rest = looking.take(message)
        if looking.refused:
            self._looking = None
            if looking.began and self._control is not None:
                self._type(looking.began)
            else:
                self._say(" a full-screen program has nothing to look back at ")
            self._hear(looking.held)
        elif looking.over:
            self._stop_looking()
            self._hear(rest)
        else:
            self._look_on()

    def _stop_looking(self) -> None:
        assert self._looking is not None
        held, self._looking = self._looking.held, None
        if not self._live:
            if self._resized:
                self.tell_size()
            else:
                self._connection.tell({"refresh": True})
            if not self._connection.inside:
                self._show_notice()
        self._hear(held)

    # --- the daemon ------------------------------------------------------------------------

    def _exchange(self, events: int) -> None:
        if events & selectors.EVENT_WRITE:
            self._connection.send()
        if events & selectors.EVENT_READ:
            if self._connection.receive():
                self._take_lines()
            else:
                self._knock_again()

    def _take_lines(self) -> None:
        for line in self._connection.lines():
            if self._connection.inside:
                self._take(json.loads(line))
            else:
                self._come_in(line)

    def _knock_again(self) -> None:
        """Raises DaemonUnreachable when there is no next daemon."""
        self._watch(self._connection.fileno())
        if self._connection.knock_again(time.monotonic()):
            self._show_notice()
        self._resized = False  # the greeting has the size

    def _come_in(self, greeting: bytes) -> None:
        self._connection.come_in(greeting)
        if self._looking is not None:
            self._looking.daemon_came()
            self._look_on()

    def _take(self, message: dict[str, Any]) -> None:
        if "output" in message:
            if self._live:
                self._show(base64.b64decode(message["output"]))
                if self._status:  # the status line may have changed, in the row of the message
                    self._to_screen += self._last_row.again(window_size())
        elif "snapshot" in message:
            self._connection.has_painted()
            if self._looking is None or not self._looking.shown:
                self._live = True
                self._show(base64.b64decode(message["snapshot"]), message["alternate"])
                news, self._news = self._news, ""
                if self._lament:
                    self._say_lament()
                elif news:
                    self._say(news)
                elif self._last_row.hint is not None:
                    self._say(self._last_row.hint)
        elif "resized" in message:
            if "by" in message:
                back: bool = message["given_back"]
                self._news = _resized(message["resized"], message["by"], given_back=back)
        elif "typing" in message or "taken" in message or "dropped" in message:
            if why := self._connection.take_receipt(message):
                self._lament = why
                self._to_screen += _BELL
                self._say_lament()
        elif "look" in message or "found" in message:
            self._take_answer(message)
        elif "approval" in message:
            self._asked.open = message["approval"]
            if self._asked.open is not None:
                self._to_screen += _BELL
        elif "ended" in message:
            ended = message["ended"]
            if ended.get("lost"):
                raise program_lost(self._name)
            raise program_ended(self._name, ended["exit_code"], ended["signal"])
        elif "detached" in message:
            raise Over(f"nacre: {message['detached']}; {self._name} is still running", 0)
        elif "error" in message:
            if not self._connection.painted:
                error = AnsweredError(message["error"])
                code = WIRE.get(error.code, WIRE["FAILED"]).exit
                said = CommandWords("attach").message(error)
                raise Over(f"nacre: {self._connection.since()}{said}", code)
            self._to_screen += _BELL  # a key that was not taken
            if self._looking is None:
                said = CommandWords("attach").message(AnsweredError(message["error"]))
                self._say(f" {said} ")
            elif not self._looking.begun:
                self._stop_looking()

    def _show(self, data: bytes, alternate: bool | None = None) -> None:
        if self._wheel is not None:
            data = self._wheel.pass_on(data, alternate=alternate)
        self._to_screen += data

    # --- the last row ----------------------------------------------------------------------

    def _show_notice(self) -> None:
        """Show it in the last row; the next daemon's first picture paints over it."""
        if self._looking is not None and self._looking.shown:
            self._looking.daemon_died()
            self._look_on()
            return
        text = f" the daemon was restarted; waiting for {self._name} … "
        self._to_screen += self._last_row.note(text, window_size())

    def _say(self, text: str) -> None:
        self._to_screen += self._last_row.say(text, window_size(), time.monotonic())

    def _say_lament(self) -> None:
        """Say that what is typed is dropped, until the line's end; each key of it says it again."""
        self._say(f" check the line, press Enter: keys were dropped ({self._lament}) ")

    def _drop_said(self) -> None:
        if self._last_row.drop():
            self._connection.tell({"refresh": True})


def _hint(detach: OwnKey, control: OwnKey | None, name: str) -> str:
    """Say how to detach."""
    more = " (read-only)" if control is None else f", {control.name} takes over"
    return f" {detach.name} detaches from {name}{more} "


def _resized(size: list[int], by: str, *, given_back: bool) -> str:
    """Say that somebody else changed the session's size."""
    rows, cols = size
    if given_back:
        return f" {by} gave the size back: the session has {cols}x{rows} again "
    return f" {by} changed the session's size to {cols}x{rows} "
