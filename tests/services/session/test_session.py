"""A session with a real child: nothing it prints is lost, and what is typed arrives."""

import asyncio
import hashlib
import os
import signal
import sys
from collections import Counter
from pathlib import Path

import pytest

from nacre.core.operations.sessions import (
    CreateSession,
    ManageSession,
    ResizeSession,
    SignalSession,
)
from nacre.core.operations.terminal import PressKeys, SendInput
from nacre.core.shell.echo import Veil
from nacre.errors import InvalidInput, LimitReached, SessionExists, SessionExited
from nacre.services.session.session import Session
from nacre.system.processes.exits import Ending

from services.living import (
    CALLER,
    PATIENCE,
    PROMPT,
    at_prompt,
    ended,
    is_process,
    lines_of,
    living,
    shows,
    start,
    start_python,
    start_shell,
    text_of,
    until,
)

pytestmark = pytest.mark.anyio

# --- the end of a child ------------------------------------------------------------------------


async def test_last_output_of_a_child_that_exits_at_once_is_never_lost() -> None:
    async with living() as services:
        for _ in range(50):
            session = await ended(await start(services, "printf '%020000d' 7; printf END"))
            assert "".join(lines_of(session)) == "0" * 19_999 + "7END"


async def test_children_that_print_and_exit_side_by_side_lose_nothing() -> None:
    async with living() as services:
        line = "seq 1 5000; exit 3"
        sessions = [await start(services, line, name=f"s-{number}") for number in range(8)]
        for session in sessions:
            await ended(session)
            assert lines_of(session) == [str(number) for number in range(1, 5001)]
            assert session.ending == Ending(3, None)


@pytest.mark.parametrize("name", ["TERM", "SEGV", "KILL", "HUP"])
async def test_signal_that_ended_the_child_is_kept(name: str) -> None:
    async with living() as services:
        session = await ended(await start(services, f"echo told; kill -{name} $$"))
        assert session.ending == Ending(None, f"SIG{name}")
        assert lines_of(session)[0] == "told"


async def test_output_of_a_background_process_is_read_on_after_the_child_has_ended(
    tmp_path: Path,
) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    async with living() as services:
        # Without SIGHUP: the leader's end hangs up those in the foreground.
        line = f"trap '' HUP; (read x < {fifo}; echo late) & echo early; exit 0"
        session = await ended(await start(services, line))
        assert lines_of(session) == ["early"]
        fifo.write_text("go\n")
        await shows(session, "late")


async def test_write_to_an_ended_session_is_refused_with_its_exit_code() -> None:
    async with living() as services:
        session = await ended(await start(services, "exit 9", name="dev"))
        with pytest.raises(SessionExited, match=r"'dev' has ended \(exit code 9\)") as raised:
            session.write(b"x")
        assert raised.value.details == {"exit_code": 9, "signal": None}
        with pytest.raises(SessionExited):
            session.signal(signal.SIGTERM)
        with pytest.raises(SessionExited):
            await services.sessions.press(CALLER, PressKeys(session="dev", keys=["enter"]))


async def test_ended_children_leave_no_zombie_and_no_descriptor() -> None:
    async with living() as services:
        session = await ended(await start(services, "true"))
        before = Counter(os.readlink(f"/proc/self/fd/{fd}") for fd in _descriptors())
        for _ in range(5):
            session = await ended(await start(services, "echo x"))
            assert not is_process(session.pid)
            # A known session has its ring, a listed one its port, ended or not.
            services.registry.forget(session)
            session.close()
        after = Counter(os.readlink(f"/proc/self/fd/{fd}") for fd in _descriptors())
        assert after == before


def _descriptors() -> list[str]:
    return [fd for fd in os.listdir("/proc/self/fd") if os.path.islink(f"/proc/self/fd/{fd}")]


# --- the making --------------------------------------------------------------------------------


async def test_two_sessions_made_at_once_do_not_share_a_name_or_port() -> None:
    async with living() as services:
        request = CreateSession(command="sleep", args=["1000"], name="dev")
        made = [services.sessions.create(CALLER, request) for _ in range(2)]
        unnamed = [
            services.sessions.create(CALLER, CreateSession(command="sleep", args=["1000"]))
            for _ in range(2)
        ]
        outcomes = await asyncio.gather(*made, *unnamed, return_exceptions=True)
        assert sum(isinstance(outcome, SessionExists) for outcome in outcomes) == 1
        known = services.registry.all()
        assert len({session.identity.name for session in known}) == len(known) == 3
        assert len({session.identity.port for session in known}) == 3


# --- size and signals --------------------------------------------------------------------------


