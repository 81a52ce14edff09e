"""Files go where the session's shell is: here, into its sandbox, through ssh."""

import base64
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from nacre.core.operations.apps.files import FileEdited, FileRead, FileWritten
from nacre.errors import (
    BadParameter,
    Failed,
    InvalidInput,
    LimitReached,
    PolicyDenied,
    SessionExited,
)

from runs.driving import ssh_server
from services.living import ended, living, start, start_marked, start_shell, until
from services.people import AGENT, House

pytestmark = pytest.mark.anyio

DATA = bytes(range(256)) * 600  # over several commands
TOKEN = "ghp_" + "a1B2" * 9


@pytest.fixture(scope="module")
def ssh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with ssh_server(tmp_path_factory.mktemp("ssh")) as command:
        yield command


async def test_file_of_this_machine(tmp_path: Path) -> None:
    runtime, work = tmp_path / "runtime", tmp_path / "work"
    runtime.mkdir(mode=0o700)
    work.mkdir()
    async with living(runtime) as services:
        ask = House(services)
        of_it = {"session": (await start_marked(services, cwd=str(work))).identity.id}
        written = await ask("put_file", AGENT, **of_it, path="a.txt", content="one\ntwo\ntwo\n")
        assert isinstance(written, FileWritten)
        assert (written.way, written.size, written.checked) == ("local", 12, True)
        (work / "a.txt").chmod(0o741)
        read = await ask("get_file", AGENT, **of_it, path="a.txt")
        assert isinstance(read, FileRead)
        assert (read.content, read.encoding, read.mode) == ("one\ntwo\ntwo\n", "utf8", "741")
        assert read.sha256 == written.sha256
        edited = await ask("edit_file", AGENT, **of_it, path="a.txt", old="one\n", new="1\n")
        assert isinstance(edited, FileEdited)
        assert edited.replacements == 1
        assert (work / "a.txt").read_text() == "1\ntwo\ntwo\n"
        assert stat.S_IMODE((work / "a.txt").stat().st_mode) == 0o741
        with pytest.raises(BadParameter, match="2 times"):
            await ask("edit_file", AGENT, **of_it, path="a.txt", old="two", new="2")
        with pytest.raises(BadParameter, match="is not in"):
            await ask("edit_file", AGENT, **of_it, path="a.txt", old="three", new="3")
        await ask("edit_file", AGENT, **of_it, path="a.txt", old="two", new="2", count=2)
        assert (work / "a.txt").read_text() == "1\n2\n2\n"
        for wrong, error in (
            ({"path": "no/where", "content": ""}, Failed),
            ({"path": ".", "content": ""}, InvalidInput),
            ({"path": "a\0b", "content": ""}, BadParameter),
            ({"path": "a.txt", "content": "x", "overwrite": False}, Failed),
            ({"path": "a.txt", "content": "x", "if_sha256": "0" * 64}, Failed),
            ({"path": "b", "content": "no base64!", "encoding": "base64"}, BadParameter),
        ):
            with pytest.raises(error):
                await ask("put_file", AGENT, **of_it, **wrong)
        with pytest.raises(Failed, match="No such file"):
            await ask("get_file", AGENT, **of_it, path="missing")
        assert os.listdir(work) == ["a.txt"]


@pytest.mark.parametrize("max_chars", [1, 50, 400])
@pytest.mark.parametrize("data", ['\N{GRINNING FACE}ä"\\\n'.encode() * 3, bytes(range(256))[-9:]])
async def test_each_part_has_something_however_small_it_is(
    tmp_path: Path, data: bytes, max_chars: int
) -> None:
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    (tmp_path / "data").write_bytes(data)
    async with living(runtime) as services:
        ask = House(services)
        of_it = {"session": (await start_marked(services, cwd=str(tmp_path))).identity.id}
        found = b""
        offset: int | None = 0
        while offset is not None:
            part = await ask(
                "get_file", AGENT, **of_it, path="data", offset=offset, max_chars=max_chars
            )
            exact = part.encoding == "base64"
            found += base64.b64decode(part.content) if exact else part.content.encode()
            assert part.next_offset is None or part.next_offset > offset
            offset = part.next_offset
        assert found == data


