"""The build of the web page without Node: what it fetches, and that it takes nothing else."""

import base64
import hashlib
import importlib.util
import io
import json
import tarfile
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def building(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The script, with an empty folder of packages and a registry in tmp_path/registry."""
    spec = importlib.util.spec_from_file_location("build_web", ROOT / "scripts" / "build_web.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "PACKAGES", tmp_path / "node_modules")
    (tmp_path / "registry").mkdir()
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "registry"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("npm_config_registry", f"http://127.0.0.1:{server.server_port}/")
        yield module
        server.shutdown()


def published(folder: Path, name: str, files: dict[str, str]) -> dict[str, Any]:
    """Put a package into the registry; return what a lock says of it."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for path, text in {"package/package.json": '{"version": "1.2.0"}', **files}.items():
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(text), 0o755 if path.endswith("/tool") else 0o600
            archive.addfile(entry, io.BytesIO(text.encode()))
    place = folder / "registry" / name / "-"
    place.mkdir(parents=True)
    (place / f"{name.rpartition('/')[2]}-1.2.0.tgz").write_bytes(packed.getvalue())
    checksum = base64.b64encode(hashlib.sha512(packed.getvalue()).digest()).decode()
    return {"version": "1.2.0", "integrity": f"sha512-{checksum}"}


def test_what_the_lock_names_is_fetched_once(building: ModuleType, tmp_path: Path) -> None:
    lock = {"@x/one": published(tmp_path, "@x/one", {"package/bin/tool": "run"})}
    building.fetch(lock)
    tool = tmp_path / "node_modules" / "@x" / "one" / "bin" / "tool"
    assert (tool.read_text(), tool.stat().st_mode & 0o111) == ("run", 0o111)
    (tmp_path / "registry" / "@x" / "one" / "-" / "one-1.2.0.tgz").unlink()
    building.fetch(lock)


@pytest.mark.parametrize("harm", ["checksum", "outside"])
def test_anything_else_is_refused(building: ModuleType, tmp_path: Path, harm: str) -> None:
    lock = {"one": published(tmp_path, "one", {"package/../../evil": "x"})}
    if harm == "checksum":
        lock["one"]["integrity"] = f"sha512-{base64.b64encode(bytes(64)).decode()}"
    with pytest.raises(ValueError, match="checksum differs" if harm == "checksum" else "outside"):
        building.fetch(lock)
    assert not (tmp_path / "node_modules" / "one").exists()
    assert not list(tmp_path.rglob("evil"))


def test_the_page_needs_no_package_for_development(building: ModuleType) -> None:
    lock = json.loads((ROOT / "web" / "package-lock.json").read_text())
    wanted = json.loads((ROOT / "web" / "package.json").read_text())
    needed = building.needed(lock)
    assert set(wanted["dependencies"]) <= set(needed)
    assert [name for name in needed if name.startswith("@esbuild/")] != []
    assert not {"typescript", "axe-core", "esbuild"} & set(needed)


def test_npm_is_asked_where_nothing_is_set(building: ModuleType, tmp_path: Path) -> None:
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\necho https://packages.example/npm/\n")
    npm.chmod(0o755)
    env = {"HOME": str(tmp_path), "PATH": f"{tmp_path}:/usr/bin:/bin"}
    assert building.registry(env) == "https://packages.example/npm"
    (tmp_path / ".npmrc").write_text("fund=false\nregistry = https://own.example/\n")
    assert building.registry(env) == "https://own.example"
    assert building.registry({**env, "npm_config_registry": "http://set.example"}) == (
        "http://set.example"
    )


def test_without_npm_or_a_setting_it_is_told_that_nobody_knows(
    building: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(building.NoRegistry):
        building.registry({"HOME": str(tmp_path), "PATH": str(tmp_path)})
    monkeypatch.delenv("npm_config_registry")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert building.main() == building.NO_REGISTRY
