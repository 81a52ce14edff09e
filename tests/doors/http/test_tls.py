"""Other machines: served over TLS alone, by names that are known, with a token."""

import http.client
import json
import socket
import ssl
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import PATIENCE, Daemon

from doors.wire import http_call

ELSEWHERE = "127.0.0.2"  # loopback's other addresses are not where the daemon listens


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("tls")
    cert, key = folder / "cert.pem", folder / "key.pem"
    line = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=box"
    names = f"subjectAltName=DNS:box,IP:{ELSEWHERE}"
    subprocess.run(
        [*line.split(), "-addext", names, "-keyout", str(key), "-out", str(cert)],
        check=True,
        capture_output=True,
    )
    key.chmod(0o600)
    return cert, key


def test_other_machines_come_in_over_tls_with_a_token_and_a_known_name(
    own_daemon: Callable[..., Daemon], certificate: tuple[Path, Path]
) -> None:
    cert, key = certificate
    daemon = own_daemon(
        host="0.0.0.0",
        host_port=0,
        host_names="box, other.example",
        tls_cert=cert,
        tls_key=key,
        token="t" * 20,
        log_level="info",
        header_time=5,
        max_unknown_connections=4,
    )
    assert http_call(daemon, "GET", "/api/status", token="t" * 20).status == 200
    lines = (daemon.home / "daemon.log").read_text().splitlines()
    [port] = [
        line["port"]
        for line in map(json.loads, lines)
        if line["message"] == "serving other machines"
    ]
    many = [socket.create_connection((ELSEWHERE, port), timeout=PATIENCE / 2) for _ in range(5)]
    assert many[0].recv(1) == b""  # the oldest of too many without a handshake
    assert "over 4 connections have not shaken" in (daemon.home / "daemon.log").read_text()
    for one in many[:-1]:
        one.close()
    silent = many[-1]
    told = http_call(daemon, "GET", "/api/status", token="t" * 20).json
    assert told["beyond_url"] == f"https://box:{port}"
    context = ssl.create_default_context(cafile=str(cert))

    def status(host: str, token: str | None = "t" * 20, **headers: str) -> int:
        connection = http.client.HTTPSConnection(ELSEWHERE, port, timeout=PATIENCE, context=context)
        sent = {"Host": host, **headers}
        if token is not None:
            sent["Authorization"] = f"Bearer {token}"
        connection.request("GET", "/api/status", headers=sent)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer.status

    assert status(f"box:{port}") == 200
    assert status(f"{ELSEWHERE}:{port}") == 200
    assert status(f"OTHER.example:{port}", Origin=f"https://other.example:{port}") == 200
    assert status(f"box:{port}", token=None) == 401
    assert status(f"evil.example:{port}") == 421
    assert status(f"127.0.0.1:{port}") == 421
    assert status("box") == 421
    assert status(f"box:{port}", Origin=f"http://box:{port}") == 403
    plain = http.client.HTTPConnection(ELSEWHERE, port, timeout=PATIENCE)
    plain.request("GET", "/api/status", headers={"Host": f"box:{port}"})
    with pytest.raises((http.client.HTTPException, ConnectionError)):
        plain.getresponse()
    plain.close()
    assert silent.recv(1) == b""  # it was waited for, but not for long
    silent.close()
