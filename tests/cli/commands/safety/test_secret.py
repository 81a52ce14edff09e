"""nacre secret: a value comes in by standard input, and never comes out."""

import json

from cli.conftest import Nacre


def test_a_secret_is_set_listed_used_and_removed(own_nacre: Nacre) -> None:
    nacre = own_nacre
    assert nacre.ok("secret", "list").startswith("no secrets")
    assert "{{secret:DB}}" in nacre.ok("secret", "set", "DB", stdin="hunter2hunter2\n")
    told = nacre.ok("secret", "set", "DB", "--session", "dev", "--json", stdin="hunter3hunter3")
    assert json.loads(told) == {"name": "DB", "replaced": True}
    assert "hunter" not in nacre.ok("secret", "list") + nacre.ok("secret", "list", "--json")
    nacre.ok("new", "dev", "--", "cat")
    nacre.ok("send", "dev", "got {{secret:DB}}")
    nacre.ok("wait", "dev", "--text", "got hunter3hunter3")  # a person sees it
    wrong = nacre.fails("INVALID_INPUT", 2, "send", "dev", "{{secret:NO}}")
    assert "nacre secret set NO" in wrong
    nacre.ok("secret", "remove", "DB")
    assert nacre.ok("secret", "list").startswith("no secrets")
    audited = nacre.ok("audit", "query", "--json")
    assert "{{secret:DB}}" in audited
    assert "hunter3" not in audited


def test_no_value_is_taken_from_the_command_line(own_nacre: Nacre) -> None:
    told = own_nacre.fails("INVALID_INPUT", 2, "secret", "set", "DB", "hunter2")
    assert "others can see it" in told
    assert "hunter2" not in told
    assert "NAME" in own_nacre.fails("INVALID_INPUT", 2, "secret", "remove")
    assert "empty" in own_nacre.fails("INVALID_INPUT", 2, "secret", "set", "DB")
