"""`nacre doctor`: check this machine, one line for each check, and say what to fix.

Rule 1: a check never raises; it returns what it finds.
Rule 2: `fail` means that nacre cannot work as it should, and only that sets the exit code. `warn`
is something that a person should know.
"""

import os
import platform
import shutil
import socket
import stat
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

from nacre import __version__
from nacre.cli.output.answers import add_json, colors_wanted, harmless, print_json
from nacre.client.calls import Client
from nacre.client.upstream_values import referenced_values
from nacre.core.shell.dialects import OFFERED, dialect_of
from nacre.core.upstream.servers import WrongTable, read_servers
from nacre.errors import InvalidInput, NacreError
from nacre.settings.paths import Paths, find_paths
from nacre.settings.sources import load_settings
from nacre.settings.table import Settings

Level = Literal["ok", "warn", "fail"]

_PATIENCE = 5.0  # seconds for a daemon or a program to answer
_COLORS = {"ok": "\x1b[32m", "warn": "\x1b[33m", "fail": "\x1b[31m"}


class Finding(NamedTuple):
    check: str
    level: Level
    message: str
    advice: str | None = None


class Machine(NamedTuple):
    """What several checks need."""

    paths: Paths
    settings: Settings
    daemon: "dict[str, Any] | NacreError | None"  # its status; why it has none; None: not running


def add_doctor(parser: ArgumentParser) -> None:
    add_json(parser)
    parser.set_defaults(run=run_doctor)


def run_doctor(arguments: Namespace) -> int:
    findings = list(_examine())
    failed = any(finding.level == "fail" for finding in findings)
    if arguments.json:
        checks = [finding._asdict() for finding in findings]
        print_json({"ok": not failed, "version": __version__, "checks": checks})
    else:
        for finding in findings:
            print(_line(finding))
    return 1 if failed else 0


def _line(finding: Finding) -> str:
    level = f"{finding.level:<4}"
    if colors_wanted():
        level = f"{_COLORS[finding.level]}{level}\x1b[0m"
    advice = f": {finding.advice}" if finding.advice else ""
    return f"{level}  {finding.check:<9} {harmless(finding.message + advice)}"


def _examine() -> Iterator[Finding]:
    yield from check_platform()
    yield from check_versions()
    yield from check_engine()
    yield from check_terminal()
    yield from check_shells()
    paths = find_paths()
    try:
        settings = load_settings(paths.config_file)
    except InvalidInput as error:
        yield Finding("settings", "fail", str(error))
        settings = Settings()
    machine = Machine(paths, settings, ask_daemon())
    checks: tuple[Callable[[Machine], Iterator[Finding]], ...] = (
        check_sandbox,
        check_limits,
        check_folders,
        check_token,
        check_daemon,
        check_port,
        check_upstreams,
    )
    for check in checks:
        yield from check(machine)


def ask_daemon() -> dict[str, Any] | NacreError | None:
    try:
        client = Client.reach(timeout=_PATIENCE)
        if client is None:
            return None
        with client:
            return client.call("status")
    except NacreError as error:
        return error


def check_upstreams(machine: Machine) -> Iterator[Finding]:
    """Say which MCP servers behind nacre do not work. None is started for it."""
    for name, state, tools, error in _upstreams(machine):
        if error is not None:
            yield Finding("upstream", "warn", f"{name}: {error}", f"nacre upstream test {name}")
        else:
            counted = "" if tools is None else f", {tools} tools"
            yield Finding("upstream", "ok", f"{name}: {state}{counted}")


def _upstreams(machine: Machine) -> Iterator[tuple[str, str, int | None, str | None]]:
    """Return name, state, number of tools and error of each: as the daemon says, else the file."""
    if isinstance(machine.daemon, dict):
        try:
            with Client.open(start=False, values=referenced_values(machine.paths)) as client:
                found = client.ask("list_upstreams")["servers"]
        except NacreError:
            return
        for one in found:
            yield one["name"], one["state"], one["tools"], one["error"]
        return
    try:
        with open(machine.paths.config_file, encoding="utf-8") as file:
            tables = read_servers(file.read(), machine.paths.config_file)
    except (OSError, ValueError):
        return  # a file that cannot be read is told with the settings
    for name, table in tables.items():
        if isinstance(table, WrongTable):
            yield name, "failed", None, str(table)
        else:
            yield name, "idle" if table.enabled else "disabled", None, None


# --- the machine -------------------------------------------------------------------------------


