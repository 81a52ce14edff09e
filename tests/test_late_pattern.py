"""Patterns that are compiled late are right, and do what compiled ones do."""

import gc
import importlib
import re
from pathlib import Path

from nacre.late_pattern import LatePattern, late_pattern

SOURCE = Path(__file__).resolve().parent.parent / "src"


def test_every_one_can_be_compiled() -> None:
    using = [path for path in SOURCE.rglob("*.py") if "= late_pattern(" in path.read_text("utf-8")]
    assert len(using) > 10
    for path in using:
        importlib.import_module(".".join(path.relative_to(SOURCE).with_suffix("").parts))
    gc.unfreeze()  # what the tests began with is kept out of the collector's sight (conftest)
    late = [one for one in gc.get_objects() if isinstance(one, LatePattern)]
    gc.freeze()
    assert len(late) > 100
    for one in late:
        assert one.match is one.match, "kept from its first use on"


def test_it_does_what_a_compiled_one_does() -> None:
    late, compiled = late_pattern(r"(a)b+", re.IGNORECASE), re.compile(r"(a)b+", re.IGNORECASE)
    assert (late.pattern, late.flags, late.groups) == (r"(a)b+", compiled.flags, 1)
    assert late.sub(r"\1", "xABB") == compiled.sub(r"\1", "xABB") == "xA"
    assert late_pattern(rb"\d").findall(b"a1") == [b"1"]
