"""HTTP's server is loaded for who connects, and nobody who connects meanwhile is refused."""

import json
import urllib.request
from collections.abc import Callable
from pathlib import Path
from urllib.error import HTTPError

import pytest

from conftest import PATIENCE, Daemon

Start = Callable[..., Daemon]
_PART_OF_IT = "httptools"  # of what it alone needs: it is mapped into the process


def is_loaded(daemon: Daemon) -> bool:
    return _PART_OF_IT in Path(f"/proc/{daemon.pid}/maps").read_text()


def test_it_is_loaded_with_the_first_who_connects(own_daemon: Start) -> None:
    daemon = own_daemon()
    assert daemon.as_person("list_sessions")["sessions"] == []
    assert not is_loaded(daemon), "a client of the socket needs nothing of it"
    assert daemon.rest("GET", "/status")["pid"] == daemon.pid
    assert is_loaded(daemon)


def test_a_port_of_a_session_loads_it_too_and_one_that_was_freed_does_not(
    own_daemon: Start,
) -> None:
    daemon = own_daemon()
    gone = daemon.as_person("create_session", name="gone")
    daemon.as_person("close_session", session="gone")
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(f"http://127.0.0.1:{gone['port']}/status", timeout=PATIENCE)
    assert not is_loaded(daemon)
    port = daemon.as_person("create_session", name="here")["port"]
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/status", headers={"Authorization": f"Bearer {daemon.token}"}
    )
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        assert json.load(answer)["port"] == port
    assert is_loaded(daemon)


def test_a_daemon_that_never_loaded_it_ends_cleanly(own_daemon: Start) -> None:
    daemon = own_daemon()
    daemon.as_person("create_session", name="here")
    assert daemon.stop() == 0
    lines = (daemon.home / "daemon.log").read_text().splitlines()
    said = [json.loads(line)["message"] for line in lines]
    assert [message for message in said if "root" not in message] == ["ready", "stopping"]


def test_a_broken_library_is_said_to_who_connects_and_the_other_doors_serve(
    own_daemon: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "httptools.py").write_text("raise ImportError('undefined symbol: llhttp_init')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    daemon = own_daemon()
    early = daemon.as_person("create_session", name="early")
    for _ in range(2):
        with pytest.raises(HTTPError) as refused:
            daemon.rest("GET", "/status")
        told = json.loads(refused.value.read())["error"]
        assert (refused.value.code, told["code"]) == (503, "INTERNAL_ERROR")
        assert "log says what is broken" in told["message"]
        refused.value.close()
    late = daemon.as_person("create_session", name="late")
    for port in (early["port"], late["port"]):
        with pytest.raises(HTTPError, match="503"):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/status", timeout=PATIENCE)
    assert daemon.as_person("run", session="late", command="echo served")["output"] == "served"
    assert any("HTTP" in warning for warning in daemon.as_person("status")["warnings"])
    assert (daemon.home / "daemon.log").read_text().count("HTTP cannot be served") == 1
    assert daemon.stop() == 0
