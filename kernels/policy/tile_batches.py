"""Tiles of groups of threads, and batches of tiles as arrays, with their estimated costs.

Each array of a batch has one element per tile, so a few array operations estimate thousands of
tiles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, prod

import numpy as np

from ...ir.decisions import Terms
from .operands import Operand

Numbers = np.ndarray | float
"""One number for each tile of a batch, or one for all of them."""
Sizes = Mapping[int, Numbers]
"""Elements along dimensions, of each tile of a batch."""


@dataclass(frozen=True)
class Staging:
    """Operands that groups copy into workgroup memory, `steps` steps of a reduction at a time."""

    dim: int
    """The reduction that is divided into steps; copies span all other reductions."""
    steps: int
    buffers: int
    numbers: tuple[int, ...]
    """The numbers of the operands that are copied."""


_TOO_LARGE = Terms({"registers": inf})
"""The cost of a tile that does not fit into registers."""


@dataclass(frozen=True)
class GroupTile:
    """A group's tile: its extent along each dimension of a stage, divided among its threads."""

    lane_dim: int | None
    sizes: Mapping[int, int] = field(default_factory=dict)
    threads: int = 1
    terms: Terms = _TOO_LARGE
    """The cycles by resource."""
    bound: str = ""
    """The resource that takes the most cycles."""
    groups: int = 1
    staging: Staging | None = None
    parts: int = 1
    """Groups that compute parts of the same sum."""
    rows: int = 1
    """How many rows of groups visit the columns together."""
    in_turn: int = 1
    """How many rows a group computes one after the other."""

    @property
    def cycles(self) -> float:
        return self.terms.cycles

    def size(self, dim: int) -> int:
        """The tile's extent along a dimension."""
        return self.sizes.get(dim, 1)

    @property
    def elements(self) -> int:
        """Elements in all."""
        return prod(self.sizes.values())

    def idle(self, cores: int) -> float:
        """The part of the cores without a group, on average over the time that the tiles take."""
        return 1 - self.groups / max(1, cores * -(-self.groups // cores))

    def __str__(self) -> str:
        each = -(-self.elements // self.threads)
        size = "x".join(str(n) for _, n in sorted(self.sizes.items())) or "1"
        found = f"{self.groups} x {self.threads} threads, {each} of {size} each ({self.bound})"
        if self.staging is not None:
            found += f", {self.staging.buffers} buffers of {self.staging.steps} steps"
        if self.parts > 1:
            found += f", {self.parts} parts of the sum"
        if self.in_turn > 1:
            found += f", {self.in_turn} rows in turn"
        return found + (f", {self.rows} rows at once" if self.rows > 1 else "")


@dataclass(frozen=True)
class Stagings:
    """A `Staging` for each tile of a batch, all of the same operands and dimension."""

    dim: int
    steps: np.ndarray
    buffers: np.ndarray
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class TileBatch:
    """Tiles that have lanes and sizes along the same dimensions."""

    lane_dim: int | None
    sizes: Mapping[int, np.ndarray]
    threads: np.ndarray
    stagings: Stagings | None = None

    @staticmethod
    def of(
        lane_dim: int | None,
        dims: Sequence[int],
        rows: Sequence[Sequence[int]],
        stagings: Sequence[Staging | None] = (None,),
    ) -> TileBatch:
        """A batch from `rows` of [threads, *sizes along `dims`], repeated for each staging.

        All rows come with the first staging, then all with the second, and so on.
        """
        table = np.tile(np.array(rows, np.int64), (len(stagings), 1))
        sizes = {d: table[:, 1 + i] for i, d in enumerate(dims)}
        known = [one for one in stagings if one is not None]
        if not known:
            return TileBatch(lane_dim, sizes, table[:, 0])
        steps, buffers = (
            np.repeat(np.array(found, np.int64), len(rows))
            for found in ([s.steps for s in known], [s.buffers for s in known])
        )
        every = Stagings(known[0].dim, steps, buffers, known[0].numbers)
        return TileBatch(lane_dim, sizes, table[:, 0], every)

    @property
    def count(self) -> int:
        return len(self.threads)


@dataclass(frozen=True)
class Estimates:
    """The costs of a batch's tiles: total `cycles`, infinite for a tile that does not fit.

    `terms` are the cycles by resource, `bounds` the index of each tile's slowest resource.
    """

    tiles: TileBatch
    cycles: np.ndarray
    terms: Mapping[str, np.ndarray]
    bounds: np.ndarray
    groups: np.ndarray
    rows: np.ndarray
    parts: int
    masked: str
    """The resource that masking at the edges takes; a tile without edges does not need it."""
    wasted: np.ndarray
    """The cycles in which the first cache hands out parts of lines that no thread needs."""
    in_turn: int

    def tile(self, number: int) -> GroupTile:
        """The tile with this index in the batch, with its costs."""
        tiles = self.tiles
        sizes = {d: int(n[number]) for d, n in tiles.sizes.items()}
        threads, groups = int(tiles.threads[number]), int(self.groups[number])
        if not np.isfinite(self.cycles[number]):
            return GroupTile(tiles.lane_dim, sizes, threads, groups=groups)
        terms = {name: float(cycles[number]) for name, cycles in self.terms.items()}
        bound = list(terms)[int(self.bounds[number])]
        if self.masked and not terms[self.masked]:
            del terms[self.masked]
        staging = None
        if (all := tiles.stagings) is not None:
            steps, buffers = int(all.steps[number]), int(all.buffers[number])
            staging = Staging(all.dim, steps, buffers, all.numbers)
        return GroupTile(
            tiles.lane_dim,
            sizes,
            threads,
            Terms(terms),
            bound,
            groups,
            staging,
            self.parts,
            int(self.rows[number]),
            self.in_turn,
        )


def product(numbers: Iterable[Numbers]) -> Numbers:
    """The product of `numbers` as floats, which do not overflow and are exact up to 2^53."""
    return prod(numbers, start=1.0)


def parts_of(extent: Numbers, size: Numbers) -> Numbers:
    """How many parts of a size cover an extent."""
    return -(-extent // size)


def elements_of(operand: Operand, sizes: Sizes) -> Numbers:
    """How many elements of an operand are read at `sizes` points along each dimension."""
    count: Numbers = product(sizes.get(d, 1) for d in operand.alone)
    for window in operand.windows:
        every, reach = 1.0, 1.0
        for d, factor in window:
            points = np.maximum(sizes.get(d, 1), 1)
            every = every * points
            reach = reach + factor * (points - 1)
        count = count * np.minimum(every, reach)
    return count


def largest(numbers: Iterable[Numbers]) -> Numbers:
    """The largest of several numbers, at least 1."""
    found: Numbers = 1
    for n in numbers:
        found = np.maximum(found, n)
    return found
