"""Starts the commands `nnc`, `nn-opt` and `nn-run`: the entry points of their scripts.

Ctrl-C is a KeyboardInterrupt only while a command runs, which `run_command` handles. Before, while
Python imports the command's modules, and after it, the process ends at once, with one line and the
exit code 130: nothing of it is lost then, and no module prints what it makes of an interruption.
"""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False  # as in `typing`, which is not imported before Ctrl-C is handled
if TYPE_CHECKING:
    from typing import Any, NoReturn

INTERRUPTED = 130
"""The exit code of a command ended by Ctrl-C, as in shells."""
_AGAIN = 0.01
"""Seconds until a dropped interruption is sent again."""


def nnc() -> NoReturn:
    """Run `nnc` with the process's arguments, and end the process with its exit code."""
    _run("nnc", "nnc")


def nn_opt() -> NoReturn:
    """Run `nn-opt` with the process's arguments, and end the process with its exit code."""
    _run("nn-opt", "nn_opt")


def nn_run() -> NoReturn:
    """Run `nn-run` with the process's arguments, and end the process with its exit code."""
    _run("nn-run", "nn_run")


def _run(name: str, module: str) -> NoReturn:
    def end(*_: Any) -> NoReturn:
        try:
            os.write(2, f"{name}: interrupted\n".encode())
        finally:  # also if standard error is closed
            os._exit(INTERRUPTED)

    has_interrupts = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # not by `nohup`
    if has_interrupts:
        signal.signal(signal.SIGINT, end)
    from importlib import import_module

    from ..ir.collection import collect_rarely

    collect_rarely()
    main = import_module(f".{module}", __package__).main
    status = INTERRUPTED
    try:
        if has_interrupts:
            _repeat_dropped()
            signal.signal(signal.SIGINT, signal.default_int_handler)
        status = main()
        if has_interrupts:
            signal.signal(signal.SIGINT, end)
    except KeyboardInterrupt:  # just before `run_command`, or just after it
        end()
    leave(status)


def leave(status: int) -> NoReturn:
    """End the process with a command's exit code.

    After an interruption the process ends at once: an orderly exit would crash if LLVM is still
    running on another thread, and would wait for weights that are being computed.
    """
    if status == INTERRUPTED:
        import atexit
        from contextlib import suppress

        atexit._run_exitfuncs()  # removes temporary folders
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()
        os._exit(status)
    sys.exit(status)


def _repeat_dropped() -> None:
    """Have interruptions repeated that Python drops, as those in the callbacks of import locks."""
    otherwise = sys.unraisablehook

    def hook(unraisable: Any) -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            otherwise(unraisable)
            return
        from threading import Timer

        # Unlike `interrupt_main`, a signal also ends a system call that the main thread waits for.
        Timer(_AGAIN, os.kill, (os.getpid(), signal.SIGINT)).start()

    sys.unraisablehook = hook
