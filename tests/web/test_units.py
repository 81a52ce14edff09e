"""The page's pure parts, in Node: no browser, no daemon."""

import subprocess
from pathlib import Path

WEB = Path(__file__).parents[2] / "web"
UNITS = Path(__file__).parent / "units"


def test_pure_parts_of_the_page(tmp_path: Path) -> None:
    bundled = [
        str(WEB / "node_modules" / ".bin" / "esbuild"),
        *map(str, sorted(UNITS.glob("*.test.ts"))),
        "--bundle",
        "--platform=node",
        "--format=esm",
        "--out-extension:.js=.mjs",
        f"--outdir={tmp_path}",
    ]
    subprocess.run(bundled, check=True, capture_output=True)
    files = sorted(map(str, tmp_path.glob("*.mjs")))
    assert files
    done = subprocess.run(["node", "--test", *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
