"""The register tile of a stage, from an analytical model of the core.

A tile is a block of results that one pass through the innermost straight-line code updates:
lanes along one dimension, copies along a few others. `tile_costs.py` has the cost of each; the
cheapest is taken.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import cached_property
from math import prod

from ..model.steps import power_of_two
from .operands import form_of
from .register_tile import Tile
from .tile_costs import TileEstimate

ALONG = (1, 2, 3, 4, 6, 8)
ACROSS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 24, 28)
"""The numbers of copies that are tried, along the lanes' dimension and along others."""


class TileModel(TileEstimate):
    """The register tiles of one stage that are considered, and the best of them."""

    @property
    def question(self) -> tuple[Hashable, ...]:
        """A cache key: stages with equal keys, of one kernel and machine, have equal tiles."""
        loops = tuple((l.dims, str(l.extent)) for l in self.loops)
        return (form_of(self.stage), loops, self.fixed, tuple(sorted(self.around)))

    def best(self) -> Tile:
        """The tile of the least cost."""
        best: Tile | None = None
        for tile in self._all:
            if best is None or tile.cycles < best.cycles * self.costs.better:
                best = tile
        assert best is not None
        return best

    def others(self) -> list[Tile]:
        """All tiles but the best, those of the least cost first."""
        best = self.best()
        found = [tile for tile in self._all if tile != best]
        return sorted(found, key=lambda tile: tile.cycles)

    @cached_property
    def _all(self) -> list[Tile]:
        return list(self.candidates())

    def candidates(self) -> Iterator[Tile]:
        """All tiles that are considered, with their costs."""
        for dim in self.lane_dims():
            lanes = self.full_lanes if dim is not None else 1
            if dim is not None and self.known[dim]:
                lanes = min(lanes, power_of_two(self.extents[dim]))
            seen: set[tuple[tuple[int, int], ...]] = set()
            for copies in self.copy_choices(dim, lanes):
                key = tuple(sorted(copies.items()))
                if key not in seen:
                    seen.add(key)
                    yield Tile(dim, lanes, copies, self.cycles(Tile(dim, lanes, copies)))

    def lane_dims(self) -> list[int | None]:
        """The dimensions that can become lanes; [None] where only scalars are possible."""
        found: list[int | None] = []
        for dim, kind in enumerate(self.stage.kinds):
            if dim in self.fixed or self.extents[dim] < 2:
                continue
            if kind == "reduction":
                # Where the body uses the index, each lane would compute something else.
                if not self.stage.is_reassociable or dim in self.stage.indexed_dims:
                    continue
                strides = {o.strides[dim] for o in self.inputs}
                if 1 not in strides or not strides <= {0, 1}:
                    continue
            found.append(dim)
        contiguous = [
            d for d in found
            if d is not None and any(o.strides[d] == 1 for o in (*self.inputs, *self.outputs))
        ]  # fmt: skip
        # Scattered stores are slower than plain ones.
        scattered = [
            d for d in found
            if d is not None and any(o.strides[d] not in (0, 1) for o in self.outputs)
        ]  # fmt: skip
        if not contiguous:
            found = [d for d in found if d not in scattered]
        return list(contiguous or found) or [None]

    def copy_choices(self, lane_dim: int | None, lanes: int) -> Iterator[dict[int, int]]:
        """The register tiles tried: how many copies of a vector lie along each dimension.

        These are the lanes' dimension and up to two others.
        """
        stage = self.stage
        others = [
            d for d, kind in enumerate(stage.kinds)
            if d != lane_dim and kind == "parallel" and d not in self.fixed and self.extents[d] > 1
        ]  # fmt: skip
        across = self._transposable(lane_dim, others)
        if across is not None:
            for along in {1, lanes}:
                yield {across: along} if along > 1 else {}
            return
        others = [d for d in others if self.reuses(d) or self._fills_gaps(d, lane_dim)]
        pairs = [(a, b) for i, a in enumerate(others) for b in self._nearest_first(others[i + 1 :])]
        groups = pairs or [(a,) for a in others] or [()]
        limit = self.registers - self.costs.streaming_registers
        if lane_dim is not None and stage.kinds[lane_dim] == "reduction" and self.large:
            limit = self.costs.streams  # rows that come from memory
        if self.matrices is not None:
            limit = self.machine.tiles.rows * self.machine.tiles.tile_registers
        for along in self._factors(lane_dim, lanes, ALONG):
            start = {lane_dim: along} if lane_dim is not None else {}
            for group in groups:
                for rest in self._combinations(group, max(1, limit // along)):
                    if self._rows(rest) <= self.costs.far_rows:
                        yield {d: n for d, n in {**start, **rest}.items() if n > 1}  # type: ignore[misc]

    @property
    def _across(self) -> tuple[int, ...]:
        """The numbers of copies across the lanes: whole tiles, too, where registers hold these."""
        rows = self.machine.tiles.rows
        return (*ACROSS, *range(2 * rows, 5 * rows, rows)) if self.matrices else ACROSS

    def _rows(self, copies: dict[int, int]) -> int:
        """How many rows an elementwise stage writes at once."""
        if self.has_reduction:
            return 1
        far = self.costs.far_bytes // self.bytes
        return max(prod(n for d, n in copies.items() if o.strides[d] >= far) for o in self.outputs)

    def _nearest_first(self, dims: list[int]) -> list[int]:
        """The dimensions, innermost first, so that neighbours in memory are stored together.

        Those that windows slide along come last: the shared elements would take too many registers.
        """
        windows = {
            d
            for operand in self.inputs
            for window in operand.windows
            if sum(self.extents[k] > 1 for k, _ in window) > 1
            for d, _ in window
        }
        return sorted(dims, key=lambda d: d if d in windows else -d)

    def _transposable(self, lane_dim: int | None, others: list[int]) -> int | None:
        """A dimension along which an operand is contiguous whose lanes are strided; else None.

        Only in elementwise stages: a block of it is loaded by rows and transposed in registers.
        """
        if lane_dim is None or self.has_reduction:
            return None
        for operand in self.inputs:
            if operand.strides[lane_dim] > 1:
                for d in others:
                    if operand.strides[d] == 1:
                        return d
        return None

    def _combinations(self, group: tuple[int, ...], limit: int) -> Iterator[dict[int, int]]:
        if not group:
            yield {}
            return
        head, *rest = group
        for factor in self._factors(head, 1, self._across):
            if factor > limit:
                break
            for inner in self._combinations(tuple(rest), limit // factor):
                yield {head: factor, **inner}

    def _factors(self, dim: int | None, unit: int, choices: tuple[int, ...]) -> list[int]:
        if dim is None:
            return [1]
        most = -(-self.extents[dim] // unit)
        return [n for n in choices if n <= most] or [1]
