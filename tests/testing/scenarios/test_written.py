"""A scenario from what a person did."""

from nacre.testing.scenarios.written import ScreenThen, TypedChunk, write_scenario
from nacre.testing.scenarios.yaml_file import parse_scenarios

SCREENS = {
    1.0: ["Main menu", "  Open", "12:30 now", "--", ""],
    2.0: ["Main menu", "  Open", "12:31 now", "Chosen: Open", ""],
}


def written(*typed: TypedChunk, exit_code: int | None = None, **more: str) -> str:
    def screen_at(moment: float) -> ScreenThen:
        rows = SCREENS[max(time for time in SCREENS if time <= moment)]
        return ScreenThen(rows, (10, 40))

    end = ScreenThen(["Bye bye"], (24, 80))
    text = write_scenario(
        "demo", ["python3", "my menu.py"], more.get("cwd", "."), typed, screen_at, end, exit_code
    )
    [scenario] = parse_scenarios(text, "f.yaml")  # whatever it is, it can be read
    assert (scenario.start.command, scenario.start.args) == ("python3", ("my menu.py",))
    assert scenario.start.rows == (10 if typed else 24)
    return text.partition("steps:\n")[2]


def test_keys_have_their_names_and_pauses_their_expectations() -> None:
    typed = [
        TypedChunk(1.0, b"\x1b[B"),
        TypedChunk(1.1, b"\x1b[A"),
        TypedChunk(1.2, b"\r"),
        TypedChunk(2.0, b":w"),
        TypedChunk(2.1, b"q \x03\x1bx\x1b[1;5C\x1b[15~"),
    ]
    assert written(*typed, exit_code=0).splitlines() == [
        "  - expect: Main menu",
        "  - expect: Open",
        "  - keys: [Down, Up, Enter]",
        '  - expect: "Chosen: Open"',
        '  - keys: [":wq ", Ctrl+c, Alt+x, Ctrl+Right, F5]',
        "  - expect: {exit_code: 0}",
    ]


def test_without_an_end_the_last_screen_is_expected() -> None:
    assert written() == "  - expect: Bye bye\n"


def test_words_that_are_names_of_keys_are_typed() -> None:
    assert "  - type: Enter\n  - keys: [Tab]\n" in written(TypedChunk(1.0, b"Enter\t"))
    assert '  - keys: ["yes", Enter]\n' in written(TypedChunk(1.0, b"yes\r"))


def test_pastes_clicks_and_replies() -> None:
    data = b"\x1b[200~two\nlines\x1b[201~\x1b[<0;5;3M\x1b[<0;5;3m\x1b[?62;22c"
    assert written(TypedChunk(1.0, data)).splitlines()[2:4] == [
        '  - paste: "two\\nlines"',
        "  - mouse: {action: click, row: 2, col: 4}",
    ]


def test_a_password_is_never_written() -> None:
    told = written(
        TypedChunk(1.0, b"sudo\r"),
        TypedChunk(1.1, b"hun", hidden=True),
        TypedChunk(1.2, b"ter2\r", hidden=True),
        TypedChunk(1.3, b"ls\r"),
    )
    assert "hun" not in told
    assert told.splitlines()[2:5] == [
        "  - keys: [sudo, Enter]",
        "  # a password was typed here, and is not written",
        "  - keys: [ls, Enter]",
    ]
