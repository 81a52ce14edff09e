"""What the system says of this process, by the names that Prometheus' own clients use.

Rule: what the system does not tell is left out.
"""

import os
import resource
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Literal, NamedTuple

_STATM = "/proc/self/statm"
_BEGAN = time.time()  # of this module: a moment after the process


class ProcessFact(NamedTuple):
    name: str
    kind: Literal["gauge", "counter"]
    help: str
    value: float


def process_facts() -> Iterator[ProcessFact]:
    used = time.process_time()
    yield ProcessFact("process_cpu_seconds_total", "counter", "User and system time.", used)
    yield ProcessFact("process_start_time_seconds", "gauge", "When it started (Unix).", _BEGAN)
    with suppress(OSError):
        with open(_STATM, "rb") as file:
            pages = [int(field) for field in file.read().split()[:2]]
        virtual, resident = (count * os.sysconf("SC_PAGE_SIZE") for count in pages)
        yield ProcessFact("process_virtual_memory_bytes", "gauge", "Virtual memory.", virtual)
        yield ProcessFact("process_resident_memory_bytes", "gauge", "Resident memory.", resident)
    with suppress(OSError):
        opened = len(os.listdir("/proc/self/fd")) - 1  # the folder itself
        yield ProcessFact("process_open_fds", "gauge", "Open file descriptors.", opened)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    yield ProcessFact("process_max_fds", "gauge", "The most of them.", most)
