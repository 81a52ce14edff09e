"""A person logs in at a remote server; the daemon uses the tokens, renews them, and says when it
cannot.
"""

import os
import pty
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from nacre.cli.setup.login import remote_server
from nacre.errors import InvalidInput
from nacre.settings.paths import find_paths

from cli.conftest import Nacre
from upstreams import configs

SERVER = str(Path(configs.__file__).parent / "oauth_server.py")
ADDRESS = re.compile(r"http://\S+/authorize\?\S+")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    command = [sys.executable, SERVER]
    env = {**os.environ, "PYTHONPATH": str(Path(SERVER).parent.parent)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def begin(nacre: Nacre, name: str, stdin: int = subprocess.DEVNULL) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "nacre", "upstream", "login", name, "--no-browser"]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, env=nacre.env, stdin=stdin, stdout=pipe, stderr=pipe, text=True
    )


def address_of(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if found := ADDRESS.search(line):
            return found[0]
    raise AssertionError(process.communicate())


def test_a_login_from_the_browser_to_the_logout(nacre: Nacre, url: str) -> None:
    nacre.ok("upstream", "add", "remote", "--url", f"{url}/mcp", "--replace")
    refused = nacre("upstream", "test", "remote")
    assert refused.returncode == 1
    assert "log in: nacre upstream login remote" in refused.stderr
    process = begin(nacre, "remote")
    address = address_of(process)
    assert "code_challenge_method=S256" in address
    page = httpx2.get(address, follow_redirects=True)
    assert "Logged in" in page.text
    out, problems = process.communicate(timeout=60)
    assert (process.returncode, problems) == (0, "")
    assert "logged in at remote" in out
    assert "14 tools" in out
    (file,) = (Path(nacre.paths.state) / "upstream" / "logins").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600

    def echo() -> subprocess.CompletedProcess[str]:
        return nacre("upstream", "call", "remote", "echo", '{"text": "hi"}')

    assert echo().stdout == "hi\n"
    # The token is refused, and renewed; then what renews it is refused as well.
    before = file.read_text()
    httpx2.post(f"{url}/end")
    assert echo().stdout == "hi\n"
    assert file.read_text() != before
    httpx2.post(f"{url}/end?all=1")
    gone = echo()
    assert gone.returncode == 1
    assert "log in: nacre upstream login remote" in gone.stderr
    assert "logged out of remote" in nacre.ok("upstream", "logout", "remote")
    assert not file.exists()
    [listed] = [one for one in nacre.json("upstream", "list") if one["name"] == "remote"]
    assert listed["failures"] == 1


def test_where_no_browser_comes_back_the_code_is_pasted(nacre: Nacre, url: str) -> None:
    ours, theirs = pty.openpty()
    process = begin(nacre, "remote", stdin=theirs)
    try:
        answer = httpx2.get(address_of(process))
        code = re.search(r"code=([^&]+)", answer.headers["location"])
        assert code is not None
        os.write(ours, code[1].encode() + b"\n")
        out, problems = process.communicate(timeout=60)
    finally:
        os.close(ours)
        os.close(theirs)
    assert (process.returncode, problems) == (0, "")
    assert "14 tools" in out


def test_a_refusal_is_told(nacre: Nacre) -> None:
    process = begin(nacre, "remote")
    sent = httpx2.URL(address_of(process)).params
    back = {"state": sent["state"], "error": "access_denied"}
    assert httpx2.get(sent["redirect_uri"], params={**back, "state": "guessed"}).status_code == 400
    assert httpx2.get(sent["redirect_uri"], params=back).status_code == 400
    _, problems = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "the login failed: the server says: access_denied" in problems


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ('command = "true"', "takes no login"),
        ('url = "https://x"\nheaders = { authorization = "$A" }', "is used instead"),
        ('url = "https://x/$A"', "the variables A of its table are not set"),
        ("url = 5", "url must be a text"),
        ("url =", "is no TOML"),
    ],
)
def test_what_takes_no_login_is_told(tmp_path: Path, table: str, words: str) -> None:
    (tmp_path / "config.toml").write_text(f"[mcp_servers.a]\n{table}\n")
    paths = find_paths({"NACRE_HOME": str(tmp_path)})
    with pytest.raises(InvalidInput, match=words):
        remote_server(paths, "a", {})
    (tmp_path / "config.toml").write_text("")
    with pytest.raises(InvalidInput, match="no upstream server named 'a'"):
        remote_server(paths, "a", {})
