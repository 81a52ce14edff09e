"""A call as the programs that it stands for, checked.

Rule: the checks are made in one order, whatever the call: name, arguments, characters, paths,
program. Nothing here runs anything.
"""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from nacre.core.commands.arguments import Bound, argv_of, bind, from_words
from nacre.core.commands.book import CommandBook
from nacre.core.commands.checks import Checks, blacklisted
from nacre.core.commands.entry import CommandEntry
from nacre.core.operations.commands import CallCommand
from nacre.core.policy.decide import Policy
from nacre.core.policy.paths import Where
from nacre.errors import CommandNotFound, InvalidInput, NacreError
from nacre.services.catalog.contexts import CommandContext
from nacre.system.command_files import blacklisted_twin
from nacre.system.processes.pty import find_program

# They wait, or read much: others are served meanwhile.
_SLOW = frozenset(("fg", "type", "search_commands", "suggest_command"))


class PipeStage(NamedTuple):
    """One command of a call, checked and ready to run."""

    entry: CommandEntry
    called: str
    bound: list[Bound]
    argv: list[str]
    files: tuple[str, ...] = ()  # its paths as given: what a confined program may read

    @property
    def at_once(self) -> bool:
        """Whether it is done before the next call is looked at: a cd counts for what follows."""
        return self.entry.builtin and self.entry.name not in _SLOW

    @property
    def values(self) -> dict[str, Any]:
        """What a command of the context itself takes."""
        return {one.name: list(values) if one.many else values[0] for one, values in self.bound}


class CallChecks:
    """Makes stages of calls; `home` and `private` are as Contexts has them."""

    def __init__(self, checks: Checks, policy: Policy, home: str, private: tuple[str, ...]) -> None:
        self._checks = checks
        self._policy = policy
        self._home = home
        self._private = private

    def stages(
        self,
        request: CallCommand,
        context: CommandContext,
        given: Mapping[str, str],
        book: CommandBook,
    ) -> list[PipeStage]:
        """Raises Forbidden, InvalidInput, CommandNotFound; `given` is the environment."""
        if request.pipeline is None:
            if not request.tool:
                raise InvalidInput("the call names no command", "give its name as tool")
            return [self._stage(request.tool, request.args or {}, context, given, book)]
        stages = []
        for words in request.pipeline:
            if not words:
                raise InvalidInput("a command of the pipeline is empty")
            entry = book.get(words[0])
            self._checks.check_name(entry, words[0])
            args = from_words(entry, words[1:])
            stages.append(self._stage(words[0], args, context, given, book))
        for stage in stages[1:]:
            if stage.entry.builtin:
                raise InvalidInput(
                    f"{stage.called} reads no input", "put it first, or leave it out"
                )
        return stages

    def passes(
        self,
        called: str,
        args: Mapping[str, Any],
        context: CommandContext,
        given: Mapping[str, str],
        book: CommandBook,
    ) -> bool:
        """Return whether a call would be run."""
        try:
            self._stage(called, args, context, given, book)
        except NacreError:
            return False
        return True

    def _stage(
        self,
        called: str,
        args: Mapping[str, Any],
        context: CommandContext,
        given: Mapping[str, str],
        book: CommandBook,
    ) -> PipeStage:
        entry = book.get(called)
        where = context.where(self._home, self._private)
        self._checks.check_name(entry, called)
        if entry.name == "kill" and not _names_a_job(args):
            raise blacklisted(called)
        self._checks.check_given(entry, args)
        bound = bind(entry, args)
        if not (entry.group == "assistant" or entry.name == "kill"):
            self._checks.check_values(entry, bound, where)
        argv = argv_of(entry, bound)
        if not entry.trusted:
            self._checks.check_program(called, argv, self._policy, where)
        if not entry.builtin:
            # Nobody can export another PATH.
            argv[:1] = self._program(entry, context.cwd, given.get("PATH"), where)
        files = tuple(one for arg, values in bound if arg.type == "path" for one in values)
        return PipeStage(entry, called, bound, argv, files)

    def _program(self, entry: CommandEntry, cwd: str, path: str | None, where: Where) -> list[str]:
        """Return the program's path, and what this very program gets before all other words.

        Raises CommandNotFound, and Forbidden for a hidden rm.
        """
        found = find_program(entry.program, cwd=cwd, path=path)
        if found is None:
            raise CommandNotFound(
                f"{entry.name} needs the program {entry.program!r}, which is not installed",
                "install it, or use another command",
            )
        real = os.path.realpath(found)
        if not entry.trusted:
            # A link of another name leads to the same program.
            self._checks.check_program(entry.name, [real], self._policy, where)
            if other := blacklisted_twin(real):
                raise blacklisted(other)
        if not entry.confined:
            return [found]
        # Links may lead out of what the sandbox shows (/etc/alternatives).
        name = os.path.basename(real)
        words = [real, entry.program] if name == "busybox" else [real]
        return [*words, *entry.fixed_for.get(name, ())]


def _names_a_job(args: Mapping[str, Any]) -> bool:
    """Return whether kill is given a job of the context: the rest of it is blacklisted."""
    return any(isinstance(one, str) and one.startswith("%") for one in args.values())
