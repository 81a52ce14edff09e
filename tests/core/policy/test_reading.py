import pytest

from nacre.core.policy.reading import MOST_BYTES, read_line


def commands(line: str) -> list[list[str | None]]:
    return [[word.text for word in command.words] for command in read_line(line).commands]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("ls -la", [["ls", "-la"]]),
        ("a && b || c; d | e & f\ng", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"], ["g"]]),
        ("echo $(a) `b` <(c)", [["echo", None, None, None], ["a"], ["b"], ["c"]]),
        ('echo "$(a "$(b)")"', [["echo", None], ["a", None], ["b"]]),
        ("if a; then b; elif c; then d; else e; fi", [["a"], ["b"], ["c"], ["d"], ["e"]]),
        ("while a; do b; done", [["a"], ["b"]]),
        ("for x in $(a); do b; done", [[], ["a"], ["b"]]),
        ("case x in y) a;; *) b;; esac", [["a"], ["b"]]),
        ("(a; b)", [["a"], ["b"]]),
        ("{ a; b; }", [["a"], ["b"]]),
        ("f() { a; }; f", [["a"], ["f"]]),
        ("! a", [["a"]]),
        ("export A=$(a)", [["export"], ["a"]]),
        ("x=$(a) b", [["b"], ["a"]]),
        ("a > $(b)", [["a"], ["b"]]),
        ("[ -f $(a) ]", [["a"]]),
        ("[[ $(a) == b ]]", [["a"]]),
        ("echo ${x:-$(a)}", [["echo", None], ["a"]]),
        ("echo $(( $(wc -l) + 1 ))", [["echo", None], ["wc", "-l"]]),
        ("cat <<E\n$(a)\nE\n", [["cat"], ["a"]]),
        ("a=(1 $(b))", [[], ["b"]]),
    ],
)
def test_every_command_of_a_line_is_found(line: str, found: list[list[str | None]]) -> None:
    assert commands(line) == found
    assert read_line(line).doubts == []


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("r''m", "rm"),
        ("'r'\"m\"", "rm"),
        ("\\r\\m", "rm"),
        ("$'r\\x6d'", "rm"),
        ("$'\\162\\155'", "rm"),
        ("$'\\u0072m'", "rm"),
        ('"a b"', "a b"),
        ('"a\\"b\\$c\\\\d"', 'a"b$c\\d'),
        ("a\\ b", "a b"),
        ("~/x", "~/x"),
        ("$HOME/x", "~/x"),
        ('"${HOME}"/x', "~/x"),
        ("a=b", "a=b"),
        ("{}", "{}"),
        ("'{a,b}'", "{a,b}"),
        ("$x", None),
        ("a$x", None),
        ("{a,$x}", None),
    ],
)
def test_a_word_is_what_the_program_gets(line: str, text: str | None) -> None:
    [[_, word]] = commands(f"echo {line}")
    assert word == text


@pytest.mark.parametrize(
    "line",
    [
        *("echo 'a", 'echo "a', "if true", "a &&", "(a", "a)", "a | | b", "cat <<E\nx", "for"),
        *("r\\\nm x", "a\\\n", "echo a\u200bb", "ls\u00a0x", "a\rb", "a\x1b[Ab", "echo \u202ex"),
        *("${!x}", "echo ${x@P}", "echo ${x:$(a)}", "a > b c > d e", "cat <<'E F'\nx\nE F\n"),
        *("cat <<A <<B\nA\nB\n", "coproc a", "echo `a \\`b\\``", "cat <<-E\n\t$(a)\n\tE\n"),
        *("x='a[$(b)]'; echo $((x))", "read 'a[$(b)]'", "unset 'a[$(b)]'", "echo $'\\q'"),
    ],
)
def test_what_the_text_does_not_tell_is_a_doubt(line: str) -> None:
    assert read_line(line).doubts


def test_a_broken_line_still_shows_its_commands() -> None:
    assert ["rm", "-rf", "/"] in commands("if true; then rm -rf / ")


def test_redirections_and_what_they_write_to() -> None:
    found = read_line("a > x 2>&1 < y >> z &> w >| v 2>/dev/null").redirects
    assert [(one.operator, one.target.text) for one in found if one.writes] == [
        (">", "x"),
        (">>", "z"),
        ("&>", "w"),
        (">|", "v"),
        (">", "/dev/null"),
    ]


def test_a_function_that_starts_copies_of_itself_is_known() -> None:
    assert read_line(":(){ :|:& };:").forks_itself == ":"
    assert read_line("f() { f; }; f").forks_itself is None
    assert read_line("f() { a | b & }; f").forks_itself is None


def test_a_line_has_a_longest_length() -> None:
    assert read_line("echo " + "a" * (MOST_BYTES - 5)).doubts == []
    assert read_line("echo " + "a" * MOST_BYTES).doubts


def test_zsh_does_not_always_know_comments() -> None:
    assert read_line("a # b").doubts == []
    assert read_line("a # b", "zsh").doubts
