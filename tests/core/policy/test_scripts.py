"""The small languages of sed and awk."""

import pytest

from nacre.core.policy.known.awk import only_prints
from nacre.core.policy.known.sed import empties, sed_commands


@pytest.mark.parametrize(
    "script",
    [
        *("p", "1,20p", "$=", "/a/,/b/p", "s/a/b/g", r"s/\//x/", "s|a|b|;s,c,d,2p", "1!d", "$!N"),
        *(
            "/^#/d;/^$/d",
            ":a;N;$!ba;s/\\n/ /g",
            "/a/{/b/!p}",
            "a text; e rm",
            "5i\\  x",
            "y/ab/cd/",
        ),
        *("s/[[:space:]]*$//", "s/[^a-z]/x/", "0~3d", "/x/I,+2p", "# e rm\np", "\\,a,p"),
    ],
)
def test_sed_scripts_that_change_text(script: str) -> None:
    assert sed_commands(script) is not None


@pytest.mark.parametrize(
    "script",
    [
        *(
            "e",
            "1e rm x",
            "s/a/b/e",
            "s/a/b/ge",
            "s/a/b/w f",
            "w f",
            "r f",
            "R f",
            "W f",
            "/a/e rm",
        ),
        *("p;e rm", "{e rm\n}", "a x\ne rm", "s/[/]/x/;e rm;s/a/b/", "s/[]/]x/y/e", "y/a/b/e rm"),
        *("s/a", "/a", "s/a/b", "v", "sxaxbxe", "1,e", "s/a/b/;;e"),
    ],
)
def test_sed_scripts_that_may_do_more(script: str) -> None:
    assert sed_commands(script) is None


@pytest.mark.parametrize(
    ("script", "quiet", "empty"),
    [
        *(("d", False, True), ("1,$d", False, True), ("/./d", False, True), ("", True, True)),
        *(("1q", False, True), ("5d", False, False), ("/x/d", False, False), ("/x/p", True, True)),
    ],
)
def test_an_edit_that_leaves_nothing(script: str, quiet: bool, empty: bool) -> None:
    commands = sed_commands(script)
    assert commands is not None
    assert empties(commands, quiet=quiet) is empty


@pytest.mark.parametrize(
    "program",
    [
        *("{print $1}", "$3 > 100 {print $1}", "{if ($3 > 1) print}", "/a/ || /b/", "!s[$0]++"),
        *("{x = $1 / 2; print x / 3}", 'BEGIN{FS=","} {print $1}', "/system/", '{print "a > b"}'),
        *("length($0) > 80", "{print (a > b)}", "# system()\n{print}"),
    ],
)
def test_awk_programs_that_only_print(program: str) -> None:
    assert only_prints(program)


@pytest.mark.parametrize(
    "program",
    [
        *('{system("rm x")}', '{print > "f"}', '{print $1, $2 > "f"}', '{print "a" | "sh"}'),
        *(
            '{"id" | getline}',
            '{print $1 / 2; system("rm"); x = 3 / 4}',
            '@load "x"',
            "{print >> f}",
        ),
        *('{print ("a") > "f"}', 'BEGIN { f = "system"; @f("rm") }', '{ print "a\\" > "b" }', '"'),
        *('{ print 6 / 2 > "f"; a = 1 / 1 }', "/a", '{ if (1) print > "f" }'),
    ],
)
def test_awk_programs_that_may_do_more(program: str) -> None:
    assert not only_prints(program)
