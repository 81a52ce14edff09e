"""A pytest plugin that makes it hard for the tests: any order, and other work on the machine.

Used by `make test-hard` (`-p tests.strain`) to hunt those that pass by luck.

Rule 1: an order is told by its number (`--shuffle 7`), and the same number gives the same order.
Rule 2: the tests of a file stay together: they share what its fixtures made.
Rule 3: what keeps the machine busy ends with the run, however that ends.
"""

import random
import subprocess
import sys
from functools import partial

import pytest

# It looks for its parent all the time: should that be killed, nobody else would end it.
_BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("strain")
    group.addoption("--shuffle", type=int, metavar="SEED", help="run files and tests in any order")
    group.addoption("--busy", type=int, default=0, help="processes that do nothing but compute")


def pytest_report_header(config: pytest.Config) -> str | None:
    seed = config.getoption("shuffle")
    return None if seed is None else f"strain: --shuffle {seed} --busy {config.getoption('busy')}"


# First, so that what others put last (the browser's tests) is still last.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    seed = config.getoption("shuffle")
    if seed is None:
        return
    dice = random.Random(seed)
    files: dict[str, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(str(item.path), []).append(item)
    order = list(files.values())
    dice.shuffle(order)
    for tests in order:
        dice.shuffle(tests)
    items[:] = [item for tests in order for item in tests]


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):  # a worker of xdist: its parent does it
        return
    for _ in range(config.getoption("busy")):
        process = subprocess.Popen([sys.executable, "-I", "-S", "-c", _BUSY])
        config.add_cleanup(partial(_end, process))


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()
