"""How long a part is follows from what the last one took."""

import time

from nacre.services.observe.parts import Parts


def take(parts: Parts, seconds: float) -> None:
    with parts.timed(parts.size):
        until = time.thread_time() + seconds
        while time.thread_time() < until:
            pass


def test_cheap_lines_are_handled_many_at_once_and_dear_ones_few() -> None:
    parts = Parts(most=500, least=2)
    first = parts.size
    take(parts, 0)
    assert first < parts.size <= 500
    for _ in range(8):
        take(parts, 0)
    assert parts.size == 500
    take(parts, 0.1)
    assert 2 <= parts.size <= 20
    take(parts, 0.1)
    assert parts.size == 2
