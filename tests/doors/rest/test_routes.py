"""REST: every operation has a route, every error the one shape, and the description fits."""

import http.client
import json
import sys
import tempfile
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from confining import needs_bubblewrap
from conftest import PATIENCE, Daemon
from nacre import __version__
from nacre.core.operations.all import CATALOG
from nacre.errors import WIRE
from nacre.settings.paths import find_paths

from doors.sockets import log_in
from doors.wire import Answer, Bridge, Doomed, check_fits, check_schema, daemon_pid, http_call
from upstreams import configs

Json = dict[str, Any]


def ask(daemon: Daemon, method: str, path: str, body: object = None) -> Any:
    """Call a route that must succeed."""
    answer = http_call(daemon, method, f"/api{path}", body)
    assert answer.status == 200, answer
    assert answer.headers["content-type"] == "application/json"
    return answer.json


def refusal(answer: Answer) -> str:
    """Return the code of an error after checking its shape and status."""
    assert answer.headers["content-type"] == "application/json"
    error = answer.json["error"]
    assert set(answer.json) == {"error"}
    assert isinstance(error["message"], str)
    assert error["message"]
    assert answer.status == WIRE[error["code"]].http
    return str(error["code"])


def wait_for(daemon: Daemon, session: str, text: str) -> Json:
    """Return the plain screen once it shows the text, woken by output alone."""
    while True:
        screen: Json = ask(daemon, "GET", f"/sessions/{session}/screen?format=plain")
        if text in "\n".join(screen["lines"]):
            return screen
        wait = {"timeout_ms": 0, "last_generation": screen["generation"]}
        ask(daemon, "POST", f"/sessions/{session}/quiesce", wait)


def wait_for_line(daemon: Daemon, session: str, line: str) -> None:
    """Return once the screen shows a whole line, and the cursor stands below it.

    The kernel may hand over a line's end apart from the line: the screen changes once more.
    """
    while True:
        screen: Json = ask(daemon, "GET", f"/sessions/{session}/screen?format=plain")
        if line in screen["lines"][: screen["cursor"]["row"]]:
            return
        wait = {"timeout_ms": 0, "last_generation": screen["generation"]}
        ask(daemon, "POST", f"/sessions/{session}/quiesce", wait)


def wait_for_end(daemon: Daemon, session: str) -> None:
    wait = {"timeout_ms": 0, "last_generation": 10**9}
    assert refusal(http_call(daemon, "POST", f"/api/sessions/{session}/quiesce", wait)) == (
        "SESSION_DEAD"
    )


@pytest.fixture
def job(daemon: Daemon) -> Any:
    """The name of a session that prints each line it gets."""
    body = {"name": "job", "command": "stty -echo; echo ready; exec cat"}
    created = ask(daemon, "POST", "/sessions", body)
    wait_for_line(daemon, "job", "ready")
    yield "job"
    http_call(daemon, "POST", f"/api/sessions/{created['session_id']}/manage", {"action": "kill"})


# --- one example for each operation --------------------------------------------------------


def create_session(daemon: Daemon, job: str) -> None:
    body = {"name": "made", "command": "cat", "rows": 5, "env": {"A": "1"}, "tags": ["t"]}
    created = ask(daemon, "POST", "/sessions", body)
    assert (created["session"], created["rows"], created["cols"]) == ("made", 5, 80)
    ask(daemon, "POST", "/sessions/made/manage", {"action": "kill"})


def list_sessions(daemon: Daemon, job: str) -> None:
    listed = ask(daemon, "GET", "/sessions")
    assert [session["name"] for session in listed["sessions"]] == [job]
    one = ask(daemon, "GET", f"/sessions?session={job}")
    assert one["pid"] == listed["sessions"][0]["pid"]


def manage_session(daemon: Daemon, job: str) -> None:
    rename = {"action": "rename", "new_name": "other"}
    assert ask(daemon, "POST", f"/sessions/{job}/manage", rename) == {"success": True}
    assert ask(daemon, "GET", "/sessions?session=other")["name"] == "other"


def send_input(daemon: Daemon, job: str) -> None:
    sent = ask(daemon, "POST", f"/sessions/{job}/input", {"input": "aGVp\r"})
    assert sent == {"success": True, "generation": sent["generation"]}
    assert wait_for(daemon, job, "aGVp")["lines"][1] == "aGVp"
    encoded = {"input": "aGVpDQ==", "encoding": "base64"}
    ask(daemon, "POST", f"/sessions/{job}/input", encoded)
    wait_for(daemon, job, "hei")


def press_keys(daemon: Daemon, job: str) -> None:
    pressed = ask(daemon, "POST", f"/sessions/{job}/keys", {"keys": ["h", "i", "enter"]})
    assert pressed == {"success": True, "generation": pressed["generation"]}
    wait_for(daemon, job, "hi")
    unknown = http_call(daemon, "POST", f"/api/sessions/{job}/keys", {"keys": ["hyper+nope"]})
    assert refusal(unknown) == "INVALID_INPUT"


def get_screen(daemon: Daemon, job: str) -> None:
    screen = ask(daemon, "GET", f"/sessions/{job}/screen")
    assert screen["lines"][0] == [{"text": "ready"}]
    # In a query all is text: numbers are read as such.
    generation = screen["generation"]
    same = ask(daemon, "GET", f"/sessions/{job}/screen?since_generation={generation}")
    assert same["unchanged"] is True


def screenshot(daemon: Daemon, job: str) -> None:
    taken = ask(daemon, "GET", f"/sessions/{job}/screenshot?format=svg&scale=1")
    assert (taken["session"], taken["width"], taken["height"]) == (job, 656, 400)
    assert "ready" in taken["data"]


def get_scrollback(daemon: Daemon, job: str) -> None:
    lines = "".join(f"{number}\r" for number in range(50))
    ask(daemon, "POST", f"/sessions/{job}/input", {"input": lines})
    wait_for(daemon, job, "49")
    path = f"/sessions/{job}/scrollback?offset=1&limit=2&format=plain"
    assert ask(daemon, "GET", path)["lines"] == ["0", "1"]


