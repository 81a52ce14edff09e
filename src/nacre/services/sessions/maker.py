"""Make sessions: plan the launch and its sandbox, take a name, and start the child.

Rule 1: between the look whether a name is free and its taking nothing is awaited.
Rule 2: of a start that fails nothing is left: no layer, no name, no port, no terminal.
"""

import asyncio

from msgspec.structs import replace

from nacre.core.catalog.caller import Caller
from nacre.core.operations.sessions import CreateSession
from nacre.core.policy.verdicts import sandbox_of
from nacre.errors import Forbidden, NacreError
from nacre.services.host.host import Host
from nacre.services.registry.registry import Registry
from nacre.services.session.identity import Identity
from nacre.services.session.launch import Confine, Launch, plan_launch, relaunch
from nacre.services.session.record import SessionRecord
from nacre.services.session.screen import Beginning
from nacre.services.session.session import Session
from nacre.system.processes.pty import require_descriptors, shortage
from nacre.system.sandbox.layers import has_base
from nacre.system.sandbox.profiles import needs_layer
from nacre.system.storage.ring import Ring
from nacre.wording import Omit


class SessionMaker:
    def __init__(self, registry: Registry, host: Host, home: str) -> None:
        """`home` is the folder for sessions whose caller has none."""
        self._registry = registry
        self._host = host
        self._home = home

    async def make(self, caller: Caller, request: CreateSession, port: int | None) -> Session:
        """Raises Forbidden, SandboxUnavailable, and what planning a launch and the system raise."""
        settings = self._host.settings
        sandbox = sandbox_of(request.sandbox, settings.sandbox, caller.sandbox)
        if sandbox == "off" and not caller.person:
            self._refuse_without(caller)
        await self._host.groups.prepare()
        confine = await self._confine(sandbox)
        launch = await plan_launch(
            request,
            caller,
            default_shell=settings.shell,
            home=self._home,
            confine=confine,
            passed=settings.session_env,
        )
        if needs_layer(launch.sandbox):
            layer = await self._host.sandboxes.new_layer(launch.workspace)
            launch = replace(launch, layer=layer)
        try:
            session = await self._make_planned(caller, request, launch, port)
        except BaseException:
            if launch.layer:
                remove = self._host.sandboxes.layer_work.remove
                await asyncio.to_thread(remove, launch.layer)
            raise
        if (others := self._host.names.others) is not None:
            await others.noted()  # it lives already: who gives up meanwhile takes nothing from it
        return session

    def _refuse_without(self, caller: Caller) -> None:
        """Refuse an agent a session without a sandbox, where this host or its own has one."""
        setting = self._host.settings.sandbox
        where = "here"
        if setting == "off":
            setting, where = caller.sandbox, f"of host {caller.via!r}"
        if setting != "off":
            raise Forbidden(
                f"sessions of agents {where} have a sandbox (the setting sandbox is {setting}); "
                "only a person can start one without",
                Omit(("sandbox",), "to get that one"),
            )

    async def _confine(self, profile: str) -> Confine | None:
        """Raises SandboxUnavailable where the profile cannot be had."""
        if profile == "off":
            return None
        await self._host.sandboxes.require(profile)
        return Confine(profile, self._host.sandboxes)

    async def _make_planned(
        self, caller: Caller, request: CreateSession, launch: Launch, port: int | None
    ) -> Session:
        keep = request.keep or caller.person
        await self._host.engine.load()
        if (others := self._host.names.others) is None:
            return self._add(request, launch, request.name, keep=keep, port=port)
        claimed = await others.claim(request.name, launch.cwd)
        try:
            return self._add(request, launch, claimed, keep=keep, port=port)
        except NacreError:
            others.release(claimed)
            raise

    def _add(
        self,
        request: CreateSession,
        launch: Launch,
        name: str | None,
        *,
        keep: bool,
        port: int | None,
    ) -> Session:
        # No await in here: a name that was free must still be free when it is taken.
        require_descriptors(self._host.settings.descriptor_reserve)
        identity = self._registry.new_identity(
            name,
            launch.cwd,
            named=request.name is not None,
            keep=keep,
            tags=tuple(request.tags or ()),
            port=port,
        )
        try:
            session = self._begin(identity, launch, request)
        except OSError as error:
            self._registry.give_up(identity)
            raise shortage("the session cannot be started", error) from error
        except NacreError:
            self._registry.give_up(identity)
            raise
        self._registry.add(session)
        return session

    def _begin(self, identity: Identity, launch: Launch, request: CreateSession) -> Session:
        terminal = self._host.engine.new_terminal(request.rows, request.cols)
        try:
            ring = Ring()
        except OSError as error:
            terminal.close()
            raise shortage("cannot make the shared memory of a session", error) from error
        record = SessionRecord(identity=identity, launch=launch, policy=request.policy)
        session = Session(record, Beginning(terminal), ring, self._host)
        try:
            session.start()
        except (NacreError, OSError):
            session.give_up()
            raise
        return session

    async def plan_again(self, caller: Caller, session: Session) -> Launch | None:
        """Return how a session starts the next time; None: as it did.

        Raises SandboxUnavailable, before anything is killed for it.
        """
        launch = None
        await self._host.groups.prepare()
        confine = await self._confine(session.launch.sandbox)
        if confine is not None:
            confine.settle(session.launch.workspace)
        if session.ending is not None and session.ending.lost:
            passed = self._host.settings.session_env
            launch = relaunch(session.launch, caller, self._home, confine, passed)
        if session.launch.layer and not await asyncio.to_thread(has_base, session.launch.layer):
            layer = await self._host.sandboxes.new_layer(session.launch.workspace)
            launch = replace(launch or session.launch, layer=layer)
        return launch
