"""The docs are true: settings, operations, tools, error codes and commands stand in them."""

import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from nacre.core.operations.all import CATALOG
from nacre.doors.mcp.tools.toolsets import PLAIN, TOOLSETS, Entry, spec_named
from nacre.errors import WIRE
from nacre.settings.table import Settings, environment_name, setting_names

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def describe_setting(name: str) -> str:
    """Return a setting's row in docs/configuration.md."""
    field = next(found for found in msgspec.structs.fields(Settings) if found.name == name)
    schema = msgspec.json.schema(field.type)
    described = next(iter(schema.get("anyOf", [schema])))
    default = "" if field.default is None else field.default
    default = str(default).lower() if isinstance(default, bool) else default  # as in TOML
    meaning = described.get("description", "")
    return f"| `{name}` | `{environment_name(name)}` | {default} | {meaning} |"


@pytest.mark.parametrize("name", setting_names())
def test_every_setting_is_documented_as_it_is(name: str) -> None:
    row = describe_setting(name)
    assert row.endswith(". |"), f"{name} has no description"
    assert row in page("configuration.md")


def test_settings_stand_in_the_docs_in_the_order_of_the_table() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `NACRE_", page("configuration.md"), re.MULTILINE)
    assert rows == list(setting_names())


@pytest.mark.parametrize("spec", CATALOG.values(), ids=lambda spec: spec.name)
def test_every_operation_stands_in_the_rest_page(spec) -> None:  # type: ignore[no-untyped-def]  # parametrised
    method, _, path = spec.route.partition(" ")
    assert f"| `{method} /api{path}` | {spec.name} |" in page("rest.md")


@pytest.mark.parametrize(
    ("toolset", "tool", "entry"),
    [
        pytest.param(toolset, name, entry, id=f"{toolset}-{name}")
        for toolset, tools in TOOLSETS.items()
        for name, entry in tools.items()
    ],
)
def test_every_tool_and_its_parameters_stand_in_the_mcp_page(
    toolset: str, tool: str, entry: Entry
) -> None:
    text = page("mcp.md")
    if toolset == PLAIN:  # its tools have the names of others
        text = text.partition(f"### Toolset `{toolset}`")[2].partition("### Toolset")[0]
    else:
        text = text.partition("### Toolset `terminal`")[2]
    row = next(line for line in text.splitlines() if line.startswith(f"| `{tool}` |"))
    names = {theirs: ours for ours, theirs in entry.renamed.items()}
    for parameter in spec_named(entry.operation).type.__struct_fields__:
        assert re.search(rf"\b{names.get(parameter, parameter)}\b", row), parameter


@pytest.mark.parametrize("toolset", TOOLSETS)
def test_every_toolset_stands_in_the_mcp_page(toolset: str) -> None:
    assert f"### Toolset `{toolset}`" in page("mcp.md")


@pytest.mark.parametrize("code", ["BUSY", "NOT_AT_PROMPT"])
def test_failures_of_a_run_stand_in_the_mcp_page(code: str) -> None:
    assert f"| {code} | isError |" in page("mcp.md")


@pytest.mark.parametrize("code", [code for code in WIRE if not code.startswith("DAEMON_")])
def test_every_error_code_stands_in_the_pages_of_its_doors(code: str) -> None:
    assert code in page("mcp.md")
    assert code in page("rest.md")


def test_every_dependency_has_its_reason() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for requirement in project["dependencies"]:
        name = re.split(r"[<>=!~ \[]", requirement)[0]
        assert f"| {name}" in page("dependencies.md"), name


def test_the_pages_link_to_what_is_there() -> None:
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
            assert (path.parent / target).exists(), f"{path.name} links to {target}"


def test_the_picture_of_the_rooms_is_what_the_contracts_say() -> None:
    script = ROOT / "scripts/draw_architecture.py"
    drawn = subprocess.run([sys.executable, str(script), "--check"], check=False)
    assert drawn.returncode == 0, f"run {script.name}"


@pytest.mark.parametrize(
    "page",
    ["README.md", "CONTRIBUTING.md", *(f"docs/{path.name}" for path in sorted(DOCS.glob("*.md")))],
)
def test_files_that_a_page_names_are_there(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    layers = "core|services|system|doors|cli|settings|client|tests|scripts|docs|web|bench"
    named = set(re.findall(rf"`((?:{layers})/[\w./]*\w)`", text))
    places = (ROOT, ROOT / "src/nacre")
    assert [name for name in named if not any((place / name).exists() for place in places)] == []
