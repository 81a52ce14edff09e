"""The one table of settings.

Rule 1: a setting is stated once, in its group. NACRE_<NAME>, config.toml, flags and
docs/configuration.md follow from the fields of Settings; sources.py reads the values.
Rule 2: every limit is a setting, with its reason in its description.
Rule 3: the groups stand below each other, in the order in which users see them. Each extends the
one before it, because a Struct has one base only; the last of them is the whole table.
"""

from nacre.settings.groups.hosts.cluster import ClusterSettings


class Settings(ClusterSettings, frozen=True, kw_only=True):
    """All settings, with their values."""


def setting_names() -> tuple[str, ...]:
    return Settings.__struct_fields__


def environment_name(setting: str) -> str:
    return f"NACRE_{setting.upper()}"
