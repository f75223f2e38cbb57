"""The affine dialect: loops and accesses whose bounds and indices are affine, as upstream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir.affine import AffineMap, IntegerSet
from ..ir.attributes import AffineMapAttr, Attribute, IndexAttr, IntegerSetAttr
from ..ir.constraints import AnyMemRef, AnyType, Index, element_of
from ..ir.core import Value
from ..ir.declare import (
    INDEX,
    Op,
    Operand,
    Operands,
    RegionField,
    Result,
    Results,
    attribute,
    instance,
    operand,
    operands,
    region,
    result,
    results,
)
from ..ir.dialect import registry
from ..ir.rewriting import constant_int
from ..ir.traits import (
    HasParent,
    Pure,
    ReadsMemory,
    RecursiveEffects,
    SingleBlockImplicitTerminator,
    Terminator,
    WritesMemory,
)
from .memref.access import check_bounds

registry.dialect("affine").doc = __doc__ or ""
registry.dialect("affine").is_subset = True

MAP = instance(AffineMapAttr)


def _at(map_: AffineMap, operands: Sequence[Any]) -> tuple[int, ...]:
    """The map's results for operands, dims first."""
    numbers = [int(v) for v in operands]
    return map_.evaluate(numbers[: map_.dim_count], numbers[map_.dim_count :])


def _check_count(op: Op, whole: AffineMap | IntegerSet, found: int) -> None:
    wanted = whole.dim_count + whole.symbol_count
    if found != wanted:
        raise op.error(
            f"operand count and affine map dimension and symbol count must match: {found} operands "
            f"for {wanted}"
        )


class _MapOp(Op, traits=(Pure,)):
    """An index computed by a map from its operands."""

    mapOperands: Operands = operands(Index)  # noqa: N815
    map = attribute(MAP)
    result: Result = result(Index)

    format = "custom<AffineApplied>($map, $mapOperands) attr-dict"

    def choose(self, values: Sequence[int]) -> int:
        """The result from those of the map."""
        return values[0]

    def verify_op(self) -> None:
        _check_count(self, self.map.map, len(self.mapOperands))

    def fold(self) -> Sequence[Value | Attribute] | None:
        """Constants of constants."""
        known = [constant_int(v) for v in self.mapOperands]
        if None in known:
            return None
        return [IndexAttr(self.choose(_at(self.map.map, known)))]

    def evaluate(self, *operands: Any) -> Any:
        import numpy as np

        return np.int64(self.choose(_at(self.map.map, operands)))


class Apply(_MapOp, name="affine.apply"):
    """The value of an affine map with one result."""

    example = "%0 = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%i)[%n]"

    def verify_op(self) -> None:
        super().verify_op()
        if len(self.map.map.results) != 1:
            raise self.error("mapping must produce one value")


class Min(_MapOp, name="affine.min"):
    """The least result of an affine map."""

    example = "%0 = affine.min affine_map<(d0)[s0] -> (d0 + s0, 4)>(%i)[%n]"

    def choose(self, values: Sequence[int]) -> int:
        return min(values)


class Max(_MapOp, name="affine.max"):
    """The greatest result of an affine map."""

    example = "%0 = affine.max affine_map<(d0)[s0] -> (d0 + s0, 4)>(%i)[%n]"

    def choose(self, values: Sequence[int]) -> int:
        return max(values)


class Load(Op, name="affine.load", traits=(ReadsMemory,)):
    """The element of a memref at affine indices."""

    memref: Operand = operand(AnyMemRef)
    indices: Operands = operands(Index)
    map = attribute(MAP)
    result: Result = result(element_of("memref"))

    format = "$memref `[` custom<AffineSubscript>($map, $indices) `]` attr-dict `:` type($memref)"
    example = "%x = affine.load %m[%i + 1, symbol(%n) * 2] : memref<8x8xf32>"

    def verify_op(self) -> None:
        _check_count(self, self.map.map, len(self.indices))
        if len(self.map.map.results) != self.memref.type.rank:
            raise self.error("affine map num results must equal memref rank")

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        array, *indices = operands
        at = _at(self.map.map, indices)
        check_bounds(self, array, at)
        return [array[at]]


class Store(Op, name="affine.store", traits=(WritesMemory,)):
    """Write a value to the element of a memref at affine indices."""

    value: Operand = operand(element_of("memref"))
    memref: Operand = operand(AnyMemRef)
    indices: Operands = operands(Index)
    map = attribute(MAP)

    format = (
        "$value `,` $memref `[` custom<AffineSubscript>($map, $indices) `]` attr-dict "
        "`:` type($memref)"
    )
    example = "affine.store %x, %m[%i mod 4, 0] : memref<8x8xf32>"

    def verify_op(self) -> None:
        _check_count(self, self.map.map, len(self.indices))
        if len(self.map.map.results) != self.memref.type.rank:
            raise self.error("affine map num results must equal memref rank")

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        value, array, *indices = operands
        at = _at(self.map.map, indices)
        check_bounds(self, array, at)
        array[at] = value
        return []


class Yield(
    Op,
    name="affine.yield",
    traits=(Pure, Terminator, HasParent("affine.for", "affine.if", "affine.parallel")),
):
    """The values that a loop carries on, or that a branch results in."""

    values: Operands = operands(AnyType)

    format = "attr-dict ($values^ `:` type($values))?"
    example = """
        %0 = affine.for %i = 0 to 8 iter_args(%arg1 = %a) -> (f32) {
          affine.yield %arg1 : f32
        }
    """


class For(
    Op,
    name="affine.for",
    traits=(RecursiveEffects, SingleBlockImplicitTerminator("affine.yield")),
):
    """A loop from the greatest of the lower bounds to below the least of the upper ones."""

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
        _check_count(self, self.lowerBoundMap.map, len(self.lowerBoundOperands))
        _check_count(self, self.upperBoundMap.map, len(self.upperBoundOperands))
        if self.step <= 0:
            raise self.error("expected step to be representable as a positive signed integer")
        if len(self.inits) != len(self.outs):
            raise self.error("mismatch between the number of loop-carried values and results")

    def bounds(self, operands: Sequence[Any]) -> tuple[int, int]:
        """The bounds for operand values."""
        lows = len(self.lowerBoundOperands)
        ups = lows + len(self.upperBoundOperands)
        lower = max(_at(self.lowerBoundMap.map, operands[:lows]))
        return lower, min(_at(self.upperBoundMap.map, operands[lows:ups]))

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        import numpy as np

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
    """One region where all constraints of a set hold, another elsewhere."""

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
        _check_count(self, self.condition.set, len(self.set_operands))
        if self.outs and not self.else_region.blocks:
            raise self.error("must have an else block if defining values")

    def holds(self, operands: Sequence[Any]) -> bool:
        """Whether the constraints hold for operand values."""
        numbers, whole = [int(v) for v in operands], self.condition.set
        dims, symbols = numbers[: whole.dim_count], numbers[whole.dim_count :]
        values = ((e.evaluate(dims, symbols), equal) for e, equal in whole.constraints)
        return all(v == 0 if equal else v >= 0 for v, equal in values)

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        chosen = self.then_region if self.holds(operands) else self.else_region
        return frame.run_region(chosen, [])[1] if chosen.blocks else []
