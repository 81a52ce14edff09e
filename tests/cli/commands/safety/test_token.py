"""nacre token: made, listed, revoked; shown once."""

import json
import re

from cli.conftest import Nacre


def test_a_token_is_shown_once_listed_and_revoked(own_nacre: Nacre) -> None:
    assert own_nacre.ok("token", "list").startswith("no tokens")
    token = own_nacre.ok(
        "token", "create", "--scope", "observe", "--session", "dev", "--ttl", "1h", "--name", "ci"
    ).strip()
    assert re.fullmatch(r"nacre_[0-9a-f]{8}_[\w-]{43}", token)
    listed = own_nacre.ok("token", "list")
    assert re.search(r"ci\s+observe\s+dev\s+program\s+in 60 m", listed)
    assert token not in listed
    [facts] = json.loads(own_nacre.ok("token", "list", "--json"))["tokens"]
    assert (facts["scope"], facts["sessions"], facts["person"]) == ("observe", ["dev"], False)
    own_nacre.ok("token", "revoke", facts["id"])
    assert own_nacre.ok("token", "list").startswith("no tokens")
    kinds = [json.loads(line) for line in own_nacre.ok("audit", "query", "--json").splitlines()]
    events = [one["event"] for one in kinds if one["kind"] == "token"]
    assert events == ["created", "revoked"]
    assert token.split("_", 2)[2] not in json.dumps(kinds)


def test_what_is_missing_or_wrong_is_said(own_nacre: Nacre) -> None:
    assert "--scope" in own_nacre.fails("INVALID_INPUT", 2, "token", "create")
    wrong = ("token", "create", "--scope", "drive", "--ttl", "soon")
    assert "--ttl takes" in own_nacre.fails("INVALID_INPUT", 2, *wrong)
    assert "token list" in own_nacre.fails("INVALID_INPUT", 2, "token", "revoke")
