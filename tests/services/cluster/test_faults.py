"""Hosts, daemons and servers die: what lives goes on, what is lost is said, nothing comes twice."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from urllib.error import HTTPError

import msgspec
import nats
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect as connect_socket

from conftest import PATIENCE
from nacre.client.calls import AnsweredError
from nacre.core.cluster.hosts import Heartbeat

from services.cluster.several_hosts import HostUnderTest, Server, permitted, start_host

Start = Callable[..., HostUnderTest]


@pytest.fixture
def start(tmp_path: Path, server: Server) -> Iterator[Start]:
    """Start a host of a cluster that other tests do not know."""
    made: list[HostUnderTest] = []

    def begin(name: str, **settings: object) -> HostUnderTest:
        given = {"cluster": server.url, **settings}
        made.append(start_host(tmp_path / name, name, str(given.pop("cluster")), **given))
        return made[-1]

    yield begin
    ends = {one.name: one.daemon.stop() for one in made if one.daemon.process.poll() is None}
    assert not any(ends.values()), ends  # also where the servers are gone


def test_a_killed_daemon_comes_back_with_its_sessions(start: Start) -> None:
    # It may take its time here: how soon a host counts as lost is another test's subject.
    patient = {"cluster_lost_time": 60}
    one, other = start("k1", **patient), start("k2", **patient)
    one.sees("k2")
    other.sees("k1")
    one.call("create_session", name="survivor", host="k2")
    one.call("run", session="survivor", command="kept=41")
    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(
            one.call, "wait_for", session="survivor", text="never", timeout_ms=50_000
        )
        os.kill(other.daemon.pid, signal.SIGKILL)
        assert one.call("get_screen", session="survivor")  # asked until the next daemon answers
        ran = one.call("run", session="survivor", command="echo $((kept + 1))")
        assert ran["output"] == "42"
        one.call("send_input", session="survivor", input="echo ne''ver\n")
        assert waits.result()["matched"]  # asked again: it changes nothing


def test_a_lost_host_is_said_and_its_names_can_be_taken(start: Start) -> None:
    one, other, third = start("l1"), start("l2"), start("l3")
    one.sees("l2", "l3")
    third.sees("l2")
    one.call("create_session", name="gone", host="l2")
    one.call("create_session", name="lives", host="l3")
    both = {"sessions": ["lives", "gone"], "timeout_ms": 50_000}
    with ThreadPoolExecutor(3) as pool:
        under_way = pool.submit(
            one.call, "wait_for", session="gone", text="never", timeout_ms=50_000
        )
        of_any = pool.submit(one.call, "wait_for", text="r''eady", **both)
        of_all = pool.submit(one.call, "wait_for", text="never", match="all", **both)
        other.kill_all()
        for alone in (under_way, of_all):
            with pytest.raises(AnsweredError, match=r"'l2' (was|is) lost"):
                alone.result()
        one.call("send_input", session="lives", input="echo \"r''eady\"\n")
        found = of_any.result()
        assert (found["matched"], found["session"]) == (True, "lives")
        assert found["hint"].startswith("not waited for: gone (host 'l2' ")
    one.sees("l2", state="lost")
    third.sees("l2", state="lost")
    found = one.call("wait_for", sessions=["gone", "lives"], state=["prompt"])
    assert (found["session"], "gone (host 'l2' is lost" in found["hint"]) == ("lives", True)
    with pytest.raises(AnsweredError, match="'l2' is lost"):
        one.call("wait_for", sessions=["gone", "l2/other"], state=["prompt"])
    listed = {entry["name"]: entry for entry in one.call("list_sessions")["sessions"]}
    assert (listed["gone"]["state"], listed["gone"]["host"]) == ("lost", "l2")
    assert "host l2 is lost" in listed["gone"]["notice"]
    assert one.call("run", session="lives", command="echo on")["output"] == "on"
    with pytest.raises(AnsweredError, match="'l2' is lost"):
        one.call("get_screen", session="gone")
    one.call("create_session", name="gone", host="l3")
    assert one.call("run", session="gone", command="echo anew")["output"] == "anew"


def test_a_host_that_comes_back_ends_the_session_whose_name_was_taken(start: Start) -> None:
    one, other = start("f1"), start("f2")
    one.sees("f2")
    one.call("create_session", name="fenced", host="f2")
    one.call("create_session", name="kept", host="f2")
    stopped = (other.daemon.pid, other.daemon.process.pid)
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    try:
        one.sees("f2", state="lost")
        one.call("create_session", name="fenced", host="f1")
    finally:
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
    one.sees("f2")

    def hosts_of(name: str) -> list[str]:
        return [
            each["host"] for each in one.call("list_sessions")["sessions"] if each["name"] == name
        ]

    one.until(lambda: hosts_of("fenced") == ["f1"], what="both are there")
    assert hosts_of("kept") == ["f2"]
    assert one.call("run", session="kept", command="echo on")["output"] == "on"


def test_without_a_server_a_host_works_alone_says_so_and_joins_later(
    start: Start, tmp_path: Path
) -> None:
    own = Server(tmp_path)
    own.kill()
    one = start("w1", cluster=own.url)
    one.call("create_session", name="early")
    assert one.call("run", session="early", command="echo alone")["output"] == "alone"
    with pytest.raises(AnsweredError, match="no session 'elsewhere' on this host, and the others"):
        one.call("get_screen", session="elsewhere")
    status = one.call("cluster_status")
    assert (status["joined"], bool(status["problem"])) == (False, True)
    assert any("works alone" in warning for warning in one.call("status")["warnings"])
    own.start()
    try:
        other = start("w2", cluster=own.url)
        other.sees("w1")
        assert other.call("get_screen", session="early")
        assert other.call("run", session="early", command="echo joined")["output"] == "joined"
        assert not one.call("status").get("warnings")
        hardy = "trap '' HUP TERM; while :; do sleep 99; done"
        pid = one.call("create_session", command=hardy, host="w1")["pid"]
    finally:
        own.kill()
    one.until(lambda: not one.call("cluster_status")["joined"], what="it is still joined")
    assert one.daemon.stop() == 0
    assert not os.path.exists(f"/proc/{pid}")


def _user(host: str) -> str:
    return f"{{ user: {host}, password: {host}, permissions: {{ {permitted(host)} }} }}"


def test_hosts_work_together_with_the_permissions_of_the_docs_and_no_more(
    start: Start, tmp_path: Path
) -> None:
    config = tmp_path / "nats.conf"
    users = ", ".join(_user(host) for host in ("p1", "p2"))
    config.write_text(f"authorization {{ users: [{users}] }}")
    own = Server(tmp_path, "-c", str(config))
    try:
        address = f"127.0.0.1:{own.port}"
        one = start("p1", cluster=f"nats://p1:p1@{address}")
        other = start("p2", cluster=f"nats://p2:p2@{address}")
        one.sees("p2")
        other.sees("p1")
        identifier = one.call("create_session", name="allowed", host="p2")["session_id"]
        assert one.call("run", session="allowed", command="echo yes")["output"] == "yes"
        assert one.call("list_sessions", session=identifier)["name"] == "allowed"
        assert {one["host"] for one in other.call("list_sessions")["sessions"]} == {"p2"}
        refused = asyncio.run(_attempts(address))
        assert refused == dict.fromkeys(refused, "denied")
    finally:
        own.kill()


async def _attempts(address: str) -> dict[str, str]:
    """Return what becomes of p1's attempts to speak as p2, or to hear what is for p2."""
    told: list[str] = []
    all_told = asyncio.Event()

    async def note(error: Exception) -> None:
        told.append(str(error).lower())
        if len(told) == len(written) + len(heard):
            all_told.set()

    written = ("nacre.hb.p2", "nacre.h.p1.call.p2", "nacre.h.p1.answer.p2.x", "$KV.nacre.h.p2")
    heard = ("nacre.h.p2.>", "nacre.h.*.call.>")
    client = await nats.connect(f"nats://p1:p1@{address}", error_cb=note)
    for subject in written:
        await client.publish(subject, b"forged")
    for subject in heard:
        await client.subscribe(subject)
    await client.flush()
    with suppress(TimeoutError):  # what was allowed is told by nobody
        await asyncio.wait_for(all_told.wait(), PATIENCE)
    await client.close()
    return {
        subject: "denied" if any(subject.lower() in line for line in told) else "allowed"
        for subject in (*written, *heard)
    }


