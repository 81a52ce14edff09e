"""What is read of a session: budgets, generations, and what came since."""

from typing import Any

import pytest

from nacre.core.operations import GetScreen, GetScrollback, ReadOutput
from nacre.core.screen import Span
from nacre.services.session import Session
from nacre.services.views import position, text_since, within_budget

from services.living import (
    CALLER,
    PROMPT,
    at_prompt,
    ended,
    living,
    shows,
    start,
    start_shell,
    until,
)

pytestmark = pytest.mark.anyio

# --- the budget --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("max_chars", "kept"),
    [
        (100, ["aaaa", "bb", "", "cccc"]),
        (13, ["aaaa", "bb", "", "cccc"]),  # the characters, and a newline between two lines
        (12, ["bb", "", "cccc"]),
        (8, ["bb", "", "cccc"]),
        (7, ["", "cccc"]),
        (4, ["cccc"]),
        (3, []),
        (1, []),
    ],
)
def test_last_lines_that_fit_are_kept_and_the_rest_is_counted(
    max_chars: int, kept: list[str]
) -> None:
    lines = ["aaaa", "bb", "", "cccc"]
    assert within_budget(lines, max_chars) == (kept, 4 - len(kept))
    styled = [(Span(line[:1]), Span(line[1:])) if line else () for line in lines]
    assert within_budget(styled, max_chars)[1] == 4 - len(kept)


async def test_budget_of_a_screen_cuts_from_the_top() -> None:
    async with living() as services:
        session = await ended(await start(services, "seq 1 5; printf end", rows=6, name="dev"))
        screen = await services.sessions.screen(
            CALLER, GetScreen(session="dev", format="plain", max_chars=7)
        )
        assert (screen.lines, screen.omitted_lines) == (["4", "5", "end"][-3:], 3)
        assert screen.generation == session.generation


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
        session.stage.resize(30, 100)
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
    return text_since(session, at, col)


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
        lines = (await run(session, "seq 1 5000")).splitlines()
        assert lines[-2:] == ["5000", PROMPT]
        assert 100 <= len(lines) <= 105
        assert lines[:-1] == [str(number) for number in range(5002 - len(lines), 5001)]


async def test_output_after_a_prompt_with_wide_characters_is_whole() -> None:
    async with living() as services:
        prompt = "stty -echo; printf '漢字> '; read x; echo hello"
        session = await start(services, prompt)
        await until(session, lambda: session.terminal.cursor().col == len("漢字> ") + 2)
        at, col = position(session), session.terminal.cursor().col
        session.write(b"\n")
        await ended(session)
        assert text_since(session, at, col) == "hello"


async def test_nothing_is_returned_while_a_full_screen_program_shows() -> None:
    async with living() as services:
        session = await start_shell(services, name="dev")
        at, col = position(session), session.terminal.cursor().col
        session.write(b"printf '\\033[?1049h'; echo inside\r")
        await until(session, lambda: session.terminal.alternate)
        assert text_since(session, at, col) == ""
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
        assert not {"1", "50", "150"} & set(text_since(session, at, col).splitlines())


async def test_position_is_the_number_of_the_cursor_s_line_from_the_first() -> None:
    async with living(scrollback=50) as services:
        session = await ended(await start(services, "seq 1 3000", rows=10))
        assert position(session) == 3000
        assert text_since(session, 2997, 0) == "2998\n2999\n3000"
        assert text_since(session, 2997, 2) == "98\n2999\n3000"
        assert text_since(session, 5000, 0) == ""


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
