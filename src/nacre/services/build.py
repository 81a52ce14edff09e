"""Put the services together: who knows whom is decided here."""

import asyncio
from collections.abc import Callable, Mapping

from nacre.config import Settings
from nacre.core.catalog import (
    Operation,
)
from nacre.core.operations import (
    AwaitQuiesce,
    CreateSession,
    DismissSession,
    GetScreen,
    GetScrollback,
    ListSessions,
    ManageSession,
    PressKeys,
    ReadOutput,
    ResizeSession,
    RestartSession,
    RunCommand,
    SendInput,
    SignalSession,
)
from nacre.services.dispatch import Dispatch, Handler
from nacre.services.engine import Engine
from nacre.services.janitor import Janitor
from nacre.services.registry import Registry
from nacre.services.session import Host
from nacre.services.sessions import Sessions
from nacre.services.turns import Turns


class Services:
    def __init__(
        self, registry: Registry, sessions: Sessions, janitor: Janitor, host: Host
    ) -> None:
        self.registry = registry
        self.sessions = sessions
        self.janitor = janitor
        self.engine = host.engine
        self._host = host

    def on_session_end(self, call: Callable[[], None]) -> None:
        self._host.when_ended.append(call)

    def dispatch(self, more: Mapping[type[Operation], Handler]) -> Dispatch:
        """Return the one path to all operations; `more` are those that are not about sessions."""
        sessions = self.sessions
        handlers: dict[type[Operation], Handler] = {
            CreateSession: sessions.create,
            ListSessions: sessions.list,
            ManageSession: sessions.manage,
            RestartSession: sessions.restart,
            DismissSession: sessions.dismiss,
            ResizeSession: sessions.resize,
            SignalSession: sessions.signal,
            SendInput: sessions.send,
            PressKeys: sessions.press,
            GetScreen: sessions.screen,
            GetScrollback: sessions.scrollback,
            ReadOutput: sessions.output,
            AwaitQuiesce: sessions.quiesce,
            RunCommand: sessions.run,
        }
        return Dispatch({**handlers, **more})


def build_services(settings: Settings, *, descriptor_limit: int, home: str) -> Services:
    """`home` is where sessions start whose caller stands nowhere."""
    loop = asyncio.get_running_loop()
    engine = Engine(settings.scrollback)
    host = Host(loop, settings, engine, Turns(loop, settings.read_buffer_bytes), descriptor_limit)
    registry = Registry(settings)
    sessions = Sessions(registry, host, home=home)
    janitor = Janitor(registry, host)
    host.when_ended.append(janitor.session_ended)
    return Services(registry, sessions, janitor, host)
