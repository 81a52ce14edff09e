"""A recording played through the engine: its screen at each moment that a person could see."""

import json
from collections.abc import Iterator

from nacre.core.journal.asciicast_reader import events_of
from nacre.core.screen.drawing import Drawing
from nacre.core.terminal.terminal import Terminal

# Output within so many seconds is one frame: nobody sees more.
_FRAME = 0.02


def play(recording: str) -> Iterator[tuple[float, Terminal]]:
    """Yield each moment of an asciicast, in seconds since its beginning, with the terminal then."""
    terminal = Terminal(*_size_in(recording), scrollback=0)
    try:
        now, begun, waiting = 0.0, 0.0, False
        for event in events_of(recording):
            now += event.delay
            if waiting and now - begun >= _FRAME:
                yield begun, terminal
                waiting = False
            if event.code == "o":
                terminal.feed(event.text.encode(errors="surrogatepass"))
                terminal.take_replies()
            elif event.code == "r":
                cols, _, rows = event.text.partition("x")
                terminal.resize(int(rows), int(cols))
            else:
                continue
            if not waiting:
                begun, waiting = now, True
        yield begun if waiting else now, terminal
    finally:
        terminal.close()


def film_of(recording: str, most: int) -> tuple[list[tuple[float, Drawing]], int]:
    """Return at most so many frames, evenly over the recording, and how many it has.

    The last one is always there. Memory is bounded: while it plays, every second one is dropped
    whenever there are twice as many.
    """
    kept: list[tuple[int, float, Drawing]] = []
    step, count = 1, 0
    last: tuple[int, float, Drawing] | None = None
    for number, (moment, terminal) in enumerate(play(recording)):
        count = number + 1
        last = None
        if number % step:
            last = (number, moment, terminal.drawing())
            continue
        kept.append((number, moment, terminal.drawing()))
        if len(kept) > most:
            step *= 2
            kept = [one for one in kept if one[0] % step == 0]
    if last is not None:
        kept = [*kept[: most - 1], last]
    return [(moment, drawing) for _, moment, drawing in kept], count


def _size_in(recording: str) -> tuple[int, int]:
    """Return rows and columns of an asciicast, version 3 or 2."""
    header = json.loads(recording.partition("\n")[0])
    size = header.get("term", {"rows": header.get("height"), "cols": header.get("width")})
    return int(size["rows"]), int(size["cols"])
