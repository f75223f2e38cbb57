"""Structured ops with a name: their maps, iterators and body follow from the name.

The body is there all the same, so that passes see one kind of op; custom text leaves it out.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ...ir.affine import AffineDim, AffineMap
from ...ir.builder import Builder
from ...ir.constraints import AnyType
from ...ir.core import Block, Value
from ...ir.declare import (
    ARRAY,
    INT_ARRAY,
    Operand,
    Operands,
    OptionalResult,
    RegionField,
    Results,
    attribute,
    instance,
    operand,
    operands,
    optional_result,
    region,
    results,
)
from ...ir.types import FloatType, IntegerType, TensorType, Type, element_type
from .. import arith
from ..memref.layouts import compatible
from .attributes import TypeFn
from .generic import Yield, maps_attribute
from .structured import AnyShaped, SegmentedOp, StructuredOp


def _map(rank: int, *dims: int) -> AffineMap:
    return AffineMap(rank, 0, tuple(AffineDim(d) for d in dims))


def cast_scalar(builder: Builder, value: Value, type: Type, unsigned: bool = False) -> Value:
    """The value as another scalar type, by arith's casts."""
    source = value.type
    if source is type:
        return value
    match source, type:
        case FloatType(), FloatType():
            cast = arith.ExtF if source.width < type.width else arith.TruncF
        case IntegerType(), IntegerType() if source.width < type.width:
            cast = arith.ExtUI if unsigned else arith.ExtSI
        case IntegerType(), IntegerType():
            cast = arith.TruncI
        case IntegerType(), FloatType():
            cast = arith.UIToFP if unsigned else arith.SIToFP
        case FloatType(), IntegerType():
            cast = arith.FPToUI if unsigned else arith.FPToSI
        case _:
            cast = arith.IndexCast
    return builder.insert(cast(value, out=type)).result


_HEAD = (
    "custom<ImpliedBody>($body_region) attr-dict (`ins` `(` $inputs^ `:` type($inputs) `)`)? "
    "`outs` `(` $outputs `:` type($outputs) `)` "
)
_FORMAT = _HEAD + "(`->` type($result_tensors)^)?"


class NamedOp(StructuredOp):
    """A structured op whose body is made by `build_body`."""

    body_region: RegionField = region()

    @classmethod
    def create(cls, *args: Any, **named: Any):
        """From parts; the body is made where the region given is empty."""
        op = super().create(*args, **named)
        if op.regions:
            op.complete()
        return op

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.complete()

    def complete(self) -> None:
        """Make the body where custom text or the constructor left it out."""
        if self.regions[0].blocks:
            return
        block = Block([element_type(t) for t in self.operand_types])
        builder = Builder.at_end(block, self.loc)
        builder.insert(Yield([self.build_body(builder, *block.args)]))
        self.regions[0].append(block)

    def build_body(self, builder: Builder, *elements: Value) -> Value:
        """Insert the computation on one element of each operand; the value to yield."""
        return elements[0]

    @classmethod
    def infer_result_types(cls, operand_types: Any, properties: Any, regions: Any = ()):
        """The output's type if it is a tensor."""
        return [t for t in operand_types[-1:] if isinstance(t, TensorType)]


class _Elementwise(NamedOp, SegmentedOp):
    @property
    def maps(self) -> list[AffineMap]:
        rank = self.outputs[0].type.rank  # type: ignore[attr-defined]
        scalars = [AffineMap(rank, 0, ()), AffineMap.identity(rank)]
        return [scalars[getattr(v.type, "rank", None) is not None] for v in self.operands]

    @property
    def iterators(self) -> list[str]:
        return ["parallel"] * self.outputs[0].type.rank  # type: ignore[attr-defined]


class Fill(_Elementwise, name="linalg.fill"):
    """Every element of the output set to a scalar."""

    format = _FORMAT
    example = "linalg.fill ins(%x : f32) outs(%m : memref<4x8xf32>)"

    def build_body(self, builder: Builder, *elements: Value) -> Value:
        return cast_scalar(builder, elements[0], elements[1].type)


class Copy(_Elementwise, name="linalg.copy"):
    """Every element of the output set to the input's."""

    cast = attribute(instance(TypeFn), optional=True)

    format = _FORMAT
    example = "linalg.copy ins(%a : memref<4x8xf32>) outs(%b : memref<4x8xf32>)"

    def build_body(self, builder: Builder, *elements: Value) -> Value:
        unsigned = self.cast == "cast_unsigned"
        return cast_scalar(builder, elements[0], elements[1].type, unsigned)


