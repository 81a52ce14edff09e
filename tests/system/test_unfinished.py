"""What runs is written down for the next daemon, and no more than that."""

from pathlib import Path

from nacre.system.unfinished import Unfinished, UnfinishedCommand


def command(identifier: str) -> UnfinishedCommand:
    return UnfinishedCommand(
        id=identifier, owner="me", tool="nap", name="sleep", words=["--", "9"], cookie="c0"
    )


def test_the_next_daemon_finds_what_has_not_ended(tmp_path: Path) -> None:
    path = str(tmp_path / "executions")
    first = Unfinished(path)
    assert not first.is_left()
    for identifier in ("a", "b", "c"):
        first.began(command(identifier))
    first.ended("b")
    with open(path, "ab") as file:
        file.write(b'{"began":{"id":"cut')  # the daemon died in the middle of a line
    second = Unfinished(path)
    assert second.is_left()
    assert [one.id for one in second.take()] == ["a", "c"]
    assert second.is_left(), "a third one finds them too, until they have ended"
    second.ended("a")
    second.ended("c")
    assert not second.is_left()
    assert Unfinished(path).take() == []


def test_the_file_does_not_grow_while_something_always_runs(tmp_path: Path) -> None:
    path = tmp_path / "executions"
    unfinished = Unfinished(str(path))
    unfinished.began(command("always"))
    for number in range(3000):
        unfinished.began(command(str(number)))
        unfinished.ended(str(number))
    assert len(path.read_bytes().splitlines()) <= 1001
    assert [one.id for one in Unfinished(str(path)).take()] == ["always"]


def test_a_folder_that_is_gone_fails_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    unfinished = Unfinished(str(folder / "executions"))
    unfinished.began(command("a"))
    folder.mkdir()
    unfinished.began(command("b"))
    assert [one.id for one in Unfinished(str(folder / "executions")).take()] == ["b"]
    unfinished.ended("a")
    assert Unfinished(None).take() == []
