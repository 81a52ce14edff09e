"""The rules that apply in a folder, as the files say now.

Rule 1: a file that has changed is read again before the next line is judged; the setting
policy_check says how often somebody looks.
Rule 2: a wrong file fails closed: nothing is judged by half of the rules.
Rule 3: the grammar of shells is loaded when the first session is created, in a thread: to load it
takes as long as some thirty commands.
"""

import asyncio
import importlib
import os
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

from nacre.core.policy.verdicts import Preset

if TYPE_CHECKING:
    from nacre.core.policy.decide import Policy

_MOST = 64  # sets of files whose rules are kept read; each has some hundred KB at most

Signature = tuple[tuple[str, int, int, int], ...]


class _Read(NamedTuple):
    signature: Signature
    policy: "Policy"


class Rulebooks:
    """`config` is the folder of the user's file; None: they have none."""

    def __init__(self, config: str | None, check: float) -> None:
        """`check` is how many seconds pass between two looks at the files."""
        self.config = config
        self._check = check
        self._looked: tuple[Preset, str | None, float, Policy] | None = None
        self._read: OrderedDict[tuple[Preset, tuple[str, ...]], _Read] = OrderedDict()
        self._loaded = False
        self._loading: asyncio.Task[None] | None = None

    def begin_to_load(self) -> None:
        """Load the grammar in the background, because lines will soon be judged."""
        if not self._loaded and self._loading is None:
            self._loading = asyncio.create_task(self._load(), name="policy")

    @property
    def is_loaded(self) -> bool:
        return self._loaded

    async def load(self) -> None:
        self.begin_to_load()
        if self._loading is not None:
            await asyncio.shield(self._loading)

    async def _load(self) -> None:
        await asyncio.get_running_loop().run_in_executor(None, _load_all)
        self._loaded = True

    def policy(self, preset: Preset, folder: str | None) -> "Policy":
        """Return the rules for a folder, None for one that nobody knows. Raises InvalidInput."""
        now, last = time.monotonic(), self._looked
        if last is not None and last[:2] == (preset, folder) and now - last[2] < self._check:
            return last[3]
        found = self._look(preset, folder)
        self._looked = (preset, folder, now, found)
        return found

    def look_again(self) -> None:
        """Look at the files before the next line is judged: one was just written."""
        self._looked = None

    def _look(self, preset: Preset, folder: str | None) -> "Policy":
        from nacre.system.policy_files import USER_FILE, load_policy, rule_files

        files: list[str] = []
        if self.config is not None and folder is not None:
            files = rule_files(self.config, folder)
        elif self.config is not None and os.path.exists(path := f"{self.config}/{USER_FILE}"):
            files = [path]
        signature = tuple(_sign(path) for path in files)
        key = (preset, tuple(files))
        read = self._read.get(key)
        if read is None or read.signature != signature:
            read = _Read(signature, load_policy(preset, files, self.config))
            self._read[key] = read
            if len(self._read) > _MOST:
                self._read.popitem(last=False)
        return read.policy


def _sign(path: str) -> tuple[str, int, int, int]:
    try:
        found = os.stat(path)
    except OSError:
        return (path, 0, 0, 0)
    return (path, found.st_mtime_ns, found.st_size, found.st_ino)


def _load_all() -> None:
    importlib.import_module("nacre.system.policy_files")
    importlib.import_module("tree_sitter_bash")
