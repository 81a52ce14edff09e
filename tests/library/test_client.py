"""The client library against a real daemon: both faces, by socket and by address."""

import asyncio
import inspect
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import nacre
from conftest import Daemon, environment
from nacre.errors import (
    DaemonUnreachable,
    InvalidInput,
    NacreError,
    SessionExited,
    SessionNotFound,
)
from nacre.library.answers import error_of
from nacre.library.client import AsyncClient
from nacre.library.session import AsyncSession
from nacre.library.sync import SyncClient, SyncSession

EXAMPLES = Path(__file__).parents[2] / "examples"
ECHO = ("sh", ["-c", "printf 'ready\\n'; read line; printf 'got %s\\n' \"$line\"; exit 3"])


def home_of(daemon: Daemon) -> str:
    return daemon.env["NACRE_HOME"]


@pytest.fixture(scope="module", params=["socket", "address"])
def client(request: pytest.FixtureRequest, daemon: Daemon) -> Iterator[SyncClient]:
    """The same client, by the Unix socket and by address and token."""
    by_socket = request.param == "socket"
    made = (
        nacre.connect(home=home_of(daemon), start=False)
        if by_socket
        else nacre.connect(daemon.url, daemon.token)
    )
    with made as opened:
        yield opened


# --- import ------------------------------------------------------------------------------------


def test_importing_nacre_imports_nothing_heavy() -> None:
    code = "import sys, nacre; print([n for n in sys.modules if n.startswith('nacre.')]); "
    code += "print([n for n in ('asyncio', 'msgspec', 'json') if n in sys.modules]); nacre.Client"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd="/"
    )
    assert done.stdout == "[]\n[]\n"


def test_the_library_is_found_by_its_names() -> None:
    assert nacre.Client is AsyncClient
    assert {"Client", "connect", "__version__"} <= set(dir(nacre))
    with pytest.raises(AttributeError, match="Clinet"):
        nacre.Clinet  # type: ignore[attr-defined]  # noqa: B018  # that is the test


# --- the two faces -----------------------------------------------------------------------------


def methods_of(cls: type) -> dict[str, list[object]]:
    found = inspect.getmembers(cls, inspect.isfunction)
    return {
        name: [
            (one.name, one.kind, one.default)
            for one in inspect.signature(function).parameters.values()
        ]
        for name, function in found
        if not name.startswith("_")
    }


def test_both_faces_have_the_same_methods_and_parameters() -> None:
    assert methods_of(SyncSession) == methods_of(AsyncSession)
    only_async = {"web", "over"}
    of_async = {n: p for n, p in methods_of(AsyncClient).items() if n not in only_async}
    assert methods_of(SyncClient) == of_async


def test_every_method_of_the_library_stands_in_its_page() -> None:
    page = (EXAMPLES.parent / "docs" / "client.md").read_text()
    for name in {**methods_of(SyncSession), **methods_of(SyncClient)}:
        assert f"`{name}(" in page or f".{name}(" in page, name


# --- sessions ----------------------------------------------------------------------------------


def test_a_run_returns_output_and_exit_code(client: SyncClient) -> None:
    session = client.new(name=None)
    try:
        done = session.run("printf 'one\\ntwo\\n'; (exit 4)")
        assert (done.output, done.exit_code, done.status) == ("one\ntwo", 4, "completed")
        assert done.run_id is not None
        assert client.read_run(done.run_id).total_lines == 2
        found = client.read_run(done.run_id, find="two").matches
        assert found is not None
        assert [line.text for line in found] == ["two"]
    finally:
        session.kill()


def test_a_program_is_launched_typed_into_and_read(client: SyncClient) -> None:
    app = client.launch(*ECHO, rows=10, cols=40)
    assert app.view(wait_text="ready").matched
    sent = app.keys("he", "Backspace", "i", "Enter")
    assert app.wait(text="got hi", after=sent.generation).matched
    assert app.wait(exit=True).matched
    screen = app.screen()
    assert screen.lines[:3] == ["ready", "hi", "got hi"]
    assert (screen.rows, screen.cols) == (10, 40)
    assert app.details().exit_code == 3
    with pytest.raises(SessionExited) as caught:
        app.type("more")
    assert caught.value.code == "SESSION_DEAD"
    assert app.stop().exit_code == 3


def test_what_a_session_shows_is_read_in_every_way(client: SyncClient) -> None:
    app = client.launch(
        "sh", ["-c", "seq 1 30; printf '\\033[31mred\\033[m \\033[?2004h'; cat"], rows=5, cols=20
    )
    app.wait(text="red")
    line = app.screen(styled=True).lines[-1]
    assert not isinstance(line, str)
    assert (line[0].text, line[0].fg) == ("red", "red")
    assert app.scrollback(limit=2).lines == ["1", "2"]
    assert app.read(2).output.splitlines()[0] == "30"
    assert (app.cursor().row, app.cursor().col) == (4, 4)
    app.paste("x")
    assert app.wait(text="^[[200~x").matched  # the brackets that it asked for
    assert app.resize(6, 30).cols == 30
    assert app.screenshot("svg").startswith(b"<svg")
    assert app.screenshot().startswith(b"\x89PNG")
    assert json.loads(app.recording().splitlines()[0])["version"] == 3
    assert app.state().alive
    with pytest.raises(InvalidInput, match="mouse"):
        app.mouse("click", row=0, col=0)
    with pytest.raises(InvalidInput, match="was not found on the screen"):
        app.focus("OK")
    assert [one.text for one in app.snapshot().elements if one.role == "button"] == []
    app.signal("TERM")
    app.wait(exit=True)
    app.restart()
    assert app.details().alive
    assert app.id in {one.session_id for one in client.sessions()}
    app.stop()


