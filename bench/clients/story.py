"""The story that every client is driven through, and what must be true of each of its steps.

Rule 1: a step fails when nacre's part of it is wrong: an answer that is lost or cut without a word,
an error that does not say the next step, a connection that does not go on. What a client does not
offer is no failure, and what it does in its own way (it raises, it prefers one of the two forms of
an answer) is told.
Rule 2: no step waits for time: a command that runs says so through a pipe.
"""

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clients.peer import Peer, Told

ANSWER_WITHIN = 4.0  # seconds: stands for the 55 after which a daemon answers by default
PATIENCE = 8.0  # seconds: stands for the 60 that the TypeScript SDK waits
SETTINGS = {"answer_within": ANSWER_WITHIN, "progress_interval": 0.3, "grace": 5}

_MOST = 30_000  # characters of an answer (max_result_chars)
_ABSENT = "–"


class Wrong(Exception):
    """What a step found that must not be."""


@dataclass(frozen=True)
class Server:
    """A daemon of its own, and how clients reach it."""

    env: dict[str, str]
    over: str  # stdio or http
    wrap: Callable[[dict[str, Any]], dict[str, Any]] | None = None  # a proxy between

    def address(self, *options: str) -> dict[str, Any]:
        """Return how to open a connection with these options of `nacre mcp`."""
        if self.over == "stdio":
            command = [sys.executable, "-m", "nacre", "mcp", *options]
            return self._wrapped({"command": command, "env": self.env})
        given = zip(options[::2], options[1::2], strict=True)
        query = "&".join(f"{name.lstrip('-')}={value}" for name, value in given)
        status = self.status()
        token = Path(status["token_file"]).read_text().strip()
        url = f"http://127.0.0.1:{status['port']}/mcp" + (f"?{query}" if query else "")
        return self._wrapped({"url": url, "headers": {"Authorization": f"Bearer {token}"}})

    def _wrapped(self, address: dict[str, Any]) -> dict[str, Any]:
        return address if self.wrap is None else self.wrap(address)

    def status(self) -> dict[str, Any]:
        return dict(json.loads(self.nacre("status", "--json")))

    def nacre(self, *words: str) -> str:
        argv = [sys.executable, "-m", "nacre", *words]
        done = subprocess.run(argv, env=self.env, check=True, capture_output=True, text=True)
        return done.stdout


@dataclass
class Report:
    """One row of the table."""

    cells: dict[str, str] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)


class Story:
    """One client on its way through the steps."""

    def __init__(self, peer: Peer, server: Server, scratch: Path) -> None:
        self.peer = peer
        self.server = server
        self._pipe = scratch / f"runs-{os.getpid()}-{id(self)}"
        os.mkfifo(self._pipe)

    def tell(self) -> Report:
        report = Report()
        for name, work in STEPS.items():
            started = time.perf_counter()
            try:
                report.cells[name] = work(self)
            except (Wrong, subprocess.CalledProcessError) as wrong:
                report.cells[name] = "FAILED"
                report.failed.append(f"{name}: {wrong}")
            report.seconds[name] = time.perf_counter() - started
        return report

    # --- what the steps ask with -------------------------------------------------------------

    def call(self, tool: str, _patience: float | None = None, **arguments: Any) -> Told:
        return self.peer.call(tool, arguments, patience=_patience)

    def begin(self, command: str, *, progress: bool = False, **arguments: Any) -> None:
        """Begin a run, and return when its command runs."""
        with self._announced() as announcement:
            given = {"port": "host", "command": f"echo > {self._pipe}; {command}", **arguments}
            self.peer.begin_call("run", given, patience=PATIENCE, progress=progress)
            if not select.select([announcement], [], [], 30)[0]:
                raise Wrong(f"the command did not begin: {self.peer.answer()}")

    @contextmanager
    def _announced(self) -> Iterator[int]:
        reader = os.open(self._pipe, os.O_RDONLY | os.O_NONBLOCK)
        try:
            yield reader
        finally:
            os.close(reader)

    def kill_daemon(self) -> None:
        os.kill(self.server.status()["pid"], signal.SIGKILL)

    def until_ready(self) -> None:
        """Return when the session is at its prompt again."""
        self.server.nacre("wait", "host", "--state", "prompt", "--timeout-ms", "20000")


STEPS: dict[str, Callable[[Story], str]] = {}


def step(work: Callable[[Story], str]) -> Callable[[Story], str]:
    STEPS[work.__name__.replace("_", " ").strip()] = work
    return work


