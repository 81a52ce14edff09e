"""The wizard, as somebody types their answers into it."""

import json
import sys
import tomllib
from pathlib import Path

from cli.conftest import Nacre
from cli.person import Person
from upstreams import configs

SERVER = str(Path(configs.__file__).parent / "odd_server.py")


def test_a_server_is_added_tested_changed_and_deleted(own_nacre: Nacre) -> None:
    config = Path(own_nacre.paths.config_file)
    added = own_nacre(
        "setup",
        stdin=f"a\nodd\n\n{sys.executable} {SERVER} plain\nTOKEN=$TOK\n\n\n\ny\nq\n",
        TOK="s3cret-value",
    )
    assert (added.returncode, added.stderr) == (0, "")
    assert "No MCP servers are configured." in added.stdout
    assert "odd works: 3 tools" in added.stdout
    assert 'TOKEN = "$TOK"' in config.read_text()
    assert "s3cret-value" not in config.read_text() + added.stdout
    changed = own_nacre("setup", stdin="e\nodd\n\n\nMORE=1\n\nn\ny\nd\nnone\nq\n")
    assert "There is no 'none'." in changed.stdout
    text = config.read_text()
    assert ("$TOK" in text, "MORE" in text, "enabled = false" in text) == (True, True, True)
    gone = own_nacre("setup", stdin="d\nodd\ny\n")
    assert "odd is gone." in gone.stdout
    assert "odd" not in config.read_text()


def test_nothing_is_written_before_a_yes(own_nacre: Nacre) -> None:
    done = own_nacre("setup", stdin="a\nodd\nhttp\nhttp://127.0.0.1:1/mcp\n\n\nn\n")
    assert done.returncode == 0
    config = Path(own_nacre.paths.config_file)
    assert not config.exists() or "odd" not in config.read_text()


def test_in_a_terminal_what_is_not_asked_about_stays(own_nacre: Nacre) -> None:
    config = Path(own_nacre.paths.config_file)
    config.parent.mkdir(exist_ok=True)
    config.write_text(
        f"[mcp_servers.odd]  # mine\ncommand = {json.dumps(sys.executable)}\n"
        f'args = [{json.dumps(SERVER)}, "plain", "a b"]  # quoted\n'
        'cwd = "/"\ncall_timeout = 7\ndisabled_tools = ["die"]\n'
        "[mcp_servers.wrong]\nenv = 5\n"
    )
    home = own_nacre.home / "person"
    home.mkdir()
    env = {**own_nacre.env, "HOME": str(home)}
    person = Person(env, command=("setup",), rows=60, cols=200, cwd=own_nacre.home)
    try:

        def answer(question: str, typed: str) -> None:
            person.see(lambda: person.text.rstrip().endswith(question))
            person.type(typed.encode() + b"\r")

        answer("q quit\n>", "e")
        answer("Which one (odd, wrong)?", "odd")
        answer("Transport: stdio, http or sse [stdio]:", "")
        answer("plain 'a b']:", "")
        answer("removes):", "")
        answer("Enable it [Y/n]?", "")
        answer("Write it [Y/n]?", "")
        answer("Test it now [Y/n]?", "")
        person.sees("odd works: 2 tools")
        written = config.read_text()
        assert "[mcp_servers.odd]  # mine" in written
        table = tomllib.loads(written)["mcp_servers"]["odd"]
        assert (table["cwd"], table["call_timeout"], table["args"][1:]) == (
            "/",
            7,
            ["plain", "a b"],
        )
        answer("\n>", "e")
        answer("Which one (odd, wrong)?", "odd")
        answer("sse [stdio]:", "")
        answer("plain 'a b']:", "it's")
        person.sees("this is no command: No closing quotation")
        answer("\n>", "e")
        answer("Which one (odd, wrong)?", "wrong")
        person.sees("its table is wrong: env must be a table of texts")
        answer("\n>", "h")
        answer("gemini)?", "cursor")
        person.sees("Add this to")
        answer("Install it [y/N]?", "y")
        person.sees("Cursor has nacre now")
        assert "nacre" in json.loads((home / ".cursor" / "mcp.json").read_text())["mcpServers"]
        answer("\n>", "d")
        answer("Which one (odd, wrong)?", "odd")
        answer("Delete odd [y/N]?", "y")
        person.sees("odd is gone.")
        answer("\n>", "\x04")
        assert person.leaves() == 0
    finally:
        person.close()
