"""REPLs by their prompts: which one it is, where it stands, what is no prompt."""

import pytest

from nacre.core.shell.repl_prompts import (
    asks_for_more,
    counted_on,
    is_prompt,
    place_of,
    prompt_in,
    prompt_pattern,
    shown_by_code,
    without_prompt,
)
from nacre.core.shell.repl_reader import Asker, TypedRepl
from nacre.core.shell.repls import IPYTHON, repl_at


@pytest.mark.parametrize(
    ("program", "first", "line", "place"),
    [
        ("python3", ">>> ", ">>> ", "prompt"),
        ("python3", ">>> ", "... ", "more"),
        ("python3", ">>> ", "abc>>> ", "prompt"),
        ("python3", ">>> ", "name: ", None),
        ("python3", ">>> ", "", None),
        ("ipython", "In [3]: ", "In [14]: ", "prompt"),
        ("ipython", "In [3]: ", "   ...: ", "more"),
        ("lua5.4", "> ", "> ", "prompt"),
        ("lua5.4", "> ", ">> ", "more"),
        ("lua5.4", "> ", "abc> ", "prompt"),
        ("R", "> ", "+ ", "more"),
        ("node", "> ", "... ", "more"),
        ("node", "> ", "| ", "more"),
        ("sqlite3", "sqlite> ", "   ...> ", "more"),
        ("sqlite3", "sqlite> ", "(x1...> ", "more"),
        ("psql", "db=# ", "db=*# ", "prompt"),
        ("psql", "db=> ", "db-> ", "more"),
        ("psql", "db=# ", "db'# ", "more"),
        ("mysql", "mysql> ", "    -> ", "more"),
        ("mariadb", "MariaDB [(none)]> ", "MariaDB [x]> ", "prompt"),
        ("irb", "irb(main):001:0> ", "irb(main):012:0> ", "prompt"),
        ("irb", "irb(main):001:0> ", "irb(main):002:1* ", "more"),
        ("ghc", "ghci> ", "ghci| ", "more"),
        ("beam.smp", "1> ", "22> ", "prompt"),
        ("beam.smp", "iex(1)> ", "...(1)> ", "more"),
        ("irb", ">> ", ">> ", "prompt"),
        ("irb", ">> ", "?> ", "more"),
        ("redis-cli", "127.0.0.1:6379> ", "127.0.0.1:6379(TX)> ", "prompt"),
        ("gnuplot", "gnuplot> ", "more> ", "more"),
        ("jshell", "jshell> ", "   ...> ", "more"),
        ("bun", "❯ ", "... ", "more"),
        ("sqlite3", "db> ", "..> ", "more"),
        ("python3", "in> ", ".. ", "more"),
        ("su", "db=# ", "db-# ", "more"),
        ("perl", "  DB<1> ", "  DB<<2>> ", "prompt"),
        ("php", "php > ", "<<< > ", "more"),
        ("swipl", "?- ", "|    ", "more"),
        ("swipl", "?- ", "|: ", None),
        ("php", "php > ", "/*  > ", "more"),
        ("php", "php > ", "php { ", "more"),
        ("ocaml", "# ", "  ", "more"),
        ("bc", "", "", "prompt"),
        ("bc", "", "abc", "prompt"),
        ("some", "some $ ", "some $ ", "prompt"),
        ("some", "some $ ", "...> ", "more"),
    ],
)
def test_where_a_repl_stands(program: str, first: str, line: str, place: str | None) -> None:
    assert place_of(repl_at(program, first), first, line) == place


@pytest.mark.parametrize(
    ("program", "first", "line", "left"),
    [
        ("python3", ">>> ", ">>>", ""),
        ("python3", ">>> ", "...", ""),
        ("python3", ">>> ", "abc>>>", "abc"),
        ("python3", ">>> ", "a >>>", "a "),
        ("ipython", "In [3]: ", "abcIn [4]:", "abc"),
        ("psql", "db=# ", "db=*#", ""),
        ("bc", "", "abc", "abc"),
    ],
)
def test_what_stands_before_a_prompt_is_output(
    program: str, first: str, line: str, left: str
) -> None:
    assert without_prompt(repl_at(program, first), first, line) == left


def test_a_prompt_is_found_behind_text() -> None:
    assert prompt_in(repl_at("python3", "abc>>> "), "abc>>> ") == ">>>"
    assert prompt_in(repl_at("python3", "py$ "), "py$ ") == "py$ "
    assert prompt_in(repl_at("lua", ">> "), ">> ") == ">> "


def test_prompts_that_only_one_has_tell_it_in_whatever_runs_it() -> None:
    assert repl_at("python3.11", "In [1]: ") is IPYTHON
    assert is_prompt("manage.py", "(Pdb) ")
    assert is_prompt("rails", "irb(main):001:0> ")
    assert is_prompt("beam.smp", "...(2)> ")
    assert is_prompt("dc", "what was printed last")
    assert not is_prompt("cat", "> ")
    assert not is_prompt("python3", "name: ")


