"""Stages: the linalg operations of a kernel, seen as iteration spaces and memory accesses.

All addresses are flat: an access is the sum of each dimension times its *coefficient*, in
elements of the buffer. Splitting a loop leaves coefficients alone, and contiguous
dimensions can be collapsed without looking at shapes again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from ...dialects import arith, memref
from ...dialects.index_lists import DYNAMIC_INDEX
from ...dialects.linalg import Index, StructuredOp
from ...dialects.marks import EXPECTED_EXTENTS
from ...dialects.memref import base_buffer
from ...dialects.strict_math import is_strict
from ...ir.affine import AffineConstant, AffineDim, AffineExpr
from ...ir.attributes import ArrayAttr
from ...ir.core import Block, Operation, Value
from ...ir.declare import as_value
from ...ir.polynomial import Size
from ...ir.rewriting import constant_int
from ...ir.types import MemRefType, Type
from .extents import Extents, expected

COMBINERS: dict[type[Operation], str] = {
    arith.AddF: "add",
    arith.AddI: "add",
    arith.MulF: "mul",
    arith.MulI: "mul",
    arith.MaximumF: "maximumf",
    arith.MinimumF: "minimumf",
    arith.MaxNumF: "maxnumf",
    arith.MinNumF: "minnumf",
    arith.MaxSI: "maxsi",
    arith.MinSI: "minsi",
    arith.MaxUI: "maxui",
    arith.MinUI: "minui",
    arith.AndI: "and",
    arith.OrI: "or",
    arith.XOrI: "xor",
}
"""Operations that combine partial results in any order, and their `vector.reduction` kind.

Floating-point sums count too, as a schedule may reassociate them, unless math is strict
(`is_strict`).
"""

ORDERED = (arith.AddF, arith.MulF)
"""The combiners whose result depends on the order of the operands, by rounding."""

IDEMPOTENT = frozenset(
    ("maximumf", "minimumf", "maxnumf", "minnumf", "maxsi", "minsi", "maxui", "minui", "and", "or")
)
"""Kinds with x op x = x, whose partial results may all start from the initial value."""


class Linear(NamedTuple):
    """An index as a sum of dimensions times non-zero factors, and a constant."""

    terms: tuple[tuple[int, int], ...]
    constant: int

    @staticmethod
    def of(expr: AffineExpr, rank: int) -> Linear | None:
        if isinstance(expr, AffineDim):
            return Linear(((expr.position, 1),), 0)
        found = expr.linear(rank)
        return found and Linear(tuple((d, c) for d, c in enumerate(found[0]) if c), found[1])


@dataclass(eq=False)
class Access:
    """One operand of a stage: a buffer and the element that each point touches.

    `coefficients` holds the flat stride of each dimension of the stage and `constant` the
    rest; both are unset where the subscripts `exprs` are not linear. A scalar operand has no
    buffer.
    """

    stage: Stage
    number: int
    value: Value
    exprs: tuple[AffineExpr, ...]
    is_output: bool
    strides: list[Size] = field(init=False)
    linear: list[Linear | None] = field(init=False)
    """The linear form of each index; None where an index is not linear."""
    used: frozenset[int] = field(init=False)
    """The dimensions of the stage that the element depends on."""
    _plain: list[int | None] = field(init=False)
    coefficients: list[Size] | None = None
    constant: Size = 0

    def __post_init__(self) -> None:
        self.redirect(self.value, self.exprs)

    @property
    def is_scalar(self) -> bool:
        return not isinstance(self.value.type, MemRefType)

    @property
    def element_type(self) -> Type:
        type = self.value.type
        return type.element_type if isinstance(type, MemRefType) else type

    @property
    def element_bytes(self) -> int:
        return getattr(self.element_type, "byte_width", 8)

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The shape of the buffer, None for extents that are not known."""
        return self.value.type.shape  # type: ignore[attr-defined]

    @property
    def argument(self) -> Value:
        """The argument of the body that holds the element."""
        return self.stage.body.args[self.number]

    def redirect(self, value: Value, exprs: tuple[AffineExpr, ...]) -> None:
        """Access another buffer instead, at other indices."""
        self.value, self.exprs = value, exprs
        self.linear = [Linear.of(e, self.stage.rank) for e in exprs]
        self.used = frozenset(d for e in exprs for d in e.dims_used())
        self._plain = [e.position if isinstance(e, AffineDim) else None for e in exprs]
        self.restride([] if self.is_scalar else self.stage.symbols.strides(value))

    def restride(self, strides: list[Size]) -> None:
        """Assume other strides of the buffer, and recompute the coefficients."""
        self.strides = strides
        self.coefficients, self.constant = None, 0
        coefficients: list[Size] = [0] * self.stage.rank
        constant: Size = 0
        for linear, stride in zip(self.linear, strides, strict=True):
            if linear is None:
                return
            for dim, factor in linear.terms:
                coefficients[dim] = coefficients[dim] + stride * factor
            constant = constant + stride * linear.constant
        self.coefficients, self.constant = coefficients, constant

    def depends_on(self, dims: Iterable[int]) -> bool:
        """Whether it may touch other elements at other values of these dimensions of the stage."""
        if self.coefficients is None:
            return True
        return any(self.coefficients[d] != 0 for d in dims)

    def plain_dims(self) -> list[int | None]:
        """For each dimension of the buffer, the stage's dimension that alone indexes it."""
        return self._plain

    def reach(self, extents: Sequence[int]) -> list[int]:
        """Elements of each dimension of the buffer from the first to the last that are touched.

        The dimensions of the stage have these extents.
        """
        found = []
        for linear, size in zip(self.linear, self.shape, strict=True):
            if linear is None:
                found.append(expected(size))
                continue
            reach = 1 + sum([abs(factor) * (extents[d] - 1) for d, factor in linear.terms])
            found.append(reach if size is None else min(reach, size))
        return found


