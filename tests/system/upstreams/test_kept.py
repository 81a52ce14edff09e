"""What is kept of servers is the user's alone, and may be missing or damaged."""

from pathlib import Path

from nacre.system.upstreams.kept import AllowedTools, KeptListing, KeptUpstreams

ONE, TWO = "1" * 32, "2" * 32


def test_a_listing_is_kept_for_the_next_daemon(tmp_path: Path) -> None:
    folder = tmp_path / "upstream"
    kept = KeptUpstreams(str(folder))
    listing = KeptListing(tools=[{"name": "a"}], revision="2025-11-25", transport="sse")
    kept.keep_listing(ONE, listing)
    kept.keep_allowed(AllowedTools(tools={"mcp_a_b": "hash"}))
    again = KeptUpstreams(str(folder))
    assert again.listing(ONE) == listing
    assert again.listing(TWO) is None
    assert again.allowed().tools == {"mcp_a_b": "hash"}
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}


def test_lists_of_servers_that_are_gone_are_removed(tmp_path: Path) -> None:
    kept = KeptUpstreams(str(tmp_path))
    for one in (ONE, TWO):
        kept.keep_listing(one, KeptListing())
    kept.keep_allowed(AllowedTools())
    kept.forget_others({TWO})
    assert {path.name for path in tmp_path.iterdir()} == {f"{TWO}.json", "allowed.json"}


def test_a_damaged_file_is_none_and_nothing_fails_without_a_folder(tmp_path: Path) -> None:
    (tmp_path / f"{ONE}.json").write_bytes(b'{"tools": 3')
    assert KeptUpstreams(str(tmp_path)).listing(ONE) is None
    nowhere = KeptUpstreams(None)
    nowhere.keep_listing(ONE, KeptListing())
    assert nowhere.listing(ONE) is None
    blocked = KeptUpstreams(str(tmp_path / f"{ONE}.json"))
    blocked.keep_listing(TWO, KeptListing())
    assert blocked.listing(TWO) is None
