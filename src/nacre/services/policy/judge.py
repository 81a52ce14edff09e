"""Judge a line, a program or a new session by the rules that apply where it runs.

Rule 1: the preset of a session is its own or the daemon's, whichever is stricter.
Rule 2: where the folder of a shell is not known, paths are not either.
"""

import os
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from nacre.core.catalog.caller import Caller
from nacre.core.policy.verdicts import Preset, stricter
from nacre.core.shell.dialects import SHELLS
from nacre.core.shell.programs import OPAQUE
from nacre.errors import InvalidInput, PolicyDenied
from nacre.late_pattern import late_pattern
from nacre.services.policy.rulebooks import Rulebooks
from nacre.services.session.session import Session
from nacre.settings.table import Settings
from nacre.system.processes.tree import working_directory

if TYPE_CHECKING:
    from nacre.core.policy.decide import Decision, Policy
    from nacre.core.policy.paths import Where

_ZSH, _FISH = "zsh", "fish"

# A line of words alone, in which nothing is quoted, expanded or parted.
_PLAIN = late_pattern(r"[\w ./=:,+@%-]+", re.ASCII)


class Site(NamedTuple):
    """Where something would run."""

    folder: str | None
    workspace: str | None
    preset: Preset
    syntax: str = "posix"


class Judge:
    def __init__(self, settings: Settings, rulebooks: Rulebooks, private: Sequence[str]) -> None:
        """`private` are the daemon's own folders."""
        self._settings = settings
        self.rulebooks = rulebooks
        self.home = os.path.expanduser("~")
        self._private = tuple(os.path.realpath(folder) for folder in private)

    def preset(self, own: Preset | None, caller: Caller) -> Preset:
        """Return what applies to a session with a preset of its own, or without, for a caller.

        In a cluster the policy of the host at whose door the caller is counts, too.
        """
        return stricter(stricter(self._settings.policy, own or "open"), caller.policy)

    def place(self, session: Session, caller: Caller) -> Site:
        """Return where the next line of a session's shell would run."""
        preset = self.preset(session.record.policy, caller)
        program: str | None = session.launch.program
        folder: str | None = None
        prompting = session.stream.prompting
        begins = session.marks_itself and prompting.phase is None  # its shell is being started
        if session.in_foreground or begins:
            reported = prompting.folder
            folder = reported or working_directory(session.leader) or session.launch.cwd
        elif preset == "open":  # a look at all of the kernel's facts costs as much as a command
            folder, program = working_directory(session.foreground or 0), None
        elif (facts := session.facts()) is not None:
            program = facts.program
            if facts.pid and program not in OPAQUE:
                folder = working_directory(facts.pid)
        syntax = program if program in (_ZSH, _FISH) else "posix"
        return Site(folder, session.launch.cwd, preset, syntax or "posix")

    # --- verdicts --------------------------------------------------------------------------

    def line(self, text: str, site: Site) -> "Decision":
        """Raises PolicyDenied for files of rules that are wrong."""
        from nacre.core.policy.decide import Decision, decide

        if self.allows_anywhere(text, site):
            return Decision("allow")
        policy = self._policy(site)
        syntax: Any = site.syntax
        return decide(text, policy, self._where(site), syntax)

    def allows_anywhere(self, text: str, site: Site) -> bool:
        """Return whether no rule is about any word of a line, under open: it runs in any folder."""
        if site.preset != "open" or not _PLAIN.fullmatch(text):
            return False
        return not _names(self._policy(site), text.split())

    def program(self, argv: Sequence[str], site: Site) -> "Decision":
        from nacre.core.policy.decide import decide_argv

        return decide_argv(argv, self._policy(site), self._where(site))

    def tool(self, name: str, arguments: Mapping[str, Any] | None = None) -> "Decision":
        """Judge the call of an upstream server's tool: no session, the daemon's own preset."""
        from nacre.core.policy.decide import decide_tool

        return decide_tool(name, self._policy(Site(None, None, self._settings.policy)), arguments)

    def variables(self, env: dict[str, str], site: Site) -> list[str]:
        """Return the variables of a new session that would change what its programs do."""
        from nacre.core.policy.variables import is_harmless
        from nacre.core.policy.words import Assignment, literal

        if site.preset == "open":
            return []
        given = [Assignment(name, literal(value)) for name, value in env.items()]
        return [one.name for one in given if not is_harmless(one)]

    def in_home(self, path: str) -> str:
        return os.path.expanduser(path)

    def is_private(self, path: str) -> bool:
        """Return whether a path is in one of the daemon's own folders."""
        from nacre.core.policy.paths import is_below

        return is_below(os.path.realpath(path), self._private)

    def _policy(self, site: Site) -> "Policy":
        try:
            return self.rulebooks.policy(site.preset, site.folder)
        except InvalidInput as error:
            raise PolicyDenied(
                f"the rules of the policy are wrong, so nothing may run: {error.message}",
                "a person has to correct the file",
                verdict="deny",
                reasons=[error.message],
                rule=None,
            ) from error

    def _where(self, site: Site) -> "Where":
        from nacre.core.policy.paths import Where

        return Where(
            site.folder,
            home=self.home,
            workspace=site.workspace and os.path.realpath(site.workspace),
            private=self._private,
            real=os.path.realpath,
        )


def _names(policy: "Policy", words: list[str]) -> bool:
    """Return whether a word may be a program that a rule is about: then the line is read."""
    return any(policy.rules.knows(word.rsplit("/", 1)[-1]) for word in words)


def is_bare_shell(command: str | None, args: Sequence[str] | None) -> bool:
    """Return whether a new session runs only an interactive shell, whose lines are judged."""
    if command is None:
        return True
    return not args and os.path.basename(command.strip()) in SHELLS
