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
