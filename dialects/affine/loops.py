"""Affine control flow: sequential loops, parallel loops, conditions."""

from __future__ import annotations

import itertools

from ...ir.attributes import IntegerSetAttr
from ...ir.declare import INDEX
from ..memref.atomics import ATOMIC_KINDS, combine, fits_kind, identity
from ..vocabulary import *
from .maps import MAP, check_count, values_at
from .scope import check_inputs


class Yield(
    Op,
    name="affine.yield",
    traits=(Pure, Terminator),
):
    """Ends the body of an affine loop or branch with the carried values or results."""

    values: Operands = operands(AnyType)

    format = "attr-dict ($values^ `:` type($values))?"
    example = """
        %0 = affine.for %i = 0 to 8 iter_args(%arg1 = %a) -> (f32) {
          affine.yield %arg1 : f32
        }
    """

    def verify_op(self) -> None:
        parent = self.parent_op
        if not isinstance(parent, For | If | Parallel):
            raise self.error("only terminates affine.if/for/parallel regions")
        if len(parent.results) != len(self.values):
            raise self.error(
                "parent of yield must have same number of results as the yield operands"
            )
        if [v.type for v in parent.results] != [v.type for v in self.values]:
            raise self.error("types mismatch between yield op and its parent")


class For(
    Op,
    name="affine.for",
    traits=(RecursiveEffects, SingleBlockImplicitTerminator("affine.yield")),
):
    """A loop from the greatest of the lower bounds up to, but without, the least of the upper
    bounds.
    """

    lowerBoundOperands: Operands = operands(Index)  # noqa: N815
    upperBoundOperands: Operands = operands(Index)  # noqa: N815
    inits: Operands = operands(AnyType)
    lowerBoundMap = attribute(MAP)  # noqa: N815
    upperBoundMap = attribute(MAP)  # noqa: N815
    step = attribute(INDEX)
    body: RegionField = region()
    outs: Results = results(AnyType)

    format = (
        "custom<AffineForLoop>($lowerBoundMap, $lowerBoundOperands, $upperBoundMap, "
        "$upperBoundOperands, $step, $inits, type($outs), $body) attr-dict"
    )
    example = """
        affine.for %i = 0 to min affine_map<()[s0] -> (s0, 8)>()[%n] step 2 {
          affine.store %x, %m[%i] : memref<8xf32>
        }
    """

    def verify_op(self) -> None:
        check_count(self, self.lowerBoundMap.map, len(self.lowerBoundOperands))
        check_count(self, self.upperBoundMap.map, len(self.upperBoundOperands))
        lower, upper = self.lowerBoundMap.map, self.upperBoundMap.map
        check_inputs(self, self.lowerBoundOperands, lower.dim_count)
        check_inputs(self, self.upperBoundOperands, upper.dim_count)
        if len(self.inits) != len(self.outs):
            raise self.error("mismatch between the number of loop-carried values and results")

    def bounds(self, operands: Sequence[Any]) -> tuple[int, int]:
        """The two bounds, for these values of the operands."""
        lows = len(self.lowerBoundOperands)
        ups = lows + len(self.upperBoundOperands)
        lower = max(values_at(self.lowerBoundMap.map, operands[:lows]))
        return lower, min(values_at(self.upperBoundMap.map, operands[lows:ups]))

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        lower, upper = self.bounds(operands)
        carried = list(operands[len(operands) - len(self.inits) :])
        for i in range(lower, upper, self.step):
            _, carried = frame.run_region(self.body, [np.int64(i), *carried])
        return carried


class If(
    Op,
    name="affine.if",
    traits=(RecursiveEffects, SingleBlockImplicitTerminator("affine.yield")),
):
    """Run one region if all constraints of a set hold, otherwise the other."""

    set_operands: Operands = operands(Index)
    condition = attribute(instance(IntegerSetAttr))
    then_region: RegionField = region()
    else_region: RegionField = region()
    outs: Results = results(AnyType)

    format = (
        "custom<AffineApplied>($condition, $set_operands) custom<ArrowTypesOrOne>(type($outs)) "
        "$then_region (`else` $else_region^)? attr-dict"
    )
    example = """
        affine.if affine_set<(d0)[s0] : (d0 - s0 >= 0)>(%i)[%n] {
          affine.store %x, %m[%i] : memref<8xf32>
        } else {
          affine.store %y, %m[%i] : memref<8xf32>
        }
    """

    def verify_op(self) -> None:
        whole = self.condition.set
        if whole.dim_count + whole.symbol_count != len(self.set_operands):
            raise self.error(
                "operand count and condition integer set dimension and symbol count must match"
            )
        check_inputs(self, self.set_operands, whole.dim_count)
        if self.outs and not self.else_region.blocks:
            raise self.error(
                "along control flow edge from parent to parent: region branch point has 0 "
                f"operands, but region successor needs {len(self.outs)} inputs"
            )

    def holds(self, operands: Sequence[Any]) -> bool:
        """Whether all constraints hold for these values of the operands."""
        numbers, whole = [int(v) for v in operands], self.condition.set
        dims, symbols = numbers[: whole.dim_count], numbers[whole.dim_count :]
        values = ((e.evaluate(dims, symbols), equal) for e, equal in whole.constraints)
        return all(v == 0 if equal else v >= 0 for v, equal in values)

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        chosen = self.then_region if self.holds(operands) else self.else_region
        return frame.run_region(chosen, [])[1] if chosen.blocks else []


