"""One connection to an upstream server, by the official SDK's client.

This module loads the MCP library, which takes a second: it is imported with the first connection.

Rule 1: the client is entered and left by one task, which holds it; others only call.
Rule 2: what goes wrong is told in one sentence that names the cause: the exit code, the last line
of its standard error, the status of HTTP.
Rule 3: nothing is sent twice, except where the other side provably did not take it.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextvars import Context
from dataclasses import dataclass, field
from typing import Any

import mcp_types as types
from mcp import Client
from mcp.client.session import ClientRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, ValidationError

from nacre import __version__
from nacre.errors import NacreError, UpstreamFailed, UpstreamTimedOut, UpstreamUnavailable
from nacre.services.dispatch.forwarding.relay import Ask, Relay, ReportProgress, relay_of_call
from nacre.services.host.wait import bounded
from nacre.services.upstream.http_transport import HttpTransport
from nacre.services.upstream.log_ring import LogRing
from nacre.services.upstream.program_transport import ProgramTransport
from nacre.services.upstream.resource_watch import ResourceWatch
from nacre.system.upstreams.kept import KeptListing

_log = logging.getLogger("nacre.upstream")

_MOST_LISTED = 5000  # of tools, prompts or resources of one server; each page is one request
_ANSWERS_WITHIN = 5.0  # seconds to show that it lives, after a call that it did not answer
_SETTLES = 0.1  # seconds that changes of a list are collected, and that progress is waited for
_LEGACY = "legacy"

AnyTransport = ProgramTransport | HttpTransport


@dataclass(slots=True)
class _Calling:
    """A call under way: whose questions these may be."""

    owner: str
    relay: Relay | None
    timer: asyncio.Timeout

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Stop its time while somebody is asked; what was left of it counts afterwards."""
        loop = asyncio.get_running_loop()
        when = self.timer.when()
        left = None if when is None else when - loop.time()
        if left is not None:
            self.timer.reschedule(None)
        try:
            yield
        finally:
            if left is not None and not self.timer.expired():
                self.timer.reschedule(loop.time() + left)


