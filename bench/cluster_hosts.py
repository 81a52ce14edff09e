"""What the benchmarks of a cluster share: real NATS servers, real daemons, callers of a door."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from nacre.client.calls import Client
from nacre.client.greeting import greeting
from nacre.client.start import connect
from nacre.settings.paths import find_paths

from scratch import scratch_environment

PATIENCE = 60.0  # seconds


class Nats:
    """A NATS server that a benchmark can kill and start again on the same port."""

    def __init__(self, folder: Path, name: str = "n1", *options: str) -> None:
        self._folder = folder
        self._options = options
        self.name = name
        self.port = -1
        self.start()

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        return self.process.pid

    def start(self) -> None:
        program = Path(sys.executable).parent / "nats-server"
        log = self._folder / f"{self.name}.log"
        command = [str(program), "-a", "127.0.0.1", "-p", str(self.port), "-js", "-l", str(log)]
        command += ["-sd", str(self._folder / self.name), "-n", self.name, *self._options]
        log.unlink(missing_ok=True)
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        until(lambda: log.exists() and "Server is ready" in log.read_text(), "NATS does not start")
        found = re.search(r"client connections on 127\.0\.0\.1:(\d+)", log.read_text())
        assert found
        self.port = int(found[1])

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


class BenchHost:
    """One host of a cluster: its keeper and daemon, and a home of its own."""

    def __init__(self, name: str, env: dict[str, str]) -> None:
        self.name = name
        self.env = env
        self.paths = find_paths(env)
        listening, ready = os.pipe()
        command = [sys.executable, "-m", "nacre", "server", "--ready-fd", str(ready)]
        with open(f"{env['NACRE_HOME']}/daemon.out", "ab") as log:
            self.keeper = subprocess.Popen(
                command, env=env, pass_fds=[ready], stdin=subprocess.DEVNULL, stderr=log
            )
        os.close(ready)
        assert os.read(listening, 1), "the daemon did not start"
        os.close(listening)

    @property
    def pid(self) -> int:
        """The daemon's; it changes when its keeper starts another."""
        return int(json.loads(Path(self.paths.state_file).read_text())["pid"])

    def client(self) -> Client:
        return Client(connect(self.paths), timeout=PATIENCE)

    def call(self, operation: str, **params: Any) -> dict[str, Any]:
        with self.client() as client:
            return client.call(operation, **params)

    def sees(self, *hosts: str, state: str = "up") -> bool:
        found = self.call("cluster_status")["hosts"]
        return set(hosts) <= {one["host"] for one in found if one["state"] == state}

    def load_all(self) -> None:
        """Have the daemon load now what it would load in the midst of a measurement."""
        port = json.loads(Path(self.paths.state_file).read_text())["port"]
        token = Path(self.paths.token_file).read_text().strip()
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/mcp",
            method="DELETE",
            headers={"Authorization": f"Bearer {token}"},
        )
        with suppress(urllib.error.HTTPError):  # there is no such MCP session
            urllib.request.urlopen(request, timeout=PATIENCE)

    def kill(self) -> None:
        """Kill daemon and keeper at once: the machine is gone."""
        pid = self.pid
        os.kill(pid, signal.SIGSTOP)  # or it starts another keeper in between
        self.keeper.kill()
        os.kill(pid, signal.SIGKILL)
        self.keeper.wait()

    def stop(self) -> None:
        if self.keeper.poll() is None:
            self.keeper.terminate()
            self.keeper.wait(PATIENCE)


@contextmanager
def cluster(names: str, server: str, **settings: object) -> Iterator[dict[str, BenchHost]]:
    """Start hosts that all see each other."""
    with ExitStack() as stack:
        made: dict[str, BenchHost] = {}
        for name in names:
            given = {"cluster": server, "cluster_host": name, **settings}
            env = stack.enter_context(scratch_environment(**given))
            made[name] = BenchHost(name, env)
            stack.callback(made[name].stop)
        for host in made.values():
            until(lambda host=host: host.sees(*made), f"{host.name} does not see all")  # type: ignore[misc]
        for host in made.values():
            host.load_all()
        yield made


def until(look: Callable[[], Any], what: str, patience: float = PATIENCE) -> float:
    """Look until it is so; return when it was first seen. Benchmarks alone may poll."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        if look():
            return time.monotonic()
        time.sleep(0.005)
    raise RuntimeError(what)


def free_ports(count: int) -> list[int]:
    """Return ports that nobody listens at now."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


class Door:
    """One caller at a door's socket, for many of them in one process."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, host: BenchHost) -> "Door":
        reader, writer = await asyncio.open_unix_connection(host.paths.socket, limit=1 << 24)
        writer.write(greeting("call", person=True, own_words=True, told=False))
        await reader.readline()
        return cls(reader, writer)

    async def call(self, operation: str, **params: Any) -> dict[str, Any]:
        """Return the answer: a `result` or an `error`. Raises ConnectionError."""
        request = {"id": 1, "operation": operation, "params": params}
        return await self.send(json.dumps(request).encode() + b"\n")

    async def send(self, line: bytes) -> dict[str, Any]:
        answer = await self.exchange(line)
        loaded: dict[str, Any] = json.loads(answer)
        return loaded

    async def exchange(self, line: bytes) -> bytes:
        self._writer.write(line)
        answer = await self._reader.readline()
        if not answer.endswith(b"\n"):
            raise ConnectionResetError("the daemon is gone")
        return answer

    def close(self) -> None:
        self._writer.close()


async def many_at_once(
    host: BenchHost, callers: int, seconds: float, line: bytes
) -> tuple[int, float]:
    """Let callers of one door repeat a call; return how many there were, and in what time."""
    doors = [await Door.open(host) for _ in range(callers)]
    began = time.perf_counter()
    ends = began + seconds
    made = 0

    async def repeat(door: Door) -> None:
        nonlocal made
        while time.perf_counter() < ends:
            answer = await door.exchange(line)
            assert b'"result"' in answer, answer[:300]
            made += 1

    work: list[Awaitable[None]] = [repeat(door) for door in doors]
    await asyncio.gather(*work)
    for door in doors:
        door.close()
    return made, time.perf_counter() - began
