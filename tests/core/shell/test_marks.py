"""Marks are found however the stream is cut, and nothing else is taken for one."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import steady
from nacre.core.shell.marks import Mark, MarkScanner, Prompting, ShellPlace

NONCE = "0123456789abcdef"
OTHER = "fedcba9876543210"


def mark(kind: str, value: str = "", nonce: str = NONCE, end: str = "\a") -> bytes:
    return f"\x1b]133;{kind};n={nonce}{';' + value if value else ''}{end}".encode()


def joined(pieces: list[bytes | Mark]) -> list[bytes | Mark]:
    """Put neighbouring bytes together: where the stream was cut is nobody's business."""
    whole: list[bytes | Mark] = []
    for piece in pieces:
        if isinstance(piece, bytes) and whole and isinstance(whole[-1], bytes):
            whole[-1] += piece
        else:
            whole.append(piece)
    return whole


def scanned(parts: list[bytes]) -> list[bytes | Mark]:
    scanner = MarkScanner(NONCE)
    pieces = [piece for part in parts for piece in scanner.scan(part)]
    held = scanner.flush()
    return joined([*pieces, held] if held else pieces)


STREAM = (
    b"\x1b[1mone\r\n"
    + mark("D", "7;/home/x y/\u00fc")
    + mark("A")
    + b"$ "
    + mark("B", end="\x1b\\")
    + b"\x1b]0;title\x07\x1b]133;D;9\x07two"
    + mark("C")
    + mark("E", "1", OTHER)
    + b"\x1b\x1b]133;\x1b"
)
PIECES: list[bytes | Mark] = [
    b"\x1b[1mone\r\n",
    Mark("D", "7;/home/x y/\u00fc", NONCE),
    Mark("A", "", NONCE),
    b"$ ",
    Mark("B", "", NONCE),
    b"\x1b]0;title\x07\x1b]133;D;9\x07two",
    Mark("C", "", NONCE),
    mark("E", "1", OTHER) + b"\x1b\x1b]133;\x1b",
]


def test_a_stream_as_a_whole() -> None:
    assert scanned([STREAM]) == PIECES


def test_a_stream_byte_by_byte() -> None:
    assert scanned([bytes([byte]) for byte in STREAM]) == PIECES


@steady
@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_a_stream_cut_anywhere(cuts: list[int]) -> None:
    at = [0, *sorted(cuts), len(STREAM)]
    assert scanned([STREAM[a:b] for a, b in itertools.pairwise(at)]) == PIECES


@steady
@given(st.binary(max_size=300), st.integers(0, 300))
def test_bytes_without_marks_pass_unchanged(data: bytes, cut: int) -> None:
    assert scanned([data[:cut], data[cut:]]) == ([data] if data else [])


@steady
@given(st.lists(st.sampled_from([b"\x1b", b"]133;", b"D;n=", b"\a", b"x", mark("C"), b"\x1b\\"])))
def test_fragments_lose_no_byte(parts: list[bytes]) -> None:
    found = scanned(parts)
    again = b"".join(mark("C") if isinstance(piece, Mark) else piece for piece in found)
    assert again == b"".join(parts)


def test_a_mark_without_the_nonce_is_output() -> None:
    forged = mark("D", "0;/", OTHER) + b"\x1b]133;D;0\x07" + b"\x1b]133;D;n=;0\x07"
    assert scanned([forged]) == [forged]


def test_a_nonce_counts_while_it_is_accepted() -> None:
    scanner = MarkScanner(NONCE)
    scanner.accept(OTHER)
    assert scanner.scan(mark("E", "3", OTHER)) == [Mark("E", "3", OTHER)]
    scanner.refuse(OTHER)
    assert scanner.scan(mark("E", "3", OTHER)) == [mark("E", "3", OTHER)]


def test_what_can_be_no_mark_is_not_held_back() -> None:
    scanner = MarkScanner(NONCE)
    for data in (b"x\x1b[", b"\x1b]0;", b"\x1b]133\x07"):
        assert b"".join(p for p in scanner.scan(data) if isinstance(p, bytes)) == data


