"""The operations on overlays, panels, the screen mode and captured input."""

from typing import TypeVar

from nacre.core.catalog.caller import Caller
from nacre.core.operations.display import (
    AwaitInput,
    CapturedKeys,
    InputModeNow,
    OverlayList,
    PanelList,
    PutOverlay,
    PutPanel,
    RemoveOverlay,
    RemovePanel,
    ScreenModeNow,
    SetInputMode,
    SetScreenMode,
)
from nacre.core.operations.elements import Overlay, OverlayFacts, Panel, PanelFacts
from nacre.core.operations.results import Success
from nacre.core.operations.steps import capture_input
from nacre.core.shell.quiet import Until
from nacre.core.text.budget import fitting, item_size, json_size
from nacre.errors import InvalidInput
from nacre.services.dispatch.handlers import Handlers
from nacre.services.host.host import Host
from nacre.services.host.wait import Turn, wait_until
from nacre.services.registry.registry import Registry
from nacre.services.session.session import Session
from nacre.wording import Higher, Hint, Use

_FACTS = 100  # characters of the other fields of an answer
_HIGHER = Higher("max_chars", "get them")

ElementT = TypeVar("ElementT", Overlay, Panel)


class Visuals:
    def __init__(self, registry: Registry, host: Host) -> None:
        self._registry = registry
        self._host = host

    def handlers(self) -> Handlers:
        return (
            Handlers()
            .on(PutOverlay, self.overlay)
            .on(RemoveOverlay, self.remove_overlay)
            .on(PutPanel, self.panel)
            .on(RemovePanel, self.remove_panel)
            .on(SetInputMode, self.input_mode)
            .on(SetScreenMode, self.screen_mode)
            .on(AwaitInput, self.await_input)
        )

    # --- elements --------------------------------------------------------------------------

    async def overlay(self, caller: Caller, request: PutOverlay) -> Overlay | OverlayList:
        session = self._find(request.session)
        if request.list:
            overlays = session.display.elements.overlays()
            kept, told = self._fit(overlays, OverlayFacts, request)
            return OverlayList(overlays=kept, omitted_overlays=len(overlays) - len(kept), hint=told)
        overlay = session.display.elements.put_overlay(request)
        session.display.drop_focus_of_gone()
        session.display.show()
        return self._fit_one(overlay, OverlayFacts, request)

    async def panel(self, caller: Caller, request: PutPanel) -> Panel | PanelList:
        session = self._find(request.session)
        if request.list:
            panels = session.display.elements.panels()
            kept, told = self._fit(panels, PanelFacts, request)
            return PanelList(panels=kept, omitted_panels=len(panels) - len(kept), hint=told)
        panel = session.display.elements.put_panel(request)
        session.display.drop_focus_of_gone()
        session.display.show()
        found = session.display.elements.find(panel.id)  # now it is known whether it fits
        assert isinstance(found, Panel)
        return self._fit_one(found, PanelFacts, request)

    def _fit(
        self, elements: list[ElementT], facts: type[ElementT], request: PutOverlay | PutPanel
    ) -> tuple[list[ElementT], str | None]:
        """Over the budget elements are listed without their text; then the first of them."""
        budget = self._host.budget(request.max_chars) - _FACTS
        if sum(map(item_size, elements)) <= budget:
            return elements, None
        short = [_without_text(one, facts) for one in elements]
        room = budget - json_size(_left_out(len(short)))
        kept = short[: fitting(map(item_size, short), room)]
        return kept, _left_out(len(short) - len(kept))

    def _fit_one(
        self, element: ElementT, facts: type[ElementT], request: PutOverlay | PutPanel
    ) -> ElementT:
        fits = json_size(element) <= self._host.budget(request.max_chars)
        return element if fits else _without_text(element, facts)

    async def remove_overlay(self, caller: Caller, request: RemoveOverlay) -> Success:
        session = self._find(request.session)
        session.display.elements.remove(Overlay, request.id)
        self._after_removal(session)
        return Success()

    async def remove_panel(self, caller: Caller, request: RemovePanel) -> Success:
        session = self._find(request.session)
        session.display.elements.remove(Panel, request.id)
        self._after_removal(session)
        return Success()

    async def screen_mode(self, caller: Caller, request: SetScreenMode) -> ScreenModeNow:
        session = self._find(request.session)
        if request.action == "enter_alt":
            session.display.elements.enter_layer()
        elif request.action == "exit_alt":
            session.display.elements.leave_layer()
        if request.action is not None:
            self._after_removal(session)
        return ScreenModeNow(mode=session.display.elements.mode)

    def _find(self, reference: str | int) -> Session:
        session = self._registry.find(reference)
        session.display.note_screen()
        return session

    def _after_removal(self, session: Session) -> None:
        session.display.drop_focus_of_gone()
        session.display.show()

    # --- keys ------------------------------------------------------------------------------

    async def input_mode(self, caller: Caller, request: SetInputMode) -> InputModeNow:
        """Raises InvalidInput for an invalid focus; nothing is changed then.

        Raises SessionExited for a capture in an ended session: no keys will come.
        """
        session = self._registry.find(request.session)
        if request.mode == "capture":
            session.require_alive()
        keyboard = session.display.keyboard
        before = (keyboard.mode, keyboard.focus)
        if request.focus is not None:
            self._check_focus(session, request)
        if request.mode == "capture":
            keyboard.begin()
        elif request.mode == "release":
            keyboard.release()
        if request.focus is not None:
            keyboard.focus = request.focus
        if request.unfocus:
            keyboard.focus = None
        if (keyboard.mode, keyboard.focus) != before:
            session.display.tell_input_mode()
        return InputModeNow(mode=keyboard.mode, focused_element=keyboard.focus)

    def _check_focus(self, session: Session, request: SetInputMode) -> None:
        element = session.display.elements.find(request.focus or "")
        if element is None:
            raise InvalidInput(
                f"no overlay or panel {request.focus!r} to focus",
                Use("overlay", "list them", {"session": session.identity.name, "list": True}),
            )
        if not element.focusable:
            raise InvalidInput(
                f"{request.focus!r} is not focusable", "update it with focusable: true"
            )
        if request.mode == "release" or request.unfocus:
            raise InvalidInput("focus cannot be combined with release or unfocus")

    async def await_input(self, caller: Caller, request: AwaitInput) -> CapturedKeys:
        session = self._registry.find(request.session)
        keyboard = session.display.keyboard
        # A number from an earlier daemon may be too high: the call would wait forever.
        after = None if request.after is None else min(request.after, keyboard.last)
        if not keyboard.active and not keyboard.has_more_than(after):
            raise InvalidInput(
                "input is not captured, so no key will come",
                capture_input(session.identity.name),
            )
        wait = min(request.max_wait_ms / 1000, self._host.settings.max_wait)
        deadline = self._host.loop.time() + wait

        async def check(turn: Turn) -> bool | Until:
            waits = keyboard.active and session.alive and not keyboard.has_more_than(after)
            return Until() if waits else True

        await wait_until(check, deadline, session.display.next_key)
        keys = keyboard.take(after, self._host.budget(None) - _FACTS)
        session.put_down_in_memory()  # the next daemon does not tell them again
        last = keys[-1].number if keys else keyboard.last
        return CapturedKeys(
            keys=keys, last=last, mode=keyboard.mode, more=keyboard.has_more_than(last)
        )


def _left_out(elements: int) -> Hint:
    """Return what a list is without: so many elements, and the spans of those that it has."""
    count = (
        "" if not elements else "1 element and " if elements == 1 else f"{elements} elements and "
    )
    return Hint(f"{count}the spans are left out: the answer would be too long", _HIGHER)


def _without_text(element: ElementT, facts: type[ElementT]) -> ElementT:
    """Return what is known of an element but for its text; `facts` is the type that says so."""
    fields = {name: getattr(element, name) for name in element.__struct_fields__}
    return facts(**{**fields, "spans": [], "region_writes": [], "spans_left_out": True})
