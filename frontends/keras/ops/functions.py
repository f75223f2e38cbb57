"""Operations of `keras.ops` in functional models, and the few of TensorFlow in those of Keras 2."""

from __future__ import annotations

from ...common import arrays
from ...common.formulas import around, log2, log10
from ...common.vocabulary import *
from ..functions import (
    FUNCTIONS,
    gelu,
    glu,
    hard_shrink,
    log_softmax,
    soft_shrink,
    softmax,
    squareplus,
)
from ..layer import ROWS, KerasLayer, called, element_type, layer
from ..promotion import result_type, type_of

Function = Callable[[KerasLayer], Any]


def add(table: dict[str, Function]) -> None:
    """Register operations under all of their names; TensorFlow's begin with a small letter."""
    for names, function in table.items():
        for name in names.split():
            room = "tf" if name[0].islower() or name[0] == "_" else "ops"
            ROWS(f"{room}.{name}")(called(function))


# -- elements --------------------------------------------------------------------------------------


def pair(n: KerasLayer, a: Any, b: Any, *others: type, is_weak: bool = True) -> tuple[Term, Term]:
    """Two operands promoted to one element type, together with `others`.

    Python numbers do not decide the type if `is_weak`, see `promotion.py`.
    """
    if n.kind.startswith("tf."):  # where numbers become what the tensor is
        types = [v.type.element_type for v in (a, b) if isinstance(v, Value)]
    else:
        types = [type_of(v, is_weak) for v in (a, b)]
    wide = result_type(*types, *others)
    return operand(n, a, wide), operand(n, b, wide)


def operand(n: KerasLayer, value: Any, element: Type) -> Term:
    """A tensor, number or array as a term of an element type."""
    if isinstance(value, Value):
        return Term(n, n.cast(value, element))
    try:
        return Term(n, n.constant(np.asarray(value), element))
    except (TypeError, ValueError):
        raise n.error(f"an argument is {value!r}, expected a tensor or numbers") from None


def alike(n: KerasLayer, given: Sequence[Value]) -> list[Value]:
    """Tensors promoted to one element type."""
    if n.kind.startswith("tf."):
        return list(given)
    wide = result_type(*(value.type.element_type for value in given))
    return [n.cast(value, wide) for value in given]


WEAK = frozenset(
    [
        "Add",
        "Subtract",
        "Multiply",
        "Maximum",
        "Minimum",
        "Fmax",
        "Fmin",
        "Divide",
        "TrueDivide",
        "DivideNoNan",
        "Power",
        "FloorDivide",
        "Where",
    ]
)
"""Operations in which Python numbers do not affect the type."""


def two(n: KerasLayer, *others: type) -> tuple[Term, Term]:
    """The two operands of a call, promoted together with `others`."""
    names = [name for name in n.attributes.kwargs if name not in ("name", "dtype")]
    given = [*n.args, *(n.keyword(name) for name in names)][:2]
    if len(given) != 2:
        raise n.error("it is called with one operand, expected two")
    return pair(n, *given, *others, is_weak=n.kind.removeprefix("ops.") in WEAK)


def binary(op: Callable[[Value, Value], Any], *others: type) -> Function:
    """A converter of an op with two operands, promoted together with `others`."""

    def convert(n: KerasLayer) -> Value:
        a, b = two(n, *others)
        return n(op(a.value, b.value))

    return convert


def product(n: KerasLayer) -> Value:
    """A matrix product; that of two int8 operands is i32."""
    a, b = two(n)
    for i, name in enumerate(("transpose_a", "transpose_b")):
        if n.kind.startswith("tf.") and n.keyword(name, False):
            turned = swapped(n, (a, b)[i].value, a.rank - 2, a.rank - 1)
            a, b = (a, Term(n, turned)) if i else (Term(n, turned), b)
    kept = a.element
    if n.kind == "ops.Matmul" and kept is i8 and a.rank > 1 and b.rank > 1:
        kept = i32
    if kept in (i1, i32):
        a, b = a.cast(i32), b.cast(i32)
    return n.cast(n(nn.Matmul(a.value, b.value)), kept)


def unary(op: Callable[[Value], Any]) -> Function:
    """A converter of an op with one operand."""
    return lambda n: n(op(n.floating(n.tensor())))


def formula(function: Callable[[Term], Term]) -> Function:
    """A converter of a formula with one operand."""
    return lambda n: function(Term(n, n.floating(n.tensor()))).value


def counted(n: Layer, x: Value) -> Value:
    """x with truth values as integers."""
    return n.cast(x, i32) if x.type.element_type is i1 else x