def test_a_line_is_sent_and_answered(client: SyncClient) -> None:
    session = client.new("cat", rows=4)
    assert "hello" in session.send("hello").output
    session.kill()


def test_events_and_output_are_streamed(client: SyncClient) -> None:
    app = client.launch(*ECHO)
    app.wait(text="ready")
    printed = b""
    for data in client.output(app):
        if not printed:
            app.type("you\n")
        printed += data
    assert b"ready" in printed
    assert b"got you" in printed
    events = client.events(["sessions"])
    assert next(events).kind == "sync"
    app.stop()
    change = next(events)
    assert (change.kind, change.session_id, change.fields["change"]) == (
        "session",
        app.id,
        "removed",
    )
    events.close()  # type: ignore[attr-defined]  # it is a generator


def test_any_operation_can_be_called(client: SyncClient, daemon: Daemon) -> None:
    assert client.call("status")["pid"] == client.status().pid == daemon.pid


# --- errors ------------------------------------------------------------------------------------


def test_errors_are_exceptions_with_code_and_next_step(client: SyncClient) -> None:
    with pytest.raises(SessionNotFound) as caught:
        client.session("nobody").screen()
    assert caught.value.code == "SESSION_NOT_FOUND"
    assert "nobody" in str(caught.value)
    assert caught.value.details["next"][0]["operation"] == "list_sessions"
    with pytest.raises(InvalidInput, match="rows must be"):
        client.new(rows=0)


def test_a_code_of_a_newer_daemon_is_an_error_all_the_same() -> None:
    error = error_of({"code": "NEW_CODE", "message": "what; do this", "more": 1})
    assert type(error) is NacreError
    assert (error.code, str(error), error.details) == ("NEW_CODE", "what; do this", {"more": 1})


def test_a_wrong_token_and_a_wrong_address_are_told(daemon: Daemon) -> None:
    client = nacre.connect(daemon.url, "wrong-token-wrong-token")
    with pytest.raises(DaemonUnreachable, match="check the address and the token"):
        client.status()
    with pytest.raises(InvalidInput, match="needs a token"):
        nacre.connect(daemon.url)
    with pytest.raises(InvalidInput, match="begins with http"):
        nacre.connect("localhost:19999", "token")
    with pytest.raises(InvalidInput, match="needs a url"):
        nacre.connect(token="token")


def test_without_a_daemon_it_says_so_or_starts_one(tmp_path: Path) -> None:
    client = nacre.connect(home=tmp_path / "none", start=False)
    with pytest.raises(DaemonUnreachable, match="no daemon is running"):
        client.status()
    env = environment(tmp_path, grace=0)
    code = "import nacre\nwith nacre.connect() as c:\n print(c.new().run('echo $((6*7))').output)"
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("42\n", "")


# --- asyncio -----------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["socket", "address"])
def test_many_questions_wait_at_once_on_one_connection(daemon: Daemon, by: str) -> None:
    async def story() -> list[str]:
        client = (
            nacre.Client(home=home_of(daemon), start=False)
            if by == "socket"
            else nacre.Client(daemon.url, daemon.token)
        )
        async with client:
            apps = [await client.launch("cat") for _ in range(5)]
            waits = [asyncio.create_task(app.wait(text=f"n{i}")) for i, app in enumerate(apps)]
            for number in reversed(range(5)):  # the last one first: no wait is in another's way
                await apps[number].type(f"n{number}")
            matched = await asyncio.gather(*waits)
            for app in apps:
                await app.stop()
            with pytest.raises(SessionNotFound):
                await client.session("nobody").view()
            return [str(one.match) for one in matched]

    assert asyncio.run(story()) == [f"n{i}" for i in range(5)]


def test_output_is_streamed_with_asyncio(daemon: Daemon) -> None:
    async def story() -> bytes:
        async with nacre.Client(home=home_of(daemon)) as client:
            app = await client.launch(*ECHO)
            await app.wait(text="ready")
            printed = b""
            async for data in client.output(app):
                if not printed:
                    await app.type("you\n")
                printed += data
            return printed

    assert b"got you" in asyncio.run(story())


# --- the page and the examples -----------------------------------------------------------------


@pytest.mark.parametrize("name", ["client_sync.py", "client_async.py"])
def test_examples_do_what_they_say(daemon: Daemon, name: str) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name)],
        env={**os.environ, **daemon.env},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "exit code 0" in done.stdout
    assert "3 + 4 = 7" in done.stdout
