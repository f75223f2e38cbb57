"""The ops of stablehlo that make, move and reshape tensors."""

from __future__ import annotations

from typing import Any

from ...ir.attribute_kinds import I64
from ...ir.constraints import AnyTensor
from ...ir.declare import (
    INT_ARRAY,
    Op,
    Operand,
    Operands,
    Result,
    attribute,
    operand,
    operands,
    result,
)
from ...ir.traits import Pure
from ...ir.types import TensorType
from .attributes import RNG_DISTRIBUTION
from .checks import check_count, check_dims, check_result, fits, is_ranked

PURE = (Pure,)
FUNCTIONAL = "attr-dict `:` functional-type(operands, results)"


class Iota(Op, name="stablehlo.iota", traits=PURE):
    """Positions along a dimension: 0, 1, .."""

    iota_dimension = attribute(I64)
    output: Result = result(AnyTensor)

    format = "`dim` `=` $iota_dimension attr-dict `:` type($output)"
    example = "%r = stablehlo.iota dim = 1 : tensor<4x6xi32>"

    def verify_op(self) -> None:
        if isinstance(self.output.type, TensorType):
            check_dims(self, (self.iota_dimension,), self.output.type.rank, "iota_dimension")


class DynamicIota(Op, name="stablehlo.dynamic_iota", traits=PURE):
    """Positions along a dimension, in a shape that is known when the program runs."""

    output_shape: Operand = operand(AnyTensor)
    iota_dimension = attribute(I64)
    result: Result = result(AnyTensor)

    format = f"custom<SomeOperands>(operands) `,` `dim` `=` $iota_dimension {FUNCTIONAL}"
    example = "%r = stablehlo.dynamic_iota %s, dim = 1 : (tensor<2xi32>) -> tensor<?x?xi32>"

    def verify_op(self) -> None:
        if isinstance(self.result.type, TensorType):
            check_dims(self, (self.iota_dimension,), self.result.type.rank, "iota_dimension")


class Reshape(Op, name="stablehlo.reshape", traits=PURE):
    """The same elements in another shape."""

    input: Operand = operand(AnyTensor)
    result: Result = result(AnyTensor)

    format = f"operands {FUNCTIONAL}"
    example = "%r = stablehlo.reshape %x : (tensor<4x6xf32>) -> tensor<24xf32>"

    def verify_op(self) -> None:
        given, out = self.input.type, self.result.type
        if not is_ranked(given, out):
            return
        if given.element_type is not out.element_type:
            raise self.error("requires the same element type for operand and result")
        static = given.has_static_shape and out.has_static_shape
        if static and given.num_elements != out.num_elements:
            raise self.error(
                f"number of output elements ({out.num_elements}) doesn't match expected number of "
                f"elements ({given.num_elements})"
            )


class BitcastConvert(Op, name="stablehlo.bitcast_convert", traits=PURE):
    """The same bits as elements of another type; a last dimension makes up for widths."""

    input: Operand = operand(AnyTensor)
    result: Result = result(AnyTensor)

    format = f"operands {FUNCTIONAL}"
    example = "%r = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4xi32>"


class DynamicReshape(Op, name="stablehlo.dynamic_reshape", traits=PURE):
    """The same elements in a shape that is known when the program runs."""

    input: Operand = operand(AnyTensor)
    output_shape: Operand = operand(AnyTensor)
    result: Result = result(AnyTensor)

    format = f"operands {FUNCTIONAL}"
    example = (
        "%r = stablehlo.dynamic_reshape %x, %s : "
        "(tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x?xf32>"
    )


class Broadcast(Op, name="stablehlo.broadcast", traits=PURE):
    """The operand repeated along new first dimensions."""

    input: Operand = operand(AnyTensor)
    broadcast_sizes = attribute(INT_ARRAY)
    result: Result = result(AnyTensor)

    format = f"custom<SomeOperands>(operands) `,` `sizes` `=` $broadcast_sizes {FUNCTIONAL}"
    example = "%r = stablehlo.broadcast %x, sizes = [2] : (tensor<4xf32>) -> tensor<2x4xf32>"

    def verify_op(self) -> None:
        if isinstance(self.input.type, TensorType):
            shape = (*self.broadcast_sizes, *self.input.type.shape)
            check_result(self, shape, self.input.type.element_type)


