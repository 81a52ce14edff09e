"""What a cluster costs: routed calls, idle hosts, lost hosts, and a thousand hosts.

    python bench/cluster.py [--simulated HOSTS] [--sessions EACH] [--seconds N]

Real daemons with homes of their own, and a real NATS server. Times are compared within one run; the
processor's time of each part is what a busy machine does not change much. The thousand hosts are
simulated: this process says and answers in their names what daemons do, over connections of their
own, and one real daemon is the door. docs/scale.md is computed from what this prints.
"""

import argparse
import asyncio
import itertools
import json
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import nats
from nats.aio.msg import Msg

from cluster_hosts import BenchHost, Door, Nats, cluster, many_at_once, until
from nacre import __version__
from nacre.core.cluster.carried import pack_result
from nacre.core.cluster.hosts import Heartbeat
from nacre.core.cluster.messages import AskDone, AskHost, Claim
from nacre.core.operations.results import SessionDetails, SessionList
from nacre.core.operations.sessions import ListSessions
from nacre.services.cluster.names import name_key

from scratch import cpu_of, measure, memory_of, p50, p95, table

_ROUNDS = 400
_CALLERS = 64
_LISTENERS = 50
_BEAT = 0.5  # seconds, as cluster_heartbeat


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulated", type=int, default=1000, metavar="HOSTS")
    parser.add_argument("--sessions", type=int, default=100, metavar="EACH")
    parser.add_argument("--seconds", type=float, default=5.0, help="of each measurement")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as folder:
        server = Nats(Path(folder))
        try:
            with cluster("ab", server.url) as hosts:
                routed(server, hosts["a"], hosts["b"], given.seconds)
                lost(hosts["a"], hosts["b"])
        finally:
            server.kill()
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as folder:
        server = Nats(Path(folder))
        try:
            idle(server, given.seconds * 2)
            asyncio.run(simulated(server, given.simulated, given.sessions, given.seconds))
        finally:
            server.kill()
    return 0


# --- real hosts --------------------------------------------------------------------------------


def routed(server: Nats, door: BenchHost, owner: BenchHost, seconds: float) -> None:
    for name, host in (("here", door), ("there", owner)):
        door.call("create_session", name=name, host=host.name, command="bash --norc")
    with door.client() as client:
        for name in ("here", "there"):
            client.call("get_screen", session=name)
        local = measure(lambda: client.call("get_screen", session="here"), _ROUNDS)
        remote = measure(lambda: client.call("get_screen", session="there"), _ROUNDS)
        again = measure(lambda: client.call("get_screen", session="here"), _ROUNDS)
    local += again  # before and after: others use this machine
    apart = p50(remote) - p50(local)
    print("get_screen, one caller")
    table(
        ("", "p50 ms", "p95 ms"),
        ("on the door's host", p50(local), p95(local)),
        ("on another host", p50(remote), p95(remote)),
    )
    print(f"routed above local at p50: {apart:.3f} ms (asked: 1.5)\n")
    print(f"get_screen, {_CALLERS} callers at one door; µs of the processor a call")
    rows: list[tuple[object, ...]] = [("", "calls/s", "door", "owner", "NATS", "callers", "all")]
    for title, name in (("on the door's host", "here"), ("on another host", "there")):
        request = {"id": 1, "operation": "get_screen", "params": {"session": name}}
        line = json.dumps(request).encode() + b"\n"
        pids = (door.pid, owner.pid, server.pid)
        before, ours = [cpu_of(pid) for pid in pids], time.process_time()
        made, took = asyncio.run(many_at_once(door, _CALLERS, seconds, line))
        ours = time.process_time() - ours
        used = [cpu_of(pid) - then for pid, then in zip(pids, before, strict=True)]
        each = [round(one / made * 1e6) for one in (*used, ours, sum(used) + ours)]
        rows.append((title, round(made / took), *each))
    table(*rows)
    door_time = float(str(rows[-1][2]))
    print(f"one door's own bound: {1e6 / door_time:.0f} routed calls a second (asked: 3,000)\n")


def lost(door: BenchHost, owner: BenchHost) -> None:
    owner.kill()
    killed = time.monotonic()
    with door.client() as client:

        def is_lost() -> bool:
            found = client.call("cluster_status")["hosts"]
            return any(one["host"] == owner.name and one["state"] == "lost" for one in found)

        noticed = until(is_lost, "it is not lost")
    print(f"kill -9 of a host until it is lost: {noticed - killed:.2f} s (asked: under 3)\n")


def idle(server: Nats, seconds: float) -> None:
    time.sleep(1)
    bare = _share(server.pid, seconds)
    with cluster("abcd", server.url) as hosts:
        time.sleep(3)
        began = {name: cpu_of(host.pid) for name, host in hosts.items()}
        used = _share(server.pid, seconds)
        daemon = sum(cpu_of(host.pid) - began[name] for name, host in hosts.items()) / seconds / 4
        each = a_session(hosts["a"], seconds)
    print(
        f"an idle host costs NATS {(used - bare) / 4 * 100:.3f} % of a core (asked: under 0.2); "
        f"its own daemon uses {daemon * 100:.2f} %\n{each}\n"
    )