class _Passing:
    """Passes progress on, and knows when the last of it has gone: nothing may follow the answer."""

    def __init__(self, report: ReportProgress) -> None:
        self._report = report
        self._under_way: set[asyncio.Task[Any]] = set()

    async def __call__(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        task = asyncio.ensure_future(self._report(progress, total, message))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        await asyncio.wait((task,))

    async def settle(self) -> None:
        if self._under_way:
            await asyncio.wait(self._under_way, timeout=_SETTLES)


@dataclass(slots=True, eq=False)
class UpstreamConnection:
    name: str
    transport: AnyTransport
    mode: str  # "auto", "legacy" or a revision
    log: LogRing
    changed: Callable[["UpstreamConnection"], None]  # its lists may have changed, or it is gone
    updated: Callable[[str], None]  # a watched resource has changed
    discovered: Mapping[str, Any] = field(default_factory=dict)  # as it was found before
    patience: float = 600.0  # seconds for the answer to a question of the server
    listing: KeptListing = field(default_factory=KeptListing)
    last_used: float = 0.0
    lost: str = ""  # why it is gone
    _client: Client | None = None
    _task: "asyncio.Task[None] | None" = None
    _leave: asyncio.Event = field(default_factory=asyncio.Event)
    _calls: dict[int, _Calling] = field(default_factory=dict)
    _relisting: "asyncio.Task[None] | None" = None
    _watch: ResourceWatch = field(init=False)

    def __post_init__(self) -> None:
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
            prior_discover=_discovered(self.discovered) if self.mode != "auto" else None,
            client_info=types.Implementation(name="nacre", version=__version__),
            elicitation_callback=self._elicit,
            sampling_callback=self._sample,
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
        client = self._require()
        offers = client.server_capabilities
        tools = await self._all(client.list_tools, "tools") if offers.tools else []
        prompts = await self._all(client.list_prompts, "prompts") if offers.prompts else []
        resources: list[dict[str, Any]] = []
        templates: list[dict[str, Any]] = []
        if offers.resources:
            resources = await self._all(client.list_resources, "resources")
            with contextlib.suppress(MCPError):  # many have none, and say so by an error
                templates = await self._all(client.list_resource_templates, "resource_templates")
        self.listing = KeptListing(
            tools=tools,
            prompts=prompts,
            resources=resources,
            templates=templates,
            reads=offers.resources is not None,
            revision=client.protocol_version,
            transport=self.transport.kind,
            discovered=_as_dict(found) if (found := client.session.discover_result) else {},
        )

    async def _all(self, fetch: Callable[..., Awaitable[Any]], name: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        cursor: str | None = None
        while True:
            page = await fetch(cursor=cursor)
            found += [_as_dict(one) for one in getattr(page, name)]
            following = page.next_cursor
            if not following or following == cursor or len(found) >= _MOST_LISTED:
                return found[:_MOST_LISTED]
            cursor = following

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
        passing = _Passing(relay.progress)
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
        calling = _Calling(owner, relay_of_call(), timer)
        self._calls[id(calling)] = calling
        try:
            async with timer:
                return _as_dict(await request(client))
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
        finally:
            del self._calls[id(calling)]

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
            async with bounded(_ANSWERS_WITHIN):
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

    # --- questions of the server -----------------------------------------------------------

    async def _elicit(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        calling = self._whose()
        if calling is None or calling.relay is None or calling.relay.elicit is None:
            self.log.note("a question was declined: it cannot be told whom it is for")
            return types.ElicitResult(action="decline")
        answer = await self._forwarded(calling, calling.relay.elicit, params)
        if answer is None:
            return types.ElicitResult(action="cancel")
        try:
            return types.ElicitResult.model_validate(answer, by_name=False)
        except ValidationError:
            return types.ElicitResult(action="cancel")

    async def _sample(
        self, context: ClientRequestContext, params: types.CreateMessageRequestParams
    ) -> Any:
        calling = self._whose()
        answer = None
        if calling is not None and calling.relay is not None and calling.relay.sample is not None:
            answer = await self._forwarded(calling, calling.relay.sample, params)
        if answer is None:
            return types.ErrorData(code=-1, message="no host of this call offers sampling")
        try:
            return types.CreateMessageResult.model_validate(answer, by_name=False)
        except ValidationError as error:
            return types.ErrorData(code=-1, message=f"the host's answer is none: {_short(error)}")

    async def _forwarded(
        self, calling: _Calling, ask: Ask, params: BaseModel
    ) -> dict[str, Any] | None:
        with calling.paused():
            try:
                async with bounded(self.patience):
                    return await ask(_as_dict(params))
            except TimeoutError:
                self.log.note(f"nobody answered a question within {self.patience:g} s")
                return None

    def _whose(self) -> _Calling | None:
        """Return the one call that a question can belong to; never a guess."""
        if (own := relay_of_call()) is not None:
            return next((one for one in self._calls.values() if one.relay is own), None)
        if len({calling.owner for calling in self._calls.values()}) != 1:
            return None
        return next(iter(self._calls.values()))


def _as_dict(model: BaseModel) -> dict[str, Any]:
    found: dict[str, Any] = model.model_dump(by_alias=True, exclude_none=True, mode="json")
    return found


def _discovered(kept: Mapping[str, Any]) -> types.DiscoverResult | None:
    try:
        return types.DiscoverResult.model_validate(kept, by_name=False) if kept else None
    except ValidationError:
        return None


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


def modes(known: KeptListing) -> tuple[str, str]:
    """Return in which way to connect first, given what was found last, and in which then."""
    if known.revision in MODERN_PROTOCOL_VERSIONS and _discovered(known.discovered) is not None:
        return known.revision, "auto"
    if known.revision and known.revision not in MODERN_PROTOCOL_VERSIONS:
        return _LEGACY, "auto"
    return "auto", _LEGACY
