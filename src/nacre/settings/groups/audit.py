"""The audit: what is recorded of who did what, and for how long."""

from typing import Annotated, Literal

from msgspec import Meta

from nacre.settings.groups.runs import RunSettings

AuditSync = Literal["never", "decisions", "always"]


class AuditSettings(RunSettings, frozen=True, kw_only=True):
    audit: Annotated[
        bool,
        Meta(
            description=(
                "Record who did what in a log that shows when somebody has changed it: 'nacre "
                "audit'. Passwords and other input that is not shown are never recorded."
            )
        ),
    ] = True
    audit_log: (
        Annotated[
            str,
            Meta(
                min_length=1,
                description=(
                    "File that gets one line of JSON for each command that ran or was refused, "
                    "beside the audit itself."
                ),
            ),
        ]
        | None
    ) = None
    audit_file_bytes: Annotated[
        int,
        Meta(
            ge=4096,
            description=(
                "Bytes after which the audit begins its next file. A search reads whole files, and "
                "the oldest one is removed as a whole."
            ),
        ),
    ] = 8 * 1024 * 1024
    audit_files: Annotated[
        int,
        Meta(
            ge=2,
            description=(
                "Most files of the audit; the oldest are removed first. This bounds the disk space "
                "to this number times audit_file_bytes."
            ),
        ),
    ] = 32
    audit_age: Annotated[
        float,
        Meta(
            ge=0,
            description=(
                "Seconds that a file of the audit is kept after its last record; older ones are "
                "removed when the next file begins. 0: until there are too many (audit_files)."
            ),
        ),
    ] = 90 * 86400.0
    audit_sync: Annotated[
        AuditSync,
        Meta(
            description=(
                "Records that are forced onto the disk at once, so that a power cut loses none "
                "of them: never, decisions (verdicts, approvals, tokens) or always. All others "
                "are handed to the system, which writes them to the disk when it likes; a crash "
                "of the daemon alone does not lose them."
            )
        ),
    ] = "decisions"
    audit_pause: Annotated[
        float,
        Meta(
            ge=0,
            le=60,
            description=(
                "Seconds that records are collected after a write. Lines that are typed, and the "
                "first record after a pause, are written at once. A daemon that is killed loses "
                "at most what else came within them."
            ),
        ),
    ] = 0.1
    audit_text_chars: Annotated[
        int,
        Meta(
            ge=80,
            description=(
                "Most characters of one input or command in the audit; how many there were is "
                "recorded too. This keeps a large paste from filling it."
            ),
        ),
    ] = 8000
    audit_pending: Annotated[
        int,
        Meta(
            ge=100,
            description=(
                "Most records of the audit that wait while the disk is full. Further ones are "
                "dropped and counted, and no call fails. This bounds memory."
            ),
        ),
    ] = 10_000
