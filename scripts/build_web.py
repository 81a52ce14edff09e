"""Build the web page into src/nacre/page. It needs no Node: esbuild is a program of its own.

Rule 1: what goes in is what web/package-lock.json names. What is missing is fetched from where npm
would get it, and checked by the lock's checksums.
Rule 2: names carry a hash of their content, so that browsers may keep them for ever.
Rule 3: index.html is written last: where it is, the rest is whole. A build that fails leaves the
former page as it was.
"""

import base64
import gzip
import hashlib
import io
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
WEB = ROOT / "web"
PAGE = ROOT / "src" / "nacre" / "page"
PACKAGES = WEB / "node_modules"

NO_REGISTRY = 4  # the exit code that build-web knows
_PATIENCE = 60.0  # seconds for each answer of the registry
_MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "i686": "ia32", "armv7l": "arm"}
_PACKAGE = re.compile(r"node_modules/((?:@[^/]+/)?[^/]+)/")
_COMPRESSED = (".js", ".css", ".svg", ".txt")  # fonts are compressed already


class NoRegistry(Exception):
    """Nobody says where packages are: there is no npm, and no setting of one."""


def main() -> int:
    try:
        fetch(needed(json.loads((WEB / "package-lock.json").read_text())))
        build()
    except NoRegistry:
        return NO_REGISTRY
    except (OSError, subprocess.CalledProcessError, ValueError) as error:
        sys.stderr.write(f"the web page is not built: {error}\n")
        return 1
    return 0


# --- packages ----------------------------------------------------------------------------------


