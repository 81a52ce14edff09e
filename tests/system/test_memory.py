"""Memory is given back when the process has grown, and only then."""

import subprocess
import sys

import pytest

from nacre.system.memory import Memory, resident, share_arenas, trim

pytestmark = pytest.mark.anyio

MB = 1 << 20


class Process:
    def __init__(self) -> None:
        self.size, self.free, self.trims = 80 * MB, 0, 0

    def measure(self) -> int:
        return self.size

    def give_back(self) -> None:
        self.trims += 1
        self.size, self.free = self.size - self.free, 0


async def test_it_is_given_back_after_growth_and_not_again_without() -> None:
    process = Process()
    memory = Memory(process.measure, process.give_back)
    await memory.settle()
    assert process.trims == 1, "how much was freed before is unknown"
    assert not await memory.settle()
    process.size, process.free = 300 * MB, 200 * MB
    assert await memory.settle()
    assert process.size == 100 * MB
    assert not await memory.settle()
    process.size += 10 * MB
    assert not await memory.settle()
    assert process.trims == 2


async def test_growth_is_counted_from_the_least_since_then() -> None:
    process = Process()
    memory = Memory(process.measure, process.give_back)
    await memory.settle()
    process.size = 50 * MB
    assert not await memory.settle()
    process.size = 70 * MB
    assert await memory.settle()


async def test_it_is_given_back_once_when_it_becomes_quiet() -> None:
    process = Process()
    memory = Memory(process.measure, process.give_back)
    await memory.settle()
    process.size, process.free = 95 * MB, 14 * MB  # of what had grown, some is free now
    assert not await memory.settle()
    assert await memory.settle(quiet=True)
    assert process.size == 81 * MB
    assert not await memory.settle(quiet=True), "a daemon at rest has nothing to do"
    assert not await memory.settle()
    assert await memory.settle(quiet=True), "somebody has asked for something meanwhile"


def test_this_process_has_a_size_and_can_give_back() -> None:
    share_arenas()
    before = resident()
    assert before > MB
    trim()
    assert resident() <= before + MB


HOLES = """
import ctypes
from nacre.system.memory import resident, share_arenas
share_arenas()
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
libc.free(libc.malloc(30 << 20))  # by default, blocks up to this size come from the heap now
before = resident()
large = []
for _ in range(30):
    large.append(libc.malloc(1 << 20))
    ctypes.memset(large[-1], 1, 1 << 20)
    libc.malloc(1000)  # lives on
for one in large:
    libc.free(one)
print(resident() - before)
"""


def test_large_blocks_leave_no_holes_in_the_heap() -> None:
    """A process of its own: what the library does with large blocks depends on those before."""
    found = subprocess.run(
        [sys.executable, "-c", HOLES], capture_output=True, text=True, check=True
    )
    assert int(found.stdout) < 5 * MB


COLLECTS = """
import asyncio, gc
from nacre.system.memory import Memory, collect_rarely

full = 0
def count(phase, about):
    global full
    full += phase == "start" and about["generation"] == 2
gc.callbacks.append(count)
collect_rarely()
kept = [[] for _ in range(400_000)]  # without it, at least one full collection
by_itself = full
memory = Memory()
for _ in range(2):  # the first loads some
    asyncio.run(memory.settle())
frozen = gc.get_freeze_count()
asyncio.run(memory.settle())
assert gc.get_freeze_count() == frozen
import decimal
asyncio.run(memory.settle())
print(by_itself, gc.is_tracked(kept) and frozen > 400_000, gc.get_freeze_count() > frozen, full)
more = [[] for _ in range(400_000)]
asyncio.run(memory.settle())
print(full)
"""


def test_full_collections_of_garbage_come_between_calls_and_skip_what_is_loaded() -> None:
    """A process of its own: the collector is the whole process's."""
    found = subprocess.run(
        [sys.executable, "-c", COLLECTS], capture_output=True, text=True, check=True
    )
    assert found.stdout.splitlines() == ["0 True True 0", "1"]


FREEZES = """
import asyncio, gc, itertools, weakref
from nacre.system.memory import Garbage, collect_rarely

class Node: pass

def cycle():
    node = Node()
    node.itself = node
    return node

collect_rarely()
garbage = Garbage(clock=itertools.count().__next__)  # every collection takes long
garbage.collect()  # what is loaded
node = cycle()
seen = weakref.ref(node)
kept = [[] for _ in range(100_000)]
garbage.collect()
print(gc.get_freeze_count() > 100_000, len(gc.get_objects()) < 1000)
del node
gc.collect()
print(seen() is None)
garbage.collect_frozen()
print(seen() is None)

full = 0
def count(phase, about):
    global full
    full += phase == "start" and about["generation"] == 2
gc.callbacks.append(count)
async def work():
    garbage.begin(asyncio.get_running_loop())
    kept.extend([] for _ in range(100_000))
    in_the_middle = full
    await asyncio.sleep(0)
    print(in_the_middle, full)
    garbage.end()
asyncio.run(work())
"""


def test_what_survives_a_long_collection_is_looked_at_again_when_it_is_quiet() -> None:
    """A process of its own: the collector is the whole process's."""
    found = subprocess.run(
        [sys.executable, "-c", FREEZES], capture_output=True, text=True, check=True
    )
    assert found.stdout.splitlines() == ["True True", "False", "True", "0 1"]