def fact(told: Told, name: str) -> Any:
    """Return a field of an answer's JSON, as the model reads it."""
    if told.raised:
        raise Wrong(told.raised)
    try:
        return json.loads(told.words.partition("\n")[0]).get(name)
    except ValueError:
        raise Wrong(f"no JSON: {told.words[:200]!r}") from None


def must(condition: object, otherwise: object) -> None:
    if not condition:
        raise Wrong(str(otherwise)[:600])


# --- the steps ---------------------------------------------------------------------------------


@step
def opened(story: Story) -> str:
    told = story.peer.ask("open", server=story.server.address())
    must(not told.raised, told.raised)
    instructions = told.value["instructions"]
    must(instructions in (None, _ABSENT) or "Use run " in instructions, told.value)
    return str(told.value["revision"])


# What a connection with these options has, and has not.
_TOOLSETS = (
    ((), "run", "run_command"),
    (("--toolsets", "terminal"), "run_command", "screenshot"),
    (("--toolsets", "all", "--prefix", "wsh_"), "wsh_screenshot", "run_command"),
    (("--toolsets", "all"), "screenshot", "wsh_screenshot"),
)


@step
def default_tools(story: Story) -> str:
    """What a host gets that names no toolset answers in plain text."""
    story.peer.ask("tools")  # an adapter calls only what it has listed
    told = story.call("run", command="echo said; (exit 3)")
    must(not told.raised, told.raised)
    must(told.words.startswith("[exit 3 ") and "said" in told.words.splitlines(), told)
    return "exit 3"


@step
def tools(story: Story) -> str:
    """Leaves the connection with all tools open."""
    counts = []
    for options, has, lacks in _TOOLSETS:
        if options:
            story.peer.ask("close")
            told = story.peer.ask("open", server=story.server.address(*options))
            must(not told.raised, told.raised)
        told = story.peer.ask("tools")
        must(not told.raised, told.raised)
        names = told.value["names"]
        must(has in names and lacks not in names, names)
        counts.append(len(names))
    return "/".join(map(str, counts))


@step
def exit_codes(story: Story) -> str:
    created = story.call("create_session", name="host", keep=True)
    must(fact(created, "session") == "host", created)
    for code in (0, 3):
        told = story.call("run", port="host", command=f"echo said; (exit {code})")
        must(fact(told, "exit_code") == code and fact(told, "output").strip() == "said", told)
        typed = story.call("run_command", session="host", input=f"(exit {code})\r")
        must(fact(typed, "exit_code") == code, typed)
    return "0, 3"


# Clients that check answers against the tools' schemas do so here.
_OTHERS: dict[str, dict[str, Any]] = {
    "list_sessions": {},
    "get_screen": {},
    "get_scrollback": {},
    "send_input": {"input": "echo typed\r"},
    "await_quiesce": {"timeout_ms": 100},
    "wait_for": {"state": "prompt"},
    "overlay": {"spans": [{"text": "seen", "fg": "red"}]},
    "panel": {"height": 1, "spans": [{"text": "seen"}]},
    "remove_overlay": {},
    "remove_panel": {},
    "input_mode": {"mode": "release"},
    "screen_mode": {"action": "enter_alt"},
    "get_status": {"port": "host"},
    "send": {"port": "host", "text": "echo sent"},
    "send_key": {"port": "host", "key": "ctrl+l"},
}


@step
def other_tools(story: Story) -> str:
    for tool, given in _OTHERS.items():
        named = given if "port" in given else {"session": "host", **given}
        told = story.call(tool, **named)
        must(not told.raised and not told.value["error"], f"{tool}: {told}")
    story.call("screen_mode", session="host", action="exit_alt")
    return str(len(_OTHERS))


@step
def long_output(story: Story) -> str:
    told = story.call("run", port="host", command="seq 100000")
    must(not told.raised, told.raised)
    text, structured = told.words, told.value["structured"]
    must(len(text) <= _MOST * 1.1, f"{len(text)} characters")
    must(fact(told, "omitted_lines") > 0, text[:300])
    must("read_run" in fact(told, "hint"), text[:300])
    return f"{len(text):,}" + (f" + {structured:,}" if structured else "")


@step
def error_result(story: Story) -> str:
    """An unknown session and a wrong parameter, as results with isError."""
    nobody = story.call("run", port="nobody", command="true")
    wrong = story.call("run", port="host", command="true", timeout=5)
    for told in (nobody, wrong):
        must(told.raised or told.value["error"], f"no error: {told}")
    must("nobody" in nobody.words and "list_sessions" in nobody.words, nobody.words)
    must("did you mean timeout_ms" in wrong.words, wrong.words)
    return _way(nobody)