def test_an_endless_mark_is_let_go() -> None:
    scanner = MarkScanner(NONCE)
    assert scanner.scan(b"\x1b]133;D;n=0;") == []
    shown = b"".join(p for p in scanner.scan(b"x" * 5000) if isinstance(p, bytes))
    assert shown == b"\x1b]133;D;n=0;" + b"x" * 5000


def test_a_mark_right_behind_an_escape_is_found_over_two_chunks() -> None:
    scanner = MarkScanner(NONCE)
    assert scanner.scan(b"a\x1b") == [b"a"]
    assert scanner.scan(mark("C")[1:]) == [Mark("C", "", NONCE)]


@pytest.mark.parametrize(
    ("value", "code", "folder"),
    [
        ("0;/tmp", 0, "/tmp"),
        ("130", 130, None),
        ("", None, None),
        ("x;/", None, "/"),
        ("2;", 2, None),
    ],
)
def test_code_and_folder_of_an_end(value: str, code: int | None, folder: str | None) -> None:
    assert (Mark("D", value).exit_code, Mark("D", value).folder) == (code, folder)


def test_a_folder_that_is_no_text_is_not_told() -> None:
    """As text it would be another folder, and what is typed would be judged as if it went there."""
    found = scanned([b"\x1b]133;D;n=" + NONCE.encode() + b";0;/a\xff\x07"])
    assert found == [Mark("D", "0;/a\udcff", NONCE)]
    assert Mark("D", "0;/a\udcff").folder is None


def test_a_folder_that_is_not_told_is_not_the_one_before() -> None:
    for untold in ("0;", "0;/a\udcff", "0"):
        prompting = Prompting()
        for value in ("0;/x", untold):
            prompting.note(Mark("D", value))
        assert prompting.folder is None


def test_phases_of_a_shell() -> None:
    prompting = Prompting()
    seen = []
    for kind, value in (("A", ""), ("B", ""), ("P", ""), ("C", ""), ("D", "3;/x"), ("D", "4")):
        prompting.note(Mark(kind, value))
        seen.append(prompting.phase)
    assert seen == ["drawing", "prompt", "continuation", "running", "drawing", "drawing"]
    assert (prompting.ended, prompting.exit_code, prompting.folder) == (2, 4, None)


# --- where no hook told the end ----------------------------------------------------------------


def noted(*marks: tuple[str, str]) -> tuple[Prompting, list[Mark | None]]:
    prompting = Prompting()
    return prompting, [prompting.note(Mark(kind, value)) for kind, value in marks]


FIRST = (("Q", "1;0;/"), ("A", ""), ("B", "emacs"))


def test_the_first_prompt_ends_nothing() -> None:
    prompting, told = noted(*FIRST)
    assert (prompting.ended, prompting.phase, told[0]) == (0, "prompt", None)


def test_an_end_that_was_told_is_not_told_again_by_the_prompt() -> None:
    prompting, told = noted(*FIRST, ("C", "1"), ("D", "3;/tmp"), ("Q", "2;3;/tmp"))
    assert (prompting.ended, prompting.exit_code, prompting.hurt) == (1, 3, False)
    assert told[-1] is None


def test_the_prompt_tells_the_end_where_no_hook_did() -> None:
    prompting, told = noted(*FIRST, ("C", "1"), ("Q", "2;3;/tmp"))
    assert told[-1] == Mark("D", "3;/tmp")
    assert (prompting.ended, prompting.exit_code, prompting.folder) == (1, 3, "/tmp")
    assert prompting.hurt


def test_a_line_that_was_not_run_ends_too() -> None:
    _, told = noted(*FIRST, ("Q", "2;2;/"))  # a syntax error: no command starts
    assert told[-1] == Mark("D", "2;/")


