"""linalg.generic, and the ops that only occur in bodies of structured ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir.affine import AffineMap
from ...ir.attributes import AffineMapAttr, ArrayAttr
from ...ir.builder import Builder
from ...ir.constraints import AnyType
from ...ir.constraints import Index as IndexConstraint
from ...ir.core import Block, Region, Value
from ...ir.declare import (
    ARRAY,
    I64,
    STRING,
    Op,
    Operands,
    RegionField,
    Result,
    attribute,
    operands,
    region,
    result,
)
from ...ir.traits import Pure, Terminator
from ...ir.types import TensorType
from .attributes import IteratorType
from .structured import SegmentedOp, StructuredOp, element_of_operand


def maps_attribute(maps: Sequence[AffineMap]) -> ArrayAttr:
    """The maps as an array of attributes."""
    return ArrayAttr(tuple(AffineMapAttr(m) for m in maps))


def iterators_attribute(iterators: Sequence[str]) -> ArrayAttr:
    """The iterator kinds, `parallel` or `reduction`, as an array of attributes."""
    return ArrayAttr(tuple(IteratorType(i) for i in iterators))


class Generic(SegmentedOp, name="linalg.generic"):
    """A structured op with any maps, iterators and body.

    The body gets an element of each operand and yields new elements of the outputs. In a reduction,
    the element of an output is what the previous point yielded for it.
    """

    indexing_maps = attribute(ARRAY)
    iterator_types = attribute(ARRAY)
    doc = attribute(STRING, optional=True)
    library_call = attribute(STRING, optional=True)
    body_region: RegionField = region()

    format = (
        "custom<LinalgGeneric>($inputs, $outputs, $body_region, type($result_tensors), attr-dict)"
    )
    example = """
        linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%a : memref<4x8xf32>) outs(%b : memref<4xf32>) {
        ^bb0(%in: f32, %out: f32):
          %s = arith.addf %in, %out : f32
          linalg.yield %s : f32
        }
    """  # noqa: E501

    @staticmethod
    def build(
        inputs: Sequence[Value],
        outputs: Sequence[Value],
        maps: Sequence[AffineMap],
        iterators: Sequence[str],
        body: Callable[..., Value | Sequence[Value]],
    ) -> Generic:
        """Make the op with the body that `body(builder, *elements)` inserts.

        `body` returns the value, or the values, to yield.
        """
        block = Block([element_of_operand(v.type) for v in (*inputs, *outputs)])
        builder = Builder.at_end(block)
        values = body(builder, *block.args)
        builder.insert(Yield([values] if isinstance(values, Value) else list(values)))
        return Generic(
            list(inputs),
            list(outputs),
            maps_attribute(maps),
            iterators_attribute(iterators),
            body_region=Region([block]),
            result_tensors=[v.type for v in outputs if isinstance(v.type, TensorType)],
        )

    @property
    def maps(self) -> list[AffineMap]:
        return [a.map for a in self.indexing_maps]

    @property
    def iterators(self) -> list[str]:
        return [a.value for a in self.iterator_types]

    def verify_op(self) -> None:
        for attr in self.indexing_maps:
            if not isinstance(attr, AffineMapAttr):
                raise self.error(f"expected indexing_maps to hold affine maps, found {attr}")
        for attr in self.iterator_types:
            if not isinstance(attr, IteratorType):
                raise self.error(f"expected iterator_types to hold iterator types, found {attr}")
        self.verify_structure()


class Yield(Op, name="linalg.yield", traits=(Pure, Terminator)):
    """Ends a structured op's body with the new elements of the outputs."""

    values: Operands = operands(AnyType)

    format = "attr-dict ($values^ `:` type($values))?"
    example = """
        linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : memref<4xf32>) outs(%b : memref<4xf32>) {
        ^bb0(%in: f32, %out: f32):
          linalg.yield %in : f32
        }
    """  # noqa: E501

    def verify_op(self) -> None:
        parent = self.parent_op
        if not isinstance(parent, StructuredOp):
            return
        outputs = parent.outputs
        if len(self.values) != len(outputs):
            raise self.error(
                f"expected number of yield values ({len(self.values)}) to match the number of "
                f"inits / outs operands of the enclosing LinalgOp ({len(outputs)})"
            )
        for i, (value, out) in enumerate(zip(self.values, outputs, strict=True)):
            wanted = element_of_operand(out.type)
            if value.type is not wanted:
                raise self.error(
                    f"type of yield operand {i + 1} ('{value.type}') doesn't match the element "
                    f"type of the enclosing {parent.name} op ('{wanted}')"
                )


class Index(Op, name="linalg.index", traits=(Pure,)):
    """The index of the current point of the iteration space in dimension `dim`."""

    dim = attribute(I64)
    result: Result = result(IndexConstraint)

    format = "$dim attr-dict `:` type($result)"
    example = """
        linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%m : memref<4xindex>) {
        ^bb0(%out: index):
          %i = linalg.index 0 : index
          linalg.yield %i : index
        }
    """  # noqa: E501

    def verify_op(self) -> None:
        parent = self.parent_op
        if not isinstance(parent, StructuredOp):
            raise self.error("expected parent op with LinalgOp interface")
        count = len(parent.iterators)
        if not 0 <= self.dim < count:
            raise self.error(
                f"expected dim ({self.dim}) to be lower than the number of loops ({count}) of the "
                "enclosing LinalgOp"
            )
