"""Structured ops whose text gives the body or the dimensions: transpose, broadcast, map, reduce."""

from __future__ import annotations

from ..memref.layouts import compatible
from ..vocabulary import *
from .named import NamedOp, projection
from .structured import AnyShaped, StructuredOp, element_of_operand


class _OneToOne(NamedOp):
    """Base of the ops that copy one input to one output."""

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
        return ["parallel"] * self.init.type.rank

    def fold(self) -> Sequence[Value | Attribute] | None:
        """Fold an op that copies its tensor unchanged to that tensor."""
        unchanged = self.output is not None and self.output.type is self.input.type
        same_place = self.maps[0] == self.maps[1]
        return [self.input] if unchanged and same_place else None


_ONE_TO_ONE = (
    "custom<ImpliedBody>($body_region) `ins` `(` $input `:` type($input) `)` "
    "`outs` `(` $init `:` type($init) `)` {} ` ` attr-dict"
)


class Transpose(_OneToOne, name="linalg.transpose"):
    """The input with its dimensions in another order: dimension i is the input's permutation[i]."""

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
        if source.rank != target.rank:
            raise self.error(f"input rank {source.rank} does not match init rank {target.rank}")
        if source.rank != len(order):
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
    """The input repeated along new dimensions, which `dimensions` lists."""

    dimensions = attribute(INT_ARRAY)

    result_name = "broadcasted"
    format = _ONE_TO_ONE.format("`dimensions` `=` $dimensions")
    example = (
        "linalg.broadcast ins(%a : memref<4xf32>) outs(%b : memref<4x8xf32>) dimensions = [1] "
    )

    @property
    def kept(self) -> list[int]:
        """The output's dimensions that the input has too."""
        return [d for d in range(self.init.type.rank) if d not in self.dimensions]

    @property
    def maps(self) -> list[AffineMap]:
        rank = self.init.type.rank
        return [projection(rank, *self.kept), AffineMap.identity(rank)]

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
    """Apply the body to the elements at the same index of all inputs, and write them to the output.

    All have one shape.
    """

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
        return [AffineMap.identity(self.init.type.rank)] * len(self.operands)

    def verify_op(self) -> None:
        args = self.mapper.blocks[0].args if self.mapper.blocks else []
        if len(args) != len(self.operands):
            raise self.error(
                "expects number of operands to match the arity of mapper, but got: "
                f"{len(self.operands)} and {len(args)}"
            )
        for value, arg in zip(self.inputs, args, strict=False):
            element = element_of_operand(value.type)
            if element is not arg.type:
                raise self.error(
                    f"expected element type of input '{element}' to match bbArg type '{arg.type}'"
                )
        wanted = self.init.type.shape
        for value in self.inputs:
            shape = value.type.shape
            if shape != wanted:
                given, expected = (
                    ", ".join("-9223372036854775808" if n is None else str(n) for n in one)
                    for one in (shape, wanted)
                )
                raise self.error(
                    f"expected shape of input ({given}) to match shape of output ({expected})"
                )
        self.verify_structure()

    @property
    def iterators(self) -> list[str]:
        return ["parallel"] * self.init.type.rank


class Reduce(StructuredOp, name="linalg.reduce"):
    """Combine the elements of the inputs along `dimensions`, with the body, into the outputs."""

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
        rank = self.operands[0].type.rank
        return ["reduction" if d in self.dimensions else "parallel" for d in range(rank)]

    @property
    def maps(self) -> list[AffineMap]:
        rank = self.operands[0].type.rank
        kept = projection(rank, *(d for d in range(rank) if d not in self.dimensions))
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
        if list(self.dimensions) != sorted(set(self.dimensions)):
            raise self.error(
                "attribute 'dimensions' failed to satisfy constraint: i64 dense array attribute "
                "should be in increasing order"
            )
        left = [n for d, n in enumerate(source.shape) if d not in self.dimensions]
        if len(left) != target.rank:
            raise self.error(
                f"number of dimensions after reduction {len(left)} doesn't match the init rank "
                f"{target.rank}"
            )
        if any(a != b for a, b in zip(left, target.shape, strict=True) if None not in (a, b)):
            raise self.error(
                f"init dimensions {list(target.shape)} doesn't match input dimensions after "
                f"reduction {left}"
            )
        self.verify_structure()
