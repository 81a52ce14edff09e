"""The corpus, each case in each of its shells; test_programs.py has the rest of it."""

import pytest

from runs.ahead import Ahead, in_each_shell
from runs.corpus import CORPUS
from runs.corpus_far import FAR
from runs.corpus_marks import MARKS
from runs.corpus_tried import TRIED

pytestmark = pytest.mark.anyio

EACH = in_each_shell((*CORPUS, *MARKS, *TRIED, *FAR))


@pytest.mark.parametrize("name", EACH)
async def test_a_run_gives_exactly_this(name: str, ahead: Ahead) -> None:
    await ahead.result(name)