def test_a_prompt_that_is_drawn_again_ends_nothing() -> None:
    prompting, told = noted(
        *FIRST, ("C", "1"), ("Q", "2;3;/"), ("A", ""), ("B", ""), ("Q", "2;3;/")
    )
    assert (prompting.ended, told[-1]) == (1, None)


def test_a_prompt_without_a_number_ends_only_what_began() -> None:
    prompting, told = noted(("Q", ";0;"), ("B", ""), ("Q", ";0;"), ("C", ""), ("Q", ";4;"))
    assert (prompting.ended, prompting.exit_code) == (1, 4)
    assert told == [None, Mark("B"), None, Mark("C"), Mark("D", "4;")]


def test_a_hook_that_is_not_the_first_leaves_the_code_to_the_prompt() -> None:
    prompting, told = noted(*FIRST, ("C", "1"), ("O", ""), ("Q", "2;1;/"))
    assert (prompting.exit_code, prompting.hurt) == (1, False)
    assert told[-2:] == [Mark("O"), Mark("D", "1;/")]


def test_a_prompt_of_which_nobody_knows_the_number_ends_only_what_began() -> None:
    """As after a restart of the daemon."""
    prompting = Prompting()
    prompting.phase = "prompt"
    assert prompting.note(Mark("Q", "9;0;/")) is None
    assert prompting.note(Mark("Q", "10;0;/")) == Mark("D", "0;/")


def test_an_answer_at_the_prompt_ends_what_began() -> None:
    prompting, told = noted(*FIRST, ("C", "1"), ("R", "7;prompt;/tmp"))
    assert told[-1] == Mark("D", "7;/tmp")
    assert (prompting.ended, prompting.phase, prompting.answers) == (1, "prompt", 1)


@pytest.mark.parametrize(("line", "ended"), [("58", 1), ("57", 0), ("", 0)])
def test_an_answer_that_knows_only_its_line_is_judged_by_that_of_the_command(
    line: str, ended: int
) -> None:
    prompting, _ = noted(*FIRST, ("C", "57"), ("R", f"3;line {line};/tmp"))
    assert (prompting.ended, prompting.exit_code) == (ended, 3 if ended else None)
    unknown, _ = noted(*FIRST, ("C", ""), ("R", f"3;line {line};/tmp"))
    assert (unknown.ended, unknown.reads_line) == (0, False)


def test_a_wrapped_command_begins_where_no_hook_says_so() -> None:
    prompting, _ = noted(*FIRST, ("S", "read"))
    assert prompting.phase == "prompt"
    prompting, _ = noted(*FIRST, ("S", "1234"))
    assert prompting.phase == "running"
    assert noted(("S", "1234"))[0].phase is None, "a shell without marks"
    prompting.reads_again(4)
    assert (prompting.phase, prompting.ended, prompting.exit_code) == ("prompt", 1, 4)
    assert prompting.hurt


def test_an_answer_from_within_a_command_ends_nothing() -> None:
    prompting, told = noted(*FIRST, ("C", "1"), ("R", "0;1;/"))
    assert told[-1] is None
    assert (prompting.ended, prompting.phase, prompting.answers) == (0, "running", 1)
    assert prompting.reads_line
    assert not noted(*FIRST, ("C", "1"), ("R", "0;unknown;/"))[0].reads_line
    assert not noted(*FIRST, ("C", "1"), ("R", "0;1;/"), ("D", "0;/"))[0].reads_line


def test_a_mark_may_hold_what_a_builtin_printed_with_its_line_end() -> None:
    told = b"\x1b]133;V;n=a1;bindkey -A viins main\r\n\x07x"
    assert MarkScanner("a1").scan(told) == [Mark("V", "bindkey -A viins main", "a1"), b"x"]


@pytest.mark.parametrize(
    ("mode", "like_vi"),
    [
        ("vi", True),
        ("command", True),
        ("emacs", False),
        ("bindkey -A viins main", True),
        ("bindkey -A emacs main", False),
    ],
)
def test_the_line_editor_tells_how_it_takes_keys(mode: str, *, like_vi: bool) -> None:
    assert noted(*FIRST, ("V", mode))[0].edits_like_vi is like_vi
    assert noted(("Q", "1;0;/"), ("B", "vi"), ("V", mode))[0].edits_like_vi is like_vi


