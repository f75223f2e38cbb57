"""Darknet's `.weights`: a head with a version, then the f32 numbers of all layers in order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..common.source import Source

_MOST_LEFT = 5
"""The most numbers that may be left unread: headers of different versions differ by up to 20 bytes.
"""


class Weights:
    """The numbers of a file, read in order; the file is opened on first use."""

    def __init__(self, model: Source, last: int) -> None:
        self.model = model
        self.last = last
        """The index of the last section that has weights."""
        self.data: np.ndarray | None = None
        self.source = model
        self.at = 0
        self.taken: dict[int, list[Any]] = {}
        """The weights that convolutions have taken, by section, for sections that share them."""

    def take(self, layer: str, shape: Sequence[int]) -> np.ndarray:
        """The next numbers, a view of the file. Raises NncError where there are too few."""
        if self.data is None:
            self.data = self._opened()
        count = math.prod(shape)
        if count > self.data.size - self.at:
            raise self.source.error(f"the file ends inside the weights of layer '{layer}'")
        self.at += count
        return self.data[self.at - count : self.at].reshape(tuple(shape))

    def check_all_taken(self) -> None:
        """Raise NncError if more numbers are left than headers of different versions differ by.

        Then they are another model's, or the `.cfg` is truncated.
        """
        if self.data is None:
            return
        left = self.data.size - self.at
        if left > _MOST_LEFT:
            raise self.source.error(
                f"{left:,} of the {self.data.size:,} numbers of its weights belong to no layer up "
                "to the last: the .cfg is cut off, or the weights are another model's"
            )

    def _opened(self) -> np.ndarray:
        if self.model.path is None:
            raise self.model.error("its weights are in a file beside it; give a path")
        self.source = self.model.beside(self.model.path.stem + ".weights")
        data = self.source.data
        if data.size < 16:
            raise self.source.error("the file ends inside its head")
        major, minor = (int(v) for v in data[:8].view("<i4"))
        if not (0 <= major < 1000 and 0 <= minor < 1000):
            raise self.source.error(f"no weights of Darknet: version {major}.{minor}")
        # The number of images seen takes eight bytes from version 0.2 on.
        head = 20 if major * 10 + minor >= 2 else 16
        body = data[head:]
        return body[: body.size // 4 * 4].view("<f4")
