"""What one session prints or one caller asks, and how long others wait meanwhile.

A zoo of output that is short to print and slow to draw, and one of calls that have much to answer.
While each of them goes on, another caller asks a quiet session for its screen and runs `true` in
it. Two judges: what that caller waits, against the floor (the same with nothing else going on, in
the same run), and how long the loop was held in processor time, which no other program on the
machine can change (measured_daemon.py).

    python bench/bombs.py [--seconds 3] [--only WORD] [--source OTHER/src]
"""

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from scratch import SOURCE, p50, table

sys.path.insert(0, SOURCE)

from nacre.client.calls import Client

HERE = Path(__file__).resolve().parent
HELD = 20.0  # ms of processor time that one callback may take

# What a program prints again and again: it is bytes in Python.
BOMBS = {
    "repeat (x CSI 65535 b)": 'b"x\\x1b[65535b" * 3000',
    "repeat of a wide character": '"語\\x1b[65535b".encode() * 1000',
    "reset (RIS)": 'b"some text\\r\\n\\x1bc" * 3000',
    "reset of a full scrollback": 'b"line\\r\\n" * 5000 + b"\\x1bc"',
    "132 columns and back (DECCOLM)": 'b"\\x1b[?40h" + b"text\\r\\n\\x1b[?3h\\x1b[?3l" * 1000',
    "DECCOLM of a full scrollback": (
        'b"line\\r\\n" * 12000 + b"\\x1b[?40h" + b"\\x1b[?3h\\x1b[?3l" * 50'
    ),
    "alignment test (DECALN)": 'b"\\x1b#8" * 5000',
    "scroll regions": 'b"\\x1b[2;23r\\x1b[23;1H" + b"\\x1b[65535S\\x1b[65535T" * 2000',
    "insert and delete lines": 'b"\\x1b[H\\x1b[65535L\\x1b[65535M" * 2000',
    "margins left and right": 'b"\\x1b[?69h\\x1b[2;70s" + b"\\x1b[65535S\\x1b[65535T" * 2000',
    "erase with huge counts": 'b"\\x1b[65535X\\x1b[65535P\\x1b[65535@\\x1b[2J\\x1b[3J" * 2000',
    "titles": '(b"\\x1b]2;" + b"t" * 200 + b"\\x07") * 2000',
    "OSC without end": 'b"\\x1b]52;c;" + b"QUJD" * 300000',
    "unknown OSC": 'b"\\x1b]1337;File=inline=1:AAAA\\x07" * 5000',
    "forged marks": 'b"\\x1b]133;C;n=00000000;x\\x07" * 5000',
    "sixel": 'b"\\x1bPq#0;2;0;0;0" + b"#0~~@@vv@@~~@@~~$" * 50000 + b"\\x1b\\\\"',
    "kitty graphics": '(b"\\x1b_Gf=24,s=10,v=10;" + b"AAAA" * 1000 + b"\\x1b\\\\") * 300',
    "alternate screen": 'b"\\x1b[?1049h\\x1b[2Jx\\x1b[?1049l" * 5000',
    "a line of 10 MB": 'b"x" * 10_000_000',
    "combining characters": '("e" + "\\u0301" * 100).encode() * 5000',
    "emoji sequences": '"👩‍👩‍👧‍👦".encode() * 20000',
    "bytes that continue nothing": 'b"\\x84" * 100000',
    "tabs": 'b"\\t" * 500000',
    "tab stops": 'b"\\x1b[3g" + b"\\x1b[65535I\\x1b[65535Z" * 5000',
    "hyperlinks": (
        'b"".join(b"\\x1b]8;;http://x/%d\\x1b\\\\x\\x1b]8;;\\x1b\\\\" % n for n in range(5000))'
    ),
    "colours": 'b"".join(b"\\x1b[38;2;%d;%d;%dmx" % (n%256,n%251,n%241) for n in range(20000))',
    "questions (DA, DSR)": 'b"\\x1b[c\\x1b[6n\\x1bP$qm\\x1b\\\\" * 2000',
    "questions (colours)": 'b"\\x1b]4;1;?\\x07" * 5000',
    "palette": '(b"\\x1b]4;" + b"1;rgb:11/22/33;" * 50 + b"\\x07") * 1000',
}
PRINT = """
import os
data = {}
while True:
    at = 0
    while at < len(data):
        at += os.write(1, data[at : at + 65536])
"""


def open_client() -> Client:
    return Client.open(timeout=120)


