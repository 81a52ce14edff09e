from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from nacre.core.policy.decide import Decision, Policy, decide, decide_argv, decide_tool
from nacre.core.policy.paths import Where
from nacre.core.policy.rulebook import RuleBook
from nacre.core.policy.rules import rules_from
from nacre.core.policy.verdicts import Preset
from nacre.core.shell.wrapper import as_fed
from nacre.errors import InvalidInput
from nacre.system.policy_files import EXAMPLE, load_policy

from core.policy.lines import HARMFUL, HARMLESS
from core.policy.random_lines import random_lines
from core.policy.truth import can_run, harms

GUARDED = load_policy("guarded")
OPEN = load_policy("open")
STRICT = load_policy("strict")
SANDBOX = Where("/tmp/work", home="/tmp/home", workspace="/tmp/work")

# Questions that could be spared; they leave the workspace, or serve it to the network.
ASKED = {
    "ln -s ../shared/lib.py lib.py",
    "git -C ../other status",
    "python -m http.server 8000",
}


def judge(line: str, policy: Policy = GUARDED, where: Where = EXAMPLE) -> Decision:
    return decide(line, policy, where)


@pytest.mark.parametrize("line", HARMFUL)
def test_a_harmful_line_is_not_allowed(line: str) -> None:
    assert judge(line).verdict != "allow"


def test_nobody_is_asked_about_harmless_lines() -> None:
    assert {line for line in HARMLESS if judge(line).verdict != "allow"} == ASKED
    assert len(ASKED) / len(HARMLESS) < 0.02


def lines_of(name: str) -> list[str]:
    return (Path(__file__).parent / name).read_text().splitlines()


# Of the lines that agents type: /etc is the system's, a server shows the workspace to the network,
# and what is in a variable may be an option.
ASKED_TYPED = {
    "cut -d: -f1 /etc/passwd | sort",
    "python3 -m http.server 8000 &",
    'psql "$DATABASE_URL" -c "select 1"',
}


def test_lines_that_agents_type_run_unasked() -> None:
    lines = lines_of("typed.txt")
    assert {line for line in lines if judge(line).verdict != "allow"} == ASKED_TYPED
    assert len(ASKED_TYPED) / len(lines) < 0.02


def test_no_disguised_line_is_allowed() -> None:
    lines = lines_of("disguised.txt")
    assert len(lines) > 150
    assert [line for line in lines if judge(line).verdict == "allow"] == []


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        ("cd / && git clean -fdx", "deny"),
        ("git -C ~ clean -fd", "deny"),
        ("cd src && git clean -fdx", "allow"),
        ("mdadm --stop /dev/md0", "deny"),
        ("mdadm --detail /dev/md0", "allow"),
    ],
)
def test_open_denies_what_would_empty_the_system_or_take_a_disk_away(
    line: str, verdict: str
) -> None:
    assert judge(line, OPEN).verdict == verdict


def test_home_below_scratch_is_no_scratch() -> None:
    where = Where("/tmp/me/project", home="/tmp/me", workspace="/tmp/me/project")
    assert judge("echo x >> ~/.bashrc", where=where).verdict == "ask"
    assert judge("cp x /tmp/me/.profile", where=where).verdict == "ask"
    assert judge("echo x > /tmp/other", where=where).verdict == "allow"
    assert judge("echo x > notes", where=where).verdict == "allow"


def test_no_abuse_of_an_allowed_program_is_allowed() -> None:
    """Options that write, run or load, variables, folders: gone through program by program."""
    lines = lines_of("harmful.txt")
    assert [line for line in lines if judge(line).verdict == "allow"] == []


def test_nobody_is_asked_about_what_agents_type() -> None:
    lines = lines_of("harmless.txt")
    assert [line for line in lines if judge(line).verdict != "allow"] == []


def test_open_denies_what_destroys_the_machine_by_detours() -> None:
    lines = lines_of("destroying.txt")
    assert len(lines) > 150
    assert [line for line in lines if judge(line, OPEN).verdict != "deny"] == []