def test_a_server_that_restarts_costs_no_session(start: Start, tmp_path: Path) -> None:
    own = Server(tmp_path)
    patient = {"cluster": own.url, "cluster_lost_time": 60}
    one, other = start("s1", **patient), start("s2", **patient)
    try:
        one.sees("s2")
        one.call("create_session", name="through", host="s2")
        one.call("run", session="through", command="n=0")
        own.kill()
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(one.call, "run", session="through", command="n=$((n + 1)); echo $n")
            assert other.call("get_screen", session="through")  # its own host needs no server
            own.start()
            assert asked.result()["output"] == "1"
        assert one.call("run", session="through", command="echo $n")["output"] == "1"
    finally:
        own.kill()


def test_a_server_that_lost_all_it_kept_is_told_again(start: Start, tmp_path: Path) -> None:
    own = Server(tmp_path)
    patient = {"cluster": own.url, "cluster_lost_time": 60}
    one, _ = start("e1", **patient), start("e2", **patient)
    try:
        one.sees("e2")
        one.call("create_session", name="before", host="e2")
        own.kill()
        shutil.rmtree(tmp_path / "store")
        own.start()

        def taken() -> bool:
            with suppress(AnsweredError):  # neither is back yet
                one.call("create_session", name="after", host="e1")
                return True
            return False

        one.until(taken, what="the store is not made anew")
        newcomer = start("e3", **patient)
        newcomer.sees("e1", "e2")
        newcomer.until(
            lambda: "before" in str(newcomer.call("list_sessions")), what="it is not told again"
        )
        assert newcomer.call("run", session="before", command="echo on")["output"] == "on"
        with pytest.raises(AnsweredError, match="already a session 'before'"):
            newcomer.call("create_session", name="before", host="e3")
    finally:
        own.kill()