def read_output(daemon: Daemon, job: str) -> None:
    read = ask(daemon, "GET", f"/sessions/{job}/output?lines=5")
    assert (read["output"], read["lines"]) == ("ready", 1)


def await_quiesce(daemon: Daemon, job: str) -> None:
    waited = ask(daemon, "POST", f"/sessions/{job}/quiesce", {"timeout_ms": 20})
    assert waited["generation"] > 0
    late = {"timeout_ms": 60_000, "max_wait_ms": 10}
    assert refusal(http_call(daemon, "POST", f"/api/sessions/{job}/quiesce", late)) == "TIMEOUT"


def run_command(daemon: Daemon, job: str) -> None:
    body = {"input": "hello", "timeout_ms": 400, "format": "plain"}
    ran = ask(daemon, "POST", f"/sessions/{job}/command", body)
    assert ran["screen"]["lines"][:2] == ["ready", "hello"]
    late = http_call(
        daemon,
        "POST",
        f"/api/sessions/{job}/command",
        {"input": "x", "timeout_ms": 60_000, "max_wait_ms": 10},
    )
    assert refusal(late) == "TIMEOUT"
    assert late.json["error"]["screen"]["rows"] == 24


def resize_session(daemon: Daemon, job: str) -> None:
    resized = ask(daemon, "POST", f"/sessions/{job}/resize", {"rows": 30, "cols": 100})
    assert resized == {"success": True, "rows": 30, "cols": 100}
    assert ask(daemon, "GET", f"/sessions/{job}/screen")["cols"] == 100


def restart_session(daemon: Daemon, job: str) -> None:
    before = ask(daemon, "GET", f"/sessions?session={job}")
    restarted = ask(daemon, "POST", f"/sessions/{job}/restart")
    assert restarted["session_id"] == before["session_id"]
    assert restarted["pid"] != before["pid"]
    wait_for(daemon, job, "ready")


def signal_session(daemon: Daemon, job: str) -> None:
    unknown = http_call(daemon, "POST", f"/api/sessions/{job}/signal", {"signal": "NOPE"})
    assert refusal(unknown) == "INVALID_INPUT"
    assert ask(daemon, "POST", f"/sessions/{job}/signal", {"signal": "KILL"}) == {"success": True}
    wait_for_end(daemon, job)
    assert ask(daemon, "GET", f"/sessions?session={job}")["signal"] == "SIGKILL"


def dismiss_session(daemon: Daemon, job: str) -> None:
    assert refusal(http_call(daemon, "POST", f"/api/sessions/{job}/dismiss")) == "INVALID_INPUT"
    session_id = ask(daemon, "GET", f"/sessions?session={job}")["session_id"]
    ask(daemon, "POST", f"/sessions/{job}/signal", {"signal": "TERM"})
    wait_for_end(daemon, job)
    assert ask(daemon, "POST", f"/sessions/{job}/dismiss") == {"success": True}
    assert ask(daemon, "GET", "/sessions") == {"sessions": []}
    assert ask(daemon, "GET", f"/sessions/{session_id}/screen?format=plain")["lines"][0] == "ready"


def started(daemon: Daemon) -> int:
    """Return the port of a bash."""
    return int(ask(daemon, "POST", "/start", {"shell": "bash", "cwd": "/usr"})["port"])


def run(daemon: Daemon, job: str) -> None:
    port = started(daemon)
    ran = ask(daemon, "POST", f"/sessions/{port}/run", {"command": "pwd; (exit 3)"})
    assert (ran["output"], ran["exit_code"], ran["status"]) == ("/usr", 3, "completed")
    ask(daemon, "POST", f"/sessions/{port}/close")
    refused = ask(daemon, "POST", f"/sessions/{job}/run", {"command": "x", "timeout_ms": 1000})
    assert refused["status"] in ("busy", "error"), "no shell reads there"


def read_run(daemon: Daemon, job: str) -> None:
    port = started(daemon)
    ran = ask(daemon, "POST", f"/sessions/{port}/run", {"command": "seq 1 9"})
    page = ask(daemon, "GET", f"/runs/{ran['run_id']}?offset=2&limit=3")
    assert (page["output"], page["total_lines"], page["finished"]) == ("3\n4\n5", 9, True)
    found = ask(daemon, "GET", f"/runs/{ran['run_id']}?find=^[46]&regex=true&context=1")
    assert [one["line"] for one in found["matches"]] == [3, 5]
    assert found["matches"][0]["after"] == ["5"]
    assert refusal(http_call(daemon, "GET", "/api/runs/nope")) == "INVALID_INPUT"
    ask(daemon, "POST", f"/sessions/{port}/close")


def follow_run(daemon: Daemon, job: str) -> None:
    port = started(daemon)
    ran = ask(daemon, "POST", f"/sessions/{port}/run", {"command": "echo x"})
    # The daemon's token is an agent's: what it reads is redacted, and bytes cannot be.
    refused = http_call(daemon, "GET", f"/api/runs/{ran['run_id']}/follow")
    assert refusal(refused) == "FORBIDDEN"
    ask(daemon, "POST", f"/sessions/{port}/close")


def list_activity(daemon: Daemon, job: str) -> None:
    port = started(daemon)
    ran = ask(daemon, "POST", f"/sessions/{port}/run", {"command": "echo x; (exit 3)"})
    found = ask(daemon, "GET", f"/sessions/{port}/activity?limit=5")
    (entry,) = found["entries"]
    assert (found["total"], entry["id"], entry["exit_code"]) == (1, ran["run_id"], 3)
    assert (entry["command"], entry["person"]) == ("echo x; (exit 3)", False)
    ask(daemon, "POST", f"/sessions/{port}/close")


def film_recording(daemon: Daemon, job: str) -> None:
    port = started(daemon)
    apart = "echo x; sleep 0.3; echo y"  # what comes at once is one picture
    ask(daemon, "POST", f"/sessions/{port}/run", {"command": apart})
    film = ask(daemon, "POST", f"/sessions/{port}/film", {"format": "svg"})
    assert film["data"].startswith("<svg ")
    assert film["frames"] == film["data"].count("<image ") > 1
    assert refusal(http_call(daemon, "POST", "/api/sessions/nope/film", {})) == "SESSION_NOT_FOUND"
    ask(daemon, "POST", f"/sessions/{port}/close")


