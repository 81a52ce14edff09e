"""Import a heavy module in a thread, one at a time.

Rule 1: the MCP library's packages import each other. If two threads begin at different ends, Python
hands one of them a half-made module rather than let both wait for ever; so they wait here.
Rule 2: nobody waits for an import at the end of the process: a thread cannot be stopped, and what
it loads is not needed any more.
"""

import importlib
import threading
from types import ModuleType

_one_at_a_time = threading.Lock()


def is_importing() -> bool:
    return _one_at_a_time.locked()


def import_alone(name: str) -> ModuleType:
    with _one_at_a_time:
        return importlib.import_module(name)