class BroadcastInDim(Op, name="stablehlo.broadcast_in_dim", traits=PURE):
    """The operand repeated; its dimensions become those of the result that are named."""

    input: Operand = operand(AnyTensor)
    broadcast_dimensions = attribute(INT_ARRAY)
    result: Result = result(AnyTensor)

    format = f"custom<SomeOperands>(operands) `,` `dims` `=` $broadcast_dimensions {FUNCTIONAL}"
    example = "%r = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>"

    def verify_op(self) -> None:
        _check_broadcast(self, self.input.type, self.broadcast_dimensions)


class DynamicBroadcastInDim(Op, name="stablehlo.dynamic_broadcast_in_dim", traits=PURE):
    """The operand repeated to a shape that is known when the program runs."""

    input: Operand = operand(AnyTensor)
    output_dimensions: Operand = operand(AnyTensor)
    broadcast_dimensions = attribute(INT_ARRAY)
    known_expanding_dimensions: Any = attribute(INT_ARRAY, optional=True)
    known_nonexpanding_dimensions: Any = attribute(INT_ARRAY, optional=True)
    result: Result = result(AnyTensor)

    format = f"custom<SomeOperands>(operands) `,` `dims` `=` $broadcast_dimensions {FUNCTIONAL}"
    example = (
        "%r = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [] : "
        "(tensor<f32>, tensor<2xi32>) -> tensor<?x4xf32>"
    )

    def verify_op(self) -> None:
        _check_broadcast(self, self.input.type, self.broadcast_dimensions)


def _check_broadcast(op: Any, given: Any, dims: Any) -> None:
    out = op.result_types[0]
    if not is_ranked(given, out):
        return
    check_count(op, dims, given.rank, "broadcast_dimensions")
    check_dims(op, dims, out.rank, "broadcast_dimensions")
    if given.element_type is not out.element_type:
        raise op.error("requires the same element type for operand and result")
    for i, dim in enumerate(dims):
        if given.shape[i] != 1 and not fits(given.shape[i], out.shape[dim]):
            raise op.error(
                f"size of operand dimension {i} ({given.shape[i]}) is not equal to 1 or size of "
                f"result dimension {dim} ({out.shape[dim]})"
            )


class Transpose(Op, name="stablehlo.transpose", traits=PURE):
    """The operand with its dimensions in another order."""

    input: Operand = operand(AnyTensor)
    permutation = attribute(INT_ARRAY)
    result: Result = result(AnyTensor)

    format = f"custom<SomeOperands>(operands) `,` `dims` `=` $permutation {FUNCTIONAL}"
    example = "%r = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>"

    def verify_op(self) -> None:
        given = self.input.type
        if not isinstance(given, TensorType):
            return
        check_count(self, self.permutation, given.rank, "permutation")
        check_dims(self, self.permutation, given.rank, "permutation")
        shape = [given.shape[i] for i in self.permutation]
        check_result(self, shape, given.element_type)


class Reverse(Op, name="stablehlo.reverse", traits=PURE):
    """The operand with the elements of some dimensions in the other order."""

    input: Operand = operand(AnyTensor)
    dimensions = attribute(INT_ARRAY)
    result: Result = result(AnyTensor)

    format = (
        "custom<SomeOperands>(operands) `,` `dims` `=` $dimensions attr-dict `:` "
        "custom<SameOperandsAndResultType>(operands, type(results))"
    )
    example = "%r = stablehlo.reverse %x, dims = [0] : tensor<4x6xf32>"

    def verify_op(self) -> None:
        given = self.input.type
        if isinstance(given, TensorType):
            check_dims(self, self.dimensions, given.rank, "dimensions")
            check_result(self, given.shape, given.element_type)


class Concatenate(Op, name="stablehlo.concatenate", traits=PURE):
    """Tensors one after the other along a dimension."""

    inputs: Operands = operands(AnyTensor)
    dimension = attribute(I64)
    result: Result = result(AnyTensor)

    format = f"custom<SomeOperands>(operands) `,` `dim` `=` $dimension {FUNCTIONAL}"
    example = (
        "%r = stablehlo.concatenate %x, %y, dim = 0 : "
        "(tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>"
    )

    def verify_op(self) -> None:
        types: list[Any] = list(self.operand_types)
        if not types:
            raise self.error("requires at least one operand")
        if not is_ranked(*types):
            return
        check_dims(self, (self.dimension,), types[0].rank, "dimension")
        at, shape = self.dimension, list(types[0].shape)
        for type in types[1:]:
            same = type.rank == len(shape) and type.element_type is types[0].element_type
            if not same or any(
                not fits(a, b)
                for i, (a, b) in enumerate(zip(shape, type.shape, strict=True))
                if i != at
            ):
                raise self.error(f"cannot concatenate '{types[0]}' and '{type}'")
        extents = [type.shape[at] for type in types]
        shape[at] = None if None in extents else sum(extents)
        check_result(self, shape, types[0].element_type)