def a_session(host: BenchHost, seconds: float, count: int = 40) -> str:
    """Say what an idle session costs its host."""
    with host.client() as client:
        before = memory_of(host.pid)
        pids = [
            client.call("create_session", host=host.name, command="bash --norc")["pid"]
            for _ in range(count)
        ]
        time.sleep(2)
        grown = (memory_of(host.pid) - before) / count
        shell = sum(_own_memory(pid) for pid in pids) / count
        used = _share(host.pid, seconds) / count
    return (
        f"an idle session: {grown:.2f} MB of the daemon, {shell:.2f} MB of its shell, "
        f"{used * 1e6:.0f} µs of the daemon's processor a second"
    )


def _own_memory(pid: int) -> float:
    """Return the memory of a process that it does not share, in MB."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1024


def _share(pid: int, seconds: float) -> float:
    before = cpu_of(pid)
    time.sleep(seconds)
    return (cpu_of(pid) - before) / seconds


# --- simulated hosts ---------------------------------------------------------------------------


async def simulated(server: Nats, count: int, sessions: int, seconds: float) -> None:
    """Register hosts and sessions, and list them through one real door."""
    print(f"{count} simulated hosts with {sessions} sessions each, one NATS server, one real door")
    empty = memory_of(server.pid)
    with cluster("z", server.url) as doors:
        [door] = doors.values()
        alone = memory_of(door.pid)
        crowd = Crowd(server.url, count, sessions)
        began = time.perf_counter()
        await crowd.join()
        joined = time.perf_counter() - began
        beating = asyncio.create_task(crowd.beat())
        began, used = time.perf_counter(), cpu_of(server.pid)
        await crowd.register()
        registered, used = time.perf_counter() - began, cpu_of(server.pid) - used
        with suppress(RuntimeError):
            await asyncio.to_thread(until, lambda: _up(door) > count, "not all are heard")
        await asyncio.sleep(2)
        keys = count * sessions * 2
        rows: list[tuple[object, ...]] = [
            ("all connected and subscribed", f"{joined:.2f} s"),
            (
                f"{keys} keys written",
                f"{registered:.1f} s, {used / keys * 1e6:.0f} µs of NATS each",
            ),
            ("memory of NATS before and after", f"{empty:.0f} and {memory_of(server.pid):.0f} MB"),
            ("memory of the door", f"{alone:.0f} and {memory_of(door.pid):.0f} MB"),
            ("hosts that the door sees up", str(await asyncio.to_thread(_up, door))),
        ]
        nats_share, door_share = await _shares(server.pid, door.pid, seconds)
        beats = count / _BEAT
        rows += [
            (
                "NATS for the heartbeats",
                f"{nats_share * 100:.1f} % of a core ({beats:.0f} a second)",
            ),
            ("the door for the heartbeats", f"{door_share * 100:.1f} % of a core"),
        ]
        each = await _delivery(server, nats_share, beats, seconds)
        rows.append(("NATS for a heartbeat that one more host hears", f"{each:.2f} µs"))
        client = await Door.open(door)
        for limit in (20, 100):
            times = await _listed(client, limit)
            rows.append(
                (
                    f"a page of {limit}: p50, p95",
                    f"{p50(times):.0f}, {p95(times):.0f} ms (asked: 200)",
                )
            )
        names = await _found(client, crowd)
        rows.append(("a session by its name, asked the first time: p50", f"{p50(names):.2f} ms"))
        table(*rows)
        client.close()
        beating.cancel()
        await crowd.leave()


async def _delivery(server: Nats, share: float, beats: float, seconds: float) -> float:
    """Return what NATS pays for each listener of a heartbeat, in µs: all hosts hear all others."""

    async def listen() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b'CONNECT {"verbose":false}\r\nSUB nacre.hb.* 1\r\n')
        while part := await reader.read(1 << 20):
            if b"PING\r\n" in part:
                writer.write(b"PONG\r\n")

    listening = [asyncio.create_task(listen()) for _ in range(_LISTENERS)]
    await asyncio.sleep(1)
    used, _ = await _shares(server.pid, server.pid, seconds)
    for task in listening:
        task.cancel()
    return (used - share) / (beats * _LISTENERS) * 1e6


def _up(door: BenchHost) -> int:
    found = door.call("cluster_status")["hosts"]
    return sum(one["state"] in ("up", "suspect") for one in found)


async def _shares(server: int, door: int, seconds: float) -> tuple[float, float]:
    before = cpu_of(server), cpu_of(door)
    await asyncio.sleep(seconds)
    return (cpu_of(server) - before[0]) / seconds, (cpu_of(door) - before[1]) / seconds


async def _listed(client: Door, limit: int) -> list[float]:
    """Go through pages; return the milliseconds of each."""
    times, more = [], {}
    for _ in range(30):
        began = time.perf_counter()
        answer = await client.call("list_sessions", limit=limit, **more)
        times.append((time.perf_counter() - began) * 1000)
        page = answer["result"]
        assert page["sessions"], page
        more = {"cursor": page["next_cursor"]}
    return times


async def _found(client: Door, crowd: "Crowd") -> list[float]:
    times = []
    for number in range(0, crowd.count, max(1, crowd.count // 50)):
        began = time.perf_counter()
        await client.call("list_sessions", session=crowd.session(number, 0).name)
        times.append((time.perf_counter() - began) * 1000)
    return times


class Crowd:
    """Hosts that are not there: each has a connection, is heard, and answers for its sessions."""

    def __init__(self, url: str, count: int, sessions: int) -> None:
        self._url = url
        self.count = count
        self._sessions = sessions
        self._clients: list[Any] = []

    @staticmethod
    def name(host: int) -> str:
        return f"h{host:04d}"

    def session(self, host: int, number: int) -> SessionDetails:
        name = f"s-{host:04d}-{number:03d}"
        return SessionDetails(
            name=name,
            session_id=f"{host:04x}{number:04x}",
            port=20000 + number,
            pid=1000 + number,
            command="bash --norc",
            shell="/bin/bash",
            rows=24,
            cols=80,
            running=True,
            alive=True,
            idle_seconds=0,
            state="prompt",
            cwd=f"/home/user/projects/{name}",
            created=1_700_000_000.0 + number,
        )

    async def join(self) -> None:
        async def one(host: int) -> Any:
            client = await nats.connect(self._url, connect_timeout=30)
            name = self.name(host)

            async def came(message: Msg) -> None:
                await self._answer(client, host, message)

            await client.subscribe(f"nacre.h.{name}.call.*", cb=came)
            for subject in ("answer.>", "stream.*", "shown.>"):
                await client.subscribe(f"nacre.h.{name}.{subject}")
            await client.flush(30)
            return client

        for first in range(0, self.count, 50):
            several = range(first, min(first + 50, self.count))
            self._clients += await asyncio.gather(*map(one, several))

    async def leave(self) -> None:
        for client in self._clients:
            with suppress(Exception):
                await client.close()

    async def beat(self) -> None:
        """Say of each host what daemons say, evenly over the time of a beat."""
        said = [
            msgspec.msgpack.encode(
                Heartbeat(
                    host=self.name(host),
                    incarnation="simulated",
                    version=__version__,
                    sessions=self._sessions,
                    capacity=self._sessions * 2,
                )
            )
            for host in range(self.count)
        ]
        slices = 10
        began = time.perf_counter()
        for turn in itertools.count(1):
            for host in range(turn % slices, self.count, slices):
                await self._clients[host].publish(f"nacre.hb.{self.name(host)}", said[host])
            await asyncio.sleep(max(0.0, began + turn * _BEAT / slices - time.perf_counter()))

    async def register(self) -> None:
        """Write the names and the facts of all sessions, as daemons do."""

        async def of_host(host: int) -> None:
            store = self._clients[host].jetstream(timeout=60)
            claim = msgspec.msgpack.encode(Claim(self.name(host)))
            for number in range(self._sessions):
                session = self.session(host, number)
                place = f"s.{self.name(host)}.{session.session_id}"
                for key, value in (
                    (name_key(session.name), claim),
                    (place, msgspec.msgpack.encode(session)),
                ):
                    await store.publish(f"$KV.nacre.{key}", value)

        for first in range(0, self.count, 100):
            await asyncio.gather(*map(of_host, range(first, min(first + 100, self.count))))

    async def _answer(self, client: Any, host: int, message: Msg) -> None:
        with suppress(msgspec.DecodeError):
            ask = msgspec.msgpack.decode(message.data, type=AskHost)
            if ask.operation != "list_sessions":
                return
            request = msgspec.msgpack.decode(ask.params, type=ListSessions)
            if request.session is not None:
                number = int(str(request.session).rpartition("-")[2])
                result: Any = self.session(host, number)
            else:
                result = self._page(host, request)
            done = AskDone(*pack_result(result))
            await client.publish(message.reply, msgspec.msgpack.encode(done))

    def _page(self, host: int, request: ListSessions) -> SessionList:
        first = 0
        if request.cursor is not None:
            first = int(request.cursor.rpartition("/")[2][4:], 16) + 1
        last = min(first + (request.limit or self._sessions), self._sessions)
        listed = [self.session(host, number) for number in range(first, last)]
        return SessionList(
            sessions=listed, next_cursor="more" if listed and last < self._sessions else None
        )


if __name__ == "__main__":
    sys.exit(main())
