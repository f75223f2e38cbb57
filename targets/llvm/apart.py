"""Runs LLVM and compiled code beside the main thread, so that this thread can react to Ctrl-C."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def interruptible(function: Callable[P, R]) -> Callable[P, R]:
    """The function such that Ctrl-C in the main thread stops waiting for it at once.

    The call itself cannot be stopped: it continues in a thread that nobody waits for.
    """

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        if threading.current_thread() is not threading.main_thread():
            return function(*args, **kwargs)
        results: list[R] = []
        errors: list[BaseException] = []
        done = threading.Event()

        def work() -> None:
            try:
                results.append(function(*args, **kwargs))
            except BaseException as error:
                errors.append(error)
            finally:
                done.set()

        threading.Thread(target=work, daemon=True).start()
        done.wait()
        if errors:
            raise errors[0]
        return results[0]

    return run
