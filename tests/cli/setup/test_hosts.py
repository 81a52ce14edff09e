"""What hosts are told about nacre."""

import re
from pathlib import Path

from nacre.cli.setup.hosts import MEMORY

HOSTS_PAGE = Path(__file__).resolve().parents[3] / "docs" / "hosts.md"


def test_the_lines_for_a_memory_file_are_those_of_the_docs() -> None:
    marked = re.search(r"<!-- memory -->\n```markdown\n(.*?)\n```", HOSTS_PAGE.read_text(), re.S)
    assert marked is not None
    assert marked[1] == MEMORY
