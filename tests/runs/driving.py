"""Drive real shells through the run operation, one step after the other.

Rule: nothing here sleeps. A step ends with what it waits for; PATIENCE only bounds a failure.
"""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from nacre.core.operations.results import RunOutcome
from nacre.core.operations.runs import ReadRun, WaitFor
from nacre.core.operations.runs import Run as RunRequest
from nacre.core.operations.sessions import CreateSession
from nacre.services.session.session import Session
from nacre.services.wiring import Services, build_services
from nacre.settings.table import Settings

from runs.corpus import Case, Keys, Page, Resize, Run, Screen, Signal, Step, Wait
from services.living import CALLER, PATIENCE, until

NATIVE = ("bash", "zsh", "fish")

# What makes the surroundings the same for everybody; zsh asks a new user questions without an rc.
# fish reads all manual pages for completions, seconds of a processor, where that folder is missing.
_HOME = {
    ".zshrc": "PS1='zsh> '\n",
    ".bashrc": "PS1='bash> '\n",
    ".config/fish/config.fish": "",
    ".local/share/fish/generated_completions/none": "",
}


@asynccontextmanager
async def at_work(folder: Path, **settings: Any) -> AsyncIterator[Services]:
    """Services with shell integration; their sessions are ended when the block is left."""
    runtime = folder / "runtime"
    runtime.mkdir(mode=0o700)
    given = {"kill_grace": 0.2, **settings}
    services = build_services(
        Settings(**given), descriptor_limit=1024, home=str(folder), runtime=str(runtime)
    )
    try:
        yield services
    finally:
        await services.sessions.end_all()
        services.ports.close()
        for session in services.registry.all():
            session.close()


def make_home(folder: Path, files: dict[str, str]) -> Path:
    home = folder / "home"
    for name, text in {**_HOME, **files}.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return home


def shell_path(shell: str, folder: Path) -> str:
    """Return where a shell lies; busybox's is called by a link. A missing one fails the test."""
    if shell != "ash":
        return require(shell)
    link = folder / "ash"
    if not link.is_symlink():
        link.symlink_to(require("busybox"))
    return str(link)


