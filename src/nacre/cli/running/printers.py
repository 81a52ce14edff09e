"""How the output of a run is printed while it comes: as lines, for a terminal, or byte by byte.

Rule 1: no output can control the person's terminal, but for colours and for what redraws a line or
a few lines (progress bars).
Rule 2: for a pipe or a file it is text: what a person would have read, line by line. Once lines are
drawn over that were printed before, the rest is read at the end (`read_run`).
"""

import codecs
import json
import os
import re
import sys
from collections import deque
from typing import Any

from nacre.cli.output.answers import harmless
from nacre.client.calls import Client
from nacre.core.terminal.passages import Kind, kind_of, local_lines, plain_text
from nacre.core.terminal.transcript import ROWS

_PAGE = 10_000  # lines read at once

# A sequence, whole or not yet (ECMA-48, 5.4 and 5.6; OSC and its like end with BEL or ST).
_SEQUENCE = re.compile(
    rb"\x1b(?:\[(?P<csi>[0-?]*[ -/]*[@-~])"
    rb"|[PX\]^_](?:[^\x07\x1b]|\x1b(?!\\))*(?:\x07|\x1b\\)"
    rb"|[ -/]*[0-OQ-WYZ\\`-~])"
)
_TORN = 4096  # bytes in which the end of a sequence is waited for
# SGR; within a line EL, CHA, CUF, CUB, ECH, DCH, ICH; CUU, CUD and ED below; the cursor's look.
_PASSED = re.compile(rb"[0-9;:]*m|[0-9;]*[KGCDXP@AB]|0?J|\?25[hl]")
_COLOUR = re.compile(rb"[0-9;:]*m")
_ALTERNATE = re.compile(rb"\?(?:47|1047|1049)(h|l)")
# C0 but for line ends, backspace and tab; DEL; in UTF-8 C1 and what changes the direction of text.
_CONTROLS = re.compile(
    rb"[\x00-\x07\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]"
    rb"|\xd8\x9c|\xe2\x80[\x8e\x8f\xaa-\xae]|\xe2\x81[\xa6-\xa9]"
)
# The beginning of a character of which the rest is missing.
_TORN_CHARACTER = re.compile(
    rb"(?:[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})\Z"
)


class LinePrinter:
    """For a pipe or a file."""

    def __init__(self) -> None:
        self._run_id = ""
        self._unended = bytearray()  # a line may be long: it is not copied for each part of it
        self._cols = 80
        self._printed = 0  # lines
        self._last: deque[str] = deque(maxlen=ROWS)  # of them: all that can be drawn over
        self._blank = 0  # lines that are not printed yet: at the end they are left out
        self._drawn = False

    def begin(self, run_id: str) -> None:
        self._run_id = run_id

    def take(self, data: bytes, cols: int) -> None:
        self._cols = cols
        if self._drawn:
            return
        end = data.rfind(b"\n") + 1
        if not end:
            self._unended += data
            return
        whole, self._unended = bytes(self._unended) + data[:end], bytearray(data[end:])
        self._print_lines(whole)

    def _print_lines(self, lines: bytes) -> None:
        if not lines:
            return
        kind = kind_of(lines, self._cols)
        if kind is Kind.DRAWN:
            self._drawn = True
        elif kind is Kind.PLAIN:
            self._print(plain_text(lines).decode().removesuffix("\n").split("\n"))
        else:
            count = lines.count(b"\n") + (not lines.endswith(b"\n"))
            self._print(local_lines(lines, count, self._cols))

    def _print(self, lines: list[str]) -> None:
        for line in lines:
            if not line:
                self._blank += 1
                continue
            sys.stdout.write("\n" * self._blank + harmless(line) + "\n")
            self._printed += self._blank + 1
            self._last.extend([*[""] * min(self._blank, ROWS), line])
            self._blank = 0
        sys.stdout.flush()

    def end(self) -> None:
        if not self._drawn:
            self._print_lines(bytes(self._unended))
        if self._drawn and self._run_id:
            self._print_rest()

    def _print_rest(self) -> None:
        """Print what the run came to show, from the first line on that is not printed so."""
        with Client.open() as client:
            total = self._read(client, self._printed)["total_lines"]
            offset = max(0, min(self._printed, total) - ROWS)
            known = list(self._last)[-(self._printed - offset) :] if self._printed > offset else []
            self._blank = 0
            while offset < total:
                page = self._read(client, offset)
                lines = page["output"].split("\n")
                same = 0
                while same < min(len(known), len(lines)) and known[same] == lines[same]:
                    same += 1
                self._print(lines[same:])
                known = []
                offset += page["lines"]
                if not page["lines"]:
                    break

    def _read(self, client: Client, offset: int) -> dict[str, Any]:
        return client.ask(
            "read_run", run_id=self._run_id, offset=offset, limit=_PAGE, max_chars=1 << 31
        )


