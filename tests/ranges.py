"""Session ports of a test's own: those that run beside it count up from elsewhere."""

import os

# Below what Linux hands out to outgoing connections (32768), above where daemons begin.
_FIRST, _SIZE, _RANGES = 22_000, 300, 35


def own_ports() -> int:
    """Return the first of 300 ports: the workers of a run have others, and so mostly have runs."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    return _FIRST + (os.getppid() + worker) % _RANGES * _SIZE
