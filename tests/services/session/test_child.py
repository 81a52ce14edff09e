"""What a session's program is given besides what was asked for."""

import pytest

from nacre.services.session.child import _asking


@pytest.mark.parametrize(
    ("how", "env", "required"),
    [
        ("offer", {"DISPLAY": ":0"}, None),
        ("prefer", {"DISPLAY": ":0"}, "prefer"),
        ("prefer", {"WAYLAND_DISPLAY": "wayland-0"}, "prefer"),
        ("prefer", {}, "force"),
        ("prefer", {"DISPLAY": ""}, "force"),
    ],
)
def test_ssh_without_a_display_is_told_to_ask_all_the_same(
    how: str, env: dict[str, str], required: str | None
) -> None:
    """OpenSSH asks for a display before it takes `prefer` for anything (readpass.c)."""
    given = _asking(how, "/askpass", "/askpass.sock", env)
    assert given["SSH_ASKPASS"] == given["SUDO_ASKPASS"] == "/askpass"
    assert given.get("SSH_ASKPASS_REQUIRE") == required
    assert _asking("off", "/askpass", "/askpass.sock", env) == {}
