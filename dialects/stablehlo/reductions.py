"""The ops of stablehlo that apply a region to elements: reductions, windows, sorting, maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ir.attribute_kinds import I64
from ...ir.attributes import DenseElements
from ...ir.constraints import AnyTensor
from ...ir.core import Region
from ...ir.declare import (
    ANY,
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
from ...ir.traits import RecursiveEffects, SingleBlock
from ...ir.types import TensorType
from .checks import check_count, check_dims, check_result, is_ranked

REGION = (RecursiveEffects, SingleBlock)


def check_body(op: Any, body: Region, count: int, results: int, what: str = "region") -> None:
    """A region must have one block with so many arguments, which returns so many values."""
    if len(body.blocks) != 1 or not body.blocks[0].ops:
        raise op.error(f"{what} needs a block with operations")
    block = body.blocks[0]
    if len(block.args) != count:
        raise op.error(f"{what} must take {count} arguments, but takes {len(block.args)}")
    last = list(block.ops)[-1]
    if last.name != "stablehlo.return" or len(last.operands) != results:
        raise op.error(f"{what} must end in a stablehlo.return of {results} values")


def pairs_of(op: Any) -> int:
    """How many inputs an op of inputs and as many initial values has."""
    count = len(op.operands)
    if count % 2 or not count:
        raise op.error("requires as many initial values as inputs")
    return count // 2


class PairsOp(Op, traits=REGION):
    """What ops with inputs and as many initial values share."""

    values: Operands = operands(AnyTensor)
    body: RegionField = region()
    outs: Results = results(AnyTensor)

    @property
    def inputs(self) -> Sequence[Any]:
        """What is reduced."""
        return self.operands[: len(self.operands) // 2]

    @property
    def inits(self) -> Sequence[Any]:
        """The values to start with."""
        return self.operands[len(self.operands) // 2 :]


class Reduce(PairsOp, name="stablehlo.reduce"):
    """Elements combined along dimensions by a region."""

    values: Operands = operands(AnyTensor)
    dimensions = attribute(INT_ARRAY)
    body: RegionField = region()
    outs: Results = results(AnyTensor)

    format = "custom<Reduce>($values, $dimensions, type($outs), $body, attr-dict)"
    example = (
        "%r = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : "
        "(tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>"
    )

    def verify_op(self) -> None:
        count = pairs_of(self)
        check_body(self, self.body, 2 * count, count)
        if len(self.outs) != count:
            raise self.error(f"requires {count} results")
        for i, value in enumerate(self.inputs):
            type = value.type
            if isinstance(type, TensorType):
                check_dims(self, self.dimensions, type.rank, "dimensions")
                kept = [d for k, d in enumerate(type.shape) if k not in self.dimensions]
                check_result(self, kept, None, i)


def pairs(value: Any, count: int) -> tuple[tuple[int, int], ...]:
    """Padding before and behind each dimension, of an attribute that may be left out."""
    if not isinstance(value, DenseElements):
        return ((0, 0),) * count
    return tuple((int(low), int(high)) for low, high in value.to_numpy())


class ReduceWindow(PairsOp, name="stablehlo.reduce_window"):
    """Elements of windows combined by a region."""

    values: Operands = operands(AnyTensor)
    window_dimensions = attribute(INT_ARRAY)
    window_strides: Any = attribute(INT_ARRAY, optional=True)
    base_dilations: Any = attribute(INT_ARRAY, optional=True)
    window_dilations: Any = attribute(INT_ARRAY, optional=True)
    padding: Any = attribute(ANY, optional=True)
    body: RegionField = region()
    outs: Results = results(AnyTensor)

    example = """
        %r = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 2>}> ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %0 = stablehlo.add %a, %b : tensor<f32>
          stablehlo.return %0 : tensor<f32>
        }) : (tensor<4xf32>, tensor<f32>) -> tensor<3xf32>
    """

    def verify_op(self) -> None:
        count = pairs_of(self)
        check_body(self, self.body, 2 * count, count)
        rank = len(self.window_dimensions)
        names = ("window_strides", "base_dilations", "window_dilations")
        for name in names:
            check_count(self, getattr(self, name), rank, name)
            if any(step < 1 for step in getattr(self, name) or ()):
                raise self.error(f"{name} must be positive")
        shape = getattr(getattr(self.padding, "type", None), "shape", (rank, 2))
        if shape != (rank, 2):
            raise self.error(f"padding must be a tensor of {rank}x2 integers")
        if len(self.outs) != count:
            raise self.error(f"requires {count} results")
        for i, value in enumerate(self.inputs):
            if isinstance(value.type, TensorType):
                if value.type.rank != rank:
                    raise self.error(f"window_dimensions do not fit rank {value.type.rank}")
                check_result(self, self._shape(value.type.shape), None, i)

    def _shape(self, shape: Any) -> list[Any]:
        rank = len(shape)
        ones = (1,) * rank
        found = []
        for i, extent in enumerate(shape):
            if extent is None:
                found.append(None)
                continue
            spread = (self.base_dilations or ones)[i]
            room = max(0, (extent - 1) * spread + 1) + sum(pairs(self.padding, rank)[i])
            reach = (self.window_dimensions[i] - 1) * (self.window_dilations or ones)[i] + 1
            found.append(max(0, (room - reach) // (self.window_strides or ones)[i] + 1))
        return found


class SelectAndScatter(Op, name="stablehlo.select_and_scatter", traits=REGION):
    """Values added up where a window's chosen element stands: the gradient of a pooling."""

    input: Operand = operand(AnyTensor)
    source: Operand = operand(AnyTensor)
    init_value: Operand = operand(AnyTensor)
    window_dimensions: Any = attribute(INT_ARRAY, optional=True)
    window_strides: Any = attribute(INT_ARRAY, optional=True)
    padding: Any = attribute(ANY, optional=True)
    select: RegionField = region()
    scatter: RegionField = region()
    result: Result = result(AnyTensor)

    example = """
        %r = "stablehlo.select_and_scatter"(%x, %y, %zero)
            <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}>
            ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %0 = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %0 : tensor<i1>
        }, {
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %0 = stablehlo.add %a, %b : tensor<f32>
          stablehlo.return %0 : tensor<f32>
        }) : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
    """

    def verify_op(self) -> None:
        check_body(self, self.select, 2, 1, "select")
        check_body(self, self.scatter, 2, 1, "scatter")
        if isinstance(self.input.type, TensorType):
            rank = self.input.type.rank
            check_count(self, self.window_dimensions, rank, "window_dimensions")
            check_count(self, self.window_strides, rank, "window_strides")
            check_result(self, self.input.type.shape, None)


