"""What a caller is told whose command may not run: why, and what to do instead."""

from collections.abc import Iterator

from nacre.core.text.unseen import bytes_spelled_out
from nacre.errors import PolicyDenied
from nacre.services.dispatch.permit import Judgement
from nacre.services.policy.approvals import Asked


def denied(judgement: Judgement) -> PolicyDenied:
    why = "; ".join(_reasons(judgement)) or "a rule forbids it"
    return PolicyDenied(
        f"the policy ({judgement.preset}) denies this, and nothing was typed: {why}",
        "do it in another way that the reason names, or let a person do it",
        **_details(judgement),
    )


def unapproved(judgement: Judgement, asked: Asked, lifetime: float) -> PolicyDenied:
    why = "; ".join(_reasons(judgement)) or "a rule asks first"
    if asked.answer == "deny":
        return PolicyDenied(
            f"a person said no to this, and nothing was typed (the policy asked because: {why})",
            "do not repeat it: ask the person what to do instead",
            **_details(judgement),
            approval=asked.id,
        )
    told = "nobody answered" if asked.somebody else "nobody is there to answer"
    return PolicyDenied(
        f"this needs a person's approval ({why}); {told} within {asked.seconds:.0f} s, and "
        "nothing was typed",
        f"ask your user to approve it (on the web page, attached, or with: nacre approvals approve "
        f"{asked.id}) within {lifetime:.0f} s, and then repeat the same call",
        "use a command that the policy allows",
        **_details(judgement),
        approval=asked.id,
    )


def _reasons(judgement: Judgement) -> Iterator[str]:
    return map(bytes_spelled_out, judgement.reasons)


def _details(judgement: Judgement) -> dict[str, object]:
    return {
        "verdict": judgement.verdict,
        "reasons": list(_reasons(judgement)),
        "rule": judgement.rule,
        "command": bytes_spelled_out(judgement.line),
        "policy": judgement.preset,
    }
