"""The commands that act on the caller's context: cd, export, history, jobs and the like.

Rule: each returns what it printed and an exit code, as a program would. What a caller may not do
raises; what did not work out (a folder that is not there) is an exit code of 1.
"""

import asyncio
import os
import re
import shutil
import signal
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from nacre.core.commands.book import CommandBook
from nacre.core.commands.checks import Checks, blacklisted
from nacre.services.catalog.contexts import CommandContext
from nacre.services.catalog.execution import Execution

Given = Mapping[str, Any]


class ContextOutput(NamedTuple):
    text: str = ""
    exit_code: int = 0
    error: str = ""  # printed on standard error


@dataclass(frozen=True, slots=True)
class Builtins:
    context: CommandContext
    book: CommandBook
    checks: Checks
    home: str
    given: Mapping[str, str]  # the environment that programs get their allow-list from

    def of(self, name: str) -> Callable[[Given], Awaitable[ContextOutput]] | None:
        return {
            "cd": self._cd,
            "pwd": self._pwd,
            "echo": self._echo,
            "export": self._export,
            "unset": self._unset,
            "env": self._env,
            "history": self._history,
            "jobs": self._jobs,
            "bg": self._bg,
            "fg": self._fg,
            "kill": self._kill,
            "exit": self._exit,
            "help": self._help,
            "type": self._type,
        }.get(name)

    async def _cd(self, given: Given) -> ContextOutput:
        text = given.get("path") or self.home
        where = self.context.where(self.home, self.checks.private)
        path = self.checks.check_path(text, where)
        if why := _no_folder(path):
            return ContextOutput(exit_code=1, error=f"cd: {text}: {why}\n")
        self.context.cwd = path
        return ContextOutput()

    async def _pwd(self, given: Given) -> ContextOutput:
        return ContextOutput(f"{self.context.cwd}\n")

    async def _echo(self, given: Given) -> ContextOutput:
        text = given.get("text", [])
        return ContextOutput(" ".join([text] if isinstance(text, str) else text) + "\n")

    async def _export(self, given: Given) -> ContextOutput:
        name, equals, value = given["name"].partition("=")
        value = value if equals else given.get("value", "")
        where = self.context.where(self.home, self.checks.private)
        for part in value.split(":"):  # a program may take it for a file (TZ=:/etc/x)
            if "/" in part:
                self.checks.check_path(part, where)
        self.context.export(name, value)
        return ContextOutput()

    async def _unset(self, given: Given) -> ContextOutput:
        self.context.exported.pop(given["name"], None)
        return ContextOutput()

    async def _env(self, given: Given) -> ContextOutput:
        shown = self.context.shown(self.given)
        if name := given.get("name"):
            found = shown.get(name)
            return ContextOutput(exit_code=1) if found is None else ContextOutput(f"{found}\n")
        return ContextOutput("".join(f"{one}={value}\n" for one, value in shown.items()))

    async def _history(self, given: Given) -> ContextOutput:
        lines = self.context.numbered()[-int(given.get("count", len(self.context.history) or 1)) :]
        return ContextOutput("".join(f"{number:5}  {line}\n" for number, line in lines))

    # --- jobs ------------------------------------------------------------------------------

    async def _jobs(self, given: Given) -> ContextOutput:
        told = [
            f"[{number}]  {job.state:10} {job.line}\n" for number, job in self.context.jobs.items()
        ]
        self.context.forget_jobs()
        return ContextOutput("".join(told))

    async def _bg(self, given: Given) -> ContextOutput:
        job = self._job(given.get("job"))
        if job is None:
            return ContextOutput(
                exit_code=1, error=f"bg: {given.get('job', 'current')}: no such job\n"
            )
        if job.done.is_set():
            self.context.forget_jobs()
            return ContextOutput(exit_code=1, error=f"bg: job has ended: {job.line}\n")
        job.signal(signal.SIGCONT)
        return ContextOutput(f"{job.line} &\n")

    async def _fg(self, given: Given) -> ContextOutput:
        job = self._job(given.get("job"))
        if job is None:
            return ContextOutput(
                exit_code=1, error=f"fg: {given.get('job', 'current')}: no such job\n"
            )
        job.signal(signal.SIGCONT)
        await job.done.wait()
        self.context.forget_jobs()
        return ContextOutput(job.captured.text(), job.exit_code or 0)

    async def _kill(self, given: Given) -> ContextOutput:
        """Raises Forbidden for a process that is no job of this context."""
        if not re.fullmatch(r"%\d+", given["job"]):
            raise blacklisted("kill")
        job = self._job(given["job"])
        if job is None or job.done.is_set():
            return ContextOutput(exit_code=1, error=f"kill: {given['job']}: no such job\n")
        name = given.get("signal", "TERM")
        job.signal(getattr(signal, f"SIG{name}"))
        return ContextOutput()

    def _job(self, reference: str | None) -> Execution | None:
        jobs = self.context.jobs
        if reference is None:
            return jobs[max(jobs)] if jobs else None
        number = reference.removeprefix("%")
        return jobs.get(int(number)) if number.isascii() and number.isdigit() else None

    # --- the rest --------------------------------------------------------------------------

    async def _exit(self, given: Given) -> ContextOutput:
        self.context.ended = True
        return ContextOutput(exit_code=int(given.get("code", 0)))

    async def _help(self, given: Given) -> ContextOutput:
        if name := given.get("command"):
            entry = self.book.get(name)
            lines = [f"{entry.name}: {entry.description}"]
            if entry.aliases:
                lines.append(f"also called: {', '.join(entry.aliases)}")
            lines += [
                f"  {one.name} ({one.type}{', required' if one.required else ''}): "
                f"{one.description}"
                for one in entry.args
            ]
            return ContextOutput("\n".join(lines) + "\n")
        return ContextOutput("".join(f"{one.name:18} {one.description}\n" for one in self.book))

    async def _type(self, given: Given) -> ContextOutput:
        name = given["name"]
        if entry := self.book.find(name):
            kind = "refused" if entry.refused else "builtin" if entry.builtin else entry.program
            what = "a command" if entry.name == name else f"an alias of {entry.name}"
            return ContextOutput(f"{name} is {what} ({kind})\n")
        path = self.context.environment(self.given).get("PATH")
        if found := await asyncio.to_thread(shutil.which, name, path=path):
            return ContextOutput(f"{name} is {found}, which is not in the catalog\n")
        return ContextOutput(exit_code=1, error=f"type: {name}: not found\n")


def _no_folder(path: str) -> str | None:
    """Return why nobody can work in a folder; None if one can."""
    if not os.path.isdir(path):
        return "Not a directory" if os.path.exists(path) else "No such file or directory"
    return None if os.access(path, os.X_OK) else "Permission denied"
