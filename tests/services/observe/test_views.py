"""What is read of a session: budgets, generations, and what came since."""

import asyncio
from typing import Any, Literal

import msgspec
import pytest

from nacre.core.operations.results import SessionDetails, SessionList
from nacre.core.operations.terminal import GetScreen, GetScrollback, ReadOutput
from nacre.core.screen.screen import Line, Span
from nacre.core.text.budget import json_size
from nacre.errors import BadParameter
from nacre.services.observe import views
from nacre.services.observe.lists import fit_details, fit_list, fit_page, place_of, read_cursor
from nacre.services.observe.views import position, text_since
from nacre.services.session.session import Session
from nacre.wording import OPERATIONS, Hint, Use

from services.living import (
    CALLER,
    PROMPT,
    at_prompt,
    ended,
    living,
    shows,
    start,
    start_python,
    start_shell,
    until,
)

pytestmark = pytest.mark.anyio

# --- the budget --------------------------------------------------------------------------------


# Each cell in a colour of its own, on 40 lines: 30 of them scroll off a screen of 10 rows.
RAINBOW = (
    'awk \'BEGIN { for (y = 0; y < 40; y++) { if (y) printf "\\n"; for (x = 0; x < 80; x++) '
    'printf "\\033[38;2;%d;%d;%dm%d", x, y, x + y, x % 10 } }\''
)
DIGITS = "0123456789" * 8


def size(result: Any) -> int:
    """How many characters an answer is, in the words of the doors that have the longest."""
    return len(msgspec.json.encode(result, enc_hook=OPERATIONS.encode).decode())


async def test_budget_of_a_screen_cuts_from_the_top() -> None:
    async with living() as services:
        session = await ended(await start(services, "seq 1 499; printf 500", rows=200, name="dev"))
        request = GetScreen(session="dev", format="plain", max_chars=600)
        screen = await services.sessions.screen(CALLER, request)
        count = len(screen.lines)
        assert list(screen.lines) == [str(number) for number in range(501 - count, 501)]
        assert 0 < count == 200 - screen.omitted_lines
        assert 580 < size(screen) <= 600
        assert "max_chars" in OPERATIONS.hint(screen.hint)  # type: ignore[arg-type]  # it is one
        assert screen.generation == session.generation


async def test_styled_screen_over_the_budget_keeps_its_text_and_says_so() -> None:
    async with living() as services:
        await ended(await start(services, RAINBOW, rows=10, name="dev"))
        ask = services.sessions.screen
        screen = await ask(CALLER, GetScreen(session="dev"))
        assert list(screen.lines) == [(Span(DIGITS),)] * 10
        assert (screen.omitted_styles, screen.omitted_lines) == (True, 0)
        assert size(screen) <= 1700
        assert "the styles are left out" in str(screen.hint)
        whole = await ask(CALLER, GetScreen(session="dev", max_chars=100_000))
        assert [len(line) for line in whole.lines] == [80] * 10
        assert (whole.omitted_styles, whole.hint) == (False, None)
        exact = await ask(CALLER, GetScreen(session="dev", max_chars=size(whole) + 1))
        assert exact == whole


async def test_styled_scrollback_over_the_budget_gives_up_styles_before_lines() -> None:
    async with living() as services:
        await ended(await start(services, RAINBOW, rows=10, name="dev"))
        ask = services.sessions.scrollback
        above = await ask(CALLER, GetScrollback(session="dev"))
        assert list(above.lines) == [(Span(DIGITS),)] * 30
        assert (above.omitted_styles, above.omitted_lines, above.total) == (True, 0, 30)
        few = await ask(CALLER, GetScrollback(session="dev", offset=3, limit=2))
        assert [len(line) for line in few.lines] == [80, 80]
        assert (few.omitted_styles, few.hint) == (False, None)
        short = await ask(CALLER, GetScrollback(session="dev", offset=5, max_chars=1000))
        assert len(short.lines) + short.omitted_lines == 25
        assert short.omitted_lines
        assert size(short) <= 1000
        rest = {"session": "dev", "offset": 5 + len(short.lines)}
        assert isinstance(short.hint, Hint)
        assert short.hint.next[0] == Use("get_scrollback", "read on", rest)


