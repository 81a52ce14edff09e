"""What is typed into a REPL for a command, and what would leave it open."""

from collections.abc import Callable

import pytest

from nacre.core.shell.repl_input import (
    IncompleteInput,
    bracket_lines,
    dc_lines,
    erlang_lines,
    haskell_lines,
    lisp_lines,
    ocaml_lines,
    php_lines,
    python_lines,
    ruby_pastes,
    script_paste,
    sql_lines,
    tcl_lines,
)


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        ("1", ["1"]),
        ("a = 1\n\nb = 2", ["a = 1", "b = 2"]),
        ("for i in x:\n    y", ["for i in x:", "    y", ""]),
        ("for i in x: y", ["for i in x: y", ""]),
        ("if a:\n    b\nc", ["if a:", "    b", "", "c"]),
        ("if a:\n    b\n\nelse:\n    c", ["if a:", "    b", "else:", "    c", ""]),
        ("class A:\n    x = 1\n\n    y = 2", ["class A:", "    x = 1", "    y = 2", ""]),
        ("@a\n@b\ndef f(): pass", ["@a", "@b", "def f(): pass", ""]),
        ("def f(): pass\n@a\ndef g(): pass", ["def f(): pass", "", "@a", "def g(): pass", ""]),
        ('s = """a\n\n  b"""\ns', ['s = """a', "", '  b"""', "s"]),
        ("x = [\n\n1]", ["x = [", "", "1]"]),
        ("x = '['  # ]\ny", ["x = '['  # ]", "y"]),
        ("x = 1 + \\\n2", ["x = 1 + \\", "2"]),
        ("# only\n1", ["1"]),
        ("match x:\n    case 1:\n        y", ["match x:", "    case 1:", "        y", ""]),
    ],
)
def test_blocks_of_python_end_where_they_end(command: str, lines: list[str]) -> None:
    assert python_lines(command) == lines


def test_lines_of_a_haskell_function_belong_together() -> None:
    assert haskell_lines("f :: Int -> Int\nf 0 = 1\nf n = n\n\nf 1\nlet y = 2") == [
        *(":{", "f :: Int -> Int", "f 0 = 1", "f n = n", ":}"),
        "f 1",
        "let y = 2",
    ]


COMPLETE: list[tuple[Callable[[str], list[str]], str]] = [
    (sql_lines, "select 1;"),
    (sql_lines, "select 1; -- done"),
    (sql_lines, "select ';'\n;"),
    (sql_lines, "select 1 /* ; */;"),
    (sql_lines, ".tables"),
    (sql_lines, "create trigger t after insert on x begin select 1; end;"),
    (erlang_lines, "1 + 1."),
    (erlang_lines, 'io:format("a.~n"). % done'),
    (erlang_lines, '$".'),
    (erlang_lines, 'f("a. b",\n c).'),
    (erlang_lines, "1.5 + 1. % a. b."),
    (lisp_lines, "(f (g 1) #\\()"),
    (php_lines, "function f() { return '}'; }"),
    (bracket_lines, "define f(x) {\nreturn x\n}"),
    (ocaml_lines, "let f x =\n  x;; (* done *)"),
    (sql_lines, "select 1; /* done\n;*/"),
    (ocaml_lines, "print_char '\"';;"),
    (tcl_lines, "proc f {x} {\n expr $x\n}"),
]
INCOMPLETE: list[tuple[Callable[[str], list[str]], str]] = [
    (sql_lines, "select 1"),
    (sql_lines, "select 'a;"),
    (sql_lines, "select 1; -- ;\nselect 2"),
    (sql_lines, "select 1 /* ;"),
    (sql_lines, "create trigger t after insert on x begin select 1;"),
    (erlang_lines, "1 + 1"),
    (erlang_lines, "1.5"),
    (erlang_lines, '"a.'),
    (lisp_lines, "(f (g 1)"),
    (lisp_lines, '(f ")"'),
    (php_lines, "echo 1"),
    (php_lines, "function f() {"),
    (bracket_lines, "define f(x) {"),
    (bracket_lines, "/* 1"),
    (dc_lines, "[a [b]"),
    (ocaml_lines, "1 + 1"),
    (ocaml_lines, "1 (* ;;"),
    (tcl_lines, "proc f {x} {"),
    (script_paste, "f("),
    (script_paste, "`a\nb"),
]


def test_ruby_gets_what_belongs_together_as_one_paste() -> None:
    block = "begin\n  1/0\n\nrescue => e\n  puts e\nend"
    assert ruby_pastes(f"x = 1\n{block}\n\nx") == ["x = 1", block, "x"]
    text = "s = <<~X\n  a\nb\nX\ns"
    assert ruby_pastes(text) == [text]


@pytest.mark.parametrize(
    ("lines", "command", "parts"),
    [
        (bracket_lines, "1\n/* a\nb */ 2\n3", ["1", "/* a\nb */ 2", "3"]),
        (bracket_lines, 'print "a\nb"\n{\n1\n}', ['print "a\nb"', "{", "1", "}"]),
        (dc_lines, "1 p\n[a [b]\nc] p\n2 p", ["1 p", "[a [b]\nc] p", "2 p"]),
    ],
)
def test_a_string_or_comment_of_several_lines_stays_together(
    lines: Callable[[str], list[str]], command: str, parts: list[str]
) -> None:
    assert lines(command) == parts


@pytest.mark.parametrize(("lines", "command"), COMPLETE)
def test_what_is_complete_is_typed(lines: Callable[[str], list[str]], command: str) -> None:
    assert lines(command) == command.split("\n")


@pytest.mark.parametrize(("lines", "command"), INCOMPLETE)
def test_what_is_incomplete_is_not_typed(lines: Callable[[str], list[str]], command: str) -> None:
    with pytest.raises(IncompleteInput):
        lines(command)


def test_each_erlang_expression_is_typed_by_itself() -> None:
    assert erlang_lines('A = "x. y". B = 1.5 + 2.\nf(A,\n B). g().') == [
        'A = "x. y".',
        "B = 1.5 + 2.",
        "f(A,",
        " B).",
        "g().",
    ]
