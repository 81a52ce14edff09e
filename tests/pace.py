"""A pytest plugin: where the time of a run goes, file by file.

Used by `make test-pace` (`-p tests.pace`). For each file it prints the seconds that passed and the
seconds of processor that its tests took, with the daemons and programs that they started.

Rule 1: what a test started counts for it once it has ended and was waited for. A file's daemon ends
with the file, so a file's numbers are right where a single test's are not.
Rule 2: what passes without processor time is waited for. On a quiet machine that is the test's own
doing: a time-out, a grace, a start.
"""

import resource
import time
from collections import defaultdict
from collections.abc import Generator
from dataclasses import dataclass, field

import pytest

_NAME = "pace"
_FEWEST = 0.5  # seconds; files below it are only counted in the sum

_Spent = tuple[float, float]


def _now() -> _Spent:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return time.perf_counter(), sum(one.ru_utime + one.ru_stime for one in used)


class Watch:
    """In the process that runs the tests: writes each test's times into its last report."""

    def __init__(self) -> None:
        self.began = _now()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        self.began = _now()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if call.when == "teardown":
            passed, used = (now - then for now, then in zip(_now(), self.began, strict=True))
            report.user_properties.append((_NAME, (passed, used)))
        return report


@dataclass
class File:
    tests: int = 0
    passed: float = 0.0
    used: float = 0.0

    def add(self, other: "File") -> None:
        self.tests += other.tests
        self.passed += other.passed
        self.used += other.used

    def __str__(self) -> str:
        waited = max(0.0, self.passed - self.used)
        return f"{self.tests:6} {self.passed:8.1f} {self.used:8.1f} {waited:8.1f}"


@dataclass
class Table:
    """In the process that reports: sums the times up by file and by worker."""

    files: dict[str, File] = field(default_factory=lambda: defaultdict(File))
    workers: dict[str, File] = field(default_factory=lambda: defaultdict(File))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, value in report.user_properties:
            if name == _NAME:
                one = File(1, *value)  # type: ignore[misc]  # a pair, also after xdist's wire
                self.files[report.nodeid.split("::", 1)[0]].add(one)
                self.workers[getattr(report, "worker_id", "all")].add(one)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("pace: seconds by file")
        terminalreporter.write_line(" tests   passed  of that: processor, waiting")
        few, whole = File(), File()
        for path, file in sorted(self.files.items(), key=lambda one: -one[1].passed):
            whole.add(file)
            if file.passed < _FEWEST:
                few.add(file)
            else:
                terminalreporter.write_line(f"{file}  {path}")
        terminalreporter.write_line(f"{few}  files below {_FEWEST} s")
        for worker, file in sorted(self.workers.items()):
            terminalreporter.write_line(f"{file}  by {worker}")
        terminalreporter.write_line(f"{whole}  together")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Watch(), "pace watch")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Table(), "pace table")
