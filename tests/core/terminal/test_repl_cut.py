"""What of a REPL's output is the command's: neither its echo nor the prompt that follows."""

import pytest

from nacre.core.shell.repl_prompts import prompt_pattern
from nacre.core.terminal.repl_cut import ReplCut

ABOVE = ["$ python3", ">>> 1 + 1"]


def cut_for(prompt: str = ">>> ", program: str = "python3") -> ReplCut:
    cut = ReplCut(24, 80, program, prompt)
    cut.begin(ABOVE)
    return cut


def output(cut: ReplCut, *pieces: bytes) -> str:
    taken = b"".join(cut.take(piece) for piece in pieces)
    cut.at_prompt = True
    return (taken + cut.finish()).decode().replace("\r\n", "\n")


@pytest.mark.parametrize(
    ("data", "left"),
    [
        (b"\r\n2\r\n>>> ", "2\n"),
        (b"\r\n\x1b[?2004l\r2\r\n\x1b[?2004h>>> ", "2\n"),
        (b"\r\n>>> ", ""),
        (b"\r\nabc>>> ", "abc\n"),
        (b"\r\n>>>\r\n>>> ", ">>>\n"),
        (b"\r\n\r\n>>> ", "\n"),
        (b"\n\r\x1b[?2004labc\x1b[?2004h\x1b[1A\n\x1b[1;35m>>> \x1b[0m\x1b[4D\x1b[4C", "abc\n"),
        (b"\x1b[1G>>> 1 + 1\x1b[K\x1b[1G\x1b[1B\x1b[1G2\r\n\x1b[1G>>> ", "2\n"),
        (b"\x1b[1B\x1b[2K\x1b[1A\r\r\n2\r\n\x1b[1G\x1b[0J>>> \x1b[5G", "2\n"),
        (b"\r\nbefore\r\n\x1b[H\x1b[2Jafter\r\n>>> ", "before\nafter\n"),
    ],
    ids=[
        *("readline", "paste mode", "nothing", "no line's end", "a prompt", "a blank line"),
        *("python 3.13", "reline", "node", "cleared"),
    ],
)
def test_output_is_without_echo_and_prompt(data: bytes, left: str) -> None:
    assert output(cut_for(), data) == left
    assert output(cut_for(), *(data[at : at + 1] for at in range(len(data)))) == left


def test_much_output_is_passed_on_before_its_end() -> None:
    cut = cut_for()
    lines = b"".join(b"%d\r\n" % number for number in range(50_000))
    taken = cut.take(b"\r\n") + cut.take(lines) + cut.take(b"last>>> ")
    assert len(taken) > 0.9 * len(lines)
    cut.at_prompt = True
    assert (taken + cut.finish()) == lines + b"last\r\n"


def test_prompt_that_counts_is_taken_off_too() -> None:
    cut = cut_for("In [3]: ", "ipython")
    assert output(cut, b"\r\nOut[3]: 2\r\n\r\nIn [4]: ") == "Out[3]: 2\n"
    assert prompt_pattern("In [4]:") == prompt_pattern("In [3]: ")


def test_a_question_is_output_as_long_as_no_prompt_is_back() -> None:
    cut = cut_for()
    cut.take(b"\r\nname: ")
    assert cut.rest() == b"name:\r\n"


def test_a_line_that_fills_its_row_is_told_from_what_follows() -> None:
    for at_enter in (b"\x1b[A\x1b[79C\x1b[K)\r\n", b"\r\n"):  # readline goes up again
        cut = ReplCut(24, 80, "python3", ">>> ")
        cut.begin([">>> " + "x" * 76, ""])
        assert output(cut, at_enter + b"2\r\n>>> ") == "2\n"


def test_a_last_cell_is_not_lost_to_how_python_looks_around() -> None:
    full = b"y" * 80
    assert output(cut_for(), b"\n\r" + full + b"\x1b[1A\n>>> ") == full.decode() + "\n"


def test_what_an_editor_shows_below_its_prompt_is_no_output() -> None:
    data = b"\r\n2\r\n>>> \r\n\r\n[F2] Menu\x1b[2A\r\x1b[4C"
    assert output(cut_for(), data) == "2\n"


@pytest.mark.parametrize(
    ("program", "prompt", "drawn"),
    [
        ("deno", "> ", b"\x1b[?2004h\x1b[?2026h\r\x1b[K> \r\x1b[2C\x1b[?2026l"),
        ("bun", "❯ ", "\r\x1b[J\x1b[2m❯\x1b[0m \r\x1b[2C".encode()),
    ],
)
def test_what_only_looks_as_a_prompt_does_not_end_the_output(
    program: str, prompt: str, drawn: bytes
) -> None:
    cut = cut_for(prompt, program)
    cut.take(b"\r\n" + prompt.encode())
    assert not cut.prompt_drawn
    assert output(cut, b"\r\n7\r\n" + drawn) == f"{prompt.rstrip()}\n7\n"
    assert cut.prompt_drawn


def test_what_a_shell_shows_at_the_right_end_is_no_output() -> None:
    cut = cut_for("~> ", "elvish")
    assert output(cut, b"\r\nhi\r\n/tmp>                    me@here\x1b[6G") == "hi\n"
