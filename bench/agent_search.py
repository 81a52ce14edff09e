"""How long an agent waits for `read {"search": …}` in an output of 1.5 million lines, over MCP.

    python bench/agent_search.py

Each row is one kind of output; its last line is
the only one that matches, or nothing does. The script exits with 1 when a search took longer than
it may.
"""

import sys
import tempfile
import time

from agent_task import Wire, must

from scratch import scratch_environment, table

LINES = 1_500_000
MOST = 300  # ms
SOUGHT = "error|FAIL"

# What prints them, by what they look like.
OUTPUTS = {
    "numbers": "seq {lines}",
    "log": "seq -f 'Nov 18 01:02:03 box app[17]: request %.0f handled in 3 ms' {lines}",
    "colours": r"seq {lines} | sed $'s/^/\033[32minfo\033[0m /'",
    "progress": r"seq {lines} | sed $'s/$/ of all\r/; s/\r$/\r  done\r/'",
}


def searched(call: Wire, text: str, wanted: str, **more: object) -> float:
    began = time.perf_counter()
    must(call("read", big=True, search=text, **more), wanted)
    return (time.perf_counter() - began) * 1000


def main() -> int:
    rows: list[tuple[object, ...]] = []
    with scratch_environment() as env, tempfile.TemporaryDirectory() as work:
        call = Wire([sys.executable, "-m", "nacre", "mcp"], {**env, "PS1": "$ "}, work)
        for name, command in OUTPUTS.items():
            printing = f"{command.format(lines=LINES)}; echo FAIL at last"
            text = call("run", big=True, command=printing, wait=50)
            while not text.startswith("[exit 0"):
                text = call("wait", big=True, wait=50)
            first = searched(call, SOUGHT, "^>.*FAIL at last")
            again = searched(call, SOUGHT, "^>.*FAIL at last")
            nothing = searched(call, "no such [t]ext", r"\(no match\)")
            whole = searched(call, SOUGHT, "FAIL at last", what="all")
            rows.append((name, first, again, nothing, whole))
        call.close()
    table(("output", "first ms", "again ms", "no match ms", "terminal ms"), *rows)
    return 0 if all(time <= MOST for row in rows for time in row[1:]) else 1  # type: ignore[operator]


if __name__ == "__main__":
    sys.exit(main())
