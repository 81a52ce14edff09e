"""The pipeline: which way a call goes, whoever makes it."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from nacre.core.agent.tools import AGENT as COMPOSED
from nacre.core.catalog.caller import Caller, Scope
from nacre.core.catalog.catalog import CATALOG, Operation
from nacre.core.catalog.metering import CallCounts, exposition
from nacre.core.operations.follow import Follow
from nacre.core.operations.recordings import ExportRecording, FilmRecording
from nacre.core.operations.runs import ReadRun, WaitFor
from nacre.core.operations.terminal import GetScreen, PressKeys, SendInput
from nacre.core.operations.watch import TypeAtScreen, WatchSession
from nacre.errors import ControlHeld, Forbidden, Internal, LimitReached, SessionNotFound
from nacre.services.dispatch.call import Call, Onward
from nacre.services.dispatch.dispatch import Dispatch
from nacre.services.dispatch.handlers import Handlers
from nacre.services.dispatch.log import Log
from nacre.services.dispatch.resolve import Renames, Resolve
from nacre.services.host.bus import Events
from nacre.services.runs.references import KnownSessions

from services.living import CALLER, living, shows, start, start_marked
from services.people import AGENT, ANNA, BERT, House

pytestmark = pytest.mark.anyio

ONLY_LOOKS = Caller(door="test", scope=Scope.OBSERVE)


class Seen:
    """A step that notes what passes it."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    async def __call__(self, call: Call, onward: Onward) -> Any:
        self.calls.append(call)
        return await onward(call)


def with_step(dispatch: Dispatch, step: Any) -> None:
    """Put a step in front of the others."""
    begin = dispatch._begin

    async def first(call: Call) -> Any:
        return await step(call, begin)

    dispatch._begin = first


def never(caller: Caller, request: Any, *_: Any, **__: Any) -> Any:
    raise AssertionError("nobody watches or follows here")


async def test_what_viewers_type_goes_the_way_of_every_call() -> None:
    async with living() as services:
        house, seen = House(services), Seen()
        with_step(house.dispatch, seen)
        session = await start(services, "stty -echo; echo ready; exec cat")
        await shows(session, "ready")
        async with house.watch(ANNA, session) as watch:
            await watch.type(b"typed\r")
            await shows(session, "typed")
        kinds = [type(call.operation) for call in seen.calls]
        assert kinds == [WatchSession, TypeAtScreen]
        assert seen.calls[1].caller is ANNA
        assert [target.id for target in seen.calls[1].targets] == [session.identity.id]


async def test_captured_keys_pass_the_gate_too() -> None:
    async with living() as services:
        house, seen = House(services), Seen()
        session = await start(services, "echo ready; exec cat")
        await shows(session, "ready")
        await house("input_mode", session=session.identity.id, mode="capture")
        with_step(house.dispatch, seen)
        async with house.watch(ANNA, session) as watch:
            await watch.type(b"k")
        assert [type(call.operation) for call in seen.calls] == [WatchSession, TypeAtScreen]
        keys = await house("await_input", session=session.identity.id)
        assert [key.raw for key in keys.keys] == [[ord("k")]]


async def test_who_may_only_look_types_by_no_way() -> None:
    async with living() as services:
        house = House(services)
        session = await start(services, "cat")
        async with house.watch(ONLY_LOOKS, session) as watch:
            with pytest.raises(Forbidden):
                await watch.type(b"x")
        for operation in (
            SendInput(session=session.identity.id, input="x"),
            PressKeys(session=session.identity.id, keys=["a"]),
        ):
            with pytest.raises(Forbidden):
                await house.dispatch(ONLY_LOOKS, operation)


