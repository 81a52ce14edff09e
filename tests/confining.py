"""Whether sandboxes can be tried here.

Rule: a machine on which bubblewrap makes namespaces at all must pass every test of a sandbox: there
a profile that does not work is a failure. Elsewhere these tests are skipped, and say so.
"""

import pytest

from core.policy.truth import can_run

needs_bubblewrap = pytest.mark.skipif(
    not can_run(), reason="bubblewrap is not installed, or this machine forbids its namespaces"
)
