"""Run the programs of an execution: in a place of theirs, within limits, some in a sandbox.

Rule 1: a program that could run others or reach more than its arguments say (awk, git, tar) runs in
a sandbox (confinement.py). Where none can be had, only those run whose entry says so.
Rule 2: it is started at once if a place is free: the next call may already send it a signal.
"""

import asyncio
import os
from collections.abc import Callable
from typing import NamedTuple

from nacre.core.policy.paths import Where
from nacre.errors import SandboxUnavailable
from nacre.services.catalog.confinement import mounts_of
from nacre.services.catalog.execution import Execution
from nacre.services.catalog.places import Places
from nacre.services.catalog.stages import PipeStage
from nacre.services.host.host import Host
from nacre.system.processes.one_shot import OneProgram, ResourceLimits, start
from nacre.system.processes.pty import shortage
from nacre.system.sandbox.sandboxes import close_all


class CommandSurroundings(NamedTuple):
    """Where programs run."""

    cwd: str
    env: dict[str, str]


class Programs:
    def __init__(self, host: Host, where: Callable[[str], Where]) -> None:
        """`where` tells for a folder where paths lead, and what is blocked."""
        self._host = host
        self._where = where
        self._places = Places(host.settings.command_places, host.settings.command_queue)
        self._confines = False  # whether a trial has shown that it can be done

    def admit(self, execution: Execution) -> None:
        """Take a place for it, or let it wait for one. Raises LimitReached."""
        if self._places.at_once(execution.client):
            execution.state = "running"
        else:
            execution.turn = self._places.join(execution.client)

    async def prepare(self, stages: list[PipeStage]) -> None:
        """Raises SandboxUnavailable where a program must be confined and cannot be."""
        confined = [stage for stage in stages if stage.entry.confined]
        if not confined or self._confines:
            return
        try:
            await self._host.sandboxes.require_bare()
            self._confines = True
        except SandboxUnavailable:
            if any(_needs_sandbox(stage) for stage in confined):
                raise

    async def run(
        self,
        execution: Execution,
        stages: list[PipeStage],
        surroundings: CommandSurroundings,
        stdin: bytes | None,
    ) -> None:
        """Run them from when a place is free to their end. Raises LimitReached, Internal."""
        if execution.state == "queued" and not await self._queue(execution):
            return
        try:
            self.start(execution, stages, surroundings, stdin)
            settings = self._host.settings
            wall = settings.command_wall_seconds
            late = f"it was ended after {wall:g} s (command_wall_seconds)"
            timer = self._host.loop.call_later(
                wall, lambda: execution.cancel(settings.kill_grace, late)
            )
            try:
                await execution.done.wait()
            finally:
                timer.cancel()
        finally:
            self._places.leave(execution.client)

    def start(
        self,
        execution: Execution,
        stages: list[PipeStage],
        surroundings: CommandSurroundings,
        stdin: bytes | None,
    ) -> None:
        """Start the programs, unless that was done. Raises LimitReached, Internal."""
        if execution.started or execution.done.is_set():
            return
        env = {**surroundings.env, **execution.environment}
        descriptors: list[int] = []
        try:
            started = start(
                [
                    OneProgram(
                        self._words(stage, surroundings.cwd, env, descriptors), _only_reads(stage)
                    )
                    for stage in stages
                ],
                cwd=surroundings.cwd,
                env=env,
                limits=self._limits(),
                feed=stdin is not None,
                umask=self._host.umask,
                descriptors=descriptors,
            )
        except OSError as error:
            raise shortage("cannot make a sandbox", error) from error
        finally:
            close_all(descriptors)
        # None of the shipped programs leaves anything running; in a sandbox nothing outlives it.
        may_leave = not all(stage.entry.trusted for stage in stages)
        execution.run(started, stdin or b"", may_leave=may_leave)

    def _words(
        self, stage: PipeStage, cwd: str, env: dict[str, str], descriptors: list[int]
    ) -> list[str]:
        """Return what to start for a command; `descriptors` gets those that it needs open."""
        if not stage.entry.confined or not self._confines:
            return stage.argv
        enclosed = self._host.sandboxes.enclose_bare(
            stage.argv,
            shown=mounts_of(stage.entry.confined, stage.files, self._where(cwd)),
            hidden=self._where(cwd).secrets,
            cwd=cwd,
            env=env,
        )
        descriptors += enclosed.descriptors
        return enclosed.argv

    async def _queue(self, execution: Execution) -> bool:
        """Return whether it has its place; not if it was cancelled before its turn."""
        turn = execution.turn
        assert turn is not None
        ended = asyncio.ensure_future(execution.done.wait())
        await asyncio.wait((turn, ended), return_when=asyncio.FIRST_COMPLETED)
        ended.cancel()
        if execution.done.is_set():
            self._places.give_up(execution.client, turn)
            return False
        execution.state = "running"
        return True

    def _limits(self) -> ResourceLimits:
        settings = self._host.settings
        return ResourceLimits(
            settings.command_cpu_seconds,
            settings.command_memory_bytes,
            settings.command_processes,
            settings.command_file_bytes,
            settings.command_descriptors,
        )


def _needs_sandbox(stage: PipeStage) -> bool:
    """Return whether a program is not to run without one."""
    if os.path.basename(stage.argv[0]) not in stage.entry.fixed_for:
        return True
    chosen = (one for argument, values in stage.bound if argument.words for one in values)
    return any(one in stage.entry.enclosed_only for one in chosen)


def _only_reads(stage: PipeStage) -> bool:
    """Return whether a program is known to write no file and to start no other one."""
    entry = stage.entry
    return entry.trusted and entry.risk == "read" and not entry.confined
