"""The memory layout of PyTorch's tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...ir.types import Dim


@dataclass(frozen=True)
class Layout:
    """The layout of a tensor: extents and strides, those of an example if they vary."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    element: Any
    known: tuple[Dim, ...] = ()
    """The extents; None where unknown."""

    def in_order(self) -> tuple[Layout, list[int]]:
        """The layout with dimensions sorted by stride, and their order."""
        order = sorted(range(len(self.shape)), key=lambda i: -self.strides[i])
        shape, strides = (tuple(row[i] for i in order) for row in (self.shape, self.strides))
        return Layout(shape, strides, self.element), order

    @property
    def is_contiguous(self) -> bool:
        step = 1
        for extent, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if extent != 1 and stride != step:
                return False
            step *= extent
        return True
