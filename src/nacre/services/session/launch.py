"""Decide what a new session runs: argument vector, folder, environment.

Rule 1: everything that can be wrong is found here, before anything is started.
Rule 2: only if no program has the name is a shell asked for it, in a thread, so that the loop does
not wait.
"""

import asyncio
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from nacre import __version__
from nacre.core.catalog.caller import Caller
from nacre.core.operations.sessions import CreateSession
from nacre.core.shell.dialects import INTEGRATED, OFFERED, SHELLS
from nacre.errors import BadParameter, CommandNotFound, InvalidInput
from nacre.system.processes.environment import confined, login_shell, of_caller
from nacre.system.processes.pty import find_program
from nacre.system.sandbox.sandboxes import Sandboxes
from nacre.system.sandbox.view import SandboxView, search_path
from nacre.wording import Give, Omit

# Seconds for an answer that normally takes 2 ms. If it takes longer, the machine or a folder hangs;
# then the session's own shell will report an unknown command.
_SHELL_PATIENCE = 5.0


class Confine(NamedTuple):
    """The sandbox that a launch is planned for."""

    profile: str
    sandboxes: Sandboxes

    def settle(self, folder: str) -> tuple[str, SandboxView]:
        """Return the workspace for a folder, and what is to be seen in its sandbox.

        Raises BadParameter for a folder that no sandbox can be about.
        """
        workspace = os.path.realpath(folder)
        return workspace, self.sandboxes.plan(self.profile, workspace)


class Launch(Struct, frozen=True):
    argv: tuple[str, ...]
    command: str  # for people to read
    program: str  # the name of what runs: bash, vim
    is_shell: bool  # an interactive shell at its prompt, not a command
    integrated: bool  # it is started so that it marks its prompts
    cwd: str
    env: Mapping[str, str]
    sandbox: str = "off"
    workspace: str = ""  # of a sandbox: the folder that it is about, whatever the cwd is later
    layer: str = ""  # of a review: what takes the changes

    @property
    def confined(self) -> bool:
        return self.sandbox != "off"


async def plan_launch(
    request: CreateSession,
    caller: Caller,
    *,
    default_shell: str | None,
    home: str,
    confine: Confine | None = None,
    passed: str = "",
) -> Launch:
    """Resolve a request, for a sandbox if there is one to `confine` it.

    `passed` names further variables of the daemon's that it gets (session_env).

    Raises InvalidInput for a folder, program or variable that cannot be used.
    """
    _refuse_nul(request)
    cwd = resolve_folder(request.cwd, caller.cwd, home)
    if confine is None:
        env = _environment(caller, request.env or {}, cwd, passed)
        return await _plan(request, cwd, env, default_shell, _shows_all)
    workspace, view = confine.settle(cwd)
    env = _environment(caller, request.env or {}, workspace, passed, view)
    launch = await _plan(request, workspace, env, default_shell, view.shows)
    return replace(launch, sandbox=confine.profile, workspace=workspace)


async def _plan(
    request: CreateSession,
    cwd: str,
    env: Mapping[str, str],
    default_shell: str | None,
    shows: Callable[[str], bool],
) -> Launch:
    if request.command is None:
        if request.args is not None:
            raise BadParameter("args", "need a command", Omit(("args",), "to get the shell"))
        shell = _find_shell(default_shell or env.get("SHELL"), cwd, env, shows)
        name = os.path.basename(shell)
        return Launch((shell,), shell, name, True, name in INTEGRATED, cwd, env)
    if not request.command.strip():
        raise BadParameter("command", "is empty", Omit(("command",), "to get the shell"))
    if request.args is not None:
        program = _require_program(request.command, cwd, env)
        argv = (program, *request.args)
        command = shlex.join((request.command, *request.args))
        return Launch(argv, command, os.path.basename(program), False, False, cwd, env)
    return await _plan_line(request.command, cwd, env)


def relaunch(
    launch: Launch, caller: Caller, home: str, confine: Confine | None = None, passed: str = ""
) -> Launch:
    """Return how to start a lost session again; its environment was not stored.

    It gets the environment that a new session of this caller would have, and the same sandbox.
    """
    if confine is not None:
        _, view = confine.settle(launch.workspace)
        return replace(launch, env=_environment(caller, {}, launch.cwd, passed, view))
    cwd = launch.cwd if os.path.isdir(launch.cwd) else home
    return replace(launch, cwd=cwd, env=_environment(caller, {}, cwd, passed))


async def _plan_line(line: str, cwd: str, env: Mapping[str, str]) -> Launch:
    word = _first_word(line)
    if word is not None:
        program = find_program(word, cwd=cwd, path=env.get("PATH"))
        if program is None and (os.sep in word or not await _shell_knows(word, cwd, env)):
            raise _not_found(word, cwd)
        if program is not None and line.strip() == word:
            name = os.path.basename(program)
            integrated = name in INTEGRATED
            return Launch((program,), line.strip(), name, name in SHELLS, integrated, cwd, env)
    name = os.path.basename(word or "sh")
    return Launch(("/bin/sh", "-c", line), line, name, False, False, cwd, env)


