"""Looking back in `nacre attach`, on a real pseudo-terminal, with a real daemon or a played one."""

import base64
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from conftest import Daemon
from nacre.cli.attach.own_keys import SHIFT_PAGE_UP, OwnKey, OwnKeys, first_pressed
from nacre.errors import InvalidInput
from restarts import PlayedDaemon, crash

from cli.attach.test_attach import let_in, paint, typed
from cli.conftest import Nacre
from cli.person import DETACH, Person

BACK = b"\x1f"  # Ctrl+_
PAGE_UP, PAGE_DOWN = b"\x1b[5~", b"\x1b[6~"
SHIFTED = b"\x1b[5;2~"
CONTROL = b"\x1e"  # Ctrl+^

# Lines 1 to 300, the odd ones red, and then what is typed.
PRINTS = (
    r"stty -echo; for i in $(seq 1 300); do printf '\033[%dmline %d\033[m\n' $((30 + i % 2)) $i; "
    "done; echo ready; exec cat"
)


@pytest.fixture
def session(running: Nacre, request: pytest.FixtureRequest) -> Iterator[str]:
    command = getattr(request, "param", PRINTS)
    running.call("create_session", name="book", command=command)
    running.until_line("book", "ready")
    yield "book"
    running.call("manage_session", session="book", action="kill")


def status(person: Person) -> str:
    return person.screen.plain_lines()[-1]


def looks_at(person: Person, first: int, last: int) -> None:
    """Return when lines with these numbers are shown, and the status says so."""
    person.see(lambda: f"lines {first}–{last} of " in status(person))
    lines = [f"line {n}" for n in range(first, last + 1)]
    person.see(lambda: person.screen.plain_lines()[:-1] == lines)


def sees_live(person: Person) -> None:
    person.see(lambda: "looking back" not in person.text and "detaches" in status(person))


def screen_of(person: Person) -> tuple[object, ...]:
    screen = person.screen
    return screen.styled_lines(), screen.cursor(), screen.modes()


# --- enter, scroll, leave ----------------------------------------------------------------------


@pytest.mark.parametrize("key", [BACK, SHIFTED, b"\x1b[57421;2u"])
@pytest.mark.parametrize("options", [(), ("--no-status",)])
def test_a_person_looks_back_and_sees_the_live_screen_again_exactly(
    running: Nacre,
    session: str,
    attach: Callable[..., Person],
    key: bytes,
    options: tuple[str, ...],
) -> None:
    person = attach(session, *options, rows=21, cols=60)
    person.sees("ready")
    person.type(b"\x1b[31mhello\r")  # without a line's end after it the cursor stands somewhere
    person.sees_line("hello")
    if options:  # the hint goes with the first key
        person.see(lambda: "detaches" not in person.text)
    before = screen_of(person)
    shown = before[0]
    person.type(key)
    # 300 lines, "ready", "hello" and the one with the cursor; the screen has 20 rows or 21.
    last = 303 - 19
    looks_at(person, last - 19, last)
    colors = [line[0].fg for line in person.screen.styled_lines()[:-1]]
    assert colors == ["black" if n % 2 == 0 else "red" for n in range(last - 19, last + 1)]
    assert not person.screen.cursor().visible
    person.type(PAGE_UP)
    looks_at(person, last - 38, last - 19)
    person.type(b"kk\x1b[A")
    looks_at(person, last - 41, last - 22)
    person.type(b"g")
    looks_at(person, 1, 20)
    assert status(person).startswith(" looking back: lines 1–20 of 303 · / find · q back")
    person.type(PAGE_DOWN)
    looks_at(person, 20, 39)
    person.type(b"q")
    person.see(lambda: screen_of(person) == before)
    assert person.screen.styled_lines() == shown
    person.type(b"typed\r")
    person.sees("typed")
    assert "kk" not in running.until(session, "typed")
    person.type(DETACH)
    assert person.leaves() == 0


def test_scrolling_down_beyond_the_end_leaves_and_what_follows_is_typed(
    running: Nacre, session: str, attach: Callable[..., Person]
) -> None:
    person = attach(session, rows=21, cols=60)
    person.sees("ready")
    person.type(BACK)
    person.see(lambda: "looking back" in status(person))
    person.type(b"G")
    person.sees("lines 283–302 of 302")
    person.type(b"jecho\r")
    sees_live(person)
    person.sees("echo")
    person.type(BACK + b"unknown keys do \x1b[15~ nothing here")
    # "k" and "n" among them: it moves, and nothing is typed.
    person.see(lambda: "looking back" in status(person))
    person.type(b"q" + b"after\r")
    sees_live(person)
    person.sees("after")
    assert "unknown" not in running.until(session, "after")


