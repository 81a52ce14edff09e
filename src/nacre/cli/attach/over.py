"""The end of `nacre attach`: what is printed, and the exit code."""

import signal


class Over(Exception):
    def __init__(self, said: str, code: int) -> None:
        super().__init__(said)
        self.said = said
        self.code = code


def program_ended(name: str, exit_code: int | None, killed_by: str | None) -> Over:
    if killed_by is not None:
        return Over(f"nacre: {name} was killed by {killed_by}", _killed(killed_by))
    if exit_code is None:
        return Over(f"nacre: {name} has ended; its exit code is not known", 1)
    return Over(f"nacre: {name} has ended with exit code {exit_code}", exit_code)


def program_lost(name: str) -> Over:
    return Over(f"nacre: {name} was lost with its daemon; start it again: nacre restore {name}", 1)


def terminal_gone(name: str) -> Over:
    return Over(f"nacre: the terminal is gone; {name} is still running", 129)


def _killed(name: str) -> int:
    """Return the exit code that shells use: 128 plus the signal's number."""
    name = name if name.startswith("SIG") else f"SIG{name}"
    number = getattr(signal, name, None)
    return 128 + int(number) if number is not None else 1