class Sort(Op, name="stablehlo.sort", traits=REGION):
    """Tensors sorted together along a dimension; a region says what comes first."""

    inputs: Operands = operands(AnyTensor)
    dimension: Any = attribute(I64, optional=True)
    is_stable: Any = attribute(BOOL, optional=True)
    comparator: RegionField = region()
    outs: Results = results(AnyTensor)

    example = """
        %r = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %0 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %0 : tensor<i1>
        }) : (tensor<4xf32>) -> tensor<4xf32>
    """

    def verify_op(self) -> None:
        count = len(self.inputs)
        check_body(self, self.comparator, 2 * count, 1)
        if not count or self.operand_types != self.result_types:
            raise self.error("requires the same types for operands and results")
        type = self.operand_types[0]
        if isinstance(type, TensorType) and self.dimension is not None:
            rank = type.rank
            check_dims(
                self,
                (self.dimension % rank if -rank <= self.dimension < 0 else self.dimension,),
                rank,
                "dimension",
            )


class Map(Op, name="stablehlo.map", traits=REGION):
    """A region applied to elements at the same place."""

    inputs: Operands = operands(AnyTensor)
    dimensions = attribute(INT_ARRAY)
    computation: RegionField = region()
    result: Result = result(AnyTensor)

    example = """
        %r = "stablehlo.map"(%x, %y) <{dimensions = array<i64: 0>}> ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %0 = stablehlo.add %a, %b : tensor<f32>
          stablehlo.return %0 : tensor<f32>
        }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    """

    def verify_op(self) -> None:
        check_body(self, self.computation, len(self.inputs), 1)


class BatchNormInference(Op, name="stablehlo.batch_norm_inference"):
    """The operand normalized by a given mean and variance."""

    input: Operand = operand(AnyTensor)
    scale: Operand = operand(AnyTensor)
    offset: Operand = operand(AnyTensor)
    mean: Operand = operand(AnyTensor)
    variance: Operand = operand(AnyTensor)
    epsilon: Any = attribute(ANY)
    feature_index = attribute(I64)
    result: Result = result(AnyTensor)

    example = """
        %r = "stablehlo.batch_norm_inference"(%x, %s, %o, %m, %v)
            <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}>
            : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) ->
            tensor<4x6xf32>
    """

    def verify_op(self) -> None:
        given = self.input.type
        if is_ranked(given):
            check_dims(self, (self.feature_index,), given.rank, "feature_index")


class BatchNormTraining(Op, name="stablehlo.batch_norm_training"):
    """The operand normalized by its own mean and variance, which are results too."""

    input: Operand = operand(AnyTensor)
    scale: Operand = operand(AnyTensor)
    offset: Operand = operand(AnyTensor)
    epsilon: Any = attribute(ANY)
    feature_index = attribute(I64)
    output: Result = result(AnyTensor)
    batch_mean: Result = result(AnyTensor)
    batch_var: Result = result(AnyTensor)

    example = """
        %r:3 = "stablehlo.batch_norm_training"(%x, %s, %o)
            <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}>
            : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>,
            tensor<6xf32>)
    """

    def result_names(self) -> list[str]:
        """As upstream."""
        return ["output", "batch_mean", "batch_var"]

    def verify_op(self) -> None:
        given = self.input.type
        if is_ranked(given):
            check_dims(self, (self.feature_index,), given.rank, "feature_index")


class BatchNormGrad(Op, name="stablehlo.batch_norm_grad"):
    """The gradients of a batch normalization."""

    input: Operand = operand(AnyTensor)
    scale: Operand = operand(AnyTensor)
    mean: Operand = operand(AnyTensor)
    variance: Operand = operand(AnyTensor)
    grad_output: Operand = operand(AnyTensor)
    epsilon: Any = attribute(ANY)
    feature_index = attribute(I64)
    grad_operand: Result = result(AnyTensor)
    grad_scale: Result = result(AnyTensor)
    grad_offset: Result = result(AnyTensor)

    example = """
        %r:3 = "stablehlo.batch_norm_grad"(%x, %s, %m, %v, %g)
            <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}>
            : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<4x6xf32>) ->
            (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
    """

    def result_names(self) -> list[str]:
        """As upstream."""
        return ["grad_operand", "grad_scale", "grad_offset"]