def require(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        pytest.fail(f"{program} is not installed; 'make test' installs it", pytrace=False)
    return found


def surroundings(home: Path, extra: dict[str, str]) -> dict[str, str]:
    return {
        "HOME": str(home),
        "ZDOTDIR": "",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "HISTFILE": "",
        "PS1": "$ ",
        "PROMPT_COMMAND": "",
        "ENV": "",
        "LESS": "",
        "PAGER": "less",
        "MANPAGER": "less",
        "PYTHONSTARTUP": "",
        "NODE_REPL_HISTORY": "",
        "fish_greeting": "",
        **extra,
    }


async def open_shell(services: Services, shell: str, folder: Path, case: Case) -> Session:
    home = make_home(folder, case.files)
    env = surroundings(home, case.env)
    created = await services.sessions.create(
        CALLER,
        CreateSession(
            command=shell_path(shell, folder),
            cwd=str(home),
            env=env,
            rows=case.rows,
            cols=case.cols,
        ),
    )
    return services.registry.find(created.session_id)


@dataclass(slots=True)
class Drive:
    """One session, and the run that was begun last."""

    services: Services
    session: Session
    shell: str
    words: dict[str, str]
    last: RunOutcome | None = None

    async def take(self, step: Step) -> None:
        match step:
            case Run():
                await self._run(step)
            case Keys():
                await self._press(step)
            case Signal(by_others=True):
                os.killpg(self.session.leader, step.number)
            case Signal():
                self.session.signal(step.number)
            case Wait():
                await self._wait(step)
            case Page():
                await self._read(step)
            case Screen():
                await self._compare_screen(step)
            case Resize():
                self.session.display.resize(step.rows, step.cols)

    def fill(self, text: str) -> str:
        for word, value in self.words.items():
            text = text.replace(word, value)
        return text

    async def run(self, command: str, timeout_ms: int = 60_000, **more: Any) -> RunOutcome:
        request = RunRequest(
            session=self.session.identity.id, command=command, timeout_ms=timeout_ms, **more
        )
        return await self.services.runs.run(CALLER, request)

    async def _run(self, step: Run) -> None:
        more = {} if step.max_chars is None else {"max_chars": step.max_chars}
        before = self.session.inputs
        running = asyncio.create_task(self.run(self.fill(step.command), step.timeout_ms, **more))
        if step.meanwhile is not None:
            await self._press(step.meanwhile)
        got = self.last = await running
        assert step.inputs is None or self.session.inputs - before <= step.inputs, step
        context = step.context or ("native" if self.shell in NATIVE else "wrapped")
        if context == "any":
            context = got.context or ""
        refused = step.status in ("busy", "error")
        if step.ended_by is None and not refused:
            assert got.status == "completed", got
            return
        wanted: dict[str, object] = {
            "status": step.status,
            "exit_code": step.code,
            "ended_by": None if refused else step.ended_by,
            "context": None if refused else context,
            "asks": step.asks,
        }
        shown: dict[str, object] = {
            "status": got.status,
            "exit_code": got.exit_code,
            "ended_by": got.ended_by,
            "context": got.context,
            "asks": got.state.asks if got.state is not None else None,
        }
        if step.output is not None:
            wanted["output"] = self.fill(step.output)
            shown["output"] = got.output
        if step.cwd is not None:
            wanted["cwd"], shown["cwd"] = self.fill(step.cwd), got.cwd or ""
        if step.state is not None:
            wanted["state"] = step.state
            shown["state"] = got.state.state if got.state is not None else None
        assert shown == wanted, f"{step.command!r}: {got}"
        for text in step.has:
            assert self.fill(text) in got.output, got
        for text in step.lacks:
            assert text not in got.output, got
        for text in step.hints:
            assert text in (got.hint or ""), got
        if step.omits:
            assert got.omitted_lines == step.omits, got.omitted_lines

    async def _press(self, step: Keys) -> None:
        if step.after is not None:
            after = step.after
            await until(self.session, lambda: _on_screen(self.session, after))
        self.session.write(step.keys)
        if step.shows is not None:
            shows = step.shows
            await until(self.session, lambda: _on_screen(self.session, shows))

    async def _wait(self, step: Wait) -> None:
        assert self.last is not None
        assert self.last.run_id is not None
        request = WaitFor(run_id=self.last.run_id, timeout_ms=round(PATIENCE * 1000))
        waited = await self.services.waiting.wait(CALLER, request)
        assert waited.run is not None, waited
        got = waited.run
        codes = step.code if isinstance(step.code, tuple) else (step.code,)
        assert got.status == "completed", got
        assert got.exit_code in codes, got
        if step.output is not None:
            assert got.output == self.fill(step.output), got

    async def _read(self, step: Page) -> None:
        assert self.last is not None
        assert self.last.run_id is not None
        request = ReadRun(run_id=self.last.run_id, offset=step.offset, limit=step.limit)
        page = await self.services.runs.read(CALLER, request)
        assert (page.output, page.total_lines) == (step.output, step.total)

    async def _compare_screen(self, step: Screen) -> None:
        def shown() -> bool:
            return all(_on_screen(self.session, self.fill(text)) for text in step.has)

        await until(self.session, shown)
        text = "\n".join(self.session.terminal.plain_lines())
        for unwanted in step.lacks:
            assert self.fill(unwanted) not in text, text


def _on_screen(session: Session, text: str) -> bool:
    return text in "\n".join(session.terminal.plain_lines())


# --- the other end of ssh ----------------------------------------------------------------------


@contextmanager
def ssh_server(folder: Path) -> Iterator[str]:
    """Run an sshd on loopback; give the command line that reaches it without a question.

    The other end has an empty home: the user's own start-up files may print what they like.
    """
    home = folder / "home"
    home.mkdir()
    for key in ("host", "user"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key)], check=True
        )
    (folder / "authorized").write_text((folder / "user.pub").read_text())
    port = _free_port()
    (folder / "sshd").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nUsePAM no\n"
        f"AuthorizedKeysFile {folder}/authorized\nPidFile none\nStrictModes no\n"
        f"PermitRootLogin yes\nPrintMotd no\nPrintLastLog no\nSetEnv HOME={home}\n"
    )
    (folder / "ssh").write_text(
        f"Host box\n HostName 127.0.0.1\n Port {port}\n IdentityFile {folder}/user\n"
        " IdentitiesOnly yes\n StrictHostKeyChecking no\n UserKnownHostsFile /dev/null\n"
        " LogLevel ERROR\n SendEnv -LC_* -LANG\n"
    )
    os.makedirs("/run/sshd", exist_ok=True)
    sshd = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
    if sshd is None:
        pytest.fail("sshd is not installed; 'make test' installs it", pytrace=False)
    server = subprocess.Popen(
        [sshd, "-D", "-e", "-f", str(folder / "sshd")], stderr=subprocess.PIPE, text=True
    )
    try:
        assert server.stderr is not None
        said = server.stderr.readline()
        assert "listening" in said, said + server.stderr.read()
        yield f"ssh -F {folder}/ssh box"
    finally:
        server.terminate()
        server.communicate()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


PYTHON = os.path.realpath(sys.executable)
