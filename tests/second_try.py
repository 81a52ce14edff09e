"""A pytest plugin: run what failed once more, alone, and tell a flaky test from a broken one.

Used by `make test` (`-p tests.second_try`). At the end of the run each test that failed is run in a
process of its own: no other test, and no fixture that one of them has touched, is near it.

Rule 1: what fails again has failed. What passes then is printed as FLAKY with the trace of its
first failure; it counts as passed, and is a defect all the same.
Rule 2: only tests get a second try. What cannot be collected, and a worker that crashed, stay red.
Rule 3: many failures at once are no accident: none of them gets a second try.
"""

import re
import subprocess
import sys
from collections.abc import Generator
from dataclasses import dataclass, field

import pytest

_MOST = 20  # tests that get a second try
_PATIENCE = 600.0  # seconds for one of them; pytest's own time-out comes first
_CRASHED = "???"  # what xdist calls the phase of a test whose worker is gone

_Report = pytest.TestReport


@dataclass
class SecondTry:
    """What failed in a run, and which of it passed when it was alone."""

    config: pytest.Config
    failed: dict[str, list[_Report]] = field(default_factory=dict)
    flaky: dict[str, list[_Report]] = field(default_factory=dict)

    def pytest_runtest_logreport(self, report: _Report) -> None:
        if report.failed:
            self.failed.setdefault(report.nodeid, []).append(report)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        result = yield
        tried = [nodeid for nodeid, reports in self.failed.items() if not _is_crash(reports)]
        if len(tried) > _MOST:
            self._say(f"\n{len(tried)} tests failed: too many for a second try")
        else:
            for nodeid in tried:
                self._try_again(session, nodeid)
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self) -> Generator[None, object, object]:
        result = yield
        if self.flaky:
            self._tell()
        return result

    def _try_again(self, session: pytest.Session, nodeid: str) -> None:
        self._say(f"\nsecond try, alone: {nodeid}")
        passed, output = _run_alone(self.config, nodeid)
        self._say("  passed: it is flaky" if passed else "  failed again")
        reports = self.failed[nodeid]
        if passed:
            self.flaky[nodeid] = reports
            session.testsfailed -= len(reports)
            self._move(reports)
        else:
            reports[-1].sections.append(("Second try, alone", output))

    @property
    def _terminal(self) -> pytest.TerminalReporter | None:
        found = self.config.pluginmanager.get_plugin("terminalreporter")
        return found if isinstance(found, pytest.TerminalReporter) else None

    def _move(self, reports: list[_Report]) -> None:
        """Count them as flaky where the terminal's summary counted them as failed."""
        if (terminal := self._terminal) is None:
            return
        for outcome in ("failed", "error"):
            left = [one for one in terminal.stats.pop(outcome, []) if one not in reports]
            if left:
                terminal.stats[outcome] = left
        terminal.stats.setdefault("flaky", []).append(reports[0])

    def _say(self, text: str) -> None:
        if (terminal := self._terminal) is not None:
            terminal.write_line(text)

    def _tell(self) -> None:
        if (terminal := self._terminal) is None:
            return
        for nodeid, reports in self.flaky.items():
            terminal.section(f"FLAKY {nodeid}", sep="_", yellow=True)
            for report in reports:
                terminal.write_line(report.longreprtext)
                for title, content in report.sections:
                    terminal.section(title, sep="-")
                    terminal.write_line(content.rstrip("\n"))
        terminal.section("flaky tests: failed among others, passed alone", yellow=True)
        for nodeid, reports in self.flaky.items():
            terminal.write_line(f"FLAKY {nodeid} - {_reason(reports[0])}", yellow=True)


def pytest_configure(config: pytest.Config) -> None:
    # xdist's workers only run tests; the process that they report to has the whole.
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(SecondTry(config), "second try")


def _run_alone(config: pytest.Config, nodeid: str) -> tuple[bool, str]:
    """Return whether the test passed in a pytest of its own, and what that printed."""
    where = ["-c", str(config.inipath)] if config.inipath is not None else []
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider"]
    try:
        done = subprocess.run(
            [*command, "--rootdir", str(config.rootpath), *where, nodeid],
            cwd=config.rootpath,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False, f"it did not end within {_PATIENCE:.0f} s"
    # One that is skipped or deselected ends well, too, but has not passed.
    passed = done.returncode == 0 and re.search(r"^1 passed\b", done.stdout, re.M)
    return bool(passed), done.stdout


def _is_crash(reports: list[_Report]) -> bool:
    return any(report.when == _CRASHED for report in reports)


def _reason(report: _Report) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else report.longreprtext
    return next(iter(text.splitlines()), "")[:200]
