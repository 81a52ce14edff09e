"""The size of a session, and who has borrowed it.

A person who takes a session over, or attaches to it, gives it the size of their own window. They
borrow it: when they give the session back, or leave, it gets the size that it had before.

Rule 1: who borrowed last decides. When they are gone, the size is that of who borrowed before them,
and at the end the one that nobody had borrowed.
Rule 2: whoever resizes without borrowing (an agent, a page's Fit) means it: there is nothing to
give back then.
Rule 3: what is borrowed outlives the daemon; those who do not come back have left.
Rule 4: a program that has ended leaves its last screen as it was seen. The next one in the session
has the size that nobody had borrowed.
"""

from collections import Counter

import msgspec

from nacre.core.screen.picture import Size


class KeptLoan(msgspec.Struct, frozen=True, kw_only=True):
    key: str  # of the caller who borrowed
    size: Size


class KeptSizes(msgspec.Struct, frozen=True, kw_only=True):
    """The size that a session gets back, and who has borrowed another one."""

    own: Size
    loans: list[KeptLoan]


class BorrowedSizes:
    def __init__(self) -> None:
        self._own: Size | None = None  # what it is without borrowers; None: there are none
        self._next: Size | None = None  # what the next program gets; None: the one before it had it
        self._loans: dict[str, Size] = {}  # by the caller's key, the last one is in effect
        self._staying: Counter[str] = Counter()  # who borrows for as long as they watch

    def stay(self, key: str) -> None:
        self._staying[key] += 1

    def leave(self, key: str) -> None:
        self._staying[key] -= 1
        self._staying += Counter()  # removes those with a count of zero

    def stays(self, key: str) -> bool:
        return key in self._staying

    def borrow(self, key: str, before: Size, size: Size) -> None:
        if self._own is None:
            self._own = before
        self._loans.pop(key, None)
        self._loans[key] = size

    def settle(self) -> None:
        """There is nothing to give back any more."""
        self._own = self._next = None
        self._loans.clear()

    def end(self) -> None:
        """The program has ended: nobody borrows any more."""
        if self._own is not None:
            self._next = self._own
        self._own = None
        self._loans.clear()

    @property
    def own(self) -> Size | None:
        """What nobody had borrowed; None if that is the size that there is."""
        return self._own or self._next

    def begin_anew(self) -> Size | None:
        """Return the size that the next program gets; None: as it is."""
        size, self._next = self._next, None
        return size

    def give_back(self, key: str) -> Size | None:
        """Return the size that the session gets now that one does not borrow any more."""
        if key not in self._loans or self._own is None:
            return None
        decides = key == next(reversed(self._loans))
        del self._loans[key]
        size = next(reversed(self._loans.values()), self._own)
        if not self._loans:
            self._own = None
        return size if decides else None

    # --- the next daemon -------------------------------------------------------------------

    @property
    def borrowers(self) -> list[str]:
        return list(self._loans)

    def kept(self) -> KeptSizes | None:
        if self._own is None:
            return None
        loans = [KeptLoan(key=key, size=size) for key, size in self._loans.items()]
        return KeptSizes(own=self._own, loans=loans)

    def restore(self, kept: KeptSizes) -> None:
        self._own = kept.own
        self._loans = {loan.key: loan.size for loan in kept.loans}

    def restore_ended(self, own: Size | None) -> None:
        """The program ended with an earlier daemon, or was lost with it."""
        self._next = own
