"""The file of a long output when the disk becomes full: a beginning without a gap."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nacre.services.runs.outputs.run_output import RunOutput
from nacre.services.runs.outputs.spool import Spool


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """Let files of this process have so many bytes: a write is cut there, the next one refused."""
    before, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, most))


def test_what_is_on_disk_is_the_beginning_and_the_rest_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "run"
    spool = Spool(str(path), 1 << 20, 80)
    with room_for(1000):
        spool.write(b"a" * 600)
        spool.write(b"b" * 600)
    spool.write(b"c" * 100)  # there is room again, but not in its place
    assert path.read_bytes() == b"a" * 600 + b"b" * 400
    assert (spool.size, spool.lost) == (1000, 300)
    spool.remove()


def test_an_output_that_no_file_takes_is_read_from_memory(tmp_path: Path) -> None:
    path = tmp_path / "run"
    output = RunOutput(80, memory=1000)
    output.on_overflow = lambda: Spool(str(path), 1 << 20, 80)
    with room_for(0):
        output.record(b"".join(b"%d\r\n" % number for number in range(400)))
    output.close()
    assert output.spool is None
    assert not path.exists()
    assert output.lines()[0] == "0"
    assert output.lines()[-1] == "399"
    assert output.lost > 0
