"""Names of options, tasks and sub-commands, taken apart into their words."""

import pytest

from nacre.core.policy.decide import decide
from nacre.core.policy.known.option_names import is_harmless_name
from nacre.core.policy.known.option_words import WORDS
from nacre.core.policy.known.task_names import is_risky_task
from nacre.system.policy_files import EXAMPLE, load_policy

GUARDED = load_policy("guarded")


@pytest.mark.parametrize(
    "name",
    [
        *("verbose", "max-warnings", "maxWorkers", "noEmit", "coverage.reporter", "dry-run"),
        *("no-scripts", "skip-hooks", "ignore-scripts", "list-tests", "loader:.svg", "py311-plus"),
    ],
)
def test_an_option_of_harmless_words_is_known(name: str) -> None:
    assert is_harmless_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *("exec", "exec-batch", "globalSetupCommand", "plugin", "pre-hook", "tx", "pastebin"),
        *("show-secrets", "print-token", "delete", "upload-to", "no-preserve-root", "", "-", "é"),
    ],
)
def test_an_option_of_another_word_is_not(name: str) -> None:
    assert not is_harmless_name(name)


def test_no_word_runs_loads_deletes_or_sends() -> None:
    dangerous = {
        *("exec", "cmd", "command", "hook", "plugin", "require", "preload", "load", "editor"),
        *("publish", "upload", "delete", "remove", "reset", "clear", "token", "key", "secret"),
        *("password", "remote", "proxy", "script", "scripts", "shell", "eval", "privileged"),
        *("overwrite", "purge", "wipe", "push", "send", "record", "wrapper", "launcher", "host"),
    }
    assert not dangerous & WORDS


@pytest.mark.parametrize(
    "name",
    [
        *("db-drop", "dropDb", "db:drop", "drop_db", "tf-apply", "k8s-apply", "prod:migrate"),
        *("app:deploy", "clean-volumes", "s3:sync", "migrate:down", "teardown", "gh-pages"),
    ],
)
def test_a_risky_word_is_found_however_a_task_is_spelled(name: str) -> None:
    assert is_risky_task(name)


@pytest.mark.parametrize(
    "name",
    [
        *("build", "test:upload", "lint:fix", "build:prod", "start:prod", "clean-all", "db:seed"),
        *("spotlessApply", "dropdown", "migrate:up", "docs:publish-check", "sync", "restore"),
    ],
)
def test_what_builds_tests_and_looks_is_no_risky_task(name: str) -> None:
    assert not is_risky_task(name)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("echo x >> .github/workflows/ci.yml", "runs by itself"),
        ("cp x .envrc", "runs by itself"),
        ("sed -i s/a/b/ .vscode/tasks.json", "runs by itself"),
        ("echo $GITHUB_TOKEN", "key or password"),
        ("env | grep -i secret", "key or password"),
        ("pip install /tmp/x", "scratch"),
        ("curl localhost:80 --data-urlencode x@/home/you/project/key", "no rule"),
        ("cat /dev/zero > big", "fill the disk"),
        ("ls ${q:-$((cd x; echo '$(rm y)'))}", "read as a calculation"),
    ],
)
def test_the_reason_says_what_is_asked_about(line: str, reason: str) -> None:
    found = decide(line, GUARDED, EXAMPLE)
    assert found.verdict == "ask"
    assert any(reason in why for why in found.reasons), found.reasons


@pytest.mark.parametrize(
    "line",
    [
        "cat .github/workflows/ci.yml",
        "mkdir -p .github/workflows",
        "actionlint .github/workflows/ci.yml",
        "env | grep -i token | cut -d= -f1",
        '[ -n "$GITHUB_TOKEN" ] && echo set',
        "echo ${API_KEY:+set}",
        "cat /dev/urandom | tr -dc a-z | head -c 16",
        "echo $((1 + 2))",
        "black . && isort . && mypy .",
        """curl -X POST localhost:80/x -d '{"email": "a@b.c"}'""",
    ],
)
def test_what_only_looks_like_it_runs(line: str) -> None:
    assert decide(line, GUARDED, EXAMPLE).verdict == "allow"