def test_the_same_key_leaves_again_and_the_control_key_leaves_and_takes_over(
    running: Nacre, session: str, attach: Callable[..., Person]
) -> None:
    person = attach(session, rows=21, cols=80)
    person.sees("ready")
    person.type(BACK)
    person.see(lambda: "looking back" in status(person))
    person.type(BACK)
    sees_live(person)
    person.type(BACK)
    person.see(lambda: "looking back" in status(person))
    person.type(CONTROL)
    person.see(lambda: "you drive" in status(person))
    assert "ready" in person.text


def test_one_who_only_looks_may_look_back(
    running: Nacre, session: str, attach: Callable[..., Person]
) -> None:
    person = attach(session, "--read-only", "--look-back-key", "ctrl+g", rows=21, cols=70)
    person.sees("ready")
    person.type(b"\x07g")
    looks_at(person, 1, 20)
    person.type(b"qtyped\r")
    sees_live(person)
    assert running.listed(session)["rows"] == 24


def test_lines_of_a_wider_session_are_cut_and_marked(
    running: Nacre, session: str, attach: Callable[..., Person]
) -> None:
    running.call("send_input", session=session, input="x" * 70 + "\r")
    running.until(session, "x" * 70)
    person = attach(session, "--read-only", rows=21, cols=40)
    person.sees("x" * 40)
    person.type(BACK + b"G")
    person.see(lambda: "x" * 39 + ">" in person.screen.plain_lines())


@pytest.mark.parametrize("extra", ["panel", "overlay"])
def test_panels_and_overlays_are_not_drawn(
    running: Nacre, session: str, attach: Callable[..., Person], extra: str
) -> None:
    person = attach(session, rows=21, cols=60)
    person.sees("ready")
    spans = [{"text": "an element"}]
    if extra == "panel":
        running.call("panel", session=session, position="top", height=2, spans=spans)
    else:
        running.call("overlay", session=session, spans=spans, x=20, y=1, width=10, height=1)
    person.sees("an element")
    person.type(BACK + b"g")
    looks_at(person, 1, 20)
    assert "an element" not in person.text
    person.type(b"q")
    person.sees("an element")


# --- finding -----------------------------------------------------------------------------------


def test_text_is_found_marked_and_found_again(
    running: Nacre, session: str, attach: Callable[..., Person]
) -> None:
    person = attach(session, rows=21, cols=70)
    person.sees("ready")
    person.type(BACK)
    person.see(lambda: "looking back" in status(person))
    person.type(b"?LINE")
    person.see(lambda: status(person) == "?LINE")
    person.type(b"\x7f\x7f\x7f\x7fline 12\r")
    looks_at(person, 119, 138)
    found = [line for line in person.screen.styled_lines() if line and line[0].bg == "yellow"]
    assert [line[0].text for line in found] == ["line 12"]
    assert person.screen.plain_lines()[10] == "line 129"
    person.type(b"n")
    person.see(lambda: [span.bg for span in person.screen.styled_lines()[9]] == ["yellow", None])
    person.type(b"/Line\r")
    person.sees("not found: Line")
    person.type(b"/ready\r")
    person.see(lambda: "ready" in person.screen.plain_lines())
    person.type(b"q")
    sees_live(person)


# --- what goes on meanwhile --------------------------------------------------------------------


@pytest.mark.parametrize("options", [(), ("--no-status",)])
def test_output_meanwhile_moves_nothing_and_is_all_there_then(
    running: Nacre, session: str, attach: Callable[..., Person], options: tuple[str, ...]
) -> None:
    person = attach(session, *options, rows=21, cols=60)
    person.sees("ready")
    person.type(BACK)
    looks_at(person, 264, 283)
    person.type(b"k")
    looks_at(person, 263, 282)
    for number in range(100):
        running.call("send_input", session=session, input=f"new {number}\r")
    running.until_line(session, "new 99")
    # The daemon has told all of that before it answers this; nothing of it is seen.
    person.type(b"kj")
    person.see(lambda: "lines 263–282 of 402" in status(person))
    looks_at(person, 263, 282)
    person.type(b"G")
    person.see(lambda: person.screen.plain_lines()[-3] == "new 99")
    person.type(b"q")
    person.see(lambda: "looking back" not in person.text and "new 99" in person.text)
    rows = 21 if options else 20
    live = running.call("get_screen", session=session, format="plain")["lines"]
    assert live[rows - 2] == "new 99"
    person.see(lambda: person.screen.plain_lines()[:rows] == live)