@pytest.mark.parametrize("budget", [700, 1500, 5000, 30_000])
@pytest.mark.parametrize("form", ["plain", "styled"])
async def test_no_answer_is_over_its_budget(form: Literal["plain", "styled"], budget: int) -> None:
    awkward = (
        r"""yes "$(printf 'tab\t"quoted" back\\slash \033[31mred\033[0m 漢字')" | head -n 3000"""
    )
    async with living() as services:
        await ended(await start(services, awkward, rows=50, name="dev"))
        sessions, asked = services.sessions, {"session": "dev", "max_chars": budget}
        screen = await sessions.screen(CALLER, GetScreen(format=form, **asked))  # type: ignore[arg-type]
        above = await sessions.scrollback(
            CALLER,
            GetScrollback(format=form, limit=3000, **asked),  # type: ignore[arg-type]
        )
        output = await sessions.output(CALLER, ReadOutput(lines=3000, **asked))  # type: ignore[arg-type]
        assert max(map(size, (screen, above, output))) <= budget
        assert len(above.lines) + above.omitted_lines == above.total
        assert output.lines == len(output.output.split("\n")) == 3000 - output.omitted_lines


async def test_a_last_line_of_scrollback_that_is_cut_is_told() -> None:
    async with living() as services:
        session = await ended(await start(services, "printf %0150d 0; seq 30", rows=5, cols=200))
        same: dict[str, Any] = {"session": session.identity.id, "format": "plain", "limit": 1}
        cut = await services.sessions.scrollback(CALLER, GetScrollback(**same, max_chars=60))
        assert "characters left out" in str(cut.lines[0])
        assert str(cut.hint).startswith("a part of the line is left out")
        whole = await services.sessions.scrollback(CALLER, GetScrollback(**same))
        assert (whole.lines, whole.hint) == (["0" * 150 + "1"], None)


async def test_pages_of_scrollback_are_read_on_to_the_end_however_small() -> None:
    async with living() as services:
        await ended(await start(services, "seq 1 60", rows=10, name="dev"))
        read: list[object] = []
        while True:
            request = GetScrollback(session="dev", format="plain", offset=len(read), max_chars=1)
            page = await services.sessions.scrollback(CALLER, request)
            read += page.lines
            if not page.omitted_lines:
                break
        assert read == [str(number) for number in range(1, 52)]


# --- lists -------------------------------------------------------------------------------------


def listed(number: int, *, alive: bool = True) -> SessionDetails:
    name = f"session-{number}"
    return SessionDetails(
        name=name,
        session_id=f"{number:08x}",
        port=20000 + number,
        pid=number,
        command=f"bash -c '{'x' * 300}'",
        shell="bash",
        rows=24,
        cols=80,
        running=alive,
        alive=alive,
        idle_seconds=5,
        state="prompt",
        cwd="/home/somebody/some/where",
    )


def test_long_list_has_the_main_facts_of_each_session() -> None:
    few = [listed(number) for number in range(10)]
    assert fit_list(few, 30_000) == SessionList(sessions=few)
    many = fit_list([listed(number) for number in range(80)], 30_000)
    assert size(many) <= 30_000
    assert (len(many.sessions), many.omitted_sessions) == (80, 0)
    encoded = msgspec.json.decode(msgspec.json.encode(many.sessions[7]))
    assert (encoded["name"], encoded["details_left_out"]) == ("session-7", True)
    assert "characters left out" in encoded["command"]
    assert "cwd" not in encoded


def test_of_many_sessions_only_those_are_measured_that_may_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measured: list[object] = []

    def measure(one: object) -> int:
        measured.append(one)
        return json_size(one)

    monkeypatch.setattr(views, "json_size", measure)
    many = fit_list([listed(number) for number in range(2000)], 30_000)
    assert 0 < len(many.sessions) < 400
    assert len(measured) < 400


@pytest.mark.parametrize("budget", [30_000, 5000])
def test_of_a_list_that_is_still_too_long_sessions_are_left_out_and_counted(budget: int) -> None:
    many = [listed(number, alive=number % 2 == 0) for number in range(160)]
    short = fit_list(many, budget)
    assert budget - 400 < size(short) <= budget
    assert len(short.sessions) + short.omitted_sessions == 160
    running = sum(one.alive for one in short.sessions)
    assert running == min(80, len(short.sessions)), "those that run come first"
    ports = [one.port for one in short.sessions]
    assert ports == sorted(ports)
    assert f"{short.omitted_sessions} sessions are left out" in str(short.hint)