def test_a_host_whose_name_is_taken_does_not_join(start: Start, tmp_path: Path) -> None:
    one, first = start("t1"), start("t2")
    one.sees("t2")
    one.call("create_session", name="real", host="t2")
    second = start_host(tmp_path / "second", "t2", one.daemon.env["NACRE_CLUSTER"])
    try:
        told = second.until(
            lambda: [
                line for line in second.call("status")["warnings"] if "has the name 't2'" in line
            ],
            what="it does not say so",
        )
        assert "cluster_host" in told[0]
        assert second.call("create_session", name="own")  # alone, as without servers
        for _ in range(3):
            assert one.call("run", session="t2/real", command="echo on")["output"] == "on"
        first.daemon.stop()
        one.sees("t2", state="left")
        second.until(lambda: second.call("cluster_status")["joined"], what="it does not join later")
    finally:
        second.daemon.stop()


def test_who_watched_through_a_daemon_that_died_no_longer_watches(start: Start) -> None:
    patient = {"cluster_lost_time": 60}
    door, owner = start("v1", **patient), start("v2", **patient)
    door.sees("v2")
    owner.sees("v1")
    door.call("create_session", name="watched", host="v2")

    def viewers() -> int:
        return int(owner.call("list_sessions", session="watched")["viewers"])

    address = f"ws{door.daemon.url[4:]}/ws/raw/watched?rows=24&cols=80"
    headers = {"Authorization": f"Bearer {door.daemon.person_token()}"}
    with suppress(ConnectionClosed), connect_socket(address, additional_headers=headers) as socket:
        socket.recv(60)
        owner.until(lambda: viewers() == 1, what="nobody watches")
        os.kill(door.daemon.pid, signal.SIGKILL)
        while True:
            socket.recv(60)  # until it is closed
    owner.until(lambda: viewers() == 0, what="it is still watched")


