"""The same with asyncio: two programs at once, each awaited by its own event."""

import asyncio
import sys

import nacre

PROGRAM = "a, b = input('two numbers: ').split(); print(a, '+', b, '=', int(a) + int(b))"


async def add(client: nacre.Client, numbers: str) -> str:
    app = await client.launch(sys.executable, ["-c", PROGRAM])
    await app.wait(text="two numbers:")
    await app.keys(numbers, "Enter")
    await app.wait(exit=True)
    last = (await app.view()).content.splitlines()[1]
    stopped = await app.stop()
    return f"{last}, exit code {stopped.exit_code}"


async def main() -> None:
    async with nacre.Client() as client:
        print(*await asyncio.gather(add(client, "3 4"), add(client, "10 20")), sep="\n")


asyncio.run(main())
