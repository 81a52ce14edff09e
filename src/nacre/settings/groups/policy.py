"""What may run without asking, and how a person is asked."""

from typing import Annotated, Literal

from msgspec import Meta

from nacre.settings.groups.audit import AuditSettings


class PolicySettings(AuditSettings, frozen=True, kw_only=True):
    policy: Annotated[
        Literal["open", "guarded", "strict"],
        Meta(
            description=(
                "What agents may run without asking a person (docs/policy.md). A session can have "
                "a stricter preset than this, never a laxer one."
            ),
        ),
    ] = "open"
    policy_check: Annotated[
        float,
        Meta(
            ge=0,
            description=(
                "Seconds between two looks whether files of rules have changed. 0: a look before "
                "each command, which costs a hundredth of a short one."
            ),
        ),
    ] = 0.05
    approval_wait: Annotated[
        float,
        Meta(
            ge=0,
            description=(
                "Seconds that a call waits for a person's answer while one is connected: on the "
                "page, attached, or at the agent's own host. Hosts give up on longer calls."
            ),
        ),
    ] = 45.0
    approval_wait_alone: Annotated[
        float,
        Meta(
            ge=0,
            description=(
                "Seconds that a call waits for a person's answer while none is connected; one may "
                "come, or use `nacre approvals`."
            ),
        ),
    ] = 10.0
    approval_lifetime: Annotated[
        float,
        Meta(
            ge=1,
            description=(
                "Seconds that a question to a person can be answered, also when the call that "
                "asked has given up: the same command then runs once at the next try."
            ),
        ),
    ] = 600.0
    elicitation: Annotated[
        bool,
        Meta(
            description=(
                "Let an agent's own host ask its user for approvals, where it offers that (MCP's "
                "elicitation). Turn it off where hosts answer by themselves."
            ),
        ),
    ] = True
    elicitation_http: Annotated[
        bool,
        Meta(
            description=(
                "Let hosts that connect over HTTP do so, too. Whoever has the token can then "
                "answer what the policy asks, and so can a program that an agent writes."
            ),
        ),
    ] = False
    neutralise_output: Annotated[
        bool,
        Meta(
            description=(
                "Replace characters that nobody sees in answers (docs/safety.md): what changes the "
                "direction of text, zero-width and tag characters, escape sequences. The answer "
                "counts them. Off: answers have what programs printed."
            ),
        ),
    ] = True
    max_approvals: Annotated[
        int,
        Meta(
            ge=1,
            le=10_000,
            description=(
                "Most questions to people that are open at once. The oldest that no call waits "
                "for gives way to the next; if calls wait for all of them, the next is refused."
            ),
        ),
    ] = 50
