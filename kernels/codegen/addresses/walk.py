"""A function rewritten in place, block by block: where code goes, and index values from forms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ....dialects import arith, memref
from ....ir.core import Block, Operation, Value
from ....ir.polynomial import Poly, Size, Symbol
from ....ir.rewriting import constant_int
from ....ir.types import VectorType
from ....targets.processor import Processor
from ...model.extents import Extent
from ..code import Code, Scope
from .linear import Forms, Index


class Walk(Code):
    """The place in a function that is being rewritten; each open block is a scope.

    The anchor of a scope is the operation that the walk has reached in its block: new code goes
    before it. Operations go into the outermost open block in which all their operands are known.
    """

    def __init__(self, block: Block, forms: Forms, machine: Processor | None = None) -> None:
        first = block.first
        assert first is not None
        super().__init__(Scope(block, None), first.loc)
        self.forms = forms
        self.machine = machine
        """The processor whose vectors are written; None where only addresses are."""
        self._depths: dict[Block, int] = {}
        self._splits: dict[Size, tuple[Size, int, Size]] = {}

    def enter(self, block: Block) -> Scope:
        """Open a block."""
        self.scope = Scope(block, self.scope)
        self._depths[block] = self.scope.depth
        return self.scope

    def leave(self) -> None:
        """Close the innermost open block."""
        del self._depths[self.scope.block]
        assert self.scope.parent is not None
        self.scope = self.scope.parent

    def depth_of(self, *values: Value) -> int:
        """The depth of the outermost open scope in which all these values are known."""
        depth, depths = 1, self._depths
        for value in values:
            at = depths.get(value.parent_block)  # type: ignore[arg-type]
            if at is None:
                return self.scope.depth
            if at > depth:
                depth = at
        return depth

    def shifted(self, index: Value, by: Value | int) -> Value:
        """The sum of a subscript and a number, or of two values."""
        known = constant_int(index)
        return self.as_value(self.add(index if known is None else known, by))

    def mask(self, count: int | Value, lanes: int) -> Value:
        """A mask of the first `count` of `lanes`; a mask given as `count` is returned as it is."""
        if isinstance(count, Value) and isinstance(count.type, VectorType):
            return count
        return super().mask(count, lanes)

    def can_mask(self, row: VectorType) -> bool:
        """Whether the machine loads and stores some lanes of such a vector at once."""
        width = getattr(row.element_type, "byte_width", 8)
        return self.machine is None or self.machine.can_mask(width)

    def lane_steps(self, step: Value | int, lanes: int) -> Value:
        """`[0, step, 2 * step, ..]` as a vector of index."""
        if isinstance(step, int):
            return self.lane_numbers(step, lanes)
        return self.binary(arith.MulI, self.lane_numbers(1, lanes), self.splat(step, lanes))

    def if_below(self, number: int, bound: Value, count: Value | int) -> Value:
        """The count if the number is below the bound, else 0."""
        count = self.as_value(count)
        scope = self.at_depth(self.depth_of(bound, count))
        key = ("if below", number, bound, count)
        known = scope.cache.get(key)
        if known is None:
            holds = self.value(arith.CmpI("slt", self.index(number), bound), scope)
            known = self.value(arith.Select(holds, count, self.index(0)), scope)
            scope.cache[key] = known
        return known

    # -- index values from forms -------------------------------------------------------------

    def size(self, size: Size) -> Value | int:
        """The value of a form: a number, or operations that compute it."""
        if isinstance(size, int):
            return size
        constant = size.terms.get((), 0)
        return self.at(size + -constant if constant else size, constant)

    def at(self, base: Size, constant: Size) -> Value | int:
        """The sum of two forms, the first one without a constant part.

        Terms that depend on surrounding loops are added first, outer loops before inner ones, then
        loop-invariant terms and the constant: neighbouring accesses share all but the last sum.
        """
        if not isinstance(constant, int):
            number = constant.terms.get((), 0)
            base, constant = base + (constant + -number), number
        if isinstance(base, int):
            return base + constant
        known = self._splits.get(base)
        if known is None:
            known = self._splits[base] = self._split(base)
        inner, depth, fixed = known
        last = self.add(self._total(fixed, 1), constant)
        return self.add(self._total(inner, depth), last)

    def _split(self, form: Poly) -> tuple[Size, int, Size]:
        """(terms that depend on open loops, the depth of the innermost one, other terms)."""
        depths = {product: self._depth_of_term(product) for product in form.terms}
        deepest = max(depths.values())
        fixed = {product: n for product, n in form.terms.items() if depths[product] <= 1}
        if deepest <= 1:
            return 0, 1, form
        if not fixed:
            return form, deepest, 0
        rest = Poly(fixed)
        return form + rest * -1, deepest, rest

    def _total(self, form: Size, depth: int) -> Value | int:
        """The sum of all terms, computed in the open block of this depth."""
        if isinstance(form, int):
            return form
        scope = self.at_depth(depth)
        known = scope.cache.get(form)
        if known is None:
            known = scope.cache[form] = self._sum(form)
        return known

    def _sum(self, form: Poly) -> Value:
        total: Value | int = 0
        for product in sorted(form.terms, key=self._depth_of_term):
            values = sorted(map(self._symbol, product), key=self.depth_of)
            term: Value | int = values[0]
            for value in values[1:]:
                term = self.multiply(value, term)
            total = self.add(total, self.multiply(term, form.terms[product]))
        assert isinstance(total, Value)
        return total

    def _symbol(self, symbol: Symbol) -> Value:
        if isinstance(symbol, Extent):
            return self.extent(symbol)
        assert isinstance(symbol, Index)
        return symbol.value

    def _depth_of_term(self, product: tuple) -> int:
        return self.depth_of(*[s.buffer if isinstance(s, Extent) else s.value for s in product])

    def sizes_and_strides(self, buffer: Value) -> tuple[Sequence[Size], Sequence[Size]]:
        view = self.forms.view(buffer)
        assert view is not None
        return view.sizes, view.strides


def erase_unused(values: Iterable[Value]) -> None:
    """Erase pure index arithmetic and views that nobody uses, and what only they used."""
    front = [op for v in values if (op := v.defining_op) is not None]
    while front:
        op = front.pop()
        if op.parent is None or op.has_used_results or not isinstance(op, _ERASABLE):
            continue
        operands = list(op._operands)
        op.erase()
        front += [made for v in operands if (made := v.defining_op) is not None]


_ERASABLE: tuple[type[Operation], ...] = (
    arith.Constant,
    arith.AddI,
    arith.SubI,
    arith.MulI,
    memref.Cast,
    memref.CollapseShape,
    memref.Dim,
    memref.ExpandShape,
    memref.ReinterpretCast,
    memref.SubView,
    memref.Transpose,
)
