"""A server's URI is found again in ours, whatever it holds."""

import pytest

from nacre.doors.mcp.upstream.addresses import (
    UpstreamAddress,
    address_of,
    parse_address,
    read_as,
    template_of,
    with_our_links,
)

ROOT = "nacre://"


@pytest.mark.parametrize(
    "uri",
    [
        "file:///a/b c",
        "x://y?q=1#part",
        "urn:a:b",
        "x://a%2Fb/%25",
        "ü://ö",
        "nacre://upstream/a/b",
    ],
)
def test_an_address_leads_back_to_the_servers_own(uri: str) -> None:
    ours = address_of(ROOT, "s-1", uri)
    assert ours.isascii()
    assert parse_address(ours.removeprefix(ROOT)) == UpstreamAddress("s-1", uri)


def test_what_a_client_made_of_a_template_is_taken_as_it_is() -> None:
    made = template_of(ROOT, "s", "x://{a}/{b}").replace("{a}", "1%2F2").replace("{b}", "%25")
    assert parse_address(made.removeprefix(ROOT)) == UpstreamAddress("s", "x://1%2F2/%25")


@pytest.mark.parametrize(
    "path", ["sessions", "upstream", "upstream/s", "upstream/s/", "upstream//x"]
)
def test_other_addresses_are_none(path: str) -> None:
    assert parse_address(path) is None


def test_links_lead_here_but_for_those_to_the_web() -> None:
    link = {"type": "resource_link", "name": "n", "uri": "x://1"}
    web = {**link, "uri": "HTTPS://example.org"}
    whole = {"type": "resource", "resource": {"uri": "x://2", "text": "t"}}
    text = {"type": "text", "text": "x://1"}
    assert with_our_links([link, web, whole, text], ROOT, "s") == [
        {**link, "uri": "nacre://upstream/s/x%3A%2F%2F1"},
        web,
        {"type": "resource", "resource": {"uri": "nacre://upstream/s/x%3A%2F%2F2", "text": "t"}},
        text,
    ]


def test_what_is_read_has_the_address_that_was_asked_for() -> None:
    read = UpstreamAddress("s", "x://1")
    content = {"contents": [{"uri": "x://1", "text": "a"}, {"uri": "x://1/2", "text": "b"}]}
    told = read_as(content, ROOT, read, "nacre://upstream/s/x://1")
    assert [one["uri"] for one in told["contents"]] == [
        "nacre://upstream/s/x://1",
        "nacre://upstream/s/x%3A%2F%2F1%2F2",
    ]
