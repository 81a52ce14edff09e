"""Counts of calls, and the text that Prometheus reads."""

import re

from nacre.core.catalog.metering import BUCKETS, CallCounts, Family, exposition

# prometheus.io/docs/instrumenting/exposition_formats
LINE = re.compile(
    r'[a-zA-Z_:][\w:]*(\{(\w+="([^"\\\n]|\\[\\"n])*",?)*\})? [-+]?(\d[\d.e+-]*|Inf|NaN)'
)


def told(calls: CallCounts) -> dict[str, float]:
    text = exposition(calls.families())
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert all(LINE.fullmatch(line) for line in lines), lines
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines}


def test_a_histogram_counts_what_took_at_most_so_long() -> None:
    calls = CallCounts()
    for seconds in (0.001, 0.002, 3, 100):
        calls.note("run", seconds, None)
    found = told(calls)
    bucket = "nacre_request_seconds_bucket"
    assert found[f'{bucket}{{tool="run",le="0.001"}}'] == 1
    assert found[f'{bucket}{{tool="run",le="0.0025"}}'] == 2
    assert found[f'{bucket}{{tool="run",le="60"}}'] == 3
    assert found[f'{bucket}{{tool="run",le="+Inf"}}'] == 4
    assert found['nacre_request_seconds_count{tool="run"}'] == 4
    assert found['nacre_request_seconds_sum{tool="run"}'] == 103.003
    assert len([name for name in found if bucket in name]) == len(BUCKETS) + 1


def test_errors_are_counted_by_their_code() -> None:
    calls = CallCounts()
    for code in ("BUSY", "BUSY", "FORBIDDEN"):
        calls.note("run", 0.1, code)
    found = told(calls)
    assert found['nacre_errors_total{tool="run",code="BUSY"}'] == 2
    assert found['nacre_errors_total{tool="run",code="FORBIDDEN"}'] == 1


def test_a_label_cannot_break_a_line() -> None:
    family = Family("x", "gauge", "help")
    family.add(1, name='a"b\\c\nd')
    [line] = exposition([family]).splitlines()[2:]
    assert LINE.fullmatch(line)
    assert line == r'x{name="a\"b\\c\nd"} 1'
