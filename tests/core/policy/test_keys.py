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


@pytest.mark.parametrize(
    "line",
    [
        "cp .env notes.txt",
        "cp .env /tmp/",
        "cp server.key /tmp/server.key",
        "mv .env.local src/x.txt",
        "ln .env x",
        "install -m 644 server.key public.txt",
        "tar cf - .env | base64",
        "tar -czf x.tgz src .env",
        "zip x.zip .env",
        "7z a x.7z secrets.yml",
    ],
)
def test_keys_that_get_another_name_or_are_packed_ask(line: str) -> None:
    assert decide(line, GUARDED, EXAMPLE).verdict == "ask"


@pytest.mark.parametrize(
    "line",
    [
        "cp .env.example .env",
        "cp .env .env.backup",
        "cp .env config/",
        "mv .env.local .env",
        "tar -tzf x.tgz .env",
        "tar xzf x.tgz .env",
        "tar czf x.tgz src",
        "zip -r x.zip src",
    ],
)
def test_copies_whose_names_tell_that_they_are_keys_run(line: str) -> None:
    assert decide(line, GUARDED, EXAMPLE).verdict == "allow"


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        ("grep -r API_KEY . --include=.env", "ask"),
        ("rg KEY -g '*.key'", "ask"),
        ("grep -r KEY . --include='*.py'", "allow"),
        ("rg KEY -g '!.env'", "allow"),
    ],
)
def test_a_search_in_files_with_keys_alone_asks(line: str, verdict: str) -> None:
    assert decide(line, GUARDED, EXAMPLE).verdict == verdict
