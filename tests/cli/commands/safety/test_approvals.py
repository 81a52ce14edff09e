"""A person answers what the policy asks at a command line of their own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import PATIENCE
from nacre.cli.commands.safety.approvals import _one
from nacre.client.calls import Client
from nacre.client.start import connect
from nacre.core.text.widths import text_width
from nacre.settings.sources import load_settings

from cli.conftest import Nacre

LINE = "truncate -s 1 made"


def asked(nacre: Nacre) -> dict[str, str]:
    """Return the question, once it is there."""
    while True:
        for one in nacre.call("list_approvals")["approvals"]:
            return dict(one)


def ends(run: "subprocess.Popen[str]") -> tuple[int, str]:
    """Return the exit code and what was printed."""
    printed, _ = run.communicate(timeout=PATIENCE)
    return run.returncode, printed


def test_a_command_waits_for_an_answer(nacre: Nacre, tmp_path: Path) -> None:
    created = nacre.json("new", "approved", "--policy", "guarded", "--cwd", str(tmp_path))
    assert nacre.listed(created["session"])["policy"] == "guarded"
    assert nacre.ok("approvals") == "nothing waits for an approval\n"

    run = nacre.start("run", "approved", "--", LINE)
    question = asked(nacre)
    shown = nacre.ok("approvals", "list")
    assert f"{question['id']}  {LINE}\n" in shown
    assert f"in approved, {tmp_path}" in shown
    assert nacre.ok("approvals", "approve", question["id"], "--once") == "approved; it runs now\n"
    assert ends(run)[0] == 0
    assert (tmp_path / "made").exists()

    run = nacre.start("run", "approved", "--json", "--", LINE)
    assert nacre.ok("approvals", "deny", asked(nacre)["id"]) == "denied\n"
    code, printed = ends(run)
    error = json.loads(printed)["error"]
    assert code == 77
    assert (error["code"], error["command"]) == ("POLICY_DENIED", LINE)
    nacre.fails("INVALID_INPUT", 2, "approvals", "deny", question["id"])
    nacre.fails("INVALID_INPUT", 2, "approvals", "approve")
    nacre.call("close_session", session="approved")


def test_a_saved_answer_is_asked_no_more(nacre: Nacre, home: Path, tmp_path: Path) -> None:
    nacre.call("create_session", name="saved", policy="guarded", cwd=str(tmp_path))
    run = nacre.start("run", "saved", "--", "truncate -s 2 x")
    told = nacre.ok("approvals", "approve", asked(nacre)["id"], "--save")
    file = Path(nacre.paths.config) / "policy.toml"
    assert told == f"approved; it runs now; a rule was added to {file}\n"
    assert ends(run)[0] == 0
    try:
        assert nacre("run", "saved", "--", "truncate -s 2 x").returncode == 0
        assert nacre.ok("policy", "check", "truncate -s 2 x").startswith("allow")
    finally:
        file.unlink()
    nacre.call("close_session", session="saved")


def test_an_agent_cannot_approve_by_the_command_line_of_its_session(
    nacre: Nacre, tmp_path: Path
) -> None:
    nacre.call("create_session", name="guarded", policy="guarded", cwd=str(tmp_path))
    nacre.call("create_session", name="agent", cwd=str(tmp_path))
    run = nacre.start("run", "guarded", "--", LINE)
    identifier = asked(nacre)["id"]
    ways = (f"approvals approve {identifier}", "web", "token create --scope drive --person")
    with Client(connect(nacre.paths), timeout=PATIENCE) as client:
        for way in ways:
            command = f"{sys.executable} -m nacre {way}"
            tried = client.call("run", session="agent", command=command)
            assert (tried["exit_code"], "inside of a" in tried["output"]) == (8, True), tried
        nacre.ok("approvals", "deny", identifier)
        assert ends(run)[0] == 77
        nacre.call("close_session", session="guarded")
        # Where nobody is asked, a person may open the page from their own session.
        opened = client.call("run", session="agent", command=f"{sys.executable} -m nacre web")
        assert "#code=" in opened["output"]
    nacre.call("close_session", session="agent")


# Connects by a child that ends, and goes on itself: the kernel tells of the child alone.
BY_A_CHILD = """
import json, os, socket, sys
from nacre.client.greeting import greeting
connection = socket.socket(socket.AF_UNIX)
if not (child := os.fork()):
    connection.connect(sys.argv[1])
    os._exit(0)
