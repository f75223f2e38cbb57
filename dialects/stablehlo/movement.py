"""The ops of stablehlo that make, move and reshape tensors."""

from __future__ import annotations

from ..vocabulary import *
from .checks import check_count, check_dims, check_result, fits, is_ranked, same_elements
from .kinds import table

OPS = table(
    """
    iota: Positions along a dimension: 0, 1, ..
      !iota_dimension:i64 -> output:tensor
    = `dim` `=` $iota_dimension attr-dict `:` type($output)
    > %r = stablehlo.iota dim = 1 : tensor<4x6xi32>

    dynamic_iota: Positions along a dimension, in a shape that is known when the program runs.
      output_shape:tensor !iota_dimension:i64 -> result:tensor
    = custom<SomeOperands>(operands) `,` `dim` `=` $iota_dimension FUNCTIONAL
    > %r = stablehlo.dynamic_iota %s, dim = 1 : (tensor<2xi32>) -> tensor<?x?xi32>

    reshape: The same elements in another shape.
      input:tensor -> result:tensor
    = operands FUNCTIONAL
    > %r = stablehlo.reshape %x : (tensor<4x6xf32>) -> tensor<24xf32>

    bitcast_convert: The same bits as elements of another type; the last dimension makes up for it.
      input:tensor -> result:tensor
    = operands FUNCTIONAL
    > %r = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4xi32>

    dynamic_reshape: The same elements in a shape that is known when the program runs.
      input:tensor output_shape:tensor -> result:tensor
    = operands FUNCTIONAL
    > %r = stablehlo.dynamic_reshape %x, %s : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x?xf32>

    broadcast: The operand repeated along new first dimensions.
      input:tensor !broadcast_sizes:ints -> result:tensor
    = custom<SomeOperands>(operands) `,` `sizes` `=` $broadcast_sizes FUNCTIONAL
    > %r = stablehlo.broadcast %x, sizes = [2] : (tensor<4xf32>) -> tensor<2x4xf32>

    broadcast_in_dim: The operand repeated; its dimensions become the named ones of the result.
      input:tensor !broadcast_dimensions:ints -> result:tensor
    = custom<SomeOperands>(operands) `,` `dims` `=` $broadcast_dimensions FUNCTIONAL
    > %r = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>

    dynamic_broadcast_in_dim: The operand repeated to a shape that is known when the program runs.
      input:tensor output_dimensions:tensor !broadcast_dimensions:ints
      !known_expanding_dimensions:ints? !known_nonexpanding_dimensions:ints? -> result:tensor
    = custom<SomeOperands>(operands) `,` `dims` `=` $broadcast_dimensions FUNCTIONAL
    > %r = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [] : (tensor<f32>, tensor<2xi32>) ->
      tensor<?x4xf32>

    transpose: The operand with its dimensions in another order.
      input:tensor !permutation:ints -> result:tensor
    = custom<SomeOperands>(operands) `,` `dims` `=` $permutation FUNCTIONAL
    > %r = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>

    reverse: The operand with the elements of some dimensions in the other order.
      input:tensor !dimensions:ints -> result:tensor
    = custom<SomeOperands>(operands) `,` `dims` `=` $dimensions attr-dict `:`
      custom<SameOperandsAndResultType>(operands, type(results))
    > %r = stablehlo.reverse %x, dims = [0] : tensor<4x6xf32>

    concatenate: Tensors one after the other along a dimension.
      inputs:tensor* !dimension:i64 -> result:tensor
    = custom<SomeOperands>(operands) `,` `dim` `=` $dimension FUNCTIONAL
    > %r = stablehlo.concatenate %x, %y, dim = 0 : (tensor<2x4xf32>, tensor<3x4xf32>) ->
      tensor<5x4xf32>

    slice: Elements from a start on, before a limit, with a stride, in each dimension.
      input:tensor !start_indices:ints !limit_indices:ints !strides:ints -> result:tensor
    = operands custom<SliceRanges>($start_indices, $limit_indices, $strides) FUNCTIONAL
    > %r = stablehlo.slice %x [1:3, 0:6:2] : (tensor<4x6xf32>) -> tensor<2x3xf32>

    real_dynamic_slice: A slice whose starts, limits and strides are known when the program runs.
      input:tensor start_indices:tensor limit_indices:tensor strides:tensor -> result:tensor
    = operands FUNCTIONAL
    > %r = stablehlo.real_dynamic_slice %x, %a, %b, %c : (tensor<?xf32>, tensor<1xi64>,
      tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>

    dynamic_slice: A slice of known sizes at a start that is known when the program runs.
      input:tensor start_indices:tensor* !slice_sizes:ints -> result:tensor
    = custom<SomeOperands>(operands) `,` `sizes` `=` $slice_sizes FUNCTIONAL
    > %r = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<4xf32>, tensor<i32>) ->
      tensor<2xf32>

    dynamic_update_slice: The operand with a part replaced, at a start known when the program runs.
      input:tensor update:tensor start_indices:tensor* -> result:tensor
    = operands FUNCTIONAL
    > %r = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<4xf32>, tensor<2xf32>, tensor<i32>)
      -> tensor<4xf32>

    pad: The operand with a value around and between its elements; negative padding cuts.
      input:tensor padding_value:tensor !edge_padding_low:ints !edge_padding_high:ints
      !interior_padding:ints -> result:tensor
    = custom<SomeOperands>(operands) `,` `low` `=` $edge_padding_low `,` `high` `=`
      $edge_padding_high `,` `interior` `=` $interior_padding FUNCTIONAL
    > %r = stablehlo.pad %x, %v, low = [1], high = [-1], interior = [2] : (tensor<4xf32>,
      tensor<f32>) -> tensor<10xf32>

    dynamic_pad: Padding whose amounts are known when the program runs.
      input:tensor padding_value:tensor edge_padding_low:tensor edge_padding_high:tensor
      interior_padding:tensor -> result:tensor
    = operands FUNCTIONAL
    > %r = stablehlo.dynamic_pad %x, %v, %a, %b, %c : (tensor<?xf32>, tensor<f32>, tensor<1xi64>,
      tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>

    get_dimension_size: An extent as a number.
      input:tensor !dimension:i64 -> result:tensor
    = custom<SomeOperands>(operands) `,` `dim` `=` $dimension FUNCTIONAL
    > %r = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>

    set_dimension_size: The operand with another extent of a dimension, up to the one it has.
      input:tensor size:tensor !dimension:i64 -> result:tensor
    = custom<SomeOperands>(operands) `,` `dim` `=` $dimension FUNCTIONAL
    > %r = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<4xf32>, tensor<i32>) ->
      tensor<?xf32, #stablehlo.bounds<4>>
    """,
    Pure,
)


