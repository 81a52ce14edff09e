"""A person's answer counts for what they were asked, and for nothing that only looks like it."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from nacre.errors import PolicyDenied

from services.people import ANNA, House
from services.policy.test_approvals import asked, guarded, questions, shell

pytestmark = pytest.mark.anyio


async def refused(ask: House, operation: str, **parameters: Any) -> str:
    """Ask for something that needs a yes, with nobody there; return the question's id."""
    with pytest.raises(PolicyDenied) as caught:
        await ask(operation, **parameters)
    return str(caught.value.details["approval"])


@pytest.mark.parametrize(
    ("allowed", "other"),
    [
        # The words of a command, which a blank does not part from each other.
        ({"args": ["a b"]}, {"args": ["a", "b"]}),
        # Variables that the command uses.
        ({"args": ["x"], "env": {"TARGET": "/tmp"}}, {"args": ["x"], "env": {"TARGET": "/"}}),
        ({"args": ["x"], "env": {"TARGET": "/tmp"}}, {"args": ["x"]}),
    ],
)
async def test_a_program_is_allowed_with_its_words_and_variables(
    tmp_path: Path, allowed: dict[str, Any], other: dict[str, Any]
) -> None:
    async with guarded(tmp_path, approval_wait_alone=0.0) as ask:
        given = {"command": "shred", "cwd": str(tmp_path)}
        question = await refused(ask, "create_session", **given, **allowed)
        await ask("answer_approval", ANNA, id=question, answer="once")
        assert await refused(ask, "create_session", **given, **other) != question
        made = await ask("create_session", **given, **allowed)
        assert made.pid


async def test_a_relative_folder_is_the_callers(tmp_path: Path) -> None:
    """It is judged, and shown, as the folder that the session will have."""
    async with guarded(tmp_path, approval_wait_alone=0.0) as ask:
        await refused(ask, "create_session", command="shred x", cwd="/tmp/..")
        (question,) = await questions(ask)
        assert question.cwd == "/"


async def test_an_answer_counts_for_the_folder_itself_and_not_for_a_link_to_it(
    tmp_path: Path,
) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    link = tmp_path / "src"
    link.symlink_to("one")
    async with guarded(tmp_path, approval_wait_alone=0.0) as ask:
        session = await shell(ask, tmp_path)
        of_it = {"session": session.identity.id}
        await ask("run", **of_it, command="cd src")
        question = await refused(ask, "run", **of_it, command="shred -u x")
        (shown,) = await questions(ask)
        assert shown.cwd == str(tmp_path / "one")
        await ask("answer_approval", ANNA, id=question, answer="session")
        assert (await ask("run", **of_it, command="shred -u x")).exit_code == 1
        link.unlink()
        link.symlink_to("other")
        await ask("run", **of_it, command="cd ../src")
        await refused(ask, "run", **of_it, command="shred -u x")


async def test_a_file_is_written_with_the_content_that_was_shown(tmp_path: Path) -> None:
    hook = _folder(tmp_path, "work/.git/hooks") / "pre-commit"
    async with guarded(tmp_path, approval_wait_alone=0.0) as ask:
        session = await shell(ask, tmp_path / "work")
        given = {"session": session.identity.id, "path": ".git/hooks/pre-commit"}
        question = await refused(ask, "put_file", **given, content="harmless\n")
        (shown,) = await questions(ask)
        assert "harmless" in shown.command
        assert shown.answers == ["once", "deny"]
        await ask("answer_approval", ANNA, id=question, answer="once")
        await refused(ask, "put_file", **given, content="other\n")
        assert not hook.exists()
        await ask("put_file", **given, content="harmless\n")
        assert hook.read_text() == "harmless\n"

        question = await refused(ask, "edit_file", **given, old="harm", new="use")
        await ask("answer_approval", ANNA, id=question, answer="once")
        await refused(ask, "edit_file", **given, old="harm", new="x")
        # What was allowed to be written is no line that may be typed.
        await refused(ask, "run", session=session.identity.id, command=f"cat file > {hook}")
        await ask("edit_file", **given, old="harm", new="use")
        assert hook.read_text() == "useless\n"


async def test_a_file_is_asked_for_again_when_the_session_went_elsewhere(tmp_path: Path) -> None:
    """A relative path means another file there, and nobody said yes to that one."""
    one, other = (_folder(tmp_path, f"work/{name}/.git") / "config" for name in ("one", "other"))
    async with guarded(tmp_path) as ask:
        session = await shell(ask, tmp_path / "work")
        given = {"session": session.identity.id}
        await ask("run", **given, command="cd one")
        writing = asyncio.create_task(ask("put_file", **given, path=".git/config", content="x"))
        first = await asked(ask)
        assert str(one) in first.command
        await ask("run", **given, command="cd ../other")
        await ask("answer_approval", ANNA, id=first.id, answer="once")
        second = await asked(ask)
        assert str(other) in second.command
        await ask("answer_approval", ANNA, id=second.id, answer="deny")
        with pytest.raises(PolicyDenied):
            await writing
        assert (one.exists(), other.exists()) == (False, False)


def _folder(parent: Path, name: str) -> Path:
    made = parent / name
    made.mkdir(parents=True)
    return made
