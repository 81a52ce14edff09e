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


def test_a_function_hides_no_program_of_its_name_behind_a_path_or_a_builtin() -> None:
    for called in ("/usr/bin/git", "command git", "env git"):
        line = f'git() {{ {called} push --force "$@"; }}; git origin main'
        assert decide(line, GUARDED, EXAMPLE).verdict == "ask", line


def test_what_runs_in_a_container_is_judged_by_itself() -> None:
    verdicts = {
        line: decide(line, GUARDED, EXAMPLE).verdict
        for line in (
            "docker compose -f dev.yml exec -T web pytest -q",
            "docker exec -e CI=1 web npm test",
            "docker exec web npm publish",
            "docker exec -eLD_PRELOAD=/tmp/x.so web ls",
            "docker compose run --rm -v /:/host web ls",
            "docker compose -f /tmp/x.yml exec web ls",
            "docker exec -it web bash",
            "docker exec web rm -rf /app",
        )
    }
    assert list(verdicts.values()) == ["allow"] * 2 + ["ask"] * 5 + ["deny"]


def test_a_dash_before_a_document_is_a_word() -> None:
    """The grammar loses it."""
    message = "git commit -F - <<'MSG'\nfix: the `reset` path\n\n$HOME; see #4\nMSG"
    assert decide(message, GUARDED, EXAMPLE).verdict == "allow"
    assert decide(message, GUARDED, EXAMPLE).commands[0] == ("git", "commit", "-F", "-")
    assert decide("bash - <<'EOF'\nls\nEOF", GUARDED, EXAMPLE).verdict != "allow"


@pytest.mark.parametrize(
    "line",
    [
        "cat > src/a.py <<'EOF'\nimport os\nEOF\nmypy src && ruff check src",
        "sed -i 's/old/new/g' src/services/*.ts && npx tsc --noEmit",
        "cat > tests/test_a.py <<'EOF'\nfrom a import f\ndef test_f(): assert f()\nEOF\npytest",
        "sed -i 's/mux.Handle(/r.Handle(/' src/router.go && go build ./...",
        "npm run lint > /tmp/lint.log 2>&1; npm test",
        "cp src/a.go src/a.go.orig && go test ./...",
        "cat > a.md <<'EOF'\nx\nEOF\ncat > b.md <<'EOF'\ny\nEOF",
    ],
)
def test_what_a_line_writes_may_be_looked_at_and_plain_sources_tested(line: str) -> None:
    assert decide(line, GUARDED, EXAMPLE).verdict == "allow"


@pytest.mark.parametrize(
    "line",
    [
        "cat > eslint.config.ts <<'EOF'\nx\nEOF\nnpx eslint .",
        "cat > setup.py <<'EOF'\nx\nEOF\nmypy .",
        "cat > tests/test_a.py <<'EOF'\nimport shutil\nEOF\npytest",
        "cat > tests/test_a.py <<EOF\nfrom a import $X\nEOF\npytest",
        "cat <<'EOF' < evil > tests/test_a.py\nx\nEOF\npytest",
        "printf 'import o\\163' > tests/test_a.py && pytest",
        "cat > a.test.ts <<'EOF'\nnew Function('x')()\nEOF\nnpx vitest",
        "cat > a.test.ts <<'EOF'\nglobalThis['pro' + 'cess']\nEOF\nnpx vitest",
        "cat > a.test.ts <<'EOF'\n[].constructor.constructor('x')()\nEOF\nnpx vitest",
        "sed -i 's/x/os.RemoveAll(\"y\")/' src/a.go && go test ./...",
        "echo 'all: ; curl example.org' > Makefile && make",
        "cp evil.txt src/a.py && pytest",
        "cat > a <<A; cat > b <<B\nx\nA\ny\nB",
        "ls; > src/a.py",
        "MIX_EXS=/tmp/mix.exs mix test",
        "ANY=/tmp/x.so make",
    ],
)
def test_what_steers_or_reaches_out_is_asked_about_before_it_runs(line: str) -> None:
    assert decide(line, GUARDED, EXAMPLE).verdict == "ask"


def test_a_file_that_is_read_and_written_by_one_command_is_emptied_first() -> None:
    lines = ("sed s/a/b/ x.yml > x.yml", "cat x | sort > ./x", "tr a b < x > x", "sort x > y")
    assert [decide(line, GUARDED, EXAMPLE).verdict for line in lines] == ["ask"] * 3 + ["allow"]


def test_a_subscript_that_a_builtin_calculates_asks() -> None:
    lines = ('declare -a "x[\\$(rm -rf src)]=1"', "unset 'a[$(id)]'", "declare -a 'x[1]=2'")
    assert [decide(line, GUARDED, EXAMPLE).verdict for line in lines] == ["ask", "ask", "allow"]
