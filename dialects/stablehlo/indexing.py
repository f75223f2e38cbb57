"""Gathers and scatters of stablehlo: slices at positions that other tensors give."""

from __future__ import annotations

from ..vocabulary import *
from .checks import check_count, check_dims, check_result, is_ranked
from .kinds import table
from .reductions import REGION, check_body

OPS = table(
    """
    gather: Slices of the operand, each at a start that `start_indices` give.
      input:tensor start_indices:tensor !dimension_numbers:gather !slice_sizes:ints
      !indices_are_sorted:bool? -> result:tensor
    > %r = "stablehlo.gather"(%x, %i)
    >     <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
    >     start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>}>
    >     : (tensor<4x6xf32>, tensor<3x1xi32>) -> tensor<3x6xf32>

    dynamic_gather: A gather of slices whose sizes are known when the program runs.
      input:tensor start_indices:tensor slice_sizes:tensor !dimension_numbers:gather
      !indices_are_sorted:bool? -> result:tensor
    > %r = "stablehlo.dynamic_gather"(%x, %i, %s)
    >     <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
    >     start_index_map = [0], index_vector_dim = 1>}>
    >     : (tensor<4x?xf32>, tensor<3x1xi32>, tensor<2xi32>) -> tensor<3x?xf32>

    torch_index_select: Slices along a dimension, at positions that an index gives.
      input:tensor index:tensor !dim:i64 !batch_dims:i64 -> result:tensor
    > %r = "stablehlo.torch_index_select"(%x, %i)
    >     <{batch_dims = 0 : i64, dim = 0 : i64}>
    >     : (tensor<4x6xf32>, tensor<3xi32>) -> tensor<3x6xf32>
    """,
    Pure,
)

SCATTERS = table(
    """
    scatter: Slices of tensors combined with updates by a region, where indices say.
      values:tensor* !scatter_dimension_numbers:scatter !indices_are_sorted:bool?
      !unique_indices:bool? ^update_computation -> outs:tensor*
    > %r = "stablehlo.scatter"(%x, %i, %u)
    >     <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
    >     inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
    >     index_vector_dim = 1>}>
    >     ({
    > ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    >   %0 = stablehlo.add %a, %b : tensor<f32>
    >   stablehlo.return %0 : tensor<f32>
    > }) : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<3x6xf32>) -> tensor<4x6xf32>
    """,
    *REGION,
)


@OPS.verifies("gather")
def _check_gather(op: Any) -> None:
    source, indices = op.input.type, op.start_indices.type
    if not is_ranked(source, indices):
        return
    dims = op.dimension_numbers
    check_count(op, op.slice_sizes, source.rank, "slice_sizes")
    gone = (*dims.value("collapsed_slice_dims"), *dims.value("operand_batching_dims"))
    check_dims(op, gone, source.rank, "collapsed_slice_dims")
    check_dims(op, dims.value("start_index_map"), source.rank, "start_index_map")
    for size, extent in zip(op.slice_sizes, source.shape, strict=True):
        if size < 0 or (extent is not None and size > extent):
            raise op.error(f"slice size {size} does not fit extent {extent}")
    for i in gone:
        if op.slice_sizes[i] > 1:
            raise op.error(f"slice size {op.slice_sizes[i]} of a dimension that is dropped")
    batch = _without(op, indices.shape, dims.value("index_vector_dim"))
    inner = [size for i, size in enumerate(op.slice_sizes) if i not in gone]
    offsets = dims.value("offset_dims")
    rank = len(batch) + len(inner)
    check_count(op, offsets, len(inner), "offset_dims")
    check_dims(op, offsets, rank, "offset_dims", ordered=True)
    rest, own = iter(batch), iter(inner)
    shape = [next(own) if i in offsets else next(rest) for i in range(rank)]
    check_result(op, shape, source.element_type)


def _without(op: Any, shape: Sequence[Any], dim: int) -> list[Any]:
    """A shape of indices without dimension `dim`, along which the parts of one index lie.

    Raises NncError if `dim` is out of range; the rank itself stands for no such dimension.
    """
    if not 0 <= dim <= len(shape):
        raise op.error(f"index_vector_dim: {dim} is out of range for rank {len(shape)}")
    return [d for i, d in enumerate(shape) if i != dim]


@SCATTERS.verifies("scatter")
def _check_scatter(op: Any) -> None:
    if len(op.operands) % 2 == 0:
        raise op.error("requires as many updates as inputs, and indices")
    count = len(op.operands) // 2
    sources, indices, updates = op.operands[:count], op.operands[count], op.operands[count + 1 :]
    check_body(op, op.update_computation, 2 * count, count)
    if len(op.outs) != count:
        raise op.error(f"requires {count} results")
    dims = op.scatter_dimension_numbers
    for i, (source, update) in enumerate(zip(sources, updates, strict=True)):
        if not is_ranked(source.type, indices.type, update.type):
            continue
        gone = (*dims.value("inserted_window_dims"), *dims.value("input_batching_dims"))
        check_dims(op, gone, source.type.rank, "inserted_window_dims")
        check_dims(
            op,
            dims.value("scatter_dims_to_operand_dims"),
            source.type.rank,
            "scatter_dims_to_operand_dims",
        )
        windows = dims.value("update_window_dims")
        check_dims(op, windows, update.type.rank, "update_window_dims", ordered=True)
        check_count(op, windows, source.type.rank - len(gone), "update_window_dims")
        batch = _without(op, indices.type.shape, dims.value("index_vector_dim"))
        if len(batch) + len(windows) != update.type.rank:
            raise op.error(f"updates '{update.type}' do not fit indices '{indices.type}'")
        check_result(op, source.type.shape, source.type.element_type, i)