class Slice(Op, name="stablehlo.slice", traits=PURE):
    """Elements from a start on, before a limit, with a stride, in each dimension."""

    input: Operand = operand(AnyTensor)
    start_indices = attribute(INT_ARRAY)
    limit_indices = attribute(INT_ARRAY)
    strides = attribute(INT_ARRAY)
    result: Result = result(AnyTensor)

    format = "operands custom<SliceRanges>($start_indices, $limit_indices, $strides) " + FUNCTIONAL
    example = "%r = stablehlo.slice %x [1:3, 0:6:2] : (tensor<4x6xf32>) -> tensor<2x3xf32>"

    def verify_op(self) -> None:
        given = self.input.type
        if not isinstance(given, TensorType):
            return
        shape = []
        ranges = (self.start_indices, self.limit_indices, self.strides)
        for values in ranges:
            check_count(self, values, given.rank, "slice")
        for start, limit, stride, extent in zip(*ranges, given.shape, strict=True):
            if start < 0 or limit < start or stride < 1 or (extent is not None and limit > extent):
                raise self.error(f"range {start}:{limit}:{stride} does not fit extent {extent}")
            shape.append(-(-(limit - start) // stride))
        check_result(self, shape, given.element_type)


class RealDynamicSlice(Op, name="stablehlo.real_dynamic_slice", traits=PURE):
    """A slice whose starts, limits and strides are known when the program runs."""

    input: Operand = operand(AnyTensor)
    start_indices: Operand = operand(AnyTensor)
    limit_indices: Operand = operand(AnyTensor)
    strides: Operand = operand(AnyTensor)
    result: Result = result(AnyTensor)

    format = f"operands {FUNCTIONAL}"
    example = (
        "%r = stablehlo.real_dynamic_slice %x, %a, %b, %c : "
        "(tensor<?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>"
    )


class DynamicSlice(Op, name="stablehlo.dynamic_slice", traits=PURE):
    """A slice of known sizes at a start that is known when the program runs."""

    input: Operand = operand(AnyTensor)
    start_indices: Operands = operands(AnyTensor)
    slice_sizes = attribute(INT_ARRAY)
    result: Result = result(AnyTensor)

    format = f"custom<SomeOperands>(operands) `,` `sizes` `=` $slice_sizes {FUNCTIONAL}"
    example = (
        "%r = stablehlo.dynamic_slice %x, %i, sizes = [2] : "
        "(tensor<4xf32>, tensor<i32>) -> tensor<2xf32>"
    )

    def verify_op(self) -> None:
        given = self.input.type
        if not isinstance(given, TensorType):
            return
        check_count(self, self.start_indices, given.rank, "start_indices")
        check_count(self, self.slice_sizes, given.rank, "slice_sizes")
        for size, extent in zip(self.slice_sizes, given.shape, strict=True):
            if size < 0 or (extent is not None and size > extent):
                raise self.error(f"slice size {size} does not fit extent {extent}")
        check_result(self, self.slice_sizes, given.element_type)


class DynamicUpdateSlice(Op, name="stablehlo.dynamic_update_slice", traits=PURE):
    """The operand with a part replaced, at a start that is known when the program runs."""

    input: Operand = operand(AnyTensor)
    update: Operand = operand(AnyTensor)
    start_indices: Operands = operands(AnyTensor)
    result: Result = result(AnyTensor)

    format = f"operands {FUNCTIONAL}"
    example = (
        "%r = stablehlo.dynamic_update_slice %x, %u, %i : "
        "(tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4xf32>"
    )

    def verify_op(self) -> None:
        given, update = self.input.type, self.update.type
        if not is_ranked(given, update):
            return
        check_count(self, self.start_indices, given.rank, "start_indices")
        for size, extent in zip(update.shape, given.shape, strict=False):
            if size is not None and extent is not None and size > extent:
                raise self.error(f"update '{update}' does not fit operand '{given}'")
        if update.rank != given.rank or update.element_type is not given.element_type:
            raise self.error(f"update '{update}' does not fit operand '{given}'")
        check_result(self, given.shape, given.element_type)


class Pad(Op, name="stablehlo.pad", traits=PURE):
    """The operand with a value around and between its elements; negative padding cuts."""

    input: Operand = operand(AnyTensor)
    padding_value: Operand = operand(AnyTensor)
    edge_padding_low = attribute(INT_ARRAY)
    edge_padding_high = attribute(INT_ARRAY)
    interior_padding = attribute(INT_ARRAY)
    result: Result = result(AnyTensor)

    format = (
        "custom<SomeOperands>(operands) `,` `low` `=` $edge_padding_low `,` "
        "`high` `=` $edge_padding_high `,` "
        f"`interior` `=` $interior_padding {FUNCTIONAL}"
    )
    example = (
        "%r = stablehlo.pad %x, %v, low = [1], high = [-1], interior = [2] : "
        "(tensor<4xf32>, tensor<f32>) -> tensor<10xf32>"
    )

    def verify_op(self) -> None:
        given = self.input.type
        if not isinstance(given, TensorType):
            return
        pads = (self.edge_padding_low, self.edge_padding_high, self.interior_padding)
        for values in pads:
            check_count(self, values, given.rank, "padding")
        shape = []
        for extent, low, high, inner in zip(given.shape, *pads, strict=True):
            if inner < 0:
                raise self.error("interior padding must not be negative")
            if extent is None:
                shape.append(None)
                continue
            found = extent + low + high + max(extent - 1, 0) * inner
            if found < 0:
                raise self.error(f"padding leaves {found} elements of a dimension")
            shape.append(found)
        check_result(self, shape, given.element_type)


class DynamicPad(Op, name="stablehlo.dynamic_pad", traits=PURE):
    """Padding whose amounts are known when the program runs."""

    input: Operand = operand(AnyTensor)
    padding_value: Operand = operand(AnyTensor)
    edge_padding_low: Operand = operand(AnyTensor)
    edge_padding_high: Operand = operand(AnyTensor)
    interior_padding: Operand = operand(AnyTensor)
    result: Result = result(AnyTensor)

    format = f"operands {FUNCTIONAL}"
    example = (
        "%r = stablehlo.dynamic_pad %x, %v, %a, %b, %c : (tensor<?xf32>, tensor<f32>, "
        "tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>"
    )


class GetDimensionSize(Op, name="stablehlo.get_dimension_size", traits=PURE):
    """An extent as a number."""

    input: Operand = operand(AnyTensor)
    dimension = attribute(I64)
    result: Result = result(AnyTensor)

    format = f"custom<SomeOperands>(operands) `,` `dim` `=` $dimension {FUNCTIONAL}"
    example = "%r = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>"

    def verify_op(self) -> None:
        if isinstance(self.input.type, TensorType):
            check_dims(self, (self.dimension,), self.input.type.rank, "dimension")


class SetDimensionSize(Op, name="stablehlo.set_dimension_size", traits=PURE):
    """The operand with another extent of a dimension, up to the one it has."""

    input: Operand = operand(AnyTensor)
    size: Operand = operand(AnyTensor)
    dimension = attribute(I64)
    result: Result = result(AnyTensor)

    format = f"custom<SomeOperands>(operands) `,` `dim` `=` $dimension {FUNCTIONAL}"
    example = (
        "%r = stablehlo.set_dimension_size %x, %n, dim = 0 : "
        "(tensor<4xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<4>>"
    )

    def verify_op(self) -> None:
        if isinstance(self.input.type, TensorType):
            check_dims(self, (self.dimension,), self.input.type.rank, "dimension")


class Rng(Op, name="stablehlo.rng"):
    """Random numbers of a distribution."""

    a: Operand = operand(AnyTensor)
    b: Operand = operand(AnyTensor)
    shape: Operand = operand(AnyTensor)
    rng_distribution = attribute(RNG_DISTRIBUTION)
    result: Result = result(AnyTensor)

    format = f"custom<SomeOperands>(operands) `,` `distribution` `=` $rng_distribution {FUNCTIONAL}"
    example = (
        "%r = stablehlo.rng %a, %b, %s, distribution = UNIFORM : "
        "(tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>"
    )
