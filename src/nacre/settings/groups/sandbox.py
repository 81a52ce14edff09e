"""Sandboxes: what confines sessions."""

from typing import Annotated, Literal

from msgspec import Meta

from nacre.settings.groups.sessions import SessionSettings


class SandboxSettings(SessionSettings, frozen=True, kw_only=True):
    sandbox: Annotated[
        Literal["off", "readonly", "workspace", "strict", "review"],
        Meta(
            description=(
                "Sandbox profile of sessions that are created without one. docs/sandbox.md says "
                "what each promises."
            )
        ),
    ] = "off"
    sandbox_backend: Annotated[
        Literal["auto", "bubblewrap", "landlock"],
        Meta(
            description=(
                "What makes sandboxes. auto: bubblewrap, and the kernel's Landlock where "
                "bubblewrap does not work. docs/sandbox.md says what Landlock cannot promise."
            )
        ),
    ] = "auto"
    sandbox_read: Annotated[
        str,
        Meta(
            description=(
                "Files and folders that sandboxes show, read-only, although they hide what is "
                "around them, with colons between them: ~/.cargo:~/.gitconfig."
            )
        ),
    ] = ""
    sandbox_deny: Annotated[
        str,
        Meta(
            description=(
                "Programs, with spaces between them, that the sandbox profile strict replaces by "
                "one that refuses. The default is the blacklist of the policy."
            )
        ),
    ] = "rm chmod chown chgrp kill killall pkill sudo su reboot shutdown halt init"
    sandbox_tmp_bytes: Annotated[
        int,
        Meta(
            ge=1024 * 1024,
            description=(
                "Most bytes in each of the empty folders of a sandbox: /tmp, /var/tmp, the home. "
                "They are in memory."
            ),
        ),
    ] = 1024 * 1024 * 1024
    review_copy_bytes: Annotated[
        int,
        Meta(
            ge=0,
            description=(
                "Largest workspace that the sandbox profile review copies, where bubblewrap is "
                "older than 0.11 and so has no overlays."
            ),
        ),
    ] = 1024 * 1024 * 1024
    review_file_bytes: Annotated[
        int,
        Meta(
            ge=0,
            description=(
                "Largest file whose lines a diff shows. Larger ones are named only: a comparison "
                "takes time and memory."
            ),
        ),
    ] = 1024 * 1024
    review_stop_time: Annotated[
        float,
        Meta(
            ge=0,
            description=(
                "Seconds that the daemon's end takes at most to look for changes in reviews, and "
                "to remove those without any. A review that it does not get to is kept."
            ),
        ),
    ] = 1.0
