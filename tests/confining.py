"""Whether sandboxes can be tried here.

Rule: a machine on which bubblewrap makes namespaces at all must pass every test of a sandbox: there
a profile that does not work is a failure. Elsewhere these tests are skipped, and say so.
"""

import sys

import pytest

from nacre.system.sandbox.inside.kernel import landlock_version

from core.policy.truth import can_run

needs_bubblewrap = pytest.mark.skipif(
    not can_run(), reason="bubblewrap is not installed, or this machine forbids its namespaces"
)

needs_landlock = pytest.mark.skipif(
    sys.platform != "linux" or landlock_version() < 6,
    reason="the kernel's Landlock has no version 6 (Linux 6.12)",
)