async def test_a_part_of_a_character_is_no_text(tmp_path: Path) -> None:
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    (tmp_path / "data").write_text("\N{GRINNING FACE}")
    async with living(runtime) as services:
        ask = House(services)
        of_it = {"session": (await start_marked(services, cwd=str(tmp_path))).identity.id}
        part = await ask("get_file", AGENT, **of_it, path="data", limit=1)
        assert (part.encoding, part.next_offset) == ("base64", 1)
        with pytest.raises(BadParameter, match="limit ends within a character"):
            await ask("get_file", AGENT, **of_it, path="data", limit=1, encoding="utf8")


async def test_bytes_come_whole_in_parts(tmp_path: Path) -> None:
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    (tmp_path / "data").write_bytes(DATA)
    async with living(runtime, max_file_bytes=len(DATA)) as services:
        ask = House(services)
        of_it = {"session": (await start_marked(services, cwd=str(tmp_path))).identity.id}
        found, offset = b"", 0
        while True:
            part = await ask("get_file", AGENT, **of_it, path="data", offset=offset)
            assert part.encoding == "base64"
            found += base64.b64decode(part.content)
            if part.next_offset is None:
                break
            offset = part.next_offset
        assert found == DATA
        some = await ask("get_file", AGENT, **of_it, path="data", offset=1, limit=9)
        assert base64.b64decode(some.content) == DATA[1:10]
        (tmp_path / "text").write_text("ä" * 100)
        half = await ask("get_file", AGENT, **of_it, path="text", limit=5)
        assert (half.content, half.next_offset) == ("ää", 4), "no half characters"
        (tmp_path / "data").write_bytes(DATA + b"x")
        with pytest.raises(LimitReached, match="max_file_bytes"):
            await ask("get_file", AGENT, **of_it, path="data")
        with pytest.raises(BadParameter, match="max_file_bytes"):
            await ask("put_file", AGENT, **of_it, path="new", content="x" * (len(DATA) + 1))


async def test_secrets_are_never_lost_in_silence(tmp_path: Path) -> None:
    runtime, file = tmp_path / "runtime", tmp_path / "keys"
    runtime.mkdir(mode=0o700)
    file.write_text(f"token = {TOKEN}\nname = one\n")
    async with living(runtime) as services:
        ask = House(services)
        of_it = {"session": (await start_marked(services, cwd=str(tmp_path))).identity.id}
        read = await ask("get_file", AGENT, **of_it, path="keys")
        assert (TOKEN in read.content, read.exact) == (False, False)
        with pytest.raises(Failed, match="secrets"):
            await ask("get_file", AGENT, **of_it, path="keys", encoding="base64")
        with pytest.raises(BadParameter, match="redacted"):
            await ask("put_file", AGENT, **of_it, path="keys", content=read.content)
        await ask("edit_file", AGENT, **of_it, path="keys", old="name = one", new="name = two")
        assert file.read_text() == f"token = {TOKEN}\nname = two\n"
        (tmp_path / "odd").write_text("a\u200bb")
        odd = await ask("get_file", AGENT, **of_it, path="odd")
        assert base64.b64decode(odd.content) == "a\u200bb".encode()


async def test_policy_judges_the_path(tmp_path: Path) -> None:
    runtime, work, config = tmp_path / "runtime", tmp_path / "work", tmp_path / "config"
    for folder in (runtime, work, config):
        folder.mkdir(mode=0o700)
    async with living(
        runtime, config=config, policy="guarded", approval_wait_alone=0.0
    ) as services:
        ask = House(services)
        of_it = {"session": (await start_marked(services, cwd=str(work))).identity.id}
        with pytest.raises(PolicyDenied):
            await ask("put_file", AGENT, **of_it, path="/nonexistent/outside", content="x")
        with pytest.raises(PolicyDenied, match="own folders"):
            await ask("put_file", AGENT, **of_it, path=str(config / "policy.toml"), content="x")
        with pytest.raises(PolicyDenied, match="own folders"):
            await ask("get_file", AGENT, **of_it, path="../runtime/token")
        assert os.listdir(config) == []


