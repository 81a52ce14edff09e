"""Where settings come from: who wins over whom, and what a mistake is told."""

from pathlib import Path
from typing import Any

import pytest

from nacre.errors import InvalidInput
from nacre.settings.sources import load_settings
from nacre.settings.table import Settings, environment_name, setting_names


def load(tmp_path: Path, text: str = "", **sources: Any) -> Settings:
    file = tmp_path / "config.toml"
    file.write_text(text)
    return load_settings(str(file), environ=sources.get("env", {}), flags=sources.get("flags"))


def test_flag_wins_over_environment_over_file_over_default(tmp_path: Path) -> None:
    env, flags = {"NACRE_PORT": "3000"}, {"port": 4000}
    assert load(tmp_path).port == 19999
    assert load(tmp_path, "port = 2000").port == 2000
    assert load(tmp_path, "port = 2000", env=env).port == 3000
    assert load(tmp_path, "port = 2000", env=env, flags=flags).port == 4000
    assert load(tmp_path, "port = 2000", flags={"port": None}).port == 2000, "flag not given"
    assert load(tmp_path, "port = 2000", env={"NACRE_PORT": ""}).port == 2000, "empty: not given"


def test_names_of_another_shell_are_fall_backs(tmp_path: Path) -> None:
    theirs = {"USHELL_MCP_ENABLED": "1", "USHELL_MCP_PORT": "9001", "USHELL_MCP_TIMEOUT": "5"}
    found = load(tmp_path, "ndjson_port = 1", env=theirs)
    assert (found.ndjson_enabled, found.ndjson_port, found.ndjson_timeout) == (True, 9001, 5.0)
    assert load(tmp_path, env={**theirs, "NACRE_NDJSON_PORT": "7"}).ndjson_port == 7
    with pytest.raises(InvalidInput, match=r"ndjson_port \(USHELL_MCP_PORT\)"):
        load(tmp_path, env={"USHELL_MCP_PORT": "many"})


def test_file_that_is_not_there_gives_the_defaults(tmp_path: Path) -> None:
    assert load_settings(str(tmp_path / "none.toml"), environ={}) == Settings()


@pytest.mark.parametrize("name", setting_names())
def test_every_setting_is_read_from_each_source(name: str, tmp_path: Path) -> None:
    default = getattr(Settings(), name)
    other: Any = {
        "log_level": "debug",
        "log_format": "text",
        "token": "t" * 20,
        "shell": "/bin/sh",
        "audit_log": "/tmp/executions.log",
        "audit_sync": "always",
        "host": "0.0.0.0",
        "host_names": "box",
        "tls_cert": "/cert.pem",
        "tls_key": "/key.pem",
        "port": 5000,
        "flood_pause": 0.5,
        "policy": "strict",
        "sandbox": "strict",
        "sandbox_backend": "landlock",
        "sandbox_read": "/opt/tools",
        "session_cgroups": "off",
        "session_max_memory": "4G",
        "sandbox_deny": "curl",
        "ndjson_auth": "off",
        "commands_whitelist": "ls,cat",
        "secret_store": "keyring",
        "askpass": "off",
        "session_env": "GOPROXY,MYAPP_*",
        "upstream_client_url": "https://example.org/nacre.json",
        "chat_api": "openai",
        "chat_url": "http://127.0.0.1:11434/v1",
        "chat_model": "small",
        "chat_key": "$MY_KEY",
        "chat_toolsets": "terminal",
        "cluster": "nats://127.0.0.1:4222",
        "cluster_host": "one",
        "cluster_labels": "gpu,linux",
        "cluster_credentials": "/host.creds",
        "cluster_nkey": "/host.seed",
        "cluster_tls_ca": "/ca.pem",
        "cluster_tls_cert": "/host.pem",
        "cluster_tls_key": "/host.key",
    }.get(name)
    if other is None:
        other = not default if isinstance(default, bool) else default + 1
    literal = repr(other) if isinstance(other, str) else str(other).lower()
    for settings in (
        load(tmp_path, f"{name} = {literal}"),
        load(tmp_path, env={environment_name(name): str(other)}),
        load(tmp_path, flags={name: str(other)}),
        load(tmp_path, flags={name: other}),
    ):
        assert getattr(settings, name) == other
        assert type(getattr(settings, name)) is type(other)


def test_unknown_name_in_the_file_suggests_the_near_one(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"unknown setting 'max_session' .*'max_sessions'\?"):
        load(tmp_path, "max_session = 5")
    with pytest.raises(InvalidInput, match=r"unknown setting 'zzz'.*docs/configuration.md"):
        load(tmp_path, "zzz = 5")


def test_tables_of_other_parts_are_left_alone(tmp_path: Path) -> None:
    assert load(tmp_path, "port = 5\n[mcp_servers.x]\ncommand = 'y'").port == 5


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("port", "65536"),
        ("port", "-1"),
        ("port", "many"),
        ("port", "1.5"),
        ("log_level", "loud"),
        ("token", "short"),
        ("grace", "-1"),
        ("grace", "nan"),
        ("max_sessions", "0"),
        ("read_buffer_bytes", "4095"),
        ("max_captured_keys", "0"),
        ("max_handover_commands", "0"),
        ("max_requests", "0"),
        ("max_waiting_requests", "0"),
        ("max_subscriptions", "0"),
        ("max_watched_resources", "0"),
        ("notify_interval", "60.5"),
        ("ticket_lifetime", "0"),
        ("ticket_lifetime", "3601"),
        ("code_lifetime", "86401"),
        ("max_wrong_tokens", "0"),
        ("max_wrong_tokens", "1001"),
        ("journal_pause", "-0.1"),
        ("mcp_load_after", "-1"),
        ("frame_rate", "0"),
        ("frame_rate", "inf"),
        ("frame_bytes", "8191"),
    ],
)
def test_bad_value_names_its_setting_and_its_source(name: str, value: str, tmp_path: Path) -> None:
    variable = environment_name(name)
    with pytest.raises(InvalidInput, match=rf"bad value for {name} \({variable}\)"):
        load(tmp_path, env={variable: value})
    flag = f"--{name.replace('_', '-')}"
    with pytest.raises(InvalidInput, match=rf"bad value for {name} \({flag}\)"):
        load(tmp_path, flags={name: value})
    with pytest.raises(InvalidInput, match=rf"bad value for {name} \(.*config.toml\)"):
        load(tmp_path, f"{name} = '{value}'")


def test_bad_token_is_not_repeated_in_the_message(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as error:
        load(tmp_path, env={"NACRE_TOKEN": "hunter2"})
    assert "hunter2" not in error.value.message


@pytest.mark.parametrize("content", [b"port = ", b"port 5", b"shell = '\xff'", b"\x00"])
def test_file_that_cannot_be_read_is_named(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(content)
    with pytest.raises(InvalidInput, match=r"cannot read .*config.toml"):
        load_settings(str(file), environ={})


def test_folder_in_the_place_of_the_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot read"):
        load_settings(str(tmp_path), environ={})


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("port", "x", "an integer of at least 0 and at most 65535"),
        ("control_wait", "soon", "a number of at least 0"),
        ("shell_integration", "maybe", "true or false"),
        ("token", "short", "a text of at least 16 characters"),
    ],
)
def test_a_bad_value_is_explained_in_plain_words(
    name: str, value: str, wanted: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput) as refused:
        load_settings(str(tmp_path / "none.toml"), environ={}, flags={name: value})
    flag = name.replace("_", "-")
    assert str(refused.value) == f"bad value for {name} (--{flag}): it must be {wanted}"
