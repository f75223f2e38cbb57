"""Quantized graphs of PT2E: integers that stand for real numbers.

q = saturate(round(x / scale) + zero_point)
"""

from __future__ import annotations

from ...common.vocabulary import *
from ..layer import AtenLayer, promote
from ..rows import ROWS


def _along(n: AtenLayer, given: Any, x: Value, axis: int | None, element: Type) -> Term:
    """A scale or zero point shaped to broadcast against x."""
    value = Term(n, n.as_value(given, element))
    if axis is None:
        return value.reshape() if value.rank else value
    return value.spread(0, x.type.rank - 1 - n.axis(axis, x.type.rank))


def _parameters(n: AtenLayer, x: Value, axis: int | None, given: Any) -> tuple[Term, Term]:
    """Scale and zero point as f32; the zero point of channels may be missing."""
    scale, zero = _scale_and_zero(given)
    found = (_along(n, v, x, axis, f32) for v in (scale, 0 if zero is None else zero))
    return next(found), next(found) if zero is not None else Term(n, n.constant(0.0, f32))


def _scale_and_zero(given: Any) -> tuple[Any, Any]:
    scale = given["scale"] if "scale" in given else given["scales"]
    return scale, given.get("zero_point", given.get("zero_points"))


def _inverse(n: AtenLayer, scale: Any) -> Term:
    """1 / scale of a whole tensor as f32, rounded once: the scale may be a number or f64."""
    if not isinstance(scale, Value):
        return Term(n, n.constant(1.0 / scale, f32))
    return (1.0 / Term(n, scale)).cast(f32).reshape()


def _limited(n: AtenLayer, steps: Term, low: Any, high: Any, element: Type) -> Value:
    return steps.max(float(n.int(low))).min(float(n.int(high))).cast(element).value


def _promoted(a: Term, b: Term) -> tuple[Term, Term]:
    element = promote(a.element, b.element)
    return a.cast(element), b.cast(element)


@ROWS("quantized_decomposed.quantize_per_tensor")
def quantize(
    n: AtenLayer, input: Value, quant_min: Any, quant_max: Any, dtype: Type, **given: Any
) -> Value:
    scale, zero = _scale_and_zero(given)
    steps = (Term(n, n.cast(input, f32)) * _inverse(n, scale)).function(nn.Round)
    steps = steps + _along(n, zero, input, None, f32)
    return _limited(n, steps, quant_min, quant_max, dtype)


@ROWS("quantized_decomposed.quantize_per_channel")
def quantize_channels(
    n: AtenLayer,
    input: Value,
    scales: Value,
    zero_points: Value,
    axis: int,
    quant_min: Any,
    quant_max: Any,
    dtype: Type,
) -> Value:
    """Quantization with a scale and a zero point for each channel, in f64 if scales are of f64."""
    element = promote(f32, scales.type.element_type)
    scale, zero = (_along(n, v, input, axis, element) for v in (scales, zero_points))
    steps = (Term(n, n.cast(input, element)) * (1.0 / scale)).function(nn.Round) + zero
    return _limited(n, steps, quant_min, quant_max, dtype)


@ROWS("quantized_decomposed.dequantize_per_tensor")
def dequantize(n: AtenLayer, input: Value, out_dtype=None, **given: Any) -> Value:
    """(x - zero point) * scale, where each step is rounded to the result's type."""
    scale, zero = _parameters(n, input, None, given)
    element = out_dtype or f32
    shifted = Term(n, n.cast(input, element)).cast(f32) - zero
    return (shifted.cast(element).cast(f32) * scale).cast(element).value


@ROWS("quantized_decomposed.dequantize_per_channel")
def dequantize_channels(
    n: AtenLayer,
    input: Value,
    scales: Value,
    axis: int,
    zero_points: Value | None = None,
    out_dtype: Type | None = None,
    **given: Any,
) -> Value:
    def along(x: Value) -> Term:
        return _along(n, x, input, axis, x.type.element_type)

    zero = None if zero_points is None else along(zero_points)
    real = _real(Term(n, input), along(scales), zero)
    return real.cast(out_dtype or f32).value


