"""Where settings come from: flag, environment, config.toml, default, in this order.

Rule: with a wrong value the daemon does not start, and the message names the source.
"""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from nacre.errors import InvalidInput
from nacre.settings.table import Settings, environment_name, setting_names

# Names that the users of another shell have in their scripts; ours win over them.
FALL_BACKS = {
    "ndjson_enabled": "USHELL_MCP_ENABLED",
    "ndjson_port": "USHELL_MCP_PORT",
    "audit_log": "USHELL_MCP_AUDIT_LOG",
    "ndjson_max_clients": "USHELL_MCP_MAX_CLIENTS",
    "ndjson_timeout": "USHELL_MCP_TIMEOUT",
}

_TYPES = {field.name: field.type for field in msgspec.structs.fields(Settings)}


def load_settings(
    config_file: str,
    *,
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, Any] | None = None,
) -> Settings:
    """Merge the four sources.

    Raises InvalidInput, which names the source, for a wrong value or an unknown name.
    """
    given = given_settings(config_file, environ=environ, flags=flags)
    return Settings(**{name: one.value for name, one in given.items()})


class Given(NamedTuple):
    """A setting that somebody gave a value."""

    value: Any
    source: str  # the file, the variable or the flag


def given_settings(
    config_file: str,
    *,
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, Any] | None = None,
) -> dict[str, Given]:
    """Return the settings that do not have their default, and where each comes from.

    Raises InvalidInput as load_settings does.
    """
    env = os.environ if environ is None else environ
    merged = {name: Given(value, config_file) for name, value in _from_file(config_file).items()}
    for name in setting_names():
        for variable in (FALL_BACKS.get(name), environment_name(name)):
            text = env.get(variable) if variable else None
            if variable and text:
                merged[name] = Given(_parse(name, text, source=variable), variable)
    for name, value in (flags or {}).items():
        if value is not None:
            flag = f"--{name.replace('_', '-')}"
            merged[name] = Given(_parse(name, value, source=flag), flag)
    return merged


def _from_file(path: str) -> dict[str, Any]:
    if not os.path.lexists(path):
        return {}
    import tomllib  # only here: it takes a while to load, and mostly there is no file

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
            import difflib

            near = difflib.get_close_matches(name, setting_names(), n=1)
            hint = f"; did you mean {near[0]!r}?" if near else "; docs/configuration.md lists them"
            raise InvalidInput(f"unknown setting {name!r} in {path}{hint}")
        found[name] = _parse(name, value, source=path)
    return found


def _parse(name: str, value: Any, *, source: str) -> Any:
    try:
        return msgspec.convert(value, _TYPES[name], strict=not isinstance(value, str))
    except msgspec.ValidationError as error:
        wanted = _must_be(_TYPES[name])
        raise InvalidInput(f"bad value for {name} ({source}): it must be {wanted}") from error


def _must_be(kind: Any) -> str:
    """Return what a setting is, in words. Loaded when something is wrong, and not before."""
    from msgspec import inspect

    info = inspect.type_info(kind)
    options = list(info.types) if isinstance(info, inspect.UnionType) else [info]
    options = [one.type if isinstance(one, inspect.Metadata) else one for one in options]
    known = [one for one in options if not isinstance(one, inspect.NoneType)]
    return " or ".join(_noun(one) for one in known)


def _noun(kind: Any) -> str:
    from msgspec import inspect

    if isinstance(kind, inspect.BoolType):
        return "true or false"
    if isinstance(kind, inspect.LiteralType):
        return " or ".join(map(str, kind.values))
    if isinstance(kind, inspect.IntType | inspect.FloatType):
        noun = "an integer" if isinstance(kind, inspect.IntType) else "a number"
        least = "" if kind.ge is None else f" of at least {kind.ge}"
        most = "" if kind.le is None else f"{' and' if least else ' of'} at most {kind.le}"
        return f"{noun}{least}{most}"
    if isinstance(kind, inspect.StrType):
        return f"a text of at least {kind.min_length} characters" if kind.min_length else "a text"
    return "a list of texts"
