"""--compute-rows-again: a device's kernel computes rows again that its groups cannot keep.

    S = Q * K                                      S = Q * K
    m = row maxima of S                            m = row maxima of S
    E = exp(S - m)                      ->         T = Q * K
    r = 1 / row sums of E                          E = exp(T - m)
    P = E * r                                      r = 1 / row sums of E
    O = P * V                                      O = (E * V) * r

Of S and of E, a block of columns is then needed at a time: one loop over such blocks makes the
maxima, another one the sums and the product. No row is kept whole, however long it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..dialects import arith, func, linalg, memref
from ..dialects.linalg import StructuredOp
from ..dialects.marks import COMPUTES_AGAIN, KERNEL, ON_HOST
from ..ir.affine import AffineDim, AffineMap
from ..ir.attributes import UnitAttr
from ..ir.builder import Builder
from ..ir.core import Block, Operation, Value
from ..ir.passes import Pass, PassContext, option
from ..ir.types import FloatType, MemRefType
from ..targets.attribute import target_of
from ..targets.groups import GroupMachine
from .policy.candidates import fewest_cycles
from .policy.groups import IN_PASSES, candidates


@dataclass(frozen=True)
class ComputeRowsAgain(
    Pass,
    name="compute-rows-again",
    anchor="builtin.module",
    statistics={"kernels": "Number of kernels that compute rows again"},
):
    """Compute rows of a product again that no group of threads can keep, if that pays.

    A kernel multiplies the rows of a product by another matrix, after it has divided them by what
    they are reduced to. The division moves behind the second product, and each stage that reads the
    rows after a reduction of them gets a first product of its own. The sum of the second product
    must be of f32 or wider. Rows that are kept whole need memory that grows with the square of
    their number, so computing them again may take somewhat longer (`rows_again` of the costs).
    This is for devices whose threads run in lockstep.
    """

    numerics = "rounding"

    target: str = option("", help="a target's name (default: the module's)", alias="machine")

    def run(self, op: Operation, context: PassContext) -> None:
        machine = target_of(op, self.target).machine
        if not isinstance(machine, GroupMachine) or machine.together == 1:
            return
        for function in list(op.body_block):
            if not isinstance(function, func.FuncOp) or KERNEL not in function.attributes:
                continue
            if ON_HOST in function.attributes or len(function.body.blocks) != 1:
                continue
            if pays(function, machine):
                rows_again(function.body.blocks[0])
                context.statistic("kernels")


def pays(function: func.FuncOp, machine: GroupMachine) -> bool:
    """Whether a kernel has rows that are better computed again than kept whole."""
    if _rows_of(function.body.blocks[0]) is None:
        return False
    other = function.clone()
    assert isinstance(other, func.FuncOp)
    rows_again(other.body.blocks[0])
    again = candidates(function.sym_name, other.body.blocks[0], machine)[0]
    if again.policy != IN_PASSES:
        return False
    kept = candidates(function.sym_name, function.body.blocks[0], machine)
    return again.cycles <= machine.costs.groups.rows_again * fewest_cycles(kept, machine).cycles


def rows_again(block: Block) -> bool:
    """Rewrite the block of a kernel, if it has such rows. Returns whether it had."""
    found = _rows_of(block)
    if found is None:
        return False
    found.rewrite()
    if block.parent_op is not None:
        block.parent_op.attributes[COMPUTES_AGAIN] = UnitAttr()
    return True


def _rows_of(block: Block) -> _Rows | None:
    """The first rows in the block of a kernel that can be computed again; None without any."""
    stages = [op for op in block if isinstance(op, StructuredOp)]
    for product in stages:
        if isinstance(product, linalg.Generic) and (found := _Rows.of(product, stages)):
            return found
    return None


@dataclass(frozen=True)
class _Rows:
    """The rows of one product that become, divided, the left operand of another one."""

    stages: Sequence[Operation]
    """All stages of the kernel, in order."""
    product: linalg.Generic
    """The second product."""
    division: linalg.Generic
    """The stage that multiplies each row by a number: its result is `product`'s operand."""
    first: Sequence[Operation]
    """The stages that make `rows` from the first product on, in order."""
    rows: Value
    """The buffer that is reduced, and read again by stages that need the result."""
    late: Sequence[tuple[Operation, int]]
    """The uses of `rows` after the reduction."""

    @staticmethod
    def of(product: linalg.Generic, stages: Sequence[Operation]) -> _Rows | None:
        """The rows that `product` multiplies; None where they are not of this kind."""
        division = _divided(product, stages)
        if division is None:
            return None
        depends = _depending(stages)
        for reduction in stages:
            if reduction is product or not _reduces_rows(reduction):
                continue
            rows = reduction.operands[0]
            made = _before(rows, stages)
            late = [
                (user, number)
                for user, number in rows.uses
                if user in depends and reduction in depends[user]
            ]
            buffers = [value for stage in made for value in _written(stage)]
            known = buffers and all(v.defined_by(memref.Alloc) is not None for v in buffers)
            known = known and any(map(is_product, made)) and product not in made
            if known and late and all(user in depends[product] for user, _ in late):
                return _Rows(stages, product, division, made, rows, late)
        return None

    def rewrite(self) -> None:
        """Rewrite the kernel."""
        self._divide_afterwards()
        self._compute_again()

    def _divide_afterwards(self) -> None:
        """Multiply the rows of the product's result instead of those of its operand."""
        product, division = self.product, self.division
        result, number = product.outputs[0], division.inputs[1]
        product.set_operand(0, division.inputs[0])
        before = next(s for s in self.stages if result in _written(s))
        builder = Builder.before_op(before)
        type = result.type
        assert isinstance(type, MemRefType)
        sizes = [
            builder.insert(
                memref.Dim(result, builder.insert(arith.Constant.index(d, product.loc)).result)
            ).result
            for d, extent in enumerate(type.shape)
            if extent is None
        ]
        new = MemRefType(type.shape, type.element_type)
        sums = builder.insert(memref.Alloc(sizes, [], memref=new, loc=product.loc)).memref
        for stage in self.stages[: self.stages.index(product) + 1]:
            for place, operand in enumerate(stage.operands):
                if operand is result:
                    stage.set_operand(place, sums)
        _free_at_end(product, sums)
        after = Builder.after_op(product)
        scaled = linalg.Generic.build(
            [sums, number], [result], _maps_of_result(product, division), _parallel(product),
            lambda at, value, factor, _: at.insert(arith.MulF(value, factor)).result,
        )  # fmt: skip
        scaled.loc = division.loc
        after.insert(scaled)
        for user in list(division.outputs[0].users):
            if isinstance(user, memref.Dealloc):
                user.erase()
        alloc = division.outputs[0].defining_op
        division.erase()
        if alloc is not None:
            alloc.erase()

    def _compute_again(self) -> None:
        """Give the stages that read the rows late a copy of the stages that make them."""
        block = self.product.parent
        assert block is not None
        order = {op: i for i, op in enumerate(block)}
        at = min((user for user, _ in self.late), key=order.__getitem__)
        copies: dict[Value, Value] = {}
        for stage in self.first:
            for value in _written(stage):
                if value not in copies:
                    alloc = value.defining_op
                    assert isinstance(alloc, memref.Alloc)
                    twin = alloc.clone()
                    block.insert_before(twin, at)
                    copies[value] = twin.results[0]
                    _free_at_end(self.product, twin.results[0])
            twin = stage.clone()
            for place, operand in enumerate(twin.operands):
                twin.set_operand(place, copies.get(operand, operand))
            block.insert_before(twin, at)
        for user, number in self.late:
            user.set_operand(number, copies[self.rows])


