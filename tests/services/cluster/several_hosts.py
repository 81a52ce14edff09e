"""A real NATS server, and daemons with homes of their own that join it."""

import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conftest import PATIENCE, Daemon, start_daemon
from nacre.client.calls import Client
from nacre.client.start import connect
from nacre.settings.paths import find_paths


class Server:
    """A NATS server that a test can kill and start again on the same port."""

    def __init__(self, folder: Path, *options: str, store: bool = True) -> None:
        self._folder = folder
        self._store = ["-js", "-sd", str(folder / "store")] if store else []
        self._options = options
        self.port = -1
        self.start()

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    def start(self) -> None:
        program = Path(sys.executable).parent / "nats-server"
        command = [str(program), "-a", "127.0.0.1", "-p", str(self.port)]
        command += [*self._store, *self._options]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        told = ""
        while "Server is ready" not in told:
            line = self.process.stderr.readline()
            assert line, told
            told += line
        found = re.search(r"client connections on 127\.0\.0\.1:(\d+)", told)
        assert found, told
        self.port = int(found[1])

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)
        assert self.process.stderr is not None
        self.process.stderr.close()


def permitted(host: str) -> str:
    """Return what docs/cluster.md lets a host do, as a server's configuration."""
    page = (Path(__file__).parents[3] / "docs" / "cluster.md").read_text(encoding="utf-8")
    lines = dict(
        line.strip("| ").split(" | ", 1)
        for line in page.splitlines()
        if line.startswith(("| publish |", "| subscribe |"))
    )
    rights = []
    for way, subjects in lines.items():
        named = [one.strip(" `|") for one in subjects.split(",")]
        quoted = ", ".join(f'"{_of_host(one, host)}"' for one in named)
        rights.append(f"{way}: [{quoted}]")
    return ", ".join(rights)


def _of_host(subject: str, host: str) -> str:
    parts = [host if part == "H" else part for part in subject.split(".")]
    return ".".join(parts).replace("_INBOX_H", f"_INBOX_{host}")


class HostUnderTest:
    """One host: its daemon, and what a person does at its command line."""

    def __init__(self, name: str, daemon: Daemon) -> None:
        self.name = name
        self.daemon = daemon

    def call(self, operation: str, **params: Any) -> dict[str, Any]:
        with self.client() as client:
            return client.call(operation, **params)

    def client(self) -> Client:
        return Client(connect(find_paths(self.daemon.env)), timeout=PATIENCE)

    def until(self, look: Callable[[], Any], *, what: str) -> Any:
        """Look again each time that the cluster says something: it has a beat."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if found := look():
                return found
            self.call("status")
        raise AssertionError(what)

    def sees(self, *hosts: str, state: str = "up") -> None:
        """Wait until this host sees others in a state."""

        def look() -> bool:
            found = self.call("cluster_status")["hosts"]
            return set(hosts) <= {one["host"] for one in found if one["state"] == state}

        self.until(look, what=f"{self.name} does not see {hosts} {state}")

    def kill_all(self) -> None:
        """Kill the daemon and its keeper at once: the machine is gone."""
        pid = self.daemon.pid
        os.kill(pid, signal.SIGSTOP)  # or it starts another keeper in between
        self.daemon.process.send_signal(signal.SIGKILL)
        os.kill(pid, signal.SIGKILL)
        self.daemon.process.wait(PATIENCE)


def start_host(folder: Path, name: str, server: str, **settings: object) -> HostUnderTest:
    folder.mkdir(exist_ok=True)
    given = {"cluster": server, "cluster_host": name, **settings}
    return HostUnderTest(name, start_daemon(folder, **given))


def metrics(host: HostUnderTest) -> str:
    headers = {"Authorization": f"Bearer {host.daemon.token}"}
    request = urllib.request.Request(f"{host.daemon.url}/metrics", headers=headers)
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return str(answer.read().decode())
