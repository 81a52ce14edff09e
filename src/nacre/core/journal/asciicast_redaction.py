"""Take secrets out of a recording: they may be spread over many events, a character in each.

Rule: each event keeps its length and time; what stands between the characters of a secret (a
shell that draws its line anew) keeps it from being found.
"""

import json
from collections.abc import Iterable, Iterator
from itertools import pairwise

from nacre.core.text.redaction import Redaction


def redacted_cast(lines: Iterable[str], redaction: Redaction) -> Iterator[str]:
    """Yield the lines of an asciicast without secrets in what was printed or typed."""
    kept = list(lines)
    by_kind: dict[str, list[tuple[int, str]]] = {"o": [], "i": []}
    for number, line in enumerate(kept[1:], 1):
        event = json.loads(line)
        if event[1] in by_kind:
            by_kind[event[1]].append((number, event[2]))
    for found in by_kind.values():
        joined = "".join(text for _, text in found)
        masked = redaction.masked(joined)
        if masked is joined:
            continue
        edges = [0]
        for _, text in found:
            edges.append(edges[-1] + len(text))
        for (number, text), (start, end) in zip(found, pairwise(edges), strict=True):
            if masked[start:end] != text:
                event = json.loads(kept[number])
                kept[number] = json.dumps([*event[:2], masked[start:end]], ensure_ascii=False)
    if kept:
        kept[0] = redaction.text(kept[0])
    yield from kept