def is_product(op: Operation) -> bool:
    """Whether a stage adds up products of two operands."""
    return isinstance(op, linalg.Generic) and "reduction" in op.iterators and len(op.inputs) == 2


def _divided(product: linalg.Generic, stages: Sequence[Operation]) -> linalg.Generic | None:
    """The stage that multiplies each row of a product's left operand by a number; None without."""
    if not is_product(product) or product.iterators.count("reduction") != 1 or not _adds(product):
        return None
    rows = product.inputs[0]
    alloc = rows.defined_by(memref.Alloc)
    made = [s for s in stages if rows in _written(s)]
    read = [
        user for user in rows.users if user not in made and not isinstance(user, memref.Dealloc)
    ]
    if alloc is None or len(made) != 1 or read != [product]:
        return None
    (division,) = made
    if not isinstance(division, linalg.Generic) or len(division.inputs) != 2:
        return None
    body = list(division.body_region.blocks[0])
    first, second = division.body_region.blocks[0].args[:2]
    multiplies = isinstance(body[0], arith.MulF) and len(body) == 2
    if not multiplies or list(body[0].operands) != [first, second]:
        return None
    (whole, number, written), left = division.maps, product.maps[0]
    if (
        whole != written
        or not _is_plain(written)
        or any(k != "parallel" for k in division.iterators)
    ):
        return None
    column = next(d for d, kind in enumerate(product.iterators) if kind == "reduction")
    along = {i for i, e in enumerate(left.results) if column in e.dims_used()}
    if not _is_dims(left) or any(e.dims_used() & along for e in number.results):
        return None
    types = {v.type.element_type for v in (*division.operands, product.outputs[0])}  # type: ignore[attr-defined]
    (type,) = types if len(types) == 1 else (None,)
    wide = isinstance(type, FloatType) and type.byte_width >= 4
    plain = product.outputs[0].type.layout is None  # type: ignore[attr-defined]
    return division if wide and plain else None