@step
def rpc_error(story: Story) -> str:
    """The same as JSON-RPC errors, which toolset terminal gives."""
    nobody = story.call("get_screen", session="nobody")
    wrong = story.call("get_screen", session="host", formt="plain")
    for told in (nobody, wrong):
        must(told.raised or told.value["error"], f"no error: {told}")
    if not nobody.raised and nobody.value.get("hidden"):
        return f"its own text: {nobody.words!r}"
    must("nobody" in nobody.words and "list_sessions" in nobody.words, nobody.words)
    must("format" in wrong.words, wrong.words)
    return _way(nobody)


def _way(told: Told) -> str:
    return f"raises {told.raised.partition(':')[0]}" if told.raised else "text"


@step
def screenshot(story: Story) -> str:
    told = story.call("screenshot", session="host")
    must(not told.raised and not told.value["error"], told)
    must(told.value["images"] == 1, f"{told.value['images']} images; {told.words[:200]}")
    return "image"


@step
def answered_in_time(story: Story) -> str:
    """A command that takes longer than the client's patience is answered before that ends."""
    story.until_ready()
    told = story.call("run", PATIENCE, port="host", command="sleep 30")
    must(fact(told, "status") == "timeout" and fact(told, "run_id"), told)
    story.server.nacre("keys", "host", "ctrl+c")
    return "timeout + run_id"


@step
def client_gives_up(story: Story) -> str:
    story.until_ready()
    told = story.call("run", 1.0, port="host", command="sleep 2; echo late")
    story.until_ready()
    after = story.call("run", port="host", command="echo next")
    must(fact(after, "output").strip() == "next", after)
    return _way(told) if told.raised else "not for one call"


@step
def progress(story: Story) -> str:
    told = story.peer.call(
        "run",
        {"port": "host", "command": "for i in 1 2 3; do echo $i; sleep 0.5; done"},
        progress=True,
    )
    must(fact(told, "exit_code") == 0, told)
    heard = told.value["progress"]
    if heard is None:
        return _ABSENT
    must(heard > 0, "no progress arrived")
    return f"{heard} told"


@step
def cancelled(story: Story) -> str:
    story.until_ready()
    story.begin("sleep 2")
    story.peer.begin("cancel")
    told = story.peer.answer()
    story.until_ready()
    after = story.call("run", port="host", command="echo next")
    must(fact(after, "output").strip() == "next", after)
    return "ok" if told.raised else "answered"


@step
def resources(story: Story) -> str:
    listed = story.peer.ask("resources")
    must(not listed.raised, listed.raised)
    if listed.value is None:
        return _ABSENT
    must("nacre://sessions/host/screen" in listed.value, listed.value)
    read = story.peer.ask("read", uri="nacre://sessions/host/screen")
    must(not read.raised and '"generation"' in (read.value or ""), read)
    return f"{len(listed.value)}"


@step
def prompts(story: Story) -> str:
    listed = story.peer.ask("prompts")
    must(not listed.raised, listed.raised)
    if listed.value is None:
        return _ABSENT
    must("nacre:core" in listed.value, listed.value)
    read = story.peer.ask("prompt", name="nacre:core")
    must(not read.raised and "run_command" in (read.value or ""), read)
    return f"{len(listed.value)}"


@step
def daemon_killed(story: Story) -> str:
    """One call is in progress when the daemon dies; the session's program notices nothing."""
    story.until_ready()
    story.begin("sleep 2; echo survived")
    story.kill_daemon()
    told = story.peer.answer()
    story.until_ready()
    found = []
    after = Told()
    for attempt in range(3):
        if attempt == 2 and story.server.over == "http":
            # The client has given its connection up for good: a host opens another.
            story.peer.ask("close")
            story.peer.ask("open", server=story.server.address("--toolsets", "all"))
            story.peer.ask("tools")
            found.append("opened again")
        after = story.call("read", PATIENCE, port="host", lines=10)
        if not after.raised and not after.value["error"]:
            break
        found.append(_way(after))
    must(not after.raised and not after.value["error"], f"{told} {found} {after}")
    must(re.search(r"^survived", fact(after, "output"), re.M), f"{found} {after}")
    if story.server.over == "stdio":
        must("DAEMON_RESTARTED" in told.words or "restarted" in told.words, told)
        must(not found, found)
    return " ".join([_way(told), *found, "goes on"])


@step
def left(story: Story) -> str:
    told = story.peer.ask("close")
    must(not told.raised, told.raised)
    return "ok"
