"""Protocol messages in the log: at debug alone, as data, and never endless."""

import logging

import pytest

from nacre.doors.http.message_log import log_message


def test_a_message_is_logged_as_data_at_debug_alone(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "nacre")
    log_message("received", b'{"method": "ping"}')
    assert not caplog.records
    caplog.set_level(logging.DEBUG, "nacre")
    log_message("received", b'{"method": "ping"}')
    log_message("sent", b'{"text": "' + b"x" * 100_000 + b'"}')
    log_message("received", b"no json")
    ping, long, wrong = (vars(record) for record in caplog.records)
    assert (ping["msg"], ping["body"]) == ("received", {"method": "ping"})
    assert "body" not in long
    assert long["bytes"] > 100_000
    assert wrong["body"] == "no JSON"
