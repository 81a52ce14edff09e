"""What was read of a line."""

from dataclasses import dataclass, field

from nacre.core.policy.words import Feed, Redirect, SimpleCommand


@dataclass(slots=True)
class LineReading:
    commands: list[SimpleCommand] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)
    functions: set[str] = field(default_factory=set)
    doubts: list[str] = field(default_factory=list)  # why nobody can prove what it runs
    feeds: list[Feed] = field(default_factory=list)  # what goes from one command to others
    scripts: list[str] = field(default_factory=list)  # texts that go to a program's input
    repeats: bool = False  # what stands later may run before what stands earlier
    forks_itself: str | None = None  # a function that starts copies of itself

    def doubt(self, why: str) -> None:
        if why not in self.doubts:
            self.doubts.append(why)