def summed(n: KerasLayer, x: Value) -> Value:
    """x in the type of its sums and products: at least 32 bits."""
    element = x.type.element_type
    if not isinstance(element, IntegerType) or element.width > 16:
        return x
    return n.cast(x, IntegerType(32, element.signedness))


def divided(n: KerasLayer) -> Value:
    """x / y as floats."""
    a, b = two(n, float)
    return (a / b).value


def floor_divided(n: KerasLayer) -> Value:
    """x / y, rounded down."""
    a, b = two(n)
    if isinstance(a.element, FloatType):
        return (a / b).function(nn.Floor).value
    return ((a - a % b) / b).value


def unequal(n: KerasLayer) -> Value:
    """Whether operands differ."""
    a, b = two(n)
    return (~a.equals(b)).value


def logical(op: Callable[[Value, Value], Any]) -> Function:
    """A converter of an op on truth values."""

    def convert(n: KerasLayer) -> Value:
        a, b = (operand(n, v, i1) for v in n.args[:2])
        return n(op(a.value, b.value))

    return convert


_BINARY = {
    "Add math.add __operators__.add": nn.Add, "Subtract math.subtract": nn.Sub,
    "Multiply math.multiply": nn.Mul, "Maximum math.maximum": nn.Max,
    "Minimum math.minimum": nn.Min, "Power math.pow": nn.Pow,
    "Equal math.equal": nn.Equal, "Greater math.greater": nn.Greater, "Less math.less": nn.Less,
    "GreaterEqual": nn.GreaterEqual, "LessEqual": nn.LessEqual,
}  # fmt: skip
_UNARY = {
    "Exp math.exp": nn.Exp, "Log math.log": nn.Log, "Sqrt math.sqrt": nn.Sqrt,
    "Rsqrt math.rsqrt": nn.Rsqrt, "Sin": nn.Sin, "Cos": nn.Cos, "Tan": nn.Tan, "Sinh": nn.Sinh,
    "Cosh": nn.Cosh, "Tanh math.tanh nn.tanh": nn.Tanh, "Arcsin": nn.Asin, "Arccos": nn.Acos,
    "Arctan": nn.Atan, "Arcsinh": nn.Asinh, "Arccosh": nn.Acosh, "Arctanh": nn.Atanh,
    "Erf math.erf": nn.Erf, "Erfc": nn.Erfc, "Expm1": nn.Expm1, "Log1p": nn.Log1p,
     "Floor math.floor": nn.Floor, "Ceil": nn.Ceil,
    "Reciprocal": nn.Reciprocal, "Isnan": nn.IsNan, "Isinf": nn.IsInf,
    "math.sigmoid nn.sigmoid": nn.Sigmoid,
}  # fmt: skip
_KEEPING = {
    "math.abs": nn.Abs, "Negative math.negative": nn.Neg, "Sign": nn.Sign,
}  # fmt: skip
_ACTIVATIONS = {
    "Relu nn.relu": "relu", "Relu6 nn.relu6": "relu6", "Sigmoid": "sigmoid",
    "Softplus nn.softplus": "softplus", "Softsign": "softsign", "Silu nn.silu": "silu",
    "LogSigmoid": "log_sigmoid", "Selu nn.selu": "selu", "HardSigmoid": "hard_sigmoid",
    "HardSilu": "hard_silu", "HardTanh": "hard_tanh", "TanhShrink": "tanh_shrink",
    "SparsePlus": "sparse_plus", "SparseSigmoid": "sparse_sigmoid",
    "nn.elu": "elu",
}  # fmt: skip


def with_alpha(op: Any, name: str, default: float) -> Function:
    """A converter of an activation with a slope."""
    return lambda n: n(op(n.floating(n.tensor()), alpha=float(n.argument(1, name, default))))


