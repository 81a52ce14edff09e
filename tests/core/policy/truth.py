"""Run lines in a sandbox, and see which of them call a program that does harm.

Rule: nothing is run outside of bubblewrap: the lines are random.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

# Each of them only notes that it was called.
HARMING = (
    *("rm", "chmod", "chown", "chgrp", "killall", "pkill", "reboot", "shutdown", "halt", "init"),
    *("sudo", "su", "unlink", "shred", "truncate"),
)

_INSIDE = """
import json, os, shutil, subprocess, sys
os.makedirs("/tmp/stubs"); os.makedirs("/tmp/home")
for name in json.loads(sys.argv[1]):
    with open(f"/tmp/stubs/{name}", "w") as file:
        file.write(f"#!/bin/sh\\necho {name} >> /tmp/called\\n")
    os.chmod(f"/tmp/stubs/{name}", 0o755)
env = {"PATH": "/tmp/stubs:/usr/bin:/bin", "HOME": "/tmp/home", "LANG": "C.UTF-8", "TERM": "dumb"}
for line in sys.stdin:
    shutil.rmtree("/tmp/work", ignore_errors=True)
    os.makedirs("/tmp/work/sub")
    for name in ("a", "b", "x", "y", "list"):
        with open(f"/tmp/work/{name}", "w") as file:
            file.write("a\\nb\\n")
    open("/tmp/called", "w").close()
    child = subprocess.Popen(
        ["/bin/bash", "-c", json.loads(line)], cwd="/tmp/work", env=env, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        child.wait(1)
    except subprocess.TimeoutExpired:
        pass
    try:
        os.killpg(child.pid, 9)
    except OSError:
        pass
    child.wait()
    left = os.listdir("/tmp/work") if os.path.isdir("/tmp/work") else []
    with open("/tmp/called") as file:
        called = file.read().split()
    called += [name + " is gone" for name in ("a", "b", "x", "y", "list") if name not in left]
    print(json.dumps(called), flush=True)
"""


def can_run() -> bool:
    """Return whether bubblewrap works here: some machines forbid the namespaces that it needs."""
    argv = ["bwrap", "--ro-bind", "/", "/", "--proc", "/proc", "--unshare-all", "true"]
    try:
        return subprocess.run(argv, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def harms(lines: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each line with what it called or deleted, in an empty folder and with no network."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "inside.py"
        script.write_text(_INSIDE)
        argv = [
            *("bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
            # The interpreter itself, which may lie below /tmp, and not an environment's link to it.
            *("--tmpfs", "/tmp", "--ro-bind", sys.base_prefix, sys.base_prefix),
            *("--ro-bind", str(script), "/tmp/inside.py"),
            *("--unshare-all", "--die-with-parent", "--cap-drop", "ALL"),
            *(os.path.realpath(sys.executable), "-I", "/tmp/inside.py", json.dumps(HARMING)),
        ]
        with subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as inside:
            assert inside.stdin is not None
            assert inside.stdout is not None
            for line in lines:
                inside.stdin.write(json.dumps(line) + "\n")
                inside.stdin.flush()
                answer = inside.stdout.readline()
                assert answer, "the sandbox has ended"
                yield line, json.loads(answer)
            inside.stdin.close()
