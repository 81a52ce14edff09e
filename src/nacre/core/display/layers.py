"""The overlays and panels of one session, by screen mode.

Rule 1: the mode is alt while the layer is entered or the child is a full-screen program. Elements
made in alt are removed when it ends.
Rule 2: their number is limited, because each is drawn in every frame for every viewer.
"""

from collections.abc import Iterator
from typing import TypeVar

import msgspec

from nacre.core.operations.display import PutOverlay, PutPanel
from nacre.core.operations.elements import (
    HIGHEST,
    Element,
    Overlay,
    Panel,
    PanelLayout,
    VisualSpan,
    lay_out,
    patched,
    text_size,
    written,
)
from nacre.core.screen.screen import ScreenMode
from nacre.errors import InvalidInput, LimitReached, OverlayNotFound, PanelNotFound
from nacre.wording import NextStep, Omit

ElementT = TypeVar("ElementT", Overlay, Panel)

_NOT_FOUND = {Overlay: OverlayNotFound, Panel: PanelNotFound}
_WORDS = {Overlay: "overlay", Panel: "panel"}
_TO_CREATE = Omit(("id",), "to create one")


class KeptElements(msgspec.Struct, frozen=True, kw_only=True):
    """What the next daemon must know."""

    overlays: list[Overlay] = []
    panels: list[Panel] = []
    layer: bool = False
    made: int = 0
    fitted: dict[str, list[str]] = {}  # by id: the sides that follow the text


