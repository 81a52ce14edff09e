"""Logs are JSON, one object a line, whatever is logged."""

import json
import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nacre.system.logs import REQUEST, JsonFormatter, TextFormatter, configure_logs


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    root, ours = logging.getLogger(), logging.getLogger("nacre")
    before = root.handlers[:], root.level, ours.level
    yield
    for handler in root.handlers:
        if handler not in before[0]:
            handler.close()
    root.handlers[:] = before[0]
    root.setLevel(before[1])
    ours.setLevel(before[2])


def formatted(message: object, *arguments: object, **extra: object) -> dict[str, object]:
    record = logging.getLogger("nacre.test").makeRecord(
        "nacre.test", logging.WARNING, __file__, 1, message, arguments, None, extra=extra or None
    )
    text = JsonFormatter().format(record)
    assert "\n" not in text
    loaded = json.loads(text)
    assert isinstance(loaded, dict)
    return loaded


def test_record_has_time_level_logger_message_and_extras() -> None:
    line = formatted("hello %s", "you", session="dev", pids=[1, 2])
    assert str(line.pop("time")).endswith("Z")
    assert line == {
        "level": "warning",
        "logger": "nacre.test",
        "message": "hello you",
        "session": "dev",
        "pids": [1, 2],
    }


def test_newlines_and_what_is_no_json_stay_on_one_line() -> None:
    line = formatted("two\nlines\x1b[31m", path=Path("/a\nb"), raw=b"\xff")
    assert line["message"] == "two\nlines\x1b[31m"
    assert line["path"] == "/a\nb"


@pytest.mark.parametrize("secret", ['pass"word\\7', "Schlüssel-7", "two\twords"])
def test_secrets_are_taken_out_whatever_form_json_gives_them(secret: str) -> None:
    formatter = JsonFormatter()
    formatter.redact = lambda text: text.replace(secret, "[gone]")
    told = {"body": {"lines": [f"it is {secret}", 7]}, "error": ValueError(secret)}
    record = logging.makeLogRecord({"msg": secret, **told})
    line = json.loads(formatter.format(record))
    assert (line["message"], line["error"]) == ("[gone]", "[gone]")
    assert line["body"] == {"lines": ["it is [gone]", 7]}


def test_traceback_is_part_of_the_line() -> None:
    try:
        raise ValueError("told")
    except ValueError:
        record = logging.makeLogRecord({"msg": "failed", "exc_info": sys.exc_info()})
    line = JsonFormatter().format(record)
    assert "\n" not in line
    assert "ValueError: told" in json.loads(line)["traceback"]


def test_full_log_file_is_set_aside_and_one_older_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "daemon.log"
    configure_logs("info", file=str(file), max_bytes=2000)
    for number in range(100):
        logging.getLogger("nacre.test").info("line %d", number)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["daemon.log", "daemon.log.1"]
    assert all(path.stat().st_size <= 2000 for path in tmp_path.iterdir())
    assert json.loads(file.read_text().splitlines()[-1])["message"] == "line 99"


def test_level_holds_for_nacre_and_others_are_logged_from_warning(tmp_path: Path) -> None:
    file = tmp_path / "daemon.log"
    configure_logs("debug", file=str(file), max_bytes=100_000)
    logging.getLogger("nacre.test").debug("ours")
    logging.getLogger("other").info("theirs")
    logging.getLogger("other").warning("theirs")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(line["logger"], line["level"]) for line in lines] == [
        ("nacre.test", "debug"),
        ("other", "warning"),
    ]


def test_text_has_the_same_on_one_line_and_a_trace_below() -> None:
    make = logging.getLogger("nacre.test").makeRecord
    record = make("nacre.test", 30, __file__, 1, "two\nlines", (), None, extra={"session": "dev"})
    text = TextFormatter().format(record)
    assert text.endswith(r"Z warning nacre.test: two\nlines (session=dev)")
    try:
        raise ValueError("x")
    except ValueError:
        record = make("nacre.test", 40, __file__, 1, "failed", (), sys.exc_info())
    first, *trace = TextFormatter().format(record).splitlines()
    assert first.endswith("error nacre.test: failed")
    assert all(line.startswith("  ") for line in trace)
    assert "ValueError: x" in trace[-1]


def test_what_is_logged_for_a_request_has_its_id() -> None:
    token = REQUEST.set("ab-7")
    try:
        assert formatted("hello")["request"] == "ab-7"
    finally:
        REQUEST.reset(token)
    assert "request" not in formatted("hello")