class _Contraction(NamedOp, SegmentedOp):
    """out += lhs * rhs over maps that may also be given."""

    indexing_maps = attribute(ARRAY, optional=True)
    cast = attribute(instance(TypeFn), optional=True)

    default_maps: ClassVar[tuple[AffineMap, ...]] = ()
    default_iterators: ClassVar[tuple[str, ...]] = ()

    def complete(self) -> None:
        super().complete()
        if self.indexing_maps is None:
            self.indexing_maps = maps_attribute(self.default_maps)

    @property
    def maps(self) -> list[AffineMap]:
        given: Any = self.indexing_maps
        return [a.map for a in given] if given is not None else list(self.default_maps)

    @property
    def iterators(self) -> list[str]:
        return list(self.default_iterators)

    def build_body(self, builder: Builder, *elements: Value) -> Value:
        lhs, rhs, out = elements
        unsigned = self.cast == "cast_unsigned"
        lhs, rhs = (cast_scalar(builder, v, out.type, unsigned) for v in (lhs, rhs))
        if isinstance(out.type, FloatType):
            product = builder.insert(arith.MulF(lhs, rhs))
            return builder.insert(arith.AddF(out, product)).result
        product = builder.insert(arith.MulI(lhs, rhs))
        return builder.insert(arith.AddI(out, product)).result


class Matmul(_Contraction, name="linalg.matmul"):
    """out[m, n] += lhs[m, k] * rhs[k, n]"""

    default_maps = (_map(3, 0, 2), _map(3, 2, 1), _map(3, 0, 1))
    default_iterators = ("parallel", "parallel", "reduction")

    format = _FORMAT
    example = (
        "linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x2xf32>) outs(%c : memref<4x2xf32>)"
    )


class BatchMatmul(_Contraction, name="linalg.batch_matmul"):
    """out[b, m, n] += lhs[b, m, k] * rhs[b, k, n]"""

    default_maps = (_map(4, 0, 1, 3), _map(4, 0, 3, 2), _map(4, 0, 1, 2))
    default_iterators = ("parallel", "parallel", "parallel", "reduction")

    format = _FORMAT
    example = (
        "linalg.batch_matmul ins(%a, %b : memref<3x4x8xf32>, memref<3x8x2xf32>) "
        "outs(%c : memref<3x4x2xf32>)"
    )


class _OneToOne(NamedOp):
    """One input, one output."""

    input: Operand = operand(AnyShaped)
    init: Operand = operand(AnyShaped)
    output: OptionalResult = optional_result(AnyShaped)

    @property
    def inputs(self) -> tuple[Value, ...]:
        return (self.input,)

    @property
    def outputs(self) -> tuple[Value, ...]:
        return (self.init,)

    @property
    def iterators(self) -> list[str]:
        return ["parallel"] * self.init.type.rank  # type: ignore[attr-defined]


_ONE_TO_ONE = (
    "custom<ImpliedBody>($body_region) `ins` `(` $input `:` type($input) `)` "
    "`outs` `(` $init `:` type($init) `)` {} ` ` attr-dict"
)


class Transpose(_OneToOne, name="linalg.transpose"):
    """The input with its dimensions in another order: dimension i is the input's order[i]."""

    permutation = attribute(INT_ARRAY)

    result_name = "transposed"
    format = _ONE_TO_ONE.format("`permutation` `=` $permutation")
    example = (
        "linalg.transpose ins(%a : memref<4x8xf32>) outs(%b : memref<8x4xf32>) "
        "permutation = [1, 0] "
    )

    @property
    def maps(self) -> list[AffineMap]:
        rank = len(self.permutation)
        where = [self.permutation.index(d) for d in range(rank)]
        return [AffineMap.permutation(where), AffineMap.identity(rank)]

    def verify_op(self) -> None:
        source, target = self.input.type, self.init.type
        order = self.permutation
        if sorted(order) != list(range(len(order))):
            raise self.error("permutation is not valid")
        if source.rank != target.rank or source.rank != len(order):
            raise self.error(
                f"size of permutation {len(order)} does not match the argument rank {source.rank}"
            )
        for i, d in enumerate(order):
            if not compatible(target.shape[i], source.shape[d]):
                raise self.error(
                    f"dim(result, {i}) = {target.shape[i]} doesn't match "
                    f"dim(input, permutation[{i}]) = {source.shape[d]}"
                )
        self.verify_structure()


