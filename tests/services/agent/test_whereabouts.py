"""Where a shell is that was opened in a session: the first line of an answer says host and folder.

The other end of ssh is an sshd on loopback; a `uname` of the test's own gives it another name.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from runs.driving import ssh_server
from services.agent.test_service import agent, timeless

pytestmark = pytest.mark.anyio

HOST = os.uname().nodename


@pytest.fixture(scope="module")
def ssh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with ssh_server(tmp_path_factory.mktemp("ssh")) as command:
        yield command


def first(text: str) -> str:
    return timeless(text).split("\n")[0]


def named(folder: Path, host: str) -> str:
    """Return what stands before a command that is to find this host's name."""
    programs = folder / host
    programs.mkdir()
    (programs / "uname").write_text(f"#!/bin/sh\necho {host}\n")
    (programs / "uname").chmod(0o755)
    return f"PATH={programs}:$PATH"


@pytest.mark.parametrize("shell", ["bash --norc", "dash", "zsh -f", "fish --no-config"])
async def test_behind_ssh_host_and_folder_are_told(tmp_path: Path, ssh: str, shell: str) -> None:
    async with agent(tmp_path) as one:
        opened = first(await one.run(f"{ssh} -t {shell}"))
        assert (
            opened == "[shell ssh · run 1 · new session main · run goes in there, exit leaves it]"
        )
        assert first(await one.run("cd /usr")) == f"[exit 0 · Ts · {HOST}:/usr · run 2]"
        assert first(await one.run("false")) == f"[exit 1 · Ts · {HOST}:/usr · run 3]"
        left = first(await one.run("exit 4"))
        assert left == f"[exit 4 · Ts · {one.caller.cwd} · run 4]"
        assert first(await one.run("true")) == f"[exit 0 · Ts · {one.caller.cwd} · run 5]"


async def test_in_nested_ssh_each_shell_has_its_own_host(tmp_path: Path, ssh: str) -> None:
    async with agent(tmp_path) as one:
        await one.run(f"{ssh} -t '{named(tmp_path, 'web1')} bash --norc'")
        assert first(await one.run("cd /")) == "[exit 0 · Ts · web1:/ · run 2]"
        await one.run(f"{ssh} -t '{named(tmp_path, 'web2')} dash'")
        assert first(await one.run("cd /usr")) == "[exit 0 · Ts · web2:/usr · run 4]"
        odd = tmp_path / "a\nb"
        odd.mkdir()
        assert first(await one.run(f"cd '{odd}'")) == "[exit 0 · Ts · in ssh · run 5]"
        assert first(await one.run("cd /")) == "[exit 0 · Ts · web2:/ · run 6]"
        long = f"cd /usr; : {'x' * 3000}"
        assert first(await one.run(long)) == "[exit 0 · Ts · web2:/usr · run 7]"
        asked = await one.run("printf 'Go? [y/n] '; read x")
        assert asked.startswith("[asks confirm · run 8 · in ssh · "), "it may be anywhere by now"
        assert first(await one.type("y")) == "[exit 0 · Ts · web2:/usr · run 8]"
        assert first(await one.run("exit")) == "[exit 0 · Ts · in ssh · run 9]"
        assert first(await one.run("true")) == "[exit 0 · Ts · web1:/ · run 10]"


async def test_after_an_interrupt_the_far_folder_is_told(tmp_path: Path, ssh: str) -> None:
    async with agent(tmp_path) as one:
        await one.run(f"{ssh} -t bash --norc")
        await one.run("cd /usr")
        await one.run("echo on; sleep 600", wait=0.2)
        assert first(await one.type(keys=["C-c"])) == f"[exit 130 · Ts · {HOST}:/usr · run 3]"


async def test_a_shell_of_this_machine_has_its_folder_alone(tmp_path: Path) -> None:
    async with agent(tmp_path) as one:
        for shell in ("bash --norc", "dash"):
            await one.run(f"PS1='$ ' {shell}")
            assert " · /usr · run" in first(await one.run("cd /usr"))
            await one.run("exit")


async def test_another_root_or_host_is_told_with_the_host(tmp_path: Path) -> None:
    # Who is not root needs a namespace of their own for it.
    unshare = "unshare" if os.getuid() == 0 else "unshare --map-root-user --user"
    async with agent(tmp_path) as one:
        root = tmp_path / "root"
        make_root(root)
        await one.run(f"{unshare} --root={root} /bin/busybox sh")
        assert first(await one.run("cd /bin")) == f"[exit 0 · Ts · {HOST}:/bin · run 2]"
        assert first(await one.run("exit")) == f"[exit 0 · Ts · {one.caller.cwd} · run 3]"
        opened = await one.run(f"{unshare} --uts sh -c 'hostname far1; exec bash --norc'")
        assert opened.startswith("[shell"), opened
        assert first(await one.run("cd /usr")) == "[exit 0 · Ts · /usr · run 5]"


def make_root(root: Path) -> None:
    """A file system of its own, with a shell and what that needs."""
    (root / "bin").mkdir(parents=True)
    busybox = shutil.which("busybox")
    if busybox is None:
        pytest.fail("busybox is not installed; 'make test' installs it", pytrace=False)
    libraries = re.findall(r"/\S+(?= \()", subprocess.check_output(["ldd", busybox], text=True))
    for path in libraries:
        (root / path[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, root / path[1:])
    shutil.copy(busybox, root / "bin" / "busybox")
    (root / "dev").mkdir()
    (root / "dev" / "null").touch()  # a plain file will do
    for name in ("sh", "uname"):
        (root / "bin" / name).symlink_to("busybox")