@dataclass(eq=False)
class Stage:
    """A linalg operation: extents and kinds of its dimensions, accesses, body."""

    op: StructuredOp
    index: int
    symbols: Extents
    extents: list[Size] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    inputs: list[Access] = field(default_factory=list)
    outputs: list[Access] = field(default_factory=list)
    combiners: list[str | None] = field(default_factory=list)
    reads_outputs: bool = False
    indexed_dims: frozenset[int] = frozenset()
    """Dimensions whose coordinate the body uses."""

    @property
    def body(self) -> Block:
        return self.op.regions[0].blocks[0]

    @property
    def rank(self) -> int:
        return len(self.kinds)

    @property
    def accesses(self) -> list[Access]:
        return [*self.inputs, *self.outputs]

    @property
    def has_reduction(self) -> bool:
        return "reduction" in self.kinds

    @property
    def is_reassociable(self) -> bool:
        """Whether partial results of all outputs may be combined in any order."""
        return all(self.combiners)

    def combiner_op(self, number: int) -> Operation | None:
        """The operation of the body that makes an output's new element."""
        last = self.body.last
        assert last is not None
        return last.operands[number].defining_op

    def body_ops(self) -> list[Operation]:
        """The body without its terminator."""
        return list(self.body)[:-1]

    @cached_property
    def looked_up(self) -> frozenset[Value]:
        """The buffers in which the body looks elements up, as gathers do."""
        loads = [op for op in self.op.walk() if isinstance(op, memref.Load)]
        return frozenset(base_buffer(op.memref) for op in loads)

    def __repr__(self) -> str:
        return f"<stage {self.index}: {self.op.name} {self.extents}>"


def stages_of(block: Block) -> list[Stage]:
    """The stages of a kernel's body, in order; equal run-time extents are one symbol."""
    extents = Extents(block)
    ops = [op for op in block if isinstance(op, StructuredOp) and _on_buffers(op)]
    _expect(block, extents)
    _unify_sizes(block, extents)
    for op in ops:
        _unify_dims(op, extents)
    return [make_stage(op, i, extents) for i, op in enumerate(ops)]


