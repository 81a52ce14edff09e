"""Decide which sessions print without a pause, and when these wait for an answer to somebody.

An answer takes several turns of the loop and of the caller's program, and all of them wait for
whatever uses the processor. A program that is not read soon stops, so a flood that waits costs the
whole machine nothing.

Rule 1: this file reads no clock; the caller passes now.
Rule 2: a call counts for as long as a pause may last; what takes longer waits for something else.
For a moment an answer counts, too: who has it often asks again at once.
Rule 3: after a pause floods get their part of its time, however much is asked. Then they may pause
again.
Rule 4: a flood waits only for calls that began later: what a call itself makes a session print is
part of the answer.
"""

_STREAK = 8  # turns one after the other in which a session used up its share: it is a flood
_LONGEST_STREAK = 2 * _STREAK  # what is remembered, so that one that has stopped is soon none
NEXT_CALL = 0.002  # seconds after an answer in which its caller often asks again


class Floods:
    def __init__(self, longest: float, part: float) -> None:
        """`longest` is a pause in seconds; `part` of it is the time that floods get then."""
        self.longest = longest
        self._part = part
        self._calls: dict[object, float] = {}  # when those began that are not answered, in order
        self._last_call = 0.0  # when it began; answered or not
        self._last_answer = -NEXT_CALL
        self._streaks: dict[object, int] = {}
        self._since: dict[object, float] = {}  # floods
        self._owed = 0.0  # seconds for which they are read before they pause again

    def call_begins(self, call: object, now: float) -> None:
        self._calls[call] = self._last_call = now

    def call_ends(self, call: object, now: float) -> None:
        if now - self._calls.pop(call) < self.longest:
            self._last_answer = now

    def is_asked(self, now: float) -> bool:
        """Whether a call is being answered that is probably answered soon, or just was."""
        if now - self._last_answer < NEXT_CALL:
            return True
        return bool(self._calls) and now - next(reversed(self._calls.values())) < self.longest

    def waits(self, session: object, now: float) -> bool:
        """Whether a session is not to be read now, because it is a flood and somebody asks."""
        since = self._since.get(session)
        if since is None or self._owed > 0 or not self.is_asked(now):
            return False
        return since < self._last_call

    def paused(self, seconds: float) -> None:
        """Note that floods have waited for so long."""
        self._owed = seconds * self._part

    def note(self, session: object, seconds: float, now: float, *, busy: bool) -> None:
        """Note that a session was read for so long, and whether it used up its share."""
        streak = self._streaks.get(session, 0)
        streak = min(streak + 1, _LONGEST_STREAK) if busy else streak // 2
        if not streak:
            self.forget(session)
            return
        self._streaks[session] = streak
        if streak < _STREAK:
            self._since.pop(session, None)
            return
        self._since.setdefault(session, now)
        self._owed -= seconds

    def forget(self, session: object) -> None:
        self._streaks.pop(session, None)
        self._since.pop(session, None)
