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
        expect(page.get_by_role("region", name="Needs you")).to_contain_text(name)
        # Its shell stands at a prompt meanwhile: that is not what the person has to know.
        expect(page.locator("main .chip")).to_have_text("asks for approval")
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


def test_a_person_types_a_password_and_says_yes_on_the_page(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("secret", command="bash")
    page = pages(name)
    with JsonSocket(open_socket(daemon, "/ws/json")) as agent:
        command = "read -sp 'Password: ' x; echo got ${#x}; read -p 'Sure? [y/N] ' x; echo said $x"
        asked = agent.send("run", name, command=command)
        assert agent.answer(asked)["result"]["state"]["asks"] == "password"
        question = page.locator(".approval")
        expect(question.locator(".approval-command")).to_have_text("Password:")
        field = question.locator("input[type=password]")
        field.fill("correct-horse-battery")
        pages.keep(page, "password")
        field.press("Enter")
        waits = agent.send("wait_for", name, text="Sure?", state=["needs_input"])
        assert agent.answer(waits)["result"]["matched"]
        waits = agent.send("wait_for", name, state=["needs_input"])
        assert agent.answer(waits)["result"]["state"]["asks"] == "confirm"
        expect(question.locator(".approval-command")).to_have_text("Sure? [y/N]")
        page.get_by_role("button", name="Yes").click()
        waits = agent.send("wait_for", name, text="said y")
        assert agent.answer(waits)["result"]["matched"]
        shown = agent.send("read_output", name, lines=20)
        assert "got 21" in agent.answer(shown)["result"]["output"]
        expect(question).to_have_count(0)
