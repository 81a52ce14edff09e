"""The table of dialects: whom an entry is for, and what is told of it elsewhere."""

from pathlib import Path

import pytest

from nacre.core.shell.dialects import (
    ANY_SHELL,
    BASH,
    DIALECTS,
    FISH,
    INTEGRATED,
    OFFERED,
    SH,
    SHELLS,
    ZSH,
    Dialect,
    dialect_named,
    dialect_of,
    other_family,
    shown_dialect,
)
from nacre.core.shell.programs import OPAQUE
from nacre.system.processes import integration


@pytest.mark.parametrize(
    ("program", "dialect"),
    [
        *(("bash", BASH), ("zsh", ZSH), ("fish", FISH)),
        *(("sh", SH), ("dash", SH), ("ash", SH), ("busybox", SH), ("ksh", SH)),
        *(("yash", SH), ("ksh93", SH), ("lksh", SH)),
        *(("ssh", ANY_SHELL), ("docker", ANY_SHELL)),  # any shell may stand behind them
        ("never-heard-of", ANY_SHELL),
    ],
)
def test_program_has_a_dialect(program: str, dialect: Dialect) -> None:
    assert dialect_of(program) is dialect


def test_no_program_is_of_two_dialects_and_no_shell_hides_another() -> None:
    programs = [program for dialect in DIALECTS for program in dialect.programs]
    assert len(programs) == len(set(programs)) == len(SHELLS)
    assert not SHELLS & OPAQUE


def test_users_are_told_of_shells_in_this_order() -> None:
    assert OFFERED == ("bash", "zsh", "fish", "dash", "sh")
    assert INTEGRATED == ("bash", "zsh", "fish")


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_entry_is_whole(dialect: Dialect) -> None:
    assert dialect_named(dialect.name) is dialect
    assert set(dialect.offered) <= set(dialect.programs)
    assert "{body}" in dialect.syntax.take
    if dialect.native is not None:
        scripts = Path(integration.__file__).parent / "scripts"
        assert (scripts / dialect.native.script).exists()


def test_name_that_a_newer_daemon_wrote_is_a_plain_sh() -> None:
    assert dialect_named("elvish") is SH


def test_what_one_family_does_not_understand_is_tried_in_the_other() -> None:
    assert [other_family(dialect) for dialect in (SH, BASH, ZSH, FISH)] == [
        FISH,
        FISH,
        FISH,
        ANY_SHELL,
    ]


@pytest.mark.parametrize(
    ("output", "program", "dialect"),
    [
        (b"\x1b]0;~\x07\x1b[30m\x1b(B\x1b[m\rbox> ", "ssh", FISH),  # fish 3
        (b"\x1b]133;A;click_events=1\x07box> ", "ssh", FISH),  # fish 4
        (b"\x1b[32mbox\x1b[m$ ", "ssh", ANY_SHELL),
        (b"", "ssh", ANY_SHELL),
        (b"\x1b[30m\x1b(B\x1b[m", "bash", BASH),
    ],
)
def test_fish_is_known_by_what_it_prints_before_its_prompt(
    output: bytes, program: str, dialect: Dialect
) -> None:
    assert shown_dialect(output, program) is dialect
