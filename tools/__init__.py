"""The command lines."""

import sys
from functools import partial
from typing import Any


def _interrupted(otherwise: Any, kind: type[BaseException], error: Any, traceback: Any) -> None:
    """An exception hook: Ctrl-C while the modules of a command are imported prints one line and no
    traceback, as `run_command` does later.
    """
    if issubclass(kind, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
    else:
        otherwise(kind, error, traceback)


def _dropped(otherwise: Any, unraisable: Any) -> None:
    """A hook for exceptions that Python drops, as those in callbacks (such as those of import
    locks): repeats a Ctrl-C after the callback has ended.
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
