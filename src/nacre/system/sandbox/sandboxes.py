"""The sandboxes of a daemon: what can be had here, and how a program is put into one.

Rule 1: a profile is used only after a trial has shown that it works (probe.py). Where it does not,
the program is not started: nothing runs outside of a sandbox that was asked for.
Rule 2: a trial that went well is not repeated; one that failed is, because somebody may have mended
the machine.
Rule 3: which backend makes a profile is found out by trying, bubblewrap first. A profile that only
Landlock can make has what Landlock can promise, and no program is told otherwise.
"""

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Literal, NamedTuple

from msgspec.structs import replace

from nacre.errors import BadParameter, SandboxUnavailable
from nacre.settings.table import Settings
from nacre.system.sandbox import probe
from nacre.system.sandbox.bubblewrap import Bubblewrap, find_bubblewrap
from nacre.system.sandbox.filter import filter_program
from nacre.system.sandbox.landlock import (
    landlock_advice,
    landlock_command,
    landlock_plan,
    trouble_with_landlock,
)
from nacre.system.sandbox.layer_work import LayerWork
from nacre.system.sandbox.layers import is_overlay, make_layer, place_of
from nacre.system.sandbox.profiles import PROFILES
from nacre.system.sandbox.view import (
    DENIED,
    Mount,
    SandboxView,
    Surroundings,
    bare_view,
    check_workspace,
    find_surroundings,
    is_below,
    view_of,
)

# The profile whose trial shows that a program can be confined to a few files.
BARE = "strict"
_FRESH = 1.0  # seconds; a program starts some milliseconds after it was planned

Backend = Literal["bubblewrap", "landlock"]


class Enclosed(NamedTuple):
    """How to start a program in a sandbox; the caller closes the descriptors afterwards."""

    argv: list[str]
    descriptors: tuple[int, ...]


class _Planned(NamedTuple):
    """What a start was planned with: to find it out a second time would take a millisecond."""

    profile: str
    workspace: str
    at: float
    view: SandboxView

    def is_for(self, profile: str, workspace: str) -> bool:
        """Return whether it is the plan of this start, and still tells what is there."""
        fresh = time.monotonic() - self.at < _FRESH
        return fresh and (self.profile, self.workspace) == (profile, workspace)


