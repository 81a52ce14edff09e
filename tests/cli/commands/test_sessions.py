"""new, list, kill, rename, resize, restart, signal, dismiss."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.conftest import Nacre


@pytest.fixture
def dev(running: Nacre) -> Iterator[str]:
    """A session named dev."""
    identifier = running.call("create_session", name="dev", command="cat")["session_id"]
    yield "dev"
    running.call("manage_session", session=identifier, action="kill")


def names(nacre: Nacre) -> list[str]:
    return [session["name"] for session in nacre.call("list_sessions")["sessions"]]


# --- new ---------------------------------------------------------------------------------------


def test_new_prints_the_name_alone(nacre: Nacre) -> None:
    assert nacre.ok("new", "named", "--", "cat") == "named\n"


def test_new_without_a_name_takes_the_folders(nacre: Nacre, home: Path) -> None:
    assert nacre.ok("new").strip() == home.name


def test_new_with_json_prints_the_operations_result(nacre: Nacre, home: Path) -> None:
    created = nacre.json("new", "sized", "--rows", "30", "--cols", "100")
    assert set(created) == {"session", "session_id", "port", "pid", "rows", "cols", "cwd"}
    assert (created["session"], created["rows"], created["cols"]) == ("sized", 30, 100)
    assert created["cwd"] == str(home)  # where the caller stands


def test_new_takes_a_folder_from_where_the_caller_stands(nacre: Nacre, home: Path) -> None:
    (home / "below").mkdir()
    assert nacre.json("new", "--cwd", "below")["cwd"] == str(home / "below")


def test_new_hands_words_after_dashes_on_untouched(nacre: Nacre) -> None:
    script = 'for word; do echo "<$word>"; done; exec cat'
    nacre.ok("new", "words", "--", "sh", "-c", script, "sh", "--json", "-x", "--", "a b", "")
    shown = nacre.until("words", "<>").split("\n")[:5]
    assert shown == ["<--json>", "<-x>", "<-->", "<a b>", "<>"]


def test_new_takes_one_word_as_a_line_for_the_shell(nacre: Nacre) -> None:
    nacre.ok("new", "line", "--", "echo one; echo two; exec cat")
    assert nacre.until("line", "two").startswith("one\ntwo")


def test_new_sets_variables_and_tags_and_keeps_a_persons_session(nacre: Nacre) -> None:
    flags = ("--env", "A=1", "--env", "B=x=y", "--tag", "t1", "--tag", "t2")
    nacre.ok("new", "dressed", *flags, "--", 'echo "$A:$B"; exec cat')
    nacre.until("dressed", "1:x=y")
    assert nacre.listed("dressed")["tags"] == ["t1", "t2"]
    assert nacre.listed("dressed")["keep"] is True


def test_new_says_that_a_command_goes_after_dashes(nacre: Nacre) -> None:
    assert "nacre new dev -- vim x" in nacre.fails("INVALID_INPUT", 2, "new", "dev", "vim", "x")


def test_new_refuses_a_variable_without_a_value(nacre: Nacre) -> None:
    assert "NAME=VALUE" in nacre.fails("INVALID_INPUT", 2, "new", "--env", "A")


def test_new_refuses_a_taken_name(nacre: Nacre, dev: str) -> None:
    nacre.fails("SESSION_EXISTS", 4, "new", dev)


def test_new_refuses_a_program_that_is_not_there(nacre: Nacre) -> None:
    done = nacre("new", "--json", "--", "no-such-program", "x")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["code"] == "INVALID_INPUT"


# --- list --------------------------------------------------------------------------------------


def test_list_is_an_aligned_table(nacre: Nacre, dev: str, ended: str) -> None:
    head, *rows = nacre.ok("list").splitlines()
    assert head.split() == ["NAME", "ID", "PORT", "STATE", "COMMAND", "CWD", "IDLE"]
    assert [row.split()[0] for row in rows] == names(nacre)
    by_name = {row.split()[0]: row[head.index("STATE") :] for row in rows}
    assert by_name["dev"].startswith(("running ", "waits (", "prompt "))  # what it does just now
    assert by_name["gone"].startswith("exited (3) ")


def test_list_shortens_the_home_folder(nacre: Nacre) -> None:
    nacre.ok("new", "homely", "--", "cat")  # HOME is the scratch home, and we stand in it
    head, *rows = nacre.ok("list").splitlines()
    [row] = [row for row in rows if row.startswith("homely ")]
    assert row[head.index("CWD") :].startswith("~ ")


def test_list_with_json_is_an_array_of_sessions(nacre: Nacre, dev: str) -> None:
    listed = nacre.json("list")
    assert [session["name"] for session in listed] == names(nacre)
    assert set(listed[0]) == set(nacre.listed(dev))


def test_list_makes_control_characters_harmless(nacre: Nacre) -> None:
    nacre.ok("new", "evil", "--", "cat", "\x1b]0;title\x07\n\u202e")
    table = nacre.ok("list")
    assert "\x1b" not in table
    assert "cat '\ufffd\\n\ufffd'" in table
    assert len(table.splitlines()) == 1 + len(names(nacre))


# --- changing ----------------------------------------------------------------------------------


def test_kill_ends_several_sessions(running: Nacre) -> None:
    for name in ("one", "two", "three"):
        running.call("create_session", name=name, command="cat")
    assert running.ok("kill", "one", "two") == ""
    assert running.json("kill", "three") == {"success": True}
    assert not {"one", "two", "three"} & set(names(running))


def test_kill_goes_on_after_a_failure_and_returns_its_code(nacre: Nacre, dev: str) -> None:
    done = nacre("kill", "nope", dev, "--json")
    first, second = map(json.loads, done.stdout.splitlines())
    assert first["error"]["code"] == "SESSION_NOT_FOUND"
    assert second == {"success": True}
    assert done.returncode == 3
    assert dev not in names(nacre)


def test_kill_tells_each_failure(running: Nacre) -> None:
    done = running("kill", "nope", "neither")
    assert "'nope'" in done.stderr
    assert "'neither'" in done.stderr
    assert done.returncode == 3


def test_a_session_is_found_by_name_id_and_port(nacre: Nacre, dev: str) -> None:
    session = nacre.listed(dev)
    for reference in (dev, session["session_id"], str(session["port"])):
        assert nacre.json("resize", reference, "30x90") == {"success": True, "rows": 30, "cols": 90}


def test_errors_name_commands_not_operations(running: Nacre) -> None:
    assert "list them: nacre list\n" in running.fails("SESSION_NOT_FOUND", 3, "screen", "nope")


def test_rename_gives_another_name(nacre: Nacre, dev: str) -> None:
    assert nacre.ok("rename", dev, "work") == ""
    assert nacre.json("rename", "work", "play") == {"success": True}
    assert "play" in names(nacre)
    nacre.fails("INVALID_INPUT", 2, "rename", "play", "123")


def test_resize_keeps_the_side_that_is_not_given(nacre: Nacre, dev: str) -> None:
    assert nacre.ok("resize", dev, "40x120") == "40x120\n"
    assert nacre.ok("resize", dev, "--rows", "50") == "50x120\n"
    assert nacre.ok("resize", dev, "--cols", "60") == "50x60\n"


@pytest.mark.parametrize("size", [("40",), ("40x",), ("4x4", "--rows", "3"), ()])
def test_resize_refuses_what_is_no_size(nacre: Nacre, size: tuple[str, ...]) -> None:
    nacre.fails("INVALID_INPUT", 2, "resize", "dev", *size)


def test_restart_runs_the_command_anew(nacre: Nacre, ended: str) -> None:
    assert nacre.json("restart", ended)["session_id"] == ended
    nacre.ended(ended)
    assert nacre.ok("restart", ended) == "gone\n"
    nacre.ended(ended)


def test_signal_reaches_what_runs_in_front(running: Nacre) -> None:
    trap = "trap 'echo caught; exit 5' USR1; echo ready; while :; do read -r line; done"
    running.call("create_session", name="trap", command="sh", args=["-c", trap])
    running.until("trap", "ready")
    assert running.json("signal", "trap", "USR1") == {"success": True}
    running.ended("trap")
    assert running.listed("trap")["exit_code"] == 5
    running.until("trap", "caught")


def test_signal_without_a_name_ends_it(nacre: Nacre, dev: str) -> None:
    assert nacre.ok("signal", dev) == ""
    nacre.ended(dev)
    assert "killed (SIGTERM)" in nacre.ok("list")


def test_dismiss_takes_an_ended_session_off_the_list(nacre: Nacre, ended: str) -> None:
    assert "gone" in names(nacre)
    assert nacre.ok("dismiss", "gone") == ""
    assert "gone" not in names(nacre)


def test_dismiss_refuses_a_running_one(nacre: Nacre, dev: str) -> None:
    assert f"kill it: nacre kill {dev}\n" in nacre.fails("INVALID_INPUT", 2, "dismiss", dev)
    assert dev in names(nacre)