def activity_output(daemon: Daemon, job: str) -> None:
    port = started(daemon)
    ran = ask(daemon, "POST", f"/sessions/{port}/run", {"command": "echo x"})
    path = f"/sessions/{port}/activity"
    assert ask(daemon, "GET", f"{path}/{ran['run_id']}")["output"] == "x"
    assert refusal(http_call(daemon, "GET", f"/api{path}/nope")) == "INVALID_INPUT"
    ask(daemon, "POST", f"/sessions/{port}/close")


def send(daemon: Daemon, job: str) -> None:
    sent = ask(daemon, "POST", f"/sessions/{job}/send", {"text": "hello"})
    assert (sent["output"], sent["lines"], sent["alive"]) == ("hello", 1, True)
    assert sent["state"]["state"] == "needs_input"
    sent = ask(daemon, "POST", f"/sessions/{job}/send", {"text": "x", "timeout_ms": 0})
    assert (sent["output"], sent["lines"], "state" in sent) == ("", 0, False)
    assert sent["generation"] > 0


def send_key(daemon: Daemon, job: str) -> None:
    for key in ("h", "I", "Enter"):
        assert ask(daemon, "POST", f"/sessions/{job}/key", {"key": key})["alive"] is True
    wait_for(daemon, job, "hI")
    unknown = http_call(daemon, "POST", f"/api/sessions/{job}/key", {"key": "hyper+nope"})
    assert refusal(unknown) == "INVALID_INPUT"


def get_status(daemon: Daemon, job: str) -> None:
    told = ask(daemon, "GET", f"/sessions/{job}/status")
    assert (told["name"], told["alive"], told["last_line"]) == (job, True, "ready")
    assert told["run_locked"] is False
    assert told["state"]["program"] in ("sh", "cat")


def start_session(daemon: Daemon, job: str) -> None:
    made = ask(daemon, "POST", "/start", {"shell": "sh", "cwd": "/usr"})
    assert made["shell"] == "sh"
    assert ask(daemon, "GET", f"/sessions?session={made['port']}")["cwd"] == "/usr"
    taken = http_call(daemon, "POST", "/api/start", {"port": made["port"]})
    assert refusal(taken) == "INVALID_INPUT"
    ask(daemon, "POST", f"/sessions/{made['session_id']}/close")


def close_session(daemon: Daemon, job: str) -> None:
    assert ask(daemon, "POST", f"/sessions/{job}/close") == {"status": "closed"}
    assert ask(daemon, "GET", "/sessions") == {"sessions": []}


def wait_for_text(daemon: Daemon, job: str) -> None:
    found = ask(daemon, "POST", "/wait", {"session": job, "text": "ready"})
    assert (found["matched"], found["condition"]) == (True, "text")
    late = ask(daemon, "POST", "/wait", {"session": job, "text": "never", "timeout_ms": 10})
    assert (late["matched"], late["session"]) == (False, job)


def screen_at(daemon: Daemon, job: str) -> None:
    before = ask(daemon, "GET", f"/sessions/{job}/screen?format=plain")
    ask(daemon, "POST", f"/sessions/{job}/send", {"text": "later"})
    then = ask(daemon, "GET", f"/sessions/{job}/screen_at?generation={before['generation']}")
    assert (then["lines"], then["cursor"]) == (before["lines"], before["cursor"])
    now = ask(daemon, "GET", f"/sessions/{job}/screen_at?time=9999999999")
    assert "later" in now["lines"]
    assert then["time"] <= now["time"]
    early = http_call(daemon, "GET", f"/api/sessions/{job}/screen_at?time=1")
    assert refusal(early) == "INVALID_INPUT"
    neither = http_call(daemon, "GET", f"/api/sessions/{job}/screen_at")
    assert refusal(neither) == "INVALID_INPUT"


def search(daemon: Daemon, job: str) -> None:
    found = ask(daemon, "POST", "/search", {"text": "ready", "session": job, "context": 0})
    assert (found["hits"][0]["session"], found["complete"]) == (job, True)
    wrong = http_call(daemon, "POST", "/api/search", {"text": "(", "regex": True})
    assert refusal(wrong) == "INVALID_INPUT"


def export_recording(daemon: Daemon, job: str) -> None:
    whole = ask(daemon, "POST", f"/sessions/{job}/recording")
    header, *events = map(json.loads, whole["recording"].splitlines())
    assert (header["version"], header["term"]["cols"]) == (3, 80)
    assert "ready" in "".join(text for _, code, text in events if code == "o")
    path = daemon.home / "job.cast"
    written = ask(daemon, "POST", f"/sessions/{job}/recording", {"path": str(path)})
    assert (written["path"], path.read_text()) == (str(path), whole["recording"])
    again = http_call(daemon, "POST", f"/api/sessions/{job}/recording", {"path": str(path)})
    assert refusal(again) == "FAILED"
    long = http_call(daemon, "POST", f"/api/sessions/{job}/recording", {"max_chars": 10})
    assert refusal(long) == "FAILED"


def restore_sessions(daemon: Daemon, job: str) -> None:
    assert ask(daemon, "POST", "/restore") == {"sessions": []}
    alive = http_call(daemon, "POST", "/api/restore", {"session": job})
    assert refusal(alive) == "INVALID_INPUT"


def overlay(daemon: Daemon, job: str) -> None:
    made = ask(daemon, "POST", f"/sessions/{job}/overlay", {"spans": [{"text": "two words"}]})
    assert (made["width"], made["height"]) == (9, 1)
    listed = ask(daemon, "POST", f"/sessions/{job}/overlay", {"list": True})
    assert listed == {"overlays": [made]}


def remove_overlay(daemon: Daemon, job: str) -> None:
    made = ask(daemon, "POST", f"/sessions/{job}/overlay", {})
    told = ask(daemon, "POST", f"/sessions/{job}/overlay/remove", {"id": made["id"]})
    assert told == {"success": True}
    assert ask(daemon, "POST", f"/sessions/{job}/overlay", {"list": True}) == {"overlays": []}


