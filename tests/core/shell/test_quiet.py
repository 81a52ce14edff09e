"""When a session has gone quiet: every case, by values alone."""

import itertools

import pytest

from nacre.core.shell.quiet import Quiesce, Until


def test_quiet_when_the_last_output_is_long_enough_ago() -> None:
    wait = Quiesce(started=100, quiet=2, max_wait=30)
    assert wait.check(now=100, generation=5, last_active=98) is None
    assert wait.check(now=100, generation=5, last_active=0) is None


def test_looks_again_when_it_could_be_quiet() -> None:
    wait = Quiesce(started=100, quiet=2, max_wait=30)
    assert wait.check(now=100, generation=5, last_active=99) == Until(101, on_output=False)


def test_deadline_is_so_long_after_the_begin() -> None:
    assert Quiesce(started=100, quiet=2, max_wait=1).deadline == 101


def test_quiet_at_the_deadline_or_after_it_is_quiet() -> None:
    wait = Quiesce(started=100, quiet=2, max_wait=2)
    assert wait.check(now=102, generation=5, last_active=100) is None
    assert wait.check(now=103, generation=5, last_active=100) is None


def test_silence_of_zero_is_quiet_at_once() -> None:
    wait = Quiesce(started=100, quiet=0, max_wait=0)
    assert wait.check(now=100, generation=0, last_active=100) is None


def test_generation_that_was_seen_is_not_new_however_quiet_it_is() -> None:
    wait = Quiesce(started=100, quiet=2, max_wait=30, after_generation=5)
    for generation in (0, 4, 5):
        assert wait.needs_newer(generation)
        assert wait.check(now=110, generation=generation, last_active=0) == Until(on_output=True)
    assert not wait.needs_newer(6)
    assert wait.check(now=110, generation=6, last_active=0) is None
    assert wait.check(now=110, generation=6, last_active=109) == Until(111, on_output=False)


def test_silence_before_the_command_was_sent_does_not_count() -> None:
    wait = Quiesce(started=100, quiet=2, max_wait=30, since=100)
    assert wait.check(now=100, generation=5, last_active=0) == Until(102, on_output=False)
    assert wait.check(now=102, generation=5, last_active=0) is None
    assert wait.check(now=102, generation=5, last_active=101) == Until(103, on_output=False)


MOMENTS = (0.0, 1.0, 2.0, 3.0, 4.0)


@pytest.mark.parametrize("after", [None, 0, 1])
@pytest.mark.parametrize("since", [float("-inf"), 1.0])
def test_every_small_case_keeps_the_rules(after: int | None, since: float) -> None:
    cases = itertools.product(MOMENTS[:3], MOMENTS, (0, 1, 2), MOMENTS)
    for quiet, now, generation, last_output in cases:
        if last_output > now:
            continue
        wait = Quiesce(started=1.0, quiet=quiet, max_wait=9, after_generation=after, since=since)
        again = wait.check(now, generation, last_output)
        is_new = after is None or generation > after
        is_silent = now - max(last_output, since) >= quiet
        if is_new and is_silent:
            assert again is None
        else:
            # Who looks again does so later, and wakes for what it lacks.
            assert again is not None
            assert now < again.time
            assert again.on_output is not is_new
