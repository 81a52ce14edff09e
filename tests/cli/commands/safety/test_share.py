"""A link for somebody who only watches."""

import json
import re
import urllib.error
import urllib.request

from cli.conftest import Nacre

LINK = re.compile(r"(http://127\.0\.0\.1:\d+)/#token=(\S+)&session=watched")


def status_of(base: str, token: str, path: str, body: object = None) -> int:
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    try:
        asked = urllib.request.Request(f"{base}/api{path}", data, headers)
        with urllib.request.urlopen(asked) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        return refused.code


def test_a_link_shows_one_session_and_does_nothing_else(running: Nacre) -> None:
    for name in ("watched", "private"):
        running.call("create_session", name=name, command="cat")
    link = LINK.fullmatch(running.ok("share", "watched", "--ttl", "1h").strip())
    assert link
    base, token = link[1], link[2]
    assert status_of(base, token, "/sessions/watched/screen") == 200
    assert status_of(base, token, "/sessions/private/screen") == 404
    assert status_of(base, token, "/sessions/watched/input", {"input": "x"}) == 403
    made = running.json("share", "watched")
    running.ok("token", "revoke", made["token_id"])
    gone = LINK.fullmatch(made["url"])
    assert gone
    assert status_of(gone[1], gone[2], "/sessions/watched/screen") == 401
    running.fails("INVALID_INPUT", 2, "share", "watched", "--ttl", "soon")
    running.fails("SESSION_NOT_FOUND", 3, "share", "nobody")
    for name in ("watched", "private"):
        running.call("manage_session", session=name, action="kill")
