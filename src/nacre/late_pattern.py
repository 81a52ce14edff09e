"""Regular expressions that are compiled when they are first used.

Rule: each takes 0.1 to 1 ms, and a daemon knows hundreds, for REPLs, keys and screens that it may
never see. So what the start itself does not need is compiled late; a test compiles them all.
"""

import re
from typing import Any, AnyStr, cast


class LatePattern:
    """Stands for a compiled pattern; from its second use on a method costs what the real one does.

    What looks at a pattern's type cannot take it: `re.sub(late, …)`.
    """

    def __init__(self, pattern: Any, flags: int) -> None:
        self._late = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(*self._late), name)  # re keeps what it has compiled
        setattr(self, name, found)
        return found


def late_pattern(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    return cast("re.Pattern[AnyStr]", LatePattern(pattern, flags))
