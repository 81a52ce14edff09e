"""All that a line runs, writes to and sets."""

from dataclasses import dataclass, field

from nacre.core.policy.words import Assignment, Feed, Program, Redirect


@dataclass(slots=True)
class Resolved:
    """All that a line runs, writes to and sets, and why that may not be all."""

    programs: list[Program] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)
    functions: set[str] = field(default_factory=set)
    doubts: list[str] = field(default_factory=list)
    feeds: list[Feed] = field(default_factory=list)
    repeats: bool = False  # what stands later may run before what stands earlier
    forks_itself: str | None = None  # a function that starts copies of itself

    def doubt(self, why: str) -> None:
        if why not in self.doubts:
            self.doubts.append(why)
