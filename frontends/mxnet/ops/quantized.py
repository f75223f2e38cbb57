"""Quantized tensors, each accompanied by two scalars: the least and the largest real number.

The zero point is 0. Source: MXNet's src/operator/quantization, CPU kernels.
"""

from __future__ import annotations

from ...common.quantization import quantized
from ...common.vocabulary import *
from ..layer import MxnetLayer, rows
from .layers import convolved, embedding, fully_connected, pooling

ui8 = IntegerType(8, "u")
_WIDEST = float(2**31 - 1)


class Range:
    """The symmetric range of a quantized tensor: -most to most, a 0-d tensor."""

    def __init__(self, n: MxnetLayer, low: Value, high: Value) -> None:
        both = joined([n.term(v).cast(f32).flat() for v in (low, high)], 0)
        self.n, self.most = n, both.function(nn.Abs).largest(0)

    def level(self, element: Type, half: float = 0.0) -> Term:
        """The scale, so that the range ends `half` steps beyond the largest integer of a type."""
        return self.most / (float(limits_of(element)[1]) + half)

    def outputs(self) -> list[Value]:
        return [(-self.most).reshape(1).value, self.most.reshape(1).value]


def _known_range(n: MxnetLayer, x: Term) -> Range:
    """The calibrated range, or that of the tensor itself."""
    low, high = n.get("min_calib_range"), n.get("max_calib_range")
    if low is None or high is None:
        axes = tuple(range(x.rank))
        return Range(n, *(reduced(n, x.value, op, axes) for op in (nn.ReduceMin, nn.ReduceMax)))
    return Range(n, *(n.constant(np.float32(v)) for v in (float(low), float(high))))


def _element(n: MxnetLayer) -> Type:
    """The element type of the result: unsigned if the calibrated range has no negative numbers."""
    kind = n.text("out_type", "int8", "int8", "uint8", "auto")
    low = n.get("min_calib_range")
    return ui8 if kind == "uint8" or (kind == "auto" and low is not None and low >= 0) else i8


def _quantized(n: MxnetLayer, x: Term, range_: Range, element: Type, half: float = 0.5) -> Value:
    """Real numbers, quantized by a range."""
    return quantized(n, x.value, range_.level(element, half).value, None, element)


def _real(x: Value, range_: Range, half: float = 0.5) -> Term:
    if not isinstance(x.type.element_type, IntegerType):
        raise range_.n.error(f"an input is '{x.type}', expected integers")
    return range_.n.term(x).cast(f32) * range_.level(x.type.element_type, half)


@rows("_contrib_quantize_v2")
def quantize_by_calibration(n: MxnetLayer, x: Value) -> list[Value]:
    element, range_ = _element(n), _known_range(n, n.term(x))
    found = _quantized(n, n.term(x), range_, element)
    if element is i8:
        return [found, *range_.outputs()]
    low = n.constant(np.array([n.float("min_calib_range", 0.0)], np.float32))
    return [found, low, range_.outputs()[1]]


@rows("_contrib_quantize")
def quantize(n: MxnetLayer, x: Value, low: Value, high: Value) -> list[Value]:
    range_ = Range(n, low, high)
    kind = n.text("out_type", "uint8", "int8", "uint8")
    if kind == "uint8":
        return [_quantized(n, n.term(x), range_, ui8, 0.0), low, high]
    return [_quantized(n, n.term(x), range_, i8, 0.0), *range_.outputs()]


@rows("_contrib_dequantize")
def dequantize(n: MxnetLayer, x: Value, low: Value, high: Value) -> Value:
    return _real(x, Range(n, low, high)).value


@rows("_contrib_requantize")
def requantize(n: MxnetLayer, x: Value, low: Value, high: Value) -> list[Value]:
    real = _real(x, Range(n, low, high))
    range_ = _known_range(n, real)
    return [_quantized(n, real, range_, _element(n), 0.0), *range_.outputs()]


# -- products --------------------------------------------------------------------------------------


def _product(n: MxnetLayer, x: Value, weight: Value, more: tuple, make) -> list[Value]:
    """Integer sums of products, with their range; `more` holds the bias and the
    operands' ranges.
    """
    *bias, x_low, x_high, w_low, w_high = more[:-2] if len(more) == 7 else more
    given, own = Range(n, x_low, x_high), Range(n, w_low, w_high)
    # The range of a convolution's result is as if its input had a sign.
    signed = x.type.element_type is i8 or "conv" in n.kind
    level = given.level(i8 if signed else ui8) * own.level(i8)
    sums = n.term(make(n, n.cast(x, f32), n.cast(weight, f32)))
    sums = sums.cast(i32)
    if bias and "conv" in n.kind:  # it is added as it is, whatever its range
        sums = sums + n.term(bias[0]).cast(i32).spread(0, sums.rank - 2)
    elif bias:
        step = given.level(x.type.element_type, 0.5) * own.level(i8)
        factor = Range(n, *more[-2:]).level(i8) / step
        sums = sums + (n.term(bias[0]).cast(f32) * factor).cast(i32)
    return [sums.value, *_range_of_sums(level)]


