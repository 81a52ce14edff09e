"""send and keys."""

import base64

import pytest

from cli.conftest import Nacre


def test_send_types_the_words_and_enter(nacre: Nacre, echo: str) -> None:
    assert nacre.ok("send", echo, "two", "words") == ""
    nacre.until(echo, "two words")


def test_send_takes_flags_between_its_words(nacre: Nacre, echo: str) -> None:
    nacre.ok("send", echo, "--no-enter", "ab")
    sent = nacre.json("send", echo, "cd")
    assert sent == {"success": True, "generation": sent["generation"]}
    nacre.until(echo, "abcd")


def test_send_takes_anything_after_dashes(nacre: Nacre, echo: str) -> None:
    nacre.ok("send", "--", echo, "-la", "--json", "--", "x")
    nacre.until(echo, "-la --json -- x")


def test_send_says_where_words_with_a_dash_go(nacre: Nacre, echo: str) -> None:
    assert "begin with - after --" in nacre.fails("INVALID_INPUT", 2, "send", echo, "ls", "-la")


def test_send_decodes_base64(nacre: Nacre, echo: str) -> None:
    nacre.ok("send", echo, "--base64", base64.b64encode("grüße".encode()).decode())
    nacre.until(echo, "grüße")
    nacre.fails("INVALID_INPUT", 2, "send", echo, "--base64", "no base64!")


def test_send_reads_standard_input_and_adds_one_enter(nacre: Nacre, echo: str) -> None:
    nacre.ok("send", echo, "--stdin", stdin="one\ntwo\n")
    nacre.ok("send", echo, "three")
    assert nacre.until(echo, "three").split("\n")[:4] == ["ready", "one", "two", "three"]


def test_send_passes_bytes_that_are_no_utf8(nacre: Nacre, echo: str) -> None:
    encoded = base64.b64encode(b"<\xff>").decode()
    nacre.ok("send", echo, "--base64", encoded)
    nacre.until(echo, "<�>")


@pytest.mark.parametrize("words", [(), ("text", "--stdin")])
def test_send_needs_exactly_one_source(nacre: Nacre, echo: str, words: tuple[str, ...]) -> None:
    nacre.fails("INVALID_INPUT", 2, "send", echo, *words)


def test_send_to_an_ended_session_says_so(nacre: Nacre, ended: str) -> None:
    ends = "(exit code 3); its screen can still be read; start it again: nacre restart gone\n"
    assert nacre.fails("SESSION_DEAD", 6, "send", ended, "x").endswith(ends)


def test_keys_are_pressed_by_name(nacre: Nacre, echo: str) -> None:
    assert nacre.ok("keys", echo, "a", "b", "enter") == ""
    nacre.until(echo, "ab")
    assert nacre.json("keys", echo, "ctrl+d")["success"] is True
    nacre.ended(echo)


def test_keys_refuses_an_unknown_name(nacre: Nacre, echo: str) -> None:
    nacre.fails("INVALID_INPUT", 2, "keys", echo, "nokey")


def test_what_answers_is_found_after_the_generation_that_send_prints(
    nacre: Nacre, echo: str
) -> None:
    after = str(nacre.json("send", echo, "first")["generation"])
    nacre.json("send", echo, "second")
    for text in ("first", "second"):
        found = nacre.json("wait", echo, "--text", text, "--after-generation", after)
        assert (found["matched"], "hint" in found) == (True, False)
