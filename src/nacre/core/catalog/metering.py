"""How often operations were asked for, how long they took, and how they failed; and the same as
Prometheus reads it (text format 0.0.4, prometheus.io/docs/instrumenting/exposition_formats).

Rule 1: to note a call takes a microsecond: every call is noted.
Rule 2: labels are names of operations and codes of errors, which are few; nothing of a caller's.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator

from msgspec import Struct, field

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

# Seconds. A call takes a millisecond, a command as long as it likes, an answer 55 s at most.
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class _Durations:
    """How long the calls of one operation took."""

    __slots__ = ("counts", "seconds")

    def __init__(self) -> None:
        self.counts = [0] * (len(BUCKETS) + 1)  # the last is for what took longer
        self.seconds = 0.0


class CallCounts:
    def __init__(
        self,
        times: tuple[str, str, str] | None = None,
        errors: tuple[str, str, str] | None = None,
    ) -> None:
        """`times` and `errors` are name, kind and help of the two metrics."""
        self.begun = 0  # so far, where it is counted
        self._named = times or _REQUESTS, errors or _ERRORS
        self._taken: dict[str, _Durations] = {}
        self._errors: dict[tuple[str, str], int] = {}

    def note(self, operation: str, seconds: float, code: str | None) -> None:
        """Count a call; `code` is that of its error."""
        taken = self._taken.get(operation)
        if taken is None:
            taken = self._taken[operation] = _Durations()
        taken.counts[bisect_left(BUCKETS, seconds)] += 1
        taken.seconds += seconds
        if code is not None:
            self._errors[operation, code] = self._errors.get((operation, code), 0) + 1

    def families(self) -> "Iterator[Family]":
        taken, errors = (Family(*one) for one in self._named)
        for operation, one in sorted(self._taken.items()):
            below = 0
            for bound, count in zip((*BUCKETS, "+Inf"), one.counts, strict=True):
                below += count
                taken.add(below, "_bucket", tool=operation, le=str(bound))
            taken.add(one.seconds, "_sum", tool=operation)
            taken.add(below, "_count", tool=operation)
        for (operation, code), count in sorted(self._errors.items()):
            errors.add(count, tool=operation, code=code)
        yield taken
        yield errors


class Family(Struct):
    """A metric with all of its samples."""

    name: str
    kind: str  # gauge, counter or histogram
    help: str
    samples: list[str] = field(default_factory=list)

    def add(self, value: float, suffix: str = "", **labels: str) -> None:
        named = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
        self.samples.append(f"{self.name}{suffix}{f'{{{named}}}' if named else ''} {value:.17g}")


_REQUESTS = ("nacre_request_seconds", "histogram", "How long operations took, by their names.")
_ERRORS = ("nacre_errors_total", "counter", "Operations that failed, by the code of the error.")


def exposition(families: Iterable[Family]) -> str:
    """Return metrics as Prometheus reads them."""
    lines: list[str] = []
    for family in families:
        lines += [f"# HELP {family.name} {family.help}", f"# TYPE {family.name} {family.kind}"]
        lines += family.samples
    return "".join(f"{line}\n" for line in lines)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
