"""Judge calls of upstream tools: by the same rules, presets and people as commands.

Rule 1: a person's own call is not asked. Who calls from inside of a session may be its agent: that
one is.
Rule 2: what a server says of its tools (that one only reads) loosens no verdict.
Rule 3: a rule that allows a tool means it as it was described then. When its description or its
parameters change, a person is asked again.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from nacre.core.catalog.caller import Caller
from nacre.errors import Forbidden, PolicyDenied
from nacre.services.dispatch.permit import Judgement, permit_of_call
from nacre.services.host.host import Host
from nacre.services.policy.approvals import Approvals, Asked, AskedTool, BoundTo, IsInside
from nacre.services.policy.judge import Judge
from nacre.system.upstreams.kept import AllowedTools, KeptUpstreams

if TYPE_CHECKING:
    from nacre.core.policy.decide import Decision

_CHANGED = "its description or its parameters have changed since it was allowed"


class ToolCalls:
    def __init__(
        self,
        judge: Judge,
        approvals: Approvals,
        host: Host,
        is_inside: IsInside,
        kept: KeptUpstreams,
    ) -> None:
        self._judge = judge
        self._approvals = approvals
        self._host = host
        self._is_inside = is_inside
        self._kept = kept
        self._allowed: AllowedTools | None = None

    async def is_person(self, caller: Caller) -> bool:
        """Tell whether a person asks, outside of every session."""
        if not caller.person:
            return False
        return not await self._is_inside(caller)

    async def require_owner(self, caller: Caller) -> None:
        """Refuse who may not change what programs the daemon starts. Raises Forbidden."""
        self.require_all_sessions(caller)
        if self._host.settings.policy != "open" and not await self.is_person(caller):
            raise Forbidden(
                "under this policy only a person can change upstream servers, outside of every "
                "session",
                "do it on the web page, or by the command line in a terminal of your own",
            )

    def require_all_sessions(self, caller: Caller) -> None:
        """Raises Forbidden for a token that is limited to some sessions."""
        if caller.sessions is not None:
            raise Forbidden(
                "this token is limited to some sessions, and upstream servers belong to none",
                "use a token for all sessions",
            )

    async def admit(
        self,
        caller: Caller,
        name: str,
        definition: str,
        shown: str,
        arguments: Mapping[str, Any] | None = None,
    ) -> None:
        """Let a call pass, or ask a person. `shown` is the call in words.

        `definition` is a hash of how the tool describes itself. Raises PolicyDenied.
        """
        self.require_all_sessions(caller)
        if await self.is_person(caller):
            return
        if not self._judge.rulebooks.is_loaded:
            await self._judge.rulebooks.load()
        found = self._pinned(self._judge.tool(name, arguments), name, definition)
        preset = self._host.settings.policy
        judgement = Judgement(found.verdict, "", shown, preset, found.reasons, found.rule)
        if found.verdict == "allow":
            self._note(judgement)
            return
        if found.verdict == "deny":
            self._note(judgement)
            why = "; ".join(found.reasons) or f"the rule {found.rule} forbids it"
            raise _denied(f"the policy refuses {name}: {why}", judgement)
        bound = BoundTo("", shown, f"{name} {definition}".encode(), None, preset)
        if self._approvals.takes_grant(bound):
            self._note(judgement._replace(answer="once"))
            return
        tool = AskedTool(name, self._saver(name, definition))
        asked = await self._approvals.ask(caller, bound, None, found.reasons, found.rule, tool)
        self._note(judgement._replace(answer=asked.answer or "none"))
        if asked.answer in (None, "deny"):
            raise _denied(_unapproved(name, asked, found), judgement)

    async def is_free(self, caller: Caller, name: str) -> bool:
        """Tell whether a call would pass without anybody being asked. Raises Forbidden."""
        self.require_all_sessions(caller)
        if await self.is_person(caller):
            return True
        if not self._judge.rulebooks.is_loaded:
            await self._judge.rulebooks.load()
        return self._judge.tool(name).verdict == "allow"

    def _pinned(self, found: "Decision", name: str, definition: str) -> "Decision":
        """Return the verdict, which an allowing rule has for the definition that it knew."""
        if found.verdict != "allow" or found.rule is None or self._host.settings.policy == "open":
            return found
        known = self._known()
        if name not in known.tools:
            known.tools[name] = definition
            self._kept.keep_allowed(known)
        elif known.tools[name] != definition:
            return found._replace(verdict="ask", reasons=(_CHANGED,))
        return found

    def _known(self) -> AllowedTools:
        if self._allowed is None:
            self._allowed = self._kept.allowed()
        return self._allowed

    def _saver(self, name: str, definition: str) -> Callable[[], str] | None:
        rulebooks = self._judge.rulebooks
        if rulebooks.config is None:
            return None
        config = rulebooks.config

        def save() -> str:
            from nacre.system.policy_files import save_tool, user_file

            known = self._known()
            before = known.tools.get(name)
            known.tools[name] = definition
            self._kept.keep_allowed(known)
            if before is not None and self._judge.tool(name).verdict == "allow":
                return user_file(config)  # the rule is there: it has meant another definition
            rulebooks.look_again()
            return save_tool(config, name, "a person allowed this tool")

        return save

    def _note(self, judgement: Judgement) -> None:
        permit = permit_of_call()
        if permit is not None:
            permit.judged.judgements.append(judgement)


def _unapproved(name: str, asked: Asked, found: "Decision") -> str:
    why = "; ".join(found.reasons)
    if asked.answer == "deny":
        return f"a person refused the call of {name}"
    if not asked.somebody:
        return f"{name} needs a person's approval ({why}), and nobody is there to give it"
    return f"{name} needs a person's approval ({why}), and nobody answered; try again later"


def _denied(message: str, judgement: Judgement) -> PolicyDenied:
    return PolicyDenied(
        message,
        _way_to_allow(judgement),
        verdict=judgement.verdict,
        reasons=list(judgement.reasons),
        rule=judgement.rule,
        command=judgement.line,
    )


def _way_to_allow(judgement: Judgement) -> str:
    if judgement.verdict == "ask":
        return "a person can allow it: on the web page, or by a rule with tool = …"
    # Nobody was asked, so there is nothing to answer.
    if judgement.rule:
        return "only a person can change that rule"
    return "a person can allow it by a rule with tool = …"
