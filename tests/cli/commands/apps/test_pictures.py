"""nacre screenshot: to a pipe, to a file, from a terminal."""

import base64
import os
import pty
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

from cli.conftest import Nacre

PNG = b"\x89PNG\r\n\x1a\n"


def piped(nacre: Nacre, *arguments: str) -> bytes:
    command = [sys.executable, "-m", "nacre", "screenshot", *arguments]
    return subprocess.run(
        command, env=nacre.env, cwd=nacre.home, capture_output=True, check=True, timeout=60
    ).stdout


def test_pipe_gets_the_picture(running: Nacre, echo: str) -> None:
    assert piped(running, echo).startswith(PNG)
    assert piped(running, echo, "-o", "-", "--format", "svg").startswith(b"<svg ")
    assert len(piped(running, echo, "--scale", "1")) < len(piped(running, echo))
    assert piped(running, echo, "--no-cursor") != piped(running, echo)


def test_file_is_named_and_its_ending_says_the_format(
    running: Nacre, echo: str, tmp_path: Path
) -> None:
    png, svg = tmp_path / "a.png", tmp_path / "a.SVG"
    assert running.ok("screenshot", echo, "-o", str(png)) == f"{png}\n"
    assert png.read_bytes().startswith(PNG)
    png.write_text("somebody's")
    assert "overwrite it with --force" in running.fails(
        "FAILED", 1, "screenshot", echo, "-o", str(png)
    )
    assert png.read_text() == "somebody's"
    running.ok("screenshot", echo, "-o", str(png), "--force")
    assert png.read_bytes().startswith(PNG)
    told = running.json("screenshot", echo, "--output", str(svg))
    assert (told["format"], told["file"]) == ("svg", str(svg))
    assert "data" not in told
    ElementTree.parse(svg)


def test_json_is_the_operations_result(running: Nacre, echo: str) -> None:
    told = running.json("screenshot", echo)
    assert base64.b64decode(told["data"]).startswith(PNG)
    assert (told["session"], told["rows"], told["width"]) == (echo, 24, 1312)


def test_terminal_gets_a_new_file_and_its_name(running: Nacre, echo: str) -> None:
    for name in ("echo.png", "echo-2.png"):
        main, side = pty.openpty()
        command = [sys.executable, "-m", "nacre", "screenshot", echo]
        subprocess.run(
            command, env=running.env, cwd=running.home, stdout=side, check=True, timeout=60
        )
        assert os.read(main, 100).decode().strip() == name
        os.close(main)
        os.close(side)
        assert (running.home / name).read_bytes().startswith(PNG)


def test_refusals(running: Nacre, echo: str) -> None:
    running.fails("SESSION_NOT_FOUND", 3, "screenshot", "none")
    running.fails("INVALID_INPUT", 2, "screenshot", echo, "--format", "gif")
    assert ".png or .svg" in running.fails("INVALID_INPUT", 2, "screenshot", echo, "-o", "a.gif")
    told = running.fails("FAILED", 1, "screenshot", echo, "-o", "/none/a.png")
    assert "/none/a.png cannot be written: No such file or directory" in told
