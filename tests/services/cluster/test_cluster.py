"""Four hosts, one cluster: what is asked at one door is done where the session is."""

import asyncio
import json
import subprocess
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import nats
import pytest
from websockets.sync.client import connect as connect_socket

from conftest import PATIENCE
from nacre.client.calls import AnsweredError

from services.cluster.several_hosts import HostUnderTest, Server, metrics

Hosts = dict[str, HostUnderTest]


def made(hosts: Hosts, name: str, on: str, door: str = "a") -> str:
    created = hosts[door].call("create_session", name=name, host=on, command="bash --norc")
    return str(created["session_id"])


def test_a_run_on_another_host_has_its_output_and_exit_code(hosts: Hosts) -> None:
    made(hosts, "run-b", "b")
    ran = hosts["a"].call("run", session="run-b", command="echo here; (exit 7)")
    assert (ran["output"], ran["exit_code"], ran["ended_by"]) == ("here", 7, "mark")
    page = hosts["c"].call("read_run", run_id=ran["run_id"])  # nobody asked for it at this door
    assert page["output"] == "here"


def test_what_was_answered_to_who_made_a_session_is_known_should_its_host_be_lost_now(
    hosts: Hosts, shared_server: Server
) -> None:
    """Many at once: what its host knows, and the cluster does not, has its longest time then."""

    async def look(identifier: str) -> None:
        client = await nats.connect(shared_server.url)
        try:
            store = await client.jetstream().key_value("nacre")
            await store.get(f"s.d.{identifier}")  # raises KeyNotFoundError
        finally:
            await client.close()

    def make(number: int) -> None:
        made = hosts["d"].call("create_session", name=f"known{number}", host="d", command="cat")
        asyncio.run(look(made["session_id"]))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(make, range(24))) == [None] * 24
    for number in range(24):
        hosts["d"].call("manage_session", session=f"known{number}", action="kill")


def test_an_answer_is_the_same_at_every_door(hosts: Hosts) -> None:
    made(hosts, "same", "c")
    hosts["a"].call("run", session="same", command="printf '\\033[31mred\\033[0m\\n'")
    hosts["a"].call("wait_for", session="same", state=["prompt"], quiet_ms=300)
    screens = [hosts[door].call("get_screen", session="same") for door in "abcd"]
    assert screens[1:] == screens[:1] * 3
    with pytest.raises(AnsweredError) as there:
        hosts["c"].call("get_scrollback", session="same", offset=-1)
    with pytest.raises(AnsweredError) as here:
        hosts["a"].call("get_scrollback", session="same", offset=-1)
    assert here.value.args == there.value.args


def test_a_session_is_found_by_name_id_and_host(hosts: Hosts) -> None:
    identifier = made(hosts, "found", "d")
    for reference in ("found", identifier, "d/found"):
        details = hosts["b"].call("list_sessions", session=reference)
        assert (details["session_id"], details["host"]) == (identifier, "d")
    assert "rows" in hosts["b"].daemon.rest("GET", "/sessions/d%2ffound/screen")
    ran = hosts["b"].daemon.rest("POST", "/sessions/d%2Ffound/run", {"command": "echo there"})
    assert ran["output"] == "there"
    with pytest.raises(urllib.error.HTTPError) as unknown:
        hosts["b"].daemon.rest("GET", "/sessions/d%2Fnone/none")
    assert b"/sessions/d%2Fnone/none" in unknown.value.read()
    unknown.value.close()


def test_the_page_of_another_hosts_session_is_that_of_the_door(hosts: Hosts) -> None:
    made(hosts, "paged", "b")
    page = hosts["a"].call("open_page", session="b/paged")["url"]
    assert page.startswith(f"{hosts['a'].daemon.url}/#code=")
    assert page.endswith("&session=paged")
    with pytest.raises(AnsweredError, match="no session 'unpaged'"):
        hosts["a"].call("open_page", session="b/unpaged")


