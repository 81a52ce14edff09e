"""What is shown of a caller."""

from nacre.core.catalog.caller import Caller


def test_secrets_of_a_caller_are_not_shown() -> None:
    shown = repr(Caller(door="mcp", cwd="/work", values={"API_KEY": "hunter2hunter2"}))
    assert "hunter2" not in shown
    assert shown.startswith("Caller(door='mcp', scope=")
    assert "cwd='/work'" in shown