@contextlib.contextmanager
def daemon(source: str) -> Iterator[Path]:
    """A daemon with a measured loop; gives the file of its holds."""
    with tempfile.TemporaryDirectory(prefix="nacre-bombs-") as home:
        env = {key: value for key, value in os.environ.items() if not key.startswith("NACRE_")}
        env.update(HOME=home, NACRE_HOME=home, NACRE_PORT="0", PYTHONPATH=source)
        # The callers that wait run thousands of commands, and one long run is read in the end.
        env.update(NACRE_MAX_SESSIONS="200", NACRE_MAX_RUNS="1000000", NACRE_SHELL="/bin/bash")
        holds = Path(home, "holds")
        holds.touch()
        os.environ["NACRE_HOME"] = home
        process = subprocess.Popen(
            [sys.executable, str(HERE / "measured_daemon.py"), str(holds)],
            env=env,
            stderr=subprocess.DEVNULL,
        )
        try:
            _wait_for(open_client)
            yield holds
        finally:
            process.terminate()
            process.wait(60)


def _wait_for(reach: Callable[[], Client]) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            reach().close()
            return
        except Exception:  # until it listens
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


class Zoo:
    def __init__(self, holds: Path, seconds: float) -> None:
        self.holds = holds
        self.seconds = seconds
        self.quiet = open_client()
        self.other = open_client()
        self.rows: list[tuple[object, ...]] = []
        self.worst: list[str] = []
        self.quiet.call("create_session", name="quiet")
        self.quiet.call("run", session="quiet", command="true")
        self.floor: list[float] = []

    def measure(self, name: str, meanwhile: Callable[[], object] | None = None) -> None:
        """Ask the quiet session for a while; `meanwhile` is called in another thread."""
        begun = time.time()
        stop = threading.Event()
        asked = 0
        failed: list[BaseException] = []

        def keep_asking() -> None:
            nonlocal asked
            assert meanwhile is not None
            try:
                while not stop.is_set():
                    meanwhile()
                    asked += 1
            except BaseException as error:  # noqa: BLE001  # told below
                failed.append(error)

        thread = threading.Thread(target=keep_asking)
        if meanwhile is not None:
            thread.start()
        screens: list[float] = []
        runs: list[float] = []
        while time.time() - begun < self.seconds or len(runs) < 10:
            at = time.perf_counter()
            self.quiet.call("get_screen", session="quiet")
            between = time.perf_counter()
            self.quiet.call("run", session="quiet", command="true")
            screens.append((between - at) * 1000)
            runs.append((time.perf_counter() - between) * 1000)
        stop.set()
        if meanwhile is not None:
            thread.join()
        for error in failed:
            self.worst.append(f"{name}: the call failed: {error!r}")
        callback, turn, whose = self._held(begun)
        if callback > HELD:
            self.worst.append(f"{name}: {callback:.1f} ms: {whose}")
        self.floor = self.floor or [p50(screens), p50(runs)]
        self.rows.append(
            (
                name,
                *(round(value, 1) for value in _spread(screens)),
                *(round(value, 1) for value in _spread(runs)),
                round(callback, 1),
                round(turn, 1),
                asked or "",
            )
        )
        print(*self.rows[-1], whose[:150], flush=True)

    def _held(self, since: float) -> tuple[float, float, str]:
        longest = dict.fromkeys(("callback", "turn", "collection"), (0.0, ""))
        for line in self.holds.read_text().splitlines():
            at, kind, spent, *name = line.split(" ", 3)
            if float(at) >= since:
                longest[kind] = max(longest[kind], (float(spent), " ".join(name)))
        whose = longest["callback"][1] + f" (collection {longest['collection'][0]:.1f})"
        return longest["callback"][0], longest["turn"][0], whose

    def bomb(self, name: str, data: str, **size: int) -> None:
        self._create("bomb", PRINT.format(data), **size)
        self.measure(name)
        self._kill("bomb")

    def _create(self, name: str, program: str, **more: Any) -> None:
        command = {"command": sys.executable, "args": ["-c", program]}
        self.other.call("create_session", name=name, **command, **more)

    def _kill(self, name: str) -> None:
        self.other.call("manage_session", session=name, action="kill")

    # --- the zoos --------------------------------------------------------------------------

    def print_bombs(self, only: str) -> None:
        for name, data in BOMBS.items():
            if only in name:
                self.bomb(name, data)
        for name in ("repeat (x CSI 65535 b)", "reset (RIS)", "erase with huge counts"):
            if only in name:
                self.bomb(f"{name}, 1000 x 1000", BOMBS[name], rows=1000, cols=1000)
        if only in "ten sessions of bombs and of yes":
            for n in range(10):
                self._create(f"b{n}", PRINT.format(list(BOMBS.values())[n]))
            self.measure("ten sessions of bombs")
            for n in range(10):
                self._kill(f"b{n}")
            for n in range(10):
                self.other.call("create_session", name=f"y{n}", command="yes", args=[])
            self.measure("ten sessions of yes")
            for n in range(10):
                self._kill(f"y{n}")

    def ask_much(self, only: str) -> None:
        call, huge = self.other.call, 100_000_000
        self._create(
            "full",
            "import sys, time\n"
            "line = '\\x1b[3%dmline %d\\x1b[0m \\x1b[4%dm%s\\x1b[0m\\n'\n"
            "for n in range(14000):\n"
            "    sys.stdout.write(line % (n % 8, n, n % 8, 'word ' * (n % 20)))\n"
            "sys.stdout.flush(); time.sleep(1000)",
        )
        call("wait_for", session="full", text="line 13999", timeout_ms=60_000)
        call("create_session", name="long")
        long = call("run", session="long", command="seq 1500000", timeout_ms=300_000)
        sizes = iter(range(10**9))
        asks: dict[str, Callable[[], object]] = {
            "get_scrollback, 10,000 coloured lines": lambda: call(
                "get_scrollback", session="full", limit=10_000, max_chars=huge
            ),
            "get_scrollback within its budget": lambda: call(
                "get_scrollback", session="full", limit=10_000
            ),
            "read_output, 10,000 lines": lambda: call(
                "read_output", session="full", lines=10_000, max_chars=huge
            ),
            "screenshot": lambda: call("screenshot", session="full"),
            "screen_at": lambda: call("screen_at", session="long", generation=5),
            "export_recording": lambda: call("export_recording", session="long", max_chars=huge),
            "wait_for over a full scrollback": lambda: call(
                "wait_for",
                session="full",
                regex="no(th|t)ing.*here$",
                after_generation=0,
                timeout_ms=1,
            ),
            "a hostile regular expression": lambda: call(
                "wait_for", session="full", regex="(a+)+$", after_generation=0, timeout_ms=1
            ),
            "read_run, 1.5 million lines, the end": lambda: call(
                "read_run", run_id=long["run_id"], offset=1_480_000, limit=10_000, max_chars=huge
            ),
            "read_run, find": lambda: call(
                "read_run", run_id=long["run_id"], find="149999.$", regex=True
            ),
            "resize of a full scrollback": lambda: call(
                "resize_session",
                session="full",
                rows=24 + next(sizes) % 5,
                cols=60 + next(sizes) % 90,
            ),
            "create and kill": self._create_and_kill,
            "a run that prints 1 MB": lambda: call(
                "run", session="long", command="seq 150000", timeout_ms=60_000
            ),
        }
        for name, ask in asks.items():
            if only in name:
                self.measure(name, ask)
        if only in "list_sessions with 100":
            for n in range(100):
                call("create_session", name=f"s{n}", command="cat", args=[])
            self.measure("list_sessions with 100", lambda: call("list_sessions", max_chars=huge))

    def _create_and_kill(self) -> None:
        self.other.call("create_session", name="brief")
        self._kill("brief")


def _spread(times: list[float]) -> tuple[float, float, float]:
    ordered = sorted(times)
    return p50(times), ordered[int(len(ordered) * 0.99)], ordered[-1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=3.0, help="for each animal")
    parser.add_argument("--only", default="", help="those whose name has this word")
    parser.add_argument("--source", default=SOURCE, help="measure another version")
    parser.add_argument("--zoo", choices=("bombs", "calls", "both"), default="both")
    options = parser.parse_args()
    with daemon(options.source) as holds:
        zoo = Zoo(holds, options.seconds)
        zoo.measure("nothing (floor)")
        if options.zoo != "calls":
            zoo.print_bombs(options.only)
        if options.zoo != "bombs":
            zoo.ask_much(options.only)
    head = ("meanwhile", "screen p50", "p99", "max", "run p50", "p99", "max")
    table((*head, "callback cpu", "turn cpu", "calls"), *zoo.rows)
    print(f"\nover {HELD:.0f} ms of processor time in one callback:", *zoo.worst, sep="\n  ")
    return 1 if zoo.worst else 0


if __name__ == "__main__":
    sys.exit(main())
