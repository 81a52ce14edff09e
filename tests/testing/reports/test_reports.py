"""Reports of a failure: frames by the engine, the page, JUnit's XML, pictures."""

import json
import re
from dataclasses import replace
from xml.etree import ElementTree

from nacre.core.screen.screen import Span
from nacre.testing.reports.console import result_line, summary
from nacre.testing.reports.frames import MOST_FRAMES, frames_of
from nacre.testing.reports.junit import junit
from nacre.testing.reports.pictures import animation, still
from nacre.testing.reports.trace import TraceFacts, trace
from nacre.testing.scenarios.runner import Attempt, StepTaken
from nacre.testing.scenarios.scenario import Scenario
from nacre.testing.scenarios.suite import ScenarioResult, SuiteResult
from nacre.testing.scenarios.yaml_file import parse_scenarios

HEADER = json.dumps({"version": 3, "term": {"rows": 3, "cols": 20}})
EVENTS = [
    [0.0, "o", "one \x1b[31mred\x1b[m"],
    [0.001, "o", "\r\n"],  # at the same moment for a person
    [1.0, "i", "typed"],
    [0.5, "o", "</script>{{data}}"],
    [0.5, "r", "30x4"],
    [9.0, "o", "\x1b[?1049h"],
]
CAST = "\n".join([HEADER, *map(json.dumps, EVENTS)])


def scenario_of() -> Scenario:
    [found] = parse_scenarios("name: a & b\nlaunch: cat\nsteps: [{expect: x}]", "f.yaml")
    return found


def attempt_of(failure: str | None, number: int = 1) -> Attempt:
    made = Attempt(scenario_of(), number, 0.25, failure=failure, line=3)
    made.steps.append(StepTaken("expect <b>", 3, 0.5, 0.1, failure is not None))
    made.recording, made.picture = CAST, b"<svg/>"
    return made


def suite_of(*attempts: Attempt) -> SuiteResult:
    return SuiteResult((ScenarioResult(scenario_of(), attempts),), 1.5)


def test_frames_are_what_the_screen_showed() -> None:
    frames = frames_of(CAST)
    assert [round(frame.time, 2) for frame in frames] == [0.0, 1.5, 2.0, 11.0]
    assert frames[0].rows[0] == (Span("one "), Span("red", fg="red"))
    assert frames[0].cursor.row == 1
    assert [len(frame.rows) for frame in frames] == [3, 3, 4, 4]
    assert [frame.cols for frame in frames] == [20, 20, 30, 30]
    assert frames[-1].rows[0] == ()


def test_a_long_recording_keeps_its_end() -> None:
    events = [json.dumps([0.1, "o", f"{number}\r"]) for number in range(MOST_FRAMES + 10)]
    frames = frames_of("\n".join([HEADER, *events]))
    assert len(frames) == MOST_FRAMES
    assert frames[-1].rows[0][0].text.startswith(str(MOST_FRAMES + 9))


def test_the_page_has_everything_and_nothing_of_it_is_markup() -> None:
    page = trace(TraceFacts.of(attempt_of("no <img> here\nsecond")))
    assert "no &lt;img&gt; here" in page
    assert "f.yaml: a &amp; b" in page
    [data] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    told = json.loads(data)
    assert told["steps"] == [
        {"label": "expect <b>", "line": 3, "at": 0.5, "end": 0.6, "failed": True}
    ]
    assert told["frames"][0][4]["0"] == ["one ", ["red", "color:#cd0000"]]
    assert told["frames"][1][4]["1"] == ["</script>{{data}}"]  # as text, and not filled in
    assert told["frames"][1][1] == [1, 17]
    assert list(told["frames"][1][4]) == ["1"]  # only what has changed
    assert "data:image/svg+xml;base64,PHN2Zy8+" in page
    assert not re.search(r'(?:src|href)="(?!data:)', page)


def test_the_cursor_of_the_page_counts_characters() -> None:
    cast = "\n".join([HEADER, json.dumps([0.0, "o", "a漢b\x1b[1;4H"])])
    page = trace(TraceFacts("t", "f", "", (), cast, b""))
    assert '"frames": [[0.0, [0, 2], 3, 20, ' in page


def test_junit_tells_failures_and_what_is_flaky() -> None:
    failed = ElementTree.fromstring(junit(suite_of(attempt_of("bad \x00 < text\nmore"))))
    case = failed.find("testsuite/testcase")
    assert case is not None
    assert (failed.get("failures"), case.get("name"), case.get("line")) == ("1", "a & b", "1")
    failure = case.find("failure")
    assert failure is not None
    assert failure.get("message") == "bad � < text"
    assert failure.text == "f.yaml:3: bad � < text\nmore"
    flaky = ElementTree.fromstring(junit(suite_of(attempt_of("bad"), attempt_of(None, 2))))
    assert flaky.get("failures") == "0"
    assert flaky.find("testsuite/testcase/flakyFailure") is not None
    twice = ElementTree.fromstring(junit(suite_of(attempt_of("bad"), attempt_of("bad", 2))))
    assert twice.find("testsuite/testcase/rerunFailure") is not None
    assert twice.find("testsuite/testcase/failure") is not None


def test_lines_for_people() -> None:
    suite = suite_of(attempt_of("bad\nscreen"))
    assert result_line(suite.results[0]).splitlines() == [
        "FAIL  f.yaml: a & b (0.25 s)",
        "      f.yaml:3: step 1 of 1, expect <b>",
        "      bad",
        "      screen",
    ]
    flaky = suite_of(attempt_of("bad"), attempt_of(None, 2))
    assert result_line(flaky.results[0]).splitlines() == [
        "FLAKY f.yaml: a & b (0.50 s): passed at try 2; try 1 failed at line 3",
        "      bad",
    ]
    assert summary(replace(suite, seconds=2.0)) == "1 failed in 2.00 s"
    assert summary(flaky) == "1 flaky in 1.50 s"


def test_pictures_of_a_recording() -> None:
    picture = animation(CAST)
    assert picture.startswith(b"GIF89a")
    # Graphic control extensions, one for each frame; two of them look the same, and are one.
    assert picture.count(b"\x21\xf9\x04") == 3
    shown = still(CAST)
    assert shown.startswith(b"<svg")
    assert b"one" in shown  # the last frame is empty, and is not taken