def test_one_session_with_long_tags_is_within_the_budget_and_says_what_is_missing() -> None:
    one = msgspec.structs.replace(listed(1), tags=["t" * 100] * 1000, command="c" * 50_000)
    short = fit_details(one, 30_000)
    assert 29_000 < size(short) <= 30_000
    assert 0 < len(short.tags) < 1000
    assert "tags are left out" in str(short.notice)
    assert fit_details(listed(1), 30_000) == listed(1)


# --- generations -------------------------------------------------------------------------------


async def test_nothing_is_sent_when_nothing_changed() -> None:
    async with living() as services:
        session = await ended(await start(services, "seq 1 50", name="dev"))
        now = session.generation
        same: dict[str, Any] = {"session": "dev", "since_generation": now}
        screen = await services.sessions.screen(CALLER, GetScreen(**same))
        above = await services.sessions.scrollback(CALLER, GetScrollback(**same))
        output = await services.sessions.output(CALLER, ReadOutput(**same))
        assert (screen.unchanged, list(screen.lines), screen.generation) == (True, [], now)
        assert (above.unchanged, list(above.lines), above.total) == (True, [], 27)
        assert (output.unchanged, output.output) == (True, "")


async def test_all_is_sent_when_something_changed() -> None:
    async with living() as services:
        session = await ended(await start(services, "seq 1 50", name="dev"))
        older: dict[str, Any] = {"session": "dev", "since_generation": session.generation - 1}
        screen = await services.sessions.screen(CALLER, GetScreen(**older))
        above = await services.sessions.scrollback(CALLER, GetScrollback(**older))
        output = await services.sessions.output(CALLER, ReadOutput(**older))
        assert [found.unchanged for found in (screen, above, output)] == [False] * 3
        assert len(screen.lines) == 24
        assert output.lines == 50


async def test_generation_grows_with_output_and_resize_only() -> None:
    async with living() as services:
        session = await start(services, "stty -echo; echo ready; exec cat", name="dev")
        await shows(session, "ready")
        before = session.generation
        await services.sessions.screen(CALLER, GetScreen(session="dev"))
        assert session.generation == before
        session.display.resize(30, 100)
        assert session.generation == before + 1
        session.write(b"hello\n")
        await shows(session, "hello")
        assert session.generation > before + 1


# --- scrollback and output ---------------------------------------------------------------------


async def test_scrollback_counts_from_the_oldest_line_and_excludes_the_screen() -> None:
    async with living() as services:
        await ended(await start(services, "seq 1 100", rows=10, name="dev"))

        async def read(offset: int, limit: int) -> list[str]:
            request = GetScrollback(session="dev", offset=offset, limit=limit, format="plain")
            found = await services.sessions.scrollback(CALLER, request)
            assert found.total == 91
            return [str(line) for line in found.lines]

        assert await read(0, 3) == ["1", "2", "3"]
        assert await read(89, 10) == ["90", "91"]
        assert await read(91, 10) == []
        assert await read(1000, 10) == []
        assert await read(0, 0) == []


@pytest.mark.parametrize(
    ("lines", "first", "count"), [(0, None, 0), (1, "100", 1), (15, "86", 15), (500, "1", 100)]
)
async def test_output_is_the_last_lines_of_scrollback_and_screen(
    lines: int, first: str | None, count: int
) -> None:
    async with living() as services:
        await ended(await start(services, "seq 1 100", rows=10, name="dev"))
        output = await services.sessions.output(CALLER, ReadOutput(session="dev", lines=lines))
        assert output.lines == count
        assert output.output.split("\n")[0] == (first or "")


# --- what came since ---------------------------------------------------------------------------


async def run(session: Session, line: str) -> str:
    """Type a line at the prompt; return what was rendered until the prompt is there again."""
    at, col = position(session), session.terminal.cursor().col
    session.write(line.encode() + b"\r")
    await until(session, lambda: position(session) > at)
    await at_prompt(session)
    return text_since(session, at, col)[0]


async def test_what_was_printed_since_is_returned_from_the_cursor_on() -> None:
    async with living() as services:
        session = await start_shell(services)
        assert await run(session, "echo one") == f"echo one\none\n{PROMPT}"
        assert await run(session, "echo two; echo; echo three") == (
            f"echo two; echo; echo three\ntwo\n\nthree\n{PROMPT}"
        )


