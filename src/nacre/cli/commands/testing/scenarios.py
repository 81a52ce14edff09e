"""`nacre test`: run scenarios, which are tests of terminal programs as data (docs/testing.md)."""

import os
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from nacre.cli.output.answers import add_json, harmless, print_json
from nacre.errors import Failed, InvalidInput

if TYPE_CHECKING:
    from nacre.testing.scenarios.runner import Attempt
    from nacre.testing.scenarios.scenario import Scenario
    from nacre.testing.scenarios.suite import ScenarioResult, SuiteResult

_SUFFIXES = (".yaml", ".yml")
_TRACES = "nacre-traces"


def add_test(parser: ArgumentParser) -> None:
    parser.add_argument(
        "files", metavar="FILE", nargs="+", help="Scenarios (YAML), or folders with them."
    )
    parser.add_argument(
        "-j",
        "--jobs",
        metavar="N",
        type=_positive,
        default=2 * (os.cpu_count() or 1),
        help="Scenarios at once. [default: two for each processor]",
    )
    parser.add_argument(
        "-k", "--only", metavar="TEXT", help="Run only scenarios whose name or file has this text."
    )
    parser.add_argument(
        "--update", action="store_true", help="Write golden screens instead of comparing them."
    )
    parser.add_argument(
        "--retries",
        metavar="N",
        type=_count,
        default=0,
        help="Try a failed scenario up to N more times; if it passes then, it is flaky.",
    )
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=_seconds,
        help="Longest wait of a step, where the scenario says nothing. [default: 10]",
    )
    parser.add_argument("--junit", metavar="FILE", help="Write the results as JUnit's XML.")
    parser.add_argument(
        "--trace",
        metavar="DIR",
        default=_TRACES,
        help=f"Folder for the traces of failures. [default: {_TRACES}]",
    )
    parser.add_argument("--svg", metavar="DIR", help="Save each scenario's last screen as SVG.")
    parser.add_argument("--gif", metavar="DIR", help="Save each scenario as a GIF.")
    add_json(parser)
    parser.set_defaults(run=run_test)


def run_test(arguments: Namespace) -> int:
    """Run the scenarios; return 0 if all passed, also those that are flaky, else 1."""
    from nacre.testing.scenarios.runner import RunOptions
    from nacre.testing.scenarios.suite import run_suite

    scenarios = _scenarios(arguments)
    pictures = bool(arguments.svg or arguments.gif)
    options = RunOptions(update=arguments.update, patience=arguments.timeout, pictures=pictures)
    saved = _Saved(arguments)

    def told(result: "ScenarioResult") -> None:
        from nacre.testing.reports.console import result_line

        paths = saved.save(result)
        if not arguments.json:
            lines = [result_line(result), *(f"      {kind}: {path}" for kind, path in paths)]
            print(harmless("\n".join(lines)), flush=True)

    suite = run_suite(
        scenarios, jobs=arguments.jobs, retries=arguments.retries, options=options, told=told
    )
    return _report(arguments, suite, saved)


def _report(arguments: Namespace, suite: "SuiteResult", saved: "_Saved") -> int:
    from nacre.testing.reports.console import summary
    from nacre.testing.reports.junit import junit

    if arguments.junit:
        _write(arguments.junit, junit(suite).encode())
    if arguments.json:
        print_json(_as_json(suite, saved))
    else:
        print(summary(suite))
    return 1 if suite.count("failed") else 0


def _as_json(suite: "SuiteResult", saved: "_Saved") -> dict[str, Any]:
    counts = {status: suite.count(status) for status in ("passed", "failed", "flaky")}
    return {
        **counts,
        "seconds": round(suite.seconds, 3),
        "scenarios": [
            {
                "file": result.scenario.file,
                "name": result.scenario.name,
                "status": result.status,
                "seconds": round(result.seconds, 3),
                "tries": len(result.attempts),
                "failures": [
                    {"line": attempt.line, "message": attempt.failure}
                    for attempt in result.attempts
                    if attempt.failure is not None
                ],
                **dict(saved.paths.get(result.scenario.title, ())),
            }
            for result in suite.results
        ],
    }


# --- files ---------------------------------------------------------------------------------


def _scenarios(arguments: Namespace) -> "list[Scenario]":
    """Read all files before anything runs. Raises InvalidInput with all that is wrong in them."""
    from nacre.testing.scenarios.yaml_file import read_scenarios

    found: list[Scenario] = []
    wrong: list[str] = []
    for path in _paths(arguments.files):
        try:
            found += read_scenarios(path)
        except InvalidInput as error:
            wrong.append(str(error))
    if wrong:
        raise InvalidInput("\n".join(wrong))
    only = arguments.only
    chosen = [one for one in found if only is None or only in one.title]
    if not chosen:
        raise InvalidInput("no scenario was found" if only is None else f"none has {only!r}")
    return chosen


def _paths(given: list[str]) -> Iterator[str]:
    for path in given:
        if not os.path.isdir(path):
            yield path
            continue
        for folder, folders, names in os.walk(path):
            folders.sort()
            yield from (
                os.path.join(folder, name) for name in sorted(names) if name.endswith(_SUFFIXES)
            )


class _Saved:
    """The files that are written beside the results, as they come."""

    def __init__(self, arguments: Namespace) -> None:
        self._arguments = arguments
        self.paths: dict[str, list[tuple[str, str]]] = {}

    def save(self, result: "ScenarioResult") -> list[tuple[str, str]]:
        given, written = self._arguments, []
        for attempt in result.attempts:
            if attempt.failure is not None and attempt.recording is not None:
                from nacre.testing.reports.trace import TraceFacts, trace

                again = "" if attempt.number == 1 else f"-try{attempt.number}"
                page = trace(TraceFacts.of(attempt)).encode()
                written.append(self._put("trace", given.trace, attempt, f"{again}.html", page))
        last = result.last
        if given.svg and last.recording is not None:
            from nacre.testing.reports.pictures import still

            written.append(self._put("svg", given.svg, last, ".svg", still(last.recording)))
        if given.gif and last.recording is not None:
            from nacre.testing.reports.pictures import animation

            picture = animation(last.recording)
            written.append(self._put("gif", given.gif, last, ".gif", picture))
        self.paths[result.scenario.title] = written
        return written

    def _put(
        self, kind: str, folder: str, attempt: "Attempt", end: str, content: bytes
    ) -> tuple[str, str]:
        from nacre.testing.screens.golden import file_name

        scenario = attempt.scenario
        path = os.path.join(folder, file_name(scenario.stem, scenario.name) + end)
        _write(path, content)
        return kind, path


def _write(path: str, content: bytes) -> None:
    try:
        if folder := os.path.dirname(path):
            os.makedirs(folder, exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
    except OSError as error:
        raise Failed(f"{path} cannot be written: {error.strerror}") from error


# --- numbers ---------------------------------------------------------------------------------


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is no number from 1 on")
    return int(text)


def _count(text: str) -> int:
    return 0 if text == "0" else _positive(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if seconds <= 0:
        raise ArgumentTypeError(f"{text!r} is no number of seconds")
    return seconds
