"""Run many scenarios at once, with retries, over one private daemon.

Rule 1: a scenario that fails and then passes is flaky: it is told of, not hidden.
Rule 2: results are told as they come, and returned in the order of the files.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from nacre.library.address import LocalAddress
from nacre.library.client import AsyncClient
from nacre.library.streaming import streaming
from nacre.testing.daemon import private_daemon
from nacre.testing.scenarios.runner import Attempt, RunOptions, run_scenario
from nacre.testing.scenarios.scenario import Scenario


@dataclass(frozen=True)
class ScenarioResult:
    scenario: Scenario
    attempts: tuple[Attempt, ...]

    @property
    def status(self) -> Literal["passed", "failed", "flaky"]:
        if self.last.failure is not None:
            return "failed"
        return "flaky" if len(self.attempts) > 1 else "passed"

    @property
    def last(self) -> Attempt:
        return self.attempts[-1]

    @property
    def seconds(self) -> float:
        return sum(attempt.seconds for attempt in self.attempts)


@dataclass(frozen=True)
class SuiteResult:
    results: tuple[ScenarioResult, ...]
    seconds: float

    def count(self, status: str) -> int:
        return sum(result.status == status for result in self.results)


def run_suite(
    scenarios: Sequence[Scenario],
    *,
    jobs: int,
    retries: int,
    options: RunOptions,
    told: Callable[[ScenarioResult], None],
) -> SuiteResult:
    begun = time.monotonic()
    with private_daemon() as address:
        results = asyncio.run(_run_all(address, scenarios, jobs, retries, options, told))
    return SuiteResult(tuple(results), time.monotonic() - begun)


async def _run_all(
    address: LocalAddress,
    scenarios: Sequence[Scenario],
    jobs: int,
    retries: int,
    options: RunOptions,
    told: Callable[[ScenarioResult], None],
) -> list[ScenarioResult]:
    free = asyncio.Semaphore(jobs)
    socket = streaming(address, person=True)  # a person's: what is shown is not redacted
    async with AsyncClient.over(address, socket) as client:
        await client.status()  # starts the daemon, which is no scenario's time

        async def run(scenario: Scenario) -> ScenarioResult:
            async with free:
                result = await _run_one(client, scenario, retries, options)
            told(result)
            return result

        return await asyncio.gather(*map(run, scenarios))


async def _run_one(
    client: AsyncClient, scenario: Scenario, retries: int, options: RunOptions
) -> ScenarioResult:
    tries = 1 + (retries if scenario.retries is None else scenario.retries)
    attempts: list[Attempt] = []
    for number in range(1, tries + 1):
        attempts.append(await run_scenario(client, scenario, number, options))
        if attempts[-1].failure is None:
            break
    return ScenarioResult(scenario, tuple(attempts))
