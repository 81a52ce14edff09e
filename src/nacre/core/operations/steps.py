"""The next steps that errors and hints suggest, each stated once.

Rule: a step that some door does not offer names another one for that door, if there is one.
"""

from nacre.wording import Use

LIST_SESSIONS = Use("list_sessions", "list them")

END_ONE = Use(
    "manage_session",
    "kill one that is not needed",
    {"action": "kill"},
    Use(
        "close_session",
        "close one that is not needed",
        otherwise=Use("stop_app", "stop one that is not needed"),
    ),
)


def kill(session: str) -> Use:
    stopping = Use("stop_app", "stop it", {"session": session})
    closing = Use("close_session", "close it", {"session": session}, stopping)
    return Use("manage_session", "kill it", {"session": session, "action": "kill"}, closing)


def restart(session: str) -> Use:
    to, params = "start it again", {"session": session}
    app = Use("restart_app", to, params, CREATE)
    managing = Use("manage_session", to, {**params, "action": "restart"}, app)
    return Use("restart_session", to, params, managing)


LAUNCH = Use("launch_app", "start a new one")

CREATE = Use(
    "create_session",
    "start a new one",
    otherwise=Use("start_session", "start a new one", otherwise=LAUNCH),
)


def restore(session: str) -> Use:
    return Use("restore_sessions", "start it again", {"session": session}, CREATE)


def read_screen(session: str) -> Use:
    viewing = Use("view_screen", "read it", {"session": session})
    reading = Use("read_output", "read it", {"session": session}, viewing)
    return Use("get_screen", "read it", {"session": session}, reading)


def read_output(session: str) -> Use:
    looking = Use("get_screen", "read it", {"session": session})
    return Use("read_output", "read it", {"session": session}, looking)


def read_whole_run(run_id: str, session: str, lines: int, max_chars: int) -> Use:
    """`lines` and `max_chars` are what its output takes on the screen and above it."""
    params = {"session": session, "lines": lines, "max_chars": max_chars}
    reading = Use("read_output", "read what the session still has of them", params)
    return Use("read_run", "read those lines", {"run_id": run_id}, reading)


def wait_for_run(session: str, run_id: str) -> Use:
    looking = Use("get_status", "see whether it has ended", {"session": session})
    return Use("wait_for", "wait for it", {"session": session, "run_id": run_id}, looking)


def wait_for_quiet(session: str) -> Use:
    return Use("await_quiesce", "wait again", {"session": session})


def interrupt(session: str) -> Use:
    to = "interrupt it"
    app = Use("send_keys", to, {"session": session, "keys": "Ctrl+C"})
    typing = Use("send_input", to, {"session": session, "input": "\x03"}, app)
    pressing = Use("send_key", to, {"session": session, "key": "ctrl+c"}, typing)
    return Use("press_keys", to, {"session": session, "keys": ["ctrl+c"]}, pressing)


def capture_input(session: str) -> Use:
    return Use("input_mode", "capture it first", {"session": session, "mode": "capture"})
