"""Quantized operators of com.microsoft.

Source: onnxruntime's ContribOperators.md.
"""

from __future__ import annotations

from functools import partial

from ...common.quantization import quantized, real_numbers, saturated, shifted
from ...common.vocabulary import *
from ..node import Node
from ..registry import add_rows, converter
from .microsoft import DOMAIN, of_any_order, softmax_of_rows
from .microsoft_attention import attention, embed_layer_normalization
from .pooling import average_pool, global_average_pool
from .quantization import dequantize, matmul_integer, one_as_scalar, qlinear_conv, quantize
from .recurrent import lstm_with


def _real(n: Node, x: Value, scale: Value, zero: Value | None) -> Term:
    return real_numbers(
        n, x, one_as_scalar(n, scale), None if zero is None else one_as_scalar(n, zero)
    )


def _binary(steps: Callable[[Term, Term, Term, Term, Term], Term]) -> Callable:
    """The quantized form of an operation on two tensors.

    `steps` takes both tensors' integers less their zero points, in f32, and the scales of both and
    of the result: it rounds where ONNX Runtime does, so that ties are the same.
    """

    def convert(
        n: Node,
        a: Value,
        a_scale: Value,
        a_zero: Value | None,
        b: Value,
        b_scale: Value,
        b_zero: Value | None,
        y_scale: Value,
        y_zero: Value | None = None,
    ) -> Value:
        lhs, rhs = (Term(n, shifted(n, *of)).cast(f32) for of in ((a, a_zero), (b, b_zero)))
        scales = (Term(n, one_as_scalar(n, scale)) for scale in (a_scale, b_scale, y_scale))
        return _rounded_with_zero(n, steps(lhs, rhs, *scales), y_zero, a.type.element_type)

    return convert


def _rounded_with_zero(n: Node, steps: Term, zero: Value | None, element: Type) -> Value:
    """`steps` plus the zero point, rounded: half a step becomes an even integer of the result."""
    if zero is not None:
        steps = steps + Term(n, one_as_scalar(n, zero)).cast(f32)
    return saturated(n, steps.value, None, element)


@converter("MatMulIntegerToFloat", domain=DOMAIN)
def matmul_integer_to_float(
    n: Node,
    a: Value,
    b: Value,
    a_scale: Value,
    b_scale: Value,
    a_zero: Value | None = None,
    b_zero: Value | None = None,
    bias: Value | None = None,
) -> Value:
    element = a_scale.type.element_type
    exact = Term(n, matmul_integer(n, a, b, a_zero, b_zero)).cast(element)
    scale = Term(n, one_as_scalar(n, a_scale)) * Term(n, one_as_scalar(n, b_scale))
    out = exact * scale
    return (out if bias is None else out + Term(n, bias)).value


@converter("DynamicQuantizeMatMul", domain=DOMAIN)
def dynamic_quantize_matmul(
    n: Node,
    a: Value,
    b: Value,
    b_scale: Value,
    b_zero: Value | None = None,
    bias: Value | None = None,
) -> Value:
    """The product of a, quantized to 8 bits by its own range (with 0), and b."""
    steps, scale, zero = _in_bytes(n, a)
    return matmul_integer_to_float(n, steps, b, scale.value, b_scale, zero, b_zero, bias)


def _in_bytes(n: Node, a: Value) -> tuple[Value, Term, Value]:
    """a quantized to 8 bits by its own range (with 0), its scale, and its zero point."""
    x = Term(n, a)
    axes = tuple(range(x.rank))
    low = x.least(*axes).min(0.0)
    high = x.largest(*axes).max(0.0)
    scale = (high - low) / 255.0
    scale = scale.equals(0.0).choose(1.0, scale)
    byte = IntegerType(8, "u")
    zero = saturated(n, (-low / scale).value, None, byte)
    return saturated(n, (x / scale).value, zero, byte), scale, zero


# -- activations, movement and pooling -------------------------------------------------------------


def _quantized(n: Node, real: Term, scale: Value, zero: Value | None, element: Type) -> Value:
    """Real numbers as integers; half a step is rounded before the zero point is added."""
    flat = None if zero is None else one_as_scalar(n, zero)
    return quantized(n, real.value, one_as_scalar(n, scale), flat, element)


def _quantized_with_zero(
    n: Node, real: Term, scale: Value, zero: Value | None, element: Type
) -> Value:
    """Real numbers as integers; half a step is rounded after the zero point is added."""
    steps = real / Term(n, one_as_scalar(n, scale))
    return _rounded_with_zero(n, steps, zero, element)


