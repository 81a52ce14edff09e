"""`nacre server` becomes the keeper at once if that is plain, and looks first if it is not."""

from pathlib import Path

import pytest

from nacre.client import keeping
from nacre.system.keeper import keeper


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NACRE_HOME", str(tmp_path))
    for name in (keeper.DESCRIPTOR, "NACRE_KEEPER"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_the_keeper_is_where_it_is_looked_for() -> None:
    assert keeping.keeper_command(["a", "b"])[-3:] == [keeper.__file__, "a", "b"]
    assert keeping._STARTED == keeper.DESCRIPTOR


@pytest.mark.parametrize("words", [[], ["--port", "0"], ["--ready-fd", "5"], ["--nonsense"]])
def test_a_plain_start_goes_straight_to_it(words: list[str]) -> None:
    assert keeping.will_keep(words)


@pytest.mark.parametrize(
    "words",
    [["--help"], ["-h"], ["--upgrade"], ["--no-keeper"], ["--keeper", "false"], ["--keeper=no"]],
)
def test_words_that_may_mean_no_keeper_are_looked_at(words: list[str]) -> None:
    assert not keeping.will_keep(words)


@pytest.mark.parametrize("name", [keeper.DESCRIPTOR, "NACRE_KEEPER"])
def test_so_are_variables(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "0")
    assert not keeping.will_keep([])


def test_so_is_the_file(home: Path) -> None:
    file = home / "config.toml"
    file.write_text("rows = 30\n")
    assert keeping.will_keep([])
    file.write_text("keeper = false\n")
    assert not keeping.will_keep([])
    file.unlink()
    file.mkdir()  # it cannot be read: who can say why looks at it
    assert not keeping.will_keep([])
