"""Random lines of bash, nested and broken, to be judged and to be run: both must agree.

Used by the tests and by bench/policy.py.
"""

import random
from collections.abc import Iterator

from core.policy.lines import HARMLESS

_SAFE = (
    *(
        "ls",
        "echo hi",
        "cat a",
        "true",
        "false",
        "pwd",
        "wc -l a",
        "grep a b",
        "head -1 a",
        "seq 3",
    ),
    *("date", "echo rm x", "echo 'rm x'", 'echo "rm x"', "printf '%s' rm", "test -f a", "[ -f a ]"),
    *("[[ -f a ]]", "sort a", "awk '{print $1}' a", "sed -n 1p a", "x=1", "export A=1", "((1+1))"),
    *("echo $((1+2))", "read v < a", "cat < a", "echo a > out", "ls *.txt", "find . -name a"),
    *("echo {a,b}", "echo ~", 'echo "$HOME"', "echo \\$x", "echo a\\;rm x", "echo '$(rm x)'"),
    *("echo \\`rm x\\`", "tr a b < a", "f() { echo hi; }; f"),
)
_NAMES = (
    *("rm", "rm", "rm", "rm", "r''m", "'rm'", '"rm"', "\\rm", 'r"m"', "r\\m", "$'rm'", "$'r\\x6d'"),
    *("/tmp/stubs/rm", "command rm", "env rm", "nice rm", "timeout 3 rm", "builtin command rm"),
    *("exec rm", "nohup rm", "env -i PATH=$PATH rm", "setsid -w rm", "time rm", "chmod", "unlink"),
    *("shred", "truncate", "${x:-rm}", "`echo rm`", "$(echo rm)", '"$(echo rm)"', "{rm,x}", "sudo"),
    *("r${z}m", "${z}rm", "/t*/stubs/r?", "stdbuf -o0 rm", "xargs rm x <", "command -p rm"),
    *("env FOO=1 rm", "chown", "killall", "xargs -l rm <", "time -p rm", "strace rm", "bash -c rm"),
    *(
        "c=rm; $c",
        "for c in rm; do $c; done; ls",
        "{,rm}",
        "sort --compress-prog=rm -S1 a",
        "\\r\\m",
    ),
    *(
        "tar cf o --remove-f",
        "find a -exec rm {} + -o -name",
        "env -S rm",
        "command -- rm",
        "~+/rm",
    ),
)
_ENDS = (" x", ' "x"', " -f x", " $x", "", " x y", " 2>&1", " > out", " < a")
_JOINTS = ("; ", " && ", " || ", " | ", " & ", "\n", ";", " |& ")
_NESTED = (
    *("( {} )", "{{ {}; }}", "echo $({})", 'echo "$({})"', "! {}", "time {}", "cat <({})"),
    *(
        "v=a; {}",
        "for f in a b; do {}; echo $f; done",
        "cd sub && {}",
        "(cd sub; {})",
        "[[ -f a && $({}) ]]",
    ),
    *(
        "case $({}) in x) ls;; esac",
        "while {}; do break; done",
        "select i in 1; do {}; break; done < a",
    ),
    *("echo $(( $({}) ))", "(( $({}) ))", "for ((i=$({}); i<1; i++)); do ls; done", "a[$({})]=1"),
    *(
        "function g {{ {}; }}; g",
        "{{ {}; }} > out",
        "cat < <({})",
        "x=({} a)",
        "echo ${{x/$({})/b}}",
    ),
    *(
        "if ls; then :; elif {}; then ls; fi",
        "echo a; {} &",
        "ls \\\n; {}",
        "ls && \\\n{}",
    ),
    *(
        "echo {{a,$({})}}",
        "[ -f a ] && {{ {}; }}",
        "exec 3< <({})",
        "cat <<< $({})",
        'echo "${{x:-$({})}}"',
    ),
    *("for i in 1 2; do {}; done", "fn() {{ {}; }}; fn", "echo ${{q:-$({})}}", "x=$({})"),
    *('[ -z "$({})" ]', "a=rm; $a x; {}", "echo $(( $({}) + 1 ))", "{} # rm x", "echo `{}`"),
    *(
        "cat <<E\nx\n$({})\nE\n",
        "cat <<-E\n\t$({})\n\tE\n",
        "sh <<'E'\n{}\nE\n",
        "echo x | xargs {}",
        "coproc {}",
    ),
    *(
        "find a -exec {} {{}} \\;",
        "if {}; then ls; fi",
        "case a in a) {};; esac",
        "until {}; do ls; done",
    ),
)
_QUOTED = (
    *(
        "printf {} | sh",
        "sh -c -- {}",
        "bash -c -x {}",
        "bash -ec {} x",
        'v={}; eval "$v"',
        "v={}; $v",
    ),
    *(
        "echo {} | xargs -I% sh -c %",
        "xargs -I% sh -c {} < a",
        "find a -exec sh -c {} \\;",
        "sed -n {} a",
    ),
    *(
        "awk {} a",
        "sed -e {} -e p a",
        "env -i sh -c {}",
        "nice sh -c {} | cat",
        "cat <<< {} | bash",
    ),
    *("bash -c {}", "eval {}", "echo {} | sh", "trap {} EXIT", "env A=1 sh -c {}", "echo {}"),
    *("bash <<< {}", "alias zz={}", "timeout 2 bash -c {}", "source <(echo {})"),
)
_PIECES = (
    *";|&$`(){}\"'\\\n\t #<>*?[]~!=-r m",
    *("$(", "${", "rm ", "rm x", "; rm x", " && rm x", "\\\n", "<<E\n", "\nE\n", "$'", '""', "''"),
    *(
        "$((",
        "a[",
        "]=",
        "=(",
        "&>",
        ">|",
        "<>",
        "|&",
        ";&",
        "in",
        "case",
        "{{",
        "}}",
        "!(",
        "@(",
        "%",
        "\r",
    ),
    *("<(", "|rm x", "\n#", "esac", "done", "fi", "then", "do", "((", "))", "[[", "]]", ";;", "!"),
)
_NETWORK = (
    "http",
    "npm",
    "docker",
    "git",
    "cargo",
    "apt",
    "pip",
    "brew",
    "localhost",
    "ssh",
    "wget",
)
_BASES = tuple(line for line in HARMLESS if not any(word in line for word in _NETWORK))


