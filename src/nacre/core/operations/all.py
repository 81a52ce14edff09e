"""The whole catalog: importing this module registers every operation.

Rule: operations that wsh or SILC have too keep their names, parameters and defaults from there, so
that agents written for those work here. Parameters that we added are optional.
"""

from nacre.core.catalog.catalog import CATALOG, parse_operation
from nacre.core.operations import (
    commands,
    control,
    daemon,
    display,
    recordings,
    runs,
    sessions,
    terminal,
    upstream,
)
from nacre.core.operations.apps import files, focus, mouse, programs, seeing
from nacre.core.operations.hosts import cluster
from nacre.core.operations.safety import approvals, review, tokens

__all__ = ["CATALOG", "parse_operation"]

ENTERED = (
    *(sessions, terminal, runs, display, control, recordings, review, approvals, daemon, tokens),
    *(cluster, commands, programs, mouse, focus, seeing, files, upstream),
)
