"""Break a cluster for minutes, and count what was typed twice and what got lost: 0 of each.

    python bench/cluster_faults.py [--minutes N] [--seed N] [--hosts N] [--servers 1|3]

Real hosts, real NATS servers (three of them keep each name), and a proxy of ours between each host
and each server. Callers at every door type numbered lines into sessions of every host, whose
programs append them to files. Meanwhile servers and daemons are killed and stopped, connections are
cut, held up, made half open and slow, answers are dropped, and whole hosts die and come back.

The files are the truth. A line that was answered with success must be there once; one whose caller
was told that it may have taken effect, once at most; one whose caller was told that its host was
not reached, never. Of a session that died with its host lines may be missing. Exits with 1 if it
is not so.
"""

import argparse
import asyncio
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from cluster_hosts import BenchHost, Door, Nats, free_ports, until

from scratch import scratch_environment, table

_LOST_TIME = 2.0  # seconds, the setting's default
_PAUSE = 0.02  # seconds between two lines of a caller
_READER = "while IFS= read -r line; do printf '%s\\n' \"$line\" >> {}; done"


class Proxy:
    """What is between a host and a server: it passes on, holds, slows down, or lets go."""

    def __init__(self, server: Nats) -> None:
        self._server = server
        self._open: set[asyncio.StreamWriter] = set()
        self.port = 0
        self.refuses = False
        self.delay = 0.0
        self.passes = {"in": asyncio.Event(), "out": asyncio.Event()}
        self.let_pass()

    async def start(self) -> None:
        listening = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = listening.sockets[0].getsockname()[1]

    def let_pass(self) -> None:
        self.refuses = False
        self.delay = 0.0
        for event in self.passes.values():
            event.set()

    def cut(self) -> None:
        """Close all connections: bytes that were held are gone."""
        for writer in list(self._open):
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.refuses:
            writer.transport.abort()
            return
        try:
            up, down = await asyncio.open_connection("127.0.0.1", self._server.port)
        except OSError:
            writer.transport.abort()
            return
        self._open |= {writer, down}
        with suppress(asyncio.CancelledError):  # the series is over
            await asyncio.gather(self._pump(reader, down, "out"), self._pump(up, writer, "in"))
        self._open -= {writer, down}

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: str
    ) -> None:
        with suppress(OSError):
            while part := await reader.read(65536):
                if self.delay:
                    await asyncio.sleep(self.delay)
                await self.passes[way].wait()
                writer.write(part)
                await writer.drain()
        writer.transport.abort()


@dataclass
class Line:
    said: str = "nothing"  # how its caller was answered: done, perhaps, not
    error: str = ""


@dataclass
class Target:
    """A session, and what was typed into it."""

    name: str
    host: str
    file: Path
    lines: dict[str, Line] = field(default_factory=dict)
    died: bool = False  # with its host


