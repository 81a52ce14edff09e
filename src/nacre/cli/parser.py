"""The parser, built from the table of commands (index.py), and how a command is run.

Rule 1: only the module of the called command is loaded, because people notice the start-up time.
Rule 2: names, flags, exit codes and JSON are a stable surface for scripts. Flags cannot be
abbreviated, so a new flag breaks no script.
Rule 3: every error ends here: one line on standard error, and the exit code of errors.WIRE.
"""

import argparse
import errno
import os
import sys
from importlib import import_module
from typing import Any, NoReturn

from nacre import __version__
from nacre.cli.index import ALIASES, COMMANDS, Command
from nacre.cli.output.answers import complain
from nacre.errors import Failed, InvalidInput, NacreError
from nacre.late_pattern import late_pattern

# No argument can hold a NUL, so this can mark the words after --. Otherwise argparse would take
# those that begin with - for options, and its own -- loses words (before Python 3.13).
_AFTER_DASHES = "\0"

_BY_NAME = {command.name: command for command in COMMANDS}

_WITHOUT_VALUE = late_pattern(r"argument (?:-\w, ?|-\w/)?(--[\w-]+): expected one argument")
_MISSING = late_pattern(r"the following arguments are required: (.+)")
_TOGETHER = late_pattern(r"argument (?:-\w/)?(\S+): not allowed with argument (?:-\w/)?(\S+)")
_NUMBERS = {int: "a whole number", float: "a number"}


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Keep the lines of a description; wrap only those that are wider than the terminal."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        from textwrap import fill  # as argparse does: only help needs it

        lines = text.splitlines()
        wrapped = [line if len(line) <= width else fill(line, width) for line in lines]
        return "\n".join(indent + line for line in "\n".join(wrapped).splitlines())

    def _format_action_invocation(self, action: argparse.Action) -> str:
        written: str | None = getattr(action, "written", None)  # of flags.py: a command may load it
        return super()._format_action_invocation(action) if written is None else written


class Unseen(Formatter):
    """For a parser whose help is not shown: argparse makes one for each argument."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=80)  # else it loads shutil, which knows the terminal's


class Parser(argparse.ArgumentParser):
    words: list[str] | None = None  # what it will parse; None: not known, or its help is asked for

    def error(self, message: str) -> NoReturn:
        # argparse repeats our mark, as it is or as repr() writes it.
        clean = message.replace("\\x00", "").replace(_AFTER_DASHES, "")
        if flag := _WITHOUT_VALUE.fullmatch(clean):
            # Perhaps there was one: argparse takes -1h for a flag.
            clean = f"{flag[1]} needs a value; one that begins with - is given as {flag[1]}=VALUE"
        elif names := _MISSING.fullmatch(clean):
            clean = f"missing: {names[1]}"
        elif flags := _TOGETHER.fullmatch(clean):
            clean = f"give {flags[2]} or {flags[1]}, not both"
        raise InvalidInput(f"{clean}; see '{self.prog} --help'")

    # What argparse says of a wrong value is for programmers: "invalid int value".

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        if action.type not in _NUMBERS:
            return super()._get_value(action, arg_string)
        try:
            return action.type(arg_string)
        except ValueError:
            wanted = _NUMBERS[action.type]
            self.error(f"{_named(action)} takes {wanted}, not {arg_string!r}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            *most, last = map(str, action.choices)
            self.error(f"{_named(action)} takes {', '.join(most)} or {last}, not {value!r}")


def _named(action: argparse.Action) -> str:
    """Return what a person calls an argument: its long flag, or its place's name."""
    if action.option_strings:
        return action.option_strings[-1]
    return action.metavar if isinstance(action.metavar, str) else action.dest.upper()


