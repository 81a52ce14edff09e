"""Who is called what: one name, one id, one port for each listed session."""

import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager

import msgspec
import pytest

from nacre.core.operations.results import SessionDetails, SessionList
from nacre.core.operations.sessions import DismissSession, ListSessions, ManageSession
from nacre.errors import InvalidInput, LimitReached, SessionExists, SessionNotFound
from nacre.services.session.identity import Identity
from nacre.services.wiring import Services
from ranges import own_ports

from services.living import CALLER, PATIENCE, ended, living, start

pytestmark = pytest.mark.anyio


@contextmanager
def listener() -> Iterator[int]:
    """A real listener on the first of our ports."""
    with closing(socket.socket()) as found:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(("127.0.0.1", own_ports()))
        found.listen()
        yield own_ports()


async def test_session_is_found_by_name_id_and_port() -> None:
    async with living() as services:
        session = await start(services, "sleep", args=["1000"], name="dev")
        identity = session.identity
        references = ("dev", identity.id, identity.id.upper(), identity.port, str(identity.port))
        for reference in references:
            assert services.registry.find(reference) is session


@pytest.mark.parametrize(
    "reference", ["nope", "", "²", "٢٠٠٠٠", 1, -1, "00000000", "dev ", "9" * 5000, 10**30]
)
async def test_unknown_reference_is_said_to_be_one(reference: str | int) -> None:
    async with living() as services:
        await start(services, "sleep", args=["1000"], name="dev")
        with pytest.raises(
            SessionNotFound, match=r"\(there are: dev\); list them with list_sessions$"
        ):
            services.registry.find(reference)


async def test_an_error_that_names_some_sessions_says_that_there_are_more() -> None:
    async with living() as services:
        for number in range(12):
            await start(services, "true", name=f"s{number}")
        with pytest.raises(SessionNotFound, match=r"there are: s0, s1, .*, s9 and 2 more\)"):
            services.registry.find("nope")


async def test_id_has_eight_hex_digits_and_is_never_all_digits() -> None:
    async with living() as services:
        for _ in range(5):
            identifier = (await start(services, "true")).identity.id
            assert len(identifier) == 8
            int(identifier, 16)
            assert not identifier.isdigit()


async def test_ports_count_up_and_skip_those_that_are_taken() -> None:
    with listener() as taken:
        async with living(first_session_port=taken) as services:
            ports = [(await start(services, "true")).identity.port for _ in range(3)]
            assert taken not in ports
            assert ports == sorted(set(ports))
            assert taken < min(ports)


async def test_port_of_a_killed_session_is_given_out_again() -> None:
    async with living(first_session_port=own_ports()) as services:
        session = await start(services, "sleep", args=["1000"], name="dev")
        request = ManageSession(session="dev", action="kill")
        await services.sessions.manage(CALLER, request)
        assert (await start(services, "true")).identity.port == session.identity.port


async def test_port_of_a_listed_session_listens_also_when_its_process_has_ended() -> None:
    async with living(first_session_port=own_ports()) as services:
        session = await ended(await start(services, "true", name="dev"))
        socket.create_connection(("127.0.0.1", session.identity.port), timeout=PATIENCE).close()
        await services.sessions.dismiss(CALLER, DismissSession(session="dev"))
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", session.identity.port), timeout=PATIENCE)


def identity_on(services: Services, port: int | None) -> Identity:
    return services.registry.new_identity("dev", "/", named=True, keep=False, tags=(), port=port)


async def test_asked_for_port_is_the_sessions_own_until_it_is_given_up() -> None:
    with listener() as below:
        async with living(first_session_port=below) as services:
            with pytest.raises(InvalidInput, match="is taken"):
                identity_on(services, below)
            with pytest.raises(InvalidInput, match=r"port must be \d+ to 65535"):
                identity_on(services, below - 1)
            identity = identity_on(services, None)
            with pytest.raises(InvalidInput, match="is taken"):
                identity_on(services, identity.port)
            services.registry.give_up(identity)
            assert identity_on(services, identity.port).port == identity.port