def test_events_of_another_hosts_session_say_where_they_are(hosts: Hosts) -> None:
    made(hosts, "eventful", "b")
    asked = subprocess.run(
        [sys.executable, "-m", "nacre", "events", "eventful"],
        env=hosts["a"].daemon.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "it is on host 'b'; run this command there" in asked.stderr
    assert asked.returncode == 3


def test_an_unknown_run_of_another_hosts_session_is_told_as_such(hosts: Hosts) -> None:
    made(hosts, "runs-none", "b")
    with pytest.raises(AnsweredError, match="no run 'none'"):
        hosts["a"].call("wait_for", session="runs-none", run_id="none")


def test_names_are_unique_over_all_hosts(hosts: Hosts) -> None:
    made(hosts, "taken", "a")
    with pytest.raises(AnsweredError, match="already a session 'taken'"):
        made(hosts, "taken", "b")
    with ThreadPoolExecutor(4) as pool:
        for race in range(5):
            tries = [pool.submit(made, hosts, f"race-{race}", on, on) for on in "abcd"]
            assert [one.exception() is None for one in tries].count(True) == 1


def test_the_name_of_an_ended_session_is_free_on_every_host(hosts: Hosts) -> None:
    made(hosts, "ended", "b")
    hosts["a"].call("send_input", session="ended", input="exit\n")
    hosts["a"].call("wait_for", session="ended", state=["exited"], timeout_ms=30_000)
    made(hosts, "ended", "c")
    assert hosts["b"].call("run", session="ended", command="echo new")["output"] == "new"


def test_a_killed_session_frees_its_name(hosts: Hosts) -> None:
    made(hosts, "killed", "b")
    hosts["c"].call("manage_session", session="killed", action="kill")
    hosts["c"].until(
        lambda: (
            "killed" not in {one["name"] for one in hosts["c"].call("list_sessions")["sessions"]}
        ),
        what="it is still listed",
    )
    assert made(hosts, "killed", "d")


def test_a_renamed_session_is_found_by_its_new_name(hosts: Hosts) -> None:
    made(hosts, "before", "b")
    hosts["a"].call("manage_session", session="before", action="rename", new_name="after")
    assert hosts["c"].call("run", session="after", command="echo ok")["output"] == "ok"
    with pytest.raises(AnsweredError, match="already a session 'after'"):
        made(hosts, "after", "d")


def test_lists_have_the_sessions_of_all_hosts(hosts: Hosts) -> None:
    for on in "abcd":
        made(hosts, f"listed-{on}", on)
    for door in "ad":
        found = {one["name"]: one["host"] for one in hosts[door].call("list_sessions")["sessions"]}
        assert {name: found[name] for name in found if name.startswith("listed-")} == {
            f"listed-{on}": on for on in "abcd"
        }


def test_who_makes_a_session_is_told_which_host_took_it(hosts: Hosts) -> None:
    for on in "ab":
        for operation, given in (
            ("create_session", {"command": "cat"}),
            ("start_session", {"shell": "bash"}),
            ("launch_app", {"command": "cat"}),
        ):
            created = hosts["a"].call(operation, host=on, **given)
            assert created["host"] == on
            anew = hosts["a"].call("restart_session", session=created["session_id"])
            assert anew["host"] == on
            hosts["a"].call("close_session", session=created["session_id"])
        taken = hosts["a"].daemon.rest("POST", "/sessions", {"labels": [on]})
        assert taken["host"] == on
        hosts["a"].call("close_session", session=taken["session"])
    ran = subprocess.run(
        [sys.executable, "-m", "nacre", "new", "told-where", "--host", "b"],
        env=hosts["a"].daemon.env,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert (ran.stdout, ran.stderr, ran.returncode) == ("told-where\n", "nacre: on host b\n", 0)


def test_one_wait_is_over_sessions_on_several_hosts(hosts: Hosts) -> None:
    for on in "bcd":
        made(hosts, f"wait-{on}", on)
    names = [f"wait-{on}" for on in "bcd"]
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(
            hosts["a"].call, "wait_for", sessions=names, text="r''eady", timeout_ms=30_000
        )
        hosts["c"].call("send_input", session="wait-d", input="echo \"r''eady\"\n")
        found = waiting.result()
    assert (found["matched"], found["session"]) == (True, "wait-d")
    assert "hint" not in found
    for order in (names, names[::-1]):
        every = hosts["a"].call("wait_for", sessions=order, match="all", state=["prompt"])
        assert every["matches"] == order


def test_a_new_session_goes_to_a_host_with_its_labels(hosts: Hosts) -> None:
    created = hosts["a"].call("create_session", name="labelled", labels=["c", "any"])
    assert (
        hosts["b"].call("list_sessions", session="labelled")["session_id"] == created["session_id"]
    )
    assert "labelled" in {
        one["name"] for one in hosts["c"].call("list_sessions")["sessions"] if one["host"] == "c"
    }
    with pytest.raises(AnsweredError, match="no host with the labels nowhere has room"):
        hosts["a"].call("create_session", labels=["nowhere"])


def test_without_a_wish_the_least_loaded_host_takes_it(hosts: Hosts) -> None:
    def loads() -> dict[str, int]:
        return {one["host"]: one["sessions"] for one in hosts["a"].call("cluster_status")["hosts"]}

    least = min(loads().items(), key=lambda one: one[1])[0]
    for host in set(hosts) - {least}:
        for number in range(6):
            made(hosts, f"load-{host}-{number}", host)
    hosts["a"].until(
        lambda: loads()[least] < min(count for one, count in loads().items() if one != least),
        what="the others are not heard",
    )
    identifier = hosts["a"].call("create_session", name="anywhere")["session_id"]
    listed = hosts["a"].call("list_sessions")["sessions"]
    assert [one["host"] for one in listed if one["session_id"] == identifier] == [least]


def test_an_unknown_host_is_named_with_those_that_are_there(hosts: Hosts) -> None:
    with pytest.raises(AnsweredError, match=r"'zz' is unknown \(there are: a, b, c, d\)"):
        hosts["a"].call("create_session", host="zz")
    with pytest.raises(AnsweredError, match=r"no host 'zz'"):
        hosts["a"].call("get_screen", session="zz/dev")


def test_a_draining_host_takes_no_new_sessions_and_keeps_those_it_has(hosts: Hosts) -> None:
    made(hosts, "stays", "b")
    hosts["a"].call("drain_host", host="b")
    hosts["c"].until(
        lambda: [one for one in hosts["c"].call("cluster_status")["hosts"] if one["draining"]],
        what="b does not drain",
    )
    with pytest.raises(AnsweredError, match="'b' is draining"):
        made(hosts, "too-late", "b", door="c")
    assert hosts["d"].call("run", session="stays", command="echo on")["output"] == "on"
    hosts["c"].call("drain_host", host="b", draining=False)
    hosts["a"].until(
        lambda: not any(one["draining"] for one in hosts["a"].call("cluster_status")["hosts"]),
        what="b still drains",
    )
    assert made(hosts, "in-time", "b")


def test_the_scope_of_a_token_holds_on_the_host_that_has_the_session(hosts: Hosts) -> None:

    made(hosts, "guarded", "b")
    made(hosts, "hidden", "b")
    door = hosts["a"].daemon
    token = door.as_person("create_token", scope="observe", session_names=["guarded"])["token"]

    def rest(method: str, path: str, body: object = None) -> object:
        request = urllib.request.Request(
            f"{door.url}/api{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {token}"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    assert rest("GET", "/sessions/guarded/screen")
    for path, status in (("/sessions/hidden/screen", 404), ("/sessions/guarded/run", 403)):
        method = "GET" if path.endswith("screen") else "POST"
        with pytest.raises(urllib.error.HTTPError) as refused:
            rest(method, path, None if method == "GET" else {"command": "true"})
        assert refused.value.code == status
        refused.value.close()
    listed = rest("GET", "/sessions")
    assert isinstance(listed, dict)
    assert [one["name"] for one in listed["sessions"]] == ["guarded"]


def test_the_command_line_streams_a_run_of_another_host(hosts: Hosts) -> None:
    made(hosts, "streamed", "c")
    command = [sys.executable, "-m", "nacre", "run", "streamed", "--", "seq 3; (exit 4)"]
    ran = subprocess.run(
        command,
        env=hosts["a"].daemon.env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert (ran.stdout, ran.returncode) == ("1\n2\n3\n", 4)


def test_long_answers_and_questions_go_in_parts(hosts: Hosts) -> None:
    made(hosts, "long", "d")
    ran = hosts["a"].call("run", session="long", command="seq 1 200000", max_chars=500_000)
    assert len(ran["output"]) > 400_000
    assert ran["output"].splitlines()[:3] + ran["output"].splitlines()[-1:] == [*"123", "200000"]
    text = "x" * 700_000
    hosts["b"].call("put_file", session="long", path="/tmp/nacre-parts", content=text)
    found = hosts["c"].call(
        "run", session="long", command="wc -c </tmp/nacre-parts; rm /tmp/nacre-parts"
    )
    assert found["output"].strip() == "700000"


def test_who_follows_all_is_told_of_the_sessions_of_all_hosts(hosts: Hosts) -> None:
    made(hosts, "followed", "b")
    door = hosts["d"].daemon
    address = f"ws{door.url[4:]}/ws/json"
    with connect_socket(
        address, additional_headers={"Authorization": f"Bearer {door.token}"}
    ) as socket:
        socket.send(
            json.dumps({"id": 1, "method": "subscribe", "params": {"events": ["sessions"]}})
        )
        firsts: list[str] = []
        for told in socket:
            event = json.loads(told)
            if "event" in event:
                firsts.append(event["event"])
            if event.get("event") == "sync":
                assert ("followed", "b") in {
                    (one["name"], one["host"]) for one in event["sessions"]
                }
                made(hosts, "followed-later", "c")
            if event.get("change") == "created" and event["session"] == "followed-later":
                assert event["details"]["host"] == "c"
                break
    assert firsts[0] == "sync"


def test_a_person_types_at_the_screen_of_a_session_on_another_host(hosts: Hosts) -> None:
    made(hosts, "typed", "c")
    door = hosts["a"].daemon
    address = f"ws{door.url[4:]}/ws/raw/typed?rows=24&cols=80"
    headers = {"Authorization": f"Bearer {door.person_token()}"}
    shown = b""
    with connect_socket(address, additional_headers=headers) as socket:
        socket.send(b"echo $((40 + 2))-typed\n")
        while b"42-typed" not in shown:
            part = socket.recv(60)
            shown += part if isinstance(part, bytes) else b""


def test_pages_of_a_list_are_the_same_at_every_door(hosts: Hosts) -> None:
    for on in "abcd":
        for number in range(3):
            made(hosts, f"paged-{on}-{number}", on)

    def paged(door: str) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        more: dict[str, str] = {}
        while True:
            page = hosts[door].call("list_sessions", limit=5, **more)
            assert len(page["sessions"]) <= 5
            found += [(one["host"], one["name"]) for one in page["sessions"]]
            if "next_cursor" not in page:
                return found
            more = {"cursor": page["next_cursor"]}

    whole = [
        (one["host"], one["name"])
        for one in hosts["a"].call("list_sessions", max_chars=10_000_000)["sessions"]
    ]
    assert [host for host, _ in paged("a")] == sorted(host for host, _ in whole)
    assert sorted(paged("a")) == sorted(paged("d")) == sorted(whole)
    assert paged("a") == paged("d")
    short = hosts["b"].call("list_sessions", max_chars=4000)  # no room for all about each
    assert all(one["details_left_out"] and one["host"] for one in short["sessions"])
    with pytest.raises(AnsweredError, match="cursor"):
        hosts["a"].call("list_sessions", cursor="nonsense")


def test_a_call_has_one_id_in_the_audits_of_both_hosts(hosts: Hosts) -> None:
    made(hosts, "audited", "b")
    hosts["a"].call("run", session="audited", command="echo for the record")

    def records(host: str, *conditions: str) -> list[dict[str, object]]:
        command = [sys.executable, "-m", "nacre", "audit", "query", "--json", *conditions]
        ran = subprocess.run(
            command, env=hosts[host].daemon.env, capture_output=True, text=True, check=True
        )
        return [json.loads(line) for line in ran.stdout.splitlines()]

    [ran] = records("b", "--text", "for the record", "--kind", "run")
    request = str(ran["request"])
    there = records("b", "--request", request)
    assert {"input", "run"} <= {one["kind"] for one in there}
    assert {one["caller"]["via"] for one in there} == {"a"}  # type: ignore[index]
    [here] = records("a", "--request", request)
    told = (here["kind"], here["operation"], here["host"], here["session"], here["outcome"])
    assert told == ("call", "run", "b", "audited", "ok")


def test_metrics_tell_of_hosts_and_routed_calls(hosts: Hosts) -> None:
    made(hosts, "measured", "c", door="d")
    hosts["d"].call("get_screen", session="measured")
    with pytest.raises(AnsweredError):
        hosts["d"].call("get_screen", session="c/nothing")
    text = metrics(hosts["d"])
    found = dict(line.rsplit(" ", 1) for line in text.splitlines() if line[0] != "#")
    assert found['nacre_cluster_hosts{state="up"}'] == "4"
    assert int(found['nacre_cluster_call_seconds_count{tool="get_screen"}']) >= 2
    failed = 'nacre_cluster_errors_total{tool="get_screen",code="SESSION_NOT_FOUND"}'
    assert int(found[failed]) >= 1
    for way in ("in", "out"):
        assert int(found[f'nacre_cluster_bytes_total{{way="{way}"}}']) > 0
    served = metrics(hosts["c"]).split("\nnacre_cluster_served_total ")[1]
    assert int(served.split()[0]) > 0


def test_a_session_of_another_host_has_a_port_here(hosts: Hosts) -> None:
    """A SILC caller knows a session by its port: that must not be another session's."""
    started = hosts["a"].call("start_session", name="ported", host="b")
    port, there = started["port"], hosts["b"].call("list_sessions", session="ported")["port"]
    local = hosts["a"].call("create_session", name="ported-here", host="a")["port"]
    assert len({port, local}) == 2
    assert hosts["a"].call("run", session=port, command="echo by port")["output"] == "by port"
    token = hosts["a"].daemon.token
    ran = _at_port(port, token, "POST", "/run", {"command": "echo $((40 + 2))"})
    assert json.loads(ran)["output"] == "42"
    assert json.loads(_at_port(port, token, "GET", "/"))["session"] == "ported"
    listed = {one["name"]: one["port"] for one in hosts["a"].call("list_sessions")["sessions"]}
    assert (listed["ported"], listed["ported-here"]) == (port, local)
    at_owner = {one["name"]: one["port"] for one in hosts["b"].call("list_sessions")["sessions"]}
    assert at_owner["ported"] == there
    _at_port(port, token, "POST", "/close")
    hosts["a"].until(
        lambda: (
            "ported" not in {one["name"] for one in hosts["a"].call("list_sessions")["sessions"]}
        ),
        what="it is still listed",
    )
    with pytest.raises(AnsweredError, match="no session"):
        hosts["a"].call("get_screen", session=port)
    with pytest.raises(urllib.error.URLError, match="refused"):
        _at_port(port, token, "GET", "/status")


def _at_port(port: int, token: str, method: str, path: str, body: object = None) -> bytes:
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token}"}
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", data, headers=headers, method=method
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return bytes(answer.read())
