"""Looking back: keys and pages in, questions and rows out, with no daemon and no terminal."""

from collections.abc import Iterator

import pytest

from nacre.core.display.canvas import Canvas
from nacre.core.display.lookback import LookBack, wheel_lines
from nacre.core.keys.typed import parse_typed
from nacre.core.operations.watch import Find, Found, Lines, Look
from nacre.core.screen.screen import Line, Span
from nacre.core.terminal.terminal import Terminal

ROWS, COLS = 11, 60  # ten lines and the status


class Book:
    """A session of numbered lines, and somebody who looks back at it."""

    def __init__(
        self, lines: int = 100, rows: int = ROWS, cols: int = COLS, **options: int
    ) -> None:
        self.lines: list[Line] = [(Span(f"line {n}"),) for n in range(lines)]
        self.oldest = 0
        self.alternate = False
        self.asked: list[Look | Find] = []
        self.shown = Terminal(rows, cols)
        self.canvas = Canvas()
        self.back = LookBack(rows, cols)
        self.answer()

    def press(self, typed: bytes) -> None:
        for key in parse_typed(typed):
            self.back.press(key)
        self.answer()

    def answer(self) -> None:
        while questions := list(self.back.questions()):
            self.asked += questions
            for question in questions:
                self.back.take(self.reply(question))
        self.draw()

    def reply(self, question: Look | Find) -> Lines | Found:
        end = len(self.lines)
        if isinstance(question, Find):
            return self.found(question)
        if self.alternate:
            return Lines(question.id, 0, [], 0, 0, alternate=True)
        last = max(self.oldest, end - question.limit)
        first = last if question.first is None else max(self.oldest, min(question.first, last))
        lines = self.lines[first : first + question.limit]
        return Lines(question.id, first, lines, self.oldest, end)

    def found(self, find: Find) -> Found:
        def order() -> Iterator[int]:
            up = range(find.start, self.oldest - 1, -1), range(len(self.lines) - 1, find.start, -1)
            down = range(find.start, len(self.lines)), range(self.oldest, find.start)
            for part in up if find.backward else down:
                yield from part

        for number in order():
            text = "".join(span.text for span in self.lines[number])
            if find.text in (text if find.exact else text.lower()):
                around = number > find.start if find.backward else number < find.start
                return Found(find.id, number, self.oldest, len(self.lines), around=around)
        return Found(find.id, None, self.oldest, len(self.lines))

    def draw(self) -> None:
        if (seen := self.back.draw()) is not None:
            self.shown.feed(self.canvas.draw(*seen))

    @property
    def rows(self) -> list[str]:
        return self.shown.plain_lines()

    @property
    def top(self) -> str:
        return self.rows[0]

    @property
    def status(self) -> str:
        return self.rows[-1]


def test_it_begins_a_page_back_and_says_where_that_is() -> None:
    book = Book()
    assert book.rows[:10] == [f"line {n}" for n in range(81, 91)]
    assert book.status == " looking back: lines 82–91 of 100 · / find · q back"
    assert [type(one) for one in book.asked] == [Look, Look]  # the last page was not drawn
    assert not book.shown.cursor().visible


def test_the_wheel_begins_three_lines_back() -> None:
    book = Book()
    book.back = LookBack(ROWS, COLS, 3, mouse=True)
    book.answer()
    assert book.top == "line 87"
    assert book.shown.modes().mouse_tracking


@pytest.mark.parametrize(
    ("keys", "top"),
    [
        (b"\x1b[5~", 72),
        (b"\x1b[5;2~", 72),
        (b"\x1b[57421;2u", 72),
        (b"\x1b[5~\x1b[6~", 81),
        (b"k", 80),
        (b"\x1b[A", 80),
        (b"\x1bOA", 80),
        (b"kkkj", 79),
        (b"kkk\x1b[B", 79),
        (b"g", 0),
        (b"\x1b[H", 0),
        (b"gk\x1b[5~", 0),
        (b"G", 90),
        (b"\x1b[F", 90),
        (b"\x1b[<64;1;1M", 78),
        (b"\x1b[<68;1;1M", 78),  # with shift
        (b"\x1b[<64;1;1M\x1b[<65;1;1M", 81),
        (b"\x1b[<0;1;1M\x1b[<0;1;1m", 81),
        (b"xyz\x1b[15~\x1bk\x0b", 81),  # unknown: nothing happens
        (b"\x1b[200~qqq\r\x1b[201~", 81),  # a paste is no command
    ],
)
def test_keys_move(keys: bytes, top: int) -> None:
    book = Book()
    book.press(keys)
    assert book.top == f"line {top}"
    assert not book.back.over