async def test_output_that_scrolled_away_is_returned_too() -> None:
    async with living() as services:
        session = await start_shell(services, rows=5)
        numbers = "\n".join(map(str, range(1, 301)))
        for _ in range(2):
            assert await run(session, "seq 1 300") == f"seq 1 300\n{numbers}\n{PROMPT}"


async def test_output_that_fell_out_of_the_scrollback_is_missing_at_its_beginning() -> None:
    async with living(scrollback=100) as services:
        session = await start_shell(services, rows=5)
        await run(session, "seq 1 5000")
        at = position(session)
        lines = (await run(session, "seq 1 5000")).splitlines()
        assert text_since(session, at, 0)[1] == 5002 - len(lines), "what is lost is counted"
        assert lines[-2:] == ["5000", PROMPT]
        assert 100 <= len(lines) <= 105
        assert lines[:-1] == [str(number) for number in range(5002 - len(lines), 5001)]


async def test_screen_that_was_cleared_shows_only_what_is_newer() -> None:
    async with living() as services:
        session = await start_shell(services)
        await run(session, "seq 1 10")
        at, col = position(session), session.terminal.cursor().col
        session.write(b"clear; echo x\r")
        await until(session, lambda: position(session) < at)
        await at_prompt(session)
        assert text_since(session, at, col) == (f"x\n{PROMPT}", 0)


async def test_output_after_a_prompt_with_wide_characters_is_whole() -> None:
    async with living() as services:
        prompt = "stty -echo; printf '漢字> '; read x; echo hello"
        session = await start(services, prompt)
        await until(session, lambda: session.terminal.cursor().col == len("漢字> ") + 2)
        at, col = position(session), session.terminal.cursor().col
        session.write(b"\n")
        await ended(session)
        assert text_since(session, at, col) == ("hello", 0)


async def test_nothing_is_returned_while_a_full_screen_program_shows() -> None:
    async with living() as services:
        session = await start_shell(services, name="dev")
        at, col = position(session), session.terminal.cursor().col
        session.write(b"printf '\\033[?1049h'; echo inside\r")
        await until(session, lambda: session.terminal.alternate)
        assert text_since(session, at, col) == ("", 0)
        screen = await services.sessions.screen(CALLER, GetScreen(session="dev"))
        assert screen.mode == "alt"


async def test_what_was_there_before_a_full_screen_program_is_not_what_came_after_it() -> None:
    async with living() as services:
        session = await start_shell(services)
        await run(session, "seq 1 200")
        session.write(b"printf '\\033[?1049h\\033[H'; read x; printf '\\033[?1049l'\r")
        await until(session, lambda: session.terminal.alternate)
        at, col = position(session), session.terminal.cursor().col
        session.write(b"go\r")
        await until(session, lambda: not session.terminal.alternate)
        await at_prompt(session)
        assert not {"1", "50", "150"} & set(text_since(session, at, col)[0].splitlines())


async def test_position_is_the_number_of_the_cursor_s_line_from_the_first() -> None:
    async with living(scrollback=50) as services:
        session = await ended(await start(services, "seq 1 3000", rows=10))
        assert position(session) == 3000
        assert text_since(session, 2997, 0) == ("2998\n2999\n3000", 0)
        assert text_since(session, 2997, 2) == ("98\n2999\n3000", 0)


async def test_details_follow_the_session() -> None:
    async with living() as services:
        session: Session = await start(
            services, "printf '\\033]2;a title\\007'; echo x; read x; kill -9 $$", name="dev"
        )
        await shows(session, "x")
        screen = await services.sessions.screen(CALLER, GetScreen(session="dev"))
        assert screen.title == "a title"
        session.write(b"\n")
        await ended(session)
        assert session.ending is not None
        assert (session.ending.exit_code, session.ending.signal) == (None, "SIGKILL")


# --- in parts ----------------------------------------------------------------------------------


def _text(line: str | Line) -> str:
    return line if isinstance(line, str) else "".join(span.text for span in line)


COLOURED = "for n in range({}): print(f'\\x1b[3{{n % 8}}mline {{n}}\\x1b[0m')"


