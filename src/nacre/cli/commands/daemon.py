"""The commands about the daemon: status and stop.

Rule 1: when `nacre stop` returns, the daemon is gone, and everything that ran in its sessions.
Rule 2: it always returns, whatever state the daemon is in (`stop_patience`).
"""

import glob
import json
import os
import sys
import time
from argparse import ArgumentParser, Namespace
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from nacre.cli.output.answers import add_json, show
from nacre.client.calls import Client
from nacre.client.lock import all_holders, holders_of_gone, is_free
from nacre.errors import DaemonUnreachable, InvalidInput
from nacre.settings.paths import Paths, find_paths

if TYPE_CHECKING:
    from nacre.settings.table import Settings

# A daemon that holds its lock but takes no connections is starting or stopping. We wait this long
# for the lock, which is free when it has stopped, and then try to connect again.
_BETWEEN = 1.0  # seconds


def add_status(parser: ArgumentParser) -> None:
    add_json(parser)
    parser.set_defaults(run=run_status)


def run_status(arguments: Namespace) -> int:
    client = Client.reach()
    if client is None:
        show(arguments, {"running": False}, "no daemon is running; 'nacre new' starts one")
        return 1
    with client:
        status = client.ask("status")
    beyond = status.get("beyond_url")  # an older daemon does not say it
    lines = [
        f"nacre {status['version']} is running, pid {status['pid']}",
        f"address   {status['url']}",
        *([f"          {beyond} (for other machines)"] if beyond else []),
        f"sessions  {status['sessions']}",
        f"uptime    {round(status['uptime'])} s",
        f"socket    {status['socket']}",
        f"token     {status['token_file']}",
        f"ends      {_end(ephemeral=status['ephemeral'])}",
        *(f"warning   {warning}" for warning in status.get("warnings", [])),
    ]
    return show(arguments, {"running": True, **status}, "\n".join(lines))


def _end(*, ephemeral: bool) -> str:
    own = "when no client and no session of yours is left, or " if ephemeral else ""
    return f"{own}with nacre stop"


def add_stop(parser: ArgumentParser) -> None:
    add_json(parser)
    parser.set_defaults(run=run_stop)


def run_stop(arguments: Namespace) -> int:
    from nacre.settings.sources import load_settings  # half of what `nacre status` would take

    paths = find_paths()
    try:
        settings = load_settings(paths.config_file)
    except InvalidInput as error:  # no daemon can start with it, and the one that runs must end
        print(f"nacre: {error}; it is not used to stop", file=sys.stderr)
        settings = load_settings(os.devnull)
    until = time.monotonic() + settings.stop_patience
    stopped = _stop(paths, until)
    if stopped is not None:
        result: dict[str, Any] = {"success": True, "stopped": stopped}
        text = "the daemon has stopped" if stopped else "no daemon is running"
        if stopped and (kept := _undecided(paths)):
            result["kept"] = kept
            text += f"; kept, as they may have changes: {', '.join(kept)} (see nacre diff)"
        return show(arguments, result, text)
    return _force(arguments, paths, settings)


def _undecided(paths: Paths) -> list[str]:
    """Return the names of sessions whose changes wait for somebody to decide on them."""
    names = []
    for record in sorted(glob.glob(os.path.join(glob.escape(paths.journals), "*", "session.json"))):
        with suppress(OSError, ValueError, KeyError, TypeError):
            with open(record, encoding="utf-8") as file:
                about = json.load(file)
            if os.path.isdir(about["layer"]):
                names.append(str(about["name"]))
    return names


def _force(arguments: Namespace, paths: Paths, settings: "Settings") -> int:
    """End a daemon that did not end by itself, and say so."""
    from nacre.client.force import end_by_force

    if not all_holders(paths) and not is_free(paths):
        raise DaemonUnreachable(
            f"the daemon did not stop within {settings.stop_patience:g} s, and its process cannot "
            "be found; 'ps' may show it"
        )
    forced = end_by_force(paths, settings.kill_grace)
    if not forced.daemons:  # it ended by itself in the last moment
        return show(arguments, {"success": True, "stopped": True}, "the daemon has stopped")
    for path in (paths.state_file, paths.socket):
        with suppress(OSError):
            os.unlink(path)
    text = (
        f"the daemon did not stop within {settings.stop_patience:g} s, so it was killed "
        f"(pid {_joined(forced.daemons)})"
    )
    if forced.programs:
        text += (
            f", with everything in its sessions (pid {_joined(forced.programs)}); 'nacre restore' "
            "starts these sessions again"
        )
    if forced.left:
        text += f". Still there, stuck or of another user: pid {_joined(forced.left)}"
    result = {"success": not forced.left, "stopped": True, **forced._asdict()}
    show(arguments, result, text)
    return 1 if forced.left else 0


def _joined(pids: list[int]) -> str:
    return ", ".join(map(str, pids))


def _stop(paths: Paths, until: float) -> bool | None:
    """Ask the daemon to stop and wait for its end. Return whether there was one.

    None: it has not ended at the time `until`.
    """
    known = _pid(paths)
    while (left := until - time.monotonic()) > 0:
        runs = not is_free(paths) or bool(holders_of_gone(paths))
        try:
            client = Client.reach(timeout=left)
        except DaemonUnreachable:
            if time.monotonic() < until:
                raise  # it refuses us
            break
        if client is not None:
            with client:
                try:
                    pid = client.call("status")["pid"]
                except DaemonUnreachable:  # it is stopping by itself, at the end of its grace
                    if _is_gone(paths, until):
                        return True
                    continue
                # It may exit before we read its answer; the lock says whether it did.
                with suppress(DaemonUnreachable):
                    client.call("stop")
            # Another client may start the next daemon before we see the lock free.
            while time.monotonic() < until:
                if _is_gone(paths, until) or _pid(paths) not in (None, pid, known):
                    return True
            break
        if is_free(paths) and not holders_of_gone(paths):
            return runs  # one that ended by itself while we looked for it
        if _is_gone(paths, until):
            return True
    return None


def _pid(paths: Paths) -> int | None:
    try:
        with open(paths.state_file, encoding="utf-8") as file:
            pid: int = json.load(file)["pid"]
    except (OSError, ValueError):
        return None
    return pid


def _is_gone(paths: Paths, until: float) -> bool:
    """Return whether the daemon ends within a moment, which is not after `until`."""
    patience = max(0.001, min(_BETWEEN, until - time.monotonic()))
    if not is_free(paths, patience=patience):
        return False
    if found := holders_of_gone(paths):  # a home that was renamed is locked where it is now
        from nacre.client.force import await_ends  # only here, because mostly there is none

        await_ends(found, patience)
    return not (found and holders_of_gone(paths))
