"""Shell completion, by the protocol that argcomplete's shell code speaks."""

import os
from collections.abc import Iterator

import pytest

from cli.conftest import Nacre


def complete(nacre: Nacre, line: str) -> list[str]:
    """Return what a shell would offer at the end of the line."""
    answer = nacre.home / "completions"
    answer.write_text("")
    done = nacre(
        _ARGCOMPLETE="1",
        _ARGCOMPLETE_IFS="\n",
        _ARGCOMPLETE_STDOUT_FILENAME=str(answer),
        COMP_LINE=line,
        COMP_POINT=str(len(line)),
        COMP_TYPE="9",
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return [word.strip() for word in answer.read_text().split("\n") if word]


@pytest.fixture(scope="module", autouse=True)
def _two_sessions(running: Nacre) -> Iterator[None]:
    for name in ("tab-one", "tab-two"):
        running.call("create_session", name=name, command="cat")
    yield
    for name in ("tab-one", "tab-two"):
        running.call("manage_session", session=name, action="kill")


def test_commands_are_completed(nacre: Nacre) -> None:
    assert complete(nacre, "nacre s") == [
        "send",
        "screen",
        "snapshot",
        "screenshot",
        "scrollback",
        "share",
        "search",
        "signal",
        "server",
        "status",
        "stop",
        "setup",
        "secret",
    ]


def test_flags_are_completed(nacre: Nacre) -> None:
    assert complete(nacre, "nacre server --log-l") == ["--log-level"]
    assert complete(nacre, "nacre server --log-level w") == ["warning"]
    assert complete(nacre, "nacre server --eph") == []


@pytest.mark.parametrize("command", ["kill", "screen", "rename"])
def test_live_sessions_are_completed(nacre: Nacre, command: str) -> None:
    assert {"first", "tab-one", "tab-two"} <= set(complete(nacre, f"nacre {command} "))


def test_one_session_is_completed_by_its_prefix(nacre: Nacre) -> None:
    assert complete(nacre, "nacre kill tab-o") == ["tab-one"]


def test_keys_and_signals_are_completed(nacre: Nacre) -> None:
    assert complete(nacre, "nacre keys dev pag") == ["pageup", "pagedown"]
    assert complete(nacre, "nacre signal dev US") == ["USR1", "USR2"]


def test_completion_starts_no_daemon_and_says_nothing(own_nacre: Nacre) -> None:
    assert complete(own_nacre, "nacre screen ") == []
    assert not os.path.exists(own_nacre.paths.runtime)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_code_for_each_shell_names_nacre(nacre: Nacre, shell: str) -> None:
    code = nacre.ok("completion", shell)
    assert "nacre" in code
    assert "_ARGCOMPLETE" in code


def test_another_shell_is_refused(nacre: Nacre) -> None:
    done = nacre("completion", "tcsh")
    assert done.returncode == 2
    assert "bash" in done.stderr
