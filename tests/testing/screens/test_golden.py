"""Golden screens: written when asked for, compared without what is masked, told as a diff."""

from pathlib import Path

from nacre.core.screen.screen import Span
from nacre.testing.screens.golden import GoldenCheck, difference, file_name, golden_path
from nacre.testing.screens.masks import PatternMask
from testing.screens.test_checks import MENU, screen_of


def test_a_screen_is_stored_and_compared(tmp_path: Path) -> None:
    check = GoldenCheck(str(tmp_path / "sub" / "a.txt"))
    assert "there is no golden screen" in (check.problem(MENU) or "")
    assert check.write(MENU)
    assert not check.write(MENU)  # nothing new: the file keeps its time
    assert Path(check.path).read_text() == "Main menu\n\n  Open  漢 Save\n"
    assert check.problem(MENU) is None
    other = screen_of("Main menu", "", "  Open  漢 Saved")
    assert "+   2 │   Open  漢 Saved" in (check.problem(other) or "")


def test_styles_are_lines_of_their_own(tmp_path: Path) -> None:
    check = GoldenCheck(str(tmp_path / "a.txt"), styled=True)
    check.write(MENU)
    stored = Path(check.path).read_text().splitlines()
    assert stored[3:] == [
        "--- styles ---",
        "0:0 'Main menu' bold",
        "2:2 'Open' fg=red inverse",
    ]
    plain = screen_of("Main menu", "", (Span("  Open  漢 Save"),))
    assert "-   5 │ 2:2 'Open' fg=red inverse" in (check.problem(plain) or "")


def test_what_is_masked_may_differ(tmp_path: Path) -> None:
    check = GoldenCheck(str(tmp_path / "a.txt"), (PatternMask(r"\d\d:\d\d"),))
    check.write(screen_of("at 12:30"))
    assert check.problem(screen_of("at 23:59")) is None
    assert check.problem(screen_of("at  3:59")) is not None


def test_a_difference_is_told_by_rows_and_columns() -> None:
    golden = [f"row {number}" for number in range(10)]
    now = [*golden[:7], "raw 7", *golden[8:], "more"]
    assert difference(golden, now).splitlines() == [
        "the screen is not the golden one (- golden, + now):",
        "    0 │ row 0",
        "    1 │ row 1",
        "      ⋮ 3 rows",
        "    5 │ row 5",
        "    6 │ row 6",
        "-   7 │ row 7",
        "+   7 │ raw 7",
        "      │  ^",
        "    8 │ row 8",
        "    9 │ row 9",
        "+  10 │ more",
    ]


def test_files_are_named_after_their_test() -> None:
    assert golden_path("/t", "menu", "saves and quits", "start") == (
        "/t/__screens__/menu-saves-and-quits-start.txt"
    )
    assert file_name("menu", "menu", "../x") == "menu-x"
