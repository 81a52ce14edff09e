"""Input that a program has not read yet: nobody knows who reads what is typed next."""

from pathlib import Path

import pytest

from nacre.errors import PolicyDenied
from nacre.services.observe import unread
from nacre.services.observe.unread import UnreadInput

from services.living import lines_of, living, reads, start, until
from services.policy.test_police import guarded, shell, typed

pytestmark = pytest.mark.anyio


async def test_who_waits_again_has_read_what_came() -> None:
    async with living() as services:
        session = await start(services, "cat")
        await reads(session)
        left = UnreadInput()
        assert not left.is_left(session)
        left.note(session)
        assert left.is_left(session)
        session.write(b"x\r")
        await until(session, lambda: lines_of(session).count("x") == 2)
        await reads(session)
        assert not left.is_left(session)


async def test_for_who_has_not_read_yet_a_line_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with guarded(tmp_path, first_prompt_wait=0.05) as ask:
        session = await shell(ask, tmp_path)
        await typed(ask, session, "cat\r")
        await until(session, lambda: session.stream.prompting.phase == "running")
        await reads(session)
        monkeypatch.setattr(unread, "times_waited", lambda pid: 1)  # the kernel has not come to it
        await typed(ask, session, "hello\r")
        await until(session, lambda: lines_of(session).count("hello") == 2)
        await reads(session)
        with pytest.raises(PolicyDenied):
            await typed(ask, session, "rm witness\r")
        assert (tmp_path / "witness").exists()
