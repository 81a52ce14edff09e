"""Captured input: a person's keys become events, and the person gets them back."""

from collections.abc import Callable
from typing import Any

from playwright.sync_api import expect

from conftest import Daemon

from web.conftest import Pages, call, lines_of, ready, same_screen, shows


def test_captured_keys_go_to_the_agent_and_not_to_the_program(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("captured")
    page = ready(pages(name))
    before = lines_of(daemon, name)
    menu = call(daemon, "overlay", name, x=2, y=2, spans=[{"text": "[y]es [n]o"}])["id"]
    call(daemon, "input_mode", name, mode="capture")
    call(daemon, "input_mode", name, focus=menu)
    said = page.get_by_role("status").filter(has_text="Your keys go to the agent")
    expect(said).to_be_visible()
    expect(said).to_contain_text(menu)
    expect(said).to_contain_text("Ctrl+\\")
    expect(page.locator(f"[data-id='{menu}'][data-focused]")).to_be_visible()
    pressed = ("y", "ArrowUp", "Control+a", "é", "Enter")
    for key in pressed:
        if key == "é":
            page.keyboard.insert_text(key)
        else:
            page.keyboard.press(key)
    keys: list[dict[str, Any]] = []
    while len(keys) < len(pressed):
        after = keys[-1]["number"] if keys else 0
        keys += call(daemon, "await_input", name, after=after, max_wait_ms=20_000)["keys"]
    assert [bytes(key["raw"]).decode() for key in keys] == ["y", "\x1b[A", "\x01", "é", "\r"]
    assert keys[2]["parsed"] == {"key": "a", "modifiers": ["ctrl"]}
    assert {key["focused_element"] for key in keys} == {menu}
    assert lines_of(daemon, name) == before
    # What an agent sends is not captured.
    call(daemon, "input", name, input="echo from the 'agent'\r")
    shows(page, "from the agent")


def test_ctrl_backslash_gives_the_keys_back(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("given")
    page = ready(pages(name))
    said = page.get_by_role("status").filter(has_text="Your keys go to the agent")
    call(daemon, "input_mode", name, mode="capture")
    expect(said).to_be_visible()
    page.keyboard.press("Control+\\")
    expect(said).to_have_count(0)
    assert call(daemon, "input_mode", name)["mode"] == "passthrough"
    page.keyboard.type("echo mine 'again'\n")
    shows(page, "mine again")
    call(daemon, "input_mode", name, mode="capture")
    expect(said).to_be_visible()
    call(daemon, "input_mode", name, mode="release")
    expect(said).to_have_count(0)
    same_screen(daemon, page, name)


def test_who_comes_while_keys_are_captured_is_told(
    daemon: Daemon, pages: Pages, new_session: Callable[..., str]
) -> None:
    name = new_session("told")
    call(daemon, "input_mode", name, mode="capture")
    page = ready(pages(name))
    said = page.get_by_text("Your keys go to the agent").locator("visible=true")
    expect(said).to_have_count(1)
    page.set_viewport_size({"width": 390, "height": 700})
    expect(said).to_have_count(1)
    expect(said).to_be_in_viewport()
