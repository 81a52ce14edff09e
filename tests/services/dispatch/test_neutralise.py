"""Every answer is without what nobody sees, and says so; recordings are as they were printed."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest

from nacre.core.operations.all import parse_operation
from nacre.core.operations.follow import Follow, LineEvent
from nacre.core.text.unseen import REPLACEMENT, Counts, neutralise_all
from nacre.errors import WaitTimedOut
from nacre.services.dispatch.answers import neutralise as step
from nacre.services.dispatch.dispatch import Answer

from services.living import CALLER, PATIENCE, living, reads, start, start_marked
from services.people import House

pytestmark = pytest.mark.anyio

HIDDEN = "a\u202eb\u200bc\U000e0041\U000e0042d"
SEEN = f"a{REPLACEMENT}b{REPLACEMENT}c{REPLACEMENT}d"
NOTICE = f"{REPLACEMENT} stands for what nobody sees here (1 bidi, 2 tag, 1 zero_width)"


async def ask(house: House, operation: str, **parameters: Any) -> Answer:
    async with asyncio.timeout(PATIENCE):
        return await house.dispatch.ask(CALLER, parse_operation(operation, parameters))


def text_of(value: Any) -> str:
    """Return all of its texts; a repr would escape what is looked for."""
    return msgspec.json.encode(value, enc_hook=str).decode()


async def test_a_runs_output_and_the_screen_are_data(tmp_path: Path) -> None:
    async with living(tmp_path) as services:
        house = House(services)
        await start_marked(services, name="dev")
        (tmp_path / "text").write_text(f"{HIDDEN}\n👩\u200d💻 می\u200cخواهم\n")
        ran: Any = await ask(house, "run", session="dev", command=f"cat {tmp_path}/text")
        assert ran.result.output == f"{SEEN}\n👩\u200d💻 می\u200cخواهم"
        assert ran.notices == [NOTICE]
        for params in ({"format": "plain"}, {"format": "styled"}):
            shown = await ask(house, "get_screen", session="dev", **params)
            assert "1 bidi" in shown.notices[0]
            assert "\u202e" not in text_of(shown.result)
        quiet = await ask(house, "run", session="dev", command="echo 👩\u200d💻")
        assert quiet.notices == []


async def test_very_many_of_them_are_taken_out_beside_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []

    def noting(value: Any, counts: Counts) -> Any:
        threads.append(threading.get_ident())
        return neutralise_all(value, counts)

    monkeypatch.setattr(step, "neutralise_all", noting)
    async with living(tmp_path) as services:
        house = House(services)
        await start_marked(services, name="dev")
        for name, text in (("few", HIDDEN), ("many", "a\u200b" * 3000)):
            (tmp_path / name).write_text(text)
        few: Any = await ask(house, "run", session="dev", command=f"cat {tmp_path}/few")
        assert few.result.output == SEEN
        many: Any = await ask(house, "run", session="dev", command=f"cat {tmp_path}/many")
        assert many.result.output.replace("\n", "") == f"a{REPLACEMENT}" * 3000
        assert "3000 zero_width" in many.notices[0]
    assert threads[0] == threading.get_ident() != threads[1]


async def test_titles_folders_and_errors_are_data(tmp_path: Path) -> None:
    folder = tmp_path / f"x{HIDDEN}"
    folder.mkdir()
    async with living() as services:
        house = House(services)
        session = await start(
            services, f"printf '\\033]2;{HIDDEN}\\007ready'; exec cat", name="dev", cwd=str(folder)
        )
        await ask(house, "wait_for", session="dev", text="ready")
        await reads(session)  # or else cat is not there yet, and sh is busy
        assert session.terminal.title == HIDDEN
        listed = text_of((await ask(house, "list_sessions")).result)
        assert listed.count(SEEN) >= 2
        assert "\u202e" not in listed
        typed = {"input": f"{HIDDEN}\n", "timeout_ms": 1000, "max_wait_ms": 1}
        with pytest.raises(WaitTimedOut) as error:
            await ask(house, "run_command", session="dev", **typed, last_generation=10**9)
        assert SEEN in text_of(error.value.details)
        assert "\u202e" not in text_of(error.value.details)
        assert "stands for what nobody sees here" in error.value.details["notice"]


async def test_very_many_in_an_event_are_taken_out_beside_the_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads: list[int] = []

    def noting(value: Any, counts: Counts) -> Any:
        threads.append(threading.get_ident())
        return neutralise_all(value, counts)

    monkeypatch.setattr(step, "neutralise_all", noting)
    for text in (HIDDEN, "a\u200b" * 3000):
        clean = await step.clean_event(LineEvent(index=0, total_lines=1, line=text))
        assert text_of(clean).count(REPLACEMENT) == (3 if text is HIDDEN else 3000)
    assert threads[0] == threading.get_ident() != threads[1]


async def test_events_are_data() -> None:
    async with living() as services, asyncio.timeout(PATIENCE):
        house = House(services)
        await start(services, f"printf '{HIDDEN}'; exec cat", name="dev")
        await ask(house, "wait_for", session="dev", text="d")
        request = Follow(session="dev", events=["lines"])
        async with house.dispatch.follow(CALLER, request) as events:
            async for event in events:
                assert SEEN in text_of(event)
                assert "\u202e" not in text_of(event)
                break


async def test_a_recording_is_what_was_printed(tmp_path: Path) -> None:
    async with living(journals=tmp_path) as services:
        house = House(services)
        await start(services, f"printf '{HIDDEN}'; exec cat", name="dev")
        await ask(house, "wait_for", session="dev", text="d")
        cast: Any = await ask(house, "export_recording", session="dev")
        assert "\u202e" in text_of(cast.result)
        assert cast.notices == []


async def test_it_can_be_switched_off() -> None:
    async with living(neutralise_output=False) as services:
        house = House(services)
        await start(services, f"printf '{HIDDEN}'; exec cat", name="dev")
        await ask(house, "wait_for", session="dev", text="d")
        shown = await ask(house, "get_screen", session="dev", format="plain")
        assert HIDDEN in text_of(shown.result)
        assert shown.notices == []