async def test_who_may_only_look_gets_the_past_but_no_typed_input_and_no_file(
    tmp_path: Path,
) -> None:
    async with living(journals=tmp_path / "journals") as services:
        house = House(services)
        ref = (await start(services, "cat")).identity.id
        cast: Any = await house.dispatch(ONLY_LOOKS, ExportRecording(session=ref, markers=True))
        assert '"version":3' in cast.recording
        for refused in (
            ExportRecording(session=ref, input=True),
            ExportRecording(session=ref, path=str(tmp_path / "a.cast")),
            FilmRecording(session=ref, format="gif"),
        ):
            with pytest.raises(Forbidden, match="scope drive"):
                await house.dispatch(ONLY_LOOKS, refused)
        assert not (tmp_path / "a.cast").exists()


async def test_every_way_to_type_asks_the_one_gate() -> None:
    async with living(control_wait=0.0) as services:
        house = House(services)
        session = await start(services, "cat")
        ref = session.identity.id
        typing: dict[str, dict[str, Any]] = {
            "send_input": {"input": "x"},
            "press_keys": {"keys": ["a"]},
            "run_command": {"input": "x"},
            "run": {"command": "x"},
            "send": {"text": "x"},
            "send_key": {"key": "enter"},
            "input_mode": {"mode": "capture"},
            "signal_session": {"signal": "INT"},
            "resize_session": {"rows": 10, "cols": 40},
            "restart_session": {},
            "close_session": {},
            "manage_session": {"action": "kill"},
            "discard_session": {},
            "send_keys": {"keys": "x"},
            "mouse": {"row": 0, "col": 0},
            "focus": {"ref": "e1"},
            "put_file": {"path": "x", "content": ""},
            "get_file": {"path": "x"},
            "edit_file": {"path": "x", "old": "a", "new": "b"},
            "resize_terminal": {"rows": 10, "cols": 40},
            "restart_app": {},
            "stop_app": {},
        }
        known = {spec.name for spec in CATALOG.values() if spec.types or spec.acts}
        # A person's answer to a program asks the gate when it is typed: test_prompts.py.
        assert known - {"answer_approval", "answer_question"} == set(typing)
        async with house.watch(ANNA, session), house.watch(BERT, session) as bert:
            await house("control", ANNA, session=ref, action="take")
            for name, parameters in typing.items():
                with pytest.raises(ControlHeld):
                    await house(name, AGENT, session=ref, **parameters)
            for managing in ({"action": "restart"}, {"action": "resize", "rows": 10}):
                with pytest.raises(ControlHeld):
                    await house("manage_session", AGENT, session=ref, **managing)
            with pytest.raises(ControlHeld):
                await bert.type(b"x")
            # To ask for the mode, or to give keys back, types nothing.
            await house("input_mode", AGENT, session=ref)
            await house("input_mode", AGENT, session=ref, mode="release")


async def test_references_of_every_kind_are_sessions_for_the_steps() -> None:
    async with living() as services:
        house, seen = House(services), Seen()
        one, two = await start(services, "cat"), await start(services, "cat")
        identity = one.identity
        dispatch = house.dispatch
        operations: list[Operation] = [
            GetScreen(session=identity.name),
            GetScreen(session=identity.port),
            GetScreen(session=identity.id),
            WaitFor(sessions=[identity.name, two.identity.port], quiet_ms=0),
        ]
        with_step(dispatch, seen)
        for operation in operations:
            await dispatch(CALLER, operation)
        found = [[target.id for target in call.targets] for call in seen.calls]
        assert found == [[identity.id]] * 3 + [[identity.id, two.identity.id]]


async def test_a_run_leads_to_its_session(tmp_path: Any) -> None:
    async with living(tmp_path) as services:
        house, seen = House(services), Seen()
        session = await start_marked(services)
        ran = await house("run", session=session.identity.id, command="true")
        with_step(house.dispatch, seen)
        await house.dispatch(CALLER, ReadRun(run_id=ran.run_id))
        assert [target.id for target in seen.calls[0].targets] == [session.identity.id]