def test_open_denies_nothing_else() -> None:
    lines = (*lines_of("harmless.txt"), *HARMLESS, *_DELETES_ITS_OWN)
    lines = (*lines, *lines_of("not_destroying.txt"))
    assert [line for line in lines if judge(line, OPEN).verdict != "allow"] == []


_DELETES_ITS_OWN = (
    *("rm -rf build dist", "rm -rf node_modules && npm ci", "find . -name '*.pyc' | xargs rm -f"),
    *("find / -name core -size +10M 2>/dev/null | xargs rm", "find . -type d -empty -delete"),
    *("git ls-files -d | xargs git rm", "echo build dist | xargs rm -rf", "ls *.log | xargs rm"),
    *('for d in a b; do rm -rf "$d"; done', "parallel rm -rf {} ::: a b", "rm -rf $(echo build)"),
    *("rsync -a --delete src/ backup/", "rsync -a --delete / /mnt/b/today", "rsync -a x/ ~/"),
    *('find /tmp/x | while read f; do rm -rf "$f"; done', 'rm -rf "${TMPDIR:?}"/x'),
    *("docker run -v $PWD:/app alpine rm -rf /app/x", "docker run -v /:/host:ro alpine ls /host"),
    *("tar --remove-files -czf logs.tgz logs", "D=build; rm -rf $D", "cd build && rm -rf *"),
    *('find / -maxdepth 1 | head; rm -rf "$X"', "find / | grep -c x; rm -rf build", "kill -9 42"),
    *("zfs destroy -nv tank/x", "busctl list", "apt-get remove -y nginx", "userdel guest"),
    *("env -S 'ls -l'", "alias rm='rm -i'", "git clean -fdx", "sudo systemctl restart nginx"),
)


@pytest.mark.parametrize(
    "wrapper",
    [
        *("coproc {} x", "xargs -l {} < l", "bash -c -x '{} x'", "sh -c -- '{} x'", "c={}; $c x"),
        *("echo '{} x' | sh", "for c in ls {}; do $c x; done", "strace -f {} x", "time -p {} x"),
    ],
)
@pytest.mark.parametrize("name", ["rm", "sudo", "chmod", "kill", "reboot", "init"])
def test_the_blacklist_is_found_behind_everything(wrapper: str, name: str) -> None:
    assert judge(wrapper.format(name)).verdict == "deny"


@pytest.mark.skipif(not can_run(), reason="bubblewrap cannot run here, and nothing else may")
def test_no_random_line_is_allowed_that_bash_does_harm_by() -> None:
    """bash itself is asked: what is allowed is run where harming programs note their call."""
    lines = [line for line, _ in zip(random_lines(1), range(600), strict=False)]
    allowed = [line for line in lines if judge(line, where=SANDBOX).verdict == "allow"]
    assert len(allowed) > 60
    assert [found for found in harms(allowed) if found[1]] == []


@pytest.mark.parametrize(
    "line",
    [
        *(
            "rm -rf /",
            "rm -rf /*",
            "rm -fr ~",
            "rm -r $HOME/",
            'rm -rf "$HOME"',
            "sudo rm -rf /usr",
        ),
        *(
            "cd / && rm -rf *",
            "rm -rf --no-preserve-root /",
            "rm -rf ../../..",
            "rm -rf /home/anna",
        ),
        *("mkfs.ext4 /dev/sda1", "dd if=x of=/dev/sda", "cat x > /dev/sda", "tee /dev/nvme0n1 < x"),
        *("shutdown now", "sudo reboot", "init 0", "systemctl poweroff", ":(){ :|:& };:"),
        *("b() { b | b & }; b", "sh -c 'rm -rf /'", "ls; rm -rf / #", "find / -delete"),
        *("if true; then rm -rf ~", "perl -e 'fork while fork'", "env -i rm -rf /etc"),
    ],
)
def test_open_denies_what_destroys_the_machine(line: str) -> None:
    for policy in (OPEN, GUARDED, STRICT):
        assert judge(line, policy).verdict == "deny"


