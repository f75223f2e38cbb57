"""Operations of `keras.ops` in functional models, and the few of TensorFlow in those of Keras 2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import FloatType, Type, f32, i1, i32, i64
from ...common.activations import clipped
from ...common.einsum import einsum
from ...common.movement import (
    FAR,
    column,
    concat,
    padded_by,
    reversed_axes,
    rolled,
    slice_axis,
    split_into,
    swapped,
)
from ...common.reductions import largest, reduced, variance
from ...common.reshaping import expand_by, reshape_by
from ...common.shapes import broadcast, normalize_axes, normalize_axis, reshape, shape_of
from ...common.terms import Term
from ..functions import FUNCTIONS, gelu, glu, hard_shrink, log_softmax, soft_shrink, softmax
from ..layer import ROWS, KerasLayer, called, element_type, layer
from .core import encoded
from .reshaping import resized_image

Function = Callable[[KerasLayer], Any]


def add(table: dict[str, Function]) -> None:
    """Register operations."""
    ROWS.add({kind: called(function) for kind, function in table.items()})


# -- elements --------------------------------------------------------------------------------------


def pair(n: KerasLayer, a: Any, b: Any) -> tuple[Term, Term]:
    """Two operands in one element type; numbers and arrays take that of the tensor."""
    elements = [v.type.element_type for v in (a, b) if isinstance(v, Value)]
    if len(elements) == 2:
        floats = [e for e in elements if isinstance(e, FloatType)]
        wide = max(floats or elements, key=lambda e: e.width)
    else:
        (wide,) = elements or [f32]
        given = np.asarray(b if isinstance(a, Value) else a)
        if given.dtype.kind == "f" and not isinstance(wide, FloatType):
            wide = f32
    return operand(n, a, wide), operand(n, b, wide)


def operand(n: KerasLayer, value: Any, element: Type) -> Term:
    """A tensor, number or array in an element type."""
    if isinstance(value, Value):
        return Term(n, n.cast(value, element))
    try:
        return Term(n, n.constant(np.asarray(value), element))
    except (TypeError, ValueError):
        raise n.error(f"an argument is {value!r}, expected a tensor or numbers") from None


def two(n: KerasLayer) -> tuple[Term, Term]:
    """The two operands of a call."""
    names = [name for name in n.attributes.kwargs if name not in ("name", "dtype")]
    given = [*n.args, *(n.keyword(name) for name in names)][:2]
    if len(given) != 2:
        raise n.error("it is called with one operand, expected two")
    return pair(n, *given)


def binary(op: Callable[[Value, Value], Any]) -> Function:
    """An op of two operands."""

    def convert(n: KerasLayer) -> Value:
        a, b = two(n)
        return n(op(a.value, b.value))

    return convert


def unary(op: Callable[[Value], Any]) -> Function:
    """An op of one operand."""
    return lambda n: n(op(floating(n, n.tensor())))


def floating(n: KerasLayer, x: Value) -> Value:
    """x as floats."""
    return x if isinstance(x.type.element_type, FloatType) else n.cast(x, f32)


def formula(function: Callable[[Term], Term]) -> Function:
    """A formula of one operand."""
    return lambda n: function(Term(n, floating(n, n.tensor()))).value


def divided(n: KerasLayer) -> Value:
    """A quotient of floats."""
    a, b = two(n)
    return n(nn.Div(floating(n, a.value), floating(n, b.value)))


def floor_divided(n: KerasLayer) -> Value:
    """A quotient, rounded down."""
    a, b = two(n)
    if isinstance(a.element, FloatType):
        return (a / b).function(nn.Floor).value
    return ((a - a % b) / b).value


def unequal(n: KerasLayer) -> Value:
    """Whether operands differ."""
    a, b = two(n)
    return (~a.equals(b)).value


def logical(op: Callable[[Value, Value], Any]) -> Function:
    """Of truth values."""

    def convert(n: KerasLayer) -> Value:
        a, b = (_truth(n, operand(n, v, _element(v))) for v in n.args[:2])
        return n(op(a.value, b.value))

    return convert


def _element(value: Any) -> Type:
    return value.type.element_type if isinstance(value, Value) else i1


def _truth(n: KerasLayer, x: Term) -> Term:
    return x if x.element is i1 else ~x.equals(0)


_BINARY = {
    "Add": nn.Add, "Subtract": nn.Sub, "Multiply": nn.Mul, "Maximum": nn.Max, "Minimum": nn.Min,
    "Power": nn.Pow, "Mod": nn.Mod, "Equal": nn.Equal, "Greater": nn.Greater,
    "GreaterEqual": nn.GreaterEqual, "Less": nn.Less, "LessEqual": nn.LessEqual,
}  # fmt: skip
_UNARY = {
    "Exp": nn.Exp, "Log": nn.Log, "Sqrt": nn.Sqrt, "Rsqrt": nn.Rsqrt, "Sin": nn.Sin, "Cos": nn.Cos,
    "Tan": nn.Tan, "Sinh": nn.Sinh, "Cosh": nn.Cosh, "Tanh": nn.Tanh, "Arcsin": nn.Asin,
    "Arccos": nn.Acos, "Arctan": nn.Atan, "Arcsinh": nn.Asinh, "Arccosh": nn.Acosh,
    "Arctanh": nn.Atanh, "Erf": nn.Erf, "Floor": nn.Floor, "Ceil": nn.Ceil,
    "Reciprocal": nn.Reciprocal, "Isnan": nn.IsNan, "Isinf": nn.IsInf,
}  # fmt: skip
_KEEPING = {"Absolute": nn.Abs, "Abs": nn.Abs, "Negative": nn.Neg, "Sign": nn.Sign}
_ACTIVATIONS = {
    "Relu": "relu", "Relu6": "relu6", "Sigmoid": "sigmoid", "Softplus": "softplus",
    "Softsign": "softsign", "Silu": "silu", "LogSigmoid": "log_sigmoid", "Selu": "selu",
    "HardSigmoid": "hard_sigmoid", "HardSilu": "hard_silu", "HardTanh": "hard_tanh",
    "TanhShrink": "tanh_shrink", "SparsePlus": "sparse_plus", "SparseSigmoid": "sparse_sigmoid",
    "Squareplus": "squareplus",
}  # fmt: skip

add({f"ops.{kind}": binary(op) for kind, op in _BINARY.items()})
add({f"ops.{kind}": unary(op) for kind, op in _UNARY.items()})
add({f"ops.{kind}": lambda n, op=op: n(op(n.tensor())) for kind, op in _KEEPING.items()})
add(
    {
        f"ops.{kind}": lambda n, name=name: FUNCTIONS[name](n, n.tensor())
        for kind, name in _ACTIVATIONS.items()
    }
)
add(
    {
        "ops.Divide": divided,
        "ops.TrueDivide": divided,
        "ops.FloorDivide": floor_divided,
        "ops.NotEqual": unequal,
        "ops.LogicalAnd": logical(nn.And),
        "ops.LogicalOr": logical(nn.Or),
        "ops.LogicalXor": logical(nn.Xor),
        "ops.LogicalNot": lambda n: (~_truth(n, Term(n, n.tensor()))).value,
        "ops.Square": lambda n: n(nn.Mul(n.tensor(), n.tensor())),
        "ops.Log1p": formula(lambda x: (x + 1.0).function(nn.Log)),
        "ops.Log2": formula(lambda x: x.function(nn.Log) * (1 / np.log(2.0))),
        "ops.Log10": formula(lambda x: x.function(nn.Log) * (1 / np.log(10.0))),
        "ops.Expm1": formula(lambda x: x.function(nn.Exp) - 1.0),
        "ops.Elu": lambda n: n(nn.Elu(n.tensor(), alpha=float(n.argument(1, "alpha", 1.0)))),
        "ops.Celu": lambda n: n(nn.Celu(n.tensor(), alpha=float(n.argument(1, "alpha", 1.0)))),
        "ops.LeakyRelu": lambda n: n(
            nn.LeakyRelu(n.tensor(), alpha=float(n.argument(1, "negative_slope", 0.2)))
        ),
        "ops.Gelu": lambda n: gelu(n, n.tensor(), bool(n.argument(1, "approximate", True))),
        "ops.Glu": lambda n: glu(n, n.tensor(), int(n.argument(1, "axis", -1))),
        "ops.HardShrink": lambda n: hard_shrink(n, n.tensor(), n.number("threshold", 0.5)),
        "ops.SoftShrink": lambda n: soft_shrink(n, n.tensor(), n.number("threshold", 0.5)),
        "ops.LogSoftmax": lambda n: log_softmax(n, n.tensor(), int(n.argument(1, "axis", -1))),
        "ops.Clip": lambda n: clipped(
            n, n.tensor(), n.argument(1, "x_min"), n.argument(2, "x_max")
        ),
        "ops.Erfc": formula(lambda x: 1.0 - x.function(nn.Erf)),
    }
)


@layer("ops.Softmax")
def softmax_operation(n: KerasLayer) -> Value:
    axis = n.argument(1, "axis", -1)
    return softmax(n, n.tensor(), list(axis) if isinstance(axis, list | tuple) else axis, None)


@layer("ops.Round")
def rounded(n: KerasLayer) -> Value:
    x, decimals = n.tensor(), int(n.argument(1, "decimals", 0))
    if not decimals:
        return n(nn.Round(x))
    return ((Term(n, x) * 10.0**decimals).function(nn.Round) / 10.0**decimals).value


@layer("ops.Cast", "ops.SaturateCast", "tf.cast")
def cast(n: KerasLayer) -> Value:
    name = n.argument(1, "dtype")
    element = element_type(name)
    if element is None:
        raise n.error(f"elements of type '{name}' are not supported")
    return n.cast(n.tensor(), element)


@layer("ops.Where", "tf.where")
def where(n: KerasLayer) -> Value:
    condition, yes, no = n.argument(0, "condition"), n.argument(1, "x1"), n.argument(2, "x2")
    if not isinstance(condition, Value):
        raise n.error("it is not called with a condition")
    a, b = pair(n, yes, no)
    return _truth(n, Term(n, condition)).choose(a, b).value


# -- reductions ------------------------------------------------------------------------------------


def axes_of(n: KerasLayer, x: Value, given: Any) -> tuple[int, ...]:
    """The axes of an argument; all where it is None."""
    if given is None:
        return tuple(range(x.type.rank))
    listed = list(given) if isinstance(given, list | tuple) else [given]
    if not all(isinstance(axis, int) for axis in listed):
        raise n.error(f"'axis' is {given!r}, expected integers")
    return tuple(sorted(normalize_axes(n, listed, x.type.rank)))


def reduction(op: Any, floats: bool = False) -> Function:
    """An op that reduces along axes."""

    def convert(n: KerasLayer) -> Value:
        x = n.tensor()
        axes, keep = axes_of(n, x, n.argument(1, "axis")), bool(n.argument(2, "keepdims", False))
        return reduced(n, floating(n, x) if floats else x, op, axes, keep)

    return convert


def spread(root: bool) -> Function:
    """The variance, or its root."""

    def convert(n: KerasLayer) -> Value:
        x = floating(n, n.tensor())
        keep = bool(n.argument(2, "keepdims", False))
        found, _ = variance(n, x, axes_of(n, x, n.argument(1, "axis")), keep)
        return n(nn.Sqrt(found)) if root else found

    return convert


def arg_extreme(op: Any) -> Function:
    """Where the largest or smallest element is."""

    def convert(n: KerasLayer) -> Value:
        x, axis = n.tensor(), n.argument(1, "axis")
        if axis is None:
            x, axis = Term(n, x).flat().value, 0
        keep = bool(n.argument(2, "keepdims", False))
        found = n(op(x, axis=normalize_axis(n, axis, x.type.rank), keep_dims=keep))
        return n.cast(found, i32)

    return convert


def truths(op: Any) -> Function:
    """Whether all or some elements are true."""

    def convert(n: KerasLayer) -> Value:
        x = _truth(n, Term(n, n.tensor())).value
        keep = bool(n.argument(2, "keepdims", False))
        return reduced(n, x, op, axes_of(n, x, n.argument(1, "axis")), keep)

    return convert


def running(op: Any) -> Function:
    """Sums or products of all elements up to each."""

    def convert(n: KerasLayer) -> Value:
        x, axis = n.tensor(), n.argument(1, "axis")
        if axis is None:
            x, axis = Term(n, x).flat().value, 0
        return n(op(x, axis=normalize_axis(n, axis, x.type.rank)))

    return convert


add(
    {
        "ops.Mean": reduction(nn.ReduceMean, floats=True),
        "ops.Sum": reduction(nn.ReduceSum),
        "ops.Prod": reduction(nn.ReduceProd),
        "ops.Max": reduction(nn.ReduceMax),
        "ops.Amax": reduction(nn.ReduceMax),
        "ops.Min": reduction(nn.ReduceMin),
        "ops.Amin": reduction(nn.ReduceMin),
        "ops.Logsumexp": reduction(nn.ReduceLogSumExp, floats=True),
        "ops.Var": spread(root=False),
        "ops.Std": spread(root=True),
        "ops.Argmax": arg_extreme(nn.Argmax),
        "ops.Argmin": arg_extreme(nn.Argmin),
        "ops.All": truths(nn.ReduceMin),
        "ops.Any": truths(nn.ReduceMax),
        "ops.Cumsum": running(nn.Cumsum),
        "ops.Cumprod": running(nn.Cumprod),
    }
)


@layer("ops.Norm")
def norm(n: KerasLayer) -> Value:
    x, order = n.tensor(), n.argument(1, "ord")
    ops = {None: nn.ReduceL2, 2: nn.ReduceL2, 1: nn.ReduceL1}
    if order not in ops:
        raise n.error(f"'ord' is {order!r}, expected 1 or 2")
    axes = axes_of(n, x, n.argument(2, "axis"))
    return reduced(n, x, ops[order], axes, bool(n.argument(3, "keepdims", False)))


@layer("ops.Normalize")
def normalize(n: KerasLayer) -> Value:
    x = Term(n, n.tensor())
    if n.argument(2, "order", 2) != 2:
        raise n.error("'order' is not 2")
    axes, least = axes_of(n, x.value, n.argument(1, "axis", -1)), n.argument(3, "epsilon") or 1e-12
    square = (x * x).sum(*axes, keep=True)
    return (x * square.max(float(least) ** 2).function(nn.Rsqrt)).value


@layer("ops.TopK")
def top_k(n: KerasLayer) -> list[Value]:
    x = n.tensor()
    k = n.constant(int(n.argument(1, "k", 1)), i64)
    values, places = largest(n, x, k, x.type.rank - 1)
    return [values, n.cast(places, i32)]


# -- products --------------------------------------------------------------------------------------


@layer("ops.Einsum")
def einsum_operation(n: KerasLayer) -> Value:
    equation, *given = n.args
    if not isinstance(equation, str):
        equation, given = n.option("subscripts"), n.args
    return einsum(n, equation, [v for v in given if isinstance(v, Value)])


@layer("ops.Tensordot")
def tensordot(n: KerasLayer) -> Value:
    a, b = two(n)
    axes = n.argument(2, "axes", 2)
    if isinstance(axes, int):
        first, second = list(range(a.rank - axes, a.rank)), list(range(axes))
    else:
        first, second = ([x] if isinstance(x, int) else list(x) for x in axes)
    left, right = [chr(97 + i) for i in range(a.rank)], [chr(65 + i) for i in range(b.rank)]
    for i, j in zip(first, second, strict=True):
        right[j] = left[i]
    out = [c for c in left + right if (c in left) != (c in right)]
    equation = f"{''.join(left)},{''.join(right)}->{''.join(out)}"
    return einsum(n, equation, [a.value, b.value])


add({"ops.Matmul": binary(nn.Matmul), "ops.Dot": binary(nn.Matmul)})


# -- movement --------------------------------------------------------------------------------------


@layer("ops.Reshape", "tf.reshape")
def reshape_operation(n: KerasLayer) -> Value:
    x = n.tensor()
    given = n.argument(1, "newshape", n.argument(1, "shape"))
    return reshape_by(n, x, shape_of(n, x), _extents(n, x, given))


def _extents(n: KerasLayer, x: Value, given: Any) -> list[int]:
    """A shape as an argument; one extent may be left out, the batch's first."""
    found = [-1 if d is None else d for d in given or ()]
    if not all(isinstance(d, int) for d in found):
        raise n.error(f"the shape {given!r} is not known")
    if found.count(-1) > 1:
        raise n.error(f"the shape {list(given)} lacks more than one extent")
    return found


