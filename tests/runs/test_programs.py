"""Prompt frameworks, REPLs and states: the part of the corpus that is about other programs."""

import pytest

from runs.ahead import Ahead, in_each_shell
from runs.corpus_frameworks import FRAMEWORKS
from runs.repl_corpus import REPL_CORPUS
from runs.state_corpus import STATE_CORPUS

pytestmark = pytest.mark.anyio

EACH = in_each_shell((*FRAMEWORKS, *REPL_CORPUS, *STATE_CORPUS))


@pytest.mark.parametrize("name", EACH)
async def test_a_run_gives_exactly_this(name: str, ahead: Ahead) -> None:
    await ahead.result(name)
