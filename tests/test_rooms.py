"""The rooms stay small and differ by name: folders, classes, and tests beside their sources."""

import ast
import functools
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "nacre"
MOST_MODULES = 16  # in one folder: with more of them, look for a second noun

# Bounds that nothing should come near: a module is one noun, a function fits one screen.
MOST_LINES = 520  # of a module
LONGEST = 75  # lines of a function

# End-to-end tests that are about several rooms at once, and what they share.
ACROSS = {"crashes", "escapes", "fuzz", "programs", "runs", "web"}


def modules() -> list[Path]:
    found = [path for path in SOURCE.rglob("*.py") if path.name != "__init__.py"]
    assert len(found) > 100
    return found


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module", autouse=True)
def trees_for_this_file_alone() -> Iterator[None]:
    yield
    parsed.cache_clear()


def test_no_folder_has_more_modules_than_a_newcomer_can_take_in() -> None:
    counted = Counter(path.parent.relative_to(SOURCE).as_posix() for path in modules())
    assert {folder: count for folder, count in counted.items() if count > MOST_MODULES} == {}


def test_no_module_and_no_function_grows_beyond_what_a_reader_can_hold() -> None:
    long = {}
    for path in modules():
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(SOURCE).as_posix()
        if (lines := text.count("\n")) > MOST_LINES:
            long[name] = lines
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > LONGEST:
                    long[f"{name}: {node.name}"] = length
    assert long == {}


def test_a_class_name_stands_for_one_thing() -> None:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path in modules():
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(path.relative_to(SOURCE).as_posix())
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_the_services_check_a_deadline_in_one_module() -> None:
    """Every other one waits by it, so that a change at the deadline counts everywhere."""
    bounded = ("timeout", "timeout_at", "wait_for")
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in modules()
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Attribute) and node.attr in bounded
        if isinstance(node.value, ast.Name) and node.value.id == "asyncio"
    }
    assert {module for module in found if module.startswith("services/")} == {
        "services/host/wait.py"
    }


def test_tests_have_the_rooms_of_the_sources() -> None:
    tests = ROOT / "tests"
    folders = {path.parent.relative_to(tests) for path in tests.rglob("test_*.py")}
    rooms = {folder for folder in folders if not folder.parts or folder.parts[0] not in ACROSS}
    assert {room.as_posix() for room in rooms if not (SOURCE / room).is_dir()} == set()