@pytest.mark.parametrize("keys", [b"q", b"\x1b", b"\r", b"\x03", b"Gj", b"G\x1b[6~", b"G\x1b[B"])
def test_keys_leave(keys: bytes) -> None:
    book = Book()
    book.press(keys)
    assert book.back.over


def test_a_page_down_that_reaches_the_end_stays_and_the_next_one_leaves() -> None:
    book = Book()
    book.press(b"\x1b[6~")
    assert (book.top, book.back.over) == ("line 90", False)
    book.press(b"\x1b[6~")
    assert book.back.over


def test_what_is_looked_at_does_not_move_when_lines_come_and_go() -> None:
    book = Book()
    book.lines += [(Span("new"),)] * 50
    book.oldest = 20
    book.press(b"kj")
    assert book.top == "line 81"
    assert "of 150" in book.status
    book.press(b"g")
    assert book.top == "line 20"
    assert "lines 21–30 of 150" in book.status
    book.press(b"G")
    assert book.rows[:10] == ["new"] * 10


def test_lines_that_are_gone_make_way_for_the_oldest_that_are_there() -> None:
    book = Book()
    book.lines += [(Span("new"),)] * 50
    book.oldest = 100
    book.press(b"k")
    assert book.top == "new"
    assert "lines 101–110 of 150" in book.status


def test_fewer_lines_than_a_page_are_all_there_is() -> None:
    book = Book(lines=4)
    assert book.rows[:5] == ["line 0", "line 1", "line 2", "line 3", ""]
    assert "lines 1–4 of 4" in book.status
    book.press(b"kg\x1b[5~")
    assert not book.back.over
    book.press(b"j")
    assert book.back.over


def test_an_answer_to_an_older_question_is_none() -> None:
    book = Book()
    book.back.press(parse_typed(b"k")[0])
    [old] = book.back.questions()
    book.back.press(parse_typed(b"k")[0])
    [new] = book.back.questions()
    book.back.take(book.reply(old))
    book.draw()
    assert book.top == "line 81"
    book.back.take(book.reply(new))
    book.draw()
    assert book.top == "line 79"


def test_a_full_screen_program_has_nothing_above_it() -> None:
    back = LookBack(ROWS, COLS)
    [first] = back.questions()
    back.take(Lines(first.id, 0, [], 0, 0, alternate=True))
    assert back.refused
    assert back.draw() is None


def test_one_that_comes_meanwhile_leaves_the_page_as_it_is() -> None:
    book = Book()
    book.alternate = True
    book.press(b"k")
    assert book.top == "line 81"
    assert "a full-screen program hides the rest" in book.status
    book.alternate = False
    book.press(b"k")
    assert book.top == "line 80"


def test_styles_are_shown_and_long_lines_are_cut_and_marked() -> None:
    book = Book(lines=30, cols=20)
    book.lines[5] = (Span("red", fg="red"), Span("x" * 17))
    book.lines[6] = (Span("red", fg="red"), Span("x" * 18))
    book.lines[7] = (Span("漢" * 11),)
    book.press(b"g")
    assert book.rows[5] == "red" + "x" * 17
    assert book.rows[6] == "red" + "x" * 16 + ">"
    assert book.rows[7] == "漢" * 9 + " >"
    assert book.shown.styled_lines()[6][0] == Span("red", fg="red")
    assert book.shown.styled_lines()[6][-1].inverse


@pytest.mark.parametrize(("rows", "cols"), [(5, 20), (30, 100), (1, 10), (2, 1)])
def test_another_size_shows_the_same_place(rows: int, cols: int) -> None:
    book = Book()
    book.press(b"g\x1b[6~")
    book.shown.resize(rows, cols)
    book.back.resize(rows, cols)
    book.answer()
    shown = book.rows if rows == 1 else book.rows[:-1]
    first = "line 9" if cols > 1 else ">"
    assert shown[0] == first
    if rows > 2:
        assert shown == [f"line {n}" for n in range(9, 9 + rows - 1)]