@OPS.verifies("iota", "dynamic_iota")
def _check_iota(op: Any) -> None:
    if isinstance(op.results[0].type, TensorType):
        check_dims(op, (op.iota_dimension,), op.results[0].type.rank, "iota_dimension")


@OPS.verifies("reshape")
def _check_reshape(op: Any) -> None:
    given, out = op.input.type, op.result.type
    if not is_ranked(given, out):
        return
    if not same_elements(given.element_type, out.element_type):
        raise op.error("requires the same element type for operand and result")
    static = given.has_static_shape and out.has_static_shape
    if static and given.num_elements != out.num_elements:
        raise op.error(
            f"number of output elements ({out.num_elements}) doesn't match expected number of "
            f"elements ({given.num_elements})"
        )


@OPS.verifies("broadcast")
def _check_broadcast(op: Any) -> None:
    if isinstance(op.input.type, TensorType):
        shape = (*op.broadcast_sizes, *op.input.type.shape)
        check_result(op, shape, op.input.type.element_type)


@OPS.verifies("broadcast_in_dim", "dynamic_broadcast_in_dim")
def _check_broadcast_in_dim(op: Any) -> None:
    given, dims, out = op.input.type, op.broadcast_dimensions, op.result.type
    if not is_ranked(given, out):
        return
    check_count(op, dims, given.rank, "broadcast_dimensions")
    check_dims(op, dims, out.rank, "broadcast_dimensions")
    if not same_elements(given.element_type, out.element_type):
        raise op.error("requires the same element type for operand and result")
    for i, dim in enumerate(dims):
        if given.shape[i] != 1 and not fits(given.shape[i], out.shape[dim]):
            raise op.error(
                f"size of operand dimension {i} ({given.shape[i]}) is not equal to 1 or size of "
                f"result dimension {dim} ({out.shape[dim]})"
            )