_GROUPS = AttrKind[tuple[int, ...]](
    "32-bit signless integer elements attribute",
    lambda a: isinstance(a, DenseElements) and a.type.element_type is i32,
    lambda a: tuple(int(n) for n in a.to_numpy().flat),
    lambda a: a,
)
_STEPS = AttrKind[tuple[int, ...]](
    "64-bit integer array attribute",
    lambda a: (
        isinstance(a, ArrayAttr)
        and all(isinstance(e, IntegerAttr) and e.type is i64 for e in a.elements)
    ),
    lambda a: tuple(e.value for e in a.elements),
    lambda steps: ArrayAttr(tuple(IntegerAttr(n, i64) for n in steps)),
)


class Parallel(
    Op,
    name="affine.parallel",
    traits=(RecursiveEffects, SingleBlockImplicitTerminator("affine.yield")),
):
    """A loop nest whose iterations may run in any order.

    A lower bound is the greatest of a group of the map's results, an upper bound the least. Each
    result of the op combines the values that all iterations yield, as its kind in `reductions`
    says.
    """

    reductions = attribute(ARRAY)
    lowerBoundsMap = attribute(MAP)  # noqa: N815
    lowerBoundsGroups = attribute(_GROUPS)  # noqa: N815
    upperBoundsMap = attribute(MAP)  # noqa: N815
    upperBoundsGroups = attribute(_GROUPS)  # noqa: N815
    steps = attribute(_STEPS)
    mapOperands: Operands = operands(Index)  # noqa: N815
    body: RegionField = region()
    outs: Results = results(AnyType)

    format = (
        "custom<AffineParallelLoop>($lowerBoundsMap, $lowerBoundsGroups, $upperBoundsMap, "
        "$upperBoundsGroups, $steps, $reductions, $mapOperands, type($outs), $body) attr-dict"
    )
    example = """
        affine.parallel (%arg0, %arg1) = (0, max(%i, 3)) to (8, min(%n, %i + 4)) step (2, 1) {
          affine.store %x, %m[%arg0, %arg1] : memref<8x8xf32>
        }
    """

    reduction_kinds = ATOMIC_KINDS

    @property
    def kinds(self) -> list[str]:
        """The kinds of the reductions."""
        names = {number: name for name, number in ATOMIC_KINDS.items()}
        return [
            names.get(a.value, "") if isinstance(a, IntegerAttr) else "" for a in self.reductions
        ]

    def verify_op(self) -> None:
        lower, upper = self.lowerBoundsGroups, self.upperBoundsGroups
        count, args = len(self.steps), len(self.body.blocks[0].args)
        if not len(lower) == len(upper) == count == args:
            raise self.error(
                f"the number of region arguments ({args}) and the number of map groups for lower "
                f"({len(lower)}) and upper bound ({len(upper)}), and the number of steps ({count}) "
                "must all match"
            )
        for word, groups, map_ in (
            ("lower", lower, self.lowerBoundsMap.map),
            ("upper", upper, self.upperBoundsMap.map),
        ):
            if 0 in groups:
                raise self.error(f"expected {word} bound map to have at least one result")
            if sum(groups) != len(map_.results):
                raise self.error(f"expected {word} bounds map to have {sum(groups)} results")
        if len(self.reductions) != len(self.outs):
            raise self.error("a reduction must be specified for each output")
        if "" in self.kinds:
            raise self.error("attribute 'reductions' failed to satisfy constraint: Reduction ops")
        for kind, value in zip(self.kinds, self.outs, strict=True):
            if not fits_kind(kind, value.type):
                raise self.error("result type cannot match reduction attribute")
        low, up = self.lowerBoundsMap.map, self.upperBoundsMap.map
        split = low.dim_count + low.symbol_count
        check_inputs(self, self.mapOperands[:split], low.dim_count)
        check_inputs(self, self.mapOperands[split:], up.dim_count)

    def bounds(self, operands: Sequence[Any]) -> list[range]:
        """The values of each induction variable, for these values of the operands."""
        low = self.lowerBoundsMap.map
        split = low.dim_count + low.symbol_count
        lows = grouped(values_at(low, operands[:split]), self.lowerBoundsGroups)
        ups = grouped(values_at(self.upperBoundsMap.map, operands[split:]), self.upperBoundsGroups)
        return [
            range(max(a), min(b), step) for a, b, step in zip(lows, ups, self.steps, strict=True)
        ]

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        kinds = self.kinds
        found = [identity(k, v.type) for k, v in zip(kinds, self.outs, strict=True)]
        for point in itertools.product(*self.bounds(operands)):
            _, values = frame.run_region(self.body, [np.int64(i) for i in point])
            pairs = zip(kinds, found, values, strict=True)
            found = [combine(kind, old, new) for kind, old, new in pairs]
        return found


def grouped(values: Sequence[Any], sizes: Sequence[int]) -> list[Sequence[Any]]:
    """The values in groups of these sizes, such as the bounds of each induction variable."""
    found, at = [], 0
    for size in sizes:
        found.append(values[at : at + size])
        at += size
    return found