def panel(daemon: Daemon, job: str) -> None:
    made = ask(daemon, "POST", f"/sessions/{job}/panel", {"position": "top", "height": 3})
    assert made["visible"]
    assert ask(daemon, "GET", f"/sessions/{job}/screen")["rows"] == 21


def remove_panel(daemon: Daemon, job: str) -> None:
    panel(daemon, job)
    ask(daemon, "POST", f"/sessions/{job}/panel/remove", {})
    assert ask(daemon, "GET", f"/sessions/{job}/screen")["rows"] == 24


def input_mode(daemon: Daemon, job: str) -> None:
    told = ask(daemon, "POST", f"/sessions/{job}/input_mode", {"mode": "capture"})
    assert told == {"mode": "capture", "focused_element": None}


def await_input(daemon: Daemon, job: str) -> None:
    input_mode(daemon, job)
    told = ask(daemon, "POST", f"/sessions/{job}/await_input", {"max_wait_ms": 0})
    assert told == {"keys": [], "last": 0, "mode": "capture"}


def screen_mode(daemon: Daemon, job: str) -> None:
    told = ask(daemon, "POST", f"/sessions/{job}/screen_mode", {"action": "enter_alt"})
    assert told == {"mode": "alt"}


def control(daemon: Daemon, job: str) -> None:
    told = ask(daemon, "POST", f"/sessions/{job}/control", {})
    assert told == {"driver": None, "yours": False}


def as_person(daemon: Daemon, route: str, body: object = None) -> Any:
    """Call a route that is for people alone, as their page does."""
    method, _, path = route.partition(" ")
    answer = http_call(daemon, method, f"/api{path}", body, token=log_in(daemon))
    assert answer.status == 200, answer
    return answer.json


def create_token(daemon: Daemon, job: str) -> None:
    made = as_person(daemon, "POST /tokens", {"scope": "observe", "session_names": [job]})
    token = made["token"]
    assert http_call(daemon, "GET", "/api/status", token=token).json["sessions"] == 1
    assert made["facts"]["sessions"] == [job]


def list_tokens(daemon: Daemon, job: str) -> None:
    made = as_person(daemon, "POST /tokens", {"scope": "drive", "name": "listed"})
    listed = as_person(daemon, "GET /tokens")["tokens"]
    assert made["facts"] in listed
    assert made["token"] not in json.dumps(listed)


def revoke_token(daemon: Daemon, job: str) -> None:
    made = as_person(daemon, "POST /tokens", {"scope": "drive"})
    route = f"POST /tokens/{made['facts']['id']}/revoke"
    assert as_person(daemon, route) == {"success": True}
    assert http_call(daemon, "GET", "/api/status", token=made["token"]).status == 401


def list_approvals(daemon: Daemon, job: str) -> None:
    listed = ask(daemon, "GET", "/approvals")["approvals"]
    assert all(one["answers"] for one in listed)  # other tests may have left some


def answer_approval(daemon: Daemon, job: str) -> None:
    """A program's token is no person's: tests/web answers as one."""
    answer = http_call(daemon, "POST", "/api/approvals/0", {"answer": "once"})
    assert refusal(answer) == "FORBIDDEN"


def open_page(daemon: Daemon, job: str) -> None:
    page = as_person(daemon, "POST /page", {"session": job})
    assert page["url"].startswith(f"{daemon.url}/#code=")
    assert page["expires_in"] == 600


def diff_session(daemon: Daemon, job: str) -> None:
    """It has no review: that is on every machine; for one with a review see below."""
    assert refusal(http_call(daemon, "GET", f"/api/sessions/{job}/diff")) == "INVALID_INPUT"


def apply_session(daemon: Daemon, job: str) -> None:
    answer = http_call(daemon, "POST", f"/api/sessions/{job}/apply", {})
    assert refusal(answer) == "INVALID_INPUT"


def discard_session(daemon: Daemon, job: str) -> None:
    answer = http_call(daemon, "POST", f"/api/sessions/{job}/discard", {})
    assert refusal(answer) == "INVALID_INPUT"


def list_commands(daemon: Daemon, job: str) -> None:
    names = {one["name"] for one in ask(daemon, "GET", "/commands")["commands"]}
    assert {"ls", "grep", "rm"} <= names


def describe_command(daemon: Daemon, job: str) -> None:
    described = ask(daemon, "GET", "/commands/view_file")
    assert (described["name"], described["risk"]) == ("cat", "read")
    assert "path" in described["schema"]["properties"]


def call_command(daemon: Daemon, job: str) -> None:
    body = {"tool": "echo", "args": {"text": "hello"}}
    done = ask(daemon, "POST", "/commands/call", body)
    assert (done["output"], done["exit_code"], done["status"]) == ("hello\n", 0, "completed")


def get_execution_status(daemon: Daemon, job: str) -> None:
    done = ask(daemon, "POST", "/commands/call", {"tool": "uname"})
    found = ask(daemon, "GET", f"/executions/{done['execution_id']}?offset=1&max_chars=2")
    assert found["output"] == done["output"][1:3]


def cancel_execution(daemon: Daemon, job: str) -> None:
    body = {"tool": "sleep", "args": {"seconds": 600}, "wait_ms": 0}
    execution = ask(daemon, "POST", "/commands/call", body)["execution_id"]
    assert ask(daemon, "POST", f"/executions/{execution}/cancel") == {"cancelled": True}
    ended = ask(daemon, "GET", f"/executions/{execution}?wait_ms=60000")
    assert (ended["status"], ended["exit_code"]) == ("cancelled", 143)


def _odd(daemon: Daemon, name: str = "odd") -> str:
    """Add an upstream server, and return its name."""
    body = {
        "command": sys.executable,
        "args": [str(Path(configs.__file__).parent / "odd_server.py")],
    }
    ask(daemon, "POST", "/upstreams", {"name": name, **body, "replace": True})
    return name


def list_upstreams(daemon: Daemon, job: str) -> None:
    name = _odd(daemon)
    assert name in [one["name"] for one in ask(daemon, "GET", "/upstreams")["servers"]]


def add_upstream(daemon: Daemon, job: str) -> None:
    body = {"name": "web", "url": "https://example.org/mcp", "enabled": False, "replace": True}
    assert ask(daemon, "POST", "/upstreams", body)["names"] == ["web"]


