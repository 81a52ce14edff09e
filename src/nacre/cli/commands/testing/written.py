"""`nacre record SESSION --scenario FILE`: work in a session, and get what you did as a test.

Rule 1: the file is opened before anything begins, and removed if nothing was written.
Rule 2: what is typed at a question for a password is never written.
"""

import os
import shlex
import threading
import time
from argparse import Namespace
from typing import Any

from nacre.cli.attach.attach import attach
from nacre.cli.attach.own_keys import OwnKeys
from nacre.cli.output.answers import NO_LIMIT, harmless
from nacre.client.calls import Client
from nacre.errors import Failed, InvalidInput, NacreError

_DETACH, _CONTROL = "ctrl+]", "ctrl+^"  # as attach's


def record_scenario(arguments: Namespace) -> int:
    """Attach until the person detaches or the program ends; then write the scenario."""
    from nacre.testing.scenarios.written import TypedChunk

    if not (os.isatty(0) and os.isatty(1)):
        raise InvalidInput("a scenario is recorded from what you type: this needs a terminal")
    with Client.open(told=False) as client:
        details = client.ask("list_sessions", session=arguments.session)
    session = details["session_id"]
    with _NewFile(arguments.scenario) as file:
        asked = _PasswordAsked(session)
        typed: list[TypedChunk] = []

        def note(keys: bytes) -> None:
            typed.append(TypedChunk(time.time(), keys, asked.hidden))

        keys = OwnKeys.parse(_DETACH, _CONTROL)
        attach(session, details["name"], keys, read_only=False, status=True, typed=note)
        with Client.open(told=False) as client:
            file.write(_scenario(client, arguments.scenario, details, typed))
    print(harmless(f"wrote {arguments.scenario}; try it: nacre test {arguments.scenario}"))
    return 0


def _scenario(client: Client, path: str, details: dict[str, Any], typed: Any) -> str:
    from nacre.testing.scenarios.written import ScreenThen, write_scenario

    session = details["session_id"]

    def shown(operation: str, **more: Any) -> ScreenThen:
        found = client.ask(operation, session=session, format="plain", max_chars=NO_LIMIT, **more)
        return ScreenThen(found["lines"], (found["rows"], found["cols"]))

    ended = client.ask("list_sessions", session=session)
    folder = os.path.dirname(os.path.abspath(path))
    return write_scenario(
        name=os.path.basename(path).partition(".")[0],
        launch=_words(details["command"], details["args"]),
        cwd=os.path.relpath(details["cwd"] or folder, folder),
        typed=typed,
        screen_at=lambda moment: shown("screen_at", time=moment),
        end=shown("get_screen"),
        exit_code=None if ended["alive"] else ended["exit_code"],
    )


def _words(command: str, args: list[str]) -> list[str]:
    """Return the program and its arguments; `command` is all of it as a line, or a shell's line."""
    if args == ["-c", command]:
        return ["/bin/sh", *args]
    return shlex.split(command)[:1] + args


class _PasswordAsked:
    """Whether the program asks for a password now, as the daemon tells."""

    def __init__(self, session: str) -> None:
        self.hidden = False
        threading.Thread(target=self._follow, args=(session,), daemon=True).start()

    def _follow(self, session: str) -> None:
        from nacre.library.sync import connect

        try:
            with connect(person=True, start=False) as client:
                self.hidden = client.session(session).state().state.asks == "password"
                for event in client.events(["states"], session):
                    if event.kind == "state":
                        self.hidden = event.fields["asks"] == "password"
        except NacreError:  # the daemon is gone, and with it what could be typed
            return


class _NewFile:
    """A file that was not there; it is removed again if nothing was written."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._written = False
        try:
            self._file = open(path, "x", encoding="utf-8")  # noqa: SIM115  # closed by __exit__
        except FileExistsError:
            raise Failed(f"{path} already exists", "choose another path") from None
        except OSError as error:
            raise Failed(f"{path} cannot be written: {error.strerror}") from error

    def __enter__(self) -> "_NewFile":
        return self

    def write(self, text: str) -> None:
        self._file.write(text)
        self._written = True

    def __exit__(self, *_: object) -> None:
        self._file.close()
        if not self._written:
            os.unlink(self._path)
