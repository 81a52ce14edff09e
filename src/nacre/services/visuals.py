"""The operations on what people see beside the screen, and on whose keys they are."""

from nacre.core.caller import Caller
from nacre.core.operations import (
    AwaitInput,
    PutOverlay,
    PutPanel,
    RemoveOverlay,
    RemovePanel,
    SetInputMode,
    SetScreenMode,
)
from nacre.core.results import Success
from nacre.core.visual import Overlay, Panel
from nacre.core.visual_operations import (
    CapturedKeys,
    InputModeNow,
    OverlayList,
    PanelList,
    ScreenModeNow,
)
from nacre.errors import InvalidInput
from nacre.services.host import Host
from nacre.services.registry import Registry
from nacre.services.session import Session


class Visuals:
    def __init__(self, registry: Registry, host: Host) -> None:
        self._registry = registry
        self._host = host

    # --- elements --------------------------------------------------------------------------

    async def overlay(self, caller: Caller, request: PutOverlay) -> Overlay | OverlayList:
        session = self._find(request.session)
        if request.list:
            return OverlayList(overlays=session.stage.elements.overlays())
        overlay = session.stage.elements.put_overlay(request)
        session.stage.drop_focus_of_gone()
        session.stage.show()
        return overlay

    async def panel(self, caller: Caller, request: PutPanel) -> Panel | PanelList:
        session = self._find(request.session)
        if request.list:
            return PanelList(panels=session.stage.elements.panels())
        panel = session.stage.elements.put_panel(request)
        session.stage.drop_focus_of_gone()
        session.stage.show()
        found = session.stage.elements.find(panel.id)  # it knows by now whether it has room
        assert isinstance(found, Panel)
        return found

    async def remove_overlay(self, caller: Caller, request: RemoveOverlay) -> Success:
        session = self._find(request.session)
        session.stage.elements.remove(Overlay, request.id)
        self._after_removal(session)
        return Success()

    async def remove_panel(self, caller: Caller, request: RemovePanel) -> Success:
        session = self._find(request.session)
        session.stage.elements.remove(Panel, request.id)
        self._after_removal(session)
        return Success()

    async def screen_mode(self, caller: Caller, request: SetScreenMode) -> ScreenModeNow:
        session = self._find(request.session)
        if request.action == "enter_alt":
            session.stage.elements.enter_layer()
        elif request.action == "exit_alt":
            session.stage.elements.leave_layer()
        if request.action is not None:
            self._after_removal(session)
        return ScreenModeNow(mode=session.stage.elements.mode)

    def _find(self, reference: str | int) -> Session:
        session = self._registry.find(reference)
        session.stage.note_screen()
        return session

    def _after_removal(self, session: Session) -> None:
        session.stage.drop_focus_of_gone()
        session.stage.show()

    # --- keys ------------------------------------------------------------------------------

    async def input_mode(self, caller: Caller, request: SetInputMode) -> InputModeNow:
        """Raises InvalidInput for a focus that cannot be; nothing is changed then.

        To capture needs somebody's keys: it raises SessionExited where none will come any more, and
        ControlHeld while a person drives.
        """
        session = self._registry.find(request.session)
        if request.mode == "capture":
            patience = 0.0 if caller.person else self._host.settings.control_wait
            await session.stage.control.admit(caller, session.identity.name, patience)
            session.require_alive()
        keyboard = session.stage.keyboard
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
            session.stage.tell_input_mode()
        return InputModeNow(mode=keyboard.mode, focused_element=keyboard.focus)

    def _check_focus(self, session: Session, request: SetInputMode) -> None:
        element = session.stage.elements.find(request.focus or "")
        if element is None:
            raise InvalidInput(
                f"no overlay or panel {request.focus!r} to focus; list them with list=true"
            )
        if not element.focusable:
            raise InvalidInput(f"{request.focus!r} is not focusable; update it with focusable")
        if request.mode == "release" or request.unfocus:
            raise InvalidInput("focus goes neither with release nor with unfocus")

    async def await_input(self, caller: Caller, request: AwaitInput) -> CapturedKeys:
        session = self._registry.find(request.session)
        keyboard = session.stage.keyboard
        # A number of a former daemon's may be far ahead: it would wait for ever.
        after = None if request.after is None else min(request.after, keyboard.last)
        if not keyboard.active and not keyboard.has_more_than(after):
            raise InvalidInput(
                "input is not captured, so that no key will come; capture it with input_mode first"
            )
        wait = min(request.max_wait_ms / 1000, self._host.settings.max_wait)
        deadline = self._host.loop.time() + wait
        while keyboard.active and not keyboard.has_more_than(after) and session.alive:
            pause = deadline - self._host.loop.time()
            if pause <= 0:
                break
            await session.stage.next_key(pause)
        return CapturedKeys(keys=keyboard.take(after), last=keyboard.last, mode=keyboard.mode)
