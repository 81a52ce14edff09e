"""`nacre policy`: judge command lines by the rules, without a daemon and without running them.

Rule 1: a verdict is an answer, not a failure: the exit code is 0 whatever it is.
Rule 2: what is judged here is judged by the same code and the same files as in the daemon.
"""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import Any

from nacre.cli.output.answers import add_json, harmless, print_json
from nacre.core.policy.decide import Decision, decide
from nacre.core.policy.paths import Where
from nacre.core.text.unseen import bytes_spelled_out
from nacre.errors import InvalidInput
from nacre.settings.paths import Paths, find_paths
from nacre.system.policy_files import load_policy, read_rules, rule_files

_ACTIONS = ("check", "explain", "test")
_SYNTAX = {"bash": "posix", "sh": "posix", "zsh": "zsh", "fish": "fish"}


def add_policy(parser: ArgumentParser) -> None:
    parser.description = (
        "Judge command lines by the rules, without running them.\n"
        "check    print a verdict for each line: allow, ask or deny\n"
        "explain  print what a line would run, and which rule decided\n"
        "test     check the examples in files of rules (default: yours)\n"
        "Without lines, check reads them from standard input, each ended by a NUL."
    )
    parser.add_argument("action", metavar="ACTION", choices=_ACTIONS, help="check, explain or test")
    parser.add_argument("words", metavar="LINE|FILE", nargs="*", help="What to judge or test.")
    parser.add_argument(
        "--preset",
        choices=("open", "guarded", "strict"),
        default="guarded",
        help="Rules to begin with (default: guarded).",
    )
    parser.add_argument(
        "--rules", metavar="FILE", action="append", default=[], help="A further file of rules."
    )
    parser.add_argument(
        "--cwd", metavar="FOLDER", default=".", help="Folder that the line runs in (default: this)."
    )
    parser.add_argument(
        "--shell", choices=sorted(_SYNTAX), default="bash", help="Shell that reads the line."
    )
    add_json(parser)
    parser.set_defaults(run=run_policy)


def run_policy(arguments: Namespace) -> int:
    if arguments.action == "test":
        return _test(arguments)
    paths, folder = find_paths(), os.path.realpath(arguments.cwd)
    files = [*rule_files(paths.config, folder), *arguments.rules]
    policy = load_policy(arguments.preset, files, paths.config)
    where = _where(paths, folder)
    syntax: Any = _SYNTAX[arguments.shell]
    for line in arguments.words or _given_lines():
        _show(arguments, line, decide(line, policy, where, syntax))
    return 0


def _where(paths: Paths, folder: str) -> Where:
    return Where(
        folder,
        home=os.path.expanduser("~"),
        workspace=folder,
        private=tuple(os.path.realpath(one) for one in (paths.config, paths.state, paths.runtime)),
        real=os.path.realpath,
    )


def _given_lines() -> Iterator[str]:
    """Yield the lines of standard input, each ended by a NUL; the last one may go without."""
    if sys.stdin.isatty():
        raise InvalidInput("there is no line to judge", "nacre policy check -- 'git status'")
    rest = b""
    while chunk := os.read(sys.stdin.fileno(), 65536):
        *lines, rest = (rest + chunk).split(b"\0")
        for line in lines:
            yield os.fsdecode(line)
    if rest:
        yield os.fsdecode(rest)


def _show(arguments: Namespace, line: str, decision: Decision) -> None:
    if arguments.json:
        print_json(
            {
                "verdict": decision.verdict,
                "line": bytes_spelled_out(line),
                "reasons": decision.reasons,
                "commands": decision.commands,
                "rule": decision.rule,
            }
        )
        sys.stdout.flush()
        return
    print(f"{decision.verdict:5}  {harmless(line)}")
    if arguments.action == "explain":
        for argv in decision.commands:
            print(f"       runs     {harmless(' '.join(argv))}")
        if decision.rule is not None:
            print(f"       rule     {harmless(decision.rule)}")
    for reason in decision.reasons:
        print(f"       because  {harmless(reason)}")


def _test(arguments: Namespace) -> int:
    """Check files of rules. Raises InvalidInput for the first that is wrong."""
    paths = find_paths()
    files = arguments.words or rule_files(paths.config, os.path.realpath(arguments.cwd))
    results = []
    for path in [*files, *arguments.rules]:
        rules = read_rules(path).rule
        examples = sum(len(rule.match) + len(rule.not_match) for rule in rules)
        results.append({"file": path, "rules": len(rules), "examples": examples})
    if arguments.json:
        print_json({"ok": True, "files": results})
        return 0
    for result in results:
        print(f"ok  {result['file']}: {result['rules']} rules, {result['examples']} examples")
    if not results:
        print(f"no rules of your own; they go into {os.path.join(paths.config, 'policy.toml')}")
    return 0
