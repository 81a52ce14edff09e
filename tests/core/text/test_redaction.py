"""Secrets are taken out of texts, rows and answers; what is none stays."""

import subprocess
import sys
from typing import Any

import pytest

from conftest import PATIENCE
from nacre.core.operations.results import RunOutcome
from nacre.core.screen.screen import Span
from nacre.core.text.budget import head_and_tail, shortened
from nacre.core.text.redaction import Redaction, SecretValues, redacted, redacting, searchable
from nacre.wording import Hint

GITHUB = "ghp_" + "a1B2" * 9
KEY = "\n".join(
    [
        "-----BEGIN OPENSSH PRIVATE KEY-----",
        *["b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW"] * 3,
        "QyNTUxOQAAACB7",
        "-----END OPENSSH PRIVATE KEY-----",
    ]
)

SECRETS = {
    "AWS key": "AKIA" + "Q3EGRIE5XYZ12345",
    "GitHub token": GITHUB,
    "GitLab token": "glpat-" + "xY1-" * 5,
    "Slack token": "xoxb-" + "123456789012-abcdefGHIJ",
    "Anthropic key": "sk-ant-" + "api03-" + "x9Y" * 10,
    "OpenAI key": "sk-proj-" + "aB3" * 12,
    "Google key": "AIza" + "SyD-1" * 7,
    "Stripe key": "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "npm token": "npm_" + "a1b2C3" * 6,
    "PyPI token": "pypi-" + "AgEIcHlwaS5vcmcC" * 4,
    "Hugging Face token": "hf_" + "aBcDeFgHiJ" * 4,
    "JWT": "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0" + ".abc_DEF-123",
    "SendGrid key": "SG." + "a1B2" * 5 + "." + "c3D4" * 8,
}

HARMLESS = (
    "",
    "task-manager, disk-usage-of-every-folder-and-its-files, risk-free",
    "class sk-folding-cube-and-more-words-of-style",
    "Bearer tokens are sent in a header; bearer authentication_is_a_word",
    "https://example.com:8080/path?key=1 and git@github.com:owner/name.git",
    "postgres://postgres:postgres@localhost/db",
    "-----BEGIN PRIVATE KEY-----",
    'if "-----BEGIN PRIVATE KEY-----" in text:',
    "API_KEY=os.environ['API_KEY']",
    "TOKEN = read_token()",
    "PRIMARY_KEY (id)",
    "commit 6080043bd3c1e7d0a4b9f1c2d3e4f5a6b7c8d9e0",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "eyJ is how JSON begins in base64",
    "the SECRET_KEY setting is documented",
    "npm_config_registry and npm_lifecycle_event",
)


def redact(text: str, **values: str) -> tuple[str, int]:
    redaction = Redaction(SecretValues({value: name for name, value in values.items()}))
    return redaction.text(text), redaction.count


@pytest.mark.parametrize("label", SECRETS)
def test_a_known_shape_is_redacted_wherever_it_stands(label: str) -> None:
    secret = SECRETS[label]
    for text in (secret, f"token: {secret}, and more", f'{{"key":"{secret}"}}', f"x={secret}\ny"):
        found, count = redact(text)
        assert (found, count) == (text.replace(secret, f"[redacted: {label}]"), 1)
        assert redact(found) == (found, 0)


def test_it_does_not_depend_on_the_length_of_the_text() -> None:
    """Long texts are searched in another way."""
    import re2  # noqa: F401  # as it is loaded in the daemon

    padding = "plain words of a long text\n" * 200
    for label, secret in SECRETS.items():
        found, count = redact(f"{padding}{secret}\n{padding}")
        assert (found, count) == (f"{padding}[redacted: {label}]\n{padding}", 1)
    assert redact(f"{padding}äöü päss-wörd {padding}", NAME="päss-wörd")[1] == 1


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == (text, 0)