def remove_upstream(daemon: Daemon, job: str) -> None:
    name = _odd(daemon, "gone")
    assert ask(daemon, "POST", f"/upstreams/{name}/remove")["names"] == [name]


def enable_upstream(daemon: Daemon, job: str) -> None:
    path = f"/upstreams/{_odd(daemon)}/enable"
    assert ask(daemon, "POST", path, {"enabled": False})["names"] == ["odd"]
    ask(daemon, "POST", path)


def reload_upstreams(daemon: Daemon, job: str) -> None:
    assert _odd(daemon) in ask(daemon, "POST", "/upstreams/reload")["names"]


def try_upstream(daemon: Daemon, job: str) -> None:
    assert ask(daemon, "POST", f"/upstreams/{_odd(daemon)}/test")["tools"] == 3


def list_upstream_tools(daemon: Daemon, job: str) -> None:
    found = ask(daemon, "GET", f"/upstreams/tools?server={_odd(daemon)}&schemas=true")
    assert found["tools"][0]["name"] == "mcp_odd_echo"


def search_upstream_tools(daemon: Daemon, job: str) -> None:
    try_upstream(daemon, job)
    found = ask(daemon, "GET", "/upstreams/search?query=where&most=1")
    assert [one["tool"] for one in found["tools"]] == ["where"]


def describe_upstream_tool(daemon: Daemon, job: str) -> None:
    try_upstream(daemon, job)
    found = ask(daemon, "GET", "/upstreams/tools/mcp_odd_echo")
    assert found["schema"]["type"] == "object"


def call_upstream_tool(daemon: Daemon, job: str) -> None:
    body = {"server": _odd(daemon), "tool": "echo", "arguments": {"text": "hi"}}
    done = ask(daemon, "POST", "/upstreams/call", body)
    assert done["content"] == [{"type": "text", "text": "hi"}]


def read_upstream_result(daemon: Daemon, job: str) -> None:
    body = {"server": _odd(daemon), "tool": "echo", "arguments": {"text": "x" * 9000}}
    done = ask(daemon, "POST", "/upstreams/call", {**body, "max_chars": 1000})
    path = f"/upstreams/results/{done['result_id']}?offset=8990"
    assert ask(daemon, "GET", path)["text"] == "x" * 10


def read_upstream_log(daemon: Daemon, job: str) -> None:
    try_upstream(daemon, job)
    assert "connected" in str(ask(daemon, "GET", "/upstreams/odd/logs")["lines"])


def import_upstreams(daemon: Daemon, job: str) -> None:
    text = '{"mcpServers": {"other": {"command": "true", "disabled": true}}}'
    body = {"text": text, "host": "cursor", "replace": True}
    assert ask(daemon, "POST", "/upstreams/import", body)["added"][0]["name"] == "other"


def status(daemon: Daemon, job: str) -> None:
    told = ask(daemon, "GET", "/status")
    assert (told["pid"], told["sessions"]) == (daemon.pid, 1)
    assert (told["version"], told["ephemeral"]) == (__version__, False)
    assert told["url"] == daemon.url


def stop(daemon: Daemon, job: str) -> None:
    assert ask(daemon, "POST", "/stop") == {"success": True}
    assert daemon.process.wait(PATIENCE) == 0


@contextmanager
def launched(daemon: Daemon) -> Iterator[str]:
    """The id of a program, which is stopped afterwards."""
    body = {"command": "cat", "rows": 10, "cols": 40}
    app = ask(daemon, "POST", "/apps", body)
    assert app["success"] is True
    yield app["session_id"]
    stopped = ask(daemon, "POST", f"/apps/{app['session_id']}/stop", {})
    assert stopped == {"success": True, "exit_code": None, "signal": "SIGHUP"}


def launch_app(daemon: Daemon, job: str) -> None:
    with launched(daemon) as app:
        assert app != job


def send_keys(daemon: Daemon, job: str) -> None:
    with launched(daemon) as app:
        sent = ask(daemon, "POST", f"/apps/{app}/keys", {"keys": ["hello", "Enter"]})
        assert sent["success"] is True
        query = f"wait_text=hello&wait_idle_ms=0&since_generation={sent['generation']}"
        assert "hello" in ask(daemon, "GET", f"/apps/{app}/screen?{query}")["content"]


def view_screen(daemon: Daemon, job: str) -> None:
    with launched(daemon) as app:
        content = ask(daemon, "GET", f"/apps/{app}/screen?format=ansi")["content"]
        assert content == "▮" + "\n" * 9


def get_cursor_position(daemon: Daemon, job: str) -> None:
    with launched(daemon) as app:
        at = ask(daemon, "GET", f"/apps/{app}/cursor")
        assert at == {"row": 0, "col": 0, "visible": True}


def get_screen_size(daemon: Daemon, job: str) -> None:
    with launched(daemon) as app:
        assert ask(daemon, "GET", f"/apps/{app}/size") == {"rows": 10, "cols": 40}


def resize_terminal(daemon: Daemon, job: str) -> None:
    with launched(daemon) as app:
        resized = ask(daemon, "POST", f"/apps/{app}/resize", {"width": 50, "height": 12})
        assert resized == {"success": True, "rows": 12, "cols": 50}


def mouse(daemon: Daemon, job: str) -> None:
    body = {"row": 0, "col": 0}
    answer = http_call(daemon, "POST", f"/api/sessions/{job}/mouse", body)
    assert refusal(answer) == "INVALID_INPUT"
    assert "mouse" in answer.json["error"]["message"]


def focus(daemon: Daemon, job: str) -> None:
    with launched(daemon) as app:
        answer = http_call(daemon, "POST", f"/api/sessions/{app}/focus", {"ref": "e1"})
        assert refusal(answer) == "INVALID_INPUT"  # nobody has seen such an element


def cluster_status(daemon: Daemon, job: str) -> None:
    assert ask(daemon, "GET", "/cluster")["clustered"] is False


def drain_host(daemon: Daemon, job: str) -> None:
    answer = http_call(daemon, "POST", "/api/cluster/hosts/one/drain", {})
    assert refusal(answer) == "INVALID_INPUT"
    assert "in no cluster" in answer.json["error"]["message"]