def _real(x: Term, scale: Term, zero: Term | None) -> Term:
    """(x - zero point) * scale in the promoted types, except that f64 becomes f32.

    Integers of up to 16 bits are subtracted as f32, which is exact, unless they wrap.
    """
    if zero is not None:
        whole = promote(x.element, zero.element)
        own = x.element
        is_small = (
            isinstance(whole, IntegerType)
            and isinstance(own, IntegerType)
            and own.width <= 16 < whole.width
        )
        x = x.cast(f32 if is_small else whole) - zero.cast(f32 if is_small else whole)
    x, scale = _promoted(x, scale.cast(f32) if scale.element is f64 else scale)
    return x * scale


def _steps(x: Term, scale: Term, zero: Term) -> Term:
    """round(x / scale + zero point) in the promoted types."""
    x, inverse = _promoted(x, 1.0 / scale)
    steps, zero = _promoted(x * inverse, zero)
    return (steps + zero).function(nn.Round)


@ROWS("quantized_decomposed.quantize_per_token")
def quantize_token(
    n: AtenLayer,
    input: Value,
    scales: Value,
    zero_points: Value,
    quant_min: Any,
    quant_max: Any,
    dtype: Type,
) -> Value:
    """Quantization with a scale and a zero point for each row, [.., 1]."""
    steps = _steps(*(Term(n, v) for v in (input, scales, zero_points)))
    return _limited(n, steps, quant_min, quant_max, dtype)


@ROWS("quantized_decomposed.dequantize_per_token")
def dequantize_token(
    n: AtenLayer, input: Value, output_dtype: Type, scales: Value, zero_points: Value, **given: Any
) -> Value:
    return _real(*(Term(n, v) for v in (input, scales, zero_points))).cast(output_dtype).value


def _grouped(
    n: AtenLayer, x: Value, scales: Value, size: Any
) -> tuple[Term, Callable[[Value], Term]]:
    """Groups as rows [R * G, size], and a function that makes parameters [R, G] their columns."""
    width, extent = n.int(size), x.type.shape[-1]
    if extent is not None and scales.type.shape[-1] == 1:
        width = min(width, extent)
    return Term(n, n.reshape(x, [-1, width])), lambda v: Term(n, n.reshape(v, [-1, 1]))


@ROWS("quantized_decomposed.quantize_per_channel_group")
def quantize_groups(
    n: AtenLayer,
    input: Value,
    scales: Value,
    zero_points: Value,
    quant_min: Any,
    quant_max: Any,
    dtype: Type,
    group_size: Any = 128,
) -> Value:
    x, column = _grouped(n, input, scales, group_size)
    steps = _steps(x, column(scales), column(zero_points))
    return n.reshape(_limited(n, steps, quant_min, quant_max, dtype), n.shape(input))


@ROWS("quantized_decomposed.dequantize_per_channel_group")
def dequantize_groups(
    n: AtenLayer,
    input: Value,
    scales: Value,
    output_dtype: Type,
    zero_points: Value | None = None,
    group_size: Any = 128,
    **given: Any,
) -> Value:
    x, column = _grouped(n, input, scales, group_size)
    real = _real(x, column(scales), None if zero_points is None else column(zero_points))
    return n.reshape(real.cast(output_dtype).value, n.shape(input))


@ROWS("quantized_decomposed.choose_qparams_per_token")
def choose_of_tokens(n: AtenLayer, input: Value, dtype: Type) -> list[Value]:
    """Scales that map each row's largest magnitude to the largest integer; zero points: [.., 1]."""
    x = Term(n, input)
    most = x.function(nn.Abs).largest(x.rank - 1, keep=True)
    most = most.cast(f32) if most.element is f16 else most
    scale = most.max(1e-5) / float(limits_of(dtype)[1])
    return [scale.value, scale.zeros().value]


@ROWS(
    *("quantized_decomposed.choose_qparams_per_token_asymmetric",),
    *("quantized_decomposed._choose_qparams_per_token_asymmetric_impl",),
)
def choose_of_tokens_asymmetric(n: AtenLayer, input: Value, dtype: Type) -> list[Value]:
    """Scales and zero points of rows for i8: PyTorch ignores the given type."""
    x, low, high = Term(n, input), -128.0, 127.0
    axes = (x.rank - 1,)
    least = x.least(*axes, keep=True).min(0.0)
    most = x.largest(*axes, keep=True).max(0.0)
    scale = ((most - least) / (high - low)).max(float(np.finfo(np.float32).eps))
    down, up = least / scale, most / scale
    zero = ((down + low) + (up + high) > 0.0).choose(low - down, high - up)
    zero = zero.max(low).min(high).function(nn.Round)
    return [scale.cast(f64).value, zero.cast(i64).value]


