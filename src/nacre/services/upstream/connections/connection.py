"""One connection to an upstream server, by the official SDK's client.

This module loads the MCP library, which takes a second: it is imported with the first connection.

Rule 1: the client is entered and left by one task, which holds it; others only call.
Rule 2: what goes wrong is told in one sentence that names the cause: the exit code, the last line
of its standard error, the status of HTTP.
Rule 3: nothing is sent twice, except where the other side provably did not take it.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextvars import Context
from dataclasses import dataclass, field
from typing import Any

import mcp_types as types
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, ValidationError

from nacre import __version__
from nacre.errors import NacreError, UpstreamFailed, UpstreamTimedOut, UpstreamUnavailable
from nacre.services.dispatch.forwarding.relay import relay_of_call
from nacre.services.host.wait import bounded
from nacre.services.upstream.connections.http_transport import HttpTransport
from nacre.services.upstream.connections.listings import as_dict, discovered, read_listing
from nacre.services.upstream.connections.program_transport import ProgramTransport
from nacre.services.upstream.connections.questions import PassedProgress, UpstreamQuestions
from nacre.services.upstream.connections.resource_watch import ResourceWatch
from nacre.services.upstream.log_ring import LogRing
from nacre.settings.table import Settings
from nacre.system.upstreams.kept import KeptListing

_log = logging.getLogger("nacre.upstream")

_SETTLES = 0.1  # seconds that changes of a list are collected
_REFUSED = "Server returned an error response"  # the SDK's words for a status of HTTP

AnyTransport = ProgramTransport | HttpTransport


@dataclass(slots=True, eq=False)
class UpstreamConnection:
    name: str
    transport: AnyTransport
    mode: str  # "auto", "legacy" or a revision
    log: LogRing
    changed: Callable[["UpstreamConnection"], None]  # its lists may have changed, or it is gone
    updated: Callable[[str], None]  # a watched resource has changed
    settings: Settings
    discovered: Mapping[str, Any] = field(default_factory=dict)  # as it was found before
    listing: KeptListing = field(default_factory=KeptListing)
    last_used: float = 0.0
    lost: str = ""  # why it is gone
    _client: Client | None = None
    _task: "asyncio.Task[None] | None" = None
    _leave: asyncio.Event = field(default_factory=asyncio.Event)
    _relisting: "asyncio.Task[None] | None" = None
    _watch: ResourceWatch = field(init=False)
    _questions: UpstreamQuestions = field(init=False)

    def __post_init__(self) -> None:
        self._questions = UpstreamQuestions(
            self.name, self.log, self.settings.upstream_question_wait
        )
        self._watch = ResourceWatch(self.log, self.updated)

    @property
    def is_open(self) -> bool:
        return self._client is not None and not self.lost and not self.transport.ended.is_set()

    @property
    def revision(self) -> str:
        return self._client.protocol_version if self._client is not None else ""

    @property
    def server(self) -> str:
        """What the server calls itself."""
        known = self._client.server_info if self._client is not None else None
        return f"{known.name} {known.version}".strip() if known is not None else ""

    async def open(self) -> None:
        """Connect, and read its lists. Raises UpstreamUnavailable."""
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        ready.add_done_callback(lambda done: done.cancelled() or done.exception())
        # In a context of its own: the connection is no part of the call that happens to open it,
        # and must not ask that call's host what is another's.
        self._task = asyncio.create_task(
            self._hold(ready), name=f"upstream-{self.name}", context=Context()
        )
        try:
            await asyncio.shield(ready)
            await self.relist()
        except NacreError:
            await self.close()
            raise
        except BaseException as error:
            lost = self.lost or await self._reason(error)
            await self.close(lost)
            if isinstance(error, asyncio.CancelledError):
                raise
            raise UpstreamUnavailable(lost) from error

    async def _hold(self, ready: "asyncio.Future[None]") -> None:
        client = Client(
            self.transport,
            mode=self.mode,
            prior_discover=discovered(self.discovered) if self.mode != "auto" else None,
            client_info=types.Implementation(name="nacre", version=__version__),
            elicitation_callback=self._questions.elicit,
            sampling_callback=self._questions.sample,
            message_handler=self._hear,
            cache=None,
        )
        try:
            async with client:
                self._client = client
                ready.set_result(None)
                ended = asyncio.ensure_future(self.transport.ended.wait())
                leave = asyncio.ensure_future(self._leave.wait())
                listening = asyncio.ensure_future(self._listen(client))
                try:
                    await asyncio.wait((ended, leave), return_when=asyncio.FIRST_COMPLETED)
                    if not self._leave.is_set():
                        self._note_loss(await self.transport.how_it_ended() or "it is gone")
                finally:
                    for task in (ended, leave, listening):
                        task.cancel()
                    await asyncio.gather(ended, leave, listening, return_exceptions=True)
        except BaseException as error:  # noqa: BLE001  # told to whoever opens, or logged
            if not ready.done():
                ready.set_exception(_plain(error))
                return
            if not isinstance(error, asyncio.CancelledError):
                _log.warning("an upstream's connection failed", extra={"server": self.name})
                self._note_loss(self.lost or await self._reason(error))
        finally:
            self._client = None

    def _note_loss(self, why: str) -> None:
        if not self.lost:
            self.lost = why
            self.log.note(f"the connection is lost: {why}")
            self.changed(self)

    async def close(self, why: str = "it was ended") -> None:
        self.lost = self.lost or why
        self._leave.set()
        if self._relisting is not None:
            self._relisting.cancel()
        self._watch.close()
        if self._task is not None and not self._task.done():
            if self._client is None:
                self._task.cancel()  # it is still connecting
            await asyncio.wait((self._task,))

    async def _reason(self, error: BaseException) -> str:
        """Say in a sentence why it cannot be used."""
        cause = _plain(error)
        if isinstance(self.transport, HttpTransport) and self.transport.wants_login:
            return f"it wants a login (HTTP status 401); log in: nacre upstream login {self.name}"
        told = self.transport.explain(cause) or await self.transport.how_it_ended()
        if not told and isinstance(cause, MCPError):
            told = f"it answered with an error ({cause.error.code}): {cause.error.message}"
        elif not told:
            told = f"{type(cause).__name__}: {cause}".removesuffix(": ")
        if self.transport.garbage:
            told += f"; it printed on its standard output: {self.transport.garbage}"
        if last := self.log.last():
            told += f"; it said: {last}"
        return self.log.hidden(told)

    # --- lists -----------------------------------------------------------------------------

    async def relist(self) -> None:
        """Read all of its lists."""
        most = self.settings.max_upstream_listed
        self.listing = await read_listing(self._require(), self.transport.kind, most)

    async def _hear(self, message: Any) -> None:
        """Take a notification of the server."""
        if isinstance(
            message,
            types.ToolListChangedNotification
            | types.PromptListChangedNotification
            | types.ResourceListChangedNotification,
        ):
            self._relist_soon()
        elif isinstance(message, types.ResourceUpdatedNotification):
            self.updated(str(message.params.uri))

    def _relist_soon(self) -> None:
        if self._relisting is None or self._relisting.done():
            self._relisting = asyncio.create_task(self._relist_later(), name="upstream-lists")

    async def _relist_later(self) -> None:
        # A server that registers ten tools says ten times that its list has changed.
        await asyncio.sleep(_SETTLES)
        self._relisting = None
        try:
            await self.relist()
        except (MCPError, ValidationError, UpstreamUnavailable) as error:
            self.log.note(f"its lists cannot be read: {error}")
        else:
            self.changed(self)

    async def _listen(self, client: Client) -> None:
        """Hear of changes from a server of the revision that has no notifications of its own."""
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return
        offers = client.server_capabilities
        lists = bool(offers.tools and offers.tools.list_changed)
        prompts = bool(offers.prompts and offers.prompts.list_changed)
        resources = bool(offers.resources and offers.resources.list_changed)
        if not (lists or prompts or resources):
            return
        try:
            async with client.listen(
                tools_list_changed=lists,
                prompts_list_changed=prompts,
                resources_list_changed=resources,
            ) as events:
                async for _ in events:
                    self._relist_soon()
        except Exception as error:  # noqa: BLE001  # calls go on; only news are missed
            self.log.note(f"its changes cannot be heard: {_plain(error)}")

    # --- calls -----------------------------------------------------------------------------

    async def call(
        self, tool: str, arguments: dict[str, Any], owner: str, within: float
    ) -> dict[str, Any]:
        """Call a tool, and return the result as it came.

        Raises UpstreamFailed, UpstreamTimedOut, UpstreamUnavailable.
        """
        relay = relay_of_call()
        if relay is None or relay.progress is None:
            return await self._ask(lambda client: client.call_tool(tool, arguments), owner, within)
        passing = PassedProgress(relay.progress)
        report: Any = passing
        try:
            return await self._ask(
                lambda client: client.call_tool(tool, arguments, progress_callback=report),
                owner,
                within,
            )
        finally:
            await passing.settle()

    async def get_prompt(
        self, prompt: str, arguments: dict[str, str] | None, owner: str, within: float
    ) -> dict[str, Any]:
        return await self._ask(lambda client: client.get_prompt(prompt, arguments), owner, within)

    async def read_resource(self, uri: str, owner: str, within: float) -> dict[str, Any]:
        return await self._ask(lambda client: client.read_resource(uri), owner, within)

    async def complete(
        self, request: Mapping[str, Any], owner: str, within: float
    ) -> dict[str, Any]:
        """Return what an argument of a prompt or of a template may be; nothing where the server
        does not tell. `request` is the protocol's. Raises as `call` does.
        """
        if self._require().server_capabilities.completions is None:
            return {}
        params = types.CompleteRequestParams.model_validate(request, by_name=False)
        context = params.context.arguments if params.context is not None else None
        argument = {"name": params.argument.name, "value": params.argument.value}
        return await self._ask(
            lambda client: client.complete(params.ref, argument, context), owner, within
        )

    async def watch(self, uri: str, *, watch: bool, within: float) -> None:
        """Have the server tell of updates of a resource, or not any more.

        Raises InvalidInput if it does not offer that, and as `call` does.
        """
        client = self._require()
        change = self._watch.begin if watch else self._watch.end
        try:
            async with bounded(within):
                await change(client, uri)
        except TimeoutError:
            raise UpstreamTimedOut(f"{self.name} did not answer within {within:g} s") from None
        except MCPError as error:
            raise await self._explained(error) from error

    async def _ask(
        self, request: Callable[[Client], Awaitable[BaseModel]], owner: str, within: float
    ) -> dict[str, Any]:
        client = self._require()
        timer = bounded(within)
        try:
            with self._questions.calling(owner, timer):
                async with timer:
                    return as_dict(await request(client))
        except TimeoutError:
            self.log.note(f"no answer within {within:g} s")
            asyncio.ensure_future(self._check()).add_done_callback(_seen)
            raise UpstreamTimedOut(
                f"{self.name} did not answer within {within:g} s; whether it has done it is not "
                "known",
                "raise call_timeout in its table if it needs longer",
            ) from None
        except MCPError as error:
            raise await self._explained(error) from error
        except (ValidationError, RuntimeError) as error:
            raise UpstreamUnavailable(
                f"{self.name} answered with something that is no result: {_short(error)}"
            ) from error

    async def _explained(self, error: MCPError) -> NacreError:
        """Tell an error of the server from a connection that is gone."""
        if self.transport.ended.is_set() or self.lost:
            why = self.lost or await self.transport.how_it_ended()
            self._note_loss(why)
            return UpstreamUnavailable(
                f"{self.name} was lost during the call: {why}; whether it has done it is not known"
            )
        if isinstance(self.transport, HttpTransport) and self.transport.forgotten:
            self._note_loss("the server has forgotten the session")
            return UpstreamUnavailable(f"{self.name} has forgotten the session", again=True)
        if isinstance(self.transport, HttpTransport) and self.transport.wants_login:
            why = await self._reason(error)
            self._note_loss(why)
            return UpstreamUnavailable(f"{self.name} is not available: {why}")
        told = error.error
        if (
            isinstance(self.transport, HttpTransport)
            and told.message == _REFUSED
            and self.transport.take_lack()
        ):
            return UpstreamUnavailable(
                f"{self.name} wants more rights for this than it was given (HTTP status 403); "
                f"log in: nacre upstream login {self.name}"
            )
        own = {"code": told.code, "message": told.message}
        if told.data is not None:
            own["data"] = told.data
        return UpstreamFailed(f"{self.name} answered with an error: {told.message}", upstream=own)

    async def _check(self) -> None:
        """See whether a server that left a call unanswered still lives; else let it go."""
        client = self._client
        if client is None:
            return
        try:
            async with bounded(self.settings.upstream_alive_wait):
                if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
                    await client.list_tools()
                else:
                    await client.session.send_ping()
        except MCPError:
            return  # an error is an answer
        except TimeoutError:
            self._note_loss("it does not answer any more")
            self._leave.set()

    def _require(self) -> Client:
        if self._client is None or self.lost:
            raise UpstreamUnavailable(f"{self.name} is gone: {self.lost}", again=True)
        return self._client


def _plain(error: BaseException) -> Exception:
    """Return the one exception that a group of them is about."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error if isinstance(error, Exception) else RuntimeError("it was given up")


def _short(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]


def _seen(task: "asyncio.Task[None]") -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.warning("an upstream could not be checked", exc_info=error)
