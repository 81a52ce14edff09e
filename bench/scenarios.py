"""How long the same tests of a terminal program take: nacre test, Microsoft's tui-test, pexpect.

    python bench/scenarios.py [--scratch FOLDER] [--scenarios 50] [--jobs 4] [--rounds 3]

A scenario starts a small program, reads its menu, types two lines, reads what they bring, ends it
and looks at its exit code. Each tool runs all of them from a cold start, as a person or a pipeline
does: for nacre that includes its daemon. The rounds of the tools take turns, and the medians are
told as ratios to nacre's. tui-test and nacre run so many jobs at once; pexpect has no runner, so it
is measured one by one, as scripts do it, and in as many processes.

tui-test and pexpect are installed from their registries; nothing else is contacted.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent))

from clients.installs import CannotInstall, Scratch
from scratch import SOURCE, table

_PROGRAM = r"""
printf 'Main menu\r\n> '
while read -r line; do
  test "$line" = q && exit 0
  printf '\033[32myou said %s\033[0m\r\n> ' "$line"
done
"""

_TUI_TEST = """
import { test, expect } from "@microsoft/tui-test";
test.use({ program: { file: "sh", args: ["program.sh"] } });
for (let number = FIRST; number < LAST; number++) {
  test(`scenario ${number}`, async ({ terminal }) => {
    await expect(terminal.getByText("Main menu")).toBeVisible();
    for (const word of ["hello", "again"]) {
      terminal.submit(`${word} ${number}`);
      await expect(terminal.getByText(`you said ${word} ${number}`)).toBeVisible();
    }
    const ended = new Promise((resolve) => terminal.onExit(resolve));
    terminal.submit("q");
    expect((await ended).exitCode).toBe(0);
  });
}
"""
_TUI_CONFIG = """
import { defineConfig } from "@microsoft/tui-test";
export default defineConfig({ workers: JOBS, timeout: 60000, expect: { timeout: 30000 } });
"""

_PEXPECT = """
import sys
from concurrent.futures import ProcessPoolExecutor

import pexpect


def scenario(number):
    program = pexpect.spawn("sh", ["program.sh"], timeout=30)
    program.expect("Main menu")
    for word in ("hello", "again"):
        program.sendline(f"{word} {number}")
        program.expect(f"you said {word} {number}")
    program.sendline("q")
    program.expect(pexpect.EOF)
    program.close()
    assert program.exitstatus == 0


if __name__ == "__main__":
    count, jobs = int(sys.argv[1]), int(sys.argv[2])
    if jobs == 1:
        for number in range(count):
            scenario(number)
    else:
        with ProcessPoolExecutor(jobs) as pool:
            list(pool.map(scenario, range(count)))
"""


def _scenario(number: int) -> str:
    return f"""name: scenario {number}
launch: sh program.sh
timeout: 30
steps:
  - expect: Main menu
  - keys: [hello {number}, Enter]
  - expect: you said hello {number}
  - keys: [again {number}, Enter]
  - expect: you said again {number}
  - keys: [q, Enter]
  - expect: {{exit_code: 0}}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--scratch", type=Path)
    parser.add_argument("--scenarios", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as made:
        _measure(Scratch(given.scratch or Path(made)), given)


def _measure(scratch: Scratch, given: argparse.Namespace) -> None:
    tools: dict[str, Callable[[], None]] = {}
    makers: dict[str, Callable[[], Callable[[], None]]] = {
        "nacre test": lambda: _nacre(scratch, given.scenarios, given.jobs),
        "tui-test": lambda: _tui_test(scratch, given.scenarios, given.jobs),
        "pexpect, one by one": lambda: _pexpect(scratch, given.scenarios, 1),
        f"pexpect, {given.jobs} processes": lambda: _pexpect(scratch, given.scenarios, given.jobs),
    }
    for name, make in makers.items():
        try:
            tools[name] = make()
        except CannotInstall as error:
            print(f"{name} cannot be installed: {error}")
    took: dict[str, list[float]] = {name: [] for name in tools}
    for _ in range(given.rounds):
        for name, run in tools.items():
            begun = time.perf_counter()
            run()
            took[name].append(time.perf_counter() - begun)
    ours = median(took["nacre test"])
    print(f"{given.scenarios} scenarios, {given.jobs} at once; load {os.getloadavg()[0]:.1f}")
    rows: list[tuple[object, ...]] = [("tool", "median s", "best s", "times nacre's")]
    for name, times in took.items():
        rows.append((name, median(times), min(times), f"{median(times) / ours:.2f}"))
    table(*rows)


def _nacre(scratch: Scratch, count: int, jobs: int) -> Callable[[], None]:
    place = scratch.folder / "nacre"
    place.mkdir(parents=True, exist_ok=True)
    (place / "program.sh").write_text(_PROGRAM)
    (place / "all.yaml").write_text("---\n".join(map(_scenario, range(count))))
    argv = [sys.executable, "-m", "nacre", "test", "all.yaml", "--jobs", str(jobs)]
    return lambda: _run(argv, place, {"PYTHONPATH": SOURCE})


def _tui_test(scratch: Scratch, count: int, jobs: int) -> Callable[[], None]:
    place = scratch.npm("tui-test", "@microsoft/tui-test@0.0.2")
    (place / "program.sh").write_text(_PROGRAM)
    (place / "tui-test.config.ts").write_text(_TUI_CONFIG.replace("JOBS", str(jobs)))
    for script in place.glob("*.mjs"):
        script.unlink()  # of other benchmarks
    part = -(-count // jobs)  # its workers take whole files
    for number in range(jobs):
        text = _TUI_TEST.replace("FIRST", str(number * part))
        text = text.replace("LAST", str(min(count, (number + 1) * part)))
        (place / f"part{number}.test.ts").write_text(text)
    path = f"{scratch.node().parent}:{os.environ['PATH']}"
    return lambda: _run(["npx", "tui-test"], place, {"PATH": path})


def _pexpect(scratch: Scratch, count: int, jobs: int) -> Callable[[], None]:
    python = scratch.python("pexpect", "pexpect==4.9.0")
    place = scratch.folder / "pexpect"
    (place / "program.sh").write_text(_PROGRAM)
    (place / "all.py").write_text(_PEXPECT)
    return lambda: _run([str(python), "all.py", str(count), str(jobs)], place, {})


def _run(argv: list[str], place: Path, env: dict[str, str]) -> None:
    done = subprocess.run(
        argv, cwd=place, env={**os.environ, **env}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{argv[0]} failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


if __name__ == "__main__":
    main()