def test_parts_of_a_line_are_redacted_and_the_rest_stays() -> None:
    assert redact("curl -H 'Authorization: Bearer abcdef0123456789'")[0] == (
        "curl -H 'Authorization: Bearer [redacted: bearer token]'"
    )
    assert redact("Authorization: Basic dXNlcjpwYXNz")[0] == (
        "Authorization: Basic [redacted: basic credentials]"
    )
    assert redact("psql postgres://app:s3cr3tpass@db/x")[0] == (
        "psql postgres://app:[redacted: password in a URL]@db/x"
    )
    for begin in ("AWS_SECRET_ACCESS_KEY=", "export DB_PASSWORD=", 'declare -x MY_TOKEN="'):
        line = f"{begin}wJalrXUtnFEMIK7MDENG" + ('"' if begin.endswith('"') else "")
        found, count = redact(f"PATH=/bin\n{line}\nHOME=/root")
        assert count == 1
        assert "wJalr" not in found
        assert found.startswith(f"PATH=/bin\n{begin}[redacted: secret variable]")


def test_a_private_key_is_redacted_also_where_its_beginning_or_end_is_not_there() -> None:
    lines = KEY.split("\n")
    for shown in (lines, lines[:3], lines[2:]):
        found, count = redact("\n".join(["before:", *shown, "$ "]))
        assert count >= 1
        assert "b3BlbnNz" not in found
        assert "QyNTUxOQ" not in found
        assert found.startswith("before:\n")
        assert found.endswith("$ ")
        assert found.count("\n") == len(shown) + 1  # line numbers stay


def test_known_values_are_redacted_by_name() -> None:
    assert redact("the password is hunter2hunter2.", DB_PASSWORD="hunter2hunter2") == (
        "the password is [redacted: DB_PASSWORD].",
        1,
    )
    values = SecretValues({"tr0ub4dor": "{{secret:DB}}"})
    assert Redaction(values).text("tr0ub4dor tr0ub4dor") == "{{secret:DB}} {{secret:DB}}"
    # A stored secret that also has a shape is known by its name.
    values = SecretValues({GITHUB: "{{secret:GH}}"})
    assert Redaction(values).text(f"x {GITHUB} y") == "x {{secret:GH}} y"


# --- screens -----------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", range(1, len(GITHUB)))
def test_rows_that_the_width_breaks_are_one_line(cut: int) -> None:
    """Wherever the border falls, and the grid stays as it was."""
    cols = 60
    first = GITHUB[:cut].rjust(cols, "-")
    rows = [first, GITHUB[cut:], "done"]
    redaction = Redaction(SecretValues())
    shown = redaction.rows(rows, cols)
    assert [len(row) for row in shown] == [len(row) for row in rows]
    assert redaction.count == 1
    joined = "".join(shown)
    assert not any(GITHUB[at : at + 4] in joined for at in range(len(GITHUB) - 3))
    assert shown[2] == "done"
    assert shown[0].startswith("-" * (cols - cut))


def test_a_row_that_is_not_full_ends_there() -> None:
    rows = ["x" * 30, f"  {GITHUB}", "done"]
    shown = Redaction(SecretValues()).rows(rows, 80)
    assert shown[2] == "done"
    assert shown[1].startswith("  [redacted: GitHub token]*")


def test_spans_keep_their_styles() -> None:
    line = (Span("key: "), Span(GITHUB[:10], bold=True), Span(GITHUB[10:], fg="red"), Span(" end"))
    shown = Redaction(SecretValues()).rows([line], 80)[0]
    assert [(len(span.text), span.bold, span.fg) for span in shown] == [
        (len(span.text), span.bold, span.fg) for span in line
    ]
    text = "".join(span.text for span in shown)
    assert text == "key: " + "[redacted: GitHub token]".ljust(len(GITHUB), "*") + " end"


def test_a_short_secret_is_masked_and_wide_characters_stay_wide() -> None:
    values = SecretValues({"pässwört": "NAME", "秘密秘密秘密秘密": "WIDE"})
    shown = Redaction(values).rows(["a pässwört b", "秘密秘密秘密秘密!"], 80)
    assert list(shown) == ["a ******** b", "＊＊＊＊＊＊＊＊!"]


# --- answers -----------------------------------------------------------------------------------


