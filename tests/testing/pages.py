"""The examples of docs/testing.md, by the names in their first lines."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "testing.md"


def examples() -> dict[str, str]:
    blocks = re.findall(r"```\w+\n# (\S+)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    assert {name for name, _ in blocks} == {"menu.py", "menu.yaml", "test_menu.py"}
    return dict(blocks)


def write_examples(folder: Path) -> None:
    for name, text in examples().items():
        (folder / name).write_text(text, encoding="utf-8")
