"""Type at random into guarded shells, and look whether anything was deleted.

    python bench/keystrokes.py [seconds] [seed] [preset]

An agent types pieces of a forbidden line, keys that edit, recall and complete lines, pastes, ends
of programs, in one write or several, in turn and at once. The witness must stay. With the preset
`open` it does not stay for long: so the pieces do make such lines.
"""

import asyncio
import random
import sys
import tempfile
import time
from pathlib import Path

import uvloop

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from nacre.errors import NacreError, PolicyDenied
from nacre.services.session.session import Session

from services.living import text_of
from services.people import ANNA, House
from services.policy.test_police import guarded, shell

PIECES = [
    *["rm witness"] * 10,
    *["rm wit", "ness", "\r", "\r"] * 5,
    *["\x15", "\x03", "\x1b[A"] * 5,
    *("rm ", "r", "m wit*", "\n", "\x0f", "\x1b[A\r", "\x10", "\x0e", "\x12rm", "\x19", "\x17"),
    *("\x01", "\x05", "\t", "\x04", "\x07", "\x0b", "\x16", "\x1b", "\x1b.", "a", "v", "\x18\x05"),
    *("!!", "!rm", "^rm^ls\r", "echo ", "'", "\\", "#", ";", "&& ", "true", "ls\r", "read x\r"),
    *("sleep 0.02\r", "cat\r", "cat <<E\r", "E\r", "if true\r", "then ", "fi\r"),
    *("\x1b[200~", "\x1b[201~", "witness\x1b[D\x01rm \r"),
]
SEQUENCES = 15  # in one session
QUICK = {"shell_answer_wait": 1.0, "first_prompt_wait": 1.0, "mark_wait": 0.3}  # seconds


def writes(chance: random.Random) -> list[str]:
    made: list[str] = []
    for piece in chance.choices(PIECES, k=chance.randint(2, 9)):
        if made and chance.random() < 0.4:
            made[-1] += piece
        else:
            made.append(piece)
    return made


async def begin(ask: House, folder: Path, program: str, last: Session | None) -> Session:
    if last is not None and last.listed:
        await ask("manage_session", session=last.identity.id, action="kill")
    session = await shell(ask, folder, program)
    await ask.type_as(ANNA, session, b"rm -f x; rm witnes\r")  # for the history
    return session


async def try_shell(program: str, seed: int, seconds: float, preset: str) -> bool:
    chance, end, denied, number = random.Random(seed), time.monotonic() + seconds, 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with guarded(folder, policy=preset, **QUICK) as ask:
            session: Session | None = None

            async def write(text: str) -> int:
                assert session is not None
                try:
                    await ask("send_input", session=session.identity.id, input=text)
                except PolicyDenied:
                    return 1
                except NacreError:  # the shell was left
                    pass
                return 0

            while time.monotonic() < end:
                if session is None or not session.alive or number % SEQUENCES == 0:
                    session = await begin(ask, folder, program, session)
                number += 1
                sequence = writes(chance)
                if chance.random() < 0.3:
                    denied += sum(await asyncio.gather(*map(write, sequence)))
                else:
                    for text in sequence:
                        denied += await write(text)
                await asyncio.sleep(chance.random() * 0.02)
                if not (folder / "witness").exists():
                    print(f"{program}, {number}: deleted by {sequence}\n{text_of(session)[-600:]}")
                    return False
    print(f"{program}: {number} sequences, {denied} writes refused, nothing deleted")
    return True


async def main() -> int:
    given = sys.argv[1:]
    seconds, seed = float(given[0]) if given else 60.0, int(given[1]) if given[1:] else 1
    preset = given[2] if given[2:] else "guarded"
    shells = ("bash", "zsh", "fish")
    done = [try_shell(program, seed + at, seconds, preset) for at, program in enumerate(shells)]
    return 0 if all(await asyncio.gather(*done)) else 1


if __name__ == "__main__":
    sys.exit(uvloop.run(main()))
