"""What a run costs, and whether many at once stay apart.

`run true` in this process and through `nacre mcp`, beside a bare PTY that waits for a printed
marker (the floor), pexpect where it is installed, and tmux's wait-for. Then a hundred sessions of a
hundred commands each: every exit code right, none lost, none mixed up.
"""

import asyncio
import os
import pty
import shutil
import subprocess
import sys
import tempfile
import time
import uuid

import uvloop

from nacre.core.catalog.caller import Caller
from nacre.core.operations.runs import Run
from nacre.core.operations.sessions import CreateSession
from nacre.services.wiring import Services, build_services
from nacre.settings.table import Settings

from scratch import measure, memory_of, p50, p95, scratch_environment, table
from stdio_client import StdioClient

ROUNDS = 300
CALLER = Caller(door="bench", cwd="/")


# --- floors and peers --------------------------------------------------------------------------


def bare_pty() -> list[float]:
    """Type `true; echo` and a marker, read until the marker: what a terminal itself takes."""
    pid, master = pty.fork()
    if pid == 0:
        os.environ["PS1"] = "$ "
        os.execvp("bash", ["bash", "--norc", "--noprofile"])
    number = 0

    def once() -> None:
        nonlocal number
        number += 1
        os.write(master, f"true; echo e''nd-{number}-$?\r".encode())
        seen = b""
        while f"end-{number}-0\r".encode() not in seen:
            seen += os.read(master, 65536)

    times = measure(once, ROUNDS)
    os.close(master)
    os.waitpid(pid, 0)
    return times


def pexpect_replwrap() -> list[float] | None:
    try:
        from pexpect import replwrap
    except ImportError:
        return None
    shell = replwrap.bash()
    return measure(lambda: shell.run_command("true"), ROUNDS)


def tmux_wait_for() -> list[float] | None:
    if shutil.which("tmux") is None:
        return None
    server = f"nacre-bench-{uuid.uuid4().hex[:8]}"
    base = ["tmux", "-L", server, "-f", "/dev/null"]
    command = ["bash", "--norc", "--noprofile"]
    subprocess.run([*base, "new-session", "-d", "-x", "80", "-y", "24", *command], check=True)

    def once() -> None:
        line = f"true; tmux -L {server} wait-for -S done"
        subprocess.run([*base, "send-keys", line, "Enter"], check=True)
        subprocess.run([*base, "wait-for", "done"], check=True)

    try:
        return measure(once, ROUNDS // 6)
    finally:
        subprocess.run([*base, "kill-server"], check=False)


# --- nacre -------------------------------------------------------------------------------------


def build(folder: str) -> Services:
    return build_services(
        Settings(max_sessions=1000), descriptor_limit=1024, home="/", runtime=folder
    )


async def open_shell(services: Services, shell: str) -> str:
    env = {"HOME": "/dev/null", "HISTFILE": "", "LC_ALL": "C.UTF-8"}
    created = await services.sessions.create(CALLER, CreateSession(command=shell, env=env))
    return created.session_id


async def in_process(shell: str, command: str) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        services = build(folder)
        session = await open_shell(services, shell)
        times = []
        for count in range(ROUNDS + 5):
            started = time.perf_counter()
            ran = await services.runs.run(CALLER, Run(session=session, command=command))
            if count >= 5:
                times.append((time.perf_counter() - started) * 1000)
            assert (ran.status, ran.exit_code) == ("completed", 0), ran
        await services.sessions.end_all()
        services.ports.close()
        return times


def through_mcp() -> list[float]:
    toolsets = "terminal,shell"
    with scratch_environment() as env, StdioClient(env, "--toolsets", toolsets) as client:
        port = client.call("create_session", name="bench", command="bash")["port"]

        def once() -> None:
            assert client.call("run", port=port, command="true")["exit_code"] == 0

        once()
        return measure(once, ROUNDS)


async def many(sessions: int, commands: int) -> tuple[int, float, float]:
    """Return how many answers were wrong, the seconds it took, and the memory it grew by, in MB."""
    wrong = 0

    async def work(services: Services, number: int) -> None:
        nonlocal wrong
        session = await open_shell(services, "bash" if number % 2 else "dash")
        for count in range(commands):
            code = (number * 31 + count * 7) % 256
            ran = await services.runs.run(
                CALLER,
                Run(
                    session=session,
                    command=f"echo {number}-{count}; (exit {code})",
                    timeout_ms=300_000,
                ),
            )
            good = ("completed", f"{number}-{count}", code)
            if (ran.status, ran.output, ran.exit_code) != good:
                wrong += 1
                print("wrong:", good, ran)

    with tempfile.TemporaryDirectory() as folder:
        services = build(folder)
        memory = memory_of(os.getpid())
        started = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for number in range(sessions):
                group.create_task(work(services, number))
        took = time.perf_counter() - started
        grown = memory_of(os.getpid()) - memory
        await services.sessions.end_all()
        services.ports.close()
        return wrong, took, grown


def main() -> int:
    figures: dict[str, list[float] | None] = {
        "bare PTY with a marker (floor)": bare_pty(),
        "run true, in process, bash (marks)": uvloop.run(in_process("bash", "true")),
        "run true, in process, zsh (marks)": uvloop.run(in_process("zsh", "true")),
        "run true, in process, fish (marks)": uvloop.run(in_process("fish", "true")),
        "run true, in process, dash (wrapper)": uvloop.run(in_process("dash", "true")),
        "run true, two lines, bash (wrapper)": uvloop.run(in_process("bash", "true\ntrue")),
        "run true, nacre mcp over stdio": through_mcp(),
        "pexpect replwrap": pexpect_replwrap(),
        "tmux send-keys, wait-for": tmux_wait_for(),
    }
    rows: list[tuple[object, ...]] = [("", "p50 ms", "p95 ms")]
    for name, times in figures.items():
        rows.append((name, p50(times), p95(times)) if times else (name, "not installed", ""))
    table(*rows)
    sessions, commands = 100, 100
    wrong, took, grown = uvloop.run(many(sessions, commands))
    total = sessions * commands
    print(
        f"\n{sessions} sessions × {commands} commands: {wrong} of {total} wrong, {took:.1f} s, "
        f"{total / took:.0f} runs a second, {grown:.0f} MB more"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
