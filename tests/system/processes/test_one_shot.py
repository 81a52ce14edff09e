"""Programs without a terminal have their limits, whoever sets them."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nacre.errors import InvalidInput
from nacre.system.processes.one_shot import OneProgram, ResourceLimits, Started, start

LIMITS = ResourceLimits(
    cpu_seconds=7, memory_bytes=1 << 28, processes=5, file_bytes=1 << 20, descriptors=40
)


@contextmanager
def begun(*programs: OneProgram, cwd: str = "/") -> Iterator[Started]:
    env = {"PATH": os.defpath}
    started = start(programs, cwd=cwd, env=env, limits=LIMITS, feed=True)
    try:
        yield started
    finally:
        assert started.stdin is not None
        for descriptor in (started.stdin, started.stdout, started.stderr):
            os.close(descriptor)
        for child in started.children:
            child.process.kill()
            child.process.wait()


def _until_execed(pid: int, name: str) -> None:
    while Path(f"/proc/{pid}/comm").read_text().strip() != name:
        os.sched_yield()


@pytest.mark.parametrize("reader", [True, False], ids=["from outside", "by a shell"])
def test_a_program_has_its_limits(reader: bool) -> None:
    """One that only reads has them as soon as we know of it."""
    with begun(OneProgram(["/bin/cat"], reader)) as started:
        pid = started.children[0].pid
        if not reader:
            _until_execed(pid, "cat")
        limits = {
            kind: resource.prlimit(pid, kind)
            for kind in (
                resource.RLIMIT_CPU,
                resource.RLIMIT_AS,
                resource.RLIMIT_FSIZE,
                resource.RLIMIT_NOFILE,
                resource.RLIMIT_CORE,
            )
        }
        most, hardest = resource.prlimit(pid, resource.RLIMIT_NPROC)
    assert list(limits.values()) == [
        (7, 7),
        (1 << 28, 1 << 28),
        (1 << 20, 1 << 20),
        (40, 40),
        (0, 0),
    ]
    assert 5 < most == hardest < 100_000


def test_readers_and_others_share_a_pipeline() -> None:
    programs = (
        OneProgram(["/bin/cat"], True),
        OneProgram(["/bin/cat"]),
        OneProgram(["/bin/cat"], True),
    )
    with begun(*programs) as started:
        assert started.stdin is not None
        os.write(started.stdin, b"through all of them")
        os.set_blocking(started.stdout, True)
        assert os.read(started.stdout, 100) == b"through all of them"


@pytest.mark.parametrize("reader", [True, False])
def test_a_folder_that_is_gone_is_said(reader: bool) -> None:
    with (
        pytest.raises(InvalidInput, match="the folder /none is gone"),
        begun(OneProgram(["/bin/cat"], reader), cwd="/none"),
    ):
        pass


@pytest.mark.parametrize("reader", [True, False])
def test_words_that_are_too_long_are_said(reader: bool) -> None:
    with (
        pytest.raises(InvalidInput, match="longer than the system allows"),
        begun(OneProgram(["/bin/echo", "x" * 4_000_000], reader)),
    ):
        pass