def snapshot(daemon: Daemon, job: str) -> None:
    with launched(daemon) as app:
        seen = ask(daemon, "GET", f"/sessions/{app}/snapshot")
        assert (seen["rows"], seen["cols"], seen["elements"]) == (10, 40, [])
        assert "lines" in seen


def get_cells(daemon: Daemon, job: str) -> None:
    with launched(daemon) as app:
        cells = ask(daemon, "GET", f"/sessions/{app}/cells?row=0&width=3")
        assert cells["runs"] == [{"text": "   ", "row": 0, "col": 0, "width": 3}]


def screen_hash(daemon: Daemon, job: str) -> None:
    with launched(daemon) as app:
        hashed = ask(daemon, "GET", f"/sessions/{app}/screen_hash")
        assert hashed["text_hash"] != hashed["styled_hash"]


def screen_diff(daemon: Daemon, job: str) -> None:
    with launched(daemon) as app:
        now = ask(daemon, "GET", f"/sessions/{app}/screen_hash")["generation"]
        found = ask(daemon, "GET", f"/sessions/{app}/screen_diff?generation={now}")
        assert (found["same"], found["changes"]) == (True, [])


def put_file(daemon: Daemon, job: str) -> None:
    with shell_of(daemon) as (shell, folder):
        body = {"path": "a.txt", "content": "one"}
        written = ask(daemon, "POST", f"/sessions/{shell}/put_file", body)
        assert (written["size"], written["way"]) == (3, "local")
        assert (folder / "a.txt").read_text() == "one"


def get_file(daemon: Daemon, job: str) -> None:
    with shell_of(daemon) as (shell, folder):
        (folder / "b.txt").write_text("two")
        read = ask(daemon, "POST", f"/sessions/{shell}/get_file", {"path": "b.txt"})
        assert (read["content"], read["encoding"]) == ("two", "utf8")


def edit_file(daemon: Daemon, job: str) -> None:
    with shell_of(daemon) as (shell, folder):
        (folder / "c.txt").write_text("two")
        body = {"path": "c.txt", "old": "two", "new": "three"}
        assert ask(daemon, "POST", f"/sessions/{shell}/edit_file", body)["replacements"] == 1
        answer = http_call(daemon, "POST", f"/api/sessions/{shell}/edit_file", body)
        assert refusal(answer) == "INVALID_INPUT"


def answer_question(daemon: Daemon, job: str) -> None:
    """As above: tests/services/policy/test_prompts.py answers as a person."""
    asked = {"question": "Name:", "answer": "text", "text": "x"}
    answer = http_call(daemon, "POST", f"/api/sessions/{job}/answer", asked)
    assert refusal(answer) == "FORBIDDEN"