def run(arguments: list[str]) -> int:
    """Run one command; return the exit code."""
    if "_ARGCOMPLETE" in os.environ:
        from nacre.cli.commands.completion import complete

        complete(build_parser(configured=[command.name for command in COMMANDS]))
    try:
        code = _run_or_complain(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        _give_up_output()
        return 141  # the exit code of a program that SIGPIPE killed
    except OSError as error:  # a full disk
        _give_up_output()
        return complain(_failed(error), as_json=False)
    return code


def _give_up_output() -> None:
    """Nobody takes it: the interpreter must not flush into it again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _run_or_complain(arguments: list[str]) -> int:
    try:
        return _run(arguments)
    except NacreError as error:
        command = arguments[0] if arguments else None
        as_event = _gives_events(arguments)
        return complain(
            error, as_json=as_event or _wants_json(arguments), as_event=as_event, command=command
        )
    except BrokenPipeError:
        raise
    except OSError as error:
        try:
            sys.stdout.flush()  # what is left would fail again, and be told twice
            return complain(_failed(error), as_json=_wants_json(arguments))
        except OSError:
            raise error from None  # it is the output that cannot be written


def _run(arguments: list[str]) -> int:
    _replace_unprintable()
    if not arguments:
        if os.isatty(0) and os.isatty(1):
            from nacre.cli.attach.alone import run_alone

            return run_alone()
        print(_short_help())
        return 0
    name, *rest = arguments
    name = ALIASES.get(name, name)
    if name == "help" and rest:
        name, rest = rest[0], ["--help"]
    if name in ("-h", "--help", "help"):
        print(_long_help())
        return 0
    if name == "--version":
        print(f"nacre {__version__}")
        return 0
    if name not in _BY_NAME:
        raise InvalidInput(_unknown(name))
    flags, words = _split(rest)
    parser = _parser_of(name, flags)
    if {"-h", "--help"} & set(flags):
        print(parser.format_help(), end="")  # print_help() would not say that nobody can read it
        return 0
    # Intermixed: `nacre send dev --no-enter ls` means what it says.
    given = [*flags, *(_AFTER_DASHES + word for word in words)]
    parsed, unknown = parser.parse_known_intermixed_args(given)
    if unknown:
        kind = "unknown option" if unknown[0].startswith("-") else "too many words:"
        parser.error(f"{kind} {' '.join(unknown)}; put words that begin with - after --")
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
            command.name, help=command.summary, **_manner(command.summary)
        )
        _add_arguments(subparser, command, only_help=command.name not in (configured or ()))
    return parser


def _parser_of(name: str, words: list[str]) -> Parser:
    """Return one command's parser, for these words; the whole parser takes far longer."""
    command = _BY_NAME[name]
    parser = Parser(prog=f"nacre {name}", **_manner(command.summary))
    if not {"-h", "--help"} & set(words):
        parser.words = words
        parser.formatter_class = Unseen
    _add_arguments(parser, command)
    return parser


def _manner(summary: str) -> dict[str, Any]:
    return {
        "description": summary,
        "allow_abbrev": False,
        "formatter_class": Formatter,
        "add_help": False,
    }


def _add_arguments(parser: Parser, command: Command, *, only_help: bool = False) -> None:
    parser.add_argument("-h", "--help", action="help", help="Show this help.")
    if not only_help:
        module = import_module(f"nacre.cli.commands.{command.module}")
        getattr(module, f"add_{command.name}")(parser)


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


def _gives_events(arguments: list[str]) -> bool:
    return arguments[:1] == ["run"] and "--events" in _split(arguments)[0]


def _unknown(name: str) -> str:
    if name.startswith("-"):
        return f"unknown option {name}; options go after the command, see 'nacre --help'"
    import difflib  # only here: it takes a while to load

    names = [command.name for command in COMMANDS]
    near = [one for one in names if one.startswith(name)]
    near = near or difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean 'nacre {near[0]}'?" if near else "'nacre --help' lists them"
    return f"there is no command {name!r}; {hint}"


def _failed(error: OSError) -> Failed:
    what = error.strerror or str(error)
    if error.filename:
        return Failed(f"{what}: {error.filename}", "'nacre doctor' checks this machine")
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Failed(f"cannot write: {what}", "make room, or write to another place")
    if error.errno == errno.EBADF:
        return Failed(what, "give it a file or a pipe")
    return Failed(what, "'nacre doctor' checks this machine")


def _replace_unprintable() -> None:
    """Print ? for characters that the locale cannot encode, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="replace")


_TAGLINE = "Real terminal sessions for AI agents and the people who work with them."


def _short_help() -> str:
    from nacre.cli.commands.mcp import HOST_CONFIG

    return f"""nacre {__version__}: {_TAGLINE}

  nacre new dev             start a session named dev
  nacre send dev 'ls -la'   type into it
  nacre screen dev          see its screen
  nacre attach dev          work in it yourself
  nacre web dev             see it in the browser
  nacre list                see all sessions
  nacre kill dev            kill it
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

'nacre COMMAND --help' shows the options of a command."""
