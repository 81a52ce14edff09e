"""Import a heavy module in a thread, one at a time.

Rule: the MCP library's packages import each other. If two threads begin at different ends, Python
hands one of them a half-made module rather than let both wait for ever; so they wait here.
"""

import importlib
import threading
from types import ModuleType

_one_at_a_time = threading.Lock()


def import_alone(name: str) -> ModuleType:
    with _one_at_a_time:
        return importlib.import_module(name)
