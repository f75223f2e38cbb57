"""From the loop-nest trees of a kernel to scf, memref, vector and arith."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from ...dialects import arith, scf
from ...ir.core import Block as IRBlock
from ...ir.core import Operation, Region, Value
from ...ir.types import VectorType, index
from ..model.nest import Node
from ..model.plan import Loop, Plan
from ..model.stages import Access, Stage
from .accumulators import Accumulation
from .addresses import Address, Addresses, Lane, Position
from .body import Bodies
from .code import Code, Scope, make
from .registers import Block, Registers
from .temporaries import Temporaries

Number = int | Value
"""An extent during emission: known, or a value."""


class Emission:
    """Writes the nests of one kernel; see the parts that it is made of."""

    def __init__(self, plan: Plan, code: Code, use_fma: bool) -> None:
        self.plan = plan
        self.code = code
        self.addresses = Addresses(code, plan)
        self.registers = Registers(code, self.addresses, plan.prefetched)
        self.bodies = Bodies(code, self.addresses, self.registers, use_fma)
        self.positions = {stage: Position(stage) for stage in plan.stages}
        self.extents: dict[Loop, Number] = {}
        self.active: dict[Stage, Accumulation] = {}
        self.temporaries = Temporaries(code, self.addresses)
        self.copies: dict[Loop, int] = {}
        """How many iterations of an unrolled loop are being written."""
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
                self.extents[loop] = code.size(loop.extent)
        self.children([root])
        self.registers.flush()
        code.scope = code.entry

    def children(self, children: list[Node | Stage]) -> None:
        for child in children:
            if isinstance(child, Stage):
                self.point(child)
            else:
                self.node(child)

    # -- loops ---------------------------------------------------------------------------------

    def node(self, node: Node) -> None:
        """A loop, and the accumulations that start with it."""
        begun = []
        for loop in node.loops:
            if loop.accumulates and loop.stage not in self.active:
                begun.append(self.accumulation(loop))
        match node.kind:
            case "vector":
                self.vectorized(node)
            case "unroll":
                self.unrolled(node)
            case _:
                self.sequential(node)
        for accumulation in begun:
            del self.active[accumulation.stage]
            accumulation.end()

    def accumulation(self, loop: Loop) -> Accumulation:
        stage = loop.stage
        order = self.plan.order[stage]
        accumulation = Accumulation(stage, self.code, self.addresses, self.registers)
        if self.extent(loop) != 0:
            accumulation.begin(self.tile(stage, order[order.index(loop) :]))
        self.active[stage] = accumulation
        return accumulation

    def extent(self, loop: Loop) -> Number:
        """The extent of a loop where it stands; known for an inner half outside the outer."""
        known = self.extents.get(loop.span)
        return known if known is not None else self.code.size(loop.extent)

    def sequential(self, node: Node) -> None:
        """A loop over whole steps, then the remainder."""
        lead = node.loops[0]
        extent, step = self.extent(lead), lead.step
        if isinstance(extent, int):
            full, rest = divmod(extent, step)
            if full == 1:
                self.once(node, 0, step)
            elif full:
                self.loop(node, 0, full * step, step, lambda iv: step)
            if rest:
                self.once(node, full * step, rest)
        elif lead.rest is None:
            self.loop(node, 0, extent, 1, lambda iv: 1)
        else:
            self.dynamic(node, extent, step)

    def dynamic(self, node: Node, extent: Value, step: int) -> None:
        """As above with an extent known at run time."""
        code = self.code
        granules = [g for loop in node.loops if (g := self.granule(loop)) is not None]
        granule = min(granules, default=None)
        if granule is None:  # plain loops inside adapt to any extent
            self.loop(
                node, 0, extent, step,
                lambda iv: code.minimum(step, code.binary(arith.SubI, extent, iv)),
            )  # fmt: skip
            return
        whole = code.binary(arith.DivUI, extent, code.index(step))
        main = code.multiply(whole, step)
        self.loop(node, 0, main, step, lambda iv: step)
        if granule == 1:
            for inner in halves(step):
                rest = code.binary(arith.SubI, extent, code.as_value(main))
                count = code.binary(arith.DivUI, rest, code.index(inner))
                end = code.add(main, code.multiply(count, inner)) if inner > 1 else extent
                self.loop(node, main, end, inner, lambda iv, inner=inner: inner)
                main = end
        else:
            self.loop(
                node, main, extent, granule,
                lambda iv: code.minimum(granule, code.binary(arith.SubI, extent, iv)),
            )  # fmt: skip

    def granule(self, outer: Loop) -> int | None:
        """The step of a remainder loop: a vector where there is one inside, else one.

        None if the first loop inside is a plain one, which needs no constant extent.
        """
        order = self.plan.order[outer.stage]
        inside = [loop for loop in order if _stems_from(loop, outer.rest)]
        if inside[0].kind in ("for", "parallel"):
            return None
        last = inside[-1]
        return last.extent if last.kind == "vector" else 1  # type: ignore[return-value]

    def once(self, node: Node, offset: int, inner: Number) -> None:
        """One iteration, in line."""
        for loop in node.loops:
            if loop.rest is not None:
                self.extents[loop.rest] = inner
            self.positions[loop.stage].offsets[loop] = offset
        heap = self.temporaries.enter(node)
        self.children(node.children)
        if heap:
            self.registers.flush()
            self.temporaries.leave(heap)
        for loop in node.loops:
            del self.positions[loop.stage].offsets[loop]

    def unrolled(self, node: Node) -> None:
        """The iterations one after the other."""
        parts = list(self.parts(node.loops[0]))
        for loop in node.loops:
            self.copies[loop] = len(parts) if loop.step == 1 else 0
        for offset, inner in parts:
            for loop in node.loops:
                if loop.partial:
                    self.positions[loop.stage].partials[loop] = offset
            self.once(node, offset, inner)
        for loop in node.loops:
            self.positions[loop.stage].partials.pop(loop, None)

    def parts(self, loop: Loop) -> Iterator[tuple[int, Number]]:
        """(offset, extent of the inner half) for each iteration of an unrolled loop."""
        extent, step = self.extent(loop), loop.step
        if not isinstance(extent, int):
            yield 0, extent
            return
        for i in range(0, extent - step + 1, step):
            yield i, step
        if extent % step:
            yield extent - extent % step, extent % step

    def vectorized(self, node: Node) -> None:
        """The iterations as lanes."""
        if self.extent(node.loops[0]) == 0:
            return
        for loop in node.loops:
            self.positions[loop.stage].lane = self.lane(loop)
        self.children(node.children)
        for loop in node.loops:
            self.positions[loop.stage].lane = None

    def lane(self, loop: Loop) -> Lane | None:
        """The vector's width and mask; a remainder gets the least power of two that holds it.

        The lanes of a reduction keep their number: they are accumulators.
        """
        extent = self.extent(loop)
        assert isinstance(loop.extent, int)
        width = power_of_two(loop.extent)
        if isinstance(extent, int) and not loop.is_reduction:
            width = power_of_two(extent)
        if width == 1:
            return None
        count = None if extent == width else extent
        return Lane(loop, width, count, loop.is_reduction)

    # -- scf -----------------------------------------------------------------------------------

    def loop(
        self, node: Node, lower: Number, upper: Number, step: int, inner: Callable[[Value], Number]
    ) -> None:
        """A loop as an operation; `inner` tells the inner half's extent."""
        if upper == lower:
            return
        touched, written = self.buffers(node)
        self.registers.flush(touched)
        if node.kind == "parallel":
            self.parallel(node, lower, upper, step, inner, written)
        else:
            self.for_loop(node, lower, upper, step, inner, written)
        self.registers.forget(written)

    def for_loop(self, node, lower, upper, step, inner, written) -> None:
        code = self.code
        carried = [v for a in self.active.values() for v in a.values()]
        block = IRBlock([index, *(v.type for v in carried)])
        bounds = [code.as_value(v) for v in (lower, upper, step)]
        op = make(scf.For, (*bounds, *carried), [v.type for v in carried])
        op.regions = (Region([block]),)
        op.regions[0].parent = op
        code.put(op)
        self._carry(block.args[1:])
        self._body(op, node, block, [block.args[0]], inner, written)
        results = [v for a in self.active.values() for v in a.values()]
        block.append(make(scf.Yield, results))
        self._carry(op.results)
        for result in op.results:
            code.depths[result] = code.scope.depth

    def parallel(self, node, lower, upper, step, inner, written) -> None:
        """A parallel loop, together with those directly inside that have no remainder."""
        code = self.code
        nodes, bounds = [node], [(lower, upper, step)]
        while (below := self._parallel_below(nodes[-1])) is not None:
            extent = self.extent(below.loops[0])
            nodes.append(below)
            bounds.append((0, extent, below.loops[0].step))
        block = IRBlock([index] * len(nodes))
        columns = [[code.as_value(b[i]) for b in bounds] for i in range(3)]
        op = code.put(scf.Parallel(*columns, [], Region([block])))
        inners = [inner] + [lambda iv, n=n: n.loops[0].step for n in nodes[1:]]
        self._body(op, nodes, block, list(block.args), inners, written)
        block.append(scf.Reduce([], []))

    def _parallel_below(self, node: Node) -> Node | None:
        match node.children:
            case [Node() as below] if below.kind == "parallel":
                extent = self.extents.get(below.loops[0].span)
                if extent is not None and below.loops[0].step == 1:
                    return below
                if isinstance(extent, int) and extent % below.loops[0].step == 0:
                    return below
        return None

    def _body(self, op, nodes, block, values, inners, written) -> None:
        """The loop's block: enter, write the children, carry out delayed stores, leave."""
        code, outside = self.code, self.code.scope
        if isinstance(nodes, Node):
            nodes, inners = [nodes], [inners]
        anchor, outside.anchor = outside.anchor, op
        code.scope = Scope(block, outside)
        code.scope.written = written
        for value in block.args:
            code.depths[value] = code.scope.depth
        for node, value, inner in zip(nodes, values, inners, strict=True):
            extent = inner(value)
            for loop in node.loops:
                if loop.rest is not None:
                    self.extents[loop.rest] = extent
                self.positions[loop.stage].enter(loop, value)
        heap = self.temporaries.enter(nodes[-1])
        self.children(nodes[-1].children)
        self.registers.flush()
        self.temporaries.leave(heap)
        for node in nodes:
            for loop in node.loops:
                self.positions[loop.stage].leave(loop)
        code.scope = outside
        outside.anchor = anchor

    def _carry(self, values) -> None:
        rest = iter(values)
        for accumulation in self.active.values():
            accumulation.replace(rest)

    def buffers(self, node: Node) -> tuple[frozenset[Value], frozenset[Value]]:
        """The buffers that a subtree touches, and those that it writes."""
        if node in self._buffers:
            return self._buffers[node]
        base = self.registers.base
        touched, written = set(), set()
        for stage in node.stages():
            touched.update(base(a.value) for a in stage.accesses if not a.is_scalar)
            written.update(base(a.value) for a in stage.outputs)
        self._buffers[node] = frozenset(touched), frozenset(written)
        return self._buffers[node]

    # -- stages --------------------------------------------------------------------------------

    def tile(self, stage: Stage, loops: list[Loop]) -> Iterator[Position]:
        """The points of the unrolled and vectorized loops that results depend on, in order."""
        at = self.positions[stage]
        if not loops:
            yield at
            return
        loop, *rest = loops
        if loop.kind == "vector":
            if self.extent(loop) == 0:
                return
            at.lane = self.lane(loop)
            yield from self.tile(stage, rest)
            at.lane = None
            return
        parts = self.parts(loop)
        if loop.kind != "unroll" and not isinstance(self.extent(loop), int):
            parts = iter([(0, loop.step)])
        elif loop.kind != "unroll" or (loop.is_reduction and not loop.partial):
            parts = islice(parts, 1)
        for offset, inner in parts:
            if loop.rest is not None:
                self.extents[loop.rest] = inner
            if loop.partial:
                at.partials[loop] = offset
            at.offsets[loop] = offset
            yield from self.tile(stage, rest)
            del at.offsets[loop]
        at.partials.pop(loop, None)

    def point(self, stage: Stage) -> None:
        """The body of a stage at the current point."""
        at = self.positions[stage]
        accumulation = self.active.get(stage)
        known: dict[Value, Value] = {}
        for access in stage.inputs:
            argument = access.argument
            if argument.has_uses or stage.body.last in argument.users:
                known[argument] = access.value if access.is_scalar else self.load(access, at)
        places = [
            self.addresses.of(out, at) if out.coefficients is not None else None
            for out in stage.outputs
        ]
        for number, (out, place) in enumerate(zip(stage.outputs, places, strict=True)):
            if not out.argument.has_uses:
                continue
            if accumulation is not None and place is not None:
                known[out.argument] = accumulation.get(number, place, at)
            else:
                known[out.argument] = self.load(out, at)
        results = self.bodies.run(stage, known, at)
        for number, (out, place) in enumerate(zip(stage.outputs, places, strict=True)):
            value = results[number]
            if place is not None and place.width and not isinstance(value.type, VectorType):
                value = self.code.splat(value, place.width)
            if accumulation is not None and place is not None:
                value = self.masked(value, known.get(out.argument), at)
                accumulation.set(number, place, at, value)
            elif place is None:
                self.registers.store_anywhere(out, at, value)
            else:
                self.registers.store(place, value)

    def load(self, access: Access, at: Position) -> Value:
        if access.coefficients is None:
            return self.registers.load_anywhere(access, at)
        address = self.addresses.of(access, at)
        return self.registers.load(address, self._block(address, at))

    def _block(self, address: Address, at: Position) -> Block | None:
        """The addresses that unrolled copies will want next to this one, of distant lanes."""
        if address.lane in (0, 1) or isinstance(address.count, Value):
            return None
        for loop, factor in self.addresses.linear(address.access):
            count = self.copies.get(loop, 0)
            if factor == 1 and 2 <= count <= address.width and not at.offsets.get(loop):
                return Block(count, 1)
        return None

    def masked(self, value: Value, before: Value | None, at: Position) -> Value:
        """A reduction's new value in the active lanes, the old one in the others."""
        lane = at.lane
        if before is not None and isinstance(before.type, VectorType):
            if not isinstance(value.type, VectorType):
                value = self.code.splat(value, before.type.num_elements)
            if lane is not None and lane.is_reduction and lane.count is not None:
                mask = self.code.mask(lane.count, lane.width)
                return self.code.value(make(arith.Select, (mask, value, before), (value.type,)))
        return value


def _stems_from(loop: Loop, whole: Loop | None) -> bool:
    """Whether a loop is a part of another, through splits."""
    if whole is None:
        return False
    if loop is whole:
        return True
    return whole.parts is not None and any(_stems_from(loop, part) for part in whole.parts)


def halves(step: int) -> Iterator[int]:
    """The steps of what an unknown extent leaves of a loop: half, a quarter and so on down to 1."""
    while step > 1:
        step //= 2
        yield step


def power_of_two(number: int) -> int:
    """The least power of two that is not less."""
    return 1 << max(0, number - 1).bit_length()