def test_a_host_without_room_says_so_and_another_takes_the_session(start: Start) -> None:
    one, other = start("r1"), start("r2", cluster_capacity=1)
    one.sees("r2")
    one.call("create_session", name="first", host="r2")
    with pytest.raises(AnsweredError, match=r"'r2' has no room: 1 of 1 sessions .*leave host out"):
        one.call("create_session", name="second", host="r2")
    one.call("create_session", name="second", labels=[])
    assert other.call("list_sessions", session="second")["name"] == "second"
    other.call("create_session", name="its-own", host="r2")  # its own callers have max_sessions
    with pytest.raises(AnsweredError, match="'first' on host 'r2'"):
        one.call("create_session", name="first", host="r1")


def test_a_host_of_another_version_is_refused_with_a_message(start: Start, server: Server) -> None:
    one = start("w1")
    said = Heartbeat(host="v0", incarnation="x", version="9.9.9", sessions=0, capacity=9)

    def say(**more: object) -> None:
        async def publish() -> None:
            client = await nats.connect(server.url)
            data = msgspec.msgpack.encode(msgspec.structs.replace(said, **more))
            await client.publish("nacre.hb.v0", data)
            await client.close()

        asyncio.run(publish())

    def warned() -> bool:
        say()
        return any("v0 has nacre 9.9.9" in one for one in one.call("status").get("warnings", ()))

    one.until(warned, what="nobody is warned")
    say()
    with pytest.raises(AnsweredError, match=r"not work together; upgrade the older one"):
        one.call("create_session", host="v0")
    assert one.call("create_session")["session"]  # where it can be
    ran = _nacre(one, "cluster", "hosts")
    assert "9.9.9 (does not fit)" in ran.stdout
    say(leaving=True)


def _nacre(host: HostUnderTest, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "nacre", *words],
        env=host.daemon.env,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_the_command_line_says_what_is_wrong(start: Start, server: Server) -> None:
    one, other = start("c1"), start("c2")
    one.sees("c2")
    wrong = {
        "cluster drain zz": "'zz' is unknown (there are: c1, c2",
        "cluster undrain": "name the host: nacre cluster undrain HOST",
        "cluster hosts c1": "takes no host",
        "cluster status --port 1": "--port goes with up",
        "cluster up c1": "takes no host",
        "cluster up --port 70000": "must be 1 to 65535",
        f"cluster up --port {server.port}": f"join it with nacre server --cluster {server.url}",
        "new --host zz": "'zz' is unknown (there are: c1, c2",
    }
    for words, told in wrong.items():
        ran = _nacre(one, *words.split())
        assert (ran.returncode != 0, told in ran.stderr) == (True, True), (words, ran.stderr)
    assert "takes no new sessions" in _nacre(one, "cluster", "drain", "c2").stdout
    assert "draining" in _nacre(other, "cluster", "hosts").stdout
    assert "takes new sessions" in _nacre(one, "cluster", "undrain", "c2").stdout
    assert "in its cluster: " in _nacre(other, "cluster", "status").stdout
    other.kill_all()
    one.sees("c2", state="lost")
    ran = _nacre(one, "cluster", "drain", "c2")
    assert "'c2' is lost" in ran.stderr
    assert "lost: c2" in _nacre(one, "cluster", "status").stdout


def test_the_stricter_policy_and_sandbox_of_door_and_owner_apply(start: Start) -> None:
    door, owner = start("g1", policy="guarded", sandbox="readonly"), start("g2")
    door.sees("g2")
    owner.sees("g1")
    owner.call("create_session", name="lax", host="g2")
    line = {"command": "rm -rf ~/nothing-of-value", "timeout_ms": 20_000}
    assert owner.daemon.rest("POST", "/sessions/lax/run", line)["exit_code"] == 0
    with pytest.raises(HTTPError) as refused:  # nobody is there who could be asked
        door.daemon.rest("POST", "/sessions/lax/run", line)
    assert refused.value.code == 403
    assert b"guarded" in refused.value.read()
    refused.value.close()
    bare = {"name": "bare", "host": "g2", "sandbox": "off"}
    with pytest.raises(HTTPError) as without:
        door.daemon.rest("POST", "/sessions", bare)
    assert b"of host 'g1' have a sandbox" in without.value.read()
    without.value.close()
    made = door.call("create_session", name="confined", host="g2")
    shown = owner.call("list_sessions", session=made["session_id"])
    assert shown["sandbox"] == "readonly"
