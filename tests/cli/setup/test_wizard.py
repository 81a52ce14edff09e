"""The wizard, as somebody types their answers into it."""

import sys
from pathlib import Path

from cli.conftest import Nacre
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