def _adds(product: linalg.Generic) -> bool:
    """Whether a product's body adds up products of its two operands."""
    body = list(product.body_region.blocks[0])
    kinds = [type(op) for op in body]
    return kinds[:2] == [arith.MulF, arith.AddF] and len(kinds) == 3


def _is_plain(map: AffineMap) -> bool:
    return list(map.results) == [AffineDim(d) for d in range(map.dim_count)]


def _is_dims(map: AffineMap) -> bool:
    return all(isinstance(e, AffineDim) for e in map.results)


def _maps_of_result(product: linalg.Generic, division: linalg.Generic) -> list[AffineMap]:
    """The subscripts of the product's result, the numbers of rows, and the result."""
    kept = [d for d, kind in enumerate(product.iterators) if kind == "parallel"]
    new = {d: i for i, d in enumerate(kept)}
    left, out = product.maps[0], product.maps[2]
    place = {i: e.position for i, e in enumerate(left.results)}  # type: ignore[attr-defined]
    names = [AffineDim(new.get(place[i], 0)) for i in range(len(left.results))]
    number = tuple(e.replace(names) for e in division.maps[1].results)
    dims = [AffineDim(new.get(d, 0)) for d in range(len(product.iterators))]
    result = AffineMap(len(kept), 0, tuple(e.replace(dims) for e in out.results))
    return [result, AffineMap(len(kept), 0, number), result]


def _parallel(product: linalg.Generic) -> list[str]:
    return [kind for kind in product.iterators if kind == "parallel"]


def _reduces_rows(op: Operation) -> bool:
    """Whether a stage reduces one operand along one dimension."""
    if not isinstance(op, linalg.Generic) or len(op.inputs) != 1:
        return False
    return op.iterators.count("reduction") == 1


def _written(op: Operation) -> list[Value]:
    return list(op.outputs) if isinstance(op, StructuredOp) else []  # type: ignore[attr-defined]


def _depending(stages: Sequence[Operation]) -> dict[Operation, set[Operation]]:
    """For each stage, all stages before it that it depends on."""
    found: dict[Operation, set[Operation]] = {}
    for i, stage in enumerate(stages):
        own: set[Operation] = set()
        for other in stages[:i]:
            if any(value in stage.operands for value in _written(other)):
                own |= {other, *found[other]}
        found[stage] = own
    return found


def _before(value: Value, stages: Sequence[Operation]) -> list[Operation]:
    """The stages that make a buffer, in order, as far as they depend on a product."""
    wanted, found = {value}, list[Operation]()
    for stage in reversed(stages):
        if wanted.intersection(_written(stage)):
            found.insert(0, stage)
            wanted.update(v for v in stage.operands if v.defined_by(memref.Alloc) is not None)
    return found


def _free_at_end(op: Operation, buffer: Value) -> None:
    """Free a buffer at the end of a block."""
    block = op.parent
    assert block is not None and block.last is not None
    block.insert_before(memref.Dealloc(buffer, loc=op.loc), block.last)
