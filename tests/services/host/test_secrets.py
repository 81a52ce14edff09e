"""What agents are not shown, what is typed for them by name, and what nobody writes down.

Each test attacks a promise of docs/secrets.md: it looks for a secret wherever it could have gone.
"""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from nacre.core.catalog.caller import Caller
from nacre.core.operations.all import parse_operation
from nacre.core.operations.follow import LineEvent, Sync
from nacre.errors import InvalidInput
from nacre.services.audit.audit import Audit
from nacre.services.session.session import Session
from nacre.services.wiring import Services, build_services
from nacre.settings.table import Settings
from nacre.system.secrets import SecretStore
from nacre.system.storage.audit_log import AuditLog, RotationLimits

from services import living as living_services
from services.living import SHELL, living, start, start_marked, text_of, until
from services.people import ANNA, House

pytestmark = pytest.mark.anyio

TOKEN = "ghp_" + "a1B2" * 9
PASSWORD = "correct-horse-battery"  # a made-up one
CLI = Caller(door="cli", person=True)


@asynccontextmanager
async def guarded_house(
    folder: Path, monkeypatch: pytest.MonkeyPatch, **settings: Any
) -> AsyncIterator[House]:
    """Services with a journal, an audit, a log of executions and a store of secrets."""
    state, runtime = folder / "state", folder / "run"
    for made in (state, runtime, state / "sessions"):
        made.mkdir(mode=0o700, exist_ok=True)
    log = folder / "executions.log"
    given = Settings(audit_log=str(log))
    loop = asyncio.get_running_loop()
    limits = RotationLimits(1 << 30, 1 << 30, 100)
    audit = Audit(loop, given, lambda: AuditLog(str(state / "audit"), limits))

    def build(*positional: Any, **more: Any) -> Services:
        return build_services(*positional, **{**more, "audit": audit})

    monkeypatch.setattr(living_services, "build_services", build)
    async with living(runtime, state / "sessions", **settings) as services:
        yield House(services)
    audit.close()


def store(folder: Path) -> SecretStore:
    (folder / "state").mkdir(mode=0o700, exist_ok=True)
    return SecretStore(str(folder / "state" / "secrets.json"))


def written(folder: Path, *but: str) -> bytes:
    """Return all bytes that are on the disk, but for the store of secrets itself."""
    found = [
        path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in ("secrets.json", *but)
    ]
    assert found
    return b"\0".join(found)


async def reads(session: Session) -> None:
    """Return when a program waits for keys, and all that it printed is shown."""
    await living_services.reads(session)
    await session.catch_up()


async def flushed(session: Session) -> None:
    await session.recorder.settled()


# --- what agents read --------------------------------------------------------------------------


