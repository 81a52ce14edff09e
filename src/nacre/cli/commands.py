"""The commands: one table, and the parser that is built from it.

Rule 1: only the module of the command that is called is loaded: start-up time is what people feel.
Rule 2: names, flags, exit codes and JSON are a stable surface that scripts stand on; no
abbreviations, so that a new flag breaks no script.
Rule 3: every error ends here: one line on standard error, and the exit code of errors.WIRE.
"""

import argparse
import difflib
import os
import sys
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

from nacre import __version__
from nacre.cli.answers import complain
from nacre.errors import Internal, InvalidInput, NacreError


class Command(NamedTuple):
    name: str
    module: str  # of nacre.cli; its add_<name>(parser) adds the arguments
    summary: str
    operation: str | None = None  # what it calls


COMMANDS = (
    Command("new", "sessions", "Start a session: a shell, or a command.", "create_session"),
    Command("list", "listing", "List the sessions.", "list_sessions"),
    Command("send", "input", "Type text into a session, and Enter.", "send_input"),
    Command("keys", "input", "Press named keys in a session.", "press_keys"),
    Command("screen", "screens", "Show a session's screen.", "get_screen"),
    Command("screenshot", "pictures", "Save a picture of a session's screen.", "screenshot"),
    Command("scrollback", "screens", "Show the lines above the screen.", "get_scrollback"),
    Command("read", "screens", "Show a session's last lines of output.", "read_output"),
    Command("run", "run", "Run a command in a session; exit with its exit code.", "run"),
    Command(
        "wait", "wait", "Wait until a session is quiet, or for what it shows.", "await_quiesce"
    ),
    Command("attach", "attach", "Be in a session yourself, until you detach."),
    Command("web", "web", "Print the address of the page, for one browser.", "open_page"),
    Command("record", "recordings", "Record a session from now on, as an asciicast."),
    Command("export", "recordings", "Save what a session showed, as an asciicast."),
    Command(
        "replay",
        "replay",
        "Play a recording, of a file or a session, in your terminal.",
        "export_recording",
    ),
    Command("kill", "sessions", "End sessions and all that runs in them.", "manage_session"),
    Command("rename", "sessions", "Give a session another name."),
    Command("resize", "sessions", "Change a session's size.", "resize_session"),
    Command("restart", "sessions", "Start a session's command anew.", "restart_session"),
    Command(
        "restore", "recordings", "Start sessions anew that a reboot has lost.", "restore_sessions"
    ),
    Command("signal", "sessions", "Send a signal to what runs in front.", "signal_session"),
    Command("dismiss", "sessions", "Take an ended session off the list.", "dismiss_session"),
    Command("server", "server", "Run the daemon in the foreground."),
    Command("status", "control", "Tell whether a daemon runs, and where."),
    Command("stop", "control", "End the daemon and all sessions."),
    Command("mcp", "mcp", "Serve an AI host over stdio (MCP)."),
    Command("doctor", "doctor", "Check this machine and say what to do."),
    Command("completion", "completion", "Print the code for a shell's completion."),
)

# No argument can hold a NUL, so this marks the words after -- for argparse, which would take those
# that begin with - for options, and whose own -- loses words (before Python 3.13).
_AFTER_DASHES = "\0"


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Keep the lines of a description, but for those that are wider than the terminal."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        from textwrap import fill  # as argparse does: only help needs it

        lines = text.splitlines()
        wrapped = [line if len(line) <= width else fill(line, width) for line in lines]
        return "\n".join(indent + line for line in "\n".join(wrapped).splitlines())


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        hint = "; words that begin with - go after --" if "unrecognized" in message else ""
        clean = message.replace("\\x00", "").replace(_AFTER_DASHES, "")
        raise InvalidInput(f"{clean}{hint}; see '{self.prog} --help'")


