"""The signals that stop the daemon.

Rule: they are blocked until the loop handles them. One that came earlier would leave files behind.
"""

import asyncio
import signal
from collections.abc import Callable

STOPPING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def block_signals() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)


def ignored_signals() -> list[signal.Signals]:
    """Return those that our starter wanted ignored (nohup, &)."""
    return [number for number in STOPPING if signal.getsignal(number) is signal.SIG_IGN]


def take_signals(loop: asyncio.AbstractEventLoop, stop: Callable[[], None]) -> None:
    """Stop by a signal, except one that our starter wanted ignored.

    Children inherit ignored signals, so Ctrl+C would do nothing in a session. A handler that does
    nothing is not inherited.
    """
    ignored = ignored_signals()
    for number in STOPPING:
        loop.add_signal_handler(number, _nothing if number in ignored else stop)
    for number in (signal.SIGQUIT, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)


def _nothing() -> None:
    return None
