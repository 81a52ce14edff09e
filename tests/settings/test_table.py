"""The table of settings."""

import msgspec
import pytest

from nacre.settings.table import Settings, environment_name, setting_names


@pytest.mark.parametrize("name", setting_names())
def test_every_setting_has_a_description_and_a_default(name: str) -> None:
    schema = msgspec.json.schema(Settings)["$defs"]["Settings"]["properties"][name]
    options = schema.get("anyOf", [schema])
    assert any(option.get("description") for option in [schema, *options])
    assert "default" in schema
    assert environment_name(name) == f"NACRE_{name.upper()}"
