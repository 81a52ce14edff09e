"""How long until `nacre mcp` answers, with a daemon there and without.

Without one: the handshake, the list of tools right after it, and the first run in a new session.
"""

import sys
import time

from scratch import measure, p50, scratch_environment, table
from stdio_client import StdioClient

TOOLSETS = ("--toolsets", "terminal,shell")


def cold() -> tuple[float, float, float]:
    """Return the milliseconds from the start to each of the three answers."""
    with scratch_environment() as env:
        started = time.perf_counter()

        def since() -> float:
            return (time.perf_counter() - started) * 1000

        with StdioClient(env, *TOOLSETS) as client:
            initialized = since()
            client.request("tools/list", {})
            listed = since()
            port = client.call("start_session", shell="bash")["port"]
            assert client.call("run", port=port, command="true")["exit_code"] == 0
            return initialized, listed, since()


def main() -> int:
    initialized, listed, ran = zip(*(cold() for _ in range(5)), strict=True)
    with scratch_environment() as env, StdioClient(env):
        warm = measure(lambda: StdioClient(env).__exit__(None, None, None), 20)
    table(
        ("nacre mcp answers", "p50 ms", "worst ms"),
        ("initialize, a daemon runs (with its exit)", p50(warm), max(warm)),
        ("initialize, it starts one", p50(initialized), max(initialized)),
        ("tools/list after that", p50(listed), max(listed)),
        ("the first run after that", p50(ran), max(ran)),
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