@layer("ops.Transpose", "tf.transpose")
def transpose(n: KerasLayer) -> Value:
    x = n.tensor()
    axes = n.argument(1, "axes", n.argument(1, "perm")) or tuple(reversed(range(x.type.rank)))
    if sorted(a % x.type.rank for a in axes) != list(range(x.type.rank)):
        raise n.error(f"the axes {list(axes)} are no order of {x.type.rank} dimensions")
    return n(nn.Transpose(x, permutation=tuple(a % x.type.rank for a in axes)))


@layer("ops.ExpandDims", "tf.expand_dims")
def expand_dims(n: KerasLayer) -> Value:
    x, given = n.tensor(), n.argument(1, "axis")
    listed = list(given) if isinstance(given, list | tuple) else [given]
    rank = x.type.rank + len(listed)
    new = normalize_axes(n, listed, rank)
    own = iter(range(x.type.rank))
    return reshape(n, x, [1 if i in new else (x, next(own)) for i in range(rank)])


@layer("ops.Squeeze", "tf.squeeze")
def squeeze(n: KerasLayer) -> Value:
    x, given = n.tensor(), n.argument(1, "axis")
    ones = [i for i, d in enumerate(x.type.shape) if d == 1]
    axes = ones if given is None else axes_of(n, x, given)
    return reshape(n, x, [(x, i) for i in range(x.type.rank) if i not in axes])


