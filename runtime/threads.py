"""The threads that a compiled model's calls share."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ..ir.diagnostics import NncError
from ..targets.native import LoadedCode
from .abi import POOL_CREATE, POOL_CREATE_TYPE, POOL_DESTROY, POOL_DESTROY_TYPE

POOL_SYMBOLS = (POOL_CREATE, POOL_DESTROY)


class Pool:
    """The pool of one executable; without code for pools, every call has one thread."""

    def __init__(self, code: LoadedCode | None) -> None:
        self.threads = 1
        self._code = code  # Keeps the functions below in memory.
        self._handle: int | None = None
        self._in_use = threading.Lock()
        if code is not None:
            self._create = POOL_CREATE_TYPE(code[POOL_CREATE])
            self._destroy = POOL_DESTROY_TYPE(code[POOL_DESTROY])

    def resize(self, threads: int) -> None:
        """Use that many threads from the next call on. Raises NncError where it cannot."""
        if not isinstance(threads, int) or threads < 1:
            raise NncError(f"the number of threads must be at least 1, not {threads}")
        if self._code is None or threads == self.threads:
            self.threads = threads
            return
        with self._in_use:
            self._destroy(self._handle)
            self._handle, self.threads = None, 1
            if threads > 1:
                self._handle = self._create(threads)
                if not self._handle:
                    raise NncError(f"cannot start {threads} threads")
                self.threads = threads

    @contextmanager
    def lent(self) -> Iterator[int | None]:
        """The pool for one call; None where another call has it, which then is sequential."""
        if self._handle is None or not self._in_use.acquire(blocking=False):
            yield None
            return
        try:
            yield self._handle
        finally:
            self._in_use.release()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._destroy(self._handle)
            self._handle = None