async def test_the_loop_goes_on_while_a_long_scrollback_is_read() -> None:
    async with living() as services:
        session = await start_python(services, COLOURED.format(2000))
        await ended(session)
        wish = GetScrollback(session=session.identity.id, limit=2000, max_chars=10_000_000)
        reading = asyncio.create_task(services.sessions.scrollback(CALLER, wish))
        turns = 0
        while not reading.done():
            await asyncio.sleep(0)
            turns += 1
        assert turns >= 19, "a hundred lines in each"
        got = reading.result().lines
        assert [_text(line) for line in got[:2]] == ["line 0", "line 1"]
        assert len(got) == session.terminal.scrollback_total


async def test_the_loop_goes_on_while_many_last_lines_are_read() -> None:
    async with living(scrollback=4000) as services:
        session = await start_python(services, COLOURED.format(3000) + "\ninput()")
        await until(session, lambda: "line 2999" in session.terminal.plain_lines())
        wish = ReadOutput(session=session.identity.id, lines=3000, max_chars=10_000_000)
        reading = asyncio.create_task(services.sessions.output(CALLER, wish))
        await asyncio.sleep(0)
        session.screen.feed(b"".join(b"later %d\r\n" % number for number in range(300)))
        turns = 0
        while not reading.done():
            await asyncio.sleep(0)
            turns += 1
        assert turns >= 5, "five hundred lines in each"
        assert reading.result().output.split("\n") == [f"line {n}" for n in range(3000)]


@pytest.mark.parametrize("form", ["styled", "plain"])
async def test_lines_that_are_printed_meanwhile_do_not_move_what_is_read(
    form: Literal["styled", "plain"],
) -> None:
    async with living(scrollback=2000) as services:
        session = await start_python(services, COLOURED.format(3000) + "\ninput()")
        await until(session, lambda: "line 2999" in session.terminal.plain_lines())
        before = session.terminal.scrollback_plain(500, 1500)
        wish = GetScrollback(
            session=session.identity.id, offset=500, limit=1500, format=form, max_chars=10_000_000
        )
        reading = asyncio.create_task(services.sessions.scrollback(CALLER, wish))
        await asyncio.sleep(0)
        session.screen.feed(b"".join(b"later %d\r\n" % number for number in range(300)))
        got = (await reading).lines
        assert [_text(line) for line in got] == before


async def test_lines_that_are_dropped_before_they_are_read_are_counted_as_left_out() -> None:
    async with living(scrollback=2000) as services:
        session = await start_python(services, COLOURED.format(3000) + "\ninput()")
        await until(session, lambda: "line 2999" in session.terminal.plain_lines())
        wish = GetScrollback(
            session=session.identity.id, limit=2000, format="plain", max_chars=10_000_000
        )
        reading = asyncio.create_task(services.sessions.scrollback(CALLER, wish))
        await asyncio.sleep(0)
        session.screen.feed(b"".join(b"later %d\r\n" % number for number in range(5000)))
        got = await reading
        assert 0 < len(got.lines) < 2000
        assert got.omitted_lines == 2000 - len(got.lines)


async def test_a_line_that_the_width_has_broken_is_joined_if_that_is_asked_for() -> None:
    async with living() as services:
        session = await start(services, "seq 5; printf '%0200d\\n' 7; echo end; exec cat", cols=20)
        await shows(session, "end")
        for lines in (2, 3):
            output = await services.sessions.output(
                CALLER, ReadOutput(session=session.identity.id, lines=lines, join=True)
            )
            assert output.output.split("\n") == ["5", f"{7:0200d}", "end"][-lines:]


@pytest.mark.parametrize("budget", [300, 2_000, 30_000])
def test_pages_of_a_list_have_every_session_once_within_the_budget(budget: int) -> None:
    sessions = [
        msgspec.structs.replace(listed(number), host="a", created=float(number))
        for number in range(70)
    ]
    seen: list[str] = []
    left = sessions
    while left:
        page = fit_page(left[:20], budget, more=len(left) > 20)
        assert json_size(page) <= budget or len(page.sessions) == 1
        seen += [one.session_id for one in page.sessions]
        if page.next_cursor is None:
            break
        after = read_cursor(page.next_cursor)
        left = [one for one in sessions if place_of(one) > after]
    assert seen == [one.session_id for one in sessions]


@pytest.mark.parametrize("cursor", ["", "x", "a/b/c", "a/1", "a/1/b/c", "//"])
def test_what_is_no_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(BadParameter, match="cursor"):
        read_cursor(cursor)
