"""Gathers and scatters of stablehlo: slices at positions that other tensors give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ir.attribute_kinds import I64
from ...ir.constraints import AnyTensor
from ...ir.declare import (
    BOOL,
    INT_ARRAY,
    Op,
    Operand,
    Operands,
    RegionField,
    Result,
    Results,
    attribute,
    operand,
    operands,
    region,
    result,
    results,
)
from ...ir.traits import Pure
from .attributes import GatherDims, ScatterDims, parameters_kind
from .checks import check_count, check_dims, check_result, is_ranked
from .reductions import REGION, check_body

_GATHER = parameters_kind(GatherDims)


class Gather(Op, name="stablehlo.gather", traits=(Pure,)):
    """Slices of the operand, each at a start that `start_indices` give."""

    input: Operand = operand(AnyTensor)
    start_indices: Operand = operand(AnyTensor)
    dimension_numbers: Any = attribute(_GATHER)
    slice_sizes = attribute(INT_ARRAY)
    indices_are_sorted: Any = attribute(BOOL, optional=True)
    result: Result = result(AnyTensor)

    example = """
        %r = "stablehlo.gather"(%x, %i)
            <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
            start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>}>
            : (tensor<4x6xf32>, tensor<3x1xi32>) -> tensor<3x6xf32>
    """

    def verify_op(self) -> None:
        source, indices = self.input.type, self.start_indices.type
        if not is_ranked(source, indices):
            return
        dims = self.dimension_numbers
        check_count(self, self.slice_sizes, source.rank, "slice_sizes")
        gone = (*dims.value("collapsed_slice_dims"), *dims.value("operand_batching_dims"))
        check_dims(self, gone, source.rank, "collapsed_slice_dims")
        check_dims(self, dims.value("start_index_map"), source.rank, "start_index_map")
        for size, extent in zip(self.slice_sizes, source.shape, strict=True):
            if size < 0 or (extent is not None and size > extent):
                raise self.error(f"slice size {size} does not fit extent {extent}")
        for i in gone:
            if self.slice_sizes[i] > 1:
                raise self.error(f"slice size {self.slice_sizes[i]} of a dimension that is dropped")
        batch = _without(self, indices.shape, dims.value("index_vector_dim"))
        inner = [size for i, size in enumerate(self.slice_sizes) if i not in gone]
        offsets = dims.value("offset_dims")
        rank = len(batch) + len(inner)
        check_count(self, offsets, len(inner), "offset_dims")
        check_dims(self, offsets, rank, "offset_dims", ordered=True)
        rest, own = iter(batch), iter(inner)
        shape = [next(own) if i in offsets else next(rest) for i in range(rank)]
        check_result(self, shape, source.element_type)


def _without(op: Any, shape: Sequence[Any], dim: int) -> list[Any]:
    """The shape of indices without the dimension that holds the parts of an index."""
    if not 0 <= dim <= len(shape):
        raise op.error(f"index_vector_dim: {dim} is out of range for rank {len(shape)}")
    return [d for i, d in enumerate(shape) if i != dim]


class DynamicGather(Op, name="stablehlo.dynamic_gather", traits=(Pure,)):
    """A gather of slices whose sizes are known when the program runs."""

    input: Operand = operand(AnyTensor)
    start_indices: Operand = operand(AnyTensor)
    slice_sizes: Operand = operand(AnyTensor)
    dimension_numbers: Any = attribute(_GATHER)
    indices_are_sorted: Any = attribute(BOOL, optional=True)
    result: Result = result(AnyTensor)

    example = """
        %r = "stablehlo.dynamic_gather"(%x, %i, %s)
            <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
            start_index_map = [0], index_vector_dim = 1>}>
            : (tensor<4x?xf32>, tensor<3x1xi32>, tensor<2xi32>) -> tensor<3x?xf32>
    """


class Scatter(Op, name="stablehlo.scatter", traits=REGION):
    """Slices of tensors combined with updates by a region, where indices say."""

    values: Operands = operands(AnyTensor)
    scatter_dimension_numbers: Any = attribute(parameters_kind(ScatterDims))
    indices_are_sorted: Any = attribute(BOOL, optional=True)
    unique_indices: Any = attribute(BOOL, optional=True)
    update_computation: RegionField = region()
    outs: Results = results(AnyTensor)

    example = """
        %r = "stablehlo.scatter"(%x, %i, %u)
            <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
            inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
            index_vector_dim = 1>}>
            ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %0 = stablehlo.add %a, %b : tensor<f32>
          stablehlo.return %0 : tensor<f32>
        }) : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<3x6xf32>) -> tensor<4x6xf32>
    """

    @property
    def parts(self) -> tuple[Sequence[Any], Any, Sequence[Any]]:
        """The operands, the indices and the updates."""
        count = len(self.operands) // 2
        return self.operands[:count], self.operands[count], self.operands[count + 1 :]

    def verify_op(self) -> None:
        if len(self.operands) % 2 == 0:
            raise self.error("requires as many updates as inputs, and indices")
        sources, indices, updates = self.parts
        count = len(sources)
        check_body(self, self.update_computation, 2 * count, count)
        if len(self.outs) != count:
            raise self.error(f"requires {count} results")
        dims = self.scatter_dimension_numbers
        for i, (source, update) in enumerate(zip(sources, updates, strict=True)):
            if not is_ranked(source.type, indices.type, update.type):
                continue
            gone = (*dims.value("inserted_window_dims"), *dims.value("input_batching_dims"))
            check_dims(self, gone, source.type.rank, "inserted_window_dims")
            check_dims(
                self,
                dims.value("scatter_dims_to_operand_dims"),
                source.type.rank,
                "scatter_dims_to_operand_dims",
            )
            windows = dims.value("update_window_dims")
            check_dims(self, windows, update.type.rank, "update_window_dims", ordered=True)
            check_count(self, windows, source.type.rank - len(gone), "update_window_dims")
            batch = _without(self, indices.type.shape, dims.value("index_vector_dim"))
            if len(batch) + len(windows) != update.type.rank:
                raise self.error(f"updates '{update.type}' do not fit indices '{indices.type}'")
            check_result(self, source.type.shape, source.type.element_type, i)


class TorchIndexSelect(Op, name="stablehlo.torch_index_select", traits=(Pure,)):
    """Slices along a dimension, at positions that an index gives."""

    input: Operand = operand(AnyTensor)
    index: Operand = operand(AnyTensor)
    dim = attribute(I64)
    batch_dims = attribute(I64)
    result: Result = result(AnyTensor)

    example = """
        %r = "stablehlo.torch_index_select"(%x, %i)
            <{batch_dims = 0 : i64, dim = 0 : i64}>
            : (tensor<4x6xf32>, tensor<3xi32>) -> tensor<3x6xf32>
    """
