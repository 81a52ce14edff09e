"""Run one scenario in a fresh terminal, and tell what came of each step."""

import os
import time
from dataclasses import dataclass, field
from typing import Literal

from nacre.errors import NacreError
from nacre.library.client import AsyncClient
from nacre.library.session import AsyncSession
from nacre.testing.scenarios.scenario import (
    CheckStep,
    IdleStep,
    InputStep,
    NewTextStep,
    Scenario,
    ScenarioStep,
    SnapshotStep,
)
from nacre.testing.screens.golden import GoldenCheck, golden_path
from nacre.testing.screens.pilot import PATIENCE, Pilot, UnmetExpectation


@dataclass(frozen=True)
class StepTaken:
    """A step, when it began (seconds after the program's start), and what came of it."""

    label: str
    line: int
    begun: float
    seconds: float
    failed: bool = False


@dataclass(frozen=True)
class RunOptions:
    update: bool = False
    patience: float | None = None  # where the scenario says nothing
    pictures: bool = False  # keep recording and last screen, whatever comes of it


@dataclass
class Attempt:
    """One run of a scenario."""

    scenario: Scenario
    number: int
    seconds: float = 0.0
    steps: list[StepTaken] = field(default_factory=list)
    failure: str | None = None
    line: int = 0  # of the step that failed
    updated: list[str] = field(default_factory=list)  # golden screens that were written
    recording: str | None = None  # asciicast, of a failure or if somebody wants it
    picture: bytes | None = None  # SVG of the last screen, as well

    @property
    def status(self) -> Literal["passed", "failed"]:
        return "passed" if self.failure is None else "failed"


async def run_scenario(
    client: AsyncClient, scenario: Scenario, number: int, options: RunOptions
) -> Attempt:
    """Run it once. Nothing is raised for what a scenario or its program does."""
    attempt = Attempt(scenario, number)
    begun = time.monotonic()
    session: AsyncSession | None = None
    try:
        session = await _launch(client, scenario)
        await _Steps(session, scenario, options, attempt).take()
    except (UnmetExpectation, NacreError) as error:
        attempt.failure = str(error)
        attempt.line = attempt.steps[-1].line if attempt.steps else scenario.line
    attempt.seconds = time.monotonic() - begun
    if session is not None:
        await _leave(session, attempt, options)
    return attempt


async def _launch(client: AsyncClient, scenario: Scenario) -> AsyncSession:
    start = scenario.start
    return await client.launch(
        start.command,
        start.args,
        env=dict(start.env),
        cwd=start.cwd,
        rows=start.rows,
        cols=start.cols,
    )


async def _leave(session: AsyncSession, attempt: Attempt, options: RunOptions) -> None:
    """Keep what people will want to see, and end the program."""
    try:
        if options.pictures or attempt.failure is not None:
            attempt.picture = await session.screenshot("svg")
            attempt.recording = await session.recording()
        await session.stop()
    except NacreError as error:  # what it came to is known already
        attempt.failure = attempt.failure or f"the terminal was lost: {error}"


class _Steps:
    def __init__(
        self, session: AsyncSession, scenario: Scenario, options: RunOptions, attempt: Attempt
    ) -> None:
        patience = scenario.timeout or options.patience or PATIENCE
        self._pilot = Pilot(session, patience)
        self._scenario = scenario
        self._update = options.update
        self._attempt = attempt

    async def take(self) -> None:
        """Take all steps. Raises UnmetExpectation at the first that fails."""
        begun = time.monotonic()
        for step in self._scenario.steps:
            await self._timed(step, begun)
        last = self._scenario.steps[-1].line
        end = ScenarioStep(last, "the program's end", CheckStep(()))
        try:
            await self._pilot.check_end()
        except UnmetExpectation:
            self._note(end, begun, time.monotonic(), failed=True)
            raise

    async def _timed(self, step: ScenarioStep, begun: float) -> None:
        at = time.monotonic()
        try:
            await self._take(step)
        except (UnmetExpectation, NacreError):
            self._note(step, begun, at, failed=True)
            raise
        self._note(step, begun, at, failed=False)

    def _note(self, step: ScenarioStep, begun: float, at: float, *, failed: bool) -> None:
        took = time.monotonic() - at
        self._attempt.steps.append(StepTaken(step.label, step.line, at - begun, took, failed))

    async def _take(self, step: ScenarioStep) -> None:
        pilot, action = self._pilot, step.action
        if isinstance(action, InputStep):
            await getattr(pilot, action.method)(*action.args, **dict(action.named))
        elif isinstance(action, CheckStep):
            for check in action.checks:
                await pilot.expect(check, action.timeout)
        elif isinstance(action, NewTextStep):
            await pilot.wait_new(action.text, action.timeout)
        elif isinstance(action, IdleStep):
            await pilot.wait_idle(action.seconds, action.timeout)
        else:
            await self._golden(action)

    async def _golden(self, step: SnapshotStep) -> None:
        scenario = self._scenario
        masks = (*scenario.masks, *step.masks)
        check = GoldenCheck(_golden_file(scenario, step.name), masks, step.styled)
        if await self._pilot.golden(check, update=self._update, patience=step.timeout):
            self._attempt.updated.append(check.path)


def _golden_file(scenario: Scenario, name: str) -> str:
    folder = os.path.dirname(os.path.abspath(scenario.file))
    return golden_path(folder, scenario.stem, scenario.name, name)
