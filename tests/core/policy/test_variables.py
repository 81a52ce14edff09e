import pytest

from nacre.core.policy.resolving import resolve_line
from nacre.core.policy.variables import is_harmless


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
    ],
)
def test_a_variable_that_changes_programs_is_known(line: str, harmless: bool) -> None:
    assert all(is_harmless(one) for one in resolve_line(line).assignments) is harmless