async def test_resize_reaches_the_child_as_sigwinch() -> None:
    program = (
        "import os, signal\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGWINCH])\n"
        "print('ready', flush=True)\n"
        "while True:\n"
        "    signal.sigwait([signal.SIGWINCH])\n"
        "    os.system('stty size')\n"
    )
    async with living() as services:
        session = await start_python(services, program, name="dev")
        await shows(session, "ready")
        generation = session.generation
        size = await services.sessions.resize(
            CALLER, ResizeSession(session="dev", rows=30, cols=100)
        )
        assert (size.rows, size.cols) == (30, 100)
        await shows(session, "30 100")
        assert (session.terminal.rows, session.terminal.cols) == (30, 100)
        assert session.generation > generation
        await services.sessions.resize(CALLER, ResizeSession(session="dev", rows=1, cols=5))
        await shows(session, "2 5")  # the least that is used


@pytest.mark.parametrize("name", ["INT", "USR1", "TERM", "KILL", "HUP", "QUIT"])
async def test_signal_reaches_the_foreground_job_and_the_shell_survives(name: str) -> None:
    async with living() as services:
        session = await start_shell(services, name="dev")
        session.write(b"sh -c 'echo up; exec sleep 1000'\r")
        await shows(session, "up")
        await services.sessions.signal(CALLER, SignalSession(session="dev", signal=name))
        await at_prompt(session)
        session.write(b"echo status-$?\r")
        await shows(session, f"status-{128 + getattr(signal, f'SIG{name}')}")
        assert session.alive


async def test_signal_without_a_foreground_job_reaches_the_child() -> None:
    async with living() as services:
        session = await start(services, "sleep", args=["1000"], name="dev")
        await services.sessions.signal(CALLER, SignalSession(session="dev"))
        await ended(session)
        assert session.ending == Ending(None, "SIGTERM")


async def test_unknown_signal_is_refused_by_name() -> None:
    async with living() as services:
        await start(services, "sleep", args=["1000"], name="dev")
        for name in ("NOPE", "²", "0"):
            with pytest.raises(InvalidInput, match=f"no signal {name!r}"):
                await services.sessions.signal(CALLER, SignalSession(session="dev", signal=name))


# --- input -------------------------------------------------------------------------------------


def fill(session: Session, part: bytes) -> bytes:
    """Write until no more is taken; return what was."""
    accepted = b""
    while True:
        try:
            session.write(part)
        except LimitReached:
            return accepted
        accepted += part


RAW = "import os, sys, tty, signal, hashlib\ntty.setraw(0)\n"


async def test_engine_answers_the_child_that_asks_where_the_cursor_is() -> None:
    program = RAW + (
        "os.write(1, b'\\033[3;5H\\033[6n')\n"
        "answer = b''\n"
        "while not answer.endswith(b'R'): answer += os.read(0, 1)\n"
        "print(ascii(answer), flush=True)\n"
    )
    async with living() as services:
        session = await ended(await start_python(services, program))
        assert "b'\\x1b[3;5R'" in text_of(session)


async def test_input_for_a_child_that_does_not_read_waits_up_to_its_limit_and_is_not_lost() -> None:
    program = RAW + (
        "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\n"
        "print('ready\\r', flush=True)\n"
        "signal.sigwait([signal.SIGUSR1])\n"
        "digest, size = hashlib.sha256(), 0\n"
        "while True:\n"
        "    part = os.read(0, 65536)\n"
        "    digest.update(part); size += len(part)\n"
        "    print(size, digest.hexdigest()[:16], end='\\r\\n', flush=True)\n"
    )
    async with living(max_pending_input_bytes=100_000) as services:
        session = await start_python(services, program, name="dev")
        await shows(session, "ready")
        accepted = fill(session, b"".join(b"%9d\n" % number for number in range(100)))
        assert len(accepted) >= 100_000 - 1000
        with pytest.raises(LimitReached, match="a program that does not read"):
            session.write(b"x" * 1000)
        await services.sessions.signal(CALLER, SignalSession(session="dev", signal="USR1"))
        await shows(session, f"{len(accepted)} {hashlib.sha256(accepted).hexdigest()[:16]}")
        session.write(b"more")  # there is room again
        await shows(
            session, f"{len(accepted) + 4} {hashlib.sha256(accepted + b'more').hexdigest()[:16]}"
        )


MEGABYTE = "".join(f"{number:>63}\n" for number in range(16_384))


@pytest.mark.parametrize(
    ("line", "end"),
    [
        ("stty -echo; echo ready; exec cat > copy", "\x04"),
        ("stty raw -echo; echo ready; exec head -c 1048576 > copy", ""),
    ],
    ids=["line mode", "raw mode"],
)
async def test_megabyte_of_input_arrives_intact(line: str, end: str, tmp_path: Path) -> None:
    async with living() as services:
        session = await start(services, line, name="dev", cwd=str(tmp_path))
        await shows(session, "ready")
        await services.sessions.send(CALLER, SendInput(session="dev", input=MEGABYTE + end))
        await ended(session)
        assert (tmp_path / "copy").read_text() == MEGABYTE


