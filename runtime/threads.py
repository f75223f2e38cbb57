"""The threads that a compiled model's calls share."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass

from ..ir.diagnostics import NncError
from .abi import POOL_CREATE, POOL_CREATE_TYPE, POOL_DESTROY, POOL_DESTROY_TYPE, POOL_SYMBOLS
from .program import LinkedCode

__all__ = ["POOL_SYMBOLS", "Pool"]


@dataclass
class _Handle:
    """A pool of native threads, which exist only in the process that started them."""

    address: int | None = None
    process: int = 0

    def end(self, destroy: Callable[[int], None]) -> None:
        """End the threads. After a fork the child has none; their memory is left."""
        address, self.address = self.address, None
        if address and self.process == os.getpid():
            destroy(address)


class Pool:
    """The pool of one executable; without code for pools, every call has one thread."""

    def __init__(self, code: LinkedCode | None) -> None:
        self.threads = 1
        self._code = code
        self._handle = _Handle()
        self._in_use = threading.Lock()
        if code is not None:
            self._create = POOL_CREATE_TYPE(code[POOL_CREATE])
            self._destroy = POOL_DESTROY_TYPE(code[POOL_DESTROY])
            # Also at Python's exit: the threads must end before their code is unloaded. The code
            # is an argument so that it lives as long as they do.
            weakref.finalize(self, _end, self._handle, self._destroy, code)

    def resize(self, threads: int) -> None:
        """Use that many threads from the next call on. Raises NncError if that fails."""
        if not isinstance(threads, int) or threads < 1:
            raise NncError(f"the number of threads must be at least 1, not {threads}")
        if self._code is None or threads == self.threads:
            self.threads = threads
            return
        with self._in_use:
            self._start(threads)

    def _start(self, threads: int) -> None:
        self._handle.end(self._destroy)
        self.threads = 1
        if threads > 1:
            address = self._create(threads)
            if not address:
                raise NncError(f"cannot start {threads} threads")
            self._handle.address, self._handle.process = address, os.getpid()
            self.threads = threads

    def borrow(self) -> int | None:
        """The pool for one call, to be returned; None if the call must be sequential.

        That is so without a pool, and while another call uses it.
        """
        if self._handle.address is None:
            return None
        if self._handle.process != os.getpid():
            # A fork left the threads behind, and maybe the lock in another thread's hands.
            self._in_use = threading.Lock()
            self._start(self.threads)
        return self._handle.address if self._in_use.acquire(blocking=False) else None

    def give_back(self, address: int | None) -> None:
        """Return the result of `borrow`."""
        if address is not None:
            self._in_use.release()


def _end(handle: _Handle, destroy: Callable[[int], None], code: LinkedCode) -> None:
    handle.end(destroy)