@layer("ops.Swapaxes")
def swapaxes(n: KerasLayer) -> Value:
    x = n.tensor()
    first, second = (n.argument(i + 1, f"axis{i + 1}") for i in range(2))
    return swapped(n, x, *(normalize_axis(n, a, x.type.rank) for a in (first, second)))


@layer("ops.Moveaxis")
def moveaxis(n: KerasLayer) -> Value:
    x = n.tensor()
    source, target = (
        [normalize_axis(n, a, x.type.rank) for a in ([v] if isinstance(v, int) else v)]
        for v in (n.argument(1, "source"), n.argument(2, "destination"))
    )
    order = [i for i in range(x.type.rank) if i not in source]
    for place, axis in sorted(zip(target, source, strict=True)):
        order.insert(place, axis)
    return n(nn.Transpose(x, permutation=tuple(order)))


@layer("ops.Concatenate", "tf.concat")
def concatenate(n: KerasLayer) -> Value:
    given = n.argument(0, "xs", n.argument(0, "values"))
    if not isinstance(given, list) or not all(isinstance(v, Value) for v in given):
        raise n.error("it is not called with a list of tensors")
    axis = normalize_axis(n, n.argument(1, "axis", 0), given[0].type.rank)
    return concat(n, given, axis)


@layer("ops.Stack", "tf.stack")
def stack(n: KerasLayer) -> Value:
    given = n.tensors()
    rank = given[0].type.rank + 1
    axis = normalize_axis(n, n.argument(1, "axis", 0), rank)
    own = [i - (i > axis) for i in range(rank)]
    parts = [reshape(n, v, [1 if i == axis else (v, own[i]) for i in range(rank)]) for v in given]
    return concat(n, parts, axis)


