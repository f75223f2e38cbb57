"""The part of an iteration space that one pass of straight-line code computes in registers."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Tile:
    """A register tile: lanes along `lane_dim` (None: scalars), copies by dimension, cycles."""

    lane_dim: int | None
    lanes: int
    copies: dict[int, int] = field(default_factory=dict)
    cycles: float = 0.0

    def size(self, dim: int) -> int:
        """Elements of a dimension in the tile."""
        return self.copies.get(dim, 1) * (self.lanes if dim == self.lane_dim else 1)

    def __str__(self) -> str:
        dims = sorted({*self.copies, self.lane_dim} - {None})
        sizes = "x".join(str(self.size(dim)) for dim in dims)
        return f"{sizes} in vectors of {self.lanes}" if self.lane_dim is not None else sizes or "1"
