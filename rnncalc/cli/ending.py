"""Clean up when a signal ends the process."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread

_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextmanager
def cleared_when_ended(clear: Callable[[], None]) -> Iterator[None]:
    """Call `clear` when SIGTERM or SIGHUP ends the process; it then ends as it would without this."""

    def end(number: int, _: object) -> None:
        clear()
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    main = current_thread() is main_thread()  # only the main thread may set a handler
    ours = [number for number in _SIGNALS if main and signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)