class TerminalPrinter:
    """For a person's terminal."""

    def __init__(self, *, colours: bool) -> None:
        self._colours = colours
        self._unended = b""
        self._alternate = False  # a full-screen program draws
        self._coloured = self._in_line = False

    def begin(self, run_id: str) -> None:
        return

    def take(self, data: bytes, cols: int) -> None:
        data = self._unended + data
        torn = data.rfind(b"\x1b", max(0, len(data) - _TORN))
        if torn >= 0 and _SEQUENCE.match(data, torn) is None and len(data) - torn < _TORN:
            data, self._unended = data[:torn], data[torn:]
        elif cut := _TORN_CHARACTER.search(data, max(0, len(data) - 3)):
            data, self._unended = data[: cut.start()], data[cut.start() :]
        else:
            self._unended = b""
        at = 0
        for found in _SEQUENCE.finditer(data):
            self._print_text(data[at : found.start()])
            self._print_sequence(found)
            at = found.end()
        self._print_text(data[at:])
        sys.stdout.flush()

    def _print_text(self, text: bytes) -> None:
        if not text or self._alternate:
            return
        # A lone byte of C1 controls terminals that do not decode UTF-8 first: what is no text is �.
        text = text.decode(errors="replace").encode()
        text = _CONTROLS.sub(b"", text).replace(b"\r\n", b"\n")  # the terminal makes it so again
        if not text:
            return
        self._in_line = not text.endswith(b"\n")
        sys.stdout.buffer.write(text)

    def _print_sequence(self, found: "re.Match[bytes]") -> None:
        csi = found["csi"]
        if csi is None:
            return
        if alternate := _ALTERNATE.fullmatch(csi):
            self._alternate = alternate[1] == b"h"
        coloured = _COLOUR.fullmatch(csi) is not None
        if self._alternate or _PASSED.fullmatch(csi) is None or (coloured and not self._colours):
            return
        self._coloured = self._coloured or coloured or b"?" in csi
        sys.stdout.buffer.write(found[0])

    def end(self) -> None:
        if _TORN_CHARACTER.match(self._unended):
            self._print_text(self._unended)
        if self._coloured:
            sys.stdout.write("\x1b[0m\x1b[?25h")
        if self._in_line:
            sys.stdout.write("\n")
        sys.stdout.flush()


class RawPrinter:
    """The bytes as the program printed them: the terminal had made `\\r\\n` of each line feed."""

    def __init__(self) -> None:
        self._unended = b""

    def begin(self, run_id: str) -> None:
        return

    def take(self, data: bytes, cols: int) -> None:
        data = self._unended + data
        self._unended = b"\r" if data.endswith(b"\r") else b""
        data = data.removesuffix(b"\r") if self._unended else data
        sys.stdout.buffer.write(data.replace(b"\r\n", b"\n"))
        sys.stdout.flush()

    def end(self) -> None:
        sys.stdout.buffer.write(self._unended)
        sys.stdout.flush()


class EventPrinter:
    """One JSON object a line: started, output, ended."""

    def __init__(self) -> None:
        # A character may be torn between two parts.
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def begin(self, run_id: str) -> None:
        self._print({"event": "started", "run_id": run_id})

    def take(self, data: bytes, cols: int) -> None:
        if text := self._decoder.decode(data):
            self._print({"event": "output", "data": text})

    def end(self) -> None:
        if text := self._decoder.decode(b"", final=True):
            self._print({"event": "output", "data": text})

    def _print(self, event: dict[str, object]) -> None:
        print(json.dumps(event), flush=True)


Printer = LinePrinter | TerminalPrinter | RawPrinter | EventPrinter


def printer_for(*, raw: bool, events: bool) -> Printer:
    if events:
        return EventPrinter()
    if raw:
        return RawPrinter()
    if sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        return TerminalPrinter(colours=not os.environ.get("NO_COLOR"))
    return LinePrinter()
