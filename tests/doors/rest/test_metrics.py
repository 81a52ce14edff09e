"""/metrics: with a token of any scope, in Prometheus' format."""

from conftest import Daemon

from doors.wire import http_call


def metrics(daemon: Daemon) -> dict[str, float]:
    answer = http_call(daemon, "GET", "/metrics")
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    lines = [line for line in answer.body.decode().splitlines() if not line.startswith("#")]
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines}


def test_sessions_calls_and_errors_are_counted(daemon: Daemon) -> None:
    before = metrics(daemon)
    made = http_call(daemon, "POST", "/api/sessions", {"name": "counted", "command": "cat"})
    assert made.status == 200
    assert http_call(daemon, "GET", "/api/sessions/nosuch/screen").status == 404
    after = metrics(daemon)
    assert after["nacre_sessions"] == before["nacre_sessions"] + 1
    errors = 'nacre_errors_total{tool="get_screen",code="SESSION_NOT_FOUND"}'
    assert after[errors] == before.get(errors, 0) + 1
    created = 'nacre_request_seconds_count{tool="create_session"}'
    assert after[created] == before.get(created, 0) + 1
    assert after["process_resident_memory_bytes"] > 1 << 20
    assert 0 < after["process_open_fds"] < after["process_max_fds"]
    assert after["process_cpu_seconds_total"] > 0
    http_call(daemon, "DELETE", "/api/sessions/counted")


def test_nobody_without_a_token_sees_them(daemon: Daemon) -> None:
    assert http_call(daemon, "GET", "/metrics", token=None).status == 401
