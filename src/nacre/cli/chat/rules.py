"""What the policy's rules allow a model in a chat, and the person's answers that last.

Rule 1: a command in a terminal is judged as under the preset guarded, in its session's folder: what
is proven harmless, or allowed by a rule of the user's, needs no question.
Rule 2: another tool needs a rule that names it. Our own tools that only look need none.
"""

import os
from collections.abc import Awaitable, Callable
from typing import Any

from nacre.cli.chat.permission import written
from nacre.core.policy.decide import Policy, decide, decide_tool
from nacre.core.policy.paths import Where
from nacre.core.policy.rules import written_arguments
from nacre.errors import InvalidInput
from nacre.settings.paths import Paths
from nacre.system.policy_files import load_policy, rule_files, save_rule

_LOOKING = frozenset(
    (
        *("read", "wait", "screenshot"),
        *("search_upstream_tools", "describe_upstream_tool", "read_upstream_result"),
    )
)
_WHY = "allowed in a chat"

FolderOf = Callable[[str | None], Awaitable[str | None]]


class Rules:
    def __init__(self, paths: Paths, folder_of: FolderOf) -> None:
        self._paths = paths
        self._folder_of = folder_of

    async def allow(self, name: str, arguments: dict[str, Any]) -> bool:
        """Return whether a model may make this call without a question."""
        if name in _LOOKING or (name == "sessions" and arguments.get("action", "list") == "list"):
            return True
        if name == "run":
            return await self._allow_run(arguments)
        policy = self._policy(os.getcwd())
        if not name.startswith("mcp_"):
            return False
        return decide_tool(name, policy, arguments).verdict == "allow"

    async def _allow_run(self, arguments: dict[str, Any]) -> bool:
        command, session, cwd = (arguments.get(key) for key in ("command", "session", "cwd"))
        if not isinstance(command, str) or not isinstance(session, str | None):
            return False
        folder = cwd if isinstance(cwd, str) else await self._folder_of(session)
        return folder is not None and self._proven(command, folder)

    def _policy(self, folder: str) -> Policy:
        config = self._paths.config
        return load_policy("guarded", rule_files(config, folder), config)

    def _proven(self, command: str, folder: str) -> bool:
        if not os.path.isabs(folder):
            return False
        policy = self._policy(folder)
        own = (self._paths.config, self._paths.state, self._paths.runtime)
        where = Where(
            folder,
            home=os.path.expanduser("~"),
            workspace=folder,
            private=tuple(os.path.realpath(one) for one in own),
            real=os.path.realpath,
        )
        return decide(command, policy, where).verdict == "allow"

    def save_exactly(self, name: str, arguments: dict[str, Any]) -> str:
        """Save a rule for exactly this call; return what to tell the person."""
        if name == "run":
            return self._saved({"line": str(arguments.get("command", ""))})
        if name.startswith("mcp_"):
            return self._saved({"tool": name, "arguments": written_arguments(arguments)})
        raise InvalidInput(
            f"{written(name, arguments)} cannot be a rule for ever",
            "allow it for this chat, or the tool by its name",
        )

    def save(self, pattern: str) -> str:
        """Save a rule for a pattern; return what to tell the person."""
        name, colon, rest = pattern.partition(":")
        if not colon:
            return self._saved({"tool": name})
        words = rest.split()
        if name == "run" and words[-1:] == ["*"] and "*" not in "".join(words[:-1]):
            return self._saved({"pattern": words[:-1]})
        if name == "run" and "*" not in rest:
            return self._saved({"line": rest.strip()})
        raise InvalidInput(
            f"{pattern} cannot be a rule for ever",
            "a rule names a tool, or a command and its first words: 'run: git status *'",
        )

    def _saved(self, rule: dict[str, Any]) -> str:
        path = save_rule(self._paths.config, {**rule, "verdict": "allow", "justification": _WHY})
        return f"saved in {path}"