async def test_a_call_that_waits_stays_with_the_session_it_named() -> None:
    reached, go_on = asyncio.Event(), asyncio.Event()

    async def waits(call: Call, onward: Onward) -> Any:
        reached.set()
        await go_on.wait()
        return await onward(call)

    async with living() as services:
        known = KnownSessions(services.registry, services.ledger)
        handlers = services.sessions.handlers()
        dispatch = Dispatch([Resolve(known, Renames(Events())), waits], handlers, never, never)
        session = await start(services, "stty -echo; echo ready; exec cat", name="dev")
        await shows(session, "ready")
        waiting = asyncio.create_task(dispatch(CALLER, SendInput(session="dev", input="late\r")))
        await reached.wait()
        services.registry.rename(session, "old")
        other = await start(services, "stty -echo; echo ready; exec cat", name="dev")
        go_on.set()
        await waiting
        await shows(session, "late")
        assert "late" not in "".join(other.terminal.plain_lines())


async def test_following_and_watching_pass_the_steps() -> None:
    class Nobody:
        def session(self, reference: str | int) -> Any:
            raise SessionNotFound("nobody is here")

        def of_run(self, run_id: str) -> None:
            return None

    dispatch = Dispatch([Log(), Resolve(Nobody(), Renames(Events()))], Handlers(), never, never)
    with pytest.raises(SessionNotFound):
        async with dispatch.watch(CALLER, WatchSession(session="dev")):
            pass
    with pytest.raises(SessionNotFound):
        async with dispatch.follow(CALLER, Follow(session="dev", events=["output"])):
            pass


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("can't start new thread")])
async def test_want_of_memory_is_a_limit_and_no_error_of_the_daemon(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    async def short(caller: Caller, request: GetScreen) -> Any:
        raise error

    dispatch = Dispatch([Log()], Handlers().on(GetScreen, short), never, never)
    with pytest.raises(LimitReached, match="no memory left"):
        await dispatch(CALLER, GetScreen(session="dev"))
    assert [record.levelname for record in caplog.records] == ["WARNING"]


async def test_what_nobody_foresaw_is_an_internal_error(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(caller: Caller, request: GetScreen) -> Any:
        raise ZeroDivisionError

    handlers = Handlers().on(GetScreen, broken)
    calls = CallCounts()
    dispatch = Dispatch([Log(calls)], handlers, never, never)
    with pytest.raises(Internal, match="unexpected error in the daemon") as caught:
        await dispatch(CALLER, GetScreen(session="dev"))
    assert "ZeroDivisionError" in caplog.text
    assert [vars(one)["error_id"] for one in caplog.records] == [caught.value.details["error_id"]]
    told = exposition(calls.families())
    assert 'nacre_errors_total{tool="get_screen",code="INTERNAL_ERROR"} 1' in told


def test_no_operation_has_two_handlers() -> None:
    async def screen(caller: Caller, request: GetScreen) -> Any: ...

    with pytest.raises(AssertionError, match="GetScreen has a handler already"):
        Handlers.merged([Handlers().on(GetScreen, screen), Handlers().on(GetScreen, screen)])


async def test_every_operation_about_sessions_has_a_handler() -> None:
    async with living() as services:
        handled = {operation.__name__ for operation in services.dispatch()._handlers}
    of_the_daemon = {"GetStatus", "StopDaemon", "UpgradeDaemon", "OpenPage"}
    of_the_daemon |= {"CreateToken", "ListTokens", "RevokeToken"}
    known = {spec.type.__name__ for spec in (*CATALOG.values(), *COMPOSED.values())}
    known |= {"GatherUpstreamTools", "GetUpstreamPrompt", "ReadUpstreamResource"}
    known |= {"WatchUpstreamResource", "CompleteUpstreamArgument", "FindMain"}
    assert handled | of_the_daemon == known | {
        "TypeAtScreen",
        "TypeKeys",
        "EndContext",
        "AskPassword",
    }