def _expect(block: Block, extents: Extents) -> None:
    """Record the extents that the kernel expects of its arguments and results."""
    kernel = block.parent_op
    hints = kernel.attributes.get(EXPECTED_EXTENTS) if kernel is not None else None
    if not isinstance(hints, ArrayAttr) or block.last is None:
        return
    for value, own in zip((*block.args, *block.last.operands), hints, strict=False):
        for dim, extent in enumerate(own.values):  # type: ignore[attr-defined]
            if extent:
                extents.expect((value, dim), extent)


def _on_buffers(op: StructuredOp) -> bool:
    return all(isinstance(v.type, MemRefType) for v in op.outputs)


def _unify_sizes(block: Block, extents: Extents) -> None:
    """Buffers, and parts of them, whose size is `%d = memref.dim %x, %i` have the extent of %x."""
    for op in block:
        if isinstance(op, memref.Alloc | memref.Alloca):
            made, rest = op.memref, iter(op.dynamicSizes)
            sizes = [next(rest) if static is None else static for static in made.type.shape]
        elif isinstance(op, memref.SubView):
            made, sizes = op.result, op.mixed_sizes
        else:
            continue
        if len(sizes) != made.type.rank:
            continue
        for dim, size in enumerate(sizes):
            known = size.defined_by(memref.Dim) if isinstance(size, Value) else None
            at = constant_int(known.index) if known is not None else None
            if known is not None and at is not None and isinstance(known.source.type, MemRefType):
                extents.unify([(known.source, at), (made, dim)])


def _unify_dims(op: StructuredOp, extents: Extents) -> None:
    by_dim: dict[int, list[tuple[Value, int]]] = {}
    for value, map in zip(op.operands, op.maps, strict=True):
        for i, expr in enumerate(map.results):
            if isinstance(expr, AffineDim):
                by_dim.setdefault(expr.position, []).append((value, i))
    for keys in by_dim.values():
        extents.unify(keys)


def make_stage(op: StructuredOp, index: int, extents: Extents) -> Stage:
    """An operation as a stage; its accesses see through views at constant offsets."""
    stage = Stage(op, index, extents, kinds=list(op.iterators))
    stage.extents = [0] * stage.rank
    input_count = len(op.inputs)
    for number, (value, map) in enumerate(zip(op.operands, op.maps, strict=True)):
        is_output = number >= input_count
        access = Access(stage, number, *_through_views(value, map.results), is_output)
        (stage.outputs if is_output else stage.inputs).append(access)
        for i, expr in enumerate(map.results):
            if isinstance(expr, AffineDim):
                stage.extents[expr.position] = extents.of(value, i)
    _drop_single_steps(stage)
    stage.reads_outputs = any(a.argument.has_uses for a in stage.outputs)
    stage.combiners = [_combiner(stage, i) for i in range(len(stage.outputs))]
    stage.indexed_dims = frozenset(inner.dim for inner in stage.body if isinstance(inner, Index))
    return stage


def _drop_single_steps(stage: Stage) -> None:
    """Remove dimensions of extent 1 from sums in subscripts: a 1 x 1 window is no window."""
    kept = [AffineConstant(0) if e == 1 else AffineDim(d) for d, e in enumerate(stage.extents)]
    for access in stage.accesses:
        exprs = tuple(e if isinstance(e, AffineDim) else e.replace(kept) for e in access.exprs)
        if exprs != access.exprs:
            access.redirect(access.value, exprs)


