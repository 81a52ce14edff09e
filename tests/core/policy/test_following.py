"""What a line's own variables, braces and changes of folder mean for what it runs."""

import time

import pytest

from nacre.core.policy.decide import decide
from nacre.core.policy.grammar.braces import expanded
from nacre.core.policy.reading import read_line
from nacre.core.policy.resolving import resolve_line
from nacre.system.policy_files import EXAMPLE, load_policy

GUARDED = load_policy("guarded")


def argvs(line: str) -> list[tuple[str, ...]]:
    return [program.argv() for program in resolve_line(line).programs]


def test_a_variable_of_the_line_is_what_it_holds() -> None:
    assert argvs('D=build; mkdir "$D/x"') == [("mkdir", "build/x")]
    assert argvs("c=rm && $c x") == [("rm", "x")]
    assert argvs('for f in a b; do touch "$f.txt"; done') == [
        ("touch", "a.txt"),
        ("touch", "b.txt"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        *("D=a; D=b; ls $D", "true || D=a; ls $D", "(D=a); ls $D", "D=a | x; ls $D", "D=a & ls $D"),
        *(
            "D=a; read D; ls $D",
            "D=a; eval $x; ls $D",
            "D='a b'; ls $D",
            "D='*'; ls $D",
            "D=a ls $D",
        ),
    ],
)
def test_a_variable_that_something_else_may_set_is_not_known(line: str) -> None:
    assert not {("ls", "a"), ("ls", "b"), ("ls", "*"), ("ls", "a b")} & set(argvs(line))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{a,b}", ["a", "b"]),
        ("x{,.bak}", ["x", "x.bak"]),
        ("{1..3}", ["1", "2", "3"]),
        ("a{b,c{d,e}}", ["ab", "acd", "ace"]),
        ("{a}", None),
        ("{1..9999}", None),
        ("{a,$x}", None),
    ],
)
def test_braces(text: str, words: list[str] | None) -> None:
    found = expanded(text)
    assert (None if found is None else sorted(set(found))) == words


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        ("mkdir -p build && cd build && cmake .. && make", "allow"),
        ("cd src; touch ../x", "allow"),
        ("(cd src && touch ../x)", "allow"),
        ("(cd src); touch ../x", "ask"),
        ("cd src | ls; touch ../x", "ask"),
        ("false && cd src; touch ../x", "ask"),
        ("if x; then cd src; fi; touch ../x", "ask"),
        ("echo x > ../y; cd src", "ask"),
        ("cd src && echo x > ../y", "allow"),
    ],
)
def test_a_cd_reaches_as_far_as_its_shell(line: str, verdict: str) -> None:
    line = line.replace("if x", "if true")
    assert decide(line, GUARDED, EXAMPLE).verdict == verdict


@pytest.mark.parametrize("unit", [")", "a|", "(", "$(", "<<E\n", "\0"])
def test_a_line_that_would_keep_the_parser_busy_is_not_parsed(unit: str) -> None:
    begin = time.process_time()
    assert read_line(unit * (16000 // len(unit))).doubts
    assert time.process_time() - begin < 0.5  # it took 1.4 s


@pytest.mark.parametrize(
    "calculation", ["$(( $(cat x) ))", "$((a[$(cat x)]))", "$(( `cat x` + 1 ))"]
)
def test_what_a_program_prints_is_no_number(calculation: str) -> None:
    """Bash reads it as an expression: a[$(unlink y)] in the file x would run."""
    assert decide(f"echo {calculation}", GUARDED, EXAMPLE).verdict == "ask"
    assert decide("echo $(( $(date +%s) - $(wc -l < x) ))", GUARDED, EXAMPLE).verdict == "allow"


@pytest.mark.parametrize(
    "line",
    ["git diff | ssh host cat", "ssh host cat < x", "cat x | (ssh host cat)", "a | nice ssh h cat"],
)
def test_what_is_fed_to_another_machine_asks(line: str) -> None:
    assert decide(line, GUARDED, EXAMPLE).verdict == "ask"
    assert decide("ssh host cat x | head", GUARDED, EXAMPLE).verdict == "allow"


def test_two_names_of_one_program_are_judged_alike() -> None:
    assert argvs("npm exec -- tsc --noEmit") == [("npx", "tsc", "--noEmit")]
    assert argvs("bun x tsc") == [("bunx", "tsc")]
    assert argvs("npm exec tsc -c x") == [("npm", "exec", "tsc", "-c", "x")]


def test_a_build_of_what_the_line_has_cloned_asks() -> None:
    clone = "git clone https://example.org/a/b && cd b && "
    assert decide(f"{clone}make", GUARDED, EXAMPLE).verdict == "ask"
    assert decide(f"{clone}ls", GUARDED, EXAMPLE).verdict == "allow"