@OPS.verifies("transpose")
def _check_transpose(op: Any) -> None:
    given = op.input.type
    if not isinstance(given, TensorType):
        return
    check_count(op, op.permutation, given.rank, "permutation")
    check_dims(op, op.permutation, given.rank, "permutation")
    shape = [given.shape[i] for i in op.permutation]
    check_result(op, shape, given.element_type)


@OPS.verifies("reverse")
def _check_reverse(op: Any) -> None:
    given = op.input.type
    if isinstance(given, TensorType):
        check_dims(op, op.dimensions, given.rank, "dimensions")
        check_result(op, given.shape, given.element_type)


@OPS.verifies("concatenate")
def _check_concatenate(op: Any) -> None:
    types: list[Any] = list(op.operand_types)
    if not types:
        raise op.error("requires at least one operand")
    if not is_ranked(*types):
        return
    check_dims(op, (op.dimension,), types[0].rank, "dimension")
    at, shape = op.dimension, list(types[0].shape)
    for type in types[1:]:
        same = type.rank == len(shape) and same_elements(type.element_type, types[0].element_type)
        if not same or any(
            not fits(a, b)
            for i, (a, b) in enumerate(zip(shape, type.shape, strict=True))
            if i != at
        ):
            raise op.error(f"cannot concatenate '{types[0]}' and '{type}'")
    extents = [type.shape[at] for type in types]
    shape[at] = None if None in extents else sum(extents)
    check_result(op, shape, types[0].element_type)


@OPS.verifies("slice")
def _check_slice(op: Any) -> None:
    given = op.input.type
    if not isinstance(given, TensorType):
        return
    shape = []
    ranges = (op.start_indices, op.limit_indices, op.strides)
    for values in ranges:
        check_count(op, values, given.rank, "slice")
    for start, limit, stride, extent in zip(*ranges, given.shape, strict=True):
        if start < 0 or limit < start or stride < 1 or (extent is not None and limit > extent):
            raise op.error(f"range {start}:{limit}:{stride} does not fit extent {extent}")
        shape.append(-(-(limit - start) // stride))
    check_result(op, shape, given.element_type)


@OPS.verifies("dynamic_slice")
def _check_dynamic_slice(op: Any) -> None:
    given = op.input.type
    if not isinstance(given, TensorType):
        return
    check_count(op, op.start_indices, given.rank, "start_indices")
    check_count(op, op.slice_sizes, given.rank, "slice_sizes")
    for size, extent in zip(op.slice_sizes, given.shape, strict=True):
        if size < 0 or (extent is not None and size > extent):
            raise op.error(f"slice size {size} does not fit extent {extent}")
    check_result(op, op.slice_sizes, given.element_type)


@OPS.verifies("dynamic_update_slice")
def _check_dynamic_update_slice(op: Any) -> None:
    given, update = op.input.type, op.update.type
    if not is_ranked(given, update):
        return
    check_count(op, op.start_indices, given.rank, "start_indices")
    for size, extent in zip(update.shape, given.shape, strict=False):
        if size is not None and extent is not None and size > extent:
            raise op.error(f"update '{update}' does not fit operand '{given}'")
    if update.rank != given.rank or not same_elements(update.element_type, given.element_type):
        raise op.error(f"update '{update}' does not fit operand '{given}'")
    check_result(op, given.shape, given.element_type)


@OPS.verifies("pad")
def _check_pad(op: Any) -> None:
    given = op.input.type
    if not isinstance(given, TensorType):
        return
    pads = (op.edge_padding_low, op.edge_padding_high, op.interior_padding)
    for values in pads:
        check_count(op, values, given.rank, "padding")
    shape = []
    for extent, low, high, inner in zip(given.shape, *pads, strict=True):
        if inner < 0:
            raise op.error("interior padding must not be negative")
        if extent is None:
            shape.append(None)
            continue
        found = extent + low + high + max(extent - 1, 0) * inner
        if found < 0:
            raise op.error(f"padding leaves {found} elements of a dimension")
        shape.append(found)
    check_result(op, shape, given.element_type)


@OPS.verifies("get_dimension_size", "set_dimension_size")
def _check_dimension_size(op: Any) -> None:
    if isinstance(op.input.type, TensorType):
        check_dims(op, (op.dimension,), op.input.type.rank, "dimension")