def test_the_terminal_may_change_its_size_meanwhile(
    running: Nacre, session: str, attach: Callable[..., Person]
) -> None:
    person = attach(session, rows=21, cols=60)
    person.sees("ready")
    person.type(BACK + b"g" + PAGE_DOWN)
    looks_at(person, 20, 39)
    person.resize(11, 50)
    looks_at(person, 20, 29)
    person.resize(31, 90)
    looks_at(person, 20, 49)
    assert running.listed(session)["rows"] == 20  # nothing flows anew under a reader's eyes
    person.type(b"q")
    sees_live(person)
    person.see(lambda: "ready" in person.text)
    details = running.listed(session)
    assert (details["rows"], details["cols"]) == (30, 90)
    live = running.call("get_screen", session=session, format="plain")["lines"]
    person.see(lambda: person.screen.plain_lines()[:30] == live)


FULL_SCREEN = (
    r"stty -echo; for i in $(seq 1 100); do echo line $i; done; printf '\033[?1049h\033[Hready\n'; "
    "cat -v"
)


@pytest.mark.parametrize("session", [FULL_SCREEN], indirect=True)
@pytest.mark.parametrize("options", [(), ("--no-status",)])
def test_in_a_full_screen_program_shift_page_up_is_its_own(
    running: Nacre, session: str, attach: Callable[..., Person], options: tuple[str, ...]
) -> None:
    person = attach(session, *options, rows=21, cols=70)
    person.sees("ready")
    person.type(SHIFTED + b"and more\r")
    person.sees("^[[5;2~and more")
    person.type(BACK)
    person.sees("a full-screen program has nothing to look back at")
    person.type(b"typed\r")
    person.sees("typed")
    person.see(lambda: "nothing to look back at" not in person.text)


@pytest.mark.parametrize(
    "session",
    [
        PRINTS.replace(
            "exec cat", r"read x; printf '\033[?1049hin front'; read x; printf '\033[?1049l'; cat"
        )
    ],
    indirect=True,
)
def test_a_full_screen_program_that_comes_meanwhile_hides_the_rest(
    running: Nacre, session: str, attach: Callable[..., Person]
) -> None:
    person = attach(session, rows=21, cols=80)
    person.sees("ready")
    person.type(BACK + b"g")
    looks_at(person, 1, 20)
    running.call("send_input", session=session, input="\r")
    running.until(session, "in front")
    person.type(PAGE_DOWN)
    person.sees("a full-screen program hides the rest")
    assert person.screen.plain_lines()[0] == "line 1"
    running.call("send_input", session=session, input="\r")
    running.until(session, "ready")
    person.type(PAGE_DOWN)
    looks_at(person, 20, 39)


def test_one_can_detach_while_looking_back(
    running: Nacre, session: str, attach: Callable[..., Person]
) -> None:
    person = attach(session, rows=21, cols=60)
    person.sees("ready")
    person.type(BACK)
    person.see(lambda: "looking back" in status(person))
    person.type(b"/find me" + DETACH)
    assert person.leaves() == 0
    assert f"detached from {session}; it is still running" in person.text


def test_the_end_of_the_session_is_told_to_who_looks_back(
    running: Nacre, attach: Callable[..., Person]
) -> None:
    running.call("create_session", name="ends", command="echo ready; read x; exit 3")
    person = attach("ends", rows=21, cols=60)
    person.sees("ready")
    person.type(BACK)
    person.see(lambda: "looking back" in status(person))
    running.call("send_input", session="ends", input="\r")
    assert person.leaves() == 3


# --- a daemon that dies ------------------------------------------------------------------------


