"""Who prints without a pause waits while somebody asks, and still gets its part."""

from nacre.services.host.floods import Floods

PAUSE, PART = 0.02, 0.25


def flooded(now: float = 1.0) -> Floods:
    floods = Floods(PAUSE, PART)
    for _ in range(10):
        floods.note("yes", 0.001, now, busy=True)
    return floods


def test_flood_waits_from_the_begin_of_a_call_to_a_moment_after_its_answer() -> None:
    floods = flooded()
    assert not floods.waits("yes", 2.0)
    floods.call_begins("call", 2.0)
    assert floods.waits("yes", 2.01)
    assert not floods.waits("quiet", 2.01)
    floods.call_ends("call", 2.01)
    assert floods.waits("yes", 2.011), "its caller may ask again at once"
    assert not floods.waits("yes", 2.02)


def test_call_that_takes_long_holds_floods_up_only_at_first() -> None:
    floods = flooded()
    floods.call_begins("wait_for", 2.0)
    assert floods.waits("yes", 2.019)
    assert not floods.waits("yes", 2.02)
    floods.call_ends("wait_for", 9.0)
    assert not floods.waits("yes", 9.001)


def test_what_a_call_itself_lets_a_session_print_does_not_wait_for_it() -> None:
    floods = Floods(PAUSE, PART)
    floods.call_begins("run", 1.0)
    for _ in range(10):
        floods.note("yes", 0.001, 1.001, busy=True)
    assert not floods.waits("yes", 1.01)
    floods.call_begins("somebody else's", 1.01)
    assert floods.waits("yes", 1.011)


def test_floods_get_their_part_of_a_pause_however_much_is_asked() -> None:
    floods = flooded()
    floods.call_begins("call", 2.0)
    floods.paused(0.02)
    assert not floods.waits("yes", 2.001)
    floods.note("yes", 0.004, 2.005, busy=True)
    assert not floods.waits("yes", 2.005)
    floods.note("quiet", 0.004, 2.009, busy=False)
    assert not floods.waits("yes", 2.009), "what others take is not their part"
    floods.note("yes", 0.002, 2.011, busy=True)
    assert floods.waits("yes", 2.011)


def test_one_long_output_is_no_flood_and_one_that_stops_is_none_any_longer() -> None:
    floods = Floods(PAUSE, PART)
    floods.call_begins("call", 1.0)
    for _ in range(4):
        floods.note("ls", 0.001, 0.5, busy=True)
    assert not floods.waits("ls", 1.0)
    floods = flooded(0.5)
    floods.call_begins("call", 1.0)
    assert floods.waits("yes", 1.0)
    floods.note("yes", 0.001, 1.0, busy=False)
    floods.note("yes", 0.001, 1.0, busy=False)
    assert not floods.waits("yes", 1.0)


def test_flood_whose_terminal_is_closed_is_forgotten() -> None:
    floods = flooded()
    floods.call_begins("call", 2.0)
    floods.forget("yes")
    assert not floods.waits("yes", 2.0)
