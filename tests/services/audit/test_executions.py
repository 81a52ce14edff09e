"""The log of executions: lines that scripts can count."""

import json
from pathlib import Path

from nacre.core.text.redaction import Redaction, SecretValues
from nacre.services.audit.executions import ExecutionLog, split_command


def test_a_line_is_split_as_a_shell_does_and_by_blanks_where_it_cannot_be() -> None:
    assert split_command("ls -la '/home/a b'") == ("ls", ["-la", "/home/a b"])
    assert split_command("echo 'open") == ("echo", ["'open"])
    assert split_command("") == ("", [])


def test_a_file_that_was_moved_away_is_begun_again(tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = ExecutionLog(str(path))
    log.add("one", "success", exit_code=0)
    path.rename(tmp_path / "log.1")
    log.add("two", "failed", exit_code=2, duration_ms=45)
    entry = json.loads(path.read_text())
    assert (entry["command"], entry["exit_code"], entry["execution_time_ms"]) == ("two", 2, 45)


def test_a_secret_that_a_line_quotes_in_parts_is_not_in_it(tmp_path: Path) -> None:
    secrets = SecretValues({"horse'battery": "{{secret:DB}}"})
    log = ExecutionLog(str(tmp_path / "log"), lambda: Redaction(secrets))
    log.add("""connect --password='horse'"'battery" x""", "success", exit_code=0)
    entry = json.loads((tmp_path / "log").read_text())
    assert entry["args"] == ["--password={{secret:DB}}", "x"]


def test_a_file_that_cannot_be_written_is_said_and_stops_nothing(tmp_path: Path) -> None:
    log = ExecutionLog(str(tmp_path / "none" / "log"))
    log.add("one", "success", exit_code=0)
    assert "cannot be written: No such file or directory" in log.trouble
    (tmp_path / "none").mkdir()
    log.add("two", "success", exit_code=0)
    assert log.trouble == ""