def test_a_narrow_status_says_the_most_important() -> None:
    assert Book(cols=40).status == " lines 82–91 of 100 · / find · q back"
    assert Book(cols=30).status == " lines 82–91 of 100 · q back"
    assert Book(cols=15).status == " lines 82–91 of"
    book = Book(cols=30)
    book.press(b"/nowhere\r")
    assert book.status == " not found: nowhere · q back"


def test_the_next_daemon_is_asked_again() -> None:
    book = Book()
    book.back.wait()
    book.draw()
    assert "the daemon was restarted" in book.status
    assert book.top == "line 81"
    book.press(b"/line 3\r")
    book.back.ask_again()
    book.answer()
    assert "lines 1–10 of 100" in book.status
    assert "line 3" in book.rows


def test_a_question_that_was_not_answered_goes_to_the_next_daemon() -> None:
    book = Book()
    for key in parse_typed(b"?line 4\r"):
        book.back.press(key)
    assert [type(one) for one in book.back.questions()] == [Find]
    book.back.ask_again()
    book.answer()
    assert "line 49" in book.rows


# --- finding -----------------------------------------------------------------------------------


def marked(book: Book) -> list[str]:
    return [span.text for line in book.shown.styled_lines() for span in line if span.bg == "yellow"]


def test_text_is_found_towards_the_end_and_towards_the_begin() -> None:
    book = Book()
    for number in (10, 50, 95):
        book.lines[number] = (Span("an "), Span("Err", bold=True), Span("or here"))
    book.press(b"?error\r")
    assert "an Error here" in book.rows
    assert "lines 46–55 of 100" in book.status
    assert marked(book) == ["Err", "or"]
    assert "n next · N before" in book.status
    book.press(b"n")
    assert "lines 6–15 of 100" in book.status
    book.press(b"n")  # around
    assert "lines 91–100 of 100 · found, around the end" in book.status
    book.press(b"N")
    assert "lines 6–15 of 100 · found, around" in book.status
    book.press(b"N")
    assert "lines 46–55 of 100" in book.status
    book.press(b"g")
    book.press(b"/error\r")
    assert "lines 6–15 of 100" in book.status


def test_a_capital_means_what_it_says() -> None:
    book = Book()
    book.lines[10] = (Span("an Error"),)
    book.press(b"/ERROR\r")
    assert "not found: ERROR" in book.status
    assert book.top == "line 81"
    book.press(b"/Err\r")
    assert "an Error" in book.rows
    assert isinstance(book.asked[-2], Find)
    assert book.asked[-2].exact


def test_a_line_in_view_is_found_without_a_move_and_others_are_marked_less() -> None:
    book = Book()
    book.press(b"/line 85\r")
    assert book.top == "line 81"
    assert marked(book) == ["line 85"]
    book.press(b"/8\r")
    assert marked(book) == ["8"]
    spans = [span for line in book.shown.styled_lines()[:10] for span in line]
    assert "".join(span.text for span in spans if span.inverse) == "8" * 9


def test_what_is_typed_is_seen_can_be_corrected_and_given_up() -> None:
    book = Book()
    book.press(b"/lime\x7f\x7fne 9")
    assert book.status == "/line 9"
    assert book.shown.cursor().visible
    assert (book.shown.cursor().row, book.shown.cursor().col) == (ROWS - 1, 7)
    book.press(b"\x15what")
    assert book.status == "/what"
    book.press(b"\x1b")
    assert "looking back" in book.status
    assert not book.back.over
    book.press(b"/a\x7f")
    assert book.status == "/"
    book.press(b"\x7f")
    assert "looking back" in book.status
    book.press(b"/\x1b[200~q\rx\x1b[201~")
    assert book.status == "/qx"
    book.press(b"\x03")
    assert "looking back" in book.status
    assert not [one for one in book.asked if isinstance(one, Find)]


def test_nothing_typed_finds_the_last_text_again() -> None:
    book = Book()
    book.press(b"n/\r")
    assert book.top == "line 81"
    book.press(b"/line 20\r")
    book.press(b"G?\r")
    assert "line 20" in book.rows
    assert not book.back.over


@pytest.mark.parametrize(
    ("report", "lines"),
    [(b"\x1b[<64;3;4M", -3), (b"\x1b[<65;3;4M", 3), (b"\x1b[<0;3;4M", 0), (b"\x1b[M`!!", 0)],
)
def test_the_wheel_is_told_from_buttons(report: bytes, lines: int) -> None:
    assert wheel_lines(report) == lines
