"""What agents type is judged at Enter, whichever way the line got there."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from nacre.core.operations.all import parse_operation
from nacre.errors import InvalidInput, PolicyDenied
from nacre.services.session.session import Session

from services.living import (
    NO_HOME,
    SHELL,
    lines_of,
    living,
    reads,
    shows,
    start,
    start_marked,
    text_of,
    until,
)
from services.people import AGENT, ANNA, House

pytestmark = pytest.mark.anyio

# Nobody is there: what asks is refused at once.
NOBODY = {"approval_wait": 0.0, "approval_wait_alone": 0.0, "policy_check": 0.0}
FORBIDDEN = "rm witness"
ENV = {
    "bash": SHELL,
    "zsh": {"HOME": NO_HOME, "ZDOTDIR": NO_HOME, "PS1": "nacre> "},
    "fish": {"HOME": NO_HOME},
}


@asynccontextmanager
async def guarded(folder: Path, **settings: Any) -> AsyncIterator[House]:
    config, runtime = folder / "config", folder / "run"  # an agent has no business there
    config.mkdir(exist_ok=True)
    runtime.mkdir(exist_ok=True)
    given = {"policy": "guarded", **NOBODY, **settings}
    async with living(runtime, config=config, **given) as services:
        yield House(services)


async def shell(ask: House, folder: Path, program: str = "bash") -> Session:
    """Make a shell in a folder with a file that nothing may delete; return it at its prompt."""
    (folder / "witness").touch()
    command = None if program == "bash" else program
    session = await start(ask.services, command, env=ENV[program], cwd=str(folder))
    await until(session, lambda: session.stream.prompting.phase == "prompt")
    await reads(session)
    return session


async def typed(ask: House, session: Session, *keys: str | bytes) -> None:
    """Type each by a call of its own."""
    for one in keys:
        text = one if isinstance(one, str) else one.decode()
        await ask("send_input", session=session.identity.id, input=text)


async def refuses(ask: House, session: Session, *keys: str | bytes) -> PolicyDenied:
    """Type; the last call is refused, and nothing has run."""
    await typed(ask, session, *keys[:-1])
    with pytest.raises(PolicyDenied) as refused:
        await typed(ask, session, keys[-1])
    # What is typed next comes behind whatever was let through.
    await typed(ask, session, b"\x05\x15")
    outcome = await ask("run", session=session.identity.id, command="echo through")
    assert outcome.output == "through", text_of(session)
    assert (Path(session.launch.cwd) / "witness").exists(), text_of(session)
    return refused.value


async def test_a_denied_command_is_not_typed_and_the_answer_says_why(tmp_path: Path) -> None:
    async with guarded(tmp_path) as ask:
        session = await shell(ask, tmp_path)
        for operation, parameters in (
            ("run", {"command": FORBIDDEN}),
            ("run_command", {"input": FORBIDDEN}),
            ("send", {"text": FORBIDDEN}),
            ("send_input", {"input": f"{FORBIDDEN}\r"}),
        ):
            with pytest.raises(PolicyDenied) as refused:
                await ask(operation, session=session.identity.id, **parameters)
            error = refused.value
            assert (error.code, error.details["rule"]) == ("POLICY_DENIED", "rm")
            assert error.details["verdict"] == "deny"
            assert "nothing was typed" in error.message
            assert error.next
        assert "witness" not in text_of(session)
        assert (tmp_path / "witness").exists()


async def test_proven_lines_run_by_every_operation(tmp_path: Path) -> None:
    async with guarded(tmp_path) as ask:
        session = await shell(ask, tmp_path)
        name = session.identity.id
        assert (await ask("run", session=name, command="echo one")).output == "one"
        assert (await ask("run", session=name, command="echo 'two\nlines'")).output == "two\nlines"
        assert (await ask("run_command", session=name, input="echo three")).output == "three"
        several = await ask("run_command", session=name, input="cat <<E\nrm x\nE\necho four")
        assert several.output.endswith("rm x\nfour")
        assert "five" in (await ask("send", session=name, text="echo five")).output
        await typed(ask, session, "echo s", "ix\r")
        await shows(session, "six")
        await ask("press_keys", session=name, keys=["enter"])
        await typed(ask, session, "for i in 7 8\ndo echo n$i\ndone\n")
        await shows(session, "n8")


ENTERS = ["\r", "\n", "\x0f"]


@pytest.mark.parametrize("enter", ENTERS, ids=["CR", "LF", "Ctrl+O"])
async def test_every_key_that_runs_a_line_is_judged(tmp_path: Path, enter: str) -> None:
    async with guarded(tmp_path) as ask:
        session = await shell(ask, tmp_path)
        await refuses(ask, session, f"{FORBIDDEN}{enter}")
        await refuses(ask, session, FORBIDDEN, enter)


WAYS: dict[str, tuple[str, ...]] = {
    "in one write": ("rm witness\r",),
    "letter by letter": (*"rm witness", "\r"),
    "enter in the next call": ("rm wit", "ness", "\r"),
    "in a paste": ("\x1b[200~rm witness\x1b[201~\r",),
    "a paste, then Enter": ("\x1b[200~rm witness\x1b[201~", "\r"),
    "in the second line": ("echo a\rrm witness\r",),
    "in a pasted line": ("\x1b[200~echo a\nrm witness\x1b[201~\r",),
    "behind a harmless beginning": ("echo a; ", "rm witness\r"),
    "put together by keys": ("m witness", "\x01", "r\r"),
    "edited": ("rmx\x7f witness\r",),
    "edited in another call": ("rmx", "\x7f witness", "\r"),
    "from the kill ring": ("rm witness", "\x15", "\x19\r"),
    "completed": ("rm wit", "\t", "\r"),
    "completed at once": ("rm wit\t\r",),
    "in an open quote": ("echo $(rm witness)\r",),
    "with the cursor in the middle": ("rm witness", "\x1b[D", "\r"),
    "history expansion": ("echo a\r", "!ec;rm witness\r"),
    "an editor of the shell's": ("rm witness", "\x18\x05"),
}


@pytest.mark.parametrize("keys", WAYS.values(), ids=WAYS.keys())
async def test_no_way_of_typing_gets_around_it(tmp_path: Path, keys: tuple[str, ...]) -> None:
    async with guarded(tmp_path) as ask:
        await refuses(ask, await shell(ask, tmp_path), *keys)


@pytest.mark.parametrize("program", ["bash", "zsh", "fish"])
async def test_a_recalled_line_is_judged_as_the_line_that_it_is(
    tmp_path: Path, program: str
) -> None:
    async with guarded(tmp_path) as ask:
        session = await shell(ask, tmp_path, program)
        name = session.identity.id
        # A person may run it, and so it is in the history.
        await ask.type_as(ANNA, session, b"rm -f other\r")
        await until(session, lambda: session.stream.prompting.ended == 1)
        await until(session, lambda: session.stream.prompting.phase == "prompt")
        for keys in (["up", "enter"], ["ctrl+p", "enter"]):
            with pytest.raises(PolicyDenied) as refused:
                await ask("press_keys", session=name, keys=keys)
            assert refused.value.details["command"] == "rm -f other"
            # Back to an empty line. What is typed before a shell has seen Ctrl+C would be lost.
            await ask("press_keys", session=name, keys=["down"])
        assert (await ask("run", session=name, command="echo through")).output == "through"
        # What is allowed can be recalled.
        await ask("press_keys", session=name, keys=["up", "enter"])
        await until(session, lambda: session.stream.prompting.ended >= 3)


@pytest.mark.parametrize("line", ["!!", "!rm", "^a^b"])
async def test_history_expansion_asks(tmp_path: Path, line: str) -> None:
    async with guarded(tmp_path) as ask:
        refused = await refuses(
            ask, await shell(ask, tmp_path), f"echo a; {line}\r" if line[0] == "!" else f"{line}\r"
        )
        assert refused.details["verdict"] == "ask"


async def test_history_expansion_is_no_matter_between_single_quotes(tmp_path: Path) -> None:
    async with guarded(tmp_path) as ask:
        session = await shell(ask, tmp_path)
        await typed(ask, session, "echo 'wow!x'\r")
        await shows(session, "wow!x")


@pytest.mark.parametrize("program", ["bash", "zsh"])
async def test_the_lines_of_one_command_are_judged_together(tmp_path: Path, program: str) -> None:
    async with guarded(tmp_path) as ask:
        session = await shell(ask, tmp_path, program)
        await ask.type_as(ANNA, session, b"cat <<E\r")
        await until(session, lambda: session.stream.prompting.phase == "continuation")
        await ask.type_as(ANNA, session, b"it is data\r")
        await until(session, lambda: session.stream.prompting.shown >= 3)
        await typed(ask, session, "E\r")
        await shows(session, "it is data")
        await until(session, lambda: session.stream.prompting.phase == "prompt")
        await ask.type_as(ANNA, session, b"if true\r")
        await until(session, lambda: session.stream.prompting.phase == "continuation")
        for keys in ("then rm witness; fi\r", "then rmx\x7f witness; fi\r"):
            with pytest.raises(PolicyDenied) as refused:
                await typed(ask, session, keys)
            told = refused.value.details["verdict"] == "deny"
            assert told or (program == "bash" and "\x7f" in keys)
            await typed(ask, session, b"\x15")
        assert (tmp_path / "witness").exists()


async def test_an_incomplete_line_asks_since_nobody_knows_how_it_goes_on(tmp_path: Path) -> None:
    async with guarded(tmp_path) as ask:
        refused = await refuses(ask, await shell(ask, tmp_path), "cat <<E\r")
        assert refused.details["verdict"] == "ask"


async def test_what_is_typed_ahead_of_the_prompt_is_judged(tmp_path: Path) -> None:
    async with guarded(tmp_path) as ask:
        session = await shell(ask, tmp_path)
        name = session.identity.id
        # While a command runs that does not read, the shell will.
        await typed(ask, session, "sleep 600\r")
        await until(session, lambda: session.stream.prompting.phase == "running")
        with pytest.raises(PolicyDenied):
            await typed(ask, session, f"{FORBIDDEN}\r")
        # Without Enter it waits for one, which is judged when it comes.
        await typed(ask, session, FORBIDDEN)
        with pytest.raises(PolicyDenied):
            await typed(ask, session, "\r")
        await typed(ask, session, b"\x03")
        await until(session, lambda: session.stream.prompting.phase == "prompt")
        with pytest.raises(PolicyDenied):
            await typed(ask, session, FORBIDDEN, "\r")
        await typed(ask, session, b"\x03")
        assert (await ask("run", session=name, command="echo through")).output == "through"
        assert (tmp_path / "witness").exists()


async def test_two_writes_at_once_are_two_lines(tmp_path: Path) -> None:
    async with guarded(tmp_path) as ask:
        session = await shell(ask, tmp_path)
        results = await asyncio.gather(
            typed(ask, session, "echo a\r"),
            typed(ask, session, f"{FORBIDDEN}\r"),
            return_exceptions=True,
        )
        assert [type(one) for one in results] == [type(None), PolicyDenied]
        assert (await ask("run", session=session.identity.id, command="echo b")).output == "b"


async def test_what_goes_to_a_program_is_not_judged_and_the_answer_says_so(tmp_path: Path) -> None:
    async with guarded(tmp_path) as ask:
        session = await shell(ask, tmp_path)
        await typed(ask, session, "cat\r")
        await until(session, lambda: session.stream.prompting.phase == "running")
        await reads(session)
        request = parse_operation(
            "send_input", {"session": session.identity.id, "input": "rm is a word\r"}
        )
        answer = await ask.dispatch.ask(AGENT, request)
        assert "this went to cat" in answer.besides()["notice"]
        await shows(session, "rm is a word")


async def test_lines_that_outlive_the_program_are_judged_as_the_shells(tmp_path: Path) -> None:
    async with guarded(tmp_path) as ask:
        session = await shell(ask, tmp_path)
        await typed(ask, session, "cat\r")
        await until(session, lambda: session.stream.prompting.phase == "running")
        await reads(session)
        with pytest.raises(PolicyDenied):
            await typed(ask, session, f"hello\r\x04{FORBIDDEN}\r")
        assert lines_of(session).count("hello") == 2
        assert (await ask("run", session=session.identity.id, command="echo a")).output == "a"
        assert (tmp_path / "witness").exists()


async def test_a_nested_shell_is_judged_too(tmp_path: Path) -> None:
    async with guarded(tmp_path) as ask:
        session = await shell(ask, tmp_path)
        name = session.identity.id
        await ask.type_as(ANNA, session, b"exec sh\r")
        await until(session, lambda: session.stream.prompting.phase == "running")
        await reads(session)
        for operation, parameters in (
            ("run", {"command": FORBIDDEN}),
            ("run_command", {"input": FORBIDDEN}),
            ("send", {"text": FORBIDDEN}),
        ):
            with pytest.raises(PolicyDenied):
                await ask(operation, session=name, **parameters)
        assert (await ask("run", session=name, command="echo a")).output == "a"
        with pytest.raises(PolicyDenied):
            await typed(ask, session, "r", "m witness\r")  # nobody knows what stood there before
        assert (tmp_path / "witness").exists()


async def test_ctrl_d_is_enter_to_a_shell_without_a_line_editor(tmp_path: Path) -> None:
    async with guarded(tmp_path) as ask:
        session = await shell(ask, tmp_path)
        await ask.type_as(ANNA, session, b"sh\r")
        await until(session, lambda: session.stream.prompting.phase == "running")
        await reads(session)
        with pytest.raises(PolicyDenied):
            await typed(ask, session, f"{FORBIDDEN}\x04\x04")
        await typed(ask, session, FORBIDDEN)
        with pytest.raises(PolicyDenied):
            await typed(ask, session, "\x04")
        assert (tmp_path / "witness").exists()


async def test_what_is_restarted_is_judged(tmp_path: Path) -> None:
    (tmp_path / "witness").touch()
    async with guarded(tmp_path) as ask:
        command = f"cd {tmp_path} && rm -f nothing && sleep 600"
        session = await start(ask.services, command)  # as a person would, who is not judged
        for operation, parameters in (
            ("restart_session", {}),
            ("manage_session", {"action": "restart"}),
        ):
            with pytest.raises(PolicyDenied):
                await ask(operation, session=session.identity.id, **parameters)


async def test_a_repl_takes_code(tmp_path: Path) -> None:
    async with guarded(tmp_path) as ask:
        session = await shell(ask, tmp_path)
        name = session.identity.id
        await ask.type_as(ANNA, session, b"python3 -q\r")
        await until(session, lambda: ">>>" in text_of(session))
        await reads(session)
        request = parse_operation("run", {"session": name, "command": "print('rm', 6 * 7)"})
        answer = await ask.dispatch.ask(AGENT, request)
        assert answer.result.output == "rm 42"  # type: ignore[attr-defined]
        assert "this went to python3" in answer.besides()["notice"]


async def test_a_person_at_a_screen_is_not_judged(tmp_path: Path) -> None:
    async with guarded(tmp_path) as ask:
        session = await shell(ask, tmp_path)
        await ask.type_as(ANNA, session, f"{FORBIDDEN}\r".encode())
        await until(session, lambda: session.stream.prompting.ended == 1)
        assert not (tmp_path / "witness").exists()


async def test_who_types_at_a_screen_and_is_no_person_is_judged(tmp_path: Path) -> None:
    async with guarded(tmp_path) as ask:
        session = await shell(ask, tmp_path)
        with pytest.raises(PolicyDenied):
            await ask.type_as(AGENT, session, f"{FORBIDDEN}\r".encode())
        assert (tmp_path / "witness").exists()


async def test_open_denies_what_destroys_the_machine_and_nothing_else(tmp_path: Path) -> None:
    async with guarded(tmp_path, policy="open") as ask:
        session = await shell(ask, tmp_path)
        name = session.identity.id
        for operation, parameters in (
            ("run", {"command": "echo rm -rf / | sh -c 'rm -rf /'"}),
            ("send_input", {"input": "mkfs /dev/sda1\r"}),
            ("run_command", {"input": ":(){ :|:& };:"}),
        ):
            with pytest.raises(PolicyDenied):
                await ask(operation, session=name, **parameters)
        await typed(ask, session, "mkfs /dev/sd")
        with pytest.raises(PolicyDenied):
            await typed(ask, session, "a1\r")
        await typed(ask, session, b"\x15")
        await ask("run", session=name, command=FORBIDDEN)
        assert not (tmp_path / "witness").exists()


async def test_a_session_is_as_strict_as_the_stricter_of_both(tmp_path: Path) -> None:
    async with guarded(tmp_path, policy="open") as ask:
        strict = await start_marked(ask.services, policy="guarded", cwd=str(tmp_path))
        with pytest.raises(PolicyDenied):
            await ask("run", session=strict.identity.id, command=FORBIDDEN)
        listed = await ask("list_sessions", session=strict.identity.id)
        assert listed.policy == "guarded"
    async with guarded(tmp_path) as ask:
        made = await ask("create_session", policy="open", cwd=str(tmp_path))
        assert "guarded" in made.notice
        lax = ask.services.registry.find(made.session_id)
        await until(lax, lambda: lax.stream.prompting.phase == "prompt")
        assert (await ask("list_sessions", session=lax.identity.id)).policy == "guarded"
        with pytest.raises(PolicyDenied):
            await ask("run", session=lax.identity.id, command=FORBIDDEN)


async def test_what_a_new_session_would_run_is_judged(tmp_path: Path) -> None:
    async with guarded(tmp_path) as ask:
        for parameters in (
            {"command": f"cd {tmp_path}; {FORBIDDEN}"},
            {"command": "rm", "args": ["witness"]},
            {"env": {"BASH_ENV": "x"}},
            {"env": {"PROMPT_COMMAND": FORBIDDEN}},
        ):
            with pytest.raises(PolicyDenied):
                await ask("create_session", **parameters)
        assert not ask.services.registry.all()
        await ask("create_session", command="bash")
        await ask("create_session", command="sleep", args=["600"])


async def test_where_an_agent_lets_a_recording_be_written_is_judged(tmp_path: Path) -> None:
    folder, elsewhere, journals = tmp_path / "work", tmp_path / "else", tmp_path / "journals"
    for one in (folder, elsewhere):
        one.mkdir()
    async with guarded(folder, journals=journals) as ask:
        session = await shell(ask, folder)
        ref = session.identity.id
        ask.services.police._judge._private = (str(journals),)
        inside = await ask("export_recording", session=ref, path=str(folder / "a.cast"))
        assert inside.path == str(folder / "a.cast")
        hook = str(folder / ".git/hooks/pre-commit")
        for path in ("/root/.nacre_test_profile", hook, str(journals / "x"), "/etc/x.cast"):
            with pytest.raises(PolicyDenied):
                await ask("export_recording", session=ref, path=path)
        with pytest.raises(InvalidInput, match="NUL"):
            await ask("export_recording", session=ref, path=str(folder / "a\0b.cast"))
        by_person = await ask("export_recording", ANNA, session=ref, path=str(elsewhere / "b"))
        assert by_person.path == str(elsewhere / "b")


async def test_rules_are_read_again_when_they_change(tmp_path: Path) -> None:
    async with guarded(tmp_path) as ask:
        session = await shell(ask, tmp_path)
        name, file = session.identity.id, tmp_path / "config/policy.toml"

        async def runs(command: str) -> str | None:
            outcome = await ask("run", session=name, command=command)
            return str(outcome.output)

        assert await runs("echo a") == "a"
        file.write_text('[[rule]]\npattern = ["echo"]\nverdict = "deny"\njustification = "hush"\n')
        with pytest.raises(PolicyDenied, match="hush"):
            await runs("echo a")
        file.write_text("[[rule]]\nverdict = 7\n")
        with pytest.raises(PolicyDenied, match=r"policy\.toml.*verdict"):
            await runs("true")
        file.unlink()
        project = tmp_path / ".nacre"
        project.mkdir()
        (project / "policy.toml").write_text('[[rule]]\npattern = ["true"]\nverdict = "deny"\n')
        with pytest.raises(PolicyDenied):
            await runs("true")
        assert await runs("echo a") == "a"


async def test_an_agent_cannot_write_rules_for_itself(tmp_path: Path) -> None:
    async with guarded(tmp_path) as ask:
        session = await shell(ask, tmp_path)
        for line in ("echo x > .nacre/policy.toml", "cp a .nacre/policy.toml", "tee .nacre/x"):
            with pytest.raises(PolicyDenied):
                await ask("run", session=session.identity.id, command=line)


async def test_the_call_carries_what_the_policy_said(tmp_path: Path) -> None:
    async with guarded(tmp_path) as ask:
        session = await shell(ask, tmp_path)
        seen: list[Any] = []

        async def watch(call: Any, onward: Any) -> Any:
            try:
                return await onward(call)
            finally:
                seen.extend(call.judged.judgements)

        ask.dispatch = ask.services.dispatch()
        begin = ask.dispatch._begin  # as a step that wiring.py puts first
        ask.dispatch._begin = lambda call: watch(call, begin)
        await ask("run", session=session.identity.id, command="echo a")
        assert [(one.verdict, one.line) for one in seen][:1] == [("allow", "echo a")]
        with pytest.raises(PolicyDenied):
            await ask("run", session=session.identity.id, command=FORBIDDEN)
        assert (seen[-1].verdict, seen[-1].rule, seen[-1].preset) == ("deny", "rm", "guarded")


def test_the_grammar_of_shells_is_not_loaded_before_it_is_needed() -> None:
    program = "import sys, nacre.services.wiring; print('tree_sitter' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


@pytest.mark.parametrize("program", ["bash", "zsh", "fish"])
async def test_a_folder_that_no_mark_can_tell_is_judged_as_the_one_that_it_is(
    tmp_path: Path, program: str
) -> None:
    """A link of a build's leads out of the workspace; its name has a control character, or bytes
    that are no text.
    """
    project, outside = tmp_path / "project", tmp_path / "outside"
    project.mkdir()
    outside.mkdir()
    for link in (b"x\x01", b"y\xff"):
        os.symlink("../outside", os.path.join(os.fsencode(project), link))
    os.mkdir(os.path.join(os.fsencode(project), b"z\n"))
    async with guarded(tmp_path) as ask:
        session = await shell(ask, project, program)
        of_it = {"session": session.identity.id}
        for name in ("x?", "y*"):
            done = await ask("run", **of_it, command=f"cd {name}")
            assert done.cwd == str(outside)
            assert (await ask("list_sessions", **of_it)).cwd == str(outside)
            with pytest.raises(PolicyDenied):
                await ask("run", **of_it, command="make")
            await ask("put_file", **of_it, path="there", content=name)
            assert (outside / "there").read_text() == name
            assert (await ask("run", **of_it, command=f"cd {project}")).cwd == str(project)
        assert (await ask("run", **of_it, command="cd z*")).cwd == f"{project}/z\n"
        assert not (project / "there").exists()


async def test_no_printed_folder_is_believed(tmp_path: Path) -> None:
    async with guarded(tmp_path) as ask:
        session = await start(ask.services, "dash", env=SHELL, cwd=str(tmp_path))
        of_it = {"session": session.identity.id}
        printed = r"printf '\033]7;file:///etc\007'"
        assert (await ask("run", **of_it, command=printed)).cwd == str(tmp_path)
        assert (await ask("list_sessions", **of_it)).cwd == str(tmp_path)


@pytest.mark.parametrize("folder", ["a\0b", "\ud800"])
async def test_a_folder_that_cannot_be_is_refused_and_no_failure(
    tmp_path: Path, folder: str
) -> None:
    async with guarded(tmp_path) as ask:
        for operation in ("launch_app", "create_session"):
            with pytest.raises(InvalidInput):
                await ask(operation, command="no-such", args=[], cwd=folder)