@layer("ops.Hstack", "ops.Vstack")
def stack_known(n: KerasLayer) -> Value:
    return concat(n, n.tensors(), int(n.kind == "ops.Hstack"))


@layer("ops.Unstack")
def unstack(n: KerasLayer) -> list[Value]:
    x = n.tensor()
    axis = normalize_axis(n, n.argument(2, "axis", 0), x.type.rank)
    return [column(n, x, axis, i) for i in range(_known_extent(n, x, axis))]


@layer("ops.Split", "tf.split")
def split(n: KerasLayer) -> list[Value]:
    x, given = n.tensor(), n.argument(1, "indices_or_sections", n.argument(1, "num_or_size_splits"))
    axis = normalize_axis(n, n.argument(2, "axis", 0), x.type.rank)
    extent = _known_extent(n, x, axis)
    if isinstance(given, int):
        if given < 1 or extent % given:
            raise n.error(f"{extent} elements do not split into {given} parts")
        return split_into(n, x, axis, [extent // given] * given)
    if n.kind == "tf.split":
        return split_into(n, x, axis, [int(v) for v in given])
    bounds = [0, *(int(v) for v in given), extent]
    return split_into(n, x, axis, np.diff(bounds).tolist())


def _known_extent(n: KerasLayer, x: Value, axis: int) -> int:
    found = x.type.shape[axis]
    if found is None:
        raise n.error(f"the extent of axis {axis} must be known; give the shape")
    return found


@layer("ops.Pad", "tf.pad")
def pad(n: KerasLayer) -> Value:
    x = n.tensor()
    widths = np.asarray(n.argument(1, "pad_width", n.argument(1, "paddings")), np.int64)
    widths = np.broadcast_to(widths, (x.type.rank, 2))
    mode = str(n.argument(2, "mode", "constant")).lower()
    modes = {"constant": "constant", "reflect": "reflect", "edge": "edge", "wrap": "wrap"}
    if mode not in modes:
        raise n.error(f"padding '{mode}' is not supported, expected one of {', '.join(modes)}")
    value = n.argument(3, "constant_values") or 0
    return padded_by(n, x, widths.T.reshape(-1).tolist(), n.scalar(value, x), mode)


@layer("ops.Flip", "ops.Fliplr", "ops.Flipud")
def flip(n: KerasLayer) -> Value:
    x = n.tensor()
    known = {"ops.Fliplr": 1, "ops.Flipud": 0}
    return reversed_axes(n, x, axes_of(n, x, known.get(n.kind, n.argument(1, "axis"))))


@layer("ops.Roll")
def roll(n: KerasLayer) -> Value:
    x, shifts, axes = n.tensor(), n.argument(1, "shift"), n.argument(2, "axis")
    if axes is None:
        raise n.error("'axis' is needed")
    pairs = [(shifts, axes)] if isinstance(axes, int) else zip(shifts, axes, strict=True)
    for shift, axis in pairs:
        x = rolled(n, x, normalize_axis(n, axis, x.type.rank), int(shift))
    return x


@layer("ops.Tile", "tf.tile")
def tile(n: KerasLayer) -> Value:
    x, given = n.tensor(), n.argument(1, "repeats", n.argument(1, "multiples"))
    repeats = [given] if isinstance(given, int) else [int(v) for v in given]
    rank = max(len(repeats), x.type.rank)
    wide = [1] * (rank - x.type.rank) + [(x, i) for i in range(x.type.rank)]
    repeats = [1] * (rank - len(repeats)) + repeats
    return n(nn.Tile(reshape(n, x, wide), n.constant(np.array(repeats, np.int64))))


@layer("ops.Repeat", "tf.repeat")
def repeat(n: KerasLayer) -> Value:
    """Each element of an axis several times."""
    x, count, axis = n.tensor(), n.argument(1, "repeats"), n.argument(2, "axis")
    if not isinstance(count, int):
        raise n.error("'repeats' is no integer")
    if axis is None:
        x, axis = Term(n, x).flat().value, 0
    axis = normalize_axis(n, axis, x.type.rank)
    extent = _known_extent(n, x, axis)
    own = [(x, i) for i in range(x.type.rank)]
    apart = reshape(n, x, [*own[:axis], extent, 1, *own[axis + 1 :]])
    wide = broadcast(n, apart, [*own[:axis], extent, count, *own[axis + 1 :]])
    return reshape(n, wide, [*own[:axis], extent * count, *own[axis + 1 :]])


@layer("ops.BroadcastTo")
def broadcast_to(n: KerasLayer) -> Value:
    x = n.tensor()
    shape = _extents(n, x, n.argument(1, "shape"))
    return expand_by(n, x, n.constant(np.array(shape, np.int64)), tuple(shape))


@layer("ops.Ravel")
def ravel(n: KerasLayer) -> Value:
    return Term(n, n.tensor()).flat().value


@layer("ops.Take", "tf.gather")
def take(n: KerasLayer) -> Value:
    x, indices, axis = n.argument(0, "x"), n.argument(1, "indices"), n.argument(2, "axis")
    given = operand(n, x, f32) if not isinstance(x, Value) else Term(n, x)
    if axis is None and n.kind == "tf.gather":
        axis = 0
    if axis is None:
        given, axis = given.flat(), 0
    places = n.cast(indices, i64) if isinstance(indices, Value) else n.constant(indices, i64)
    return given.gather(Term(n, places), normalize_axis(n, axis, given.rank)).value


@layer("ops.TakeAlongAxis")
def take_along_axis(n: KerasLayer) -> Value:
    x, indices = n.tensor(), n.tensor(1)
    axis = normalize_axis(n, n.argument(2, "axis"), x.type.rank)
    return n(nn.GatherElements(x, n.cast(indices, i64), axis=axis))


@layer("ops.OneHot")
def one_hot(n: KerasLayer) -> Value:
    if n.argument(2, "axis", -1) != -1:
        raise n.error("'axis' is not the last one")
    x = n.tensor()
    column_of_one = reshape(n, x, [*((x, i) for i in range(x.type.rank)), 1])
    return encoded(n, column_of_one, int(n.argument(1, "num_classes")), "one_hot")


@layer("ops.ZerosLike", "ops.OnesLike", "ops.FullLike")
def like(n: KerasLayer) -> Value:
    x = n.tensor()
    given = n.argument(1, "fill_value", 0) if n.kind == "ops.FullLike" else None
    number = given if given is not None else int(n.kind == "ops.OnesLike")
    if isinstance(number, Value):
        raise n.error("a value that is computed is not supported")
    return broadcast(n, n.scalar(number, x), [(x, i) for i in range(x.type.rank)])


@layer("ops.Tril", "ops.Triu")
def triangle(n: KerasLayer) -> Value:
    k = n.constant(int(n.argument(1, "k", 0)), i64)
    return n(nn.Trilu(n.tensor(), k, upper=n.kind == "ops.Triu"))


@layer("ops.GetItem", "tf.__operators__.getitem")
def get_item(n: KerasLayer) -> Value:
    """NumPy's indexing by numbers, slices, None and `...`."""
    x = n.tensor()
    given = n.argument(1, "key", n.argument(1, "slice_spec"))
    keys = list(given) if isinstance(given, list | tuple) else [given]
    count = sum(key is not None and key is not Ellipsis for key in keys)
    if count > x.type.rank:
        raise n.error(f"{count} indices for a tensor of rank {x.type.rank}")
    whole = [slice(None)] * (x.type.rank - count)
    if Ellipsis in keys:
        at = keys.index(Ellipsis)
        keys[at : at + 1] = whole
    else:
        keys += whole
    axis, kept = 0, []
    for key in keys:
        if key is None:
            kept.append(None)
            continue
        x = _indexed(n, x, axis, key)
        if isinstance(key, slice):
            kept.append(axis)
        axis += 1
    return reshape(n, x, [1 if k is None else (x, k) for k in kept])


def _indexed(n: KerasLayer, x: Value, axis: int, key: Any) -> Value:
    """A part of an axis, which stays."""
    if isinstance(key, int):
        extent = x.type.shape[axis]
        if extent is not None and not -extent <= key < extent:
            raise n.error(f"index {key} is out of range for axis {axis} of {extent} elements")
        return slice_axis(n, x, axis, key, key + 1 if key != -1 else FAR)
    if not isinstance(key, slice):
        raise n.error(f"an index is {key!r}, expected a number or a slice")
    step = 1 if key.step is None else key.step
    ends = (0, FAR) if step > 0 else (FAR, -FAR)
    begin, end = (e if v is None else v for v, e in zip((key.start, key.stop), ends, strict=True))
    return slice_axis(n, x, axis, begin, end, step)


@layer("ops.Resize")
def resize(n: KerasLayer) -> Value:
    if n.option("crop_to_aspect_ratio", False) or n.option("pad_to_aspect_ratio", False):
        raise n.error("an aspect ratio that is kept is not supported")
    more = {"antialias": True} if n.option("antialias", False) else {}
    size = [int(v) for v in n.option("size")]
    return resized_image(n, n.tensor(), size, n.option("interpolation", "bilinear"), **more)


# -- TensorFlow's in Keras 2 -----------------------------------------------------------------------


_TF_BINARY = {
    "math.add": nn.Add, "__operators__.add": nn.Add, "math.subtract": nn.Sub,
    "math.multiply": nn.Mul, "math.maximum": nn.Max, "math.minimum": nn.Min, "math.pow": nn.Pow,
    "math.equal": nn.Equal, "math.greater": nn.Greater, "math.less": nn.Less,
    "linalg.matmul": nn.Matmul,
}  # fmt: skip
_TF_UNARY = {
    "math.exp": nn.Exp, "math.log": nn.Log, "math.sqrt": nn.Sqrt, "math.rsqrt": nn.Rsqrt,
    "math.tanh": nn.Tanh, "math.sigmoid": nn.Sigmoid, "nn.sigmoid": nn.Sigmoid, "nn.relu": nn.Relu,
    "nn.tanh": nn.Tanh, "nn.elu": nn.Elu, "nn.selu": nn.Selu, "nn.softplus": nn.Softplus,
    "math.abs": nn.Abs, "math.negative": nn.Neg, "math.erf": nn.Erf, "math.floor": nn.Floor,
}  # fmt: skip
_TF_ACTIVATIONS = {"nn.silu": "silu", "nn.relu6": "relu6", "nn.leaky_relu": "leaky_relu"}


def tf_reduction(op: Any) -> Function:
    """A reduction by TensorFlow's names of arguments."""

    def convert(n: KerasLayer) -> Value:
        x = n.tensor()
        return reduced(n, x, op, axes_of(n, x, n.keyword("axis")), bool(n.keyword("keepdims")))

    return convert


add({f"tf.{kind}": binary(op) for kind, op in _TF_BINARY.items()})
add({f"tf.{kind}": unary(op) for kind, op in _TF_UNARY.items()})
add(
    {
        f"tf.{kind}": lambda n, name=name: FUNCTIONS[name](n, n.tensor())
        for kind, name in _TF_ACTIVATIONS.items()
    }
)
add(
    {
        "tf.math.divide": divided,
        "tf.math.truediv": divided,
        "tf.math.square": lambda n: n(nn.Mul(n.tensor(), n.tensor())),
        "tf.math.reduce_mean": tf_reduction(nn.ReduceMean),
        "tf.math.reduce_sum": tf_reduction(nn.ReduceSum),
        "tf.math.reduce_max": tf_reduction(nn.ReduceMax),
        "tf.math.reduce_min": tf_reduction(nn.ReduceMin),
        "tf.nn.softmax": lambda n: softmax(n, n.tensor(), int(n.keyword("axis") or -1), None),
        "tf.nn.gelu": lambda n: gelu(n, n.tensor(), bool(n.keyword("approximate"))),
        "tf.clip_by_value": lambda n: clipped(
            n, n.tensor(), n.keyword("clip_value_min"), n.keyword("clip_value_max")
        ),
    }
)
