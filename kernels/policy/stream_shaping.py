"""Schedules of products that are bound by reading one large matrix."""

from __future__ import annotations

from math import ceil, prod

from ..model.extents import expected
from ..model.plan import Loop
from ..model.stages import Stage
from ..primitives.accumulate import accumulate
from ..primitives.prefetch import prefetch
from ..primitives.split import split
from ..primitives.unroll import unroll
from ..primitives.vectorize import vectorize
from .bodies import body_work, widest_element
from .grouping import Group
from .shaping import Shaping
from .streaming import Stream, stream_of


class StreamShaping(Shaping):
    """Loops around a matrix of which each element is used about once."""

    def stream(self, stage: Stage) -> Stream | None:
        """The matrix that a stage streams through, unless overridden; None where it has none."""
        stream = stream_of(stage, self.machine)
        if stream is not None and self.choices.either(f"stream {stage.index}", True):
            return stream
        return None

    def rows_side_by_side(self, group: Group, stream: Stream) -> list[Loop]:
        """Schedule a product that reads a large matrix row by row; its results stay in cache.

        Returns the loops over chunks of results.
        """
        host, writer = group.host, self.writer
        roots = {l.dims[0]: l for l in self.free(host)}
        lanes = self.machine.lanes(widest_element(host))
        extent = host.extents[stream.lane_dim]
        assert isinstance(extent, int)
        width = 2 * lanes
        # As many chunks for each core, of nearly the same size.
        cores = self.machine.cores
        chunks = cores * -(-extent // (cores * self.costs.loops.stream_results))
        chunk = max(width, -(-extent // (chunks * width)) * width)
        together = self.rows_together(host, self.costs.loops.stream_rows)
        rows, row = writer.put(split, roots[stream.row_dim], together)
        columns, inner = writer.put(split, roots[stream.lane_dim], chunk)
        tiles, inner = writer.put(split, inner, width, names=(f"{inner.name}t", f"{inner.name}i"))
        copies, vector = self.split_lanes(inner, lanes)
        taken = (stream.row_dim, stream.lane_dim)
        rest = [l for d, l in roots.items() if d not in taken]
        readers = [l for l in rest if l.dims[0] in stream.readers]
        outer = [l for l in rest if l not in readers]
        writer.reorder([*outer, columns, rows, tiles, row, *readers, copies, vector])
        for loop in (row, *readers, copies):
            writer.put(unroll, loop)
        writer.put(vectorize, vector)
        writer.put(accumulate, row)
        work = self.work(group.maps, self.arithmetic(host, stream))
        self.parallelize([l for l in (*outer, columns) if not l.is_reduction], work)
        return [*outer, columns]

    def blocks(self, group: Group, stream: Stream) -> list[Loop] | None:
        """Schedule a product that reads short rows of a packed matrix into results in registers.

        Where memory holds the matrix, several blocks are read side by side. Where that gives too
        few independent sums, several rows in a step have sums of their own, so that additions need
        not wait. Returns the loops over blocks; None, and nothing is done, if there are none into
        which other stages could be fused.
        """
        host, writer = group.host, self.writer
        roots = {l.dims[0]: l for l in self.free(host)}
        lanes = self.machine.lanes(widest_element(host))
        blocks = [roots[d] for d in stream.block_dims if d in roots]
        side = self.blocks_together(host, stream, blocks)
        steps = [roots[d] for d in stream.step_dims]
        apart = 1 if steps else self.rows_apart(host, stream, side)
        taken = (stream.row_dim, stream.lane_dim, *stream.outer_row_dims, *stream.step_dims)
        rest = [l for d, l in roots.items() if d not in taken]
        readers = [l for l in rest if l.dims[0] in stream.readers and l.extent != 1]
        outer = [l for l in rest if l not in readers]
        parallel = [l for l in outer if not l.is_reduction]
        if self.innermost(host, parallel) is None:  # no place for other stages
            return None
        unrolled: list[Loop] = [*steps]
        if side > 1:
            last = blocks[-1]
            place, at = outer.index(last), parallel.index(last)
            outer[place], block = writer.put(split, last, side)
            parallel[at] = outer[place]
            unrolled.append(block)
        rows = [roots[d] for d in (*stream.outer_row_dims, stream.row_dim)]
        together: list[Loop] = []
        if apart > 1:
            rows[-1], row = writer.put(split, rows[-1], apart)
            together = [row]
        copies, vector = self.split_lanes(roots[stream.lane_dim], lanes)
        unrolled += [*readers, copies]
        writer.reorder([*outer, *rows, *together, *unrolled, vector])
        for loop in together:
            writer.put(unroll, loop, partial=True)
        for loop in unrolled:
            writer.put(unroll, loop)
        writer.put(vectorize, vector)
        writer.put(accumulate, rows[0])
        self.parallelize(parallel, self.streaming_work(group, stream))
        if not steps and side <= self.costs.loops.asked_streams:
            self.ask_ahead(host, stream)
        return parallel

    def arithmetic(self, host: Stage, stream: Stream) -> float:
        """The cycles of a product's arithmetic, which converts or unpacks narrow elements, too."""
        vectors = prod(e for e in host.extents if isinstance(e, int))
        vectors /= self.machine.lanes(widest_element(host))
        parts = body_work(host, self.costs.operations)
        return vectors * sum(part.weight for part in parts if stream.lane_dim in part.dims)

    def streaming_work(self, group: Group, stream: Stream) -> float:
        """The cycles of a product, from which it is decided whether several cores share it.

        A matrix that fits the L2 cache is read from there, as the core that read it last still
        holds it; a larger one is counted as read from memory.
        """
        cycles = self.arithmetic(group.host, stream)
        if stream.size <= self.machine.l2_bytes:
            return max(cycles, stream.cycles(self.machine))
        return self.work(group.maps, cycles)

    def is_far(self, stream: Stream) -> bool:
        """Whether the L2 cache does not hold a matrix."""
        return stream.size > self.costs.loops.cache_filled * self.machine.l2_bytes

    def blocks_together(self, host: Stage, stream: Stream, loops: list[Loop]) -> int:
        """How many blocks of a matrix are read side by side, each in a stream of its own.

        As many as registers hold the results of, where the L2 cache does not hold the matrix.
        `loops` are those over blocks that the stage shares with no other.
        """
        costs = self.costs.loops
        if not loops or not isinstance(loops[-1].extent, int):
            return 1
        count, around = loops[-1].extent, len(loops) > 1 or host in self.nested

        def fits(size: int) -> bool:
            whole = count % size == 0
            return whole or (not around and count >= costs.even_iterations * size)

        sizes = [
            n for n in range(min(stream.most_blocks, 2 * costs.stream_blocks), 1, -1) if fits(n)
        ]
        far = self.is_far(stream)
        wanted = next((n for n in sizes if far and n <= costs.stream_blocks), 1)
        others = [n for n in (*sizes, 1) if n != wanted]
        return self.choices.choose(f"blocks {host.index}", wanted, lambda: others, most=3)

    def rows_apart(self, host: Stage, stream: Stream, side: int) -> int:
        """How many rows of a step have separate sums, if `side` blocks are read side by side."""
        extents = [expected(e) for e in host.extents]
        lanes = self.machine.lanes(widest_element(host))
        chains = side * prod(extents[d] for d in (*stream.readers, stream.lane_dim)) // lanes
        wanted = 2 * self.machine.fma_latency * self.machine.full_width_units
        most = (self.machine.vector_registers - 2 * self.costs.tiles.streaming_registers) // chains
        most = max(1, min(ceil(wanted / chains), most))
        count = self.even_rows(extents[stream.row_dim], chains, most)
        return self.rows_together(host, count)

    def even_rows(self, rows: int, chains: int, most: int) -> int:
        """How many rows have separate sums: at most `most`, preferably a divisor of `rows`."""
        least = self.machine.fma_latency * self.machine.full_width_units
        even = (n for n in range(most, 0, -1) if rows % n == 0 and n * chains >= least)
        return next(even, most)

    def ask_ahead(self, host: Stage, stream: Stream) -> None:
        """Prefetch the blocks of a matrix that no cache holds.

        From the L3 cache the processor itself prefetches lines early enough: further prefetches
        would only take the place of loads.
        """
        costs = self.costs.loops
        is_held = stream.size <= costs.cache_filled * self.machine.l3_bytes
        pays = not is_held and bool(costs.prefetch_passes)
        if self.choices.either(f"prefetch {host.index}", pays):
            ahead = costs.prefetch_bytes // widest_element(host)
            self.writer.put(prefetch, stream.number, host, ahead)

    def rows_together(self, stage: Stage, count: int) -> int:
        """How many rows of a matrix are read in one step: `count`, unless overridden."""
        return self.choices.choose(
            f"rows {stage.index}",
            count,
            lambda: [n for n in (2 * count, count // 2, count + 1, count - 1) if n > 0],
            most=4,
        )
