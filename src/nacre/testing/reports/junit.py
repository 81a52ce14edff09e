"""Results as JUnit's XML, for continuous integration.

Rule: what programs printed is text here: characters that XML cannot hold are replaced.
"""

import re
from xml.sax.saxutils import escape, quoteattr

from nacre.testing.scenarios.runner import Attempt
from nacre.testing.scenarios.suite import ScenarioResult, SuiteResult

# What XML 1.0 cannot contain [2.2, Char].
_UNWRITABLE = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(suite: SuiteResult) -> str:
    cases = "".join(map(_case, suite.results))
    facts = (
        f'tests="{len(suite.results)}" failures="{suite.count("failed")}" errors="0" '
        f'skipped="0" time="{suite.seconds:.3f}"'
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<testsuites {facts}>\n<testsuite name="nacre test" {facts}>\n{cases}'
        "</testsuite>\n</testsuites>\n"
    )


def _case(result: ScenarioResult) -> str:
    scenario = result.scenario
    named = f"classname={_quoted(scenario.file)} name={_quoted(scenario.name)}"
    placed = f"file={_quoted(scenario.file)} line={_quoted(str(scenario.line))}"
    inside = "".join(_failure(result, attempt) for attempt in result.attempts)
    return f'<testcase {named} {placed} time="{result.seconds:.3f}">{inside}</testcase>\n'


def _failure(result: ScenarioResult, attempt: Attempt) -> str:
    if attempt.failure is None:
        return ""
    # A failure before a pass is a flakyFailure, as Maven's Surefire writes it.
    last = attempt is result.last
    tag = "failure" if last else "flakyFailure" if result.status == "flaky" else "rerunFailure"
    first = attempt.failure.partition("\n")[0]
    where = f"{result.scenario.file}:{attempt.line}"
    return f"\n<{tag} message={_quoted(first)}>{_text(f'{where}: {attempt.failure}')}</{tag}>\n"


def _text(text: str) -> str:
    return escape(_UNWRITABLE.sub("�", text))


def _quoted(text: str) -> str:
    return quoteattr(_UNWRITABLE.sub("�", text))