@ROWS("quantized_decomposed.choose_qparams_symmetric")
def choose_symmetric(
    n: AtenLayer, input: Value, quant_min: int, quant_max: int, eps: float, dtype: Type
) -> list[Value]:
    x = Term(n, input)
    size = x.function(nn.Abs).largest(*range(x.rank))
    scale = (size / (float(quant_max - quant_min) / 2)).cast(f32).max(eps)
    zero = 128 if limits_of(dtype)[0] == 0 else 0
    return [scale.cast(f64).reshape(1).value, n.constant([zero], i64)]


@ROWS(
    *(f"aten.fake_quantize_per_{kind}_affine" for kind in ("tensor", "channel")),
    *(f"aten.fake_quantize_per_{kind}_affine_cachemask" for kind in ("tensor", "channel")),
    *("aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams",),
    *("quantized_decomposed.fake_quant_per_channel",),
)
def fake_quantize(
    n: AtenLayer,
    self: Any = None,
    input: Any = None,
    quant_min: Any = 0,
    quant_max: Any = 255,
    axis: int | None = None,
    fake_quant_enabled: Any = None,
    **given: Any,
) -> list:
    """x quantized and dequantized; and the mask of elements that were not clipped."""
    x = input if self is None else self
    scale, zero = _parameters(n, x, axis, given)
    steps = Term(n, n.cast(x, f32)) * (1.0 / scale)
    if _is_of_floats(_scale_and_zero(given)[1]):
        steps = (steps + zero).function(nn.Round)
    else:
        steps = steps.function(nn.Round) + zero
    low, high = float(n.int(quant_min)), float(n.int(quant_max))
    # As in PyTorch, NaN becomes the least one; per channel, so do numbers beyond i64.
    steps = (steps < 2.0**63 if axis is not None else steps.equals(steps)).choose(steps, low)
    found = ((steps.max(low).min(high) - zero) * scale).cast(x.type.element_type)
    inside = (steps >= low) & (steps <= high)
    if fake_quant_enabled is not None:
        on = Term(n, fake_quant_enabled).reshape() > 0
        found, inside = on.choose(found, Term(n, x)), inside | ~on
    return [found.value, inside.value]


def _is_of_floats(zero: Any) -> bool:
    return isinstance(zero, Value) and isinstance(zero.type.element_type, FloatType)


@ROWS("aten._int_mm")
def int_product(n: AtenLayer, self: Value, mat2: Value) -> Value:
    return n(nn.Matmul(n.cast(self, i32), n.cast(mat2, i32)))


@ROWS("aten._weight_int8pack_mm")
def weight_product(n: AtenLayer, self: Value, mat2: Value, scales: Value) -> Value:
    """x [M, K] times an integer weight [N, K] with a scale for each row."""
    element = self.type.element_type
    weight = Term(n, n.cast(mat2, element)).transpose(1, 0)
    return ((Term(n, self) @ weight) * Term(n, n.cast(scales, element))).value


@ROWS("quantized_decomposed.convert_element_type")
def convert_element_type(n: AtenLayer, input: Value, dtype: Type) -> Value:
    return n.cast(input, dtype)


@ROWS("quantized_decomposed.choose_qparams")
def choose_parameters(
    n: AtenLayer, input: Value, quant_min: int, quant_max: int, eps: float, dtype: Type
) -> list[Value]:
    """The scale and zero point for a tensor's range: one element each."""
    x = Term(n, input)
    axes = tuple(range(x.rank))
    least = x.least(*axes).min(0.0)
    most = x.largest(*axes).max(0.0)
    scale = ((most - least) / float(quant_max - quant_min)).cast(f32).max(eps)
    steps = (least.cast(f32) / scale).function(nn.Round).cast(i64)
    zero = (quant_min - steps).max(quant_min).min(quant_max)
    return [scale.cast(f64).reshape(1).value, zero.reshape(1).value]
