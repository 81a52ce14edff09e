"""Results as lines for people."""

from nacre.testing.scenarios.suite import ScenarioResult, SuiteResult

_SIGNS = {"passed": "ok   ", "failed": "FAIL ", "flaky": "FLAKY"}


def result_line(result: ScenarioResult) -> str:
    """Return the line of a scenario, and below it why it failed."""
    scenario, last = result.scenario, result.last
    told = f"{_SIGNS[result.status]} {scenario.title} ({result.seconds:.2f} s)"
    if result.status == "flaky":
        first = result.attempts[0]
        told += f": passed at try {last.number}; try 1 failed at line {first.line}"
        return told + _indented(first.failure or "")
    if last.failure is not None:
        step = len(last.steps)
        where = f"step {step} of {len(scenario.steps)}" if step else "launch"
        label = f", {last.steps[-1].label}" if last.steps else ""
        told += f"\n      {scenario.file}:{last.line}: {where}{label}"
        told += _indented(last.failure)
    for path in last.updated:
        told += f"\n      wrote {path}"
    return told


def summary(suite: SuiteResult) -> str:
    counts = [(suite.count(status), status) for status in ("passed", "failed", "flaky")]
    told = ", ".join(f"{count} {status}" for count, status in counts if count)
    return f"{told or 'nothing ran'} in {suite.seconds:.2f} s"


def _indented(text: str) -> str:
    return "".join(f"\n      {line}" for line in text.splitlines())
