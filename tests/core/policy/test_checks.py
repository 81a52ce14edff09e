import pytest

from nacre.core.policy.checks import CHECKS
from nacre.core.policy.resolving import resolve_line


def passes(check: str, line: str) -> bool:
    return CHECKS[check](resolve_line(line).programs[0].arguments)


@pytest.mark.parametrize(
    "line",
    [
        *(
            "sed -n 1,20p x",
            "sed s/a/b/ x",
            "sed 's|a|b|g' x",
            "sed -E 's/(a)/\\1/2' x",
            "sed '/x/d' y",
        ),
        *(
            "sed -i.bak 's/a/b/' x",
            "sed -e 1d -e '$p' x",
            "sed '1!G;h;$!d' x",
            "sed 'y/abc/def/' x",
        ),
        *(
            "sed -n '/a/,/b/p' x",
            "sed '5i text' x",
            "sed = x",
            "sed 2q x",
        ),
    ],
)
def test_sed_that_only_prints_and_replaces_passes(line: str) -> None:
    assert passes("sed", line)


@pytest.mark.parametrize(
    "line",
    [
        *("sed 1e x", "sed 's/a/b/e' x", "sed 's/a/b/gw f' x", "sed 'w f' x", "sed '1r /etc/x' y"),
        *("sed -f script x", "sed --file=x y", "sed '1{e id\n}' x", "sed -n 'p;e' x", "sed $x y"),
        *("sed 's/a/b/;1e id' x", "sed --debug 1p x", "sed -s", "sed 'R x' y", "sed 'W x' y"),
    ],
)
def test_sed_that_may_run_or_write_does_not(line: str) -> None:
    assert not passes("sed", line)


@pytest.mark.parametrize(
    "line",
    [
        *(
            "awk '{print $1}' x",
            "awk -F: '{print $NF}' x",
            "awk 'NR>1' x",
            "awk '$3 > 5 {print}' x",
        ),
        *("awk -v a=1 '{if ($1 > a) print}' x", "awk '/a|b/ {n++} END {print n}' x", "awk NR==2 x"),
    ],
)
def test_awk_that_only_prints_passes(line: str) -> None:
    assert passes("awk", line)


@pytest.mark.parametrize(
    "line",
    [
        *("awk 'BEGIN{system(\"id\")}'", "awk '{print > \"f\"}' x", "awk '{print | \"sh\"}' x"),
        *("awk '{\"id\" | getline}' x", "awk -f x y", "awk -i inplace '{print}' x", "awk $x y"),
        *(
            "awk '@load \"x\"' y",
            "awk --source 'x' y",
            "awk '{print >> \"f\"}' x",
            "awk -E x",
            "awk",
        ),
    ],
)
def test_awk_that_may_run_or_write_does_not(line: str) -> None:
    assert not passes("awk", line)


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        ("cmake -DCMAKE_CXX_COMPILER=clang++-17", True),
        ("cmake -DCMAKE_C_COMPILER_LAUNCHER:STRING=/usr/bin/ccache", True),
        ("cmake -DCMAKE_C_COMPILER=./x", False),
        ("cmake -DCMAKE_C_COMPILER_LAUNCHER=/tmp/x", False),
        ("make PATH=/tmp", False),
        ("make VERSION=1.2", True),
    ],
)
def test_a_build_is_told_no_program_of_ones_own(line: str, *, plain: bool) -> None:
    assert passes("settings", line) is plain


@pytest.mark.parametrize(
    ("line", "near"),
    [
        ("psql -h localhost -c 'select 1'", True),
        ("psql -h db -c 'select 1'", True),
        ("psql -h db.example.org -c 'select 1'", False),
        ("psql postgres://u:p@db.example.org/app -c 'select 1'", False),
        ("mysql -hdb.example.org -e 'select 1'", False),
    ],
)
def test_a_database_elsewhere_would_get_the_password(line: str, *, near: bool) -> None:
    assert passes("sql", line) is near


def test_an_address_that_destroys_is_not_only_sent_to() -> None:
    assert passes("local http", "curl -X POST localhost:9200/a/_search -d x")
    assert not passes("local http", "curl -X POST localhost:9200/a/_delete_by_query -d x")
    assert not passes("local http", "curl -X POST http://localhost:8080/actuator/shutdown")
