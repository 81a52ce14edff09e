"""What a run printed, kept within bounds: its head, its tail, and how much lies between.

Rule: memory does not grow with the output. The whole of it is somebody else's business (a spool).
"""


class Capture:
    def __init__(self, head_bytes: int, tail_bytes: int) -> None:
        self._head_limit = head_bytes
        self._tail_limit = tail_bytes
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0
        self.lines = 0  # line feeds seen

    def write(self, data: bytes) -> None:
        self.total += len(data)
        self.lines += data.count(b"\n")
        room = self._head_limit - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail += data
            # Cut rarely: moving the tail for each chunk would cost more than the chunk.
            if len(self._tail) > 2 * self._tail_limit:
                del self._tail[: -self._tail_limit]

    def parts(self) -> tuple[bytes, bytes | None, int]:
        """Return head, tail and the line feeds between them; tail None: the head is everything.

        A cut begins and ends at a line's end, so that no line or escape sequence is torn.
        """
        tail = bytes(self._tail[-self._tail_limit :])
        if len(self._head) + len(tail) >= self.total:
            return bytes(self._head) + tail, None, 0
        head = bytes(self._head[: self._head.rfind(b"\n") + 1])
        tail = tail[tail.find(b"\n") + 1 :]
        return head, tail, self.lines - head.count(b"\n") - tail.count(b"\n")
