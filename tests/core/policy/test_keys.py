"""Keys of a home that a line reaches without their names."""

import pytest

from nacre.core.policy.decide import decide
from nacre.system.policy_files import EXAMPLE, load_policy

GUARDED = load_policy("guarded")


@pytest.mark.parametrize(
    "line",
    [
        "cat ~/.*/*",
        "cat ~/.??h/id_rsa",
        "cat ~/.[!x]sh/id_rsa",
        "cat ~/**/id_rsa",
        "cat /home/*/.ssh/id_rsa",
        "cat /h*/y*/.ssh/id_rsa",
        "cat /home/other/.ssh/id_rsa",
        "cat ~/.config/*/hosts.yml",
        "cat $X/.ssh/id_rsa",
        "cat /*/passwd",
        "cat ~/.npmrc",
        "grep -r PRIVATE ~",
        "grep --rec PRIVATE /home",
        "cd ~ && rg KEY .",
        "rg -e KEY /",
        "grep -r password ~/.config",
        "find / -name id_rsa -exec cat {} +",
        "find ~ -name '*.pem' | grep x | xargs cat",
        "for f in $(find ~ -name x); do head $f; done",
        "fd -e pem . ~ -x cat",
    ],
)
def test_a_line_that_may_read_keys_asks(line: str) -> None:
    assert decide(line, GUARDED, EXAMPLE).verdict == "ask"


@pytest.mark.parametrize(
    "line",
    [
        "ls -la ~",
        "ls ~/*",
        "ls /*",
        "cat ~/.ssh/id_rsa.pub",
        "find / -name x.conf -exec ls -l {} +",
        "find ~ -name x | head",
        "grep -rn foo ~/.cargo/registry",
        "grep -r / src",
        "rg / src",
        "cat */x.txt",
    ],
)
def test_names_and_other_files_are_no_keys(line: str) -> None:
    assert decide(line, GUARDED, EXAMPLE).verdict == "allow"