def check_platform() -> Iterator[Finding]:
    release = f"{platform.system()} {platform.release()}"
    if sys.platform == "linux":
        where = "Windows through WSL" if "microsoft" in release.lower() else "tested"
        yield Finding("platform", "ok", f"{release} ({where})")
    elif sys.platform == "darwin":
        yield Finding("platform", "ok", f"{release} (supported, not tested at every release)")
    else:
        yield Finding("platform", "fail", release, "use Linux or macOS; on Windows, WSL")
    if os.geteuid() == 0:
        yield Finding(
            "user", "warn", "running as root, and so will every agent", "create a user for nacre"
        )


def check_versions() -> Iterator[Finding]:
    python = f"{platform.python_version()} ({sys.executable})"
    yield Finding("python", "ok", python)
    yield Finding("nacre", "ok", __version__)


def check_engine() -> Iterator[Finding]:
    try:
        from nacre.core.terminal.terminal import Terminal

        terminal = Terminal(2, 20)
        terminal.feed(b"\x1b[1mpearl\x1b[0m")
        shown = terminal.plain_lines()[0]
        terminal.close()
    except Exception as error:  # noqa: BLE001  a native library can fail in any way
        yield Finding(
            "engine", "fail", f"pyghostty does not load: {error}", "reinstall nacre for this Python"
        )
        return
    if shown == "pearl":
        yield Finding("engine", "ok", "pyghostty loads, feeds and reads")
    else:
        yield Finding(
            "engine", "fail", f"pyghostty reads {shown!r}, not 'pearl'", "reinstall nacre"
        )


def check_terminal() -> Iterator[Finding]:
    try:
        master, slave = os.openpty()
        name = os.ttyname(slave)
        os.close(master)
        os.close(slave)
    except OSError as error:
        advice = "mount /dev/pts, or raise kernel.pty.max"
        yield Finding("terminal", "fail", f"cannot open a pseudo-terminal ({error})", advice)
    else:
        yield Finding("terminal", "ok", f"a pseudo-terminal opens ({name})")


# --- programs ----------------------------------------------------------------------------------


def check_shells() -> Iterator[Finding]:
    found = [text for shell in OFFERED if (text := _shell(shell))]
    if found:
        yield Finding("shells", "ok", ", ".join(found))
    else:
        yield Finding("shells", "fail", "no shell found on PATH", "install bash, or fix PATH")
    default = os.environ.get("SHELL")
    if default and shutil.which(default) is None:
        advice = "fix SHELL, or set NACRE_SHELL"
        yield Finding("shells", "warn", f"$SHELL is {default}, which cannot be run", advice)


def _shell(name: str) -> str | None:
    """Return a shell's name with its version, or with the program that it links to."""
    path = shutil.which(name)
    if path is None:
        return None
    if not dialect_of(name).tells_version:
        real = os.path.basename(os.path.realpath(path))
        return name if real == name else f"{name} ({real})"
    words = (_output([path, "--version"]) or "").replace(",", " ").split()
    version = next((word for word in words if word[0].isdigit()), "of unknown version")
    return f"{name} {version}"


def check_sandbox(machine: Machine) -> Iterator[Finding]:
    """Try each profile. One that is the default must work, or no session starts."""
    from nacre.system.sandbox.profiles import PROFILES
    from nacre.system.sandbox.sandboxes import Sandboxes

    sandboxes = Sandboxes(machine.settings, machine.paths, None)
    works: dict[str, list[str]] = {}
    troubles: dict[tuple[str, str], list[str]] = {}
    for name in PROFILES:
        if (trouble := sandboxes.trouble_with(name)) is None:
            works.setdefault(sandboxes.backend_of(name) or "", []).append(name)
        else:
            troubles.setdefault(trouble, []).append(name)
    for backend, profiles in works.items():
        ways = "overlays" if sandboxes.makes_overlays else "copies: bubblewrap is older than 0.11"
        also = f" (review by {ways})" if "review" in profiles else ""
        yield Finding("sandbox", "ok", f"{', '.join(profiles)} by {backend}{also}")
    for (reason, fix), names in troubles.items():
        level: Level = "fail" if machine.settings.sandbox in names else "warn"
        yield Finding("sandbox", level, f"no {', '.join(names)}: {reason}", fix)


def check_limits(machine: Machine) -> Iterator[Finding]:
    """Say what limits sessions; cgroups are tried by the daemon alone, which they would hold."""
    settings, daemon = machine.settings, machine.daemon
    files, largest = settings.session_max_open_files, settings.session_max_file_bytes
    size = f"files of up to {largest / 2**30:,.4g} GiB" if largest else "files of any size"
    each = f"each program opens at most {files} files" if files else "each program opens any number"
    each = f"{each}, writes {size}"
    if not isinstance(daemon, dict):
        yield Finding("limits", "ok", f"{each}; cgroups are tried when the daemon starts")
    elif fix := daemon.get("cgroups_fix"):
        message = f"{each}; no limit of memory and processes, for there are no cgroups"
        level: Level = "ok" if settings.session_cgroups == "off" else "warn"
        yield Finding("limits", level, f"{message} ({daemon['cgroups']})", fix)
    else:
        yield Finding("limits", "ok", f"{each}; each session {daemon.get('cgroups')}")


