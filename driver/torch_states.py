"""Detects changes of PyTorch weights since code was compiled with them.

PyTorch counts writes to a tensor, but not those through `.data` or NumPy, nor any to a tensor made
in inference mode. So sampled elements of each weight are compared, too.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import numpy as np
import torch  # pyright: ignore[reportMissingImports]

_SAMPLED = 4
"""The elements of each weight that are checked in each call."""
_CHANGES = 3
"""The number of observed changes after which a weight counts as changing all the time."""

_version = attrgetter("_version")


class States:
    """Makes a state of weights that changes when they do."""

    def __init__(self) -> None:
        self._places: tuple[int, ...] = ()
        self._samples = _Samples(())
        self._seen: dict[int, set[Any]] = {}
        """For each weight's index: its states for which code was compiled."""

    def of(self, weights: Sequence[torch.Tensor]) -> Any:
        """The weights' addresses, their write counters, and the bytes of sampled elements."""
        places = tuple(map(torch.Tensor.data_ptr, weights))
        if places != self._places:
            self._samples = _Samples(weights)
            self._places = places
        return places, _versions(weights), self._samples.bytes()

    def change_often(self, weights: Sequence[torch.Tensor]) -> list[bool]:
        """Which of the weights are written to repeatedly."""
        found = []
        for weight in weights:
            seen = self._seen.setdefault(weight.data_ptr(), set())
            seen.add((_versions([weight]), _Samples([weight]).bytes()))
            found.append(len(seen) > _CHANGES)
        return found


def _versions(weights: Sequence[torch.Tensor]) -> tuple[int, ...]:
    try:
        return tuple(map(_version, weights))
    except RuntimeError:  # of tensors made in inference mode
        return tuple(0 if w.is_inference() else w._version for w in weights)


class _Samples:
    """Sampled elements of weights, read in place by a single gather from memory."""

    def __init__(self, weights: Sequence[torch.Tensor]) -> None:
        found = [_addresses(w) for w in weights if w.device.type == "cpu" and w.numel()]
        every = np.concatenate([*found, np.zeros(0, np.int64)])
        first, end = (int(every.min()), int(every.max()) + 1) if found else (0, 0)
        self._places = every - first
        self._memory = np.zeros(0, np.uint8)
        if found:
            memory = (ctypes.c_uint8 * (end - first)).from_address(first)
            self._memory = np.ctypeslib.as_array(memory)

    def bytes(self) -> bytes:
        """The current bytes of the sampled elements."""
        return self._memory.take(self._places).tobytes()


def _addresses(weight: torch.Tensor) -> np.ndarray:
    """The addresses of sampled bytes, spread over a weight."""
    last = sum((d - 1) * s for d, s in zip(weight.shape, weight.stride(), strict=True))
    size = weight.element_size()
    places = np.linspace(0, last, _SAMPLED).astype(np.int64) * size + weight.data_ptr()
    return (places[:, None] + np.arange(size)).ravel()
