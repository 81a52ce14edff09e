"""How Hypothesis is used: the same examples in each run, and a busy machine is no failure.

NACRE_EXAMPLES=5000 looks further, at examples that differ from run to run.
"""

import os

from hypothesis import HealthCheck, settings

_wanted = os.environ.get("NACRE_EXAMPLES")
steady = settings(
    max_examples=int(_wanted or 100),
    derandomize=not _wanted,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
