"""Limits: what sessions may use up.

Rule: a default breaks no build. It stops what has run away, before the machine stops.
"""

from typing import Annotated, Literal

from msgspec import Meta

from nacre.settings.groups.sandbox import SandboxSettings


class LimitSettings(SandboxSettings, frozen=True, kw_only=True):
    session_core_bytes: Annotated[
        int,
        Meta(
            ge=0,
            description=(
                "Largest core dump of programs in sessions (RLIMIT_CORE). By default there are "
                "none: they would contain whatever a program knew."
            ),
        ),
    ] = 0
    session_max_open_files: Annotated[
        int,
        Meta(
            ge=0,
            description=(
                "Most files that a program in a session may open, however it raises its own limit "
                "(the hard RLIMIT_NOFILE). 0: as many as the daemon may. The limit that programs "
                "start with is the one of who started the daemon."
            ),
        ),
    ] = 65536
    session_max_file_bytes: Annotated[
        int,
        Meta(
            ge=0,
            description=(
                "Largest file that a program in a session may write (RLIMIT_FSIZE). 0: any. The "
                "default is a size that nobody writes on purpose."
            ),
        ),
    ] = 1 << 40
    session_oom_score_adj: Annotated[
        int,
        Meta(
            ge=0,
            le=1000,
            description=(
                "How much sooner than the daemon and its keeper the programs of sessions are "
                "killed when the machine has no memory left, in thousandths of it "
                "(oom_score_adj). 0: the largest process is killed, which may be the daemon."
            ),
        ),
    ] = 300
    session_cgroups: Annotated[
        Literal["auto", "off"],
        Meta(
            description=(
                "Give each session a cgroup of its own, where the system lets us: as a service "
                "with Delegate=yes, or by the user's systemd. Memory, processes and processor "
                "are limited only there; nacre doctor says whether."
            )
        ),
    ] = "auto"
    session_max_memory: Annotated[
        str,
        Meta(
            pattern=r"^(0|[0-9]{1,18}[KMGT]?|[1-9][0-9]?%|100%)$",
            description=(
                "Most memory of a session with all that it started (memory.max of its cgroup): "
                "bytes, with K, M, G or T, or a part of the machine's memory. 0: any. What is "
                "too large is killed within its session, and not the daemon."
            ),
        ),
    ] = "90%"
    session_max_processes: Annotated[
        int,
        Meta(
            ge=0,
            description=(
                "Most processes and threads of a session (pids.max of its cgroup). 0: any. A "
                "fork bomb stops there. Without a cgroup there is no such limit: RLIMIT_NPROC "
                "counts all processes of the user."
            ),
        ),
    ] = 8192
    session_cpu_weight: Annotated[
        int,
        Meta(
            ge=1,
            le=10000,
            description=(
                "Share of the processor that a session gets when others want it too (cpu.weight "
                "of its cgroup). The daemon has 100."
            ),
        ),
    ] = 100
