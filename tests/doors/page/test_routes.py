"""The page's files, and how a browser comes in."""

import gzip
import hmac
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from conftest import Daemon
from nacre.doors.http.credentials import Credentials
from nacre.doors.page import routes as page
from nacre.settings.table import Settings

from doors.sockets import JsonSocket, log_in, open_socket
from doors.wire import Answer, http_call

POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
    "img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
SCRIPT = "page-AB12CD34.js"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A page as `make web` builds it, and a secret beside it."""
    page = tmp_path / "page"
    (page / "assets" / "deep").mkdir(parents=True)
    (page / "index.html").write_text(f"<script src=assets/{SCRIPT}></script>")
    (page / "assets" / SCRIPT).write_text("1")
    (page / "assets" / "font-AB12CD34.woff2").write_bytes(b"\0")
    (page / "assets" / "style-AB12CD34.css").write_text("a{}")
    (page / "assets" / "icon-AB12CD34.svg").write_text("<svg/>")
    (page / "assets" / "licences.txt").write_text("free")
    (page / "assets" / "odd-AB12CD34.xyz").write_text("?")
    (page / "assets" / "deep" / "in-AB12CD34.js").write_text("2")
    (tmp_path / "secret").write_text("treasure")
    (page / "assets" / "link").symlink_to(tmp_path / "secret")
    return page


@pytest.fixture
def browser(folder: Path) -> Iterator[TestClient]:
    credentials = Credentials("token" * 4, lambda: 0.0, Settings(), page_key=b"k" * 32)
    app = Starlette(routes=list(page.build_routes(credentials, str(folder))))
    with TestClient(app) as client:
        yield client


def check_safety(headers: Any) -> None:
    assert headers["content-security-policy"] == POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-frame-options"] == "DENY"


# --- files -------------------------------------------------------------------------------------


def test_the_page_is_never_kept_and_loads_nothing_from_elsewhere(browser: TestClient) -> None:
    shown = browser.get("/")
    assert (shown.status_code, shown.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert SCRIPT in shown.text
    assert shown.headers["cache-control"] == "no-store"
    check_safety(shown.headers)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (SCRIPT, "text/javascript; charset=utf-8"),
        ("style-AB12CD34.css", "text/css; charset=utf-8"),
        ("font-AB12CD34.woff2", "font/woff2"),
        ("icon-AB12CD34.svg", "image/svg+xml"),
        ("odd-AB12CD34.xyz", "application/octet-stream"),
        ("deep/in-AB12CD34.js", "text/javascript; charset=utf-8"),
    ],
)
def test_a_file_whose_name_has_its_hash_is_kept_for_good(
    browser: TestClient, name: str, kind: str
) -> None:
    answer = browser.get(f"/assets/{name}")
    assert (answer.status_code, answer.headers["content-type"]) == (200, kind)
    assert "immutable" in answer.headers["cache-control"]
    check_safety(answer.headers)
    again = browser.get(f"/assets/{name}", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert browser.head(f"/assets/{name}").status_code == 200


def test_a_packed_file_is_for_who_takes_it(browser: TestClient, folder: Path) -> None:
    packed = gzip.compress(b"packed")
    (folder / "assets" / f"{SCRIPT}.gz").write_bytes(packed)
    path = f"/assets/{SCRIPT}"
    answer = browser.get(path, headers={"Accept-Encoding": "br, gzip"})
    assert (answer.text, answer.headers["content-encoding"]) == ("packed", "gzip")
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.headers["vary"] == "Accept-Encoding"
    for none in ("identity", "gzip;q=0"):
        plain = browser.get(path, headers={"Accept-Encoding": none})
        assert "content-encoding" not in plain.headers
        assert plain.text != "packed"


def test_a_file_without_a_hash_is_asked_for_again(browser: TestClient) -> None:
    answer = browser.get("/assets/licences.txt")
    assert (answer.text, answer.headers["cache-control"]) == ("free", "no-cache")


@pytest.mark.parametrize(
    "path",
    [
        "nothing.js",
        "",
        "deep",
        "link",
        "../index.html",
        "%2e%2e/%2e%2e/secret",
        "..%2f..%2fsecret",
        "deep/../../../secret",
        "%2fetc%2fpasswd",
        "/etc/passwd",
        "a%00b",
        "x" * 300,
        "%ff",
    ],
)
def test_nothing_else_is_served(browser: TestClient, path: str) -> None:
    answer = browser.get(f"/assets/{path}")
    assert answer.status_code == 404 or (path == "../index.html" and "<script" not in answer.text)
    assert "treasure" not in answer.text
    assert "root:" not in answer.text


def test_traversal_over_a_real_socket(daemon: Daemon) -> None:
    # http.client sends the path as it is; browsers and test clients would take the dots out.
    for path in ("/assets/../__init__.py", "/assets/../../errors.py", "/assets//etc/passwd"):
        answer = http_call(daemon, "GET", path, token=None)
        assert answer.status == 404
        assert answer.json["error"]["code"] == "UNKNOWN_OPERATION"


def test_without_a_built_page_it_is_said_how_to_build_it(tmp_path: Path) -> None:
    credentials = Credentials("token" * 4, lambda: 0.0, Settings(), page_key=b"k" * 32)
    routes = page.build_routes(credentials, str(tmp_path / "nothing"))
    with TestClient(Starlette(routes=list(routes))) as browser:
        shown = browser.get("/")
        assert shown.status_code == 200
        assert "make web" in shown.text
        assert 'href="/api/docs"' in shown.text
        check_safety(shown.headers)
        assert browser.get("/assets/x.js").status_code == 404


def test_the_daemon_serves_the_page_without_a_token(daemon: Daemon) -> None:
    page = http_call(daemon, "GET", "/", token=None)
    assert page.status == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    check_safety(page.headers)
    assert daemon.token not in page.body.decode()
    assets = re.findall(r'(?:src|href)="(assets/[^"]+)"', page.body.decode())
    assert assets, "the page is not built: scripts/build-web"
    for asset in assets:
        served = http_call(daemon, "GET", f"/{asset}", token=None)
        assert served.status == 200
        check_safety(served.headers)
        assert "immutable" in served.headers["cache-control"]


def test_the_page_is_served_to_our_own_host_alone(daemon: Daemon) -> None:
    for path in ("/", "/assets/x.js", "/api/login"):
        foreign = http_call(daemon, "GET", path, token=None, headers={"Host": "evil.example"})
        assert foreign.status == 421


# --- logging in --------------------------------------------------------------------------------


def login(daemon: Daemon, body: object, **headers: str) -> Answer:
    return http_call(daemon, "POST", "/api/login", body, token=None, headers=headers)


def test_a_persons_token_is_given_for_a_key(daemon: Daemon) -> None:
    token = daemon.person_token()
    answer = login(daemon, {"token": token})
    assert answer.status == 200
    assert answer.headers["cache-control"] == "no-store"
    key = answer.json["key"]
    assert token.split("_", 2)[2] not in key
    assert http_call(daemon, "GET", "/api/status", token=key).status == 200


def test_blanks_around_a_pasted_token_do_no_harm(daemon: Daemon) -> None:
    assert login(daemon, {"token": f" {daemon.person_token()}\n"}).status == 200


def test_a_code_is_given_for_a_key_once(daemon: Daemon) -> None:
    page = daemon.as_person("open_page")
    found = re.fullmatch(rf"{daemon.url}/#code=([\w-]+)", page["url"])
    assert found
    assert page["expires_in"] == 600
    key = login(daemon, {"code": found[1]}).json["key"]
    assert http_call(daemon, "GET", "/api/status", token=key).status == 200
    again = login(daemon, {"code": found[1]})
    assert (again.status, again.json["error"]["code"]) == (401, "FORBIDDEN")
    assert "nacre web" in again.json["error"]["message"]


def test_an_address_may_lead_to_a_session(daemon: Daemon) -> None:
    made = daemon.rest("POST", "/sessions", {"name": "dev", "command": "cat"})
    url = daemon.as_person("open_page", session=made["port"])["url"]
    assert url.endswith("&session=dev")
    answer = http_call(daemon, "POST", "/api/page", {"session": "nobody"})
    assert answer.json["error"]["code"] == "SESSION_NOT_FOUND"
    daemon.rest("POST", "/sessions/dev/manage", {"action": "kill"})


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"token": 5},
        {"token": "a", "code": "b"},
        {"password": "x"},
        [],
        b"no json",
        {"token": "x" * 5000},
        None,
    ],
    ids=lambda body: str(body)[:30],
)
def test_what_is_no_login_is_400(daemon: Daemon, body: object) -> None:
    answer = login(daemon, body)
    assert (answer.status, answer.json["error"]["code"]) == (400, "INVALID_INPUT")


def test_who_has_the_daemons_token_cannot_become_a_person(daemon: Daemon) -> None:
    answer = login(daemon, {"token": daemon.token})
    assert (answer.status, answer.json["error"]["code"]) == (401, "FORBIDDEN")
    assert "for programs" in answer.json["error"]["message"]
    for path, body in (("/api/page", {}), ("/api/tokens", {"scope": "admin", "person": True})):
        answer = http_call(daemon, "POST", path, body)
        assert (answer.status, answer.json["error"]["code"]) == (403, "FORBIDDEN")
    # Keys were once made under the token: who has it could make one.
    nonce = "x" * 22
    for label in (b"nacre page key 1\0", b"nacre page key 2\0"):
        proof = hmac.new(daemon.token.encode(), label + nonce.encode(), "sha256").hexdigest()
        assert http_call(daemon, "GET", "/api/status", token=f"{nonce}.{proof}").status == 401


def test_a_foreign_page_cannot_log_in(daemon: Daemon) -> None:
    answer = login(daemon, {"token": daemon.token}, Origin="http://evil.example")
    assert answer.status == 403


def test_wrong_tokens_are_bounded_and_a_code_still_gets_in(
    own_daemon: Callable[..., Daemon],
) -> None:
    daemon = own_daemon(max_wrong_tokens=3)
    for _ in range(3):
        wrong = login(daemon, {"token": "wrong" * 4})
        assert (wrong.status, wrong.json["error"]["code"]) == (401, "FORBIDDEN")
        assert "nacre web" in wrong.json["error"]["message"]
    bounded = login(daemon, {"token": daemon.person_token()})
    assert (bounded.status, bounded.json["error"]["code"]) == (429, "RESOURCE_LIMIT")
    assert "nacre web" in bounded.json["error"]["message"]
    assert login(daemon, {"code": daemon.page_code()}).status == 200


def test_tickets_and_codes_say_how_long_they_are_good(narrow_daemon: Daemon) -> None:
    assert http_call(narrow_daemon, "POST", "/api/ticket").json["expires_in"] == 7
    assert narrow_daemon.as_person("open_page")["expires_in"] == 9


def test_a_ticket_needs_a_token_or_a_key(daemon: Daemon) -> None:
    assert http_call(daemon, "POST", "/api/ticket", token=None).status == 401
    for token in ("", log_in(daemon)):
        answer = http_call(daemon, "POST", "/api/ticket", token=token)
        assert answer.headers["cache-control"] == "no-store"
        assert answer.json["expires_in"] == 30
        path = f"/ws/json?ticket={answer.json['ticket']}"
        with JsonSocket(open_socket(daemon, path, token=None)) as ws:
            assert ws.greeting["connected"] is True