def run(arguments: list[str]) -> int:
    """Run one command; return the exit code."""
    if "_ARGCOMPLETE" in os.environ:
        from nacre.cli.completion import complete

        complete(build_parser(configured=[command.name for command in COMMANDS]))
    try:
        code = _run_or_complain(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read us has enough. The interpreter must not flush into the pipe again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141  # as a program that SIGPIPE ended
    return code


def _run_or_complain(arguments: list[str]) -> int:
    try:
        return _run(arguments)
    except NacreError as error:
        return complain(error, as_json=_wants_json(arguments))
    except BrokenPipeError:
        raise
    except OSError as error:
        return complain(Internal(_reason(error)), as_json=_wants_json(arguments))


def _run(arguments: list[str]) -> int:
    _replace_unprintable()
    if not arguments:
        if os.isatty(0) and os.isatty(1):
            from nacre.cli.alone import run_alone

            return run_alone()
        print(_short_help())
        return 0
    name, *rest = arguments
    if name == "help" and rest:
        name, rest = rest[0], ["--help"]
    if name in ("-h", "--help", "help"):
        print(_long_help())
        return 0
    if name == "--version":
        print(f"nacre {__version__}")
        return 0
    if name not in (command.name for command in COMMANDS):
        raise InvalidInput(_unknown(name))
    parser = _subparsers(build_parser(configured=[name]))[name]
    flags, words = _split(rest)
    if {"-h", "--help"} & set(flags):
        parser.print_help()
        return 0
    # Intermixed: `nacre send dev --no-enter ls` means what it says.
    parsed = parser.parse_intermixed_args([*flags, *(_AFTER_DASHES + word for word in words)])
    _unmark(parsed)
    parsed.after_dashes = len(words)
    code: int = parsed.run(parsed)
    return code


def build_parser(configured: list[str] | None = None) -> Parser:
    """Return the whole parser; only the named commands have their arguments."""
    parser = Parser(prog="nacre", allow_abbrev=False)
    parser.add_argument("--version", action="store_true")
    subparsers = parser.add_subparsers()
    for command in COMMANDS:
        subparser = subparsers.add_parser(
            command.name,
            help=command.summary,
            description=command.summary,
            allow_abbrev=False,
            formatter_class=Formatter,
        )
        if command.name in (configured or ()):
            module = import_module(f"nacre.cli.{command.module}")
            getattr(module, f"add_{command.name}")(subparser)
    return parser


def _subparsers(parser: Parser) -> dict[str, Parser]:
    action = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    choices: dict[str, Parser] = action.choices
    return choices


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    if "--" not in words:
        return words, []
    dashes = words.index("--")
    return words[:dashes], words[dashes + 1 :]


def _unmark(parsed: argparse.Namespace) -> None:
    def bare(value: Any) -> Any:
        if isinstance(value, list):
            return [bare(item) for item in value]
        return value.removeprefix(_AFTER_DASHES) if isinstance(value, str) else value

    for name, value in vars(parsed).items():
        setattr(parsed, name, bare(value))


def _wants_json(arguments: list[str]) -> bool:
    return "--json" in _split(arguments)[0]


def _unknown(name: str) -> str:
    if name.startswith("-"):
        return f"unknown option {name}; options go after the command, see 'nacre --help'"
    names = [command.name for command in COMMANDS]
    near = [one for one in names if one.startswith(name)]
    near = near or difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean 'nacre {near[0]}'?" if near else "'nacre --help' lists them"
    return f"there is no command {name!r}; {hint}"


def _reason(error: OSError) -> str:
    where = f": {error.filename}" if error.filename else ""
    return f"{error.strerror or error}{where}; 'nacre doctor' checks this machine"


def _replace_unprintable() -> None:
    """Print ? for what the locale has no character for, instead of a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="replace")


_TAGLINE = "Real terminal sessions for AI agents, and for the people beside them."


def _short_help() -> str:
    from nacre.cli.mcp import HOST_CONFIG

    return f"""nacre {__version__}: {_TAGLINE}

  nacre new dev             start a session named dev
  nacre send dev 'ls -la'   type into it
  nacre screen dev          see its screen
  nacre attach dev          be in it yourself
  nacre web dev             see it in the browser
  nacre list                see all sessions
  nacre kill dev            end it
  nacre doctor              check this machine

For an AI host, paste this into its MCP configuration:

  {HOST_CONFIG}

'nacre --help' lists every command."""


def _long_help() -> str:
    listed = "\n".join(f"  {command.name:<12}{command.summary}" for command in COMMANDS)
    return f"""usage: nacre                      your shell, in a session that agents can see
       nacre COMMAND [options]
       nacre --version

{_TAGLINE}

{listed}

'nacre COMMAND --help' tells a command's options."""
