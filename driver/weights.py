"""The weights of a program: one buffer, filled as the module specifies."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..dialects.marks import WEIGHTS
from ..ir.attributes import DenseElements, DenseResource, DictAttr, IntegerAttr
from ..ir.core import Operation
from ..ir.diagnostics import NncError
from ..ir.timing import Timed, untimed

_THREADS = 2
"""The threads that compute weights: each holds the sources of one weight in memory."""
_AT_ONCE = 64 << 20
"""The bytes that are copied before the pages of their file are released."""


@contextmanager
def filling(module: Operation, buffer: np.ndarray, timed: Timed = untimed) -> Iterator[None]:
    """Fill the buffer with all weights while the block runs; complete at its end.

    NumPy computes weights without holding the interpreter's lock. `timed` measures the waiting at
    the end. Ctrl-C does not wait for weights in progress.

    Raises NncError for data that is missing or does not fit.
    """
    places = sorted(_places(module, buffer), key=lambda place: -place[1].size)
    threads = min(_THREADS, os.cpu_count() or 1)
    workers, wait = ThreadPoolExecutor(threads, "nnc-weights"), True
    try:
        work = [workers.submit(_copy, key, data, part) for key, part, data in places]
        yield
        with timed("Weights"):
            for one in work:
                one.result()
    except KeyboardInterrupt:
        wait = False  # a large weight takes seconds
        raise
    finally:
        workers.shutdown(wait, cancel_futures=True)


def fill_weights(module: Operation, buffer: np.ndarray, table: str = WEIGHTS) -> None:
    """Store every weight of a table in the buffer. Raises NncError as `filling` does."""
    for key, part, data in _places(module, buffer, table):
        _copy(key, data, part)


def _places(
    module: Operation, buffer: np.ndarray, name: str = WEIGHTS
) -> list[tuple[str, np.ndarray, Any]]:
    """The (name, part of the buffer, data) of each weight; the bytes between parts become 0."""
    table = module.attribute(name)
    if not isinstance(table, DictAttr):
        if buffer.size:
            raise NncError(
                f"the code needs {buffer.size} bytes of weights, but '{name}' is missing"
            )
        return []
    found, used = [], []
    for key, entry in table.items():
        offset = entry.get("offset")  # type: ignore[attr-defined]
        data = entry.get("data")  # type: ignore[attr-defined]
        if not isinstance(offset, IntegerAttr):
            raise NncError(f"{name}: '{key}' has no offset")
        if not isinstance(data, DenseResource | DenseElements):
            raise NncError(f"{name}: '{key}' has no data")
        end = offset.value + data.type.num_bytes
        if offset.value < 0 or end > buffer.size:
            raise NncError(f"{name}: '{key}' ends at byte {end} of {buffer.size}")
        found.append((key, buffer[offset.value : end], data))
        used.append((offset.value, end))
    covered = 0
    for start, end in sorted(used):
        buffer[covered:start] = 0
        covered = max(covered, end)
    buffer[covered:] = 0
    return found


def _copy(key: str, data: DenseResource | DenseElements, part: np.ndarray) -> None:
    """Write a weight's elements to its part of the buffer."""
    if isinstance(data, DenseElements):
        array = data.to_numpy()
    else:
        array = data.blob.elements(data.type)
    if array.nbytes != part.size:
        raise NncError(f"nn.weights: '{key}' has {array.nbytes} bytes, not {part.size}")
    if not array.size:
        return
    target = part.view(array.dtype).reshape(array.shape)
    rows = array.shape[0] if array.ndim else 1
    step = max(1, rows * _AT_ONCE // array.nbytes)
    for row in range(0, rows, step):
        where = slice(row, row + step) if array.ndim else ()
        np.copyto(target[where], array[where])
        if isinstance(data, DenseResource):
            data.blob.release()