async def test_sandbox_is_reached_through_its_shell_alone(tmp_path: Path) -> None:
    runtime, work = tmp_path / "runtime", tmp_path / "work"
    runtime.mkdir(mode=0o700)
    work.mkdir()
    outside = tmp_path / "outside"
    outside.write_text("old")
    async with living(runtime) as services:
        ask = House(services)
        session = await start_marked(services, cwd=str(work), sandbox="workspace")
        of_it = {"session": session.identity.id}
        encoded = {"content": base64.b64encode(DATA).decode(), "encoding": "base64"}
        written = await ask("put_file", AGENT, **of_it, path="data", **encoded)
        assert (written.way, written.checked) == ("shell", True)
        assert (work / "data").read_bytes() == DATA
        read = await ask("get_file", AGENT, **of_it, path="data", max_chars=1 << 30)
        assert (base64.b64decode(read.content), read.checked) == (DATA, True)
        with pytest.raises(Failed, match="cannot be written"):
            await ask("put_file", AGENT, **of_it, path="/etc/nacre-outside", content="new")
        await ask("put_file", AGENT, **of_it, path="/tmp/inside", content="of the sandbox")
        assert "inside" not in os.listdir("/tmp")
        with pytest.raises(Failed, match="no such file"):
            await ask("get_file", AGENT, **of_it, path=str(outside))
        assert outside.read_text() == "old"
        shown = "\n".join(session.terminal.plain_lines())
        assert "# nacre: write" in shown
        assert "sh -c" not in shown


async def test_file_goes_through_ssh(tmp_path: Path, ssh: str) -> None:
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    async with living(runtime) as services:
        ask = House(services)
        session = await start_marked(services, cwd=str(tmp_path))
        of_it = {"session": session.identity.id}
        await ask("run", AGENT, **of_it, command=f"{ssh} -t dash", timeout_ms=20_000)
        await ask("run", AGENT, **of_it, command=f"mkdir {tmp_path}/far && cd {tmp_path}/far")
        encoded = {"content": base64.b64encode(DATA).decode(), "encoding": "base64"}
        written = await ask("put_file", AGENT, **of_it, path="data", mode="640", **encoded)
        assert (written.way, written.mode, written.checked) == ("shell", "640", True)
        assert (tmp_path / "far" / "data").read_bytes() == DATA
        assert os.listdir(tmp_path / "far") == ["data"]
        await ask("put_file", AGENT, **of_it, path="note", content="näme = one\n")
        await ask("edit_file", AGENT, **of_it, path="note", old="one", new="two")
        assert (tmp_path / "far" / "note").read_text() == "näme = two\n"
        read = await ask("get_file", AGENT, **of_it, path="note")
        assert (read.content, read.way, read.checked) == ("näme = two\n", "shell", True)
        with pytest.raises(Failed, match="no such file"):
            await ask("get_file", AGENT, **of_it, path="missing")


async def test_without_a_shell_there_is_no_way() -> None:
    async with living() as services:
        ask = House(services)
        session = await start(services, "cat")
        with pytest.raises(Failed, match="shell"):
            await ask("put_file", AGENT, session=session.identity.id, path="x", content="x")
        python = await start(services, "python3", args=["-q", "-i"])
        await until(python, lambda: ">>>" in python.terminal.plain_lines()[0])
        with pytest.raises(Failed, match=r"REPL|shell"):
            await ask("put_file", AGENT, session=python.identity.id, path="x", content="x")
        assert "sh -c" not in "".join(python.terminal.plain_lines())
        shell = await start_shell(services)
        await ask("send_input", AGENT, session=shell.identity.id, input="exit\r")
        await ended(shell)
        with pytest.raises(SessionExited):
            await ask("get_file", AGENT, session=shell.identity.id, path="x")
