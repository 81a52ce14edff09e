"""What the policy asks stands on every page, and who answers it there is believed."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from conftest import Daemon

from doors.sockets import JsonSocket, open_socket
from web.conftest import Pages

LINE = "truncate -s 1 made"


def test_a_person_answers_on_the_page(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str], tmp_path: Path
) -> None:
    name = new_session("asks", command="bash", policy="guarded", cwd=str(tmp_path))
    page = pages(name)
    with JsonSocket(open_socket(daemon, "/ws/json")) as agent:
        run = agent.send("run", name, command=LINE)
        question = page.locator(".approval")
        expect(question.locator(".approval-command")).to_have_text(LINE)
        expect(question).to_contain_text(name)
        expect(question).to_contain_text("truncate")
        pages.keep(page, "asked")
        assert not (tmp_path / "made").exists()
        # A page that comes later shows it too.
        other = pages(name)
        expect(other.locator(".approval-command")).to_have_text(LINE)
        page.get_by_role("button", name="Allow once").click()
        assert agent.answer(run)["result"]["exit_code"] == 0
        assert (tmp_path / "made").exists()
        for one in (page, other):
            expect(one.locator(".approval")).to_have_count(0)
        run = agent.send("run", name, command=LINE)
        other.get_by_role("button", name="Deny").click()
        assert agent.answer(run)["error"]["code"] == "POLICY_DENIED"