async def test_bytes_come_as_base64_and_bad_base64_is_refused() -> None:
    async with living() as services:
        line = "stty raw -echo; echo ready; head -c 3 | od -An -tx1"
        session = await start(services, line, name="dev")
        await shows(session, "ready")
        for text in ("????", "YQ", "ü", "YQ==\n"):
            with pytest.raises(InvalidInput, match="not valid base64"):
                await services.sessions.send(
                    CALLER, SendInput(session="dev", input=text, encoding="base64")
                )
        await services.sessions.send(
            CALLER, SendInput(session="dev", input="AP+A", encoding="base64")
        )
        await ended(session)
        assert "00 ff 80" in text_of(session)


async def test_input_over_the_limit_of_one_call_is_refused_whole() -> None:
    async with living(max_input_bytes=4096) as services:
        await start(services, "cat", args=[], name="dev")
        for text, encoding in (("x" * 4097, "utf8"), ("ü" * 2049, "utf8"), ("A" * 5468, "base64")):
            with pytest.raises(InvalidInput, match="max_input_bytes"):
                await services.sessions.send(
                    CALLER,
                    SendInput(session="dev", input=text, encoding=encoding),  # type: ignore[arg-type]  # one of the two
                )
        await services.sessions.send(CALLER, SendInput(session="dev", input="x" * 4096))


async def test_ctrl_c_reaches_a_program_whose_input_is_full() -> None:
    """The message of LimitReached says so: "interrupt it (ctrl+c)"."""
    async with living(max_pending_input_bytes=4096) as services:
        session = await start_shell(services, name="dev")
        session.write(b"sh -c 'echo up; exec sleep 1000'\r")
        await shows(session, "up")
        fill(session, b"#" * 79 + b"\n")
        await services.sessions.press(CALLER, PressKeys(session="dev", keys=["ctrl+c"]))
        await until(session, lambda: PROMPT in lines_of(session)[-1])
        session.write(b"echo status-$?\r")
        await shows(session, "status-130")


# --- what it knows of itself -------------------------------------------------------------------


async def test_child_is_told_its_session_s_id_and_its_terminal() -> None:
    async with living() as services:
        line = "echo $NACRE_SESSION $TERM $COLORTERM"
        session = await ended(await start(services, line))
        assert lines_of(session) == [f"{session.identity.id} xterm-256color truecolor"]


async def test_cwd_follows_the_child_and_then_what_it_reports(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    async with living() as services:
        session = await start_shell(services, cwd=str(tmp_path))
        assert session.cwd == str(tmp_path)
        session.write(b"cd sub; echo there\r")
        await shows(session, "there")
        assert session.cwd == str(tmp_path / "sub")
        elsewhere = b"printf '\\033]7;file://host/some%%20where\\007'; echo told"
        session.write(b'sh -c "' + elsewhere + b'; read x; echo over"\r')
        await shows(session, "told")
        assert session.cwd == "/some where"
        session.write(b"\r")
        await until(session, lambda: session.in_foreground)
        assert session.cwd == str(tmp_path / "sub")  # the kernel knows where its own shell is


async def test_character_split_across_two_writes_is_whole_on_the_screen() -> None:
    program = (
        "import os, sys\n"
        "for byte in 'ü漢😀'.encode():\n"
        "    os.write(1, bytes([byte])); os.read(0, 1)\n"
    )
    async with living() as services:
        session = await start_python(services, "import tty; tty.setraw(0)\n" + program)
        generation = 0
        for _ in "ü漢😀".encode():
            await until(session, lambda seen=generation: session.generation > seen)  # type: ignore[misc]  # a lambda's default has no type
            generation = session.generation
            session.write(b".")
        await ended(session)
        assert text_of(session) == "ü漢😀"


async def test_session_on_a_program_that_cannot_be_executed_says_so_on_its_screen(
    tmp_path: Path,
) -> None:
    program = tmp_path / "broken"
    program.write_bytes(b"\x7fELF nonsense")
    program.chmod(0o755)
    async with living() as services:
        session = await ended(await start(services, str(program)))
        assert session.ending is not None
        assert session.ending.exit_code in (2, 126, 127)
        assert text_of(session)


async def test_python_itself_runs_in_a_session() -> None:
    async with living() as services:
        session = await start_python(services, "import sys; print(sys.stdout.isatty())")
        await asyncio.wait_for(ended(session), PATIENCE)
        assert lines_of(session) == ["True"]
        assert session.launch.program == os.path.basename(sys.executable)


async def test_a_closed_session_shows_nothing_of_what_was_hidden() -> None:
    """The veil of a command whose caller has gone is lifted later; then there is no terminal."""
    async with living() as services:
        session = await start(services, "cat")
        veil = Veil("0" * 16, b"")
        veil.pass_on(b"what a shell echoed")
        session.stream.hide_echo(veil)
        session.stream.expect_mark()
        await services.sessions.manage(
            CALLER, ManageSession(session=session.identity.id, action="kill")
        )
        session.close()
        session.stream._give_up(veil)
        assert not veil.lifted
