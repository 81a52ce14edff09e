"""The page of a host in a cluster: sessions by host, how each host is, and what needs you."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from services.cluster.several_hosts import HostUnderTest, Server, start_host
from web.conftest import Pages


@pytest.fixture
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, HostUnderTest]]:
    server = Server(tmp_path_factory.mktemp("nats"))
    home = tmp_path_factory.mktemp("hosts")
    made = {name: start_host(home / name, name, server.url) for name in ("pine", "oak", "elm")}
    for one in made.values():
        one.sees(*made)
    yield made
    for one in made.values():
        if one.daemon.process.poll() is None:
            one.daemon.stop()
    server.kill()


def test_sessions_stand_below_their_hosts_with_how_these_are(
    hosts: dict[str, HostUnderTest], pages: Pages
) -> None:
    pine, oak, elm = hosts["pine"], hosts["oak"], hosts["elm"]
    for name, host in (("build", "oak"), ("deploy", "oak"), ("logs", "pine"), ("tests", "elm")):
        pine.call("create_session", name=name, host=host)
    page = pages(daemon=pine.daemon)

    def group(host: str):  # type: ignore[no-untyped-def]  # a locator
        return page.get_by_role("region", name=f"Host {host}")

    expect(group("oak").locator(".row-name")).to_have_text(["deploy", "build"])
    expect(group("pine").locator(".row-name")).to_have_text(["logs"])
    expect(page.locator(".host-name")).to_have_text(["pine", "elm", "oak"])  # this host first
    expect(group("pine")).to_contain_text("this host")
    pine.call("drain_host", host="oak")
    expect(group("oak").locator(".host-health")).to_have_text("draining")
    pine.call("send_input", session="build", input="read -p 'Go on? [y/N] ' it; echo it=$it\n")
    needs = page.get_by_role("region", name="Needs you")
    needs.get_by_role("button", name="Yes").click()
    expect(needs).to_have_count(0)
    assert pine.call("wait_for", session="build", text="it=y", timeout_ms=30_000)["matched"]
    group("elm").locator("a.row").click()
    page.locator(".xterm-helper-textarea").focus()
    page.keyboard.type("echo from elm\n")
    pine.call("wait_for", session="tests", text="^from elm", timeout_ms=30_000)
    elm.kill_all()
    expect(group("elm").locator(".host-health")).to_have_text("lost")
    expect(group("elm").locator(".row-name")).to_have_text(["tests"])
    expect(group("elm").locator(".row-state")).to_have_text("lost with its host")
    assert oak.call("run", session="deploy", command="echo on")["output"] == "on"