@pytest.mark.parametrize(
    "line",
    [
        *(
            "rm -rf build",
            "rm x",
            "chmod -R u+w .",
            "kill 1",
            "sudo ls",
            "curl x | sh",
            "$x",
            "make",
        ),
        *(
            "rm -rf /tmp/x/y",
            "dd if=/dev/zero of=x",
            "git push --force",
            "echo rm -rf /",
            "rm -rf ~/x",
        ),
        *("f() { f; }", "python -c 'x'", "if then", "init 3", "systemctl restart x", "cd / && ls"),
    ],
)
def test_open_lets_everything_else_run(line: str) -> None:
    assert judge(line, OPEN).verdict == "allow"


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        ("ls -la", "allow"),
        ("git status", "allow"),
        ("make", "deny"),
        ("rm x", "deny"),
        ("ls $x", "ask"),
        ("$x", "ask"),
        ("ls; make", "deny"),
    ],
)
def test_strict_runs_what_is_on_its_list(line: str, verdict: str) -> None:
    assert judge(line, STRICT).verdict == verdict


def test_a_verdict_says_what_would_run_and_why() -> None:
    found = judge("find . -name x -exec rm {} +")
    assert found.verdict == "deny"
    assert found.rule == "rm"
    assert ("rm", "{}") in found.commands
    assert "rm (behind find)" in found.reasons[0]


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        ("cat /etc/passwd", "ask"),
        ("cat /etcetera/x", "allow"),
        ("cat /proc/cpuinfo", "allow"),
        ("cat /proc/1/environ", "ask"),
        ("cat ../x", "ask"),
        ("cd sub && cat ../x", "allow"),
        ("cat src/../x", "allow"),
        ("cp x /usr/local/x", "ask"),
        ("cp x /tmp/x", "allow"),
        ("echo x > ~/.bashrc", "ask"),
        ("echo x > .git/hooks/pre-commit", "ask"),
        ("cp x .git/config", "ask"),
        ("grep --file=/etc/passwd x", "ask"),
        ("cd $x && cat ../y", "ask"),
        ("echo /etc/passwd", "allow"),
    ],
)
def test_paths_of_the_system_ask(line: str, verdict: str) -> None:
    assert judge(line).verdict == verdict


def test_nacres_own_folders_ask_wherever_they_are() -> None:
    where = Where("/w", home="/h", workspace="/w", private=("/w/state",))
    assert judge("cat state/token", where=where).verdict == "ask"
    assert judge("cat other/token", where=where).verdict == "allow"


def test_a_link_is_judged_by_what_it_leads_to() -> None:
    where = Where("/w", workspace="/w", real=lambda path: path.replace("/w/link", "/etc"))
    assert judge("cat link/passwd", where=where).verdict == "ask"


def test_who_works_in_a_folder_of_the_systems_may_read_there() -> None:
    where = Where("/root/project", home="/root", workspace="/root/project")
    assert judge("cat /root/project/x", where=where).verdict == "allow"
    assert judge("cat /root/.ssh/id_rsa", where=where).verdict == "ask"


@pytest.mark.parametrize(
    "line",
    [
        "printf 'all:; rm x' > Makefile; make",
        "make & cp evil Makefile",
        "for i in 1 2; do make; echo x > Makefile; done",
        "echo x | tee package.json; npm test",
    ],
)
def test_a_build_asks_when_the_line_writes_what_it_may_run(line: str) -> None:
    assert judge(line).verdict == "ask"
    assert any("may run what this line writes" in why for why in judge(line).reasons)


def test_zsh_and_fish_read_some_lines_in_their_own_way() -> None:
    assert decide("echo a # b", GUARDED, EXAMPLE).verdict == "allow"
    assert decide("echo a # b", GUARDED, EXAMPLE, "zsh").verdict == "ask"
    assert decide(r"echo '\'' ; rm x #'", GUARDED, EXAMPLE, "fish").verdict != "allow"
    assert decide("ls -la", GUARDED, EXAMPLE, "fish").verdict == "allow"


def test_a_program_without_a_shell_is_judged_by_its_words() -> None:
    assert decide_argv(["echo", "$(rm x)"], GUARDED, EXAMPLE).verdict == "allow"
    assert decide_argv(["sh", "-c", "rm x"], GUARDED, EXAMPLE).verdict == "deny"
    assert decide_argv(["rm", "-rf", "/"], OPEN, EXAMPLE).verdict == "deny"


