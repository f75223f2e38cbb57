"""What a converter sees of a layer of Caffe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...ir.core import Value
from ..common.importer import NodeLayer
from ..common.rows import Rows
from ..wire.protobuf import Record


@dataclass(frozen=True)
class Attributes:
    """A layer as the file has it, and its weights."""

    record: Record
    blobs: Sequence[np.ndarray]


rows = Rows(__package__ or "")


class CaffeLayer(NodeLayer):
    """A layer that is being imported; `p` gives its parameters, with their defaults."""

    attributes: Attributes

    def p(self, name: str) -> Record:
        """A message of parameters: `n.p("convolution")`."""
        return self.attributes.record.part(f"{name}_param")

    @property
    def blobs(self) -> int:
        """How many blobs of weights there are."""
        return len(self.attributes.blobs)

    def blob(self, i: int, *shape: int) -> Value:
        """A blob of weights, in a shape where one is given. Raises NncError where it misfits."""
        if i >= len(self.attributes.blobs):
            raise self.error(
                f"it needs {i + 1} blobs of weights and has {self.blobs}; a .caffemodel beside "
                "the .prototxt must have them, under the layer's name"
            )
        array = self.attributes.blobs[i]
        if shape:
            fits = array.size % max(-int(np.prod(shape)), 1) == 0
            if -1 not in shape:
                fits = array.size == int(np.prod(shape))
            if not fits:
                found = list(array.shape)
                raise self.error(f"blob {i} has shape {found}, expected {list(shape)}")
            array = array.reshape(shape)
        return self.builder.constant(array, self.loc, key=f"{self.node.name}.{i}")

    def pair(self, p: Record, name: str, rank: int, default: int = 0) -> tuple[int, ...]:
        """A number for each spatial dimension: one for all, one for each, or `_h` and `_w`.

        `kernel_size` is short for `kernel_h` and `kernel_w`.
        """
        short = name.removesuffix("_size")
        if p.has(f"{short}_h") or p.has(f"{short}_w"):
            found = [getattr(p, f"{short}_h"), getattr(p, f"{short}_w")]
        else:
            found = list(getattr(p, name)) or [default]
        if len(found) not in (1, rank):
            raise self.error(f"{name} has {len(found)} numbers, expected {rank}")
        found *= rank // len(found)
        if min(found) < 0 or max(found) >= 1 << 31:
            raise self.error(f"{name} is {found}, expected numbers from 0 on")
        return tuple(found)