async def test_only_running_sessions_count_against_the_limit() -> None:
    async with living(max_sessions=2) as services:
        await ended(await start(services, "true"))
        await start(services, "sleep", args=["1000"], name="one")
        await start(services, "sleep", args=["1000"], name="two")
        with pytest.raises(LimitReached, match=r"limit of running sessions.*2: max_sessions"):
            await start(services, "true")
        assert len(services.registry.all()) == 3, "nothing was spawned"
        await services.sessions.manage(CALLER, ManageSession(session="one", action="kill"))
        await start(services, "true")


async def test_name_that_is_taken_is_refused_until_it_is_free() -> None:
    async with living() as services:
        session = await start(services, "exit 0", name="dev")
        await ended(session)
        taken = await start(services, "sleep 1000", name="dev")
        assert services.registry.find("dev") is taken
        assert services.registry.find(session.identity.id) is session
        assert not session.listed
        with pytest.raises(SessionExists, match="already a session 'dev'; choose another"):
            await start(services, "true", name="dev")


async def test_running_session_cannot_be_dismissed() -> None:
    async with living() as services:
        await start(services, "sleep", args=["1000"], name="dev")
        with pytest.raises(InvalidInput, match="is running; kill it"):
            await services.sessions.dismiss(CALLER, DismissSession(session="dev"))


async def rename(services: Services, session: str, name: str | None) -> None:
    request = ManageSession(session=session, action="rename", new_name=name)
    await services.sessions.manage(CALLER, request)


async def test_renamed_session_keeps_its_place_and_its_old_name_is_free() -> None:
    async with living() as services:
        for name in ("one", "two", "three"):
            await start(services, "sleep", args=["1000"], name=name)
        await rename(services, "two", "zwei")
        assert [session.identity.name for session in services.registry] == ["one", "zwei", "three"]
        with pytest.raises(SessionNotFound):
            services.registry.find("two")
        await rename(services, "three", "two")
        await rename(services, "one", "one")
        with pytest.raises(SessionExists):
            await rename(services, "one", "two")
        for bad in ("123", "deadbeef", "a b", ""):
            with pytest.raises(InvalidInput):
                await rename(services, "one", bad)
        with pytest.raises(InvalidInput, match="new_name is missing for action rename"):
            await rename(services, "one", None)


async def test_killed_session_cannot_be_renamed() -> None:
    async with living() as services:
        session = await start(services, "sleep", args=["1000"], name="dev")
        await services.sessions.manage(CALLER, ManageSession(session="dev", action="kill"))
        with pytest.raises(InvalidInput, match="killed or dismissed"):
            await rename(services, session.identity.id, "other")


async def test_unnamed_sessions_are_named_after_their_folder() -> None:
    async with living() as services:
        names = [(await start(services, "true", cwd="/usr")).identity.name for _ in range(2)]
        assert names == ["usr", "usr-2"]


async def test_list_has_details_of_each_and_of_one() -> None:
    async with living() as services:
        session = await ended(await start(services, "exit 3", name="dev", tags=["a"], cwd="/usr"))
        listed = await services.sessions.list(CALLER, ListSessions())
        one = await services.sessions.list(CALLER, ListSessions(session=session.identity.port))
        assert isinstance(listed, SessionList)
        assert isinstance(one, SessionDetails)
        (first,) = listed.sessions
        # Time has passed between the two.
        times = {name: getattr(one, name) for name in ("idle_seconds", "last_active")}
        assert msgspec.structs.replace(first, **times) == one
        shown = {name: getattr(one, name) for name in ("name", "alive", "exit_code", "tags", "cwd")}
        assert shown == {
            "name": "dev",
            "alive": False,
            "exit_code": 3,
            "tags": ["a"],
            "cwd": "/usr",
        }