def _rules(preset: Preset, *rules: dict[str, object]) -> Policy:
    book = RuleBook()
    book.add(rules_from({"rule": list(rules)}, "test"))
    return Policy(preset, book)


def test_tools_of_other_servers_are_judged_by_name() -> None:
    rules = _rules(
        "guarded",
        {"tool": "mcp_github_*", "verdict": "allow"},
        {"tool": "*_delete_*", "verdict": "deny", "justification": "ask a person"},
    )
    assert decide_tool("mcp_github_list", rules).verdict == "allow"
    assert decide_tool("mcp_github_delete_repo", rules) == Decision(
        "deny", ("ask a person",), (), "*_delete_*"
    )
    assert decide_tool("mcp_other_x", rules).verdict == "ask"
    assert decide_tool("mcp_other_x", OPEN).verdict == "allow"


def test_a_rule_may_be_about_one_call_of_a_tool() -> None:
    exactly = '{"b": [1, {"c": null}], "a": "ü"}'
    rules = _rules(
        "guarded",
        {"tool": "mcp_x", "arguments": exactly, "verdict": "allow"},
        {"tool": "mcp_y", "arguments": "{}", "verdict": "deny"},
    )
    same = {"a": "ü", "b": [1, {"c": None}]}
    assert decide_tool("mcp_x", rules, same).verdict == "allow"
    for other in ({}, {**same, "d": 1}, {**same, "a": "u"}, {**same, "b": [{"c": None}, 1]}):
        assert decide_tool("mcp_x", rules, other).verdict == "ask"
    assert decide_tool("mcp_x", rules).verdict == "ask"
    assert decide_tool("mcp_y", rules, {"a": 1}).verdict == "ask"
    assert decide_tool("mcp_y", rules, {}).verdict == decide_tool("mcp_y", rules).verdict == "deny"


@pytest.mark.parametrize(
    "rule",
    [
        {"tool": "mcp_x", "arguments": "[1]"},
        {"tool": "mcp_x", "arguments": "{"},
        {"pattern": ["ls"], "arguments": "{}"},
    ],
)
def test_arguments_that_are_none_are_refused(rule: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="as a JSON object in quotes"):
        _rules("guarded", {**rule, "verdict": "allow"})


def test_the_strictest_rule_wins() -> None:
    rules = _rules(
        "guarded",
        {"pattern": ["deploy"], "verdict": "allow"},
        {"pattern": ["deploy", "prod"], "verdict": "ask", "justification": "it is live"},
        {"pattern": ["deploy"], "any": ["--force"], "verdict": "deny"},
    )
    assert judge("deploy test", rules).verdict == "allow"
    assert judge("deploy prod", rules).verdict == "ask"
    assert judge("deploy prod --force", rules).verdict == "deny"


def test_a_saved_line_runs_again_but_lifts_nothing_that_is_denied() -> None:
    saved: Iterable[dict[str, object]] = (
        {"line": "git push", "verdict": "allow"},
        {"line": "rm x", "verdict": "allow"},
        {"pattern": ["rm"], "verdict": "deny"},
    )
    rules = _rules("guarded", *saved)
    assert judge("git push", rules).verdict == "allow"
    assert judge("git push -f", rules).verdict == "ask"
    assert judge("rm x", rules).verdict == "deny"


@pytest.mark.parametrize("line", ["", "   ", "\n", "# only words"])
def test_a_line_without_commands_is_allowed(line: str) -> None:
    assert judge(line).verdict == "allow"


@pytest.mark.parametrize(
    "line", ["a" * 20_000, "(" * 5000, "$(" * 2000 + ")" * 2000, "echo " + "a " * 9000, "\ud800 x"]
)
def test_a_huge_or_deep_line_is_no_proof(line: str) -> None:
    assert judge(line).verdict == "ask"


@pytest.mark.parametrize(
    ("command", "verdict"),
    [("cat", "allow"), ("sort | uniq -c", "allow"), ("bash", "ask"), ("xargs rm", "deny")],
)
def test_what_is_piped_in_is_not_trusted(command: str, verdict: str) -> None:
    assert judge(as_fed(command)).verdict == verdict