def test_the_wait_for_the_rest_is_known() -> None:
    assert asks_for_more("python3", "... ")
    assert asks_for_more("lua", ">> ")
    assert not asks_for_more("lua", "> ")
    assert not asks_for_more("cat", "... ")


def test_a_repl_s_prompt_is_known_behind_what_says_nothing() -> None:
    for prompt in (">>> ", "In [1]: ", "postgres=# ", "db=> ", "mysql> ", "sqlite> ", "php > "):
        assert is_prompt("ssh", prompt), prompt
    for shell in ("$ ", "root@box:~# ", "> ", ">> ", "box-> ", "=> ", "~ % ", ""):
        assert not is_prompt("ssh", shell), shell


def test_a_number_that_does_not_follow_was_printed() -> None:
    erl, iex = repl_at("beam.smp", "12> "), repl_at("beam.smp", "iex(12)> ")
    assert counted_on(erl, "12> ", "13> ")
    assert not counted_on(erl, "12> ", "12> ")  # or after a syntax error
    assert not counted_on(erl, "12> ", "5> ")
    assert not counted_on(iex, "iex(12)> ", "iex(3)> ")
    assert counted_on(repl_at("python3", ">>> "), ">>> ", ">>> ")


def test_reader_tells_code_that_asks_from_the_prompt() -> None:
    typed = TypedRepl("python3", ">>> ", pid=7, readers=(Asker(7, 900, 1),))
    assert typed.whose(7, Asker(7, 900, 1)) == "own"
    assert typed.whose(7, Asker(7, 800, 1)) == typed.whose(7, Asker(7, 950, 1)) == "other"
    assert typed.whose(7, Asker(7, 950, 1), steady=False) is None  # its own code is run faster
    assert typed.whose(7, Asker(7, 800, 1), steady=False) == "other"
    assert typed.whose(7, Asker(7, 800, 2)) is None  # it waits in another call
    assert typed.whose(7, Asker(9, 950, 1), steady=False) == "other"  # another thread
    assert typed.whose(8, Asker(7, 900, 1)) is None
    assert typed.whose(7, None) is None


def test_reader_tells_nothing_where_any_thread_may_read() -> None:
    typed = TypedRepl("ghc", "ghci> ", pid=7, readers=(Asker(7, 900, 1),))
    assert typed.whose(7, Asker(7, 900, 1)) is typed.whose(7, Asker(9, 800, 1)) is None


def test_readers_are_known_from_the_outermost_on() -> None:
    typed = TypedRepl("python3", ">>> ", pid=7, readers=(Asker(7, 900, 1), Asker(7, 800, 1)))
    assert typed.typed_again(7, Asker(7, 700, 1)) == (
        Asker(7, 900, 1),
        Asker(7, 800, 1),
        Asker(7, 700, 1),
    )
    assert typed.typed_again(7, Asker(7, 900, 1)) == (Asker(7, 900, 1),)
    assert typed.typed_again(7, None) == typed.readers
    assert typed.typed_again(8, Asker(7, 600, 1)) == (Asker(7, 600, 1),)
    assert typed.whose(7, Asker(7, 900, 1)) == "own"
    assert typed.whose(7, Asker(7, 850, 1)) is None
    assert typed.whose(7, Asker(7, 750, 1)) == "other"


def test_what_code_can_show_as_a_prompt() -> None:
    assert shown_by_code("python3.11", ">>> ", "abc>>> ")
    assert not shown_by_code("python3.11", ">>> ", "(Pdb) ")
    assert not shown_by_code("R", "Browse[1]> ", "Browse[1]> ")
    assert not shown_by_code("R", "> ", "Browse[1]> ")
    assert shown_by_code("octave-cli", "octave:1> ", "octave:2> ")
    assert not shown_by_code("node", "> ", "> ")


def test_prompt_that_counts_is_the_same() -> None:
    assert prompt_pattern("In [3]: ") == prompt_pattern("In [44]:")


@pytest.mark.parametrize(
    ("shell", "first", "now", "place"),
    [
        ("tcsh", "vm:~# ", "vm:/tmp#", "prompt"),
        ("tcsh", "vm:~# ", "abcvm:/tmp#", None),  # where the prompt begins is not known
        ("tcsh", "vm:~# ", "abcvm:~#", "prompt"),
        ("tcsh", "% ", "foreach?", "more"),
        ("nu", "/home/a> ", "~/b>", "prompt"),
        ("elvish", "~> ", "/tmp>", "prompt"),
        ("xonsh", "a@b ~ $ ", "a@b /tmp/c1 $", "prompt"),
    ],
)
def test_prompt_of_another_family_s_shell_may_show_its_folder(
    shell: str, first: str, now: str, place: str | None
) -> None:
    assert place_of(repl_at(shell, first), first, now) == place


def test_what_stands_before_a_prompt_with_a_folder_is_output() -> None:
    tcsh = repl_at("tcsh", "vm:~# ")
    assert without_prompt(tcsh, "vm:~# ", "vm:/tmp#") == ""
    assert without_prompt(tcsh, "vm:~# ", "abcvm:~#") == "abc"