def _range_of_sums(level: Term) -> list[Value]:
    """The least and the largest real number of i32 results."""
    return [(level * -_WIDEST).reshape(1).value, (level * _WIDEST).reshape(1).value]


@rows("_contrib_quantized_conv")
def quantized_convolution(n: MxnetLayer, x: Value, weight: Value, *more: Value) -> list[Value]:
    return _product(n, x, weight, more, convolved)


@rows("_contrib_quantized_fully_connected")
def quantized_inner_product(n: MxnetLayer, x: Value, weight: Value, *more: Value) -> list[Value]:
    return _product(n, x, weight, more, fully_connected)


@rows("_contrib_quantized_elemwise_mul")
def product_of_elements(
    n: MxnetLayer, a: Value, b: Value, a_low: Value, a_high: Value, b_low: Value, b_high: Value
) -> list[Value]:
    first, second = Range(n, a_low, a_high), Range(n, b_low, b_high)
    whole = n.term(a).cast(i32) * n.term(b).cast(i32)
    if n.flag("enable_float_output"):
        return [(whole.cast(f32) * first.level(i8, 0.5) * second.level(i8, 0.5)).value]
    if n.get("max_calib_range") is None:
        return [whole.value, *_range_of_sums(first.level(i8) * second.level(i8))]
    range_ = _known_range(n, whole)
    fine = (127.5 / first.most) * (127.5 / second.most)
    steps = whole.cast(f32) * (127.5 / range_.most / fine)  # which are cut off, not rounded
    return [steps.max(-128.0).min(127.0).cast(i8).value, *range_.outputs()]


@rows("_contrib_quantized_elemwise_add")
def sum_of_elements(
    n: MxnetLayer, a: Value, b: Value, a_low: Value, a_high: Value, b_low: Value, b_high: Value
) -> list[Value]:
    first, second = Range(n, a_low, a_high), Range(n, b_low, b_high)
    total = n.term(a).cast(f32) * first.most + n.term(b).cast(f32) * second.most
    if n.get("max_calib_range") is None:
        most = first.most + second.most
        steps = (total * (_WIDEST / 127) / most).function(nn.Round)
        return [steps.cast(i32).value, (-most).reshape(1).value, most.reshape(1).value]
    range_ = _known_range(n, total)
    return [quantized(n, total.value, range_.most.value, None, i8), *range_.outputs()]


# -- what keeps its range --------------------------------------------------------------------------


@rows("_contrib_quantized_act")
def activated(n: MxnetLayer, x: Value, low: Value, high: Value) -> list[Value]:
    n.text("act_type", "", "relu")
    return [n.term(x).max(0).value, low, high]


@rows("_contrib_quantized_flatten")
def flattened(n: MxnetLayer, x: Value, low: Value, high: Value) -> list[Value]:
    return [n.term(x).flattened(1).value, low, high]


@rows("_contrib_quantized_pooling")
def pooled(n: MxnetLayer, x: Value, low: Value, high: Value) -> list[Value]:
    found = n.term(pooling(n, n.cast(x, f32)))
    return [found.function(nn.Round).cast(x.type.element_type).value, low, high]


@rows("_contrib_quantized_embedding")
def embedded(n: MxnetLayer, x: Value, weight: Value, low: Value, high: Value) -> list[Value]:
    return [embedding(n, x, weight), low, high]


@rows("_contrib_quantized_concat")
def concatenated(n: MxnetLayer, *inputs: Value) -> list[Value]:
    """Quantized tensors concatenated after requantization to the widest range."""
    count = len(inputs) // 3
    if not count or len(inputs) != 3 * count:
        raise n.error(f"{len(inputs)} inputs, expected tensors with two ranges for each")
    ranges = [Range(n, *inputs[count + 2 * i : count + 2 * i + 2]) for i in range(count)]
    widest = ranges[0]
    for one in ranges[1:]:
        widest.most = widest.most.max(one.most)
    ranges[0] = Range(n, *inputs[count : count + 2])
    elements = {x.type.element_type for x in inputs[:count]}
    element = ui8 if elements == {ui8} else i8
    parts = [
        _quantized(n, _real(x, r), widest, element) for x, r in zip(inputs, ranges, strict=False)
    ]
    axis = n.axis("dim", 1, inputs[0].type.rank)
    return [n(nn.Concat(parts, axis=axis)) if count > 1 else parts[0], *widest.outputs()]


@rows("_contrib_quantized_batch_norm")
def normalized(
    n: MxnetLayer,
    x: Value,
    gamma: Value,
    beta: Value,
    mean: Value,
    var: Value,
    low: Value,
    high: Value,
) -> list[Value]:
    real = _real(x, Range(n, low, high)).value
    found = n.term(batch_norm(n, real, gamma, beta, mean, var, n.float("eps", 1e-3)))
    range_ = _known_range(n, found)
    return [_quantized(n, found, range_, i8), *range_.outputs()]
