"""What the journal costs: `cat` of a large file through a session, with it and without it.

Rounds alternate, and the best of each counts, for the machine is shared.
"""

import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from throughput import make_file, nacre

from scratch import scratch_environment, table
from stdio_client import StdioClient

ROUNDS = 5


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as folder, ExitStack() as stack:
        path = make_file(folder)
        size = Path(path).stat().st_size / 1e6
        clients = {}
        for journal in ("true", "false"):
            env = stack.enter_context(scratch_environment(journal=journal))
            clients[journal] = stack.enter_context(StdioClient(env))
            nacre(clients[journal], "/dev/null")  # it has loaded everything
        best = dict.fromkeys(clients, 1e9)
        for _ in range(ROUNDS):
            for journal, client in clients.items():
                best[journal] = min(best[journal], nacre(client, path))
    cost = 1 - best["false"] / best["true"]
    table(
        ("", "s", "MB/s"),
        ("with the journal", best["true"], size / best["true"]),
        ("without", best["false"], size / best["false"]),
    )
    print(f"the journal costs {cost:.1%} of the throughput; target: less than 15 %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