class Series:
    def __init__(self, stack: ExitStack, seed: int, hosts: int, servers: int) -> None:
        self._stack = stack
        self._random = random.Random(seed)
        self._folder = Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="nacre-faults-"))
        )
        self._names = "abcdefgh"[:hosts]
        self.servers = self._start_servers(servers)
        self.hosts: dict[str, BenchHost] = {}
        self._envs: dict[str, dict[str, str]] = {}
        self._proxies: dict[str, list[Proxy]] = {}
        self.targets: list[Target] = []
        self.errors: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.failed_by_server = 0  # calls, while only a server was gone
        self.calls = 0
        self._ends = False

    def _start_servers(self, count: int) -> list[Nats]:
        ports = free_ports(count)
        routes = ",".join(f"nats://127.0.0.1:{port}" for port in ports)
        made = []
        for number, port in enumerate(ports):
            options = ["--no_advertise"]
            if count > 1:
                own = f"nats://127.0.0.1:{port}"
                options += ["--cluster_name", "nacre", "--cluster", own, "--routes", routes]
            made.append(Nats(self._folder, f"n{number}", *options))
            self._stack.callback(made[-1].kill)
        return made

    async def start(self) -> None:
        for name in self._names:
            proxies = [Proxy(server) for server in self.servers]
            for proxy in proxies:
                await proxy.start()
            self._proxies[name] = proxies
            url = ",".join(f"nats://127.0.0.1:{proxy.port}" for proxy in proxies)
            given = {"cluster": url, "cluster_host": name, "cluster_replicas": len(self.servers)}
            self._envs[name] = self._stack.enter_context(scratch_environment(**given))
            await self._start_host(name)
        await self._recovered()
        for name in self._names:
            await self._new_target(name)

    async def _start_host(self, name: str) -> None:
        host = await asyncio.to_thread(BenchHost, name, self._envs[name])
        self.hosts[name] = host
        self._stack.callback(host.stop)

    async def _new_target(self, host: str) -> Target:
        number = len(self.targets)
        target = Target(f"t{number}", host, self._folder / f"typed-{number}")
        shell = ["-c", _READER.format(target.file)]
        made = await asyncio.to_thread(
            self.hosts[host].call,
            "create_session",
            name=target.name,
            host=host,
            command="bash",
            args=shell,
        )
        assert made["session_id"]
        self.targets.append(target)
        return target

    async def _recovered(self) -> None:
        """Wait until all hosts see all others."""

        def whole() -> bool:
            with suppress(Exception):
                return all(host.sees(*self._names) for host in self.hosts.values())
            return False

        await asyncio.to_thread(until, whole, "the cluster does not recover", 120)

    # --- callers ---------------------------------------------------------------------------

    async def type_lines(self, door: str) -> None:
        """Type into sessions of all hosts, one line after the other, until the series ends."""
        number, client = 0, None
        while not self._ends:
            alive = [one for one in self.targets if not one.died]
            target = alive[number % len(alive)]
            number += 1
            text = f"{door}-{number}"
            line = target.lines[text] = Line("perhaps")
            try:
                if client is None:
                    client = await Door.open(self.hosts[door])
                answer = await client.call("send_input", session=target.name, input=f"{text}\n")
                line.said, line.error = self._judge(answer), str(answer.get("error", ""))
            except (OSError, ValueError):
                client = None  # its door died: nobody knows
                await asyncio.sleep(0.1)
            self.calls += 1
            await asyncio.sleep(_PAUSE)

    def _judge(self, answer: dict[str, dict[str, str]]) -> str:
        if "result" in answer:
            return "done"
        error = answer["error"]
        if error["code"] == "INTERNAL_ERROR":
            print(f"        {error}", flush=True)
        self.errors[error["code"]] += 1
        if self._only_server:
            self.failed_by_server += 1
            print(f"        while a server was away: {error}", flush=True)
        return "perhaps" if "taken effect" in str(error) else "not"

    _only_server = False

    # --- faults ----------------------------------------------------------------------------

    async def run(self, seconds: float) -> None:
        callers = [asyncio.create_task(self.type_lines(name)) for name in self._names]
        kinds: dict[str, Callable[[], Awaitable[None]]] = {
            "server killed": self._kill_server,
            "server stopped": self._stop_server,
            "daemon killed": self._kill_daemon,
            "daemon stopped": self._stop_daemon,
            "connections cut": self._cut,
            "connections held": self._hold,
            "answers dropped": self._drop_answers,
            "connections slow": self._slow,
            "host killed": self._kill_host,
        }
        ends = time.monotonic() + seconds
        order: list[str] = []
        while time.monotonic() < ends:
            if not order:
                order = self._random.sample(sorted(kinds), len(kinds))
            kind = order.pop()
            self.faults[kind] += 1
            print(f"{ends - time.monotonic():5.0f} s left: {kind}", flush=True)
            await kinds[kind]()
            await self._recovered()
        self._ends = True
        await asyncio.gather(*callers)

    def _time(self) -> float:
        return self._random.uniform(0.2, 2 * _LOST_TIME)

    async def _kill_server(self) -> None:
        server = self._random.choice(self.servers)
        self._only_server = len(self.servers) > 1
        server.kill()
        await asyncio.sleep(self._time())
        await asyncio.to_thread(server.start)
        await asyncio.sleep(1)
        self._only_server = False

    async def _stop_server(self) -> None:
        await self._stopped(self._random.choice(self.servers).pid)

    async def _stop_daemon(self) -> None:
        await self._stopped(self.hosts[self._random.choice(self._names)].pid)

    async def _stopped(self, pid: int) -> None:
        os.kill(pid, signal.SIGSTOP)
        await asyncio.sleep(self._time())
        os.kill(pid, signal.SIGCONT)

    async def _kill_daemon(self) -> None:
        host = self.hosts[self._random.choice(self._names)]
        os.kill(host.pid, signal.SIGKILL)
        await asyncio.sleep(self._time())

    async def _kill_host(self) -> None:
        name = self._random.choice(self._names)
        for target in self.targets:
            target.died = target.died or target.host == name
        self.hosts[name].kill()
        await asyncio.sleep(_LOST_TIME + self._time())
        await self._start_host(name)
        await self._recovered()
        await self._new_target(name)

    async def _with_proxies(self, change: Callable[[Proxy], None]) -> None:
        proxies = self._proxies[self._random.choice(self._names)]
        for proxy in proxies:
            change(proxy)
        await asyncio.sleep(self._time())
        for proxy in proxies:
            proxy.cut()  # what was held is gone for good
            proxy.let_pass()

    async def _cut(self) -> None:
        def change(proxy: Proxy) -> None:
            proxy.refuses = True
            proxy.cut()

        await self._with_proxies(change)

    async def _hold(self) -> None:
        def change(proxy: Proxy) -> None:
            for event in proxy.passes.values():
                event.clear()

        await self._with_proxies(change)

    async def _drop_answers(self) -> None:
        await self._with_proxies(lambda proxy: proxy.passes["in"].clear())

    async def _slow(self) -> None:
        def change(proxy: Proxy) -> None:
            proxy.delay = self._random.uniform(0.02, 0.2)

        await self._with_proxies(change)

    # --- the check -------------------------------------------------------------------------

    async def check(self) -> int:
        """Count, after what is under way has arrived. Return how many are wrong."""
        found: Counter[str] = Counter()
        for target in self.targets:
            if not target.died:
                await self._read_out(target)
            typed = Counter(target.file.read_text().split()) if target.file.exists() else Counter()
            for text, line in target.lines.items():
                count = typed[text]
                found["lines"] += 1
                found[line.said] += 1
                found["doubled"] += count > 1
                found["lost"] += line.said == "done" and not count and not target.died
                if line.said == "not" and count > 0:
                    found["denied, but typed"] += 1
                    print(f"{text} was typed on host {target.host}, but {line.error}")
            found["never sent"] += len(typed.keys() - target.lines.keys() - {"end"})
        self._show_tracebacks()
        wrong = ("doubled", "lost", "denied, but typed", "never sent")
        table(*((kind, str(count)) for kind, count in sorted(self.faults.items())))
        table(
            ("calls", str(self.calls)),
            *((f"  answered with {code}", str(count)) for code, count in self.errors.items()),
            ("  failed while one of several servers was away", str(self.failed_by_server)),
            *((f"lines, of which the caller knows: {said}", str(found[said])) for said in _SAID),
            *((one, str(found[one])) for one in wrong),
        )
        return sum(found[one] for one in wrong)

    def _show_tracebacks(self) -> None:
        """Show what daemons logged of errors that nobody expects."""
        for name, env in self._envs.items():
            for log in Path(env["NACRE_HOME"]).rglob("daemon*"):
                if log.is_file() and "Traceback" in (text := log.read_text(errors="replace")):
                    print(f"host {name}: …{text[text.rindex('Traceback') - 500 :][:3000]}")

    async def _read_out(self, target: Target) -> None:
        """Wait until the session's program has read all that was typed before."""
        host = self.hosts[target.host]
        await asyncio.to_thread(host.call, "send_input", session=target.name, input="end\n")

        def read() -> bool:
            return target.file.exists() and target.file.read_text().endswith("end\n")

        await asyncio.to_thread(until, read, f"{target.name} does not read")


_SAID = ("done", "perhaps", "not")


async def _run(given: argparse.Namespace) -> int:
    with ExitStack() as stack:
        series = Series(stack, given.seed, given.hosts, given.servers)
        await series.start()
        await series.run(given.minutes * 60)
        return 1 if await series.check() else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=random.randrange(1000))
    parser.add_argument("--hosts", type=int, default=4, choices=range(2, 9))
    parser.add_argument("--servers", type=int, default=3, choices=(1, 3))
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    return asyncio.run(_run(given))


if __name__ == "__main__":
    sys.exit(main())
