"""Secrets: what agents are not shown, what sessions get of the environment, who types passwords."""

from typing import Annotated, Literal

from msgspec import Meta

from nacre.settings.groups.policy import PolicySettings


class SecretSettings(PolicySettings, frozen=True, kw_only=True):
    redact: Annotated[
        bool,
        Meta(
            description=(
                "Take keys, tokens and the values of secret variables out of what agents read "
                "(docs/secrets.md). People's own views are never redacted, logs and the audit "
                "always."
            )
        ),
    ] = True
    secret_store: Annotated[
        Literal["file", "keyring"],
        Meta(
            description=(
                "Where 'nacre secret' stores values: a file that only you can read, or the "
                "system's keyring, which needs the extra nacre[keyring]."
            )
        ),
    ] = "file"  # noqa: S105  # where, not what
    session_env: Annotated[
        str,
        Meta(
            description=(
                "Further variables of the daemon's environment that sessions get, with commas "
                "between them: GOPROXY,MYAPP_*. Others than those in docs/secrets.md are not "
                "passed on, for the daemon may have been started with somebody's keys."
            )
        ),
    ] = ""
    askpass: Annotated[
        Literal["off", "offer", "prefer"],
        Meta(
            description=(
                "Let sudo -A, ssh and git ask a person for passwords by nacre (SUDO_ASKPASS, "
                "SSH_ASKPASS), unless the session has such a program. prefer: ssh does so also "
                "where it could ask at the terminal."
            )
        ),
    ] = "offer"
    call_people: Annotated[
        bool,
        Meta(
            description=(
                "Tell people on the page, attached and in 'nacre approvals' when a program asks "
                "an agent for a password or a yes, so that they can answer it."
            )
        ),
    ] = True
