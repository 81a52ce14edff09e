"""`nacre new --sandbox`, and diff, apply and discard, as a person uses them."""

from pathlib import Path

import pytest

from confining import needs_bubblewrap

from cli.conftest import Nacre

pytestmark = needs_bubblewrap


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "a").write_text("one\n")
    return tmp_path


def test_sandbox_is_chosen_and_listed(running: Nacre, workspace: Path) -> None:
    assert "SANDBOX" not in running.ok("list")
    running.ok("new", "boxed", "--sandbox", "readonly", "--cwd", str(workspace), "--", "cat")
    assert running.listed("boxed")["sandbox"] == "readonly"
    lines = {line.split()[0]: line.split()[-1] for line in running.ok("list").splitlines()}
    assert (lines["NAME"], lines["boxed"], lines["first"]) == ("SANDBOX", "readonly", "off")
    running.call("manage_session", session="boxed", action="kill")
    done = running("new", "--sandbox", "tight")
    assert done.returncode == 2
    assert "readonly" in done.stderr


def test_changes_are_shown_applied_and_discarded(running: Nacre, workspace: Path) -> None:
    running.ok("new", "dev", "--sandbox", "review", "--cwd", str(workspace))
    line = "echo two >a; ln -s /etc/passwd out"
    assert running.call("run", session="dev", command=line)["exit_code"] == 0
    shown = running("diff", "dev")
    assert "-one\n+two\n" in shown.stdout
    assert shown.stderr.startswith("nacre: out will not be applied: it is a link that leads out")
    assert [one["path"] for one in running.json("diff", "dev")["changes"]] == ["a", "out"]
    (workspace / "a").write_text("mine\n")
    running.fails("FAILED", 1, "apply", "dev")
    assert (workspace / "a").read_text() == "mine\n"
    applied = running("apply", "dev", "--force")
    assert applied.stdout == "applied: 1\n"
    assert applied.stderr.startswith("nacre: out was not applied: it is a link")
    assert (workspace / "a").read_text() == "two\n"
    assert running.ok("discard", "dev") == "discarded: 1, and the session was restarted\n"
    nothing = running("diff", "dev")
    assert (nothing.stdout, nothing.stderr) == ("", "nacre: nothing was changed\n")
    running.call("manage_session", session="dev", action="kill")


def test_session_without_a_review_says_how_to_get_one(running: Nacre) -> None:
    message = running.fails("INVALID_INPUT", 2, "diff", "first")
    assert "--sandbox" in message