def _output(argv: list[str]) -> str | None:
    """Return the first line that a program prints, or None when it fails."""
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=True,
            text=True,
            errors="replace",
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.partition("\n")[0].strip()


# --- files -------------------------------------------------------------------------------------


def check_folders(machine: Machine) -> Iterator[Finding]:
    paths = machine.paths
    wrong = [finding for folder in paths if (finding := _folder(folder))]
    yield from wrong
    if not wrong:
        yield Finding("folders", "ok", ", ".join(dict.fromkeys(paths)))


def _folder(folder: str) -> Finding | None:
    advice = f"change the owner of {folder}, or set NACRE_HOME to another folder"
    try:
        found = os.stat(folder)
    except FileNotFoundError:
        return _unmade(folder)
    except OSError as error:
        return Finding("folders", "fail", f"{folder}: {error.strerror}", advice)
    if not stat.S_ISDIR(found.st_mode):
        return Finding("folders", "fail", f"{folder} is not a folder", "move it away")
    if found.st_uid != os.getuid():
        return Finding("folders", "fail", f"{folder} belongs to another user", advice)
    if found.st_mode & 0o077:
        mode = f"{stat.S_IMODE(found.st_mode):04o}"
        return Finding(
            "folders", "fail", f"{folder} is open to others ({mode})", f"chmod 700 {folder}"
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        return Finding("folders", "fail", f"cannot write to {folder}", f"chmod 700 {folder}")
    return None


def _unmade(folder: str) -> Finding | None:
    """Check that a folder which does not exist yet can be created."""
    parent = os.path.dirname(folder)
    while not os.path.lexists(parent):
        parent = os.path.dirname(parent)
    if os.access(parent, os.W_OK | os.X_OK):
        return None
    advice = "set NACRE_HOME to a folder of yours"
    return Finding("folders", "fail", f"cannot create {folder} in {parent}", advice)


def check_token(machine: Machine) -> Iterator[Finding]:
    path = machine.paths.token_file
    if machine.settings.token is not None:
        yield Finding("token", "ok", "set in the configuration")
        return
    try:
        found = os.stat(path)
    except FileNotFoundError:
        yield Finding("token", "ok", "none yet; the daemon creates it when it first starts")
        return
    except OSError as error:
        yield Finding("token", "fail", f"{path}: {error.strerror}", "fix its permissions")
        return
    advice = f"rm {path}; the next start creates a new token"
    if found.st_mode & 0o077:
        mode = f"{stat.S_IMODE(found.st_mode):04o}"
        yield Finding("token", "fail", f"other users can read {path} ({mode})", advice)
    elif found.st_size == 0:
        yield Finding("token", "fail", f"{path} is empty", advice)
    else:
        yield Finding("token", "ok", path)


# --- the daemon --------------------------------------------------------------------------------


def check_daemon(machine: Machine) -> Iterator[Finding]:
    daemon = machine.daemon
    if daemon is None:
        yield Finding("daemon", "ok", "not running; it starts when it is needed")
    elif isinstance(daemon, NacreError):
        advice = f"run 'nacre stop', or read {machine.paths.log_file}"
        yield Finding("daemon", "fail", str(daemon), advice)
    elif daemon["version"] != __version__:
        message = f"pid {daemon['pid']} runs version {daemon['version']}, this is {__version__}"
        yield Finding("daemon", "warn", message, "run 'nacre stop'; the next call starts this one")
    else:
        yield Finding("daemon", "ok", f"pid {daemon['pid']}, sessions: {daemon['sessions']}")
    if isinstance(daemon, dict):
        for warning in daemon.get("warnings", []):
            yield Finding("daemon", "fail", warning, f"read {machine.paths.log_file}")


def check_port(machine: Machine) -> Iterator[Finding]:
    wanted, daemon = machine.settings.port, machine.daemon
    if isinstance(daemon, dict):
        if wanted in (0, daemon["port"]):
            yield Finding("port", "ok", f"{daemon['port']} is held by our daemon")
        else:
            advice = f"clients find it at {daemon['url']}"
            yield Finding("port", "warn", f"{wanted} was not free when our daemon started", advice)
    elif wanted == 0:
        yield Finding("port", "ok", "any free one")
    elif _is_free(wanted):
        yield Finding("port", "ok", f"{wanted} is free")
    else:
        advice = "the daemon will use the next free port below; 'nacre status' shows it"
        yield Finding("port", "warn", f"{wanted} is taken by another program", advice)


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
