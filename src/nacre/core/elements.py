"""The overlays and panels of one session: who is there, in which screen mode.

Rule 1: the mode is alt while the layer is entered or the child shows a full-screen program; what
was made in it goes when it ends.
Rule 2: bounded: each element is drawn in every frame for everybody who watches.
"""

from collections.abc import Iterator
from typing import TypeVar

import msgspec

from nacre.core.screen import ScreenMode
from nacre.core.visual import (
    HIGHEST,
    Element,
    Layout,
    Overlay,
    Panel,
    VisualSpan,
    lay_out,
    patched,
    text_size,
    written,
)
from nacre.core.visual_operations import PutOverlay, PutPanel
from nacre.errors import InvalidInput, LimitReached, OverlayNotFound, PanelNotFound

ElementT = TypeVar("ElementT", Overlay, Panel)

_NOT_FOUND = {Overlay: OverlayNotFound, Panel: PanelNotFound}
_WORDS = {Overlay: "overlay", Panel: "panel"}


class KeptElements(msgspec.Struct, frozen=True, kw_only=True):
    """What the next daemon must know."""

    overlays: list[Overlay] = []
    panels: list[Panel] = []
    layer: bool = False
    made: int = 0
    fitted: dict[str, list[str]] = {}  # by id, what follows the text


class Elements:
    def __init__(self, most: int, most_chars: int) -> None:
        self._most = most
        self._most_chars = most_chars
        self._elements: dict[str, Element] = {}
        self._made = 0
        # Of overlays, by id: width and height where nobody gave them, which follow the text. A
        # panel's height does not: the child would be resized by every word.
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
        """Those that show, the lowest first."""
        return sorted(self._of(Overlay), key=lambda overlay: overlay.z)

    def panels(self) -> list[Panel]:
        """Those of this mode, also who has no room."""
        return list(self._of(Panel))

    def layout(self, rows: int) -> Layout:
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
            # Without an id all would go: not what to advise to who wanted one gone.
            del self._elements[self._known(kind, identifier, "nothing was removed").id]
            return
        self._elements = {
            known: one for known, one in self._elements.items() if not isinstance(one, kind)
        }

    def note_visible(self, rows: int) -> None:
        """Note in each panel whether it has room, on a screen of so many rows in all."""
        layout = self.layout(rows)
        shown = {panel.id for panel in (*layout.top, *layout.bottom)}
        for panel in self.panels():
            if panel.visible != (panel.id in shown):
                changed = msgspec.structs.replace(panel, visible=panel.id in shown)
                self._elements[panel.id] = changed

    def enter_layer(self) -> None:
        """Raises InvalidInput when the mode is alt already."""
        if self.mode == "alt":
            why = "a full-screen program shows" if self.alternate else "it was entered before"
            raise InvalidInput(f"the session is in alternate screen mode already: {why}")
        self.layer = True

    def leave_layer(self) -> None:
        """Raises InvalidInput when the layer was not entered."""
        if not self.layer:
            raise InvalidInput(
                "the alternate layer was not entered; a full-screen program ends its own"
                if self.alternate
                else "the session is not in alternate screen mode; enter_alt enters it"
            )
        self.layer = False
        self._drop_alternate()

    def note_alternate(self, alternate: bool) -> bool:
        """Note which screen the child is on; tell whether it is another than before."""
        if alternate == self.alternate:
            return False
        self.alternate = alternate
        self._drop_alternate()
        return True

    def clear(self) -> None:
        """Forget all: what they were made for has ended."""
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
        otherwise: str = "leave id out to create one",
    ) -> ElementT:
        found = self._elements.get(identifier)
        if not isinstance(found, kind):
            word = _WORDS[kind]
            known = [one.id for one in self._elements.values() if isinstance(one, kind)]
            raise _NOT_FOUND[kind](
                f"no {word} {identifier!r}; there are: {', '.join(known) or 'none'}; {otherwise}"
            )
        return found

    def _store(self, element: ElementT) -> ElementT:
        if element.id not in self._elements and len(self._elements) >= self._most:
            raise LimitReached(
                f"the session has {self._most} overlays and panels, which is the limit "
                "(max_elements); remove some"
            )
        if _size(element) > self._most_chars:
            raise LimitReached(
                f"the element has over {self._most_chars} characters (max_element_chars); "
                "show less of it"
            )
        self._elements[element.id] = element
        return element

    def _store_fitted(self, overlay: Overlay, request: PutOverlay, fitted: list[str]) -> Overlay:
        """Store it with a size that follows its text, as far as nobody gave one."""
        fitted = [name for name in fitted if getattr(request, name) is None]
        rows, cols = text_size(overlay.spans)
        size = {"width": cols, "height": rows}
        follows = {name: size[name] for name in fitted}
        overlay = self._store(msgspec.structs.replace(overlay, **follows))
        # Without those that are gone.
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
        """Go on with them; the child may have left its alternate screen with nobody there."""
        self._elements = {overlay.id: overlay for overlay in kept.overlays}
        self._elements |= {panel.id: panel for panel in kept.panels}
        self.layer = kept.layer
        self.alternate = alternate
        self._made = kept.made
        self._fitted = dict(kept.fitted)
        self._drop_alternate()


def _size(element: Element) -> int:
    """Count characters; what has no text costs as well, and is counted as one."""
    spans = sum(max(1, len(span.text)) + len(span.id or "") for span in element.spans)
    return spans + sum(max(1, len(write.text)) for write in element.region_writes)


def _updated(before: ElementT, request: PutOverlay | PutPanel, fields: tuple[str, ...]) -> ElementT:
    names = (*fields, "background", "focusable")
    given = {name: getattr(request, name) for name in names}
    changes = {name: value for name, value in given.items() if value is not None}
    writes = before.region_writes
    if request.spans is not None:
        writes = []  # the text anew: what was written over the former one is gone with it
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