def needed(lock: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the packages of the page, and esbuild for this machine. Raises ValueError."""
    known = {name.removeprefix("node_modules/"): one for name, one in lock["packages"].items()}
    machine = platform.machine().lower()
    esbuild = f"@esbuild/{sys.platform}-{_MACHINES.get(machine, machine)}"
    if esbuild not in known:
        raise ValueError(f"there is no esbuild for {sys.platform} on {machine}")
    return {name: one for name, one in known.items() if name == esbuild or _is_shipped(name, one)}


def _is_shipped(name: str, package: dict[str, Any]) -> bool:
    return bool(name) and not package.get("dev")


def fetch(packages: dict[str, dict[str, Any]]) -> None:
    """Get those that are missing. Raises NoRegistry, OSError, ValueError."""
    missing = {name: one for name, one in packages.items() if _version(name) != one["version"]}
    if not missing:
        return
    source = registry(os.environ)
    sys.stdout.write(f"fetching {len(missing)} packages for the web page (about 10 MB)\n")
    sys.stdout.flush()
    with ThreadPoolExecutor(max_workers=6) as pool:
        list(pool.map(lambda item: _fetch(source, *item), missing.items()))


def _version(name: str) -> str | None:
    try:
        found: str = json.loads((PACKAGES / name / "package.json").read_text())["version"]
    except (OSError, ValueError, KeyError):
        return None
    return found


def _fetch(source: str, name: str, package: dict[str, Any]) -> None:
    file = f"{name.rpartition('/')[2]}-{package['version']}.tgz"
    address = f"{source}/{name}/-/{file}"
    try:
        with urllib.request.urlopen(address, timeout=_PATIENCE) as answer:  # noqa: S310  # http(s)
            data = answer.read()
    except OSError as error:
        raise OSError(f"{address}: {error}") from None
    kind, _, wanted = package["integrity"].partition("-")
    if base64.b64encode(hashlib.new(kind, data).digest()).decode() != wanted:
        raise ValueError(f"{address} is not what web/package-lock.json names: its checksum differs")
    unpack(data, PACKAGES / name)


def registry(environ: "os._Environ[str] | dict[str, str]") -> str:
    """Return where npm would get packages from.

    Raises NoRegistry if nobody says it, ValueError for what is no http(s).
    """
    found = environ.get("npm_config_registry") or environ.get("NPM_CONFIG_REGISTRY") or ""
    own = Path(environ.get("HOME", "/")) / ".npmrc"
    if not found and own.is_file():
        line = re.search(r"^\s*registry\s*=\s*(\S+)", own.read_text(errors="replace"), re.MULTILINE)
        found = line[1] if line else ""
    found = (found or _told_by_npm(environ)).rstrip("/")
    if not found.startswith(("https://", "http://")):
        raise ValueError(f"the npm registry {found!r} is no address")
    return found


def _told_by_npm(environ: "os._Environ[str] | dict[str, str]") -> str:
    npm = shutil.which("npm", path=environ.get("PATH"))
    if npm is None:
        raise NoRegistry
    asked = subprocess.run(
        [npm, "config", "get", "registry"],
        cwd=WEB,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=_PATIENCE,
        text=True,
        check=True,
    )
    return asked.stdout.strip()


def unpack(data: bytes, folder: Path) -> None:
    """Unpack a package beside its place, and then move it there. Raises ValueError."""
    fresh = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            parts = Path(member.name).parts[1:]  # all of it is in a folder, mostly "package"
            content = archive.extractfile(member) if member.isfile() else None
            if not parts or content is None:
                continue
            if ".." in parts:
                raise ValueError(f"a package has a file outside of itself: {member.name}")
            path = fresh.joinpath(*parts)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.read())
            path.chmod(0o755 if member.mode & 0o100 else 0o644)
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)


# --- the page ----------------------------------------------------------------------------------


def build() -> None:
    """Bundle, compress and move into place. Raises OSError, CalledProcessError, ValueError."""
    fresh, assets = PAGE / ".assets", PAGE / "assets"
    shutil.rmtree(fresh, ignore_errors=True)
    made = fresh.with_suffix(".json")
    [esbuild] = PACKAGES.glob(f"@esbuild/{sys.platform}-*/bin/esbuild")
    words = [
        *("page=src/main.tsx", "icon=src/icon.svg", f"--outdir={fresh}", f"--metafile={made}"),
        *("--bundle", "--minify", "--format=esm", "--target=es2022", "--log-level=warning"),
        *("--entry-names=[name]-[hash]", "--asset-names=[name]-[hash]"),
        *("--loader:.woff2=file", "--loader:.svg=copy"),
        *("--jsx=automatic", "--jsx-import-source=preact"),
        "--legal-comments=none",  # licences.txt has them whole
    ]
    subprocess.run([esbuild, *words], cwd=WEB, check=True)
    told = json.loads(made.read_text())
    made.unlink()
    (fresh / "licences.txt").write_text(licences(told["inputs"]))
    for path in sorted(fresh.iterdir()):
        if path.suffix in _COMPRESSED:  # once here instead of at each request
            packed = gzip.compress(path.read_bytes(), 9, mtime=0)
            path.with_name(f"{path.name}.gz").write_bytes(packed)
    names = [Path(name).name for name in told["outputs"]]
    shutil.rmtree(assets, ignore_errors=True)
    fresh.rename(assets)
    text = (WEB / "index.html").read_text()
    for mark, start, end in (("icon", "icon-", ".svg"), ("style", "page-", ".css")):
        text = text.replace(f"%{mark}%", _named(names, start, end))
    (PAGE / "index.html").write_text(text.replace("%script%", _named(names, "page-", ".js")))


def _named(names: list[str], start: str, end: str) -> str:
    found = [name for name in names if name.startswith(start) and name.endswith(end)]
    if not found:
        raise ValueError(f"the build has no {start}*{end}")
    return f"assets/{found[0]}"


def licences(inputs: dict[str, Any]) -> str:
    """Collect the licences of everything that is in the bundle."""
    parts = []
    for name in sorted({found[1] for path in inputs if (found := _PACKAGE.search(path))}):
        files = sorted((PACKAGES / name).iterdir())
        for file in [one for one in files if re.match(r"licen[cs]e", one.name, re.IGNORECASE)][:1]:
            parts.append(f"== {name}\n\n{file.read_text()}")
    font = (WEB / "licences" / "JetBrainsMono-OFL.txt").read_text()
    return "\n".join([*parts, f"== JetBrains Mono, the font\n\n{font}"])


if __name__ == "__main__":
    sys.exit(main())
