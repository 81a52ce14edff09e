"""The size of a program that is started again: not that of somebody who had borrowed it."""

import pytest

from nacre.services.session.record import pack_for_disk, unpack_from_disk
from nacre.services.session.session import Session

from services.living import ended, reads, start
from services.people import AGENT, ANNA, House, house

pytestmark = pytest.mark.anyio

ENDS = "read x"


def whole_of(session: Session) -> tuple[int, int]:
    return session.display.rows, session.display.cols


async def resize(ask: House, caller: object, session: Session, rows: int, cols: int) -> None:
    await ask("resize_session", caller, session=session.identity.id, rows=rows, cols=cols)  # type: ignore[arg-type]


async def test_a_program_that_ends_under_a_borrower_is_started_again_in_its_own_size() -> None:
    async with house() as ask:
        session = await start(ask.services, ENDS, rows=30, cols=97)
        await reads(session)
        async with ask.watch(ANNA, session, rows=20, cols=44, composed=True):
            await resize(ask, ANNA, session, 20, 44)
            assert whole_of(session) == (20, 44)
            await ask("send_input", session=session.identity.id, input="\r")
            await ended(session)
        assert whole_of(session) == (20, 44)  # the last screen stays as it was seen
        await ask("restart_session", session=session.identity.id)
        assert (session.terminal.rows, session.terminal.cols) == whole_of(session) == (30, 97)


async def test_who_looks_at_what_has_ended_borrows_nothing() -> None:
    async with house() as ask:
        session = await ended(await start(ask.services, "true", rows=30, cols=97))
        async with ask.watch(ANNA, session, rows=20, cols=44, composed=True):
            await resize(ask, ANNA, session, 20, 44)
        assert whole_of(session) == (30, 97)
        await resize(ask, AGENT, session, 25, 90)
        assert whole_of(session) == (25, 90)  # who means it


async def test_an_agents_size_after_the_end_is_the_next_programs() -> None:
    async with house() as ask:
        session = await start(ask.services, ENDS, rows=30, cols=97)
        await reads(session)
        async with ask.watch(ANNA, session, rows=20, cols=44, composed=True):
            await resize(ask, ANNA, session, 20, 44)
            await ask("send_input", session=session.identity.id, input="\r")
            await ended(session)
        await resize(ask, AGENT, session, 25, 90)
        await ask("restart_session", session=session.identity.id)
        assert whole_of(session) == (25, 90)


async def test_the_disk_knows_it_for_who_restores_a_lost_session() -> None:
    async with house() as ask:
        session = await start(ask.services, ENDS, rows=30, cols=97)
        async with ask.watch(ANNA, session, rows=20, cols=44, composed=True):
            await resize(ask, ANNA, session, 20, 44)
            kept = unpack_from_disk(pack_for_disk(session.record))
            assert kept.own_size == (30, 97)
        assert session.record.own_size is None