async def test_no_operation_shows_an_agent_a_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Screen, scrollback, output, runs, waits, searches, recordings: in every way to read."""
    async with guarded_house(tmp_path, monkeypatch) as ask:
        session = await start_marked(ask.services, rows=10, cols=40)
        name = session.identity.name
        (tmp_path / "t").write_text(f"{TOKEN}\n")
        await ask("run", session=name, command=f"cd {tmp_path}")
        run = await ask("run", session=name, command="cat t; seq 3")
        assert run.output == "[redacted: GitHub token]\n1\n2\n3"
        answers = [
            run,
            await ask("get_screen", session=name),
            await ask("get_screen", session=name, format="plain"),
            await ask("read_output", session=name, lines=20),
            await ask("read_run", run_id=run.run_id),
            await ask("read_run", run_id=run.run_id, find="1", context=3),
            await ask("run_command", session=name, input="cat t"),
            await ask("send", session=name, text="cat t"),
            await ask("wait_for", session=name, regex=".*B2a1.*", after_generation=0, timeout_ms=0),
            await ask("wait_for", run_id=run.run_id, timeout_ms=1000),
            await ask("list_sessions"),
            await ask("get_status", session=name),
            await ask("export_recording", session=name),
            await ask("screen_at", session=name, time=-0.001),
            await ask("search", text=" ", context=9),
            await ask("search", text=TOKEN[4:12]),
        ]
        assert (answers[-2].total > 0, answers[-1].total) == (True, 0)
        text = repr(answers)
        assert not any(TOKEN[at : at + 8] in text for at in range(len(TOKEN) - 8))
        assert not answers[8].matched
        told = await ask.dispatch.ask(
            living_services.CALLER, parse_operation("get_screen", {"session": name})
        )
        assert any("redacted" in notice for notice in told.notices)
        # A person sees what is there.
        assert TOKEN in (await ask("read_run", ANNA, run_id=run.run_id)).output
        assert TOKEN in (await ask("read_run", CLI, run_id=run.run_id)).output


async def test_no_part_of_the_scrollback_shows_half_of_a_token() -> None:
    async with living() as services:
        ask = House(services)
        program = f"print('-' * 25 + {TOKEN!r}); print('\\n' * 30); input()"
        session = await living_services.start_python(services, program, rows=5, cols=40)
        await reads(session)
        total = session.terminal.scrollback_total
        for format in ("plain", "styled"):
            for offset in range(total):
                shown = await ask(
                    "get_scrollback",
                    session=session.identity.id,
                    offset=offset,
                    limit=1,
                    format=format,
                )
                assert "B2a1B2" not in repr(shown)


async def test_the_first_row_of_a_screen_may_be_the_end_of_a_token() -> None:
    async with living() as services:
        ask = House(services)
        program = f"print('-' * 25 + {TOKEN!r} + '\\n\\n\\n'); input()"
        session = await living_services.start_python(services, program, rows=5, cols=40)
        await reads(session)
        assert session.terminal.plain_lines()[0].startswith(TOKEN[15:20])
        assert "B2a1" not in repr(await ask("get_screen", session=session.identity.id))


async def test_a_picture_for_an_agent_does_not_show_it() -> None:
    async with living() as services:
        ask = House(services)
        program = f"print({TOKEN!r}); input()"
        session = await living_services.start_python(services, program)
        await reads(session)
        shown = await ask("screenshot", session=session.identity.id, format="svg")
        person = await ask("screenshot", ANNA, session=session.identity.id, format="svg")
        assert shown.data != person.data
        drawing = session.terminal.drawing()
        assert drawing.with_texts(drawing.texts()) == drawing


async def test_events_for_an_agent_do_not_have_it() -> None:
    async with living() as services:
        ask = House(services)
        program = f"input(); print('-' * 60 + {TOKEN!r}); input()"
        session = await living_services.start_python(services, program)
        await reads(session)
        async with ask.follow(session, "lines", "states") as told:
            await told.of(Sync)
            session.write(b"\r")
            await told.until(lambda event: isinstance(event, LineEvent) and "***" in str(event))
            assert "B2a1" not in repr(told.seen)


async def test_values_of_secret_variables_are_redacted_whatever_they_look_like() -> None:
    async with living() as services:
        ask = House(services)
        env = {**SHELL, "DB_PASSWORD": PASSWORD, "COLOUR": "not a secret value"}
        session = await start(services, "printf '%s|%s' $DB_PASSWORD \"$COLOUR\"; read x", env=env)
        await reads(session)
        shown = await ask("read_output", session=session.identity.id, lines=5)
        assert shown.output.rstrip() == f"{'*' * len(PASSWORD)}|not a secret value"


async def test_a_value_is_redacted_also_as_json_writes_it() -> None:
    value = 'say "hi" \\ ä'
    told = json.dumps(value)
    async with living() as services:
        ask = House(services)
        env = {**SHELL, "DB_PASSWORD": value, "TOLD": told}
        session = await start(services, "printf '%s' \"$TOLD\"; read x", env=env)
        await reads(session)
        shown = await ask("read_output", session=session.identity.id, lines=5)
        assert shown.output.rstrip() == f'"{"*" * (len(told) - 2)}"'


async def test_with_the_setting_off_nothing_is_redacted() -> None:
    async with living(redact=False) as services:
        ask = House(services)
        session = await living_services.start_python(services, f"print({TOKEN!r}); input()")
        await reads(session)
        assert TOKEN in (await ask("read_output", session=session.identity.id, lines=5)).output


async def test_errors_and_logs_have_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with guarded_house(tmp_path, monkeypatch) as ask:
        with pytest.raises(InvalidInput) as refused:
            await ask("create_session", command=f"no-such-program-{TOKEN}")
        assert TOKEN not in str(refused.value)
        session = await start_marked(ask.services)
        await ask("run", session=session.identity.name, command=f": {TOKEN}")
    assert TOKEN.encode() not in written(tmp_path / "state" / "audit")
    assert TOKEN.encode() not in (tmp_path / "executions.log").read_bytes()


# --- secrets by name ---------------------------------------------------------------------------


async def test_a_named_secret_is_typed_and_shown_to_no_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(tmp_path).set("DB", PASSWORD)
    async with guarded_house(tmp_path, monkeypatch) as ask:
        session = await start_marked(ask.services)
        name = session.identity.name
        out = tmp_path / "got"
        run = await ask("run", session=name, command=f"printf %s '{{{{secret:DB}}}}' > {out}")
        assert run.exit_code == 0
        assert out.read_text() == PASSWORD
        shown = await ask("run", session=name, command="echo 'it is {{secret:DB}}'")
        assert shown.output == "it is {{secret:DB}}"
        await flushed(session)
        out.unlink()
        screen = text_of(session)
        assert "{{secret:DB}}' >" in screen  # the line itself shows the name, to people too
    data = written(tmp_path)
    assert b"{{secret:DB}}" in data
    # What a program printed is in the journal as it was; the audit has the name alone.
    assert PASSWORD.encode() not in written(tmp_path / "state" / "audit")
    assert PASSWORD.encode() not in (tmp_path / "executions.log").read_bytes()


@pytest.mark.parametrize(
    ("operation", "parameters"),
    [
        ("send", {"text": "{{secret:DB}}"}),
        ("run_command", {"input": "{{secret:DB}}"}),
        ("send_input", {"input": "{{secret:DB}}\r"}),
        ("send_input", {"input": base64.b64encode(b"{{secret:DB}}\r").decode()}),
        ("press_keys", {"keys": ["{{secret:DB}}", "Enter"]}),
    ],
    ids=["send", "run_command", "send_input", "base64", "press_keys"],
)
async def test_every_way_to_type_fills_it_in_at_a_hidden_prompt(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    operation: str,
    parameters: dict[str, Any],
) -> None:
    store(tmp_path).set("DB", PASSWORD)
    if operation == "send_input" and "{{" not in parameters["input"]:
        parameters = {**parameters, "encoding": "base64"}
    async with guarded_house(tmp_path, monkeypatch) as ask:
        session = await start_marked(ask.services)
        got = tmp_path / "got"
        await ask("send", session=session.identity.id, text=f"read -s x; printf %s $x > {got}")
        await reads(session)
        if operation == "press_keys":
            for key in ("{{secret:DB}}", "Enter"):
                await ask(
                    "send_input", session=session.identity.id, input=key if "{" in key else "\r"
                )
        else:
            await ask(operation, session=session.identity.id, **parameters)
        await until(session, lambda: session.stream.prompting.phase == "prompt")
        assert got.read_text() == PASSWORD
        got.unlink()
        await flushed(session)
    assert PASSWORD.encode() not in written(tmp_path)


@pytest.mark.parametrize(
    ("operation", "parameters"),
    [
        ("create_session", {"command": "true", "env": {"PW": "{{secret:DB}}"}}),
        ("create_session", {"command": "echo", "args": ["{{secret:DB}}"]}),
        ("put_file", {"path": "../made", "content": "{{secret:DB}}"}),
    ],
)
async def test_a_name_that_stays_a_name_is_told(
    tmp_path: Path, operation: str, parameters: dict[str, Any]
) -> None:
    store(tmp_path).set("DB", PASSWORD)
    (tmp_path / "run").mkdir(mode=0o700)
    async with living(tmp_path / "run") as services:
        session = await start_marked(services, cwd=str(tmp_path / "run"))
        named = {"session": session.identity.id} if operation == "put_file" else {}
        asked = parse_operation(operation, {**named, **parameters})
        answer = await services.dispatch().ask(living_services.CALLER, asked)
        assert "stayed as it is" in "".join(answer.notices)
        answer = await services.dispatch().ask(CLI, asked)  # a person sees what they wrote
        assert not answer.notices


async def test_an_unknown_name_is_an_error_and_nothing_is_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(tmp_path).set("OTHER", PASSWORD, ["elsewhere"])
    async with guarded_house(tmp_path, monkeypatch) as ask:
        session = await start_marked(ask.services)
        before, inputs = text_of(session), session.inputs
        for operation, parameters in (
            ("run", {"command": "echo {{secret:NO}}"}),
            ("run", {"command": "echo {{secret:OTHER}}"}),
            ("run_command", {"input": "echo {{secret:NO}}"}),
            ("send", {"text": "echo {{secret:NO}}"}),
            ("send_input", {"input": "{{secret:NO}}"}),
        ):
            with pytest.raises(InvalidInput, match="nothing was typed"):
                await ask(operation, session=session.identity.id, **parameters)
        assert (text_of(session), session.inputs) == (before, inputs)
        run = await ask("run", session=session.identity.id, command="echo on")
        assert run.output == "on"


async def test_a_secret_is_known_as_soon_as_it_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with guarded_house(tmp_path, monkeypatch) as ask:
        session = await start_marked(ask.services)
        echo = {"session": session.identity.id, "command": f"echo {PASSWORD}"}
        assert (await ask("run", **echo)).output == PASSWORD
        store(tmp_path).set("NEW", PASSWORD)
        assert (await ask("run", **echo)).output == "{{secret:NEW}}"
        store(tmp_path).remove("NEW")
        assert (await ask("run", **echo)).output == PASSWORD


async def test_what_a_person_types_is_typed_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with guarded_house(tmp_path, monkeypatch) as ask:
        session = await start_marked(ask.services)
        await ask.type_as(ANNA, session, b"echo {{secret:DB}}-\r")
        await until(session, lambda: "\n{{secret:DB}}-" in text_of(session))


async def test_the_policy_judges_the_name_and_not_the_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(tmp_path).set("DB", PASSWORD)
    async with guarded_house(
        tmp_path, monkeypatch, approval_wait_alone=0.0, policy="guarded"
    ) as ask:
        session = await start_marked(ask.services)
        with pytest.raises(Exception, match="approval") as refused:
            await ask("run", session=session.identity.id, command="truncate -s 1 '{{secret:DB}}'")
        assert "{{secret:DB}}" in str(refused.value.details)  # type: ignore[attr-defined]
        assert PASSWORD not in str(refused.value.details)  # type: ignore[attr-defined]


# --- what is typed and not shown ---------------------------------------------------------------

HIDDEN = {
    "read -s": "read -s x; echo got ${#x}",
    "stty": "stty -echo; read x; stty echo; echo got ${#x}",
    "getpass": 'python3 -c \'import getpass; print("got", len(getpass.getpass("Password: ")))\'',
    "raw": 'python3 -c \'import tty,sys,os; tty.setraw(0); os.write(1,b"Password: "); '
    'x=b""\nwhile b"\\r" not in x: x+=os.read(0,100)\nprint("got", len(x))\'; stty sane',
}


@pytest.mark.parametrize(
    ("program", "way"),
    [
        *[("read -s", way) for way in ("send", "run_command", "send_input", "person")],
        *[("stty", "run_command"), ("getpass", "run_command"), ("getpass", "person")],
        *[("raw", "send"), ("raw", "person")],
    ],
)
async def test_what_is_typed_with_echo_off_is_written_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, way: str
) -> None:
    """Not into the journal, the audit, the log of executions, or a recording of any kind."""
    async with guarded_house(tmp_path, monkeypatch) as ask:
        session = await start_marked(ask.services)
        await ask("send", session=session.identity.id, text=HIDDEN[program])
        await until(session, lambda: session.stream.prompting.phase == "running")
        await reads(session)
        if way == "person":
            await ask.type_as(ANNA, session, PASSWORD.encode() + b"\r")
        elif way == "send_input":
            await ask(way, session=session.identity.id, input=PASSWORD + "\r")
        else:
            given = {"text" if way == "send" else "input": PASSWORD}
            await ask(way, session=session.identity.id, **given)
        await until(session, lambda: "got 2" in text_of(session))
        told = await ask("export_recording", CLI, session=session.identity.id, input=True)
        assert PASSWORD not in told.recording
        await flushed(session)
    assert PASSWORD.encode() not in written(tmp_path)
