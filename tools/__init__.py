"""The command lines."""

import sys
from functools import partial
from typing import Any


def _interrupted(otherwise: Any, kind: type[BaseException], error: Any, traceback: Any) -> None:
    """Ctrl-C while the modules of a command are imported is a line, as it is in `run_command`."""
    if issubclass(kind, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
    else:
        otherwise(kind, error, traceback)


def _dropped(otherwise: Any, unraisable: Any) -> None:
    """Ctrl-C in a callback, such as one of an import's locks, whose exceptions Python drops: it
    comes again when the callback has ended.
    """
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        otherwise(unraisable)
        return
    import os
    import signal
    from threading import Timer

    # Unlike `interrupt_main`, a signal also ends a system call that the main thread waits for.
    Timer(_AGAIN, os.kill, (os.getpid(), signal.SIGINT)).start()


_AGAIN = 0.01
"""Seconds until a dropped interruption comes again."""

sys.excepthook = partial(_interrupted, sys.excepthook)
sys.unraisablehook = partial(_dropped, sys.unraisablehook)
