"""The ops of stablehlo that apply a region to elements: reductions, windows, sorting, maps."""

from __future__ import annotations

from ..vocabulary import *
from .checks import check_count, check_dims, check_result, is_ranked, types_fit
from .kinds import table

TRUTH_TENSOR = TensorType((), i1)
"""The type of a condition."""

REGION = (RecursiveEffects, SingleBlock)


def check_body(op: Any, body: Region, count: int, results: int, what: str = "region") -> None:
    """Check that a region has one block with `count` arguments that returns `results` values."""
    if len(body.blocks) != 1 or not body.blocks[0].ops:
        raise op.error(f"{what} needs a block with operations")
    block = body.blocks[0]
    if len(block.args) != count:
        raise op.error(f"{what} must take {count} arguments, but takes {len(block.args)}")
    last = list(block.ops)[-1]
    if last.name != "stablehlo.return" or len(last.operands) != results:
        raise op.error(f"{what} must end in a stablehlo.return of {results} values")


def check_returned(op: Any, body: Region, wanted: Sequence[Type], what: str = "region") -> None:
    """Check the types of what a region returns, whose form `check_body` has checked."""
    last = body.blocks[0].last
    assert last is not None
    for value, type in zip(last.operands, wanted, strict=True):
        if not types_fit(value.type, type):
            raise op.error(f"{what} must return a value of type '{type}', but got '{value.type}'")


def pairs_of(op: Any) -> int:
    """The number of inputs of an op whose operands are n inputs, then n initial values.

    Raises NncError if the number of operands is odd or 0.
    """
    count = len(op.operands)
    if count % 2 or not count:
        raise op.error("requires as many initial values as inputs")
    return count // 2


