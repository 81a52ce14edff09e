"""What the page says about the daemon itself."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

import crashing
from conftest import Daemon

from web.conftest import Pages


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Daemon]:
    """A daemon that will not find another keeper, until somebody relieves it."""
    daemon = crashing.start(tmp_path, doctored=crashing.NO_KEEPER)
    yield daemon
    pid = crashing.call(daemon, "status")["pid"]
    gone = [os.pidfd_open(pid)]
    crashing.call(daemon, "stop")
    crashing.wait_gone(gone)
    daemon.process.wait(crashing.PATIENCE)


def test_a_keeper_that_cannot_be_replaced_is_told_above_everything(
    alone: Daemon, pages: Pages, tmp_path: Path
) -> None:
    page = pages(daemon=alone)
    expect(page.get_by_role("navigation", name="Sessions")).to_be_visible()
    said = page.get_by_role("alert").filter(has_text="if the daemon crashes now")
    expect(said).to_have_count(0)
    os.kill(alone.process.pid, signal.SIGKILL)
    expect(said).to_be_visible()
    # Who comes later is told, too; on a phone as well.
    phone = pages(daemon=alone, viewport={"width": 390, "height": 844})
    expect(phone.get_by_role("alert")).to_contain_text("all sessions are lost")
    pages.keep(page, "warned")
    pages.keep(phone, "warned-phone")
    (tmp_path / "relief").touch()
    expect(said).to_have_count(0)
    expect(phone.get_by_role("alert")).to_have_count(0)
