"""The operation focus: bring the focus of a program to an element, and look whether it is there.

Rule 1: nothing is chosen or pressed on the way. So only fields and tabs are clicked, where a click
does no more than that, and everything else is reached by keys that move (core/seeing/focus.py).
Rule 2: after each key the screen is looked at, once the program has answered. The number of keys
and the time are bounded.
Rule 3: success is what the screen shows. If it shows the focus elsewhere, or nowhere, the caller is
told that, with the keys that were pressed.
"""

from collections.abc import Sequence

from nacre.core.catalog.caller import Caller
from nacre.core.keys.items import parse_item
from nacre.core.keys.pointing import click
from nacre.core.operations.apps.focus import Focus, FocusMoved
from nacre.core.seeing.elements import Element
from nacre.core.seeing.focus import FocusSearch, FocusView, unfocusable
from nacre.core.shell.quiet import Until
from nacre.errors import BadParameter, Failed, InvalidInput
from nacre.services.apps.references import ElementReferences
from nacre.services.apps.typing import KeyTyping
from nacre.services.dispatch.handlers import Handlers
from nacre.services.dispatch.permit import type_into
from nacre.services.host.host import Host
from nacre.services.host.wait import Turn, wait_until
from nacre.services.registry.registry import Registry
from nacre.services.session.session import Session
from nacre.wording import Use

_QUIET = 0.03  # seconds without output after which a screen is drawn, as in settle.py
_LATEST = 0.3  # seconds after which a screen that is drawn all the time is looked at
_MOST_PLACES = 10  # of a text that an error names


class Focusing:
    def __init__(
        self, registry: Registry, references: ElementReferences, typing: KeyTyping, host: Host
    ) -> None:
        self._registry = registry
        self._references = references
        self._typing = typing
        self._host = host

    def handlers(self) -> Handlers:
        return Handlers().on(Focus, self.focus)

    async def focus(self, caller: Caller, request: Focus) -> FocusMoved:
        """Raises BadParameter, InvalidInput, and Failed where the focus is not there in the end."""
        session = self._registry.find(request.session)
        session.require_alive()
        if (request.ref is None) == (request.text is None):
            raise BadParameter(("ref", "text"), "are one or the other", "give one of them")
        generation = session.hand_out()
        view, target = await self._find(session, request)
        if (reason := unfocusable(target)) is not None:
            raise InvalidInput(f"{_told(target)} cannot be focused: {reason}", "press that key")
        return await _FocusWay(self, session, target, request, generation).run(view)

    async def _find(self, session: Session, request: Focus) -> tuple[FocusView, Element]:
        """Return the screen, and what is meant on it. Raises BadParameter.

        On a screen that is just being drawn it may be missing for a moment.
        """
        deadline = self.now + request.timeout_ms / 1000
        deadline = min(deadline, session.last_active + self._host.settings.focus_key_wait)
        drawing = _Redrawing(session)
        while True:
            drawing.note()
            view = await self._look(session)
            try:
                return view, await self._meant(session, request, view)
            except BadParameter:
                if not await wait_until(drawing.check, deadline, session.next_change):
                    raise
                session.require_alive()

    async def _meant(self, session: Session, request: Focus, view: FocusView) -> Element:
        known = self._references.known(session)
        if request.ref is None:
            return _named([*view.elements, *_gone(view, known)], str(request.text))
        gone = [one for one in _gone(view, known) if one.ref == request.ref]
        return gone[0] if gone else await self._references.find(session, request.ref)

    async def _look(self, session: Session) -> FocusView:
        _generation, cells, found = await self._references.look(session)
        return FocusView(found, cells.cursor)

    async def click(self, session: Session, target: Element) -> bool:
        """Return whether the program was told of a click."""
        if target.role not in ("field", "tab") or not session.terminal.modes().mouse_tracking:
            return False
        data = session.terminal.encode_pointer(click("left", _place(target), 1, frozenset()))
        if data:
            await type_into(session, data)
        return bool(data)

    async def press(self, session: Session, key: str) -> None:
        await self._typing.type(session, [parse_item(key)], paste=False)

    async def answered(self, session: Session, before: FocusView, deadline: float) -> FocusView:
        """Return the screen that has the focus elsewhere; the last one if none comes in time."""
        longest = min(deadline, self._host.loop.time() + self._host.settings.focus_key_wait)
        answer = _Redrawing(session)
        while True:
            drawn = await wait_until(answer.check, longest, session.next_change)
            answer.note()
            view = await self._look(session)
            if drawn is None or view.mark != before.mark or not session.alive:
                return view

    @property
    def most_keys(self) -> int:
        return self._host.settings.max_focus_keys

    @property
    def now(self) -> float:
        return self._host.loop.time()


