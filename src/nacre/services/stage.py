"""What stands between a session and the people at it: overlays and panels, whose keys they are, who
drives, and the size of the whole.

Rule 1: the whole is as large as who watches made it; the child has what panels leave of it.
Rule 2: keys of people come through here, input of callers does not: only keys can be captured.
"""

import asyncio
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from nacre.core.caller import Caller
from nacre.core.captured import Capture
from nacre.core.compose import Shown
from nacre.core.elements import Elements, KeptElements
from nacre.core.events import InputEvent, InputModeEvent, VisualsEvent
from nacre.core.visual_operations import CapturedKey
from nacre.services.control import Control, control_event

if TYPE_CHECKING:
    from nacre.services.host import Host
    from nacre.services.session import Session


class KeptStage(msgspec.Struct, frozen=True, kw_only=True):
    """What the next daemon must know. A capture does not outlive who captured."""

    rows: int
    cols: int
    elements: KeptElements


class Stage:
    def __init__(self, session: "Session", host: "Host", rows: int, cols: int) -> None:
        self._session = session
        self._host = host
        self.rows, self.cols = rows, cols  # of the whole
        settings = host.settings
        self.elements = Elements(settings.max_elements, settings.max_element_chars)
        self.keyboard = Capture(settings.max_captured_keys)
        self.control = Control(self._control_changed, settings.max_handover_commands)
        self._key_waiters: list[asyncio.Future[None]] = []

    # --- what is shown ---------------------------------------------------------------------

    def resize(self, rows: int, cols: int) -> None:
        """Make the whole this large; the child is told what is left of it."""
        self.rows, self.cols = rows, cols
        self._lay_out(anyway=True)
        if self.elements:  # a panel may have got its room, or lost it
            self._host.events.tell("visuals", self._session, self.visuals_event)

    def show(self) -> None:
        """Elements were changed: make room for them, and tell who watches."""
        self._lay_out()
        self._session.put_down_in_memory()
        self._session.viewers.redraw()
        self._host.events.tell("visuals", self._session, self.visuals_event)

    def shown(self) -> Shown:
        layout = self.elements.layout(self.rows)
        return Shown(self.elements.overlays(), layout.top, layout.bottom)

    def note_screen(self) -> None:
        """The child may have changed between its screens: each has elements of its own."""
        had = bool(self.elements)  # before those of the screen that ended are gone
        if self.elements.note_alternate(self._session.terminal.alternate) and had:
            self.drop_focus_of_gone()
            self.show()

    def _lay_out(self, *, anyway: bool = False) -> None:
        self.elements.note_visible(self.rows)
        size = (self.elements.layout(self.rows).rows, self.cols)
        terminal = self._session.terminal
        if anyway or size != (terminal.rows, terminal.cols):
            self._session.put_down_in_memory()  # first: the next daemon makes it so
            self._session.set_size(*size)
            # The engine has a least size.
            self.rows += terminal.rows - size[0]
            self.cols = terminal.cols

    def drop_focus_of_gone(self) -> None:
        """Clear the focus of an element that is not there any more, or may not have it."""
        focus = self.keyboard.focus
        element = None if focus is None else self.elements.find(focus)
        if focus is not None and (element is None or not element.focusable):
            self.keyboard.focus = None
            self.tell_input_mode()

    def visuals_event(self) -> VisualsEvent:
        elements = self.elements
        return VisualsEvent(
            overlays=elements.overlays(), panels=elements.panels(), mode=elements.mode
        )

    # --- whose keys ------------------------------------------------------------------------

    async def type(self, caller: Caller, data: bytes) -> None:
        """Take what was typed at a screen. Raises ControlHeld, and what Session.write raises."""
        name = self._session.identity.name
        patience = 0.0 if caller.person else self._host.settings.control_wait
        await self.control.admit(caller, name, patience)
        self.control.note_typed(caller, len(data))
        if caller.person and self.keyboard.active:
            data = self._captured(data)
        if data:
            self._session.write(data)

    def _captured(self, data: bytes) -> bytes:
        typed = self.keyboard.typed(data)
        for key in typed.keys:
            self._host.events.tell("input", self._session, partial(_input_event, key))
        if typed.ended:
            self.tell_input_mode()
        elif typed.keys:
            self._wake()
        return typed.rest

    def tell_input_mode(self) -> None:
        self._wake()
        self._session.viewers.redraw()
        self._host.events.tell("input", self._session, self.input_mode_event)

    def input_mode_event(self) -> InputModeEvent:
        return InputModeEvent(mode=self.keyboard.mode, focused_element=self.keyboard.focus)

    async def next_key(self, seconds: float) -> None:
        """Return at the next captured key, when the capture changes or the session ends."""
        future = self._host.loop.create_future()
        self._key_waiters.append(future)
        timer = self._host.loop.call_later(seconds, _settle, future)
        try:
            await future
        finally:
            timer.cancel()
            if future in self._key_waiters:
                self._key_waiters.remove(future)

    def _wake(self) -> None:
        waiting, self._key_waiters = self._key_waiters, []
        for future in waiting:
            _settle(future)

    # --- life ------------------------------------------------------------------------------

    def ended(self) -> None:
        """The child has ended: nobody drives it, and no key will come."""
        self.release()
        self.control.give(self._session)

    def restarted(self) -> None:
        """A new program begins: what was shown to the one before is gone."""
        self.elements.clear()
        self.elements.note_alternate(alternate=False)
        self.release()
        self._lay_out()
        self._host.events.tell("visuals", self._session, self.visuals_event)

    def release(self) -> None:
        """Give people their keys back."""
        if self.keyboard.active or self.keyboard.focus is not None:
            self.keyboard.release()
            self.tell_input_mode()

    def _control_changed(self) -> None:
        self._session.viewers.redraw()
        self._host.events.tell("control", self._session, lambda: control_event(self.control))

    def keep(self) -> KeptStage:
        return KeptStage(rows=self.rows, cols=self.cols, elements=self.elements.keep())

    def restore(self, kept: KeptStage) -> None:
        """Go on with what a former daemon showed; the child has its size already."""
        self.rows, self.cols = kept.rows, kept.cols
        self.elements.restore(kept.elements, alternate=self._session.terminal.alternate)
        self._lay_out()


def _input_event(key: CapturedKey) -> InputEvent:
    return InputEvent(
        mode="capture",
        raw=key.raw,
        parsed=key.parsed,
        focused_element=key.focused_element,
        number=key.number,
    )


def _settle(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
