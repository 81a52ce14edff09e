"""The page shows the MCP servers behind nacre, and why one does not work."""

from pathlib import Path

from playwright.sync_api import expect

from conftest import Daemon
from nacre.settings.paths import find_paths

from upstreams.configs import odd
from web.conftest import Pages


def test_servers_are_shown_with_their_states(daemon: Daemon, pages: Pages) -> None:
    config = Path(find_paths(daemon.env).config_file)
    page = pages()
    button = page.get_by_role("button", name="MCP servers")
    button.click()
    shown = page.get_by_role("dialog", name="MCP servers")
    expect(shown).to_contain_text("There are none.")
    page.keyboard.press("Escape")
    config.write_text(odd("good") + "[mcp_servers.bad]\ncomand = 'x'\n")
    try:
        button.click()
        expect(shown.get_by_role("listitem").filter(has_text="good")).to_contain_text("idle")
        bad = shown.get_by_role("listitem").filter(has_text="bad")
        expect(bad).to_contain_text("failed")
        expect(bad).to_contain_text("did you mean command?")
        pages.keep(page, "upstreams")
    finally:
        config.unlink()