class Sandboxes:
    def __init__(self, settings: Settings, hidden: Sequence[str], layers: str | None) -> None:
        """`hidden` are nacre's own folders, `layers` is the folder for what reviews change."""
        self._settings = settings
        self._hidden = tuple(hidden)
        self._layers = layers
        self._found: Bubblewrap | None = None
        self._proven: dict[str, Backend] = {}
        self._backends: tuple[Backend, ...] = ("bubblewrap", "landlock")
        if settings.sandbox_backend != "auto":
            self._backends = (settings.sandbox_backend,)
        self._trials: dict[str, asyncio.Lock] = {}
        self._planned: _Planned | None = None
        self.layer_work = LayerWork()

    # --- what can be had ---------------------------------------------------------------------

    async def require(self, profile: str) -> None:
        """Raises SandboxUnavailable, which says what to fix, where the profile does not work."""
        async with self._trials.setdefault(profile, asyncio.Lock()):
            if profile in self._proven:
                return
            trouble = await asyncio.to_thread(self.trouble_with, profile)
        _refuse(profile, trouble)

    async def require_bare(self) -> None:
        """Raises SandboxUnavailable where no program can be confined to a few files."""
        await self.require(BARE)
        if self._proven[BARE] != "bubblewrap":
            _refuse(BARE, probe.Trouble("Landlock shows whole folders alone", "install bubblewrap"))

    def backend_of(self, profile: str) -> Backend | None:
        """Return what makes a profile; None before that was tried."""
        return self._proven.get(profile)

    def trouble_with(self, profile: str) -> probe.Trouble | None:
        """Try a profile, if that was not done before. Takes some ten milliseconds."""
        if profile in self._proven:
            return None
        if not probe.has_linux():
            return probe.NOT_LINUX
        troubles: list[probe.Trouble] = []
        for backend in self._backends:
            by = self._try_bubblewrap if backend == "bubblewrap" else self._try_landlock
            trouble = by(profile)
            if trouble is None:
                self._proven[profile] = backend
                return None
            troubles.append(trouble)
        reasons = "; ".join(dict.fromkeys(trouble.reason for trouble in troubles))
        return probe.Trouble(reasons, troubles[0].fix)

    def _try_bubblewrap(self, profile: str) -> probe.Trouble | None:
        self._found = self._found or find_bubblewrap()
        if self._found is None:
            return probe.NOT_INSTALLED
        with probe.Stage() as stage:
            return self._try(self._found, profile, stage)

    def _try_landlock(self, profile: str) -> probe.Trouble | None:
        known = PROFILES[profile]
        if (trouble := trouble_with_landlock(known)) is not None:
            return trouble
        with probe.Stage() as stage:
            view = view_of(known, self._surroundings(), stage.workspace)
            facts = {
                "secret": os.path.join(stage.outside, "token"),
                "workspace": stage.workspace,
                "writable": known.workspace == "write",
                "process": os.getpid(),
            }
            # What is hidden of nacre's own is of no matter here, and the workspace may hold it.
            shown = SandboxView(tuple(one for one in view.mounts if one.path != stage.hidden))
            plan = landlock_plan(
                shown, (), cwd=stage.workspace, env=_PLAIN, on_terminal=False, trial=facts
            )
            descriptor = _in_memory("plan", plan)
            try:
                trial = probe.Trial(landlock_command(descriptor), (descriptor,))
                return probe.judge(trial, landlock_advice)
            finally:
                os.close(descriptor)

    def _try(self, found: Bubblewrap, profile: str, stage: probe.Stage) -> probe.Trouble | None:
        known = PROFILES[profile]
        around = replace(self._surroundings(), hidden=(*self._hidden, stage.hidden))
        layer = None
        if known.workspace == "layer":
            overlay, work = found.overlays, self.layer_work
            folder = make_layer(stage.layers, stage.workspace, work, overlay=overlay, most=1 << 20)
            layer = self._mount(folder, stage.workspace)
        view = view_of(known, around, stage.workspace, layer)
        denied = next((one.path for one in view.mounts if one.source == DENIED), None)
        program = probe.script(
            os.path.join(stage.hidden, "token"), stage.workspace, known.workspace, denied
        )
        enclosed = self._enclose(found, view, program, stage.workspace, _PLAIN, on_terminal=False)
        try:
            return probe.judge(probe.Trial(*enclosed))
        finally:
            close_all(enclosed.descriptors)

    @property
    def makes_overlays(self) -> bool:
        return self._found is not None and self._found.overlays

    # --- one session -------------------------------------------------------------------------

    def plan(self, profile: str, workspace: str) -> SandboxView:
        """Return what a program will see. Raises BadParameter for a folder that cannot be shown."""
        around = self._surroundings()
        check_workspace(workspace, around)
        view = view_of(PROFILES[profile], around, workspace)
        self._planned = _Planned(profile, workspace, time.monotonic(), view)
        return view

    def _view(self, profile: str, workspace: str, layer: str, around: Surroundings) -> SandboxView:
        """Return what was just planned, or look again; a plan is used once."""
        mount = self._mount(layer, workspace) if layer else None
        planned, self._planned = self._planned, None
        if planned is not None and planned.is_for(profile, workspace):
            view = planned.view if mount is None else planned.view.layered(workspace, mount)
            if view is not None:
                return view
        return view_of(PROFILES[profile], around, workspace, mount)

    async def new_layer(self, workspace: str) -> str:
        """Make the layer that takes what a session writes; return its folder.

        Raises LimitReached for a workspace that is too large to be copied.
        """
        if self._layers is None:
            raise SandboxUnavailable("a review needs a folder for its layer", "start a daemon")
        if any(is_below(path, workspace) for path in self._surroundings().hidden):
            raise BadParameter(
                "cwd", "holds nacre's own folder, which a review cannot copy", "choose another"
            )
        most = self._settings.review_copy_bytes
        overlay = self.makes_overlays
        return await asyncio.to_thread(
            make_layer, self._layers, workspace, self.layer_work, overlay=overlay, most=most
        )

    def enclose(
        self,
        profile: str,
        argv: Sequence[str],
        *,
        workspace: str,
        layer: str,
        cwd: str,
        env: Mapping[str, str],
    ) -> Enclosed:
        """Return how to start a program. Raises SandboxUnavailable, BadParameter and OSError."""
        backend = self._proven.get(profile)
        if backend is None:
            raise SandboxUnavailable(f"the sandbox {profile!r} was not tried yet", "try again")
        around = self._surroundings()
        check_workspace(workspace, around)
        view = self._view(profile, workspace, layer, around)
        if not view.shows(argv[0]):
            raise BadParameter(
                "command",
                f"is {argv[0]}, which the sandbox {profile!r} does not show",
                "install it for all users of this machine",
                "name its folder in the setting sandbox_read",
            )
        if backend == "landlock" or self._found is None:
            descriptor = _in_memory("plan", landlock_plan(view, argv, cwd=cwd, env=env))
            return Enclosed(landlock_command(descriptor), (descriptor,))
        return self._enclose(self._found, view, argv, cwd, env)

    def enclose_bare(
        self,
        argv: Sequence[str],
        *,
        shown: Sequence[Mount],
        hidden: Sequence[str],
        cwd: str,
        env: Mapping[str, str],
    ) -> Enclosed:
        """Return how to start a program that sees the system's programs and these mounts alone.

        What is `hidden` below them stays so. Raises SandboxUnavailable and OSError.
        """
        if self._proven.get(BARE) != "bubblewrap" or self._found is None:
            raise SandboxUnavailable("the sandbox for this program was not tried yet", "try again")
        view = bare_view(shown, cwd, argv[0], (*self._hidden, *hidden))
        return self._enclose(self._found, view, argv, cwd, env, on_terminal=False)

    def _enclose(
        self,
        found: Bubblewrap,
        view: SandboxView,
        argv: Sequence[str],
        cwd: str,
        env: Mapping[str, str],
        *,
        on_terminal: bool = True,
    ) -> Enclosed:
        descriptors: list[int] = []
        try:
            calls = filter_program()
            if calls is not None:
                descriptors.append(_in_memory("filter", calls))
            options = found.options(
                view,
                cwd=cwd,
                env=env,
                empty_bytes=self._settings.sandbox_tmp_bytes,
                program=descriptors[0] if descriptors else None,
            )
            text = b"".join(os.fsencode(word) + b"\0" for word in options)
            descriptors.append(_in_memory("options", text))
        except OSError:
            close_all(descriptors)
            raise
        command = found.command(argv, descriptors[-1], on_terminal=on_terminal)
        return Enclosed(command, tuple(descriptors))

    def _surroundings(self) -> Surroundings:
        settings = self._settings
        return find_surroundings(self._hidden, settings.sandbox_read, settings.sandbox_deny)

    def _mount(self, layer: str, workspace: str) -> Mount:
        if is_overlay(layer):
            return Mount("overlay", workspace, layer)
        return Mount("write", workspace, place_of(layer))


def _refuse(profile: str, trouble: probe.Trouble | None) -> None:
    if trouble is not None:
        raise SandboxUnavailable(
            f"the sandbox {profile!r} cannot be had here, and nothing was started without it: "
            f"{trouble.reason}",
            trouble.fix,
        )


_PLAIN = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin"}


def _in_memory(name: str, data: bytes) -> int:
    """Return a descriptor, at its beginning, of a file that is in no folder."""
    descriptor = os.memfd_create(f"nacre-{name}", os.MFD_CLOEXEC)
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.write(data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def close_all(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        with suppress(OSError):
            os.close(descriptor)