class Broadcast(_OneToOne, name="linalg.broadcast"):
    """The input repeated along new dimensions."""

    dimensions = attribute(INT_ARRAY)

    result_name = "broadcasted"
    format = _ONE_TO_ONE.format("`dimensions` `=` $dimensions")
    example = (
        "linalg.broadcast ins(%a : memref<4xf32>) outs(%b : memref<4x8xf32>) dimensions = [1] "
    )

    @property
    def kept(self) -> list[int]:
        """The dimensions of the output that the input has."""
        return [d for d in range(self.init.type.rank) if d not in self.dimensions]  # type: ignore[attr-defined]

    @property
    def maps(self) -> list[AffineMap]:
        rank = self.init.type.rank  # type: ignore[attr-defined]
        return [_map(rank, *self.kept), AffineMap.identity(rank)]

    def verify_op(self) -> None:
        source, target = self.input.type, self.init.type
        for i, d in enumerate(self.dimensions):
            if not 0 <= d < target.rank:
                raise self.error(
                    f"dimension {i} is out of range. expected range: [0, {target.rank - 1}], "
                    f"got: {d}"
                )
        if source.rank + len(self.dimensions) != target.rank:
            raise self.error(
                "input rank plus added dimensions does not match init rank. input rank: "
                f"{source.rank}, dimensions size: {len(self.dimensions)}, init rank: {target.rank}"
            )
        for i, d in enumerate(self.kept):
            if not compatible(source.shape[i], target.shape[d]):
                raise self.error(
                    f"input dim {i} should match init dim {d}. "
                    f"input: {source.shape[i]}, init: {target.shape[d]}"
                )
        self.verify_structure()


class Map(StructuredOp, name="linalg.map"):
    """The body on the elements of inputs of one shape, into an output of that shape."""

    inputs: Operands = operands(AnyShaped)
    init: Operand = operand(AnyShaped)
    mapper: RegionField = region()
    result_tensors: Results = results(AnyType)

    result_name = "mapped"
    output_name = "init"
    format = "custom<LinalgMap>($inputs, $init, $mapper, type($result_tensors))"
    example = """
        linalg.map { math.exp } ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
    """

    @property
    def outputs(self) -> tuple[Value, ...]:
        return (self.init,)

    @property
    def maps(self) -> list[AffineMap]:
        return [AffineMap.identity(self.init.type.rank)] * len(self.operands)  # type: ignore[attr-defined]

    @property
    def iterators(self) -> list[str]:
        return ["parallel"] * self.init.type.rank  # type: ignore[attr-defined]


class Reduce(StructuredOp, name="linalg.reduce"):
    """The body combines elements of the inputs along dimensions into the outputs."""

    values: Operands = operands(AnyShaped, doc="all inputs, then as many outputs")
    dimensions = attribute(INT_ARRAY)
    combiner: RegionField = region()
    result_tensors: Results = results(AnyType)

    result_name = "reduced"
    output_name = "init"
    format = (
        "custom<LinalgReduce>($values, $dimensions, $combiner, type($result_tensors), attr-dict)"
    )
    example = (
        "linalg.reduce { arith.addf } ins(%a : memref<4x8xf32>) outs(%b : memref<4xf32>) "
        "dimensions = [1] "
    )

    @property
    def inputs(self) -> tuple[Value, ...]:
        return tuple(self.operands[: len(self.operands) // 2])

    @property
    def outputs(self) -> tuple[Value, ...]:
        return tuple(self.operands[len(self.operands) // 2 :])

    @property
    def iterators(self) -> list[str]:
        rank = self.operands[0].type.rank  # type: ignore[attr-defined]
        return ["reduction" if d in self.dimensions else "parallel" for d in range(rank)]

    @property
    def maps(self) -> list[AffineMap]:
        rank = self.operands[0].type.rank  # type: ignore[attr-defined]
        kept = _map(rank, *(d for d in range(rank) if d not in self.dimensions))
        count = len(self.operands) // 2
        return [AffineMap.identity(rank)] * count + [kept] * count

    def verify_op(self) -> None:
        if len(self.operands) % 2 or not self.operands:
            raise self.error("expects equal numbers of inputs and outputs")
        source, target = self.operands[0].type, self.outputs[0].type
        if any(not 0 <= d < source.rank for d in self.dimensions):
            raise self.error(
                f"dimensions for reduction should be in the range [0, {source.rank - 1}]."
            )
        left = [n for d, n in enumerate(source.shape) if d not in self.dimensions]
        if len(left) != target.rank or any(
            a != b for a, b in zip(left, target.shape, strict=True) if None not in (a, b)
        ):
            raise self.error(
                f"init dimensions {list(target.shape)} doesn't match input dimensions after "
                f"reduction {left}"
            )
        self.verify_structure()