def _through_views(
    value: Value, exprs: tuple[AffineExpr, ...]
) -> tuple[Value, tuple[AffineExpr, ...]]:
    """(buffer, indices) of an access, seen through views at constant offsets."""
    while (view := value.defined_by(memref.SubView)) is not None:
        source = as_value(view.operands[0])
        offsets, strides = view.static_offsets, view.static_strides
        if len(offsets) != len(exprs) or any(s != 1 for s in strides):
            break
        if any(o == DYNAMIC_INDEX for o in offsets):
            break
        value = source
        exprs = tuple(e + o for e, o in zip(exprs, offsets, strict=True))
    return value, exprs


def _combiner(stage: Stage, number: int) -> str | None:
    """The kind of reduction into an output whose body is `op(out, f(inputs))`, else None.

    Sums and products of floats have none if math is strict.
    """
    argument = stage.outputs[number].argument
    op = stage.combiner_op(number)
    if isinstance(op, arith.Select) and _keeps_larger(op, argument):
        return "maxnumf"
    if op is None or type(op) not in COMBINERS or not argument.has_one_use:
        return None
    if argument.users != [op]:
        return None
    if type(op) in ORDERED and is_strict(stage.op):
        return None
    return COMBINERS[type(op)]


def _keeps_larger(op: arith.Select, kept: Value) -> bool:
    """Whether an operation is `x > kept ? x : kept`, a maximum that passes over NaN."""
    compared = op.condition.defined_by(arith.CmpF)
    return (
        compared is not None
        and compared.predicate == "ogt"
        and list(compared.operands) == [op.true_value, op.false_value]
        and op.false_value is kept
        and set(kept.users) == {op, compared}
    )


def correspondences(host: Stage, stages: Sequence[Stage]) -> dict[Stage, dict[int, int]]:
    """For each stage, which of its dimensions are the host's: {its dimension: the host's}.

    Two dimensions correspond if they alone index the same dimension of a buffer, or through
    a chain of stages of which each two do; the shortest chain counts. Buffers that a stage
    writes come first: two stages may read one buffer for different ends.
    """
    written = {a.value for s in stages for a in s.outputs}
    found = _reached(host, stages, {}, written)
    return _reached(host, stages, found, None)


def _reached(
    host: Stage,
    stages: Sequence[Stage],
    known: dict[Stage, dict[int, int]],
    through: set[Value] | None,
) -> dict[Stage, dict[int, int]]:
    """The correspondences through these buffers (None: any), added to those in `known`."""
    found = {host: {d: d for d in range(host.rank)}}
    front = [host]
    while front:
        reached: dict[Stage, dict[int, int]] = {}
        for stage in stages:
            if stage in found:
                continue
            before = known.get(stage, {})
            own = dict(before)
            met = False
            for member in front:
                met |= _match(stage, member, found[member], host, own, through)
            if met:
                reached[stage] = own
        found.update(reached)
        front = list(reached)
    return found


def _match(
    stage: Stage,
    member: Stage,
    to_host: dict[int, int],
    host: Stage,
    own: dict[int, int],
    through: set[Value] | None,
) -> bool:
    """Add the dimensions of a stage that index a buffer as the member's do; whether any do."""
    met = False
    for mine in stage.accesses:
        if mine.is_scalar or (through is not None and mine.value not in through):
            continue
        for theirs in member.accesses:
            if mine.value is not theirs.value:
                continue
            for a, b in zip(mine.plain_dims(), theirs.plain_dims(), strict=True):
                target = to_host.get(b) if b is not None else None
                if a is None or target is None:
                    continue
                met |= own.get(a) == target
                if a in own or target in own.values():
                    continue
                if stage.extents[a] == host.extents[target]:
                    own[a] = target
                    met = True
    return met


def has_reuse(stage: Stage) -> bool:
    """Whether register tiles save loads: a product, or a window that slides."""
    if not stage.has_reduction:
        return False
    varying = {d for d, extent in enumerate(stage.extents) if extent != 1}
    parallel = {d for d in varying if stage.kinds[d] == "parallel"}
    return any(
        not parallel <= access.used or any(len(e.dims_used() & varying) > 1 for e in access.exprs)
        for access in stage.inputs
        if not access.is_scalar
    )
