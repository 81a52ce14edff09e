"""The trace of a failed scenario, in a browser, from the disk: no server, no network."""

import json
from pathlib import Path

from playwright.sync_api import expect

from nacre.testing.reports.trace import TraceFacts, trace
from nacre.testing.scenarios.runner import StepTaken

from web.conftest import Pages

CAST = "\n".join(
    map(
        json.dumps,
        [
            {"version": 3, "term": {"rows": 4, "cols": 30}},
            [0.1, "o", "Main menu\r\n  \x1b[7mOpen\x1b[m\r\n"],
            [1.0, "o", "\x1b[31m<b>Saved</b>\x1b[m 漢"],
        ],
    )
)
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'


def test_a_trace_is_played_step_by_step(pages: Pages, tmp_path: Path) -> None:
    steps = (
        StepTaken("expect Main menu", 4, 0.0, 0.2),
        StepTaken("keys Enter", 5, 0.5, 0.0),
        StepTaken("expect Svaed", 6, 0.5, 1.0, failed=True),
    )
    page_text = trace(TraceFacts("a.yaml: saves", "cat · 4x30", "no <i>", steps, CAST, SVG))
    file = tmp_path / "trace.html"
    file.write_text(page_text, encoding="utf-8")
    page = pages.context(offline=True).new_page()
    page.goto(file.as_uri())
    screen = page.get_by_label("Screen")
    expect(screen).to_contain_text("<b>Saved</b> 漢")  # the last one first, as text
    expect(page.locator("#failure")).to_have_text("no <i>")
    expect(page.locator("#steps [aria-current]")).to_contain_text("expect Svaed")
    expect(page.locator("#steps .failed")).to_have_count(1)
    page.get_by_role("button", name="expect Main menu").click()
    expect(screen).to_contain_text("Open")
    expect(screen).not_to_contain_text("Saved")
    expect(page.locator("#steps [aria-current]")).to_contain_text("expect Main menu")
    assert page.evaluate("document.images[0].naturalWidth") == 9
    page.get_by_role("button", name="Play").click()
    expect(screen).to_contain_text("Saved")
    expect(page.get_by_role("button", name="Play")).to_be_visible()  # it has come to its end