def random_lines(seed: int) -> Iterator[str]:
    """Yield lines without end; the same seed gives the same ones."""
    rng = random.Random(seed)
    while True:
        line = _line(rng, rng.randrange(1, 5))
        chance = rng.random()
        if chance < 0.35:
            line = _broken(rng, line)
        elif chance < 0.5:
            joint = rng.choice(("; ", "\n", " | "))
            line = _broken(rng, rng.choice(_BASES) + joint + line)
        yield line


def _line(rng: random.Random, depth: int) -> str:
    if depth <= 0:
        if rng.random() < 0.35:
            return rng.choice(_NAMES) + rng.choice(_ENDS)
        return rng.choice(_SAFE)
    inner = _line(rng, depth - 1 - rng.randrange(2))
    kind = rng.random()
    if kind < 0.2:
        return inner + rng.choice(_JOINTS) + _line(rng, depth - 1)
    if kind < 0.75:
        return rng.choice(_NESTED).format(inner)
    return rng.choice(_QUOTED).format(rng.choice((_single, _double))(inner))


def _single(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _double(text: str) -> str:
    for character in '\\"$`':
        text = text.replace(character, "\\" + character)
    return f'"{text}"'


def _broken(rng: random.Random, line: str) -> str:
    """Put in, take out or change a few characters."""
    text = list(line)
    for _ in range(rng.randrange(1, 4)):
        at, kind = rng.randrange(len(text) + 1), rng.random()
        if kind < 0.6:
            text[at:at] = list(rng.choice(_PIECES))
        elif kind < 0.8:
            del text[at : at + 1]
        else:
            text[at : at + 1] = list(rng.choice(_PIECES))
    return "".join(text)
