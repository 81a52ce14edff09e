"""Drive a shell and a full-screen program with nacre.connect(), without asyncio."""

import sys

import nacre
from nacre.errors import SessionNotFound

PROGRAM = "a, b = input('two numbers: ').split(); print(a, '+', b, '=', int(a) + int(b))"

with nacre.connect() as client:  # starts a daemon if none runs
    shell = client.new()
    done = shell.run("echo hello; true")
    print(f"{done.output!r}, exit code {done.exit_code}")
    shell.kill()

    app = client.launch(sys.executable, ["-c", PROGRAM])
    app.wait(text="two numbers:")
    app.keys("3 4", "Enter")
    app.wait(exit=True)
    print(app.view().content)
    app.stop()

    try:
        client.session("nobody").screen()
    except SessionNotFound as error:
        print(f"{error.code}: {error}")