class Elements:
    def __init__(self, most: int, most_chars: int) -> None:
        self._most = most
        self._most_chars = most_chars
        self._elements: dict[str, Element] = {}
        self._made = 0
        # For overlays, by id: width and height follow the text unless somebody set them. A panel's
        # height does not, because every word would resize the child.
        self._fitted: dict[str, list[str]] = {}
        self.layer = False  # the alternate layer was entered
        self.alternate = False  # the child is on its alternate screen

    def __bool__(self) -> bool:
        return bool(self._elements)

    @property
    def mode(self) -> ScreenMode:
        return "alt" if self.layer or self.alternate else "normal"

    # --- reading ---------------------------------------------------------------------------

    def overlays(self) -> list[Overlay]:
        """The overlays of this mode, the lowest first."""
        return sorted(self._of(Overlay), key=lambda overlay: overlay.z)

    def panels(self) -> list[Panel]:
        """The panels of this mode, also those that do not fit."""
        return list(self._of(Panel))

    def layout(self, rows: int) -> PanelLayout:
        return lay_out(self._of(Panel), rows)

    def find(self, identifier: str) -> Element | None:
        return self._elements.get(identifier)

    def _of(self, kind: type[ElementT]) -> Iterator[ElementT]:
        mode = self.mode
        for element in self._elements.values():
            if isinstance(element, kind) and element.screen_mode == mode:
                yield element

    # --- changing --------------------------------------------------------------------------

    def put_overlay(self, request: PutOverlay) -> Overlay:
        """Raises OverlayNotFound, LimitReached and InvalidInput."""
        if request.id is not None:
            before = self._known(Overlay, request.id)
            changed = _updated(before, request, ("x", "y", "z", "width", "height"))
            return self._store_fitted(changed, request, self._fitted.get(before.id, []))
        spans = _spans([], request)
        return self._store_fitted(
            Overlay(
                id=self._new_id("overlay"),
                x=request.x or 0,
                y=request.y or 0,
                z=self._top(Overlay) if request.z is None else request.z,
                width=request.width or 1,
                height=request.height or 1,
                background=request.background,
                spans=spans,
                region_writes=written([], request.writes or ()),
                focusable=request.focusable is not False,
                screen_mode=self.mode,
            ),
            request,
            ["width", "height"],
        )

    def put_panel(self, request: PutPanel) -> Panel:
        """Raises PanelNotFound, LimitReached and InvalidInput."""
        if request.id is not None:
            before = self._known(Panel, request.id)
            return self._store(_updated(before, request, ("position", "height", "z")))
        spans = _spans([], request)
        return self._store(
            Panel(
                id=self._new_id("panel"),
                position=request.position or "bottom",
                height=request.height or text_size(spans)[0],
                z=self._top(Panel) if request.z is None else request.z,
                background=request.background,
                spans=spans,
                region_writes=written([], request.writes or ()),
                focusable=request.focusable is not False,
                screen_mode=self.mode,
                visible=True,
            )
        )

    def remove(self, kind: type[ElementT], identifier: str | None) -> None:
        """Remove one element, or all of a kind. Raises OverlayNotFound or PanelNotFound."""
        if identifier is not None:
            # Do not suggest to omit the id: that would remove all of them.
            del self._elements[self._known(kind, identifier, "nothing was removed").id]
            return
        self._elements = {
            known: one for known, one in self._elements.items() if not isinstance(one, kind)
        }

    def note_visible(self, rows: int) -> None:
        """Note in each panel whether it fits on a screen with this many rows."""
        layout = self.layout(rows)
        shown = {panel.id for panel in (*layout.top, *layout.bottom)}
        for panel in self.panels():
            if panel.visible != (panel.id in shown):
                changed = msgspec.structs.replace(panel, visible=panel.id in shown)
                self._elements[panel.id] = changed

    def enter_layer(self) -> None:
        """Raises InvalidInput when the mode is alt already."""
        if self.mode == "alt":
            why = "a full-screen program is open" if self.alternate else "it was entered before"
            raise InvalidInput(f"the session is already in alternate screen mode: {why}")
        self.layer = True

    def leave_layer(self) -> None:
        """Raises InvalidInput when the layer was not entered."""
        if not self.layer:
            raise InvalidInput(
                "the alternate layer was not entered; this mode ends with the full-screen program"
                if self.alternate
                else "the session is not in alternate screen mode; enter_alt enters it"
            )
        self.layer = False
        self._drop_alternate()

    def note_alternate(self, alternate: bool) -> bool:
        """Note which screen the child is on. Return whether it has changed."""
        if alternate == self.alternate:
            return False
        self.alternate = alternate
        self._drop_alternate()
        return True

    def clear(self) -> None:
        """Remove all elements, because the program they were made for has ended."""
        self._elements.clear()
        self.layer = False

    def _drop_alternate(self) -> None:
        if self.mode == "normal":
            self._elements = {
                known: one for known, one in self._elements.items() if one.screen_mode == "normal"
            }

    def _known(
        self,
        kind: type[ElementT],
        identifier: str,
        otherwise: NextStep = _TO_CREATE,
    ) -> ElementT:
        found = self._elements.get(identifier)
        if not isinstance(found, kind):
            word = _WORDS[kind]
            known = [one.id for one in self._elements.values() if isinstance(one, kind)]
            raise _NOT_FOUND[kind](
                f"no {word} {identifier!r} (there are: {', '.join(known) or 'none'})", otherwise
            )
        return found

    def _store(self, element: ElementT) -> ElementT:
        if element.id not in self._elements and len(self._elements) >= self._most:
            raise LimitReached(
                f"the session has {self._most} overlays and panels, which is the limit "
                "(max_elements)",
                "remove some",
            )
        if _size(element) > self._most_chars:
            raise LimitReached(
                f"the element has over {self._most_chars} characters (max_element_chars)",
                "show less text",
            )
        self._elements[element.id] = element
        return element

    def _store_fitted(self, overlay: Overlay, request: PutOverlay, fitted: list[str]) -> Overlay:
        """Store it. Where the request gives no size, the size follows the text."""
        fitted = [name for name in fitted if getattr(request, name) is None]
        rows, cols = text_size(overlay.spans)
        size = {"width": cols, "height": rows}
        follows = {name: size[name] for name in fitted}
        overlay = self._store(msgspec.structs.replace(overlay, **follows))
        # Without elements that are gone.
        self._fitted = {known: names for known, names in self._fitted.items() if self.find(known)}
        self._fitted[overlay.id] = fitted
        return overlay

    def _new_id(self, word: str) -> str:
        self._made += 1
        return f"{word}-{self._made}"

    def _top(self, kind: type[ElementT]) -> int:
        return min(HIGHEST, max((one.z for one in self._of(kind)), default=-1) + 1)

    # --- what outlives the daemon ----------------------------------------------------------

    def keep(self) -> KeptElements:
        known = self._elements.values()
        return KeptElements(
            overlays=[one for one in known if isinstance(one, Overlay)],
            panels=[one for one in known if isinstance(one, Panel)],
            layer=self.layer,
            made=self._made,
            fitted={one: names for one, names in self._fitted.items() if one in self._elements},
        )

    def restore(self, kept: KeptElements, *, alternate: bool) -> None:
        """Restore them; the child may have left its alternate screen meanwhile."""
        self._elements = {overlay.id: overlay for overlay in kept.overlays}
        self._elements |= {panel.id: panel for panel in kept.panels}
        self.layer = kept.layer
        self.alternate = alternate
        self._made = kept.made
        self._fitted = dict(kept.fitted)
        self._drop_alternate()


def _size(element: Element) -> int:
    """Count characters; an element without text counts as one."""
    spans = sum(max(1, len(span.text)) + len(span.id or "") for span in element.spans)
    return spans + sum(max(1, len(write.text)) for write in element.region_writes)


def _updated(before: ElementT, request: PutOverlay | PutPanel, fields: tuple[str, ...]) -> ElementT:
    names = (*fields, "background", "focusable")
    given = {name: getattr(request, name) for name in names}
    changes = {name: value for name, value in given.items() if value is not None}
    writes = before.region_writes
    if request.spans is not None:
        writes = []  # new text: the writes over the old text are removed with it
    return msgspec.structs.replace(
        before,
        spans=_spans(before.spans, request),
        region_writes=written(writes, request.writes or ()),
        **changes,
    )


def _spans(before: list[VisualSpan], request: PutOverlay | PutPanel) -> list[VisualSpan]:
    spans = before if request.spans is None else request.spans
    try:
        return patched(spans, request.update or ())
    except ValueError as error:
        raise InvalidInput(str(error)) from error