add({kind: binary(op) for kind, op in _BINARY.items()})
add({kind: unary(op) for kind, op in _UNARY.items()})
add({kind: lambda n, op=op: n(op(n.tensor())) for kind, op in _KEEPING.items()})
add(
    {
        kind: lambda n, name=name: FUNCTIONS[name](n, n.tensor())
        for kind, name in _ACTIVATIONS.items()
    }
)
add(
    {
        "Divide TrueDivide math.divide math.truediv": divided,
        "FloorDivide": floor_divided,
        "Matmul linalg.matmul": product,
        "NotEqual": unequal,
        "LogicalAnd": logical(nn.And),
        "LogicalOr": logical(nn.Or),
        "LogicalXor": logical(nn.Xor),
        "LogicalNot": lambda n: n(nn.Not(n.cast(n.tensor(), i1))),
        "Square math.square": lambda n: (Term(n, counted(n, n.tensor())) ** 2).value,
        "Log2": formula(log2),
        "Log10": formula(log10),
        "Round": lambda n: around(Term(n, n.tensor()), int(n.argument(1, "decimals", 0))).value,
        "Elu": lambda n: activation(
            n, "elu", n.floating(n.tensor()), float(n.argument(1, "alpha", 1.0))
        ),
        "Celu": with_alpha(nn.Celu, "alpha", 1.0),
        "LeakyRelu": with_alpha(nn.LeakyRelu, "negative_slope", 0.2),
        "nn.leaky_relu": with_alpha(nn.LeakyRelu, "alpha", 0.2),
        "Gelu": lambda n: gelu(n, n.tensor(), bool(n.argument(1, "approximate", True))),
        "nn.gelu": lambda n: gelu(n, n.tensor(), bool(n.keyword("approximate"))),
        "Glu": lambda n: glu(n, n.tensor(), int(n.argument(1, "axis", -1))),
        "HardShrink": lambda n: hard_shrink(n, n.tensor(), n.number("threshold", 0.5)),
        "SoftShrink": lambda n: soft_shrink(n, n.tensor(), n.number("threshold", 0.5)),
        "Squareplus": lambda n: squareplus(n, n.tensor(), n.number("b", 4)),
        "LogSoftmax": lambda n: log_softmax(n, n.tensor(), int(n.argument(1, "axis", -1))),
        "Clip": lambda n: clipped(
            n, counted(n, n.tensor()), n.argument(1, "x_min"), n.argument(2, "x_max")
        ),
        "clip_by_value": lambda n: clipped(
            n, n.tensor(), n.argument(1, "clip_value_min"), n.argument(2, "clip_value_max")
        ),
    }
)


@layer("ops.Softmax", "tf.nn.softmax")
def softmax_operation(n: KerasLayer) -> Value:
    axis = n.argument(1, "axis")
    axis = -1 if axis is None else axis
    return softmax(n, n.tensor(), list(axis) if isinstance(axis, list | tuple) else axis, None)


@layer("ops.Cast", "ops.SaturateCast", "tf.cast")
def cast(n: KerasLayer) -> Value:
    name = n.argument(1, "dtype")
    element = element_type(name)
    if element is None:
        raise n.error(f"elements of type '{name}' are not supported")
    return n.cast(n.tensor(), element)


@layer("ops.Where", "tf.where")
def where(n: KerasLayer) -> Value:
    yes_no = ("x", "y") if n.kind.startswith("tf.") else ("x1", "x2")
    condition = n.argument(0, "condition")
    yes, no = (n.argument(i, name) for i, name in enumerate(yes_no, 1))
    if yes is None or no is None:
        raise n.error("it is called with a condition only, which is not supported")
    if not isinstance(condition, Value):
        raise n.error("it is not called with a condition")
    a, b = pair(n, yes, no)
    return Term(n, condition).cast(i1).choose(a, b).value


# -- reductions ------------------------------------------------------------------------------------


def axes_of(n: KerasLayer, x: Value, given: Any) -> tuple[int, ...]:
    """The axes in an argument; all if it is None."""
    if given is None:
        return tuple(range(x.type.rank))
    listed = list(given) if isinstance(given, list | tuple) else [given]
    if not all(isinstance(axis, int) for axis in listed):
        raise n.error(f"'axis' is {given!r}, expected integers")
    return tuple(sorted(normalize_axes(n, listed, x.type.rank)))


def reduction(op: Any, kind: Callable[[KerasLayer, Value], Value] = lambda n, x: x) -> Function:
    """A converter of a reduction along axes, after `kind` has converted the elements."""

    def convert(n: KerasLayer) -> Value:
        x = n.tensor()
        axes, keep = axes_of(n, x, n.argument(1, "axis")), bool(n.argument(2, "keepdims", False))
        return reduced(n, kind(n, x), op, axes, keep)

    return convert


def spread(root: bool) -> Function:
    """A converter of the variance, or of its root."""

    def convert(n: KerasLayer) -> Value:
        x = n.floating(n.tensor())
        keep = bool(n.argument(2, "keepdims", False))
        found, _ = variance(n, x, axes_of(n, x, n.argument(1, "axis")), keep)
        return n(nn.Sqrt(found)) if root else found

    return convert


def along(op: Callable[..., Any]) -> Function:
    """A converter of an op along one axis, or over all elements."""

    def convert(n: KerasLayer) -> Value:
        x, axis = n.tensor(), n.argument(1, "axis")
        if axis is None:
            x, axis = Term(n, x).flat().value, 0
        return op(n, x, normalize_axis(n, axis, x.type.rank))

    return convert


