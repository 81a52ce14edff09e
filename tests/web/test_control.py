"""Several people and an agent at one session: all see the same, and one may drive."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from conftest import Daemon

from doors.sockets import JsonSocket, open_socket
from web.conftest import WIDE, Pages, at_keys, ready, same_screen, shows, until


def drives(page: Page, who: str) -> None:
    expect(page.locator(".driver-who")).to_contain_text(who)


def test_two_browsers_see_the_same_and_both_type(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("shared")
    first, second = ready(pages(name)), ready(pages(name, viewport={"width": 900, "height": 600}))
    first.keyboard.type("echo from 'one'\n")
    shows(second, "from one")
    second.keyboard.type("echo from 'two'\n")
    shows(first, "from two")
    for page in (first, second):
        drives(page, "Shared, 2 watch")
    assert same_screen(daemon, first, name) == same_screen(daemon, second, name)


def test_who_takes_over_types_alone_until_it_is_given_back(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("taken")
    first, second = ready(pages(name)), ready(pages(name))
    first.get_by_role("button", name="Take over").click()
    drives(first, "You drive")
    drives(second, "drives")
    second.bring_to_front()
    second.keyboard.type("x")
    expect(second.get_by_text("Take over to type")).to_be_visible()
    pages.keep(first, "driver")
    pages.keep(second, "other")
    at_keys(first).keyboard.type("echo only 'me'\n")
    shows(second, "only me")
    # Another person's take moves it.
    second.get_by_role("button", name="Take over").click()
    drives(second, "You drive")
    drives(first, "drives")
    expect(first.get_by_role("button", name="Take over")).to_be_visible()
    second.get_by_role("button", name="Give back").click()
    drives(second, "Shared")
    drives(first, "Shared")
    first.keyboard.type("echo all 'again'\n")
    shows(second, "all again")


def test_an_agent_waits_for_who_drives_and_is_told_what_they_did(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("handed")
    page = ready(pages(name))
    page.keyboard.press("Control+Shift+X")
    drives(page, "You drive")
    with JsonSocket(open_socket(daemon, "/ws/json")) as agent:
        asked = agent.send("run", name, command="echo the 'agent'")
        # Requests of one socket begin in their order: from this answer on the run is under way.
        assert agent.call("list_sessions", name)["driver"] == "web page"
        # Also where there is little room, and over nothing else.
        waits = page.get_by_text("An agent waits")
        expect(waits).to_be_visible()
        page.set_viewport_size({"width": 360, "height": 640})
        until(
            page,
            """() => {
                const [what, who] = [".bar-what p", ".driver-who"].map(
                    at => document.querySelector(at).getBoundingClientRect());
                const said = document.querySelector(".driver-waited");
                return what.right <= who.left && said.scrollWidth <= said.clientWidth;
            }""",
        )
        pages.keep(page, "waiting-360")
        page.set_viewport_size(WIDE)
        at_keys(page)
        page.keyboard.type("echo the 'person'; (exit 3)\n")
        shows(page, "the person")
        agent.until(name, "the person\nready>")
        page.get_by_role("button", name="Give back").click()
        # First of all: it goes by itself.
        toast = page.locator(".toast", has_text="You drove").filter(has_text="1 command")
        expect(toast).to_contain_text("echo the 'person'; (exit 3) (exit 3)")
        answer = agent.answer(asked)["result"]
        assert (answer["output"].strip(), answer["exit_code"]) == ("the agent", 0)
        handover = agent.call("control", name)["handover"]
    assert handover["commands"] == [{"command": "echo the 'person'; (exit 3)", "exit_code": 3}]
    assert handover["keys"] == len("echo the 'person'; (exit 3)\n")
    drives(page, "Shared")
    lines = same_screen(daemon, page, name)
    assert lines.index("the person") < lines.index("the agent")


def test_who_leaves_gives_back(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("left")
    first, second = ready(pages(name)), ready(pages(name))
    first.get_by_role("button", name="Take over").click()
    drives(second, "drives")
    first.close()
    drives(second, "Shared")
    second.keyboard.type("echo f'ree'\n")
    shows(second, "free")


def test_the_list_shows_what_a_person_drives(pages: Pages, new_session: Callable[..., str]) -> None:
    name = new_session("driven")
    first = ready(pages(name))
    second = pages()
    row = second.locator(".row", has_text="driven")
    expect(row).to_be_visible()
    first.get_by_role("button", name="Take over").click()
    expect(row.locator(".row-driver")).to_be_visible()
    first.get_by_role("button", name="Give back").click()
    expect(row.locator(".row-driver")).to_have_count(0)


def test_a_subscriber_hears_who_drives(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("heard")
    page = ready(pages(name))
    with JsonSocket(open_socket(daemon, "/ws/json")) as agent:
        heard = agent.subscribe(name, "control")
        assert agent.event(heard)["driver"] is None
        page.keyboard.press("Control+Shift+X")
        assert agent.event(heard, "control")["driver"] == "web page"
        page.keyboard.press("Control+Shift+X")
        event = agent.event(heard, "control")
        while event["driver"] is not None:
            event = agent.event(heard, "control")
        assert event["handover"]["commands"] == []
