"""What {a,b} and {1..3} stand for."""

import re

_PLAIN = re.compile(r"[\w./,{}+@%:=*?~-]+")
_INNER = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"(-?\d{1,4})\.\.(-?\d{1,4})")
_MOST = 64


def expanded(text: str) -> list[str] | None:
    """Return the words that braces make of one; None: it has more than they can tell."""
    if not _PLAIN.fullmatch(text):
        return None
    done: list[str] = []
    open_ones = [text]
    while open_ones:
        one = open_ones.pop(0)
        found = _INNER.search(one)
        if found is None:
            done.append(one)
            continue
        parts = _parts(found.group(1))
        if parts is None or len(open_ones) + len(done) + len(parts) > _MOST:
            return None
        open_ones[:0] = [one[: found.start()] + part + one[found.end() :] for part in parts]
    return None if any("{" in one or "}" in one for one in done) else done


def _parts(inside: str) -> list[str] | None:
    numbers = _RANGE.fullmatch(inside)
    if numbers is None:
        return inside.split(",") if "," in inside and ".." not in inside else None
    first, last = int(numbers.group(1)), int(numbers.group(2))
    if numbers.group(1).startswith("0") or abs(last - first) >= _MOST:
        return None
    step = 1 if last >= first else -1
    return [str(number) for number in range(first, last + step, step)]
