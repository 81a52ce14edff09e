"""nacre events: what happened in a session, from the audit."""

import json
from typing import Any

from cli.conftest import Nacre


def events(nacre: Nacre, *arguments: str) -> list[dict[str, Any]]:
    printed = nacre.ok("events", *arguments, "--json")
    return [json.loads(line) for line in printed.splitlines()]


def test_the_timeline_of_a_session_is_shown_and_followed_to_its_end(own_nacre: Nacre) -> None:
    own_nacre.ok("new", "dev")
    own_nacre.call("run", session="dev", command="echo first")
    with own_nacre.start("events", "dev", "--follow") as following:
        assert following.stdout is not None
        for line in following.stdout:
            if "ran 'echo first': exit 0" in line:
                break
        own_nacre.call("run", session="dev", command="false")
        own_nacre.call("resize_session", session="dev", rows=30, cols=90)
        own_nacre.ok("kill", "dev")
        rest = following.stdout.read()
        assert following.wait() == 0, "it ends with the session"
    assert "ran 'false': exit 1" in rest
    assert "resize_session" in rest
    assert any("ended" in line for line in rest.splitlines()[-2:])  # and who killed it
    kinds = [one["kind"] for one in events(own_nacre, "dev")]
    assert kinds[0] == "spawn"
    assert {"spawn", "input", "run", "exit"} <= set(kinds)
    assert not any("mac" in one for one in events(own_nacre, "dev"))
    # A name stands for the last session that had it; an id for its own.
    [first] = {one["session_id"] for one in events(own_nacre, "dev")}
    own_nacre.ok("new", "dev", "--", "cat")
    assert first not in {one["session_id"] for one in events(own_nacre, "dev")}
    assert {one["session_id"] for one in events(own_nacre, first)} == {first}
    assert "no session 'nosuch'" in own_nacre.fails("SESSION_NOT_FOUND", 3, "events", "nosuch")