@contextmanager
def shell_of(daemon: Daemon) -> Iterator[tuple[str, Path]]:
    """A shell in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        shell = ask(daemon, "POST", "/sessions", {"command": "bash", "cwd": folder})["session_id"]
        wait = {"session": shell, "state": ["prompt"]}
        assert ask(daemon, "POST", "/wait", wait)["matched"]
        yield shell, Path(folder)
        ask(daemon, "POST", f"/sessions/{shell}/close", {})


def restart_app(daemon: Daemon, job: str) -> None:
    with launched(daemon) as app:
        again = ask(daemon, "POST", f"/apps/{app}/restart", {})
        assert again == {"session_id": app, "success": True}


EXAMPLES: dict[str, Callable[[Daemon, str], None]] = {
    example.__name__: example
    for example in (
        create_session,
        list_approvals,
        answer_approval,
        answer_question,
        list_sessions,
        manage_session,
        send_input,
        press_keys,
        get_screen,
        get_scrollback,
        screenshot,
        read_output,
        await_quiesce,
        run_command,
        resize_session,
        restart_session,
        signal_session,
        dismiss_session,
        run,
        read_run,
        follow_run,
        list_activity,
        activity_output,
        film_recording,
        send,
        send_key,
        get_status,
        start_session,
        close_session,
        screen_at,
        search,
        export_recording,
        restore_sessions,
        overlay,
        remove_overlay,
        panel,
        remove_panel,
        input_mode,
        await_input,
        screen_mode,
        control,
        open_page,
        create_token,
        list_tokens,
        revoke_token,
        *(launch_app, view_screen, send_keys, get_cursor_position, get_screen_size),
        *(cluster_status, drain_host),
        *(
            resize_terminal,
            restart_app,
            mouse,
            focus,
            snapshot,
            get_cells,
            screen_hash,
            screen_diff,
        ),
        *(put_file, get_file, edit_file),
        diff_session,
        apply_session,
        discard_session,
        list_commands,
        describe_command,
        call_command,
        get_execution_status,
        cancel_execution,
        list_upstreams,
        add_upstream,
        remove_upstream,
        enable_upstream,
        reload_upstreams,
        list_upstream_tools,
        search_upstream_tools,
        describe_upstream_tool,
        call_upstream_tool,
        read_upstream_result,
        read_upstream_log,
        import_upstreams,
        status,
    )
}
EXAMPLES["stop_app"] = launch_app
EXAMPLES["test_upstream"] = try_upstream  # pytest would take that name for a test
EXAMPLES["wait_for"] = wait_for_text  # the other name is taken by the tests' own wait


@pytest.mark.parametrize("operation", [name for name in CATALOG if name not in ("stop", "upgrade")])
def test_every_operation_is_done_by_its_route(daemon: Daemon, job: str, operation: str) -> None:
    EXAMPLES[operation](daemon, job)


@needs_bubblewrap
def test_review_is_shown_applied_and_discarded_by_its_routes(
    daemon: Daemon, tmp_path: Path
) -> None:
    (tmp_path / "a").write_text("one\n")
    body = {"name": "reviewed", "cwd": str(tmp_path), "sandbox": "review"}
    ask(daemon, "POST", "/sessions", body)
    for text in ("two", "three"):
        ran = ask(daemon, "POST", "/sessions/reviewed/run", {"command": f"echo {text} >a"})
        assert ran["exit_code"] == 0
        if text == "two":
            shown = ask(daemon, "GET", "/sessions/reviewed/diff")
            assert shown["changes"] == [{"path": "a", "kind": "changed", "what": "file"}]
            assert ask(daemon, "POST", "/sessions/reviewed/apply", {})["applied"] == ["a"]
    done = ask(daemon, "POST", "/sessions/reviewed/discard", {})
    assert (done["discarded"], done["restarted"]) == (1, True)
    assert (tmp_path / "a").read_text() == "two\n"
    ask(daemon, "POST", "/sessions/reviewed/manage", {"action": "kill"})


def test_stop_is_answered_and_ends_the_daemon_with_its_sessions(
    own_daemon: Callable[..., Daemon],
) -> None:
    daemon = own_daemon()
    created = ask(daemon, "POST", "/sessions", {"command": "cat"})
    doomed = Doomed([created["pid"]])
    stop(daemon, "")
    assert doomed.survivors(PATIENCE) == []


# --- errors --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "body", "code"),
    [
        ("GET", "/sessions/nobody/screen", None, "SESSION_NOT_FOUND"),
        ("POST", "/sessions/nobody/input", {"input": "x"}, "SESSION_NOT_FOUND"),
        ("POST", "/sessions/%2e%2e/input", {"input": "x"}, "SESSION_NOT_FOUND"),
        ("POST", "/sessions", {"name": "job"}, "SESSION_EXISTS"),
        ("POST", "/sessions", {"name": "12345"}, "INVALID_INPUT"),
        ("POST", "/sessions", {"rows": "tall"}, "INVALID_INPUT"),
        ("POST", "/sessions", {"surplus": 1}, "INVALID_INPUT"),
        ("POST", "/sessions?rows=24", {}, "INVALID_INPUT"),
        ("POST", "/sessions", [], "INVALID_INPUT"),
        ("POST", "/sessions", b"{not json", "INVALID_INPUT"),
        ("POST", "/sessions", b"\xff", "INVALID_INPUT"),
        ("POST", "/sessions", b'{"name": "\\ud800"}', "INVALID_INPUT"),
        ("POST", "/sessions", b"[" * 100_000, "INVALID_INPUT"),
        ("POST", "/sessions", b'{"env":' * 100_000 + b"1" + b"}" * 100_000, "INVALID_INPUT"),
        ("GET", "/sessions/job/screen?format=html", None, "INVALID_INPUT"),
        ("GET", "/sessions/job/screen?max_chars=-1", None, "INVALID_INPUT"),
        ("GET", "/sessions/job/screen?max_chars=many", None, "INVALID_INPUT"),
        ("GET", "/sessions/job/screen?surplus=1", None, "INVALID_INPUT"),
        ("POST", "/sessions/job/input", {}, "INVALID_INPUT"),
        ("POST", "/sessions/job/input", None, "INVALID_INPUT"),
        ("POST", "/sessions/job/signal", {"signal": "²"}, "INVALID_INPUT"),
        ("GET", "/sessions?session=²", None, "SESSION_NOT_FOUND"),
        ("POST", "/sessions/job/input", {"input": "x" * 3_000_000}, "INVALID_INPUT"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_refusal_has_the_one_shape_and_its_status(
    daemon: Daemon, job: str, method: str, path: str, body: object, code: str
) -> None:
    quoted = urllib.parse.quote(path, safe="/?=&%")
    assert refusal(http_call(daemon, method, f"/api{quoted}", body)) == code
    assert ask(daemon, "GET", "/status")["sessions"] == 1


def test_the_path_wins_over_the_body(daemon: Daemon, job: str) -> None:
    ask(daemon, "POST", f"/sessions/{job}/input", {"session": "nobody", "input": "x"})


def test_an_ended_session_is_410_and_a_limit_429(own_daemon: Callable[..., Daemon]) -> None:
    daemon = own_daemon(max_sessions=1)
    ask(daemon, "POST", "/sessions", {"name": "brief", "command": "true"})
    wait_for_end(daemon, "brief")
    dead = http_call(daemon, "POST", "/api/sessions/brief/input", {"input": "x"})
    assert (refusal(dead), dead.status) == ("SESSION_DEAD", 410)
    assert dead.json["error"]["exit_code"] == 0
    (restart,) = dead.json["error"]["next"]
    assert (restart["route"], restart["why"]) == (
        "POST /api/sessions/brief/restart",
        "start it again",
    )
    assert dead.json["error"]["message"].endswith(
        f"; its screen can still be read; start it again with {restart['route']}"
    )
    ask(daemon, "POST", "/sessions", {"name": "lasting", "command": "cat"})
    full = http_call(daemon, "POST", "/api/sessions", {"command": "cat"})
    assert (refusal(full), full.status) == ("RESOURCE_LIMIT", 429)


@pytest.mark.parametrize("path", ["/api/no/such", "/api", "/nowhere", "/mcp/x"])
def test_an_unknown_route_is_404_in_json(daemon: Daemon, path: str) -> None:
    answer = http_call(daemon, "GET", path)
    assert (answer.status, refusal(answer)) == (404, "UNKNOWN_OPERATION")


@pytest.mark.parametrize(
    ("method", "path"),
    [("DELETE", "/api/sessions"), ("GET", "/api/stop"), ("PUT", "/api/status")],
)
def test_a_wrong_method_is_405_in_json(daemon: Daemon, method: str, path: str) -> None:
    answer = http_call(daemon, method, path)
    assert answer.status == 405
    assert answer.json["error"]["code"] == "UNKNOWN_OPERATION"
    assert answer.json["error"]["message"]


def test_without_the_token_every_route_is_closed(own_daemon: Callable[..., Daemon]) -> None:
    daemon = own_daemon(max_wrong_tokens=1000)
    for spec, token in product(CATALOG.values(), (None, "wrong")):
        method, _, path = spec.route.partition(" ")
        answer = http_call(daemon, method, f"/api{path}", token=token)
        assert answer.status == 401
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert answer.json["error"]["code"] == "FORBIDDEN"
    assert http_call(daemon, "GET", "/api/no/such", token="wrong").status == 401


# --- the description -----------------------------------------------------------------------


def test_the_openapi_document_is_derived_from_the_catalog(daemon: Daemon) -> None:
    served = http_call(daemon, "GET", "/api/openapi.json", token=None)
    assert served.status == 200
    document = served.json
    assert document["openapi"].startswith("3.1")
    assert document["info"] == {"title": "nacre", "version": __version__}
    assert document["security"] == [{"token": []}]
    described = {
        f"{method.upper()} {path.removeprefix('/api')}": route
        for path, methods in document["paths"].items()
        for method, route in methods.items()
        if not path.endswith((".png", ".svg"))  # test_pictures.py has these
    }
    assert set(described) == {spec.route for spec in CATALOG.values()}
    identifiers = [route["operationId"] for route in described.values()]
    assert sorted(identifiers) == sorted(CATALOG)
    for spec in CATALOG.values():
        route = described[spec.route]
        assert route["description"] == spec.doc
        stated = {parameter["name"] for parameter in route.get("parameters", ())}
        body = route.get("requestBody", {}).get("content", {}).get("application/json", {})
        stated |= set(body.get("schema", {}).get("properties", {}))
        assert stated == set(spec.type.__struct_fields__)
        for parameter in route.get("parameters", ()):
            assert parameter["in"] == (
                "path" if f"{{{parameter['name']}}}" in spec.route else "query"
            )
            assert parameter["required"] is True or parameter["in"] == "query"
            check_schema(parameter["schema"])
        for answer in route["responses"].values():
            schema = answer["content"]["application/json"]["schema"]
            check_schema(schema)
            assert "$ref" not in json.dumps(schema)
        error = route["responses"]["default"]["content"]["application/json"]["schema"]
        codes = set(error["properties"]["error"]["properties"]["code"]["enum"])
        # Of a run that was not begun there is an answer; the daemon's own are of clients.
        never = {code for code in WIRE if code.startswith("DAEMON_")} | {"BUSY", "NOT_AT_PROMPT"}
        assert codes == WIRE.keys() - never


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/sessions/{session}/command", {"input": 5}),
        ("POST", "/sessions/{session}/command", {"input": "x", "max_chars": 0}),
        ("POST", "/sessions/{session}/signal", {"signal": "NONE"}),
        ("POST", "/sessions/{session}/dismiss", {}),
        ("POST", "/sessions/{session}/await_input", {}),
        ("POST", "/sessions/{session}/overlay", {"spans": [{"nonsense": 1}]}),
        ("GET", "/sessions/{session}/screen?format=other", None),
    ],
)
def test_errors_have_no_field_that_is_not_described(
    daemon: Daemon, job: str, method: str, path: str, body: object
) -> None:
    paths = http_call(daemon, "GET", "/api/openapi.json").json["paths"]
    described = paths[f"/api{path.partition('?')[0]}"][method.lower()]["responses"]["default"]
    schema = described["content"]["application/json"]["schema"]
    for session in (job, "nobody"):
        answer = http_call(daemon, method, f"/api{path.replace('{session}', session)}", body)
        refusal(answer)
        check_fits(answer.json, schema)
        assert answer.json["error"].keys() <= schema["properties"]["error"]["properties"].keys()


def test_answers_fit_their_described_schemas(daemon: Daemon, job: str) -> None:
    paths = http_call(daemon, "GET", "/api/openapi.json").json["paths"]

    def fits(method: str, path: str, body: object = None, status: str = "200") -> None:
        answer = http_call(daemon, method, f"/api{path.replace('{session}', job)}", body)
        described = paths[f"/api{path.partition('?')[0]}"][method.lower()]["responses"][status]
        schema = described["content"]["application/json"]["schema"]
        check_fits(answer.json, schema)

    fits("GET", "/status")
    fits("GET", "/sessions")
    fits("GET", "/sessions?session={session}")
    fits("GET", "/sessions/{session}/screen")
    fits("GET", "/sessions/{session}/screen?format=plain")
    fits("GET", "/sessions/{session}/scrollback")
    fits("GET", "/sessions/{session}/output")
    fits("POST", "/sessions/{session}/quiesce", {"timeout_ms": 0})
    fits("POST", "/sessions/{session}/command", {"input": "x", "timeout_ms": 0})
    fits("POST", "/sessions/{session}/command", {"input": 5}, status="default")


def test_the_documentation_is_served_without_a_token(daemon: Daemon) -> None:
    page = http_call(daemon, "GET", "/api/docs", token=None)
    assert page.status == 200
    assert page.headers["content-type"].startswith("text/html")
    text = page.body.decode()
    assert daemon.token not in text
    for spec in CATALOG.values():
        assert f"/api{spec.route.partition(' ')[2]}" in text
    # It needs nothing from elsewhere.
    assert "http://" not in text.replace("http://127.0.0.1", "")
    assert "https://" not in text
    assert "<script" not in text


# --- waits ---------------------------------------------------------------------------------


def test_a_wait_whose_client_disconnects_is_given_up(
    bridges: Callable[..., Bridge], home_env: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    """An ephemeral daemon without grace ends with its last client: a wait left behind shows."""
    env = home_env(grace=0)
    bridge = bridges(env).handshake()
    bridge.call("create_session", name="job", command="stty -echo; exec cat")
    daemon = Daemon(bridge.process, env, tmp_path)
    waiting = http.client.HTTPConnection("127.0.0.1", daemon.state["port"], timeout=60)
    waiting.request(
        "POST",
        "/api/sessions/job/command",
        json.dumps({"input": "begun", "timeout_ms": 600_000, "max_wait_ms": 600_000}),
        {"Authorization": f"Bearer {daemon.token}"},
    )
    generation = 0
    while "begun" not in bridge.call("get_screen", session="job", format="plain")["lines"]:
        waited = bridge.call(
            "await_quiesce", session="job", timeout_ms=0, last_generation=generation
        )
        generation = waited["generation"]
    doomed = Doomed([daemon_pid(env)])
    assert bridge.close() == 0
    # The waiting client keeps the daemon.
    assert ask(daemon, "GET", "/status")["ephemeral"] is True
    waiting.close()
    assert doomed.survivors(PATIENCE) == []
    # That a client leaves is no error.
    log = [json.loads(line) for line in Path(find_paths(env).log_file).read_text().splitlines()]
    said = {entry["level"] for entry in log if "running as root" not in entry["message"]}
    assert said == {"info"}
