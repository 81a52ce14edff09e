"""What every test may need: a real daemon in a folder of its own."""

import asyncio
import functools
import gc
import inspect
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from nacre.client.calls import Client
from nacre.client.force import end_by_force
from nacre.client.lock import is_free
from nacre.client.start import connect
from nacre.settings.paths import find_paths

PATIENCE = 60.0  # seconds until an event that does not come fails the test
_LONGEST = 240.0  # seconds that a test may take; before pytest's own time-out
_HERE = Path(__file__).parent


# The rooms whose files take longest: begun first, they do not end last.
_LONGEST_ROOMS = ("web", "runs", "crashes", "doors", "cli")


def pytest_configure() -> None:
    """Leave a temporary folder that tests cannot use: their paths stand in shells' lines.

    And they are those of sockets, which may have 107 bytes (unix(7)).
    """
    if not re.fullmatch(r"[\w./-]{1,40}", tempfile.gettempdir(), re.ASCII):
        os.environ.pop("TMPDIR", None)
        tempfile.tempdir = None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the rooms that take longest; else the order stays."""

    def place(item: pytest.Item) -> int:
        room = item.path.relative_to(_HERE).parts[0]
        return _LONGEST_ROOMS.index(room) if room in _LONGEST_ROOMS else len(_LONGEST_ROOMS)

    items.sort(key=place)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage among the tests themselves: a million objects, and all of them stay."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Bound what a coroutine waits for: uvloop drops what pytest's time-out raises in a signal."""
    test = pyfuncitem.obj
    if inspect.iscoroutinefunction(test):

        @functools.wraps(test)
        async def bounded(**given: object) -> None:
            async with asyncio.timeout(_LONGEST):
                await test(**given)

        pyfuncitem.obj = bounded
    return (yield)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each process a file at a time, which has one daemon; all files of the page to one.

    A browser is dear to start, and its loop lets no other run beside it.
    """
    from xdist.scheduler import (  # type: ignore[import-untyped]  # it ships no types
        LoadScopeScheduling,
    )

    class ByFile(LoadScopeScheduling):  # type: ignore[misc]  # for that reason
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.split("::", 1)[0]
            return "web" if file.startswith("tests/web/") else file

    return ByFile(config, log)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def default_signals() -> None:
    """Undo what a run in the background (nohup, &) ignores: children would inherit it."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def environment(home: Path, **settings: object) -> dict[str, str]:
    """Return an environment in which nacre keeps to `home` and takes any free port."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("NACRE_")}
    # The tests' own sessions: a plain bash with a plain prompt, whoever runs them.
    env.update(SHELL="/bin/bash", HOME=str(home), NACRE_HOME=str(home / "nacre"), NACRE_PORT="0")
    # The MCP library is loaded where a test needs it, and nobody waits long for what ignores a
    # hangup.
    env.update(NACRE_MCP_LOAD_AFTER="0", NACRE_KILL_GRACE="0.3")
    # Compiling nacre anew at every start would take longer than the tests.
    for name in ("XDG_RUNTIME_DIR", "PROMPT_COMMAND", "PYTHONDONTWRITEBYTECODE"):
        env.pop(name, None)
    env.update({f"NACRE_{name.upper()}": str(value) for name, value in settings.items()})
    return env


@dataclass
class Daemon:
    """A daemon that a test started, and how to reach it; the process is its keeper."""

    process: "subprocess.Popen[bytes]"
    env: dict[str, str]
    home: Path

    @property
    def state(self) -> dict[str, Any]:
        loaded = json.loads(Path(find_paths(self.env).state_file).read_text())
        assert isinstance(loaded, dict)
        return loaded

    @property
    def pid(self) -> int:
        """The daemon's own; `process` is its keeper."""
        pid = self.state["pid"]
        assert isinstance(pid, int)
        return pid

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.state['port']}"

    @property
    def token(self) -> str:
        return Path(find_paths(self.env).token_file).read_text().strip()

    def rest(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Call a route; raises urllib.error.HTTPError for an error status."""
        request = urllib.request.Request(
            f"{self.url}/api{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.token}"},
        )
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)

    def as_person(self, operation: str, **params: Any) -> dict[str, Any]:
        """Call an operation as a person at the command line does."""
        with Client(connect(find_paths(self.env)), timeout=PATIENCE) as client:
            return client.call(operation, **params)

    def page_code(self) -> str:
        """A code that logs one browser in."""
        return str(self.as_person("open_page")["url"]).partition("code=")[2]

    def person_token(self) -> str:
        return str(self.as_person("create_token", scope="admin", person=True)["token"])

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(PATIENCE)


def load_all(env: dict[str, str]) -> None:
    """Have a daemon load what it loads late, so that it does not grow by that later."""
    paths = find_paths(env)
    port = json.loads(Path(paths.state_file).read_text())["port"]
    token = Path(paths.token_file).read_text().strip()
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/mcp",
        method="DELETE",
        headers={"Authorization": f"Bearer {token}"},
    )
    with pytest.raises(urllib.error.HTTPError):  # there is no such MCP session
        urllib.request.urlopen(request, timeout=PATIENCE)


def start_daemon(home: Path, **settings: object) -> Daemon:
    """Start `nacre server` and return once it listens."""
    env = environment(home, **settings)
    listening, ready = os.pipe()
    with (home / "daemon.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "nacre", "server", "--ready-fd", str(ready)],
            env=env,
            cwd=home,
            pass_fds=[ready],
            stdin=subprocess.DEVNULL,
            stderr=log,
        )
    os.close(ready)
    assert os.read(listening, 1), (home / "daemon.log").read_text()
    os.close(listening)
    return Daemon(process, env, home)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """One daemon for a test file."""
    started = start_daemon(tmp_path_factory.mktemp("home"))
    yield started
    assert started.stop() == 0


@pytest.fixture
def own_daemon(tmp_path: Path) -> Iterator[Callable[..., Daemon]]:
    """A daemon for one test, with settings of its own."""
    started: list[Daemon] = []

    def start(**settings: object) -> Daemon:
        started.append(start_daemon(tmp_path, **settings))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.stop()
    for one in started[-1:]:  # they have one home
        # A keeper that was replaced, or a daemon on demand that a client started instead.
        if not is_free(paths := find_paths(one.env)):
            end_by_force(paths, 0)