def test_a_prompt_in_which_nothing_is_expanded_tells_no_old_code() -> None:
    """With promptvars off and our hook gone, its number and its code stay what they were."""
    prompting, told = noted(("Q", "1;;"), ("B", ""), ("C", ""), ("Q", "1;0;"))
    assert told[-1] == Mark("D", "")
    assert (prompting.ended, prompting.exit_code, prompting.hurt) == (1, None, True)


def test_an_older_prompt_that_is_shown_again_ends_nothing() -> None:
    """After `exec 2>file` the prompt is in a file, and `cat file` shows it."""
    prompting, told = noted(("Q", "1;;"), ("Q", "2;0;"), ("Q", "3;0;"), ("C", ""), ("Q", "2;5;"))
    assert told[-1] is None
    assert prompting.phase == "running"
    assert prompting.note(Mark("Q", "4;1;")) == Mark("D", "1;")


def test_the_shells_own_word_that_all_is_printed_says_nothing_of_our_hook() -> None:
    prompting, _ = noted(("Q", ";0;"), ("B", ""), ("C", ""), ("O", "eol"), ("Q", ";1;"))
    assert (prompting.exit_code, prompting.hurt) == (1, True)


def test_marks_that_had_to_be_asked_for_are_not_trusted_for_the_next_command() -> None:
    prompting, _ = noted(("B", ""), ("C", ""), ("R", "3;prompt;/"))
    assert (prompting.exit_code, prompting.hurt) == (3, True)
    prompting.note(Mark("D", "0"))
    assert not prompting.hurt


def test_a_start_behind_its_own_end_is_late() -> None:
    where = Prompting()
    for kind in "AB":
        where.note(Mark(kind))
    assert where.note(Mark("C", "7")) == Mark("C", "7")
    where.note(Mark("D", "3"))
    assert where.note(Mark("C", "8")) == Mark("C", "late")
    for kind in "AB":
        where.note(Mark(kind))
    assert where.note(Mark("C", "9")) == Mark("C", "9")


def test_prompts_are_counted() -> None:
    prompting, _ = noted(("A", ""), ("B", ""), ("P", ""), ("A", ""), ("B", ""))
    assert prompting.shown == 3


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("", ""),
        ("ls -l", "ls -l"),
        ("a\\nb", "a\nb"),
        ("a\\\\nb", "a\\nb"),
        ("\\?", None),
        ("\\", None),
    ],
)
def test_the_shell_tells_what_its_line_holds(value: str, line: str | None) -> None:
    prompting = Prompting()
    assert prompting.note(Mark("L", value, NONCE)) is None
    assert prompting.line == line


def test_an_answer_within_a_command_leaves_it_continued() -> None:
    prompting = Prompting()
    for kind, value in (("A", ""), ("B", ""), ("P", ""), ("R", "0;prompt;/")):
        prompting.note(Mark(kind, value, NONCE))
    assert prompting.phase == "continuation"


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ("0;;12 web1;/srv/a;b", ShellPlace("web1", "/srv/a;b")),
        ("0;12;12 web1;/srv", ShellPlace("web1", "/srv")),
        ("0;;12 web-1.example.org;/", ShellPlace("web-1.example.org", "/")),
        ("0", None),
        ("0;12", None),
        ("0;;12 web1;", None),  # a folder with control characters
        ("0;;12 ;/srv", None),  # no host's name
        ("0;;;/srv", None),
        ("0;;13 web1;/srv", None),  # of another shell, which handed it down
        ("0;;12 web one;/srv", None),
        ("0;;12 -web;/srv", None),
        ("0;;12 web1;srv", None),
    ],
)
def test_a_place_is_told_only_where_it_is_sure(value: str, place: ShellPlace | None) -> None:
    assert Mark("E", value).place("12") == place
