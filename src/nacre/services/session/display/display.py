"""A session's display for people: overlays and panels, captured keys, who drives, and the whole
size.

Rule 1: viewers set the whole size; the child gets what panels leave of it. Those who drive, or are
attached, only borrow it (sizes.py).
Rule 2: keys of people pass through here, input from callers does not: only keys can be captured.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Protocol

from nacre.core.catalog.caller import Caller
from nacre.core.display.compose import Shown
from nacre.core.display.layers import Elements
from nacre.core.keys.capture import Capture
from nacre.core.operations.display import CapturedKey
from nacre.core.operations.follow import Event, InputEvent, InputModeEvent, VisualsEvent
from nacre.core.operations.watch import Receipt
from nacre.services.dispatch.permit import write_judged
from nacre.services.host.host import Host
from nacre.services.host.wait import Waiters, next_of
from nacre.services.session.display.lease import Driven, Lease, control_event
from nacre.services.session.display.news import HandoverNews
from nacre.services.session.identity import Identity
from nacre.services.session.record import KeptDisplay, SessionRecord
from nacre.services.viewers.sizes import BorrowedSizes
from nacre.services.viewers.viewers import Viewers

if TYPE_CHECKING:
    from nacre.core.terminal.terminal import Terminal


class Displayed(Driven, Protocol):
    """What a display needs from its session."""

    @property
    def identity(self) -> Identity: ...

    @property
    def alive(self) -> bool: ...

    @property
    def record(self) -> SessionRecord: ...

    @property
    def terminal(self) -> "Terminal": ...

    @property
    def viewers(self) -> Viewers: ...

    def tell(self, kind: str, make: Callable[[], Event]) -> None: ...

    @property
    def inputs(self) -> int: ...

    def write(
        self, data: bytes, *, recorded: bytes | None = None, receipt: Receipt | None = None
    ) -> None: ...

    def set_size(self, rows: int, cols: int) -> None: ...

    def put_down(self) -> None: ...

    def put_down_in_memory(self) -> None: ...


class Display:
    def __init__(self, session: Displayed, host: Host) -> None:
        self._session = session
        self._host = host
        # The whole size, panels included.
        self.rows, self.cols = session.terminal.rows, session.terminal.cols
        settings = host.settings
        self.elements = Elements(settings.max_elements, settings.max_element_chars)
        self.keyboard = Capture(settings.max_captured_keys)
        most = settings.max_handover_commands
        self.news = HandoverNews(self._keep, agents=settings.max_told_agents, commands=most)
        self.control = Lease(
            self._control_changed, self._keep, self.news, most, host.settings.lease_idle
        )
        self._key_waiters = Waiters()
        self._sizes = BorrowedSizes()

    # --- what is shown ---------------------------------------------------------------------

    def resize(self, rows: int, cols: int, caller: Caller | None = None) -> None:
        """Set the whole size; the child gets what panels leave of it. Other people are told.

        Who borrows it for the time that they are there does not get it of a program that has ended.
        """
        if caller is not None and self._borrows(caller):
            if not self._session.alive:
                return
            self._sizes.borrow(caller.key, (self.rows, self.cols), (rows, cols))
        else:
            self._sizes.settle()
        if caller is not None:
            self._session.viewers.resized_by(caller)
        self._note_own_size()
        self._resize(rows, cols)

    def _borrows(self, caller: Caller) -> bool:
        return self._sizes.stays(caller.key) or self.control.is_held_by(caller)

    def stay(self, caller: Caller) -> None:
        """This one watches at a screen that the session is to have the size of."""
        self._sizes.stay(caller.key)

    def leave(self, caller: Caller) -> None:
        self._sizes.leave(caller.key)
        if not self._borrows(caller):
            self._give_size_back(caller.key, caller)

    def given_back(self, caller: Caller) -> None:
        """This one does not drive any more; who is attached still borrows the size."""
        if not self._sizes.stays(caller.key):
            self._give_size_back(caller.key, caller)

    def _give_size_back(self, key: str, caller: Caller | None) -> None:
        size = self._sizes.give_back(key)
        self._note_own_size()
        if size is not None and size != (self.rows, self.cols):
            self._session.viewers.resized_by(caller, back=True)
            self._resize(*size)
        else:
            self._keep()

    def _note_own_size(self) -> None:
        """Store it on disk, too: who restores a lost session gets it."""
        record = self._session.record
        if record.own_size != self._sizes.own:
            record.own_size = self._sizes.own
            self._session.put_down()

    def _give_back_what_nobody_claims(self) -> None:
        for key in self._sizes.borrowers:
            if not self._sizes.stays(key) and not self.control.is_held_by_key(key):
                self._give_size_back(key, None)

    def _resize(self, rows: int, cols: int) -> None:
        self.rows, self.cols = rows, cols
        self._lay_out(anyway=True)
        if self.elements:  # a panel may fit now, or no longer
            self._session.tell("visuals", self.visuals_event)

    def show(self) -> None:
        """Show changed elements: make space for panels, and tell viewers."""
        self._lay_out()
        self._session.put_down_in_memory()
        self._session.viewers.redraw()
        self._session.tell("visuals", self.visuals_event)

    def shown(self) -> Shown:
        layout = self.elements.layout(self.rows)
        return Shown(self.elements.overlays(), layout.top, layout.bottom)

    def note_screen(self) -> None:
        """Check whether the child changed to its other screen, which has its own elements."""
        had = bool(self.elements)  # before those of the other screen are dropped
        if self.elements.note_alternate(self._session.terminal.alternate) and had:
            self.drop_focus_of_gone()
            self.show()

    def _lay_out(self, *, anyway: bool = False) -> None:
        self.elements.note_visible(self.rows)
        size = (self.elements.layout(self.rows).rows, self.cols)
        terminal = self._session.terminal
        if anyway or size != (terminal.rows, terminal.cols):
            self._session.put_down_in_memory()  # first: the next daemon then does the same
            self._session.set_size(*size)
            # The engine has a minimum size.
            self.rows += terminal.rows - size[0]
            self.cols = terminal.cols

    def drop_focus_of_gone(self) -> None:
        """Clear the focus of an element that is gone or cannot have it."""
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

    def captures(self, caller: Caller) -> bool:
        """Tell whether what this caller types goes to an agent instead."""
        return caller.person and self.keyboard.active

    def type(self, caller: Caller, data: bytes, receipt: Receipt | None = None) -> None:
        """Handle what was typed at a screen, and judged. Raises what Session.write raises.

        `receipt` hears what becomes of it.
        """
        self.control.note_typed(caller, len(data))
        if self.captures(caller):
            if receipt is not None:
                receipt.begin()
                receipt.exact = False
            data = self._captured(data)
        if data:
            write_judged(self._session, data, receipt=receipt)
        elif receipt is not None:
            receipt.settle()

    def _captured(self, data: bytes) -> bytes:
        typed = self.keyboard.typed(data)
        self._keep()
        for key in typed.keys:
            self._session.tell("input", partial(_input_event, key))
        if typed.ended:
            self.tell_input_mode()
        elif typed.keys:
            self._key_waiters.wake()
        return typed.rest

    def tell_input_mode(self) -> None:
        self._keep()
        self._key_waiters.wake()
        self._session.viewers.redraw()
        self._session.tell("input", self.input_mode_event)

    def input_mode_event(self) -> InputModeEvent:
        return InputModeEvent(mode=self.keyboard.mode, focused_element=self.keyboard.focus)

    async def next_key(
        self, until: float, *, output: bool, when: Callable[[], bool] | None = None
    ) -> None:
        """Return at the next captured key, when the capture changes or the session ends, or then.

        It takes the parameters of a wait; output of the session is no key.
        """
        await next_of(until, self._key_waiters)

    # --- begin and end ---------------------------------------------------------------------

    def ended(self) -> None:
        """The child has ended: end the lease and the capture."""
        self._sizes.end()
        self.release()
        self.control.give(self._session)

    def restarted(self) -> None:
        """A new program starts: remove what was shown for the old one."""
        self.elements.clear()
        self.elements.note_alternate(alternate=False)
        self.release()
        self.rows, self.cols = self._sizes.begin_anew() or (self.rows, self.cols)
        self._session.record.own_size = None  # it is put down with the start
        self._lay_out()
        self._session.tell("visuals", self.visuals_event)

    def release(self) -> None:
        """End a capture."""
        if self.keyboard.active or self.keyboard.focus is not None:
            self.keyboard.release()
            self.tell_input_mode()

    def _control_changed(self) -> None:
        self._session.viewers.redraw()
        self._session.tell("control", lambda: control_event(self.control))

    def _keep(self) -> None:
        self._session.put_down_in_memory()

    def keep(self) -> KeptDisplay:
        return KeptDisplay(
            rows=self.rows,
            cols=self.cols,
            elements=self.elements.keep(),
            lease=self.control.kept(),
            news=self.news.kept(),
            capture=self.keyboard.kept(),
            sizes=self._sizes.kept(),
        )

    def restore(self, kept: KeptDisplay) -> None:
        """Restore what an earlier daemon showed; the child already has its size."""
        self.rows, self.cols = kept.rows, kept.cols
        self.elements.restore(kept.elements, alternate=self._session.terminal.alternate)
        if kept.capture is not None:
            self.keyboard.restore(kept.capture)
        if kept.sizes is not None:
            self._sizes.restore(kept.sizes)
            patience = self._host.settings.lease_patience
            self._host.loop.call_later(patience, self._give_back_what_nobody_claims)
        self._lay_out()

    def restore_ended(self) -> None:
        """Know the size that the next program gets; the child ended with an earlier daemon."""
        self._sizes.restore_ended(self._session.record.own_size)

    def restore_lease(self, kept: KeptDisplay) -> None:
        """Go on with who drives, and with what agents are to be told."""
        if kept.news is not None:
            self.news.restore(kept.news)
        if kept.lease is not None:
            self.control.restore(kept.lease, self._session, self._host.settings.lease_patience)


def _input_event(key: CapturedKey) -> InputEvent:
    return InputEvent(
        mode="capture",
        raw=key.raw,
        parsed=key.parsed,
        focused_element=key.focused_element,
        number=key.number,
    )