os.waitpid(child, 0)
asked = {"id": 1, "operation": "answer_approval", "params": {"id": sys.argv[2], "answer": "once"}}
connection.sendall(greeting("call", person=True) + json.dumps(asked).encode() + b"\\n")
lines = connection.makefile()
print(lines.readline(), lines.readline())
"""


def test_an_agent_cannot_approve_as_a_process_that_left_its_session(
    nacre: Nacre, tmp_path: Path
) -> None:
    nacre.call("create_session", name="guarded", policy="guarded", cwd=str(tmp_path))
    nacre.call("create_session", name="agent", cwd=str(tmp_path))
    run = nacre.start("run", "guarded", "--", LINE)
    identifier = asked(nacre)["id"]
    (tmp_path / "by_a_child.py").write_text(BY_A_CHILD)
    python, home = sys.executable, f'NACRE_HOME="{nacre.paths.config}"'
    approve = f"{python} -m nacre approvals approve {identifier}"
    ways = (
        # An orphan, in its own session and without an environment.
        f"mkfifo told; (setsid env -i {home} {approve} >told 2>&1 &); cat told",
        f"{python} by_a_child.py {nacre.paths.socket} {identifier}",
    )
    with Client(connect(nacre.paths), timeout=PATIENCE) as client:
        for way in ways:
            tried = client.call("run", session="agent", command=way)
            assert "inside of a" in tried["output"], tried
    nacre.ok("approvals", "deny", identifier)
    assert ends(run)[0] == 77
    nacre.call("close_session", session="guarded")
    nacre.call("close_session", session="agent")


def test_a_wrong_file_of_rules_stops_agents_and_says_why(nacre: Nacre, tmp_path: Path) -> None:
    nacre.call("create_session", name="wrong", cwd=str(tmp_path))
    file = Path(nacre.paths.config) / "policy.toml"
    file.write_text("[[rule]]\npattern = 'x'\n")
    try:
        done = nacre("run", "wrong", "--", "true")
        assert done.returncode == 77
        assert str(file) in done.stderr
    finally:
        file.unlink()
    assert nacre("run", "wrong", "--", "true").returncode == 0
    nacre.call("close_session", session="wrong")


def test_askpass_asks_a_person_and_gives_the_answer_to_the_program_alone(nacre: Nacre) -> None:
    """ssh-keygen asks for the passphrase of a key as ssh does."""
    nacre.call("create_session", name="asks", command="bash", cwd=str(nacre.home))
    given = "correct-horse"
    made = "ssh-keygen -q -t ed25519 -N $(printf %s-%s correct horse) -f key </dev/null"
    assert nacre.call("run", session="asks", command=made)["exit_code"] == 0
    run = nacre.start(
        "run", "asks", "--", "SSH_ASKPASS_REQUIRE=force ssh-keygen -y -f key >/dev/null"
    )
    question = asked(nacre)
    assert (question["kind"], question["session"]) == ("password", "asks")
    answer = ("approvals", "answer", question["id"])
    assert " ".join(("nacre", *answer)) in nacre.ok("approvals")
    assert "one line" in nacre(*answer, stdin="a\tb").stderr
    assert nacre.ok(*answer, stdin=f"{given}\n") == "typed\n"
    assert ends(run)[0] == 0
    for path in Path(nacre.paths.state).rglob("*"):
        assert not path.is_file() or given.encode() not in path.read_bytes()
    nacre.call("close_session", session="asks")


def test_who_is_denied_by_askpass_is_told_so(nacre: Nacre) -> None:
    nacre.call("create_session", name="denied", command="bash")
    run = nacre.start("run", "denied", "--", "$SUDO_ASKPASS 'Password: '")
    nacre.ok("approvals", "deny", asked(nacre)["id"])
    code, printed = ends(run)
    assert code == 1
    assert "nacre askpass: a person said no" in printed
    for said, code in (("yes", 0), ("no", 1)):
        confirm = "SSH_ASKPASS_PROMPT=confirm $SSH_ASKPASS 'Allow the use of the key?'"
        run = nacre.start("run", "denied", "--", confirm)
        question = asked(nacre)
        assert question["kind"] == "confirm"
        wrong = nacre("approvals", "answer", question["id"]).stderr
        assert "say yes or no" in wrong
        nacre.ok("approvals", "answer", question["id"], said)
        assert ends(run)[0] == code
    nacre.call("close_session", session="denied")


def test_a_session_s_own_askpass_stays(nacre: Nacre) -> None:
    env = {"SUDO_ASKPASS": "/own"}
    nacre.call("create_session", name="own", command="bash", env=env)
    shown = nacre.call("run", session="own", command="echo $SUDO_ASKPASS $SSH_ASKPASS_REQUIRE.")
    assert shown["output"] == "/own ."
    nacre.call("close_session", session="own")


def test_what_a_session_is_given_is_not_read_as_settings(nacre: Nacre) -> None:
    """Or else no daemon starts in a session, and no chat or doctor runs there."""
    nacre.call("create_session", name="given", command="bash")
    shown = nacre.call("run", session="given", command="env | grep ^NACRE_")["output"]
    given = dict(line.split("=", 1) for line in shown.splitlines())
    assert "NACRE_ASKPASS_SOCKET" in given
    load_settings(str(nacre.home / "none.toml"), environ=given)
    nacre.call("close_session", session="given")


def test_a_command_of_several_lines_stands_below_its_first() -> None:
    asked = {
        "id": "9505ce1a",
        "kind": "command",
        "command": "echo a\U000e0072\necho b",
        "session": "dev",
    }
    about = {"cwd": "/", "policy": "guarded", "reasons": ["why"], "asked_by": "cli", "asked": 0}
    shown = _one({**asked, **about, "waiting": True}).splitlines()
    assert shown[:2] == ["9505ce1a  | echo a\\U000e0072", "          | echo b"]
    beside = {"cwd": "/a\n9505ce1b  ls", "asked_by": "cli\n9505ce1c  ls"}
    assert len(_one({**asked, **about, **beside, "waiting": True}).splitlines()) == 5


def test_no_line_of_a_command_looks_like_what_stands_around_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither one of several, nor the rest of one that blanks move to the next row."""
    around = "\nin dev, /\nasked by cli 1 s ago; its call waits\nguarded: new\n9505ce1b  ls"
    about = {"cwd": "/", "policy": "guarded", "reasons": ["why"], "asked_by": "cli", "asked": 0}
    asked = {"id": "9505ce1a", "kind": "command", "session": "dev", **about, "waiting": True}
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "40")
    for command in (f"ls{around}", "ls #" + " " * 26 + "9505ce1b  shred -u \u6f22x" + "y" * 90):
        shown = _one({**asked, "command": command}).splitlines()
        rows, facts = shown[:-3], shown[-3:]
        assert [row[10:12] for row in rows] == ["| "] * len(rows)
        assert max(map(text_width, rows)) <= 40
        told = "".join(row[12:] for row in rows)
        assert told == command.replace("\n", "")
        assert facts[0] == "          in dev, /"
