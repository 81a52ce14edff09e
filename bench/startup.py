"""How long until `nacre mcp` answers initialize, with a daemon there and without."""

import sys
import time

from scratch import measure, p50, scratch_environment, table
from stdio_client import StdioClient


def main() -> int:
    cold = []
    for _ in range(5):
        with scratch_environment() as env:
            started = time.perf_counter()
            with StdioClient(env):
                cold.append((time.perf_counter() - started) * 1000)
    with scratch_environment() as env, StdioClient(env):
        warm = measure(lambda: StdioClient(env).__exit__(None, None, None), 20)
    table(
        ("nacre mcp answers initialize", "p50 ms", "worst ms"),
        ("a daemon runs (with its exit)", p50(warm), max(warm)),
        ("it starts one", p50(cold), max(cold)),
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