class PairsOp(Op):
    """Base of ops whose operands are n inputs, then n initial values."""

    @property
    def inputs(self) -> Sequence[Any]:
        """The operands to be reduced."""
        return self.operands[: len(self.operands) // 2]

    @property
    def inits(self) -> Sequence[Any]:
        """The initial values."""
        return self.operands[len(self.operands) // 2 :]


PAIRS = table(
    """
    reduce: Elements combined along dimensions by a region.
      values:tensor* ^body !dimensions:ints -> outs:tensor*
    = custom<Reduce>($values, $dimensions, type($outs), $body, attr-dict)
    > %r = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] :
      (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>

    reduce_window: Elements of windows combined by a region.
      values:tensor* !window_dimensions:ints !window_strides:ints? !base_dilations:ints?
      !window_dilations:ints? !padding:any? ^body -> outs:tensor*
    > %r = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 2>}> ({
    > ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    >   %0 = stablehlo.add %a, %b : tensor<f32>
    >   stablehlo.return %0 : tensor<f32>
    > }) : (tensor<4xf32>, tensor<f32>) -> tensor<3xf32>
    """,
    *REGION,
    base=PairsOp,
)


OPS = table(
    """
    select_and_scatter: Values added up at the chosen element of each window: a pooling's gradient.
      input:tensor source:tensor init_value:tensor !window_dimensions:ints? !window_strides:ints?
      !padding:any? ^select ^scatter -> result:tensor
    > %r = "stablehlo.select_and_scatter"(%x, %y, %zero)
    >     <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}>
    >     ({
    > ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    >   %0 = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    >   stablehlo.return %0 : tensor<i1>
    > }, {
    > ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    >   %0 = stablehlo.add %a, %b : tensor<f32>
    >   stablehlo.return %0 : tensor<f32>
    > }) : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>

    sort: Tensors sorted together along a dimension; a region says what comes first.
      inputs:tensor* !dimension:i64? !is_stable:bool? ^comparator -> outs:tensor*
    > %r = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
    > ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    >   %0 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    >   stablehlo.return %0 : tensor<i1>
    > }) : (tensor<4xf32>) -> tensor<4xf32>

    map: A region applied to elements at the same place.
      inputs:tensor* !dimensions:ints ^computation -> result:tensor
    > %r = "stablehlo.map"(%x, %y) <{dimensions = array<i64: 0>}> ({
    > ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    >   %0 = stablehlo.add %a, %b : tensor<f32>
    >   stablehlo.return %0 : tensor<f32>
    > }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    """,
    *REGION,
)


NORMS = table(
    """
    batch_norm_inference: The operand normalized by a given mean and variance.
      input:tensor scale:tensor offset:tensor mean:tensor variance:tensor !epsilon:any
      !feature_index:i64 -> result:tensor
    > %r = "stablehlo.batch_norm_inference"(%x, %s, %o, %m, %v)
    >     <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}>
    >     : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) ->
    >     tensor<4x6xf32>

    batch_norm_training: The operand normalized by its own mean and variance, which are results too.
      input:tensor scale:tensor offset:tensor !epsilon:any !feature_index:i64 -> output:tensor
      batch_mean:tensor batch_var:tensor
    > %r:3 = "stablehlo.batch_norm_training"(%x, %s, %o)
    >     <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}>
    >     : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>,
    >     tensor<6xf32>)

    batch_norm_grad: The gradients of a batch normalization.
      input:tensor scale:tensor mean:tensor variance:tensor grad_output:tensor !epsilon:any
      !feature_index:i64 -> grad_operand:tensor grad_scale:tensor grad_offset:tensor
    > %r:3 = "stablehlo.batch_norm_grad"(%x, %s, %m, %v, %g)
    >     <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}>
    >     : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<4x6xf32>) ->
    >     (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
    """,
)


@PAIRS.verifies("reduce")
def _check_reduce(op: Any) -> None:
    count = pairs_of(op)
    check_body(op, op.body, 2 * count, count)
    if len(op.outs) != count:
        raise op.error(f"requires {count} results")
    for i, value in enumerate(op.inputs):
        type = value.type
        if isinstance(type, TensorType):
            check_dims(op, op.dimensions, type.rank, "dimensions")
            kept = [d for k, d in enumerate(type.shape) if k not in op.dimensions]
            check_result(op, kept, None, i)


def pairs(value: Any, count: int) -> tuple[tuple[int, int], ...]:
    """Padding before and behind each dimension, of an attribute that may be left out."""
    if not isinstance(value, DenseElements):
        return ((0, 0),) * count
    return tuple((int(low), int(high)) for low, high in value.to_numpy())


@PAIRS.verifies("reduce_window")
def _check_reduce_window(op: Any) -> None:
    count = pairs_of(op)
    check_body(op, op.body, 2 * count, count)
    rank = len(op.window_dimensions)
    names = ("window_strides", "base_dilations", "window_dilations")
    for name in names:
        check_count(op, getattr(op, name), rank, name)
        if any(step < 1 for step in getattr(op, name) or ()):
            raise op.error(f"{name} must be positive")
    shape = getattr(getattr(op.padding, "type", None), "shape", (rank, 2))
    if shape != (rank, 2):
        raise op.error(f"padding must be a tensor of {rank}x2 integers")
    if len(op.outs) != count:
        raise op.error(f"requires {count} results")
    for i, value in enumerate(op.inputs):
        if isinstance(value.type, TensorType):
            if value.type.rank != rank:
                raise op.error(f"window_dimensions do not fit rank {value.type.rank}")
            check_result(op, _windowed(op, value.type.shape), None, i)


def _windowed(op: Any, shape: Sequence[Any]) -> list[Any]:
    """The shape of a reduction over windows."""
    rank = len(shape)
    ones = (1,) * rank
    found = []
    for i, extent in enumerate(shape):
        if extent is None:
            found.append(None)
            continue
        spread = (op.base_dilations or ones)[i]
        room = max(0, (extent - 1) * spread + 1) + sum(pairs(op.padding, rank)[i])
        reach = (op.window_dimensions[i] - 1) * (op.window_dilations or ones)[i] + 1
        found.append(max(0, (room - reach) // (op.window_strides or ones)[i] + 1))
    return found


@OPS.verifies("select_and_scatter")
def _check_select_and_scatter(op: Any) -> None:
    check_body(op, op.select, 2, 1, "select")
    check_body(op, op.scatter, 2, 1, "scatter")
    if isinstance(op.input.type, TensorType):
        rank = op.input.type.rank
        check_count(op, op.window_dimensions, rank, "window_dimensions")
        check_count(op, op.window_strides, rank, "window_strides")
        check_result(op, op.input.type.shape, None)


@OPS.verifies("sort")
def _check_sort(op: Any) -> None:
    count = len(op.inputs)
    check_body(op, op.comparator, 2 * count, 1)
    if not count or op.operand_types != op.result_types:
        raise op.error("requires the same types for operands and results")
    check_returned(op, op.comparator, [TRUTH_TENSOR], "comparator")
    for i, arg in enumerate(op.comparator.blocks[0].args):
        given = op.operand_types[i // 2]
        wanted = TensorType((), given.element_type) if is_ranked(given) else arg.type
        if not types_fit(arg.type, wanted):
            raise op.error(
                f"comparator block argument #{i} should be of type '{wanted}' but got '{arg.type}'"
            )
    type = op.operand_types[0]
    if isinstance(type, TensorType) and op.dimension is not None:
        rank = type.rank
        dim = op.dimension % rank if -rank <= op.dimension < 0 else op.dimension
        check_dims(op, (dim,), rank, "dimension")


@OPS.verifies("map")
def _check_map(op: Any) -> None:
    check_body(op, op.computation, len(op.inputs), 1)


@NORMS.verifies("batch_norm_inference", "batch_norm_training")
def _check_batch_norm(op: Any) -> None:
    given = op.input.type
    if is_ranked(given):
        check_dims(op, (op.feature_index,), given.rank, "feature_index")
