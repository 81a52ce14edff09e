"""Connect the services: which one knows which is decided here."""

import asyncio
from dataclasses import dataclass

from nacre.services.commands.run_command import RunCommands
from nacre.services.dispatch.admit import Admit
from nacre.services.dispatch.authorise import Authorise
from nacre.services.dispatch.dispatch import Dispatch
from nacre.services.dispatch.handlers import Handlers
from nacre.services.dispatch.limit import Limit
from nacre.services.dispatch.log import Log
from nacre.services.dispatch.recovered import Recovered
from nacre.services.dispatch.resolve import Resolve
from nacre.services.dispatch.tell import Tell
from nacre.services.follow.service import Following
from nacre.services.host.bus import Events
from nacre.services.host.engine import Engine
from nacre.services.host.host import Host
from nacre.services.host.read_share import ReadShare
from nacre.services.host.warnings import Warnings
from nacre.services.observe.views import summarise
from nacre.services.people.control import Controls
from nacre.services.people.elements import Visuals
from nacre.services.people.watch import Watching
from nacre.services.pictures import Pictures
from nacre.services.recordings import History
from nacre.services.recovery.service import Recovery
from nacre.services.registry.ports import PortPool
from nacre.services.registry.registry import Registry
from nacre.services.runs.ledger import Ledger
from nacre.services.runs.references import KnownSessions
from nacre.services.runs.send import Sends
from nacre.services.runs.service import Runs
from nacre.services.session.session import Session
from nacre.services.sessions.janitor import Janitor
from nacre.services.sessions.service import Sessions
from nacre.services.waits.service import Waiting
from nacre.settings.table import Settings
from nacre.system.keeper.client import Keeping


@dataclass(frozen=True, slots=True)
class Services:
    registry: Registry
    ports: PortPool
    sessions: Sessions
    commands: RunCommands
    pictures: Pictures
    ledger: Ledger
    runs: Runs
    talking: Sends
    waiting: Waiting
    history: History
    janitor: Janitor
    recovery: Recovery
    host: Host

    @property
    def engine(self) -> Engine:
        return self.host.engine

    def keep_all(self) -> None:
        """Give everything of all sessions to a keeper that has nothing yet."""
        self.ports.keep_all()
        for session in self.registry.all():
            session.keep_all()
        self.recovery.keep_all()

    def dispatch(self, *more: Handlers) -> Dispatch:
        """Return dispatch for all operations; `more` are handlers that are not about sessions."""
        visuals = Visuals(self.registry, self.host)
        watching = Watching(self.registry, self.host)
        controls = Controls(self.registry, self.host)
        having_handlers = (
            *(self.sessions, self.commands, self.runs, self.talking, self.waiting),
            *(self.history, self.pictures, visuals, watching, controls),
        )
        # Every call passes them in this order. Policy, approval, audit and routing to other hosts
        # will be added here.
        steps = (
            Log(),
            Authorise(),
            Recovered(self.recovery),
            Resolve(KnownSessions(self.registry, self.ledger)),
            Tell(controls),
            Admit(controls),
            Limit(self.host.settings),
        )
        handlers = Handlers.merged([*(one.handlers() for one in having_handlers), *more])
        following = Following(self.registry, self.host)
        return Dispatch(steps, handlers, watching.watch, following.follow)


def build_services(
    settings: Settings,
    *,
    descriptor_limit: int,
    home: str,
    runtime: str | None = None,
    journals: str | None = None,
    keeping: Keeping | None = None,
    umask: int = -1,
) -> Services:
    """Build and connect all services.

    `home` is the folder for sessions whose caller has none, `runtime` a private folder, `journals`
    the folder of all journals, `keeping` the keeper that started us, `umask` what sessions get.
    """
    keeping = keeping or Keeping(None)
    loop = asyncio.get_running_loop()
    engine = Engine(settings.scrollback)
    turns = ReadShare(loop, settings.read_buffer_bytes, settings.turn_time)
    events = Events[Session](lambda session: summarise(session, loop.time()))
    host = Host(
        loop,
        settings,
        engine,
        turns,
        descriptor_limit,
        runtime,
        journals,
        keeping,
        events,
        warnings=Warnings(keeping, keeper=settings.keeper),
        umask=umask,
    )
    ports = PortPool(settings.first_session_port, keeping)
    registry = Registry(settings, ports)
    ledger = Ledger(host)
    runs = Runs(registry, ledger, host)
    sessions = Sessions(registry, host, home, runs.keeps_others_out)
    janitor = Janitor(registry, host, runs.forget_session)
    return Services(
        registry=registry,
        ports=ports,
        sessions=sessions,
        commands=RunCommands(registry, ledger, runs, host),
        pictures=Pictures(registry, host),
        ledger=ledger,
        runs=runs,
        talking=Sends(registry, host),
        waiting=Waiting(registry, ledger, runs, host),
        history=History(registry, host),
        janitor=janitor,
        recovery=Recovery(registry, ports, ledger, host),
        host=host,
    )
