"""When a session has gone quiet: every case, by values alone."""

import itertools

import pytest

from nacre.core.quiesce import Quiesce, Until, Verdict


def test_quiet_when_the_last_output_is_long_enough_ago() -> None:
    wait = Quiesce(started=100, quiet=2, max_wait=30)
    assert wait.check(now=100, generation=5, last_output=98) is Verdict.QUIET
    assert wait.check(now=100, generation=5, last_output=0) is Verdict.QUIET


def test_looks_again_when_it_could_be_quiet() -> None:
    wait = Quiesce(started=100, quiet=2, max_wait=30)
    assert wait.check(now=100, generation=5, last_output=99) == Until(101, on_output=False)


def test_never_looks_again_after_the_deadline() -> None:
    wait = Quiesce(started=100, quiet=2, max_wait=1)
    assert wait.check(now=100.5, generation=5, last_output=100) == Until(101, on_output=False)
    assert wait.check(now=101, generation=5, last_output=100) is Verdict.TIMED_OUT


def test_quiet_at_the_deadline_is_quiet() -> None:
    wait = Quiesce(started=100, quiet=2, max_wait=2)
    assert wait.check(now=102, generation=5, last_output=100) is Verdict.QUIET


def test_silence_of_zero_is_quiet_at_once() -> None:
    wait = Quiesce(started=100, quiet=0, max_wait=0)
    assert wait.check(now=100, generation=0, last_output=100) is Verdict.QUIET


def test_deadline_of_zero_only_looks() -> None:
    wait = Quiesce(started=100, quiet=2, max_wait=0)
    assert wait.check(now=100, generation=5, last_output=99) is Verdict.TIMED_OUT
    assert wait.check(now=100, generation=5, last_output=98) is Verdict.QUIET


def test_generation_that_was_seen_is_not_new_however_quiet_it_is() -> None:
    wait = Quiesce(started=100, quiet=2, max_wait=30, after_generation=5)
    for generation in (0, 4, 5):
        assert wait.check(now=110, generation=generation, last_output=0) == Until(
            130, on_output=True
        )
        assert wait.check(now=130, generation=generation, last_output=0) is Verdict.TIMED_OUT
    assert wait.check(now=110, generation=6, last_output=0) is Verdict.QUIET
    assert wait.check(now=110, generation=6, last_output=109) == Until(111, on_output=False)


def test_silence_before_the_command_was_sent_does_not_count() -> None:
    wait = Quiesce(started=100, quiet=2, max_wait=30, since=100)
    assert wait.check(now=100, generation=5, last_output=0) == Until(102, on_output=False)
    assert wait.check(now=102, generation=5, last_output=0) is Verdict.QUIET
    assert wait.check(now=102, generation=5, last_output=101) == Until(103, on_output=False)


MOMENTS = (0.0, 1.0, 2.0, 3.0, 4.0)


@pytest.mark.parametrize("after", [None, 0, 1])
@pytest.mark.parametrize("since", [float("-inf"), 1.0])
def test_every_small_case_keeps_the_rules(after: int | None, since: float) -> None:
    cases = itertools.product(MOMENTS[:3], MOMENTS[:3], MOMENTS, (0, 1, 2), MOMENTS)
    for quiet, max_wait, now, generation, last_output in cases:
        if last_output > now:
            continue
        wait = Quiesce(
            started=1.0, quiet=quiet, max_wait=max_wait, after_generation=after, since=since
        )
        verdict = wait.check(now, generation, last_output)
        deadline = 1.0 + max_wait
        is_new = after is None or generation > after
        is_silent = now - max(last_output, since) >= quiet
        if is_new and is_silent:
            assert verdict is Verdict.QUIET
        elif now >= deadline:
            assert verdict is Verdict.TIMED_OUT
        else:
            # Who looks again does so later, not after the deadline, and wakes for what it lacks.
            assert isinstance(verdict, Until)
            assert now < verdict.time <= deadline
            assert verdict.on_output is not is_new


def test_following_the_advice_always_comes_to_an_end() -> None:
    for quiet, max_wait, after in itertools.product(MOMENTS, MOMENTS, (None, 0, 1)):
        wait = Quiesce(started=0, quiet=quiet, max_wait=max_wait, after_generation=after)
        now = 0.0
        for _ in range(3):
            verdict = wait.check(now, generation=1, last_output=0)
            if isinstance(verdict, Verdict):
                break
            now = verdict.time
        assert isinstance(verdict, Verdict)