def test_a_daemon_that_is_killed_meanwhile_breaks_nothing(
    own_daemon: Callable[..., Daemon], attach: Callable[..., Person]
) -> None:
    daemon = own_daemon()
    daemon.rest("POST", "/sessions", {"name": "dev", "command": PRINTS})
    person = attach("dev", env=daemon.env, rows=21, cols=60)
    person.sees("ready")
    person.type(BACK + b"g" + PAGE_DOWN)
    looks_at(person, 20, 39)
    crash(daemon)
    person.type(b"j")
    looks_at(person, 21, 40)
    person.type(b"/line 150\r")
    person.see(lambda: person.screen.plain_lines()[10] == "line 150")
    crash(daemon)
    person.type(b"q")
    sees_live(person)
    person.sees("ready")
    person.type(b"typed\r")
    person.sees("typed")
    person.type(DETACH)
    assert person.leaves() == 0


def lines_of(first: int, count: int, identifier: int) -> dict[str, Any]:
    lines = [[{"text": f"line {n + 1}"}] for n in range(first, first + count)]
    return {"id": identifier, "first": first, "lines": lines, "oldest": 0, "end": 100}


def asked(line: Any) -> dict[str, Any]:
    """Return the next question, and leave out what else comes."""
    while True:
        message: dict[str, Any] = line.read()
        if "look" in message:
            question: dict[str, Any] = message["look"]
            return question


def test_the_next_daemon_is_asked_for_the_same_page(
    played: PlayedDaemon, attach: Callable[..., Person]
) -> None:
    person = attach("dev", env=played.env, rows=11, cols=60)
    first = let_in(played)
    person.sees("first")
    person.type(BACK)
    question = asked(first)
    assert (question["first"], question["limit"]) == (None, 10)
    first.send({"look": lines_of(90, 10, question["id"])})
    question = asked(first)
    assert question["first"] == 81
    first.send({"look": lines_of(81, 10, question["id"])})
    looks_at(person, 82, 91)
    played.die(first)
    person.sees("the daemon was restarted; waiting")
    assert person.screen.plain_lines()[0] == "line 82"
    second = played.accept(door="attach")
    paint(second, "second")
    question = asked(second)
    assert question["first"] == 81
    second.send({"look": lines_of(81, 10, question["id"])})
    looks_at(person, 82, 91)
    person.type(b"k")
    second.send({"look": lines_of(80, 10, asked(second)["id"])})
    looks_at(person, 81, 90)
    assert "second" not in person.text
    person.type(b"q")
    while "refresh" not in second.read():
        pass
    output = base64.b64encode(b"old").decode()
    second.send({"output": output})
    paint(second, "third")
    person.sees("third")
    assert "old" not in person.text


def test_who_comes_back_and_is_refused_at_once_sees_the_session(
    played: PlayedDaemon, attach: Callable[..., Person]
) -> None:
    person = attach("dev", env=played.env, rows=11, cols=60)
    line = let_in(played)
    person.sees("first")
    person.type(BACK)
    for first in (90, 81):
        line.send({"look": lines_of(first, 10, asked(line)["id"])})
    looks_at(person, 82, 91)
    person.type(b"q" + BACK)
    identifier = asked(line)["id"]
    paint(line, "second")
    line.send({"look": {**lines_of(0, 0, identifier), "alternate": True}})
    person.sees("nothing to look back at")
    assert "second" in person.text
    person.type(b"typed")
    assert typed(line, 5) == b"typed"


def test_a_daemon_that_does_not_know_it_rings_the_bell_and_keys_go_on(
    played: PlayedDaemon, attach: Callable[..., Person]
) -> None:
    person = attach("dev", env=played.env, rows=11, cols=60)
    line = let_in(played)
    person.sees("first")
    person.type(BACK + b"held")
    asked(line)
    line.send({"error": {"code": "INVALID_INPUT", "message": "a line is input"}})
    assert person.hears_bell()
    assert typed(line, 4) == b"held"


@pytest.fixture
def played(tmp_path: Any) -> Iterator[PlayedDaemon]:
    daemon = PlayedDaemon(tmp_path)
    yield daemon
    daemon.close()


# --- keys --------------------------------------------------------------------------------------


