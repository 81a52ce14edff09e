import pytest

from nacre.core.policy.decide import decide
from nacre.core.policy.resolving import resolve_line
from nacre.core.policy.variables import is_harmless
from nacre.system.policy_files import EXAMPLE, load_policy


@pytest.mark.parametrize(
    ("line", "harmless"),
    [
        ("A=1", True),
        ("NODE_ENV=test x", True),
        ("PYTHONPATH=src x", True),
        ("GIT_PAGER=cat x", True),
        ("GIT_AUTHOR_NAME=x y", True),
        ("PATH=. x", False),
        ("export PATH=.:$PATH", False),
        ("LD_PRELOAD=x y", False),
        ("GIT_SSH_COMMAND=x y", False),
        ("PAGER='sh x' y", False),
        ("PAGER=$x y", False),
        ("env IFS=x y", False),
        ("BASH_ENV=x y", False),
        ("AWS_ENDPOINT_URL=https://x.example y", False),
        ("PGHOST=x.example y", False),
        ("SCCACHE_WRAPPER=./x y", False),
    ],
)
def test_a_variable_that_changes_programs_is_known(line: str, harmless: bool) -> None:
    assert all(is_harmless(one) for one in resolve_line(line).assignments) is harmless


@pytest.mark.parametrize(
    "line",
    [
        *("functions[ls]='rm x'", "aliases[ls]='rm x'", "commands[ls]=/tmp/x", "fpath=(x)"),
        *("path=(/tmp $path)", "PROMPT='$(rm x)'", "precmd_functions+=(f)", "galiases[X]='; rm y'"),
    ],
)
def test_what_tells_zsh_what_to_run_asks_there(line: str) -> None:
    guarded = load_policy("guarded")
    assert decide(line, guarded, EXAMPLE, "zsh").verdict == "ask"


def test_such_a_name_is_a_name_elsewhere() -> None:
    assert (
        decide("path=src/app.py; wc -l $path", load_policy("guarded"), EXAMPLE).verdict == "allow"
    )


@pytest.mark.parametrize(
    ("value", "verdict"),
    [
        ("$HOME/.local/bin:$PATH", "allow"),
        ('"$PATH:/usr/local/go/bin"', "allow"),
        ("~/.cargo/bin:${PATH}", "allow"),
        (".:$PATH", "ask"),
        ("/tmp/x:$PATH", "ask"),
        ("$HOME/.local/bin", "ask"),
        ("$HOME/.local/bin:$(rm x):$PATH", "deny"),
    ],
)
def test_a_path_may_get_folders_of_installed_programs(value: str, verdict: str) -> None:
    assert decide(f"export PATH={value}", load_policy("guarded"), EXAMPLE).verdict == verdict