def test_answers_are_redacted_in_all_of_their_texts() -> None:
    outcome = RunOutcome(
        status="completed", exit_code=0, hint=Hint(f"see {GITHUB}", "wait"), output=f"a\n{GITHUB}"
    )
    redaction = Redaction(SecretValues())
    shown: Any = redacted(outcome, redaction)
    assert shown.output == "a\n[redacted: GitHub token]"
    assert shown.hint == "see [redacted: GitHub token]"
    assert shown.hint.next == ("wait",)
    assert redaction.count == 2
    assert redacted({"a": [1, {"b": GITHUB}]}, redaction) == {
        "a": [1, {"b": "[redacted: GitHub token]"}]
    }


def test_a_secret_over_rows_or_spans_of_an_answer_is_found() -> None:
    values = SecretValues({"first part\nsecond part": "{{secret:two}}"})
    rows = {"rows": ["x", "first part", "second part"], "n": 1}
    assert "second part" not in str(redacted(rows, Redaction(values)))
    half = len(GITHUB) // 2
    line = (Span(f"a {GITHUB[:2]}"), Span(GITHUB[2:half], bold=True), Span(GITHUB[half:]))
    shown = redacted({"lines": [(Span("b"),), line]}, Redaction(SecretValues()))
    assert GITHUB[half:] not in str(shown)
    assert "bold=True" in str(shown)


def test_names_of_fields_are_redacted_too() -> None:
    redaction = Redaction(SecretValues({"hunter2-horse": "{{secret:DB}}"}))
    told = redacted({"args": {"hunter2-horse": 1, "path": "x"}}, redaction)
    assert told == {"args": {"{{secret:DB}}": 1, "path": "x"}}


def test_an_answer_without_a_secret_is_the_same_object() -> None:
    outcome = RunOutcome(status="completed", exit_code=0, output="plain\ntext")
    assert redacted(outcome, Redaction(SecretValues())) is outcome


def test_a_text_is_redacted_before_it_is_cut() -> None:
    """A cut in the middle of a secret would leave two halves that nobody knows."""
    for at in range(len(GITHUB)):
        line = "-" * (100 - at) + f" {GITHUB} " + "-" * 300
        with redacting(Redaction(SecretValues())):
            shown = shortened(line, 260)
            whole, _ = head_and_tail([line, "x"], 260)
        assert GITHUB[4:12] not in shown + whole
        assert GITHUB[-8:] not in shown + whole


def test_who_searches_finds_no_secret_piece_by_piece() -> None:
    line = f"token {GITHUB} end"
    with redacting(Redaction(SecretValues())):
        assert len(searchable(line)) == len(line)
        assert GITHUB[8:14] not in searchable(line)
    assert searchable(line) == line


# Printed on purpose: an expression that tries all ways to take them apart never ends.
SLOW = r"""
from nacre.core.text.redaction import Redaction, SecretValues
many = 60_000
for text in (
    "-----BEGIN PRIVATE KEY-----\n" + "a:  " * many + "!",
    "a: -----BEGIN PRIVATE KEY-----\n" * (many // 10),
    "A" * many + "-----END PRIVATE KEY-----" * (many // 10),
    "-----BEGIN PRIVATE KEY-----" + " \n" * many,
    "eyJ" * many,
    "eyJ-" * many,
    ".eyJa" * many,
    "sk-" * many,
    "TOKEN" * 790 + "= x",
    ("TOKENSECRETPASSWD_KEY" * 180 + "= x\n") * 100,
    "://a:bbbbbbbb" * many,
):
    Redaction(SecretValues()).text(text)
"""


def test_no_text_takes_long_to_look_through() -> None:
    subprocess.run([sys.executable, "-c", SLOW], timeout=PATIENCE, check=True)


@pytest.mark.parametrize("end", ["\n", "\\n"], ids=["lines", "escaped"])
def test_a_key_with_headers_is_hidden(end: str) -> None:
    headers = ["-----BEGIN RSA PRIVATE KEY-----", "Proc-Type: 4,ENCRYPTED", r"Comment: a\b", ""]
    text = end.join([*headers, "MIIEpAIBAAKCAQEA" * 4, "MIIEpAIBAAKCAQEA" * 4])
    shown = Redaction(SecretValues()).text(text)
    assert "MIIE" not in shown
    assert shown.startswith("-----BEGIN RSA PRIVATE KEY-----")