def arg_extreme(op: Any) -> Function:
    """A converter of the index of the largest or smallest element."""
    return lambda n: extreme_place(n, op, n.tensor())


def extreme_place(n: KerasLayer, op: Any, x: Value) -> Value:
    """The index of the largest or smallest element along an axis, with -0 below 0."""
    given, t = n.argument(1, "axis"), Term(n, x)
    keep = bool(n.argument(2, "keepdims", False))
    if isinstance(t.element, FloatType):
        wide = t.cast(result_type(t.element, f32))
        least = float(np.finfo(type_to_numpy(wide.element)).tiny)
        t = (wide.equals(0.0) & is_negative(wide)).choose(-least, wide)
    axis = None if given is None else normalize_axis(n, given, t.rank)
    return n.cast(extreme_at(n, t.value, op, axis, keep), i32)


add(
    {
        "Mean math.reduce_mean": reduction(nn.ReduceMean, KerasLayer.floating),
        "Sum": reduction(nn.ReduceSum, summed),
        "math.reduce_sum": reduction(nn.ReduceSum),
        "Prod": reduction(nn.ReduceProd, summed),
        "Max Amax math.reduce_max": reduction(nn.ReduceMax),
        "Min Amin math.reduce_min": reduction(nn.ReduceMin),
        "Logsumexp": reduction(nn.ReduceLogSumExp, KerasLayer.floating),
        "All": reduction(nn.ReduceMin, lambda n, x: n.cast(x, i1)),
        "Any": reduction(nn.ReduceMax, lambda n, x: n.cast(x, i1)),
        "Var": spread(root=False),
        "Std": spread(root=True),
        "Argmax": arg_extreme(nn.Argmax),
        "Argmin": arg_extreme(nn.Argmin),
        "Cumsum": along(lambda n, x, axis: n(nn.Cumsum(counted(n, x), axis=axis))),
        "Cumprod": along(lambda n, x, axis: n(nn.Cumprod(counted(n, x), axis=axis))),
    }
)


@layer("ops.Norm")
def norm(n: KerasLayer) -> Value:
    x, order = n.floating(n.tensor()), n.argument(1, "ord")
    ops = {None: nn.ReduceL2, 2: nn.ReduceL2, 1: nn.ReduceL1}
    if order not in ops:
        raise n.error(f"'ord' is {order!r}, expected 1 or 2")
    axes = axes_of(n, x, n.argument(2, "axis"))
    return reduced(n, x, ops[order], axes, bool(n.argument(3, "keepdims", False)))


def norm_of(x: Term, axes: Sequence[int], order: int) -> Term:
    """The vector norm of an order along axes."""
    powers = x.function(nn.Abs) ** order
    total = powers.sum(*axes, keep=True)
    return total if order == 1 else total ** (1 / order)


@layer("ops.Normalize")
def normalize(n: KerasLayer) -> Value:
    """x divided by its norm, or by epsilon if that is larger."""
    x, order = Term(n, n.tensor()), n.argument(2, "order", 2)
    axes = axes_of(n, x.value, n.argument(1, "axis", -1))
    given = n.argument(3, "epsilon")
    least = 1e-7 if given is None else float(given)
    if order == 2:
        factor = (x * x).sum(*axes, keep=True).function(nn.Rsqrt)
        return (x * factor.min(1 / least)).value
    if not isinstance(order, int) or order < 1 or len(axes) > 1:
        raise n.error(f"a norm of order {order!r} along axes {list(axes)} is not supported")
    x = x.cast(result_type(x.element, float))
    return (x / norm_of(x, axes, order).max(least)).value


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
    operands = [v for v in given if isinstance(v, Value)]
    if all(v.type.element_type is i8 for v in operands):  # whose sums have 32 bits
        operands = [n.cast(v, i32) for v in operands]
    return einsum(n, equation, operands)


@layer("ops.Tensordot")
def tensordot(n: KerasLayer) -> Value:
    a, b = two(n)
    axes = n.argument(2, "axes", 2)
    if isinstance(axes, int):
        first, second = list(range(a.rank - axes, a.rank)), list(range(axes))
    else:
        first, second = ([x] if isinstance(x, int) else list(x) for x in axes)
    pairs = (
        [normalize_axis(n, i, v.rank) for i in side]
        for v, side in zip((a, b), (first, second), strict=True)
    )
    return arrays.tensordot(a, b, *pairs).value
