"""Where settings come from: flag, environment, config.toml, default, in this order.

Rule: a value that does not fit stops the start, and the message names its source.
"""

import difflib
import os
import tomllib
from collections.abc import Mapping
from typing import Any

import msgspec

from nacre.config import Settings, environment_name, setting_names
from nacre.errors import InvalidInput

_TYPES = {field.name: field.type for field in msgspec.structs.fields(Settings)}


def load_settings(
    config_file: str,
    *,
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, Any] | None = None,
) -> Settings:
    """Merge the four sources.

    Raises InvalidInput, naming the source, when a value does not fit or a name is unknown.
    """
    env = os.environ if environ is None else environ
    merged = _from_file(config_file)
    for name in setting_names():
        text = env.get(environment_name(name))
        if text is not None and text != "":
            merged[name] = _parse(name, text, source=environment_name(name))
    for name, value in (flags or {}).items():
        if value is not None:
            merged[name] = _parse(name, value, source=f"--{name.replace('_', '-')}")
    return Settings(**merged)


def _from_file(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            tables = tomllib.load(file)
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidInput(f"cannot read {path}: {error}") from error
    found: dict[str, Any] = {}
    for name, value in tables.items():
        # Tables belong to other parts ([mcp_servers.NAME] …): settings are top-level values.
        if isinstance(value, dict):
            continue
        if name not in setting_names():
            near = difflib.get_close_matches(name, setting_names(), n=1)
            hint = f"; did you mean {near[0]!r}?" if near else "; docs/configuration.md lists them"
            raise InvalidInput(f"unknown setting {name!r} in {path}{hint}")
        found[name] = _parse(name, value, source=path)
    return found


def _parse(name: str, value: Any, *, source: str) -> Any:
    try:
        return msgspec.convert(value, _TYPES[name], strict=not isinstance(value, str))
    except msgspec.ValidationError as error:
        raise InvalidInput(f"bad value for {name} ({source}): {error}") from error
