"""What comes of a verdict: a line passes, a person is asked, or the call is refused.

Rule: an approval counts for exactly these bytes, this session, folder and profile.
"""

import os
from typing import TYPE_CHECKING, NamedTuple

from nacre.services.dispatch.permit import Judgement, Permit
from nacre.services.host.host import Host
from nacre.services.policy.approvals import Approvals, BoundTo
from nacre.services.policy.judge import Judge, Site
from nacre.services.policy.refusals import denied, unapproved
from nacre.services.session.session import Session

if TYPE_CHECKING:
    from nacre.core.policy.decide import Decision


class Line(NamedTuple):
    """What a shell would run."""

    text: str
    doubt: str = ""  # why this may not be all of it
    data: bytes = b""  # the rest of what an answer is bound to: keys, a file's content, variables
    beside: str = ""  # what a person is shown below it, and no log


class Verdicts:
    def __init__(self, judge: Judge, approvals: Approvals, host: Host) -> None:
        self._judge = judge
        self._approvals = approvals
        self._host = host

    async def judge(self, permit: Permit, session: Session, site: Site, line: Line) -> bool:
        return await self.settle(permit, session, site, line, self._judge.line(line.text, site))

    async def settle(
        self,
        permit: Permit,
        session: Session | None,
        site: Site,
        line: Line,
        found: "Decision",
        sandbox: str = "off",
    ) -> bool:
        """Let it pass, or ask a person; whether that took time. Raises PolicyDenied."""
        verdict, reasons = found.verdict, found.reasons
        if line.doubt and verdict == "allow" and site.preset != "open":
            verdict, reasons = "ask", (line.doubt,)
        identifier = session.identity.id if session is not None else ""
        judgement = Judgement(
            verdict,
            identifier,
            line.text,
            site.preset,
            reasons,
            found.rule,
            known=not line.doubt,
        )
        if verdict == "allow":
            permit.judged.judgements.append(judgement)
            return False
        if verdict == "deny":
            permit.judged.judgements.append(judgement)
            raise denied(judgement)
        sandbox = sandbox if session is None else session.launch.sandbox
        profile = site.preset if sandbox == "off" else f"{site.preset}, sandbox {sandbox}"
        bound = BoundTo(identifier, line.text, line.data, _real(site, sandbox), profile)
        if bound in permit.granted or self._approvals.takes_grant(bound):
            permit.granted.add(bound)
            permit.judged.judgements.append(judgement._replace(answer="once"))
            return False
        asked = await self._approvals.ask(
            permit.caller, bound, session, reasons, found.rule, beside=line.beside
        )
        permit.judged.judgements.append(judgement._replace(answer=asked.answer or "none"))
        if asked.answer in (None, "deny"):
            raise unapproved(judgement, asked, self._host.settings.approval_lifetime)
        permit.granted.add(bound)
        return True


def _real(site: Site, sandbox: str) -> str | None:
    """Return the folder itself: a link to it says nothing of where it is, and may be changed."""
    if site.folder is None or sandbox != "off":
        return site.folder
    return os.path.realpath(site.folder)
