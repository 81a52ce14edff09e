"""The plugin for pytest: the fixtures `terminal` and `new_terminal` (docs/testing.md).

Rule 1: pytest loads this file at every start, wherever nacre is installed: it imports nothing else.
Rule 2: one daemon for a whole run, in a temporary folder; each terminal is a fresh program in it.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from nacre.library.client import AsyncClient
    from nacre.testing.terminal import TerminalUnderTest

_TERMINALS = pytest.StashKey[list[Any]]()
_FAILED = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("nacre", "terminal programs (nacre)")
    group.addoption(
        "--nacre-update",
        action="store_true",
        help="Write golden screens instead of comparing them.",
    )
    group.addoption(
        "--nacre-timeout",
        metavar="SECONDS",
        type=float,
        default=10.0,
        help="Longest wait of an expectation. [default: 10]",
    )
    group.addoption(
        "--nacre-trace", metavar="DIR", help="Write a trace of each failure as HTML to this folder."
    )


@pytest.fixture(scope="session")
def nacre_client() -> "Iterator[AsyncClient]":
    """A connection to a daemon of this run's own."""
    from nacre.library.blocking import blocking, finish
    from nacre.library.client import AsyncClient
    from nacre.testing.daemon import private_daemon

    with private_daemon() as address:
        client = AsyncClient.over(address, blocking(address, person=True))
        try:
            yield client
        finally:
            finish(client.close())


@pytest.fixture
def new_terminal(
    nacre_client: "AsyncClient", request: pytest.FixtureRequest
) -> "Iterator[Callable[[], TerminalUnderTest]]":
    """Terminals for a test that needs several programs at once; call it for each."""
    from nacre.testing.terminal import GoldenPlace, TerminalUnderTest

    node: pytest.Item = request.node
    made: list[TerminalUnderTest] = []
    node.stash[_TERMINALS] = made
    config = request.config
    place = GoldenPlace(
        str(node.path.parent),
        (node.path.stem, node.name),
        update=config.getoption("--nacre-update"),
    )

    def make() -> "TerminalUnderTest":
        made.append(TerminalUnderTest(nacre_client, place, config.getoption("--nacre-timeout")))
        return made[-1]

    try:
        yield make
        if not node.stash.get(_FAILED, False):  # else one failure is enough
            for terminal in made:
                terminal.check_end()
    finally:
        for terminal in made:
            terminal.close()


@pytest.fixture
def terminal(new_terminal: "Callable[[], TerminalUnderTest]") -> "TerminalUnderTest":
    """A fresh terminal: launch a program in it, type, and expect things of its screen."""
    return new_terminal()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: "pytest.CallInfo[None]") -> Any:
    """Write the traces of a test that failed, while its programs are still there."""
    report = yield
    if call.when == "call" and report.failed and _TERMINALS in item.stash:
        item.stash[_FAILED] = True
        folder = item.config.getoption("--nacre-trace")
        terminals: list[Any] = item.stash[_TERMINALS]
        for number, one in enumerate(terminals, 1):
            if not folder or not one.command:
                continue
            if path := _write_trace(item, one, number, report, Path(folder)):
                report.sections.append(("nacre trace", str(path)))
    return report


def _write_trace(
    item: pytest.Item, terminal: Any, number: int, report: Any, folder: Path
) -> Path | None:
    from nacre.errors import NacreError
    from nacre.library.blocking import finish
    from nacre.testing.reports.trace import TraceFacts, trace
    from nacre.testing.screens.golden import file_name

    try:
        recording = finish(terminal.session.recording())
        picture = finish(terminal.session.screenshot("svg"))
    except NacreError:  # the failure itself is what matters
        return None
    facts = TraceFacts(
        title=item.nodeid,
        facts=" ".join(terminal.command),
        failure=_reason(report),
        steps=tuple(terminal.steps),
        recording=recording,
        picture=picture,
    )
    folder.mkdir(parents=True, exist_ok=True)
    again = () if number == 1 else (str(number),)
    path = folder / f"{file_name(item.path.stem, item.name, *again)}.html"
    path.write_text(trace(facts), encoding="utf-8")
    return path


def _reason(report: Any) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    return str(crash.message if crash is not None else report.longreprtext)