def test_the_keys_must_differ_but_the_usual_one_makes_way() -> None:
    with pytest.raises(InvalidInput, match="both the control and the look-back key"):
        OwnKeys.parse("ctrl+]", "ctrl+^", "ctrl+^")
    with pytest.raises(InvalidInput, match="both the detach and the control key"):
        OwnKeys.parse("ctrl+a", "ctrl+a")
    with pytest.raises(InvalidInput, match="cannot be the look-back key"):
        OwnKeys.parse("ctrl+]", "ctrl+^", "pageup")
    assert OwnKeys.parse("ctrl+_", "ctrl+^").look_back is None
    assert OwnKeys.parse("ctrl+]", "ctrl+^").look_back is not None


@pytest.mark.parametrize(
    "code",
    [b"\x1f", b"\x1b[95;5u", b"\x1b[47;5u", b"\x1b[45;6u", b"\x1b[45:95;6u", b"\x1b[27;6;95~"],
)
def test_ctrl_underscore_is_found_as_terminals_send_it(code: bytes) -> None:
    assert OwnKey.parse("ctrl+_").split(b"a" + code + b"b") == (b"a", b"b")


@pytest.mark.parametrize("code", [b"\x1b[5;2~", b"\x1b[5;66~", b"\x1b[5;2:2~", b"\x1b[57421;2u"])
def test_shift_page_up_is_found_in_every_code(code: bytes) -> None:
    assert SHIFT_PAGE_UP.split(b"a" + code + b"b") == (b"a", b"b")


@pytest.mark.parametrize(
    "code", [b"\x1b[5~", b"\x1b[5;5~", b"\x1b[6;2~", b"\x1b[5;2:3~", b"\x1b[5;2u", b"\x1b[5;2R"]
)
def test_other_keys_are_not_shift_page_up(code: bytes) -> None:
    assert SHIFT_PAGE_UP.split(code) == (code, None)


def test_the_first_of_several_keys_is_the_one() -> None:
    one, other = OwnKey.parse("ctrl+a"), OwnKey.parse("ctrl+b")
    pressed = first_pressed([one, other], b"x\x1b[98;5uy\x01z")
    assert pressed == (b"x", other, b"\x1b[98;5u", b"y\x01z")
    assert first_pressed([one], b"none") == (b"none", None, b"", b"")


# --- the wheel ---------------------------------------------------------------------------------

WHEEL_UP, WHEEL_DOWN = b"\x1b[<64;5;5M", b"\x1b[<65;5;5M"


@pytest.mark.parametrize("options", [(), ("--no-status",)])
def test_the_wheel_looks_back_when_asked_to(
    running: Nacre, session: str, attach: Callable[..., Person], options: tuple[str, ...]
) -> None:
    person = attach(session, "--mouse", *options, rows=21, cols=60)
    person.sees("ready")
    person.see(lambda: person.screen.modes().mouse_tracking)
    person.type(b"\x1b[<0;5;5M\x1b[<0;5;5mtyped\r")  # no click is typed
    person.sees_line("typed")
    person.type(WHEEL_UP[:7])
    person.type(WHEEL_UP[7:])
    person.see(lambda: "lines 281–300 of 303" in status(person))
    person.type(WHEEL_UP * 2 + b"k")
    person.see(lambda: "lines 274–293 of 303" in status(person))
    person.type(WHEEL_DOWN * 5)  # the fourth reaches the end
    person.see(lambda: "looking back" not in person.text)
    person.see(lambda: person.screen.modes().mouse_tracking)
    person.type(b"after\r")
    assert "64" not in running.until(session, "after").replace("line 264", "")
    person.type(DETACH)
    assert person.leaves() == 0


@pytest.mark.parametrize(
    "session", [r"stty -echo; printf '\033[?1000h\033[?1006hready\n'; exec cat -v"], indirect=True
)
def test_a_program_that_asks_for_the_mouse_gets_the_wheel(
    running: Nacre, session: str, attach: Callable[..., Person]
) -> None:
    person = attach(session, "--mouse", rows=21, cols=60)
    person.sees("ready")
    person.type(WHEEL_UP + b"\r")
    person.sees("^[[<64;5;5M")


def test_without_being_asked_to_it_leaves_the_mouse_alone(
    running: Nacre, session: str, attach: Callable[..., Person]
) -> None:
    person = attach(session, rows=21, cols=60)
    person.sees("ready")
    person.type(BACK)
    person.see(lambda: "looking back" in status(person))
    assert not person.screen.modes().mouse_tracking
    person.type(b"qtyped\r")
    person.sees("typed")
    assert not person.screen.modes().mouse_tracking