class _FocusWay:
    """One call: the way to one element."""

    def __init__(
        self,
        focusing: Focusing,
        session: Session,
        target: Element,
        request: Focus,
        generation: int,
    ) -> None:
        self._focusing, self._session = focusing, session
        self._target = target
        self._generation = generation
        self._deadline = focusing.now + request.timeout_ms / 1000
        self._pressed: list[str] = []

    async def run(self, view: FocusView) -> FocusMoved:
        if (found := self._found(view, "already")) is not None:
            return found
        session, focusing = self._session, self._focusing
        if session.launch.is_shell and session.in_foreground:
            raise InvalidInput(
                f"{_told(self._target)} is text that a shell has printed: only its line has the "
                "focus"
            )
        if view.find(self._target) and await focusing.click(session, self._target):
            view = await focusing.answered(session, view, self._deadline)
            if (found := self._found(view, "mouse")) is not None:
                return found
        return await self._by_keys(view)

    async def _by_keys(self, view: FocusView) -> FocusMoved:
        session, focusing, search = self._session, self._focusing, FocusSearch()
        while len(self._pressed) < focusing.most_keys and focusing.now < self._deadline:
            target = view.find(self._target) or _place_of(self._target)
            if target is None:
                raise self._failed(view, "it is no longer on the screen")
            key = search.next_key(view, target)
            if key is None or (self._pressed and not view.tells):
                break
            await focusing.press(session, key)
            self._pressed.append(key)
            before, view = view, await focusing.answered(session, view, self._deadline)
            session.require_alive()
            if (found := self._found(view, "keys")) is not None:
                return found
            if view.mark == before.mark:
                search.note_nothing(key)
            else:
                search.note_change(key)
            self._require_no_typing(before, view, key)
        raise self._failed(view)

    def _found(self, view: FocusView, by: str) -> FocusMoved | None:
        target = view.find(self._target)
        evidence = None if target is None else view.evidence(target)
        if target is None or evidence is None:
            return None
        return FocusMoved(
            generation=self._generation,
            role=target.role,
            text=target.text,
            row=target.row,
            col=target.col,
            by=by,  # type: ignore[arg-type]  # one of the three
            keys=self._pressed,
            evidence=evidence,
        )

    def _require_no_typing(self, before: FocusView, view: FocusView, key: str) -> None:
        """Raises Failed if a key was taken as text by what has the focus."""
        for one in before.lit:
            now = view.find(one) if one.focused else None
            if now is not None and now.focused and len(now.text) > len(one.text):
                raise self._failed(view, f"{key} was taken as text by {_told(one)}")

    def _failed(self, view: FocusView, reason: str | None = None) -> Failed:
        lit = [one for one in view.lit if one.focused] or view.lit
        if reason is None and lit:
            where = ", ".join(map(_told, lit[:_MOST_PLACES]))
            reason = f"the screen shows the focus at {where}"
        elif reason is None:
            reason = "nothing on the screen shows where the focus is"
        pressed = f" after {', '.join(self._pressed)}" if self._pressed else ""
        name = self._session.identity.name
        return Failed(
            f"{_told(self._target)} does not have the focus{pressed}: {reason}",
            Use("snapshot", "look where it is", {"session": name}),
            "press keys that this program knows",
            keys=self._pressed,
        )


class _Redrawing:
    """The wait for a program that draws itself after a key."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.note()

    def note(self) -> None:
        """The screen is looked at now."""
        self._seen = self._session.generation
        self._began: float | None = None

    async def check(self, turn: Turn) -> bool | Until:
        session = self._session
        if not session.alive:
            return True
        if session.generation == self._seen:
            return Until()
        if self._began is None:
            self._began = turn.now
        drawn = min(session.last_active + _QUIET, self._began + _LATEST)
        return True if turn.now >= drawn else Until(drawn)


def _gone(view: FocusView, known: Sequence[Element]) -> list[Element]:
    """Return the fields of the last snapshot that are not found now.

    Some are told by the cursor alone, so they seem to be gone while they have not the focus.
    """
    return [one for one in known if _place_of(one) is not None and view.find(one) is None]


def _place_of(one: Element) -> Element | None:
    return one if one.role == "field" else None


def _named(elements: Sequence[Element], text: str) -> Element:
    """Return the one element with this text or label. Raises BadParameter."""
    found = [one for one in elements if text in (one.text, one.label)]
    if not found:
        lower = text.lower()
        found = [
            one
            for one in elements
            if lower in one.text.lower() or lower in (one.label or "").lower()
        ]
    found = [one for one in found if one.role not in ("box", "table")] or found
    if not found:
        raise BadParameter("text", f"{text!r} was not found on the screen")
    if len(found) > 1:
        told = ", ".join(f"{one.ref} in row {one.row}" for one in found[:_MOST_PLACES])
        raise BadParameter("text", f"{text!r} may be {told}", "give the ref of one of them")
    return found[0]


def _place(target: Element) -> tuple[int, int]:
    """Return where to click: in a field behind its text, where typing goes on."""
    if target.role != "field":
        return target.place
    return target.row, target.col + min(len(target.text), max(0, target.width - 1))


def _told(one: Element) -> str:
    name = one.label or one.text
    return f"{one.role} {name!r}" if name else f"the {one.role} in row {one.row}"
