"""screen, scrollback, read, wait."""

from collections.abc import Iterator

import pytest

from cli.conftest import Nacre

COLORS = r"printf '\033[1;31mred\033[0m \033[38;2;1;2;3mrgb\033[0m plain'; exec cat"


@pytest.fixture
def numbers(running: Nacre) -> Iterator[str]:
    """A session of ten rows that has printed 1 to 100."""
    running.call("create_session", name="numbers", command="seq 100; exec cat", rows=10)
    running.until_line("numbers", "100")
    yield "numbers"
    running.call("manage_session", session="numbers", action="kill")


@pytest.fixture
def colored(running: Nacre) -> Iterator[str]:
    running.call("create_session", name="colored", command=COLORS)
    running.until("colored", "plain")
    yield "colored"
    running.call("manage_session", session="colored", action="kill")


def test_screen_prints_the_text_without_its_empty_rest(nacre: Nacre, echo: str) -> None:
    assert nacre.ok("screen", echo) == "ready\n"


def test_screen_with_json_is_the_operations_result(nacre: Nacre, echo: str) -> None:
    screen = nacre.json("screen", echo)
    assert screen["lines"][0] == "ready"
    assert (screen["rows"], screen["cols"], screen["mode"]) == (24, 80, "normal")
    assert screen["cursor"]["row"] == 1


def test_screen_styled_rebuilds_colours(nacre: Nacre, colored: str) -> None:
    expected = "\x1b[1;31mred\x1b[0m \x1b[38;2;1;2;3mrgb\x1b[0m plain\n"
    assert nacre.ok("screen", colored, "--styled") == expected
    assert nacre.ok("screen", colored) == "red rgb plain\n"


def test_no_color_leaves_attributes_and_takes_colours(nacre: Nacre, colored: str) -> None:
    assert nacre.ok("screen", colored, "--styled", NO_COLOR="1") == "\x1b[1mred\x1b[0m rgb plain\n"


def test_screen_styled_with_json_has_spans(nacre: Nacre, colored: str) -> None:
    first = nacre.json("screen", colored, "--styled")["lines"][0][0]
    assert first == {"text": "red", "fg": "red", "bold": True}


def test_screen_tells_how_cells_look(nacre: Nacre, colored: str) -> None:
    assert nacre.ok("screen", colored, "--cells", "red") == "0,0\t'red'\tfg=red bold\n"
    assert nacre.ok("screen", colored, "--cells", "0,4,1,3") == "0,4\t'rgb'\tfg=#010203\n"


def test_screen_has_hashes(nacre: Nacre, colored: str) -> None:
    text, styled = nacre.ok("screen", colored, "--hash").splitlines()
    assert (text.split()[1], styled.split()[1]) == ("text", "styled")
    assert len(text.split()[0]) == 64
    assert nacre.json("screen", colored, "--hash")["text_hash"] == text.split()[0]


def test_screen_sends_no_lines_when_nothing_changed(nacre: Nacre, echo: str) -> None:
    now = str(nacre.generation(echo))
    screen = nacre.json("screen", echo, "--since-generation", now)
    assert screen["unchanged"] is True
    assert nacre.ok("screen", echo, "--since-generation", now) == ""


def test_scrollback_counts_from_the_oldest_line(nacre: Nacre, numbers: str) -> None:
    assert nacre.ok("scrollback", numbers, "--offset", "4", "--limit", "2") == "5\n6\n"
    scrollback = nacre.json("scrollback", numbers, "--limit", "3")
    assert scrollback["lines"] == ["1", "2", "3"]
    assert scrollback["total"] == 91


def test_read_prints_the_last_lines(nacre: Nacre, numbers: str) -> None:
    assert nacre.ok("read", numbers, "--lines", "12").split()[0] == "89"
    output = nacre.json("read", numbers, "--lines", "2")
    assert (output["output"], output["lines"]) == ("99\n100", 2)


def test_read_keeps_to_its_budget(nacre: Nacre, numbers: str) -> None:
    output = nacre.json("read", numbers, "--max-chars", "200")
    assert output["output"].endswith("99\n100")
    assert output["omitted_lines"] == 100 - output["lines"] > 50
    assert "--max-chars" in output["hint"]


def test_a_number_that_was_cut_is_told(nacre: Nacre, numbers: str) -> None:
    told = "limit was cut from 20000 to 10000, the most that there is"
    assert nacre.json("scrollback", numbers, "--limit", "20000")["notice"] == told
    ran = nacre("scrollback", numbers, "--limit", "20000")
    assert (ran.returncode, ran.stderr) == (0, f"nacre: {told}\n")


def test_without_json_all_is_printed_that_there_is(nacre: Nacre) -> None:
    nacre.ok("new", "long", "--", "sh", "-c", "seq -f '%079.0f' 1 1000; exec cat")
    nacre.ok("wait", "long", "--text", f"{1000:079}")
    assert len(nacre.ok("scrollback", "long", "--limit", "5000").splitlines()) == 977
    assert len(nacre.json("scrollback", "long", "--limit", "5000")["lines"]) < 400


def test_read_of_an_ended_session_works(nacre: Nacre, ended: str) -> None:
    assert nacre.ok("read", ended) == "last words\n"


def test_read_prints_nothing_when_nothing_changed(nacre: Nacre, echo: str) -> None:
    now = str(nacre.generation(echo))
    assert nacre.ok("read", echo, "--since-generation", now) == ""


def test_wait_returns_when_it_is_quiet(nacre: Nacre, echo: str) -> None:
    assert nacre.ok("wait", echo, "--timeout-ms", "20") == ""
    quiesced = nacre.json("wait", echo, "--timeout-ms", "20")
    assert quiesced == {"generation": nacre.generation(echo)}


def test_wait_times_out_with_124(nacre: Nacre, echo: str) -> None:
    now = str(nacre.generation(echo))
    nacre.fails("TIMEOUT", 124, "wait", echo, "--last-generation", now, "--max-wait-ms", "50")


def test_wait_refuses_what_is_no_number(nacre: Nacre, echo: str) -> None:
    nacre.fails("INVALID_INPUT", 2, "wait", echo, "--timeout-ms", "soon")
