"""A session that asks calls for the person: in the list, the title, the icon, by a notification."""

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from conftest import Daemon

from web.conftest import Pages, call, details_of, ready, same_screen, shows, until
from web.test_appearance import PHONE
from web.test_list import row

ASKS = "read -sp 'Password: ' x; echo got ${#x}; read -p 'Sure? [y/N] ' x; echo said $x; "
ASKS += "read -p 'Name: ' x; echo is $x\r"

# The browser's own notifications cannot be seen in a test: this one is told to the test instead.
NOTIFICATION = """
window.told = [];
window.Notification = class {
    static permission = "default";
    static async requestPermission() { return "granted"; }
    constructor(title, options) { window.told.push([title, options.body]); window.last = this; }
    close() {}
};
let hidden = false;
Object.defineProperty(document, "hidden", {get: () => hidden});
window.hide = value => { hidden = value; document.dispatchEvent(new Event("visibilitychange")); };
"""


def needs(page: Page) -> Any:
    return page.get_by_role("region", name="Needs you")


def test_what_a_program_asks_is_answered_from_the_list(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    new_session("calm")
    name = new_session("asking")
    page = ready(pages("calm"))
    expect(needs(page)).to_have_count(0)
    plain = page.locator("link[rel=icon]").get_attribute("href")
    call(daemon, "input", name, input=ASKS)
    expect(needs(page)).to_contain_text("Needs you (1)")
    expect(needs(page)).to_contain_text("Password:")
    expect(row(page, name)).to_have_attribute("data-attention", "blocked")
    expect(row(page, name)).to_have_count(1)  # it has risen from the list
    expect(page).to_have_title("(1) calm · nacre")
    assert page.locator("link[rel=icon]").get_attribute("href") != plain
    pages.keep(page, "password")
    # However long the list is, and wherever it was scrolled to: what asks stays in sight.
    page.evaluate(
        "() => document.querySelector('.rows-scroll').append(document.createElement('hr'))"
    )
    page.add_style_tag(content=".rows-scroll hr { height: 3000px }")
    page.evaluate("() => document.querySelector('.rows-scroll').scrollTo(0, 3000)")
    expect(needs(page)).to_be_in_viewport(ratio=1)
    expect(row(page, "calm")).not_to_be_in_viewport()
    page.evaluate("() => document.querySelector('.rows-scroll hr').remove()")
    needs(page).get_by_label("Password:").fill("secret")
    page.keyboard.press("Enter")
    yes = needs(page).get_by_role("button", name="Yes")
    expect(yes).to_be_visible()
    pages.keep(page, "confirm")
    yes.click()
    needs(page).get_by_label("Name:").fill("Eve")
    page.keyboard.press("Enter")
    expect(needs(page)).to_have_count(0)
    expect(page).to_have_title("calm · nacre")
    assert page.locator("link[rel=icon]").get_attribute("href") == plain
    # What ended there was not looked at yet: that is another thing than a question.
    expect(row(page, name)).to_have_attribute("data-attention", "done")
    expect(row(page, name)).to_contain_text("done")
    pages.keep(page, "done")
    row(page, name).click()
    for text in ("got 6", "said y", "is Eve"):
        shows(page, text)
    expect(row(page, name)).to_have_attribute("data-attention", "idle")
    assert details_of(daemon, name)["driver"] is None


def test_who_looks_elsewhere_is_notified_of_what_and_where(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("far")
    new_session("near")
    context = pages.context()
    context.add_init_script(NOTIFICATION)
    page = context.new_page()
    page.goto(str(daemon.as_person("open_page", session="near")["url"]))
    ready(page)
    bell = page.get_by_role("button", name="Notifications")
    expect(bell).to_have_attribute("aria-pressed", "false")
    bell.click()
    expect(bell).to_have_attribute("aria-pressed", "true")
    page.evaluate("hide(true)")
    call(daemon, "input", name, input="read -p 'Overwrite? [y/N] ' x\r")
    until(page, "() => told.length === 1")
    assert page.evaluate("told") == [["far asks yes or no", "Overwrite? [y/N]"]]
    page.evaluate("hide(false); last.onclick()")
    expect(page.get_by_role("heading", name="far")).to_be_visible()
    # Who looks at the page has it before them.
    call(daemon, "input", "near", input="read -p 'Really? [y/N] ' x\r")
    expect(needs(page)).to_contain_text("Needs you (2)")
    assert page.evaluate("told.length") == 1


def test_a_line_stands_above_what_is_new_since_one_looked(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    new_session("away")
    name = new_session("read")
    page = ready(pages(name))
    call(daemon, "run", name, command="echo before")
    shows(page, "before")
    # The list, too, has told the page where the screen ends: at the prompt in line 2.
    until(page, "() => JSON.parse(localStorage['nacre.seen']).at(-1)[1].line === 2")
    row(page, "away").click()
    expect(page.get_by_role("heading", name="away")).to_be_visible()
    call(daemon, "run", name, command="seq 40")
    expect(row(page, name)).to_have_attribute("data-attention", "done")
    row(page, name).click()
    same_screen(daemon, page, name)
    line = page.locator(".since")
    page.keyboard.press("Shift+PageUp")
    expect(line).to_be_in_viewport()
    pages.keep(page, "line")
    # It is drawn above the prompt at which the person left.
    above = page.evaluate(
        """() => {
            const {term} = window.nacre;
            const screen = term.element.querySelector(".xterm-screen").getBoundingClientRect();
            const line = term.element.querySelector(".since").getBoundingClientRect();
            const row = Math.round((line.top - screen.top) / (screen.height / term.rows));
            return window.nacre.text()[row];
        }"""
    )
    assert above.startswith("ready>")
    assert "seq 40" in above
    page.keyboard.type("x")
    expect(line).to_have_count(0)


def test_on_a_phone_a_question_opens_over_its_session(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("pocket")
    page = pages(name, **PHONE)
    shows(page, "ready>")
    call(daemon, "input", name, input="read -p 'Overwrite? [y/N] ' x; echo said $x\r")
    expect(needs(page)).to_contain_text("Overwrite?")
    pages.keep(page, "asked")
    # At a search, the small button that opens it covers none of the options.
    page.goto(f"{daemon.url}/#/search/x")
    page.get_by_label("When").select_option("-3600")
    page.get_by_label("When").click(trial=True)
    page.goto(f"{daemon.url}/#/session/{name}")
    needs(page).get_by_role("button", name="No").tap()
    shows(page, "said n")
    expect(needs(page)).to_have_count(0)