def _unary(op: Callable[[Node, Value], Value], to_integers: Callable = _quantized) -> Callable:
    """The quantized form of a function of one tensor."""

    def convert(
        n: Node,
        x: Value,
        x_scale: Value,
        x_zero: Value | None,
        y_scale: Value,
        y_zero: Value | None = None,
    ) -> Value:
        found = Term(n, op(n, _real(n, x, x_scale, x_zero).value))
        return to_integers(n, found, y_scale, y_zero, x.type.element_type)

    return convert


def _leaky_relu(n: Node, x: Value) -> Value:
    return n(nn.LeakyRelu(x, alpha=n.float("alpha", 0.01)))


def _softmax(n: Node, x: Value) -> Value:
    """Softmax over one dimension from opset 13 on, before over all from the axis on."""
    axis = n.int("axis", -1) % x.type.rank
    if n.int("opset") >= 13:
        return n(nn.Softmax(x, axis=axis))
    return softmax_of_rows(Term(n, x), axis).value


_UNARY = {
    "QLinearLeakyRelu": _leaky_relu,
    "QLinearSigmoid": lambda n, x: n(nn.Sigmoid(x)),
    "QLinearSoftmax": _softmax,
    "QLinearGlobalAveragePool": of_any_order(global_average_pool),
}
add_rows({name: _unary(op) for name, op in _UNARY.items()}, DOMAIN)
add_rows(
    {
        "QuantizeLinear": quantize,
        "DequantizeLinear": dequantize,
        "QLinearConv": of_any_order(qlinear_conv),
        "QLinearAdd": _binary(lambda a, b, p, q, y: a * (p / y) + b * (q / y)),
        "QLinearMul": _binary(lambda a, b, p, q, y: a * b * (p * q / y)),
        "QLinearAveragePool": _unary(of_any_order(average_pool), _quantized_with_zero),
    },
    DOMAIN,
)


@converter("QLinearConcat", domain=DOMAIN)
def qlinear_concat(n: Node, y_scale: Value, y_zero: Value, *inputs: Value) -> Value:
    parts = [_real(n, *inputs[i : i + 3]) for i in range(0, len(inputs), 3)]
    return _quantized(n, joined(parts, n.int("axis")), y_scale, y_zero, y_zero.type.element_type)


@converter("QLinearWhere", domain=DOMAIN)
def qlinear_where(
    n: Node,
    condition: Value,
    x: Value,
    x_scale: Value,
    x_zero: Value,
    y: Value,
    y_scale: Value,
    y_zero: Value,
    z_scale: Value,
    z_zero: Value,
) -> Value:
    sides = _real(n, x, x_scale, x_zero), _real(n, y, y_scale, y_zero)
    found = Term(n, condition).choose(*sides)
    return _quantized(n, found, z_scale, z_zero, x.type.element_type)


@converter("QGemm", domain=DOMAIN)
def quantized_gemm(
    n: Node,
    a: Value,
    a_scale: Value,
    a_zero: Value,
    b: Value,
    b_scale: Value,
    b_zero: Value,
    c: Value | None = None,
    y_scale: Value | None = None,
    y_zero: Value | None = None,
) -> Value:
    """An integer product with an i32 bias; quantized if the result's scale is given."""
    if n.int("transA"):
        a = n(nn.Transpose(a, permutation=(1, 0)))
    columns = shifted(n, b, b_zero, 0 if n.int("transB") else 1)
    if n.int("transB"):
        columns = n(nn.Transpose(columns, permutation=(1, 0)))
    exact = Term(n, n(nn.Matmul(shifted(n, a, a_zero), columns)))
    if c is not None:
        exact = exact + Term(n, c)
    scale = (
        Term(n, one_as_scalar(n, a_scale))
        * Term(n, one_as_scalar(n, b_scale))
        * n.float("alpha", 1.0)
    )
    found = exact.cast(f32) * scale
    if y_scale is None or y_zero is None:
        return found.value
    return _quantized(n, found, y_scale, y_zero, y_zero.type.element_type)


# -- networks --------------------------------------------------------------------------------------


