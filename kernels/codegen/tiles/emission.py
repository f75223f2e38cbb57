"""From the loop-nest trees of a kernel to loops over tiles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from math import prod

from ....dialects import arith, scf
from ....dialects.gpu.attributes import MAPPING, BlockMapping
from ....dialects.marks import THREADS
from ....ir.attributes import ArrayAttr, IntegerAttr
from ....ir.core import Block as IRBlock
from ....ir.core import BlockArgument, Operation, Region, Value
from ....ir.types import i64, index
from ....targets.processor import Processor
from ...model.lanes import unvectorizable
from ...model.nest import Node, is_tile
from ...model.origins import with_origin
from ...model.plan import Loop, Plan
from ...model.stages import Stage
from ..code import Code, Scope, make
from .accumulators import Accumulation
from .axes import Axis, Inner, Number, axes_of, inner_extent
from .bodies import Bodies
from .caches import Caches
from .contraction import Contractions
from .extents import Extents, Once
from .memory import Memory
from .places import Coordinates, Position
from .stages import Tiles
from .temporaries import Temporaries
from .views import Views


class Emission:
    """Writes the loop nests of one kernel."""

    def __init__(self, plan: Plan, code: Code, machine: Processor) -> None:
        self.plan = plan
        self.code = code
        self.machine = machine
        self.coordinates = Coordinates(plan)
        views = Views(code, self.coordinates)
        self.memory = Memory(code, self.coordinates, views, plan.prefetched, machine.vector_bits)
        bodies = Bodies(code, self.coordinates, self.memory, machine.has_fma)
        self.tiles = Tiles(code, self.memory, bodies, Contractions(code, self.memory, bodies, plan))
        self.positions = {stage: Position(stage) for stage in plan.stages}
        self.extents = Extents(plan, code, machine)
        self.active: dict[Stage, Accumulation] = {}
        self.temporaries = Temporaries(code, self.coordinates, views)
        self.caches = Caches(plan, code, self.memory, self.positions, self.extents.known)
        self._buffers: dict[Node, tuple[frozenset[Value], frozenset[Value]]] = {}

    def nest(self, root: Node | Stage, before: Operation) -> None:
        """Write one nest before an operation."""
        code = self.code
        block = before.parent
        assert block is not None
        code.scope = Scope(block, code.entry, before)
        code.loc = before.loc
        for stage in [root] if isinstance(root, Stage) else root.stages():
            for loop in self.plan.roots[stage]:
                self.extents.known[loop] = code.size(loop.extent)
        self.extents.masks = self.memory.grouped = _has_groups(root, self.machine)
        self.children([root])
        self.memory.flush()
        code.scope = code.entry

    def children(self, children: list[Node | Stage]) -> None:
        for child in children:
            if isinstance(child, Stage):
                self.tile(child)
            elif is_tile(child):
                for stage in child.stages():
                    self.tile(stage)
            else:
                self.node(child)

    # -- loops ---------------------------------------------------------------------------------

    def node(self, node: Node) -> None:
        """Write a loop, with the accumulations that start at it."""
        begun = []
        for loop in node.loops:
            if loop.accumulates and loop.stage not in self.active:
                begun.append(self.accumulation(loop))
        if node.is_unrolled or self.is_small(node.loops[0]):
            self.unrolled(node)
        else:
            self.sequential(node)
        for accumulation in begun:
            del self.active[accumulation.stage]
            accumulation.end()

    def is_small(self, loop: Loop) -> bool:
        """Whether a loop is unrolled around the tile inside it, given that tile's current size."""
        extent, bodies = self.extents.extent(loop), self.bodies(loop)
        if not isinstance(extent, int) or bodies is None:
            return False
        return bodies * extent <= loop.most_bodies

    def bodies(self, loop: Loop) -> int | None:
        """How many copies of the body the tile inside a loop has; None if its size is not known."""
        order = self.plan.order[loop.stage]
        inside = [one for one in order[order.index(loop) + 1 :] if one.is_unrolled]
        sizes = [self.extents.extent(one) for one in inside]
        known = [size for size in sizes if isinstance(size, int)]
        return prod(known) if len(known) == len(sizes) else None

    def chains(self, stage: Stage) -> int:
        """How many partial sums each result has, to which unrolled steps add in turn."""
        for loop in self.plan.order[stage]:
            if loop.sums and self.is_small(loop):
                return max(1, loop.sums // (self.bodies(loop) or loop.sums))
        return 1

    def accumulation(self, loop: Loop) -> Accumulation:
        stage = loop.stage
        order = self.plan.order[stage]
        accumulation = self.tiles.accumulation(stage, self.chains(stage))
        if self.extents.extent(loop) != 0:
            accumulation.begin(self.points(stage, order[order.index(loop) :]))
        self.active[stage] = accumulation
        return accumulation

    def sequential(self, node: Node) -> None:
        """Write the iterations of a loop: whole steps, then the rest (see `Extents.runs`)."""
        for run in self.extents.runs(node):
            if isinstance(run, Once):
                self.once(node, run.lower, run.inner)
            else:
                self.loop(node, run.lower, run.upper, run.step, run.inner)

    def once(self, node: Node, offset: Number, inner: Number) -> None:
        """Write a single iteration without a loop."""
        self.extents.give(node, inner)
        for loop in node.loops:
            self.positions[loop.stage].put(loop, offset)
            self.number_part(loop, offset)
        heap = self.temporaries.enter(node)
        made = self.caches.enter([node])
        self.caches.begin(node)
        self.children(node.children)
        self.caches.leave(made)
        if heap:
            self.memory.flush()
            self.temporaries.leave(heap)
        for loop in node.loops:
            self.positions[loop.stage].remove(loop)

    def number_part(self, loop: Loop, at: Number) -> None:
        """Say where the iteration `at` of a loop puts its partial result.

        Only a loop that is factored has these: each iteration adds to a slot of its own, and the
        slots are added later.
        """
        if not loop.is_factored:
            return
        if isinstance(at, int):
            part: Number = at // loop.step
        elif loop.step == 1:
            part = at
        else:
            part = self.code.binary(arith.DivUI, at, self.code.index(loop.step))
        for out in loop.stage.outputs:
            self.coordinates.slots[out] = part

    def unrolled(self, node: Node) -> None:
        """Write all iterations of an unrolled loop, one after the other."""
        loop = node.loops[0]
        accumulation = self.active.get(loop.stage) if loop.sums else None
        for step, (offset, inner) in enumerate(self.extents.parts(loop)):
            if accumulation is not None:
                accumulation.chain = step % accumulation.chains
            self.once(node, offset, inner)
        if accumulation is not None:
            accumulation.chain = 0

    # -- scf -----------------------------------------------------------------------------------

    def loop(self, node: Node, lower: Number, upper: Number, step: int, inner: Inner) -> None:
        """Write a loop as an operation; `inner` is the extent of its inner half."""
        if upper == lower:
            return
        touched, written = self.buffers(node)
        self.memory.flush(touched)
        if node.at_once:
            self.parallel(node, lower, upper, step, inner, written)
        else:
            self.caches.start(node, lower, upper, step, inner)
            self.for_loop(node, lower, upper, step, inner, written)
            self.caches.stop(node)
        self.memory.forget(written)

    def for_loop(self, node, lower, upper, step, inner, written) -> None:
        code = self.code
        carried = [v for a in self.active.values() for v in a.values()]
        block = IRBlock([index, *(v.type for v in carried)])
        bounds = [code.as_value(v) for v in (lower, upper, step)]
        op = make(scf.For, (*bounds, *carried), [v.type for v in carried])
        op.regions = (Region([block]),)
        op.regions[0].parent = op
        code.put(op)
        op.loc = with_origin(op.loc, node.loops)
        for binding in (one.binding for one in node.loops if one.binding.mark):
            op.attributes[binding.mark] = IntegerAttr(binding.value, i64)
        _name(block.args[0], node)
        self._carry(block.args[1:])
        self._body(op, node, block, [block.args[0]], inner, written)
        results = [v for a in self.active.values() for v in a.values()]
        block.append(make(scf.Yield, results))
        self._carry(op.results)
        for result in op.results:
            code.depths[result] = code.scope.depth

    def parallel(self, node, lower, upper, step, inner, written) -> None:
        """Write a parallel loop and those directly inside of it as one `scf.parallel`.

        A loop with a remainder, and what is inside of it, is not part of that operation.
        """
        code = self.code
        nodes, bounds = [node], [(lower, upper, step)]
        inners = [inner]
        self.extents.give(node, inner if isinstance(inner, int) else None)
        while (below := self._parallel_below(nodes[-1])) is not None:
            nodes.append(below)
            bounds.append((0, self.extents.bound(below.loops[0]), below.loops[0].step))
            inners.append(self.extents.share(below))
            self.extents.give(below, inners[-1] if isinstance(inners[-1], int) else None)
        block = IRBlock([index] * len(nodes))
        for value, one in zip(block.args, nodes, strict=True):
            _name(value, one)
        columns = [[code.as_value(b[i]) for b in bounds] for i in range(3)]
        op = code.put(scf.Parallel(*columns, [], Region([block])))
        op.loc = with_origin(op.loc, (loop for one in nodes for loop in one.loops))
        axes = [one.loops[0].binding.axis for one in nodes]
        if all(axes):
            op.attributes[MAPPING] = ArrayAttr(tuple(map(BlockMapping, axes)))
        threads = max(one.threads for node in nodes for one in node.loops)
        if threads:
            op.attributes[THREADS] = IntegerAttr(threads, i64)
        self._body(op, nodes, block, list(block.args), inners, written)
        block.append(scf.Reduce([], []))

    def _parallel_below(self, node: Node) -> Node | None:
        match node.children:
            case [Node() as below] if below.at_once:
                extent = self.extents.known.get(below.loops[0].span)
                if extent is None and self.extents.masks:
                    extent = self.extents.bound(below.loops[0])
                if extent is not None and (below.loops[0].step == 1 or self.extents.masks):
                    return below
                if isinstance(extent, int) and extent % below.loops[0].step == 0:
                    return below
        return None

    def _body(self, op, nodes, block, values, inners, written) -> None:
        """Write the block of a loop: its children, then the stores that were delayed."""
        code, outside = self.code, self.code.scope
        if isinstance(nodes, Node):
            nodes, inners = [nodes], [inners]
        anchor, outside.anchor = outside.anchor, op
        code.scope = Scope(block, outside)
        code.scope.written = written
        for value in block.args:
            code.depths[value] = code.scope.depth
        for node, value, inner in zip(nodes, values, inners, strict=True):
            self.extents.give(node, inner_extent(inner, value))
            for loop in node.loops:
                self.positions[loop.stage].values[loop] = value
                self.number_part(loop, value)
        heap = self.temporaries.enter(nodes[-1])
        made = self.caches.enter(nodes, nodes[0].at_once)
        for node in nodes:
            self.caches.begin(node)
        self.children(nodes[-1].children)
        self.memory.flush()
        for node in nodes:
            self.caches.end(node)
        self.caches.leave(made)
        self.temporaries.leave(heap)
        for node in nodes:
            for loop in node.loops:
                del self.positions[loop.stage].values[loop]
        code.scope = outside
        outside.anchor = anchor

    def _carry(self, values) -> None:
        rest = iter(values)
        for accumulation in self.active.values():
            accumulation.replace(rest)

    def buffers(self, node: Node) -> tuple[frozenset[Value], frozenset[Value]]:
        """(the buffers that a subtree touches, those that it writes)."""
        if node not in self._buffers:
            self._buffers[node] = self._used(node)
        touched, written = self._buffers[node]
        return touched, written | self.caches.filled_in(node)

    def _used(self, node: Node) -> tuple[frozenset[Value], frozenset[Value]]:
        base = self.coordinates.base
        touched, written = set(), set()
        for stage in node.stages():
            touched.update(base(a.value) for a in stage.accesses if not a.is_scalar)
            written.update(base(a.value) for a in stage.outputs)
        return frozenset(touched), frozenset(written)

    # -- stages --------------------------------------------------------------------------------

    def tile(self, stage: Stage) -> None:
        """Write a stage for the tile at the current point."""
        around, self.code.loc = self.code.loc, stage.op.loc
        at = self.positions[stage]
        order = self.plan.order[stage]
        inside = [loop for loop in order if loop not in at.values and loop not in at.offsets]
        accumulation = self.active.get(stage)
        own = accumulation is None and any(loop.accumulates for loop in inside)
        if own or (accumulation is None and self.tiles.reads_results(stage, inside)):
            accumulation = self.tiles.accumulation(stage)
            accumulation.begin(self.points(stage, inside))
            own = True
        for _, axes in self.points(stage, inside, every=True):
            if all(axis.size for axis in axes):
                self.tiles.write(stage, at, axes, accumulation)
        if own and accumulation is not None:
            accumulation.end()
        self.code.loc = around

    def points(
        self, stage: Stage, loops: Sequence[Loop], every: bool = False
    ) -> Iterator[tuple[Position, list[Axis]]]:
        """The tiles that loops make of a stage, in order; the position is set to each in turn.

        Loops that repeat results count once, unless `every` point is wanted.
        """
        at = self.positions[stage]
        inner = len(loops)
        while inner and loops[inner - 1].in_tile:
            inner -= 1
        if unvectorizable(stage, self.machine) is not None:
            inner = len(loops)
        head, tail = loops[:inner], loops[inner:]
        if every:
            repeated = self.tiles.repeated(stage, tail)
            head = [*head, *repeated]
            tail = [loop for loop in tail if loop not in repeated]
        yield from self._points(at, head, tail, every)

    def _points(self, at: Position, head, tail, every) -> Iterator[tuple[Position, list[Axis]]]:
        if not head:
            axes = axes_of(tail, self.extents.extent, self.extents.masked)
            if all(axis.size for axis in axes):
                yield at, axes
            return
        loop, *rest = head
        parts = self.extents.parts(loop)
        if not loop.in_tile and not isinstance(self.extents.extent(loop), int):
            parts = iter([(0, loop.step)])
        elif not every and (not loop.in_tile or loop.is_reduction):
            parts = islice(parts, 1)
        for offset, inner in parts:
            if loop.rest is not None:
                self.extents.known[loop.rest] = inner
            at.offsets[loop] = offset
            yield from self._points(at, rest, tail, every)
            del at.offsets[loop]


def _name(value: BlockArgument, node: Node) -> None:
    """Give an induction variable the name that the schedule gives the loop."""
    if node.loops[0].name:
        value.name_hint = node.loops[0].name


def _has_groups(root: Node | Stage, machine: Processor) -> bool:
    """Whether groups of threads execute a nest and can mask all its operations."""
    if isinstance(root, Stage) or not any(loop.threads for loop in root.loops):
        return False
    return not any(unvectorizable(stage, machine) for stage in root.stages())
