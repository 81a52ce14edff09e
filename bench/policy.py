"""Judge lines: how long it takes, and whether bash agrees.

    python bench/policy.py [lines] [seed]

1. Microseconds for a line, over what agents type and what does harm.
2. The harmful lines of the corpus that call a program which deletes are run in a sandbox: they do.
3. Random lines are judged, and those that are allowed are run there: none of them may do harm.
"""

import sys
import time
from itertools import islice
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from nacre.core.policy.decide import decide
from nacre.core.policy.paths import Where
from nacre.system.policy_files import EXAMPLE, load_policy

from core.policy.lines import HARMFUL, HARMLESS
from core.policy.random_lines import random_lines
from core.policy.truth import harms

WHERE = Where("/tmp/work", home="/tmp/home", workspace="/tmp/work")


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
    guarded = load_policy("guarded")

    def judged(line: str) -> float:
        begin = time.perf_counter()
        decide(line, guarded, WHERE)
        return time.perf_counter() - begin

    times = sorted(min(judged(line) for _ in range(5)) for line in (*HARMLESS, *HARMFUL))
    late = times[int(len(times) * 0.99)]
    print(f"a line: {median(times) * 1e6:.0f} µs p50, {late * 1e6:.0f} µs p99")

    asked = sum(decide(line, guarded, EXAMPLE).verdict != "allow" for line in HARMLESS)
    print(f"harmless lines that ask: {asked} of {len(HARMLESS)}")
    let = [line for line in HARMFUL if decide(line, guarded, EXAMPLE).verdict == "allow"]
    print(f"harmful lines allowed: {len(let)} of {len(HARMFUL)}")
    simple = [line for line in HARMFUL if "rm x" in line]
    doing = sum(bool(called) for _, called in harms(simple))
    print(f"of {len(simple)} lines with `rm x`, {doing} call it in the sandbox")

    lines = list(islice(random_lines(seed), count))
    allowed = [line for line in lines if decide(line, guarded, WHERE).verdict == "allow"]
    missed = [found for found in harms(allowed) if found[1]]
    print(f"random lines (seed {seed}): {count}, allowed {len(allowed)}, doing harm {len(missed)}")
    for line, called in missed:
        print("  ", called, repr(line))
    return 1 if missed or let else 0


if __name__ == "__main__":
    sys.exit(main())
