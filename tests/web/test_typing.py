"""Keys pressed in the browser, as the program in the session gets them."""

import sys
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page

from conftest import Daemon

from web.conftest import Pages, await_text, lines_of, ready, shows, until

CODES = Path(__file__).with_name("codes.py")

KEYS = {
    "a": "a",
    "Shift+A": "A",
    "Enter": "\r",
    "Tab": "\t",
    "Shift+Tab": "\x1b[Z",
    "Backspace": "\x7f",
    "Escape": "\x1b",
    "Control+c": "\x03",
    "Control+d": "\x04",
    "Control+z": "\x1a",
    "Control+[": "\x1b",
    "Control+Space": "\0",
    "ArrowUp": "\x1b[A",
    "ArrowDown": "\x1b[B",
    "ArrowRight": "\x1b[C",
    "ArrowLeft": "\x1b[D",
    "Control+ArrowRight": "\x1b[1;5C",
    "Shift+ArrowLeft": "\x1b[1;2D",
    "Alt+b": "\x1bb",
    "Alt+.": "\x1b.",
    "Home": "\x1b[H",
    "End": "\x1b[F",
    "PageUp": "\x1b[5~",
    "PageDown": "\x1b[6~",
    "Delete": "\x1b[3~",
    "Insert": "\x1b[2~",
    "F1": "\x1bOP",
    "F5": "\x1b[15~",
    "F12": "\x1b[24~",
    "Shift+F6": "\x1b[17;2~",
}


def open_codes(pages: Pages, new_session: Callable[..., str], name: str, *modes: int) -> Page:
    arguments = [str(CODES), *map(str, modes)]
    page = pages(new_session(name, command=sys.executable, args=arguments))
    shows(page, "codes:")
    until(page, "() => document.activeElement?.closest('.xterm')")
    return page


def got(page: Page, text: str) -> None:
    """Wait until the program has told exactly these bytes."""
    until(
        page,
        """hex => window.nacre.text().join("").trimEnd().endsWith(`codes:${hex}`)""",
        text.encode().hex(),
    )


def test_every_kind_of_key_has_its_code(pages: Pages, new_session: Callable[..., str]) -> None:
    page = open_codes(pages, new_session, "keys")
    for key in KEYS:
        page.keyboard.press(key)
    got(page, "".join(KEYS.values()))


def test_arrows_are_sent_as_the_program_asked(
    pages: Pages, new_session: Callable[..., str]
) -> None:
    page = open_codes(pages, new_session, "arrows", 1)  # DECCKM
    for key in ("ArrowUp", "ArrowLeft", "Home", "End"):
        page.keyboard.press(key)
    got(page, "\x1bOA\x1bOD\x1bOH\x1bOF")


def test_any_script_can_be_typed(pages: Pages, new_session: Callable[..., str]) -> None:
    page = open_codes(pages, new_session, "scripts")
    page.keyboard.type("é ß 漢字 👩‍🚀 ")
    # As an input method does it: what is under way is not sent, what is chosen is.
    person = page.context.new_cdp_session(page)
    for text in ("k", "ka", "か"):
        composed = {"text": text, "selectionStart": len(text), "selectionEnd": len(text)}
        person.send("Input.imeSetComposition", composed)
    person.send("Input.insertText", {"text": "か"})
    page.keyboard.press("x")
    got(page, "é ß 漢字 👩‍🚀 かx")


def test_a_key_right_after_composed_text_does_not_overtake_it(
    pages: Pages, new_session: Callable[..., str]
) -> None:
    page = open_codes(pages, new_session, "composed")
    page.keyboard.type("ab ")
    # As on a busy machine: no timer of the page runs between the text and the key.
    page.evaluate(
        """() => {
            const area = window.nacre.term.textarea;
            const tell = (kind, data) => area.dispatchEvent(new CompositionEvent(kind, {data}));
            tell("compositionstart", "");
            tell("compositionupdate", "か");
            area.value += "か";
            tell("compositionend", "か");
            const key = {key: "x", code: "KeyX", keyCode: 88, bubbles: true, cancelable: true};
            area.dispatchEvent(new KeyboardEvent("keydown", key));
        }"""
    )
    got(page, "ab かx")


def test_a_paste_comes_in_brackets_and_cannot_leave_them(
    pages: Pages, new_session: Callable[..., str]
) -> None:
    page = open_codes(pages, new_session, "pasting", 2004)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    # Who copied it from a page could not see what it has in it.
    page.evaluate("navigator.clipboard.writeText('one\\ntwo ü\\x1b[201~\\x03rm\\tx')")
    pasted = "\x1b[200~one\rtwo ü[201~rm\tx\x1b[201~"
    page.keyboard.press("Control+Shift+V")
    got(page, pasted)
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Paste").click()
    got(page, pasted * 2)


def test_a_shell_is_used_as_in_any_terminal(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("shell")
    page = ready(pages(name))
    page.keyboard.type("echo from the 'browser'\n")
    shows(page, "from the browser")
    page.keyboard.press("ArrowUp")
    page.keyboard.type(" again\n")
    shows(page, "from the browser again")
    # The word is printed by what is to be interrupted: a key before that would meet the shell.
    page.keyboard.type("sh -c 'echo go''ing; exec sleep 1000'\n")
    shows(page, "going")
    page.keyboard.press("Control+c")
    shows(page, "^C")
    page.keyboard.type("echo $?, broken off\n")
    shows(page, "130, broken off")
    await_text(daemon, name, "130, broken off")
    assert "from the browser again" in lines_of(daemon, name)


def test_output_comes_live_without_a_reload(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("live")
    page = ready(pages(name))
    loaded = page.evaluate("performance.timeOrigin")
    for number in range(5):
        daemon.rest("POST", f"/sessions/{name}/input", {"input": f"echo '#'{number}\r"})
        shows(page, f"#{number}")
    assert page.evaluate("performance.timeOrigin") == loaded
