"""`nacre config`: where the settings come from, and a file with all of them."""

import re
import tomllib
from pathlib import Path

import pytest

from nacre.settings.sources import load_settings
from nacre.settings.table import Settings, setting_names

from cli.conftest import Nacre, make_nacre


@pytest.fixture
def alone(tmp_path: Path) -> Nacre:
    """A home without a daemon: none is needed."""
    nacre = make_nacre(tmp_path)
    for name in [name for name in nacre.env if name.startswith("NACRE_") and name != "NACRE_HOME"]:
        del nacre.env[name]
    return nacre


def test_a_file_has_every_setting_with_its_default(alone: Nacre) -> None:
    path = Path(alone.ok("config", "path").strip())
    assert not path.exists()
    assert alone.ok("config", "init") == f"written: {path}\n"
    assert path.stat().st_mode & 0o777 == 0o600
    text = path.read_text()
    assert tomllib.loads(text) == {}
    named = re.findall(r"^# (\w+) = ", text, re.MULTILINE)
    assert tuple(named) == setting_names()
    uncommented = re.sub(r"^# (\w+ = [^(].*)$", r"\1", text, flags=re.MULTILINE)
    path.write_text(uncommented)
    assert load_settings(str(path), environ={}) == Settings()
    alone.fails("INVALID_INPUT", 2, "config", "init")
    assert path.read_text() == uncommented, "what is there is never overwritten"


def test_show_says_where_a_value_comes_from(alone: Nacre) -> None:
    path = Path(alone.ok("config", "path").strip())
    nothing = alone("config", "show", "--changed")
    assert (nothing.stdout, nothing.stderr) == ("", "every setting has its default\n")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('port = 1234\nmax_sessions = 7\ntoken = "a secret of many letters"\n')
    changed = alone.ok("config", "show", "--changed", NACRE_PORT="4321")
    assert changed.splitlines() == [
        "port = 4321  # NACRE_PORT",
        f'token = "(hidden)"  # {path}',
        f"max_sessions = 7  # {path}",
    ]
    assert alone.json("config", "show", "port") == {"port": {"value": 1234, "source": str(path)}}
    assert set(alone.json("config", "show")) == set(setting_names())
    assert "a secret" not in alone.ok("config", "show")
    alone.fails("INVALID_INPUT", 2, "config", "show", "prot")
    path.write_text("prot = 1\n")
    assert "did you mean 'port'" in alone.fails("INVALID_INPUT", 2, "config", "show")
