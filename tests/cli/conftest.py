"""The command line as people and scripts use it: a real process, a real daemon, a scratch home."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from conftest import PATIENCE, environment
from nacre.client.calls import AnsweredError, Client
from nacre.client.start import connect
from nacre.settings.paths import Paths, find_paths

from cli.person import Person


@dataclass(frozen=True)
class Nacre:
    """Runs `nacre` in a home of its own; the daemon comes up on demand."""

    home: Path
    env: dict[str, str]

    @property
    def paths(self) -> Paths:
        return find_paths(self.env)

    def start(self, *arguments: str, **popen: Any) -> "subprocess.Popen[str]":
        popen = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **popen}
        env = {**self.env, **popen.pop("env", {})}
        return subprocess.Popen(
            [sys.executable, "-m", "nacre", *arguments], env=env, cwd=self.home, **popen
        )

    def __call__(
        self, *arguments: str, stdin: str = "", **environ: str
    ) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "nacre", *arguments],
            env={**self.env, **environ},
            cwd=self.home,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    def ok(self, *arguments: str, **options: str) -> str:
        """Run what must succeed without a word on standard error; return what it printed."""
        done = self(*arguments, **options)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def json(self, command: str, *arguments: str, **options: str) -> Any:
        return json.loads(self.ok(command, "--json", *arguments, **options))

    def fails(self, code: str, exit_code: int, *arguments: str) -> str:
        """Run what must fail, with --json; return its line on standard error."""
        done = self(*arguments, "--json")
        assert json.loads(done.stdout)["error"]["code"] == code
        assert done.returncode == exit_code
        assert done.stderr.startswith("nacre: ")
        assert done.stderr.count("\n") == 1
        return done.stderr

    # What a test only needs around the command it is about goes to the daemon directly: a process
    # for each would take most of the suite's time.

    def call(self, operation: str, **params: Any) -> dict[str, Any]:
        with Client(connect(self.paths), timeout=PATIENCE) as client:
            return client.call(operation, **params)

    def generation(self, session: str) -> int:
        return int(self.call("get_screen", session=session)["generation"])

    def until(self, session: str, text: str) -> str:
        """Return the screen once it shows the text; every look waits for newer output."""
        while True:
            seen = self.call("get_screen", session=session, format="plain")
            if text in (screen := "\n".join(seen["lines"])):
                return screen
            after = seen["generation"]
            self.call("await_quiesce", session=session, timeout_ms=0, last_generation=after)

    def until_line(self, session: str, line: str) -> None:
        """Return once the screen shows a whole line, and the cursor stands below it.

        The kernel may hand over a line's end apart from the line: the screen changes once more.
        """
        while True:
            seen = self.call("get_screen", session=session, format="plain")
            if line in seen["lines"][: seen["cursor"]["row"]]:
                return
            after = seen["generation"]
            self.call("await_quiesce", session=session, timeout_ms=0, last_generation=after)

    def ended(self, session: str) -> None:
        """Return when the session's process has ended."""
        with pytest.raises(AnsweredError) as raised:
            self.call("await_quiesce", session=session, timeout_ms=0, last_generation=10**9)
        assert raised.value.code == "SESSION_DEAD"

    def listed(self, session: str) -> dict[str, Any]:
        return self.call("list_sessions", session=session)


def make_nacre(home: Path) -> Nacre:
    env = environment(home)
    env.pop("NO_COLOR", None)
    return Nacre(home, env)


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scratch home; what is in it is shared, so a test gives its sessions names of its own."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session")
def nacre(home: Path) -> Iterator[Nacre]:
    """The command in that home; its daemon is shared by the tests and ended after them."""
    command = make_nacre(home)
    yield command
    command.ok("stop")


@pytest.fixture
def own_nacre(tmp_path: Path) -> Iterator[Nacre]:
    """The command in a home of one test, where no daemon runs yet."""
    command = make_nacre(tmp_path)
    yield command
    if os.path.exists(command.paths.state):
        command.ok("stop")


@pytest.fixture(scope="session")
def running(nacre: Nacre) -> Nacre:
    """The command in a home where a daemon runs."""
    nacre.ok("new", "first", "--", "cat")
    return nacre


@pytest.fixture
def attach(running: Nacre) -> Iterator[Callable[..., Person]]:
    """Start `nacre attach` at a terminal of its own, as often as it is asked for."""
    people: list[Person] = []

    def start(*arguments: str, **options: Any) -> Person:
        env = options.pop("env", running.env)
        people.append(Person(env, *arguments, **options))
        return people[-1]

    yield start
    for person in people:
        person.close()


@pytest.fixture
def echo(running: Nacre) -> Iterator[str]:
    """A session that prints each line it gets, and nothing else."""
    line = "stty -echo; echo ready; exec cat"
    running.call("create_session", name="echo", command=line)
    running.until_line("echo", "ready")
    yield "echo"
    running.call("manage_session", session="echo", action="kill")


@pytest.fixture
def ended(running: Nacre) -> Iterator[str]:
    """The id of a session named "gone" whose process has ended with code 3."""
    line = "echo last words; exit 3"
    identifier = running.call("create_session", name="gone", command=line)["session_id"]
    running.ended(identifier)
    yield identifier
    running.call("manage_session", session=identifier, action="kill")


def is_running(pid: int) -> bool:
    """Tell whether a process runs; one that is dead and not yet reaped does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
