"""An SVG that moves: frames as pictures in it, each shown for its time, again and again.

Rule: each frame is a picture of its own (a data address), for their symbols have the same names. It
needs no script, so it plays where pictures do, also in a README.
"""

import base64
from collections.abc import Sequence


def paint_film(frames: Sequence[tuple[str, float]], width: int, height: int) -> str:
    """Return an SVG file of SVG files, each with the seconds that it is shown."""
    total = sum(seconds for _, seconds in frames)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">'
    ]
    begin = 0.0
    for frame, seconds in frames:
        end = begin + seconds
        address = base64.b64encode(frame.encode()).decode()
        parts.append(
            f'<image href="data:image/svg+xml;base64,{address}" visibility="hidden">'
            f"{_shown(begin / total, end / total, total)}</image>"
        )
        begin = end
    return "\n".join([*parts, "</svg>\n"])


def _shown(begin: float, end: float, total: float) -> str:
    """Return the animation that shows a part from one share of the time to another (SMIL)."""
    values, times = ["hidden", "visible", "hidden"], [0.0, begin, end]
    if begin <= 0:
        values, times = values[1:], times[1:]
    if end >= 1 - 1e-9:
        values, times = values[:-1], times[:-1]
    told = ";".join(f"{time:.6f}".rstrip("0").rstrip(".") or "0" for time in times)
    return (
        f'<animate attributeName="visibility" calcMode="discrete" dur="{total:.3f}s" '
        f'repeatCount="indefinite" values="{";".join(values)}" keyTimes="{told}"/>'
    )
