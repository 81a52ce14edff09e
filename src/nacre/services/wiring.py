"""Connect the services: which one knows which is decided here."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from nacre.core.catalog.caller import Caller
from nacre.core.catalog.grant import Grant
from nacre.core.operations.follow import EventStream, Follow
from nacre.core.operations.watch import Watch, WatchSession
from nacre.services.activities import Activities
from nacre.services.agent.service import Agents
from nacre.services.agent.typing import AgentTyping
from nacre.services.alone import Alone
from nacre.services.apps.focusing import Focusing
from nacre.services.apps.mouse import Pointing
from nacre.services.apps.seeing import Seeing
from nacre.services.apps.service import Apps
from nacre.services.audit.audit import Audit
from nacre.services.catalog.late import LateCatalog
from nacre.services.commands.run_command import RunCommands
from nacre.services.dispatch.admit import Admit
from nacre.services.dispatch.answers.delivery import Deliver
from nacre.services.dispatch.answers.neutralise import Neutralise
from nacre.services.dispatch.answers.one_by_one import OneByOne
from nacre.services.dispatch.answers.redact import CheckSecrets, Redact
from nacre.services.dispatch.answers.unrecorded import TellUnrecorded
from nacre.services.dispatch.audit import RecordCalls
from nacre.services.dispatch.authorise import Authorise
from nacre.services.dispatch.call_people import CallPeople
from nacre.services.dispatch.dispatch import Dispatch
from nacre.services.dispatch.forwarding.route import Route
from nacre.services.dispatch.handlers import Handlers, Type
from nacre.services.dispatch.judge import JudgeFirst
from nacre.services.dispatch.limit import Limit
from nacre.services.dispatch.log import Log
from nacre.services.dispatch.recovered import Recovered
from nacre.services.dispatch.resolve import Renames, Resolve
from nacre.services.dispatch.tell import Tell
from nacre.services.files.service import Files
from nacre.services.films.service import Films
from nacre.services.follow.service import Following
from nacre.services.host.bus import Events
from nacre.services.host.engine import Engine
from nacre.services.host.floods import Floods
from nacre.services.host.host import Host
from nacre.services.host.read_share import ReadShare
from nacre.services.host.secrets import KnownSecrets
from nacre.services.host.warnings import Warnings
from nacre.services.observe.views import summarise
from nacre.services.people.control import Controls
from nacre.services.people.elements import Visuals
from nacre.services.people.watch import Watching
from nacre.services.pictures import Pictures
from nacre.services.policy.approvals import Approvals
from nacre.services.policy.judge import Judge
from nacre.services.policy.police import Police
from nacre.services.policy.prompts import Prompts
from nacre.services.policy.rulebooks import Rulebooks
from nacre.services.recordings import History
from nacre.services.recovery.service import Recovery
from nacre.services.registry.ports import PortPool
from nacre.services.registry.registry import Registry
from nacre.services.reviews import Reviews
from nacre.services.runs.ledger import Ledger
from nacre.services.runs.references import KnownSessions
from nacre.services.runs.send import Sends
from nacre.services.runs.service import Runs
from nacre.services.search.service import Searching
from nacre.services.session.session import Session
from nacre.services.sessions.janitor import Janitor
from nacre.services.sessions.service import Sessions
from nacre.services.upstream.late import LateUpstreams
from nacre.services.waits.following import RunFollowing
from nacre.services.waits.service import Waiting
from nacre.settings.table import Settings
from nacre.system.cgroups.groups import SessionGroups
from nacre.system.keeper.client import Keeping
from nacre.system.processes.tree import find_members, is_alive, is_below
from nacre.system.sandbox.sandboxes import Sandboxes
from nacre.system.secrets import SecretStore

if TYPE_CHECKING:
    from nacre.services.cluster.service import Cluster


class Services(Struct, frozen=True):
    registry: Registry
    ports: PortPool
    sessions: Sessions
    apps: Apps
    commands: RunCommands
    catalog: LateCatalog
    upstreams: LateUpstreams
    pictures: Pictures
    ledger: Ledger
    runs: Runs
    talking: Sends
    waiting: Waiting
    history: History
    searching: Searching
    janitor: Janitor
    recovery: Recovery
    approvals: Approvals
    prompts: Prompts
    police: Police
    reviews: Reviews
    host: Host
    cluster: "Cluster | None" = None  # of which this host is a member

    @property
    def engine(self) -> Engine:
        return self.host.engine

    def keep_all(self) -> None:
        """Give everything of all sessions to a keeper that has nothing yet."""
        self.ports.keep_all()
        for session in self.registry.all():
            session.keep_all()
        self.recovery.keep_all()

    def note_login(self, grant: Grant | None, by: str) -> None:
        """Record that a person logged in on the page, or that somebody was refused (None)."""
        if self.host.audit is not None:
            token = {"token": grant.token, "token_name": grant.token_name} if grant else {}
            outcome = "ok" if grant else "refused"
            self.host.audit.record("login", None, None, {"by": by, "outcome": outcome, **token})

    def close_audit(self, event: str) -> None:
        """Write the last record: that the daemon ends, and why."""
        if self.host.audit is not None:
            self.host.audit.record("daemon", None, None, {"event": event})
            self.host.audit.close()

    def dispatch(self, *more: Handlers, authorise: Authorise | None = None) -> Dispatch:
        """Return dispatch for all operations; `more` are handlers that are not about sessions.

        `authorise` is the step that knows the tokens; without it there are none.
        """
        visuals = Visuals(self.registry, self.host)
        watching = Watching(self.registry, self.host)
        controls = Controls(self.registry, self.host)
        seeing = Seeing(self.registry, self.host, self.history)
        files = Files(self.registry, self.runs, self.host)
        pointing = Pointing(self.registry, seeing.references)
        focusing = Focusing(self.registry, seeing.references, self.apps.typing, self.host)
        run_parts = RunFollowing(self.ledger, self.host, self.runs.revisit)
        having_handlers = (
            *(self.sessions, self.commands, self.runs, self.talking, self.waiting),
            *(self.history, self.pictures, self.reviews, visuals, watching, controls),
            *(self.approvals, self.prompts, self.catalog, self.apps, self.upstreams),
            *(pointing, focusing, seeing, files, run_parts, self.searching),
            Activities(self.registry, self.ledger, self.host),
            Films(self.history, self.host),
            AgentTyping(self.registry, self.host, self.apps.typing),
            self.cluster or Alone(),
        )
        known = KnownSessions(self.registry, self.ledger)
        # Every call passes them in this order.
        steps = (
            Log(self.host.calls),
            *((Neutralise(),) if self.host.settings.neutralise_output else ()),
            Redact(self.host.secrets),
            *(() if self.host.audit is None else (RecordCalls(self.host.audit),)),
            authorise or Authorise(),
            *(() if self.cluster is None else (Route(self.cluster.routing),)),
            Recovered(self.recovery),
            Resolve(known, Renames(self.host.events)),
            Tell(controls),
            Admit(controls, self.police),
            JudgeFirst(self.police),
            CheckSecrets(self.host.secrets),
            CallPeople(self.prompts),
            TellUnrecorded(known),
            Deliver(),
            OneByOne(),
            Limit(self.host.settings),
        )
        handlers = Handlers.merged([*(one.handlers() for one in having_handlers), *more])
        following = Following(self.registry, self.host)
        present = self.approvals.present  # who watches or follows can be asked

        @asynccontextmanager
        async def watch(caller: Caller, request: WatchSession, type_: Type) -> AsyncIterator[Watch]:
            with present(caller):
                async with watching.watch(caller, request, type_) as watched:
                    yield watched

        @asynccontextmanager
        async def follow(caller: Caller, request: Follow) -> AsyncIterator[EventStream]:
            with present(caller):
                async with following.follow(caller, request) as stream:
                    yield stream

        asked = self.host.read_share.asked
        return Dispatch(steps, handlers, watch, follow, lambda ask: Agents(ask).handlers(), asked)


def build_services(
    settings: Settings,
    *,
    descriptor_limit: int,
    home: str,
    runtime: str | None = None,
    journals: str | None = None,
    keeping: Keeping | None = None,
    audit: Audit | None = None,
    umask: int = -1,
    config: str | None = None,
    own: Sequence[str] = (),
    layers: str | None = None,
    askpass: tuple[str, str] | None = None,
    groups: SessionGroups | None = None,
) -> Services:
    """Build and connect all services.

    `home` is the folder for sessions whose caller has none, `runtime` a private folder, `journals`
    the folder of all journals, `keeping` the keeper that started us, `audit` what records who did
    what, `umask` what sessions get, `config` the folder of the user's own rules, `own` the folders
    that no sandbox shows, `layers` the folder for what reviews change,
    `askpass` the program that asks people for passwords, and its socket, `groups` the cgroups of
    sessions; without them there are none, for a process that is no daemon must not be moved.
    """
    keeping = keeping or Keeping(None)
    host = _build_host(
        settings,
        keeping,
        audit,
        runtime=runtime,
        journals=journals,
        descriptor_limit=descriptor_limit,
        sandboxes=Sandboxes(settings, own, layers),
        groups=groups or SessionGroups(settings, on=False),
        askpass=askpass,
        umask=umask,
    )
    return _connect(host, home, config)


def _connect(host: Host, home: str, config: str | None) -> Services:
    settings, journals = host.settings, host.journals
    ports = PortPool(settings.first_session_port, host.keeping)
    registry = Registry(settings, ports)
    ledger = Ledger(host)
    runs = Runs(registry, ledger, host)
    sessions = Sessions(registry, host, home, runs.keeps_others_out)
    is_inside = _finder(registry, host)
    rulebooks = Rulebooks(config, settings.policy_check)
    approvals = Approvals(host, _saver(rulebooks), is_inside)
    state = None if journals is None else os.path.dirname(journals)
    private = [folder for folder in (config, host.runtime, state) if folder is not None]
    judge = Judge(settings, rulebooks, private)
    police = Police(registry, judge, approvals, host, is_inside)
    catalog = LateCatalog(host, config=config, home=home, private=tuple(private))
    upstreams = LateUpstreams(host, judge, approvals, is_inside, config=config, state=state)
    janitor = Janitor(registry, host, runs.forget_session)
    recovery = Recovery(registry, ports, ledger, host)
    cluster = None
    if settings.cluster and state is not None:
        from nacre.services.cluster.local import LocalSessions
        from nacre.services.cluster.service import Cluster

        local = LocalSessions(registry, ledger, recovery, ports, approvals, is_inside)
        cluster = Cluster(local, host, os.path.join(state, "cluster.key"))
    return Services(
        registry=registry,
        ports=ports,
        sessions=sessions,
        apps=Apps(registry, sessions, host),
        commands=RunCommands(registry, ledger, runs, host),
        catalog=catalog,
        upstreams=upstreams,
        pictures=Pictures(registry, host),
        ledger=ledger,
        runs=runs,
        talking=Sends(registry, host),
        waiting=Waiting(registry, ledger, runs, host),
        history=History(registry, host),
        searching=Searching(registry, ledger, host),
        janitor=janitor,
        recovery=recovery,
        approvals=approvals,
        prompts=Prompts(registry, approvals, host),
        police=police,
        reviews=Reviews(registry, host),
        host=host,
        cluster=cluster,
    )


def _build_host(
    settings: Settings,
    keeping: Keeping,
    audit: Audit | None,
    *,
    runtime: str | None,
    journals: str | None,
    descriptor_limit: int,
    sandboxes: Sandboxes,
    groups: SessionGroups,
    askpass: tuple[str, str] | None,
    umask: int,
) -> Host:
    loop = asyncio.get_running_loop()
    secrets = _build_secrets(settings, journals, audit)
    return Host(
        loop,
        settings,
        Engine(settings.scrollback),
        ReadShare(
            loop,
            settings.read_buffer_bytes,
            settings.turn_time,
            Floods(settings.flood_pause, settings.flood_part),
        ),
        descriptor_limit,
        runtime,
        journals,
        keeping,
        Events[Session](lambda session: summarise(session, loop.time())),
        warnings=Warnings(keeping, keeper=settings.keeper, more=partial(_warnings_of, audit)),
        audit=audit,
        sandboxes=sandboxes,
        groups=groups,
        secrets=secrets,
        askpass=askpass,
        umask=umask,
    )


def _warnings_of(audit: Audit | None) -> tuple[str, ...]:
    """What is still collected is written first: whoever asks wants to know of these, too."""
    if audit is None:
        return ()
    audit.settle()
    return audit.warnings


def _build_secrets(settings: Settings, journals: str | None, audit: Audit | None) -> KnownSecrets:
    """Return what knows the secrets, which the audit hides, too."""
    store = None
    if journals is not None:
        stored = os.path.join(os.path.dirname(journals), "secrets.json")
        store = SecretStore(stored, settings.secret_store)
    secrets = KnownSecrets(settings, store)
    secrets.learn_variables(os.environ)
    if audit is not None:
        audit.redaction = secrets.redaction_of_logs()
    return secrets


def _saver(rulebooks: Rulebooks) -> Callable[[str, str], str] | None:
    """Return what adds a rule to the user's file; None without one."""

    def save(line: str, why: str) -> str:
        from nacre.system.policy_files import save_line  # it loads the grammar of shells

        assert rulebooks.config is not None
        rulebooks.look_again()
        return save_line(rulebooks.config, line, why)

    return None if rulebooks.config is None else save


def _finder(registry: Registry, host: Host) -> Callable[[Caller], Awaitable[bool]]:
    """Return what tells whether a caller is a process in one of the sessions, or may be one.

    What a session has started stays below the keeper, which adopts its orphans, whatever becomes of
    its process group and environment. So do upstream servers, which are no people either. Of a
    process that is gone nobody can tell: a program could let a child connect, and go on itself.
    """

    async def is_inside(caller: Caller) -> bool:
        if caller.pid is None:
            return caller.inside  # another host's caller: that host has looked
        if not is_alive(caller.pid):
            return True
        reaper = host.keeping.reaper
        if reaper is not None and reaper == os.getppid() and is_below(caller.pid, reaper):
            return True
        trees = [known.supervisor.tree for known in registry.all()]
        return caller.pid in await find_members(trees)

    return is_inside
