"""Put the services together: who knows whom is decided here."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from nacre.config import Settings
from nacre.core.catalog import (
    Operation,
)
from nacre.core.operations import (
    AwaitInput,
    AwaitQuiesce,
    CloseSession,
    Control,
    CreateSession,
    DismissSession,
    ExportRecording,
    GetScreen,
    GetScrollback,
    GetSessionStatus,
    ListSessions,
    ManageSession,
    PressKeys,
    PutOverlay,
    PutPanel,
    ReadOutput,
    ReadRun,
    RemoveOverlay,
    RemovePanel,
    ResizeSession,
    RestartSession,
    RestoreSessions,
    Run,
    RunCommand,
    ScreenAt,
    Screenshot,
    Send,
    SendInput,
    SendKey,
    SetInputMode,
    SetScreenMode,
    SignalSession,
    StartSession,
    WaitFor,
)
from nacre.services.commands import Commands
from nacre.services.control import Controls
from nacre.services.dispatch import Dispatch, Handler
from nacre.services.engine import Engine
from nacre.services.following import Following
from nacre.services.host import Host
from nacre.services.janitor import Janitor
from nacre.services.ledger import Ledger
from nacre.services.past import History
from nacre.services.pictures import Pictures
from nacre.services.ports import PortPool
from nacre.services.recovery import Recovery
from nacre.services.registry import Registry
from nacre.services.runs import Runs
from nacre.services.sessions import Sessions
from nacre.services.talking import Talking
from nacre.services.turns import Turns
from nacre.services.visuals import Visuals
from nacre.services.waiting import Waiting
from nacre.services.watching import Watching
from nacre.system.keeping import Keeping


@dataclass(frozen=True, slots=True)
class Services:
    registry: Registry
    ports: PortPool
    sessions: Sessions
    commands: Commands
    pictures: Pictures
    ledger: Ledger
    runs: Runs
    talking: Talking
    waiting: Waiting
    history: History
    janitor: Janitor
    recovery: Recovery
    host: Host

    @property
    def engine(self) -> Engine:
        return self.host.engine

    def on_session_end(self, call: Callable[[], None]) -> None:
        self.host.when_ended.append(call)

    def dispatch(self, more: Mapping[type[Operation], Handler]) -> Dispatch:
        """Return the one path to all operations; `more` are those that are not about sessions."""
        sessions, visuals = self.sessions, Visuals(self.registry, self.host)
        controls = Controls(self.registry, self.host)
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
            RestoreSessions: sessions.restore,
            ScreenAt: self.history.screen_at,
            ExportRecording: self.history.export,
            GetScreen: sessions.screen,
            Screenshot: self.pictures.screenshot,
            GetScrollback: sessions.scrollback,
            ReadOutput: sessions.output,
            AwaitQuiesce: self.commands.quiesce,
            RunCommand: self.commands.run,
            Run: self.runs.run,
            ReadRun: self.runs.read,
            Send: self.talking.send,
            SendKey: self.talking.press,
            WaitFor: self.waiting.wait,
            GetSessionStatus: sessions.status,
            StartSession: sessions.start,
            CloseSession: sessions.close,
            PutOverlay: visuals.overlay,
            RemoveOverlay: visuals.remove_overlay,
            PutPanel: visuals.panel,
            RemovePanel: visuals.remove_panel,
            SetInputMode: visuals.input_mode,
            SetScreenMode: visuals.screen_mode,
            AwaitInput: visuals.await_input,
            Control: controls.control,
        }
        return Dispatch(
            {**handlers, **more},
            Watching(self.registry, self.host).watch,
            Following(self.registry, self.host).follow,
            controls,
        )


def build_services(
    settings: Settings,
    *,
    descriptor_limit: int,
    home: str,
    runtime: str | None = None,
    journals: str | None = None,
    keeping: Keeping | None = None,
) -> Services:
    """Put everything together.

    `home` is where sessions start whose caller stands nowhere, `runtime` a private folder,
    `journals` the folder of all journals, `keeping` the keeper that started us.
    """
    keeping = keeping or Keeping(None)
    loop = asyncio.get_running_loop()
    engine = Engine(settings.scrollback)
    turns = Turns(loop, settings.read_buffer_bytes)
    host = Host(loop, settings, engine, turns, descriptor_limit, runtime, journals, keeping)
    ports = PortPool(settings.first_session_port, keeping)
    registry = Registry(settings, ports)
    ledger = Ledger(host)
    runs = Runs(registry, ledger, host)
    sessions = Sessions(registry, host, home, runs.is_locked)
    janitor = Janitor(registry, host)
    host.when_ended.append(janitor.session_ended)
    host.when_forgotten.append(runs.forget_session)
    return Services(
        registry=registry,
        ports=ports,
        sessions=sessions,
        commands=Commands(registry, host),
        pictures=Pictures(registry, host),
        ledger=ledger,
        runs=runs,
        talking=Talking(registry, host),
        waiting=Waiting(registry, ledger, runs, host),
        history=History(registry, host),
        janitor=janitor,
        recovery=Recovery(registry, ports, ledger, host),
        host=host,
    )
