"""Drawing differences leads to what drawing it all shows, and draws no more than differs."""

from hypothesis import given
from hypothesis import strategies as st

from examples import steady
from nacre.core.display.canvas import Canvas
from nacre.core.display.compose import Shown, compose, status_row
from nacre.core.operations.elements import Overlay, VisualSpan
from nacre.core.terminal.terminal import Terminal

from core.display.test_compose import COLS, ROWS, overlay, panel, session
from vt_streams import STREAMS


class Pair:
    """A session, and a terminal that shows it by differences."""

    def __init__(self) -> None:
        self.child = session()
        self.canvas = Canvas()
        self.shown = Terminal(ROWS + 2, COLS)
        self.status = "dev"

    def draw(self, *overlays: Overlay) -> bytes:
        scene = compose(self.child.picture(), Shown(overlays, top=[panel("top", "top")]))
        status = status_row([VisualSpan(text=self.status)], COLS)
        data = self.canvas.draw(scene, status)
        self.shown.feed(data)
        return data


def test_only_rows_that_differ_are_drawn() -> None:
    pair = Pair()
    pair.draw()
    assert pair.draw() == b""
    pair.child.feed(b"one\r\ntwo")
    assert pair.draw() == (
        b"\x1b[?2026h\x1b[?25l\x1b[2Hone\x1b[K\x1b[3Htwo\x1b[K\x1b[3;4H\x1b[?25h\x1b[?2026l"
    )
    pair.child.feed(b"!")
    assert pair.draw() == b"\x1b[?2026h\x1b[3Htwo!\x1b[K\x1b[3;5H\x1b[?2026l"
    pair.child.feed(b"\x1b[H")
    assert pair.draw() == b"\x1b[?2026h\x1b[2;1H\x1b[?2026l"
    pair.status = "new"
    assert pair.draw() == b"\x1b[?2026h\x1b[8Hnew" + b" " * 17 + b"\x1b[2;1H\x1b[?2026l"


def test_a_mode_that_was_left_is_left_on_the_terminal() -> None:
    pair = Pair()
    pair.child.feed(b"\x1b[?1000htext")
    pair.draw()
    assert pair.shown.modes().mouse_tracking
    pair.child.feed(b"\x1b[?1000l")
    pair.draw()
    assert not pair.shown.modes().mouse_tracking
    assert pair.shown.plain_lines()[1] == "text"


def test_what_was_forgotten_is_drawn_anew() -> None:
    pair = Pair()
    pair.child.feed(b"text")
    pair.draw()
    pair.shown.feed(b"\x1b[2J")
    pair.canvas.forget()
    pair.draw()
    assert pair.shown.plain_lines() == ["top", "text", "", "", "", "", "", "dev"]


_STEPS = st.lists(
    st.tuples(st.sampled_from(sorted(STREAMS.values())), st.integers(-2, 20), st.integers(-1, 6)),
    max_size=6,
)


@steady
@given(_STEPS)
def test_differences_lead_to_what_drawing_it_all_shows(steps: list[tuple[bytes, int, int]]) -> None:
    pair = Pair()
    for stream, x, y in steps:
        pair.child.feed(stream.replace(b"\x1b[?2027h", b"").replace(b"\x1b[?3h", b"") + b"\x18")
        element = overlay("box\n漢", x=x, y=y, width=4, height=2, background="red")
        pair.draw(element)
        whole = Pair()
        whole.child = pair.child
        whole.draw(element)
        assert pair.shown.styled_lines() == whole.shown.styled_lines()
        assert pair.shown.cursor() == whole.shown.cursor()
        assert pair.shown.modes() == whole.shown.modes()
        assert not pair.shown.modes().alternate_screen