def _first_word(line: str) -> str | None:
    """Return the program that a command line begins with; None if only a shell could know."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.commenters = ""
    lexer.whitespace_split = True
    try:
        for token in lexer:
            name, equals, _ = token.partition("=")
            if equals and name.isidentifier():
                if name == "PATH":  # it decides where to look for the program
                    return None
                continue
            after = next(lexer, "")
            if after.startswith("(") or (token.isdigit() and after.startswith(("<", ">"))):
                return None  # f() {…}, or the 2 of 2>file
            return None if any(char in token for char in "$`*?[]{}()<>|&;~!#\\\n'\"") else token
    except ValueError:  # an open quote: the shell will report it
        return None
    return None


async def _shell_knows(word: str, cwd: str, env: Mapping[str, str]) -> bool:
    return await asyncio.to_thread(_ask_shell, word, cwd, env)


def _ask_shell(word: str, cwd: str, env: Mapping[str, str]) -> bool:
    """Ask /bin/sh whether a word is a builtin, a keyword or one of its functions.

    It runs outside of any sandbox, so it gets no variable by which a caller could have it load
    something (LD_PRELOAD).
    """
    try:
        asked = subprocess.run(
            ["/bin/sh", "-c", 'command -v -- "$1"', "sh", word],
            cwd=cwd,
            env={"PATH": env.get("PATH", os.defpath)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
            timeout=_SHELL_PATIENCE,
        )
    except (subprocess.TimeoutExpired, OSError):  # a word that is too long to ask for
        return True  # the start itself will tell
    return asked.returncode == 0


def _find_shell(
    asked: str | None, cwd: str, env: Mapping[str, str], shows: Callable[[str], bool]
) -> str:
    for candidate in (asked, login_shell(), "/bin/sh"):
        found = candidate and find_program(candidate, cwd=cwd, path=env.get("PATH"))
        if found and shows(found):
            return found
    return "/bin/sh"


def _shows_all(path: str) -> bool:
    return True


def _require_program(name: str, cwd: str, env: Mapping[str, str]) -> str:
    program = find_program(name, cwd=cwd, path=env.get("PATH"))
    if program is None:
        raise _not_found(name, cwd)
    return program


def _not_found(word: str, cwd: str) -> CommandNotFound:
    if os.sep in word and os.path.exists(os.path.join(cwd, word)):
        what = "a folder" if os.path.isdir(os.path.join(cwd, word)) else "not executable"
        return CommandNotFound(f"{word!r} is {what}", "give a program that can be run")
    return CommandNotFound(
        f"command not found: {word!r}", "give its full path", Give(("env",), "set PATH")
    )


def resolve_folder(asked: str | None, caller_cwd: str | None, home: str) -> str:
    """Return where a new session begins. Raises BadParameter."""
    if asked is None:
        # The caller's folder may be gone by now.
        return caller_cwd if caller_cwd and os.path.isdir(caller_cwd) else home
    folder = os.path.join(caller_cwd or home, os.path.expanduser(asked))
    if not os.path.isdir(folder):
        raise BadParameter(
            "cwd", f"is not a folder: {asked!r}", "create it first", "choose another"
        )
    if not os.access(folder, os.X_OK):
        raise BadParameter("cwd", f"cannot be entered: {asked!r}")
    return os.path.normpath(folder)


def _environment(
    caller: Caller,
    extra: Mapping[str, str],
    cwd: str,
    passed: str,
    view: SandboxView | None = None,
) -> dict[str, str]:
    env = of_caller(caller.env, passed)
    if view is not None:
        env = _confined(env, cwd, view)
    # The engine is Ghostty's; xterm-256color describes it well and is installed everywhere.
    env.update(TERM="xterm-256color", COLORTERM="truecolor", PWD=cwd)
    env.update(TERM_PROGRAM="nacre", TERM_PROGRAM_VERSION=__version__)
    for name in extra:
        if not name or "=" in name:
            raise InvalidInput(f"{name!r} cannot be the name of an environment variable")
    env.update(extra)
    return env


def _confined(env: Mapping[str, str], cwd: str, view: SandboxView) -> dict[str, str]:
    """Return the variables that a sandbox gets besides those that its caller names."""
    kept = confined(env)
    kept["HOME"] = os.path.realpath(os.path.expanduser("~"))
    kept["PATH"] = search_path(env.get("PATH", os.defpath), view, cwd)
    return kept


def _refuse_nul(request: CreateSession) -> None:
    words = [request.command or "", request.cwd or "", *(request.args or ())]
    refuse_impossible([*words, *(text for pair in (request.env or {}).items() for text in pair)])


def refuse_impossible(words: Iterable[str]) -> None:
    """Raises InvalidInput for what the system takes for no argument, folder or variable."""
    for word in words:
        if "\0" in word:
            raise InvalidInput("a NUL character cannot be part of a command, folder or variable")
        try:
            os.fsencode(word)
        except UnicodeEncodeError:
            raise InvalidInput("a lone surrogate cannot be part of a command or variable") from None


def installed_shells() -> list[str]:
    """Return the names of the installed shells."""
    return [name for name in (*OFFERED, "pwsh") if shutil.which(name)]
