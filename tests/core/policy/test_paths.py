import os

import pytest

from nacre.core.policy.paths import Where

WHERE = Where("/home/me/work/sub", home="/home/me", workspace="/home/me/work")


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("x", "/home/me/work/sub/x"),
        ("../x", "/home/me/work/x"),
        ("/a//b/../c", "/a/c"),
        ("//a", "/a"),
        ("~", "/home/me"),
        ("~/x", "/home/me/x"),
        ("~anna/x", "/home/anna/x"),
        (".", "/home/me/work/sub"),
    ],
)
def test_a_word_leads_to_a_path(text: str, path: str) -> None:
    assert WHERE.path(text) == path


@pytest.mark.parametrize("text", ["a\0b", "/a\0b", "~/a\0b", "../a\0b"])
def test_a_word_with_a_nul_character_leads_nowhere(text: str) -> None:
    where = Where("/home/me", home="/home/me", real=os.path.realpath)
    assert where.path(text) is None
    assert where.path(text, logical=True) is None


def test_without_a_folder_only_whole_paths_are_known() -> None:
    nowhere = Where(None, home="/home/me")
    assert nowhere.path("x") is None
    assert nowhere.path("/x") == "/x"


@pytest.mark.parametrize(
    "path", ["/", "/*", "/usr", "/home/me", "/home/me/*", "/home/anna", "/etc/."]
)
def test_what_nobody_can_do_without_is_vital(path: str) -> None:
    assert WHERE.is_vital(path)


@pytest.mark.parametrize("path", ["/home/me/work", "/usr/x", "/tmp", "/home/anna/x", "/etc/x/*"])
def test_what_lies_below_is_not(path: str) -> None:
    assert not WHERE.is_vital(path)


@pytest.mark.parametrize(
    ("path", "may"),
    [
        ("/home/me/work/x", True),
        ("/home/me/work/.github/x", True),
        ("/tmp/x", True),
        ("/dev/null", True),
        ("/home/me/x", False),
        ("/home/me/work/.git/hooks/x", False),
        ("/home/me/workshop/x", False),
        ("/usr/x", False),
    ],
)
def test_the_workspace_may_be_written_to(path: str, may: bool) -> None:
    assert WHERE.may_write(path) is may


def test_hidden_files_of_a_home_are_not_written_to_by_who_works_there() -> None:
    where = Where("/home/me", home="/home/me", workspace="/home/me")
    assert where.may_write("/home/me/x")
    assert not where.may_write("/home/me/.bashrc")


def test_a_system_folder_is_meant_by_its_whole_name() -> None:
    assert WHERE.is_blocked("/etc")
    assert WHERE.is_blocked("/etc/x")
    assert not WHERE.is_blocked("/etcetera")


@pytest.mark.parametrize(
    "folder", ["/etc", "/usr/local/bin", "/var/spool/cron", "/", "/home/me/.config/autostart"]
)
def test_to_begin_in_a_folder_of_the_system_makes_it_no_workspace(folder: str) -> None:
    where = Where(folder, home="/home/me", workspace=folder)
    assert not where.may_write(f"{folder.rstrip('/')}/x")


def test_who_begins_in_etc_may_not_read_there_either() -> None:
    assert Where("/etc", home="/home/me", workspace="/etc").asks_for("/etc/shadow")


@pytest.mark.parametrize("folder", ["/usr/src/app", "/opt/app", "/root/work", "/home/me/.x/work"])
def test_code_may_lie_in_odd_places(folder: str) -> None:
    home = "/root" if folder.startswith("/root") else "/home/me"
    where = Where(folder, home=home, workspace=folder)
    assert where.may_write(f"{folder}/x")
    assert not where.asks_for(f"{folder}/x")
