"""Flags that are derived from the fields of a struct."""

from argparse import ArgumentParser
from pathlib import Path

import msgspec
import pytest

from nacre.cli.flags import add_flags
from nacre.errors import InvalidInput
from nacre.settings.sources import load_settings
from nacre.settings.table import Settings, setting_names

SWITCHES = [name for name in setting_names() if isinstance(getattr(Settings(), name), bool)]


class Switches(msgspec.Struct, kw_only=True):
    on: bool = True
    off: bool = False


def parse(struct: type[msgspec.Struct], *words: str, as_values: bool = True) -> dict[str, object]:
    parser = ArgumentParser(exit_on_error=False)
    add_flags(parser, struct, parse=as_values)
    known, unknown = parser.parse_known_args(words)
    assert not unknown, unknown
    return vars(known)


@pytest.mark.parametrize("name", SWITCHES)
@pytest.mark.parametrize("turned_on", [True, False])
def test_a_switch_of_the_settings_is_turned_on_and_off_by_flag(
    name: str, turned_on: bool, tmp_path: Path
) -> None:
    flag = name.replace("_", "-")
    flags = parse(Settings, f"--{flag}" if turned_on else f"--no-{flag}", as_values=False)
    file = tmp_path / "config.toml"
    file.write_text(f"{name} = {'false' if turned_on else 'true'}")
    settings = load_settings(str(file), environ={}, flags=flags)
    assert getattr(settings, name) is turned_on, "the flag wins over the file"
    assert {other for other, value in flags.items() if value is not None} == {name}


@pytest.mark.parametrize("given", [["--keeper", "false"], ["--keeper=false"], ["--no-keeper"]])
def test_a_switch_of_the_settings_takes_a_value(given: list[str], tmp_path: Path) -> None:
    flags = parse(Settings, *given, as_values=False)
    assert load_settings(str(tmp_path / "none"), environ={}, flags=flags).keeper is False
    flags = parse(Settings, "--keeper", "perhaps", as_values=False)
    with pytest.raises(InvalidInput, match="keeper"):
        load_settings(str(tmp_path / "none"), environ={}, flags=flags)


def test_only_a_switch_that_is_on_by_default_needs_a_flag_to_turn_it_off() -> None:
    assert parse(Switches) == {"on": None, "off": None}, "not given: the struct's default applies"
    assert parse(Switches, "--off", "--no-on") == {"on": False, "off": True}
    assert parse(Switches, "--on") == {"on": True, "off": None}
    with pytest.raises(AssertionError, match="--no-off"):
        parse(Switches, "--no-off")