@converter("DynamicQuantizeLSTM", domain=DOMAIN)
def dynamic_quantize_lstm(
    n: Node,
    x: Value,
    w: Value,
    r: Value,
    b: Value | None = None,
    lengths: Value | None = None,
    h: Value | None = None,
    c: Value | None = None,
    p: Value | None = None,
    w_scale: Value | None = None,
    w_zero: Value | None = None,
    r_scale: Value | None = None,
    r_zero: Value | None = None,
) -> list[Value]:
    """An LSTM with quantized weights [directions, inputs, 4 * hidden].

    Inputs, and the states of each step, are quantized to 8 bits by their own range. Steps behind
    the end of the longest sequence have no part in it.
    """
    if w_scale is None or w_zero is None or r_scale is None or r_zero is None:
        raise n.error("the weights' scales and zero points are missing")
    own = (_Weights(n, w, w_scale, w_zero), _Weights(n, r, r_scale, r_zero))
    if lengths is not None:
        time = 1 if n.int("layout") else 0
        is_read = counting(n, extent(n, (x, time))) < Term(n, lengths).cast(i64).largest(0)
        x = is_read.spread(time, 2 - time).choose(Term(n, x), 0.0).value

    def prepare(number: int, d: Direction) -> None:
        projection, recurrent = (one.constant(number) for one in own)
        d.projection, d.recurrent = projection or d.projection, recurrent or d.recurrent
        d.products = (partial(own[0].product, number), partial(own[1].product, number))

    return lstm_with(n, prepare, x, own[0].integers, own[1].integers, b, lengths, h, c, p)


class _Weights:
    """Quantized weights [directions, inputs, 4 * hidden] of a network, minus their zero points.

    There is one scale and one zero point for each direction, or for each of its columns.
    """

    def __init__(self, n: Node, steps: Value, scale: Value, zero: Value) -> None:
        self.n = n
        rows = [Term(n, v).flattened(1) for v in (scale, zero)]
        self.scales, self.zeros = (t.reshape((t.value, 0), 1, (t.value, 1)) for t in rows)
        self.arrays = n.array(steps), n.array(zero)
        exact = Term(n, steps).cast(i32) - self.zeros.cast(i32)
        self.integers = exact.transpose(0, 2, 1).value

    def constant(self, number: int) -> Value | None:
        """The integers of a direction, [inputs, 4 * hidden], as a constant, which a loop's body can
        use as such; None if they are unknown.
        """
        steps, zeros = self.arrays
        if steps is None or zeros is None:
            return None
        zero = zeros.reshape(len(steps), -1)[number]
        return self.n.constant(steps[number].astype(np.int32) - zero.astype(np.int32))

    def product(self, number: int, x: Value, weight: Value) -> Value:
        """The product of x, quantized to 8 bits, and the integers of a direction."""
        steps, scale, zero = _in_bytes(self.n, x)
        exact = Term(self.n, self.n(nn.Matmul(shifted(self.n, steps, zero), weight))).cast(f32)
        own = self.scales.part(0, number, number + 1).flat()
        own = own.reshape() if own.value.type.shape == (1,) else own
        return (exact * (own * scale)).value


@converter("QAttention", domain=DOMAIN)
def quantized_attention(
    n: Node,
    x: Value,
    weight: Value,
    bias: Value,
    x_scale: Value,
    weight_scale: Value,
    mask: Value | None = None,
    x_zero: Value | None = None,
    weight_zero: Value | None = None,
    past: Value | None = None,
) -> list[Value | None]:
    data = _real(n, x, x_scale, x_zero).value
    return attention(n, data, _real(n, weight, weight_scale, weight_zero).value, bias, mask, past)


@converter("QEmbedLayerNormalization", domain=DOMAIN)
def quantized_embed_layer_normalization(
    n: Node, ids: Value, segments: Value | None, *tables_and_steps: Value | None
) -> list[Value | None]:
    """`embed_layer_normalization` of quantized tables.

    Inputs: tables of words, positions, segments, gamma, beta; mask; scales [5]; zero points [5].
    """
    given = (*tables_and_steps, *(None,) * 16)[:16]
    tables, mask, scales, zeros = given[:5], given[5], given[6:11], given[11:]
    real = [
        None if table is None or scale is None else _real(n, table, scale, zero).value
        for table, scale, zero in zip(tables, scales, zeros, strict=True)
    ]
    words, places, kinds, gamma, beta = real
    if words is None or places is None or gamma is None or beta is None:
        raise n.error("a table or its scale is missing")
    return embed_layer_normalization(n, ids, segments, words, places, kinds, gamma, beta, mask)[:2]
