"""Quantized graphs of PT2E: integers that stand for real numbers.

q = saturate(round(x / scale) + zero_point)
"""

from __future__ import annotations

from ...common.vocabulary import *
from ..layer import AtenLayer
from ..rows import ROWS


def _along(n: AtenLayer, given: Any, x: Value, axis: int | None, element: Type) -> Term:
    """A scale or zero point shaped to broadcast against x."""
    value = Term(n, n.as_value(given, element))
    if axis is None:
        return value.reshape() if value.rank else value
    return value.spread(0, x.type.rank - 1 - n.axis(axis, x.type.rank))


def _parameters(n: AtenLayer, x: Value, axis: int | None, given: Any) -> tuple[Term, Term]:
    """Scale and zero point as f32; the zero point of channels may be missing."""
    scale = given["scale"] if "scale" in given else given["scales"]
    zero = given.get("zero_point", given.get("zero_points"))
    found = (_along(n, v, x, axis, f32) for v in (scale, 0 if zero is None else zero))
    return next(found), next(found) if zero is not None else Term(n, n.constant(0.0, f32))


@ROWS(*(f"quantized_decomposed.quantize_per_{kind}" for kind in ("tensor", "channel")))
def quantize(
    n: AtenLayer, input: Value, quant_min: Any, quant_max: Any, dtype: Type, axis=None, **given: Any
) -> Value:
    scale, zero = _parameters(n, input, axis, given)
    steps = (Term(n, n.cast(input, f32)) * (1.0 / scale)).function(nn.Round) + zero
    limited = steps.max(float(n.int(quant_min))).min(float(n.int(quant_max)))
    return limited.cast(dtype).value


@ROWS(*(f"quantized_decomposed.dequantize_per_{kind}" for kind in ("tensor", "channel")))
def dequantize(n: AtenLayer, input: Value, axis=None, out_dtype=None, **given: Any) -> Value:
    scale, zero = _parameters(n, input, axis, given)
    return ((Term(n, n.cast(input, f32)) - zero) * scale).cast(out_dtype or f32).value


@ROWS("quantized_decomposed.quantize_per_token")
def quantize_token(
    n: AtenLayer, input: Value, quant_min: Any, quant_max: Any, dtype: Type, **given: Any
) -> Value:
    """Quantization with a scale and a zero point for each row, [.., 1]."""
    scale, zero = (Term(n, n.cast(given[key], f32)) for key in ("scales", "zero_points"))
    steps = (Term(n, n.cast(input, f32)) * (1.0 / scale) + zero).function(nn.Round)
    return steps.max(float(n.int(quant_min))).min(float(n.int(quant_max))).cast(dtype).value


@ROWS("quantized_decomposed.dequantize_per_token")
def dequantize_token(
    n: AtenLayer, input: Value, output_dtype: Type, scales: Value, zero_points: Value, **given: Any
) -> Value:
    scale, zero = (Term(n, n.cast(v, f32)) for v in (scales, zero_points))
    return ((Term(n, n.cast(input, f32)) - zero) * scale).cast(output_dtype).value


def _grouped(n: AtenLayer, x: Value, size: Any) -> tuple[Term, Callable[[Any], Term]]:
    """Groups as rows [R * G, size], and a function that makes parameters [R, G] their columns."""
    width = n.int(size)
    rows = n.reshape(x, [-1, width])
    return Term(n, rows), lambda v: Term(n, n.cast(n.reshape(v, [-1, 1]), f32))


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
    x, column = _grouped(n, n.cast(input, f32), group_size)
    steps = (x * (1.0 / column(scales)) + column(zero_points)).function(nn.Round)
    limited = steps.max(float(n.int(quant_min))).min(float(n.int(quant_max)))
    return n.reshape(limited.cast(dtype).value, n.shape(input))


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
    x, column = _grouped(n, n.cast(input, f32), group_size)
    apart = x if zero_points is None else x - column(zero_points)
    return n.reshape((apart * column(scales)).cast(output_dtype).value, n.shape(input))


@ROWS("quantized_decomposed.choose_qparams_per_token")
def choose_of_tokens(n: AtenLayer, input: Value, dtype: Type) -> list[Value]:
    """Scales that map each row's largest magnitude to the largest integer; zero points: [.., 1]."""
    x = Term(n, n.cast(input, f32))
    most = x.function(nn.Abs).largest(x.rank - 1, keep=True)
    scale = most.max(1e-5) / float(limits_of(dtype)[1])
    return [scale.value, scale.zeros().value]


@ROWS(
    *("quantized_decomposed.choose_qparams_per_token_asymmetric",),
    *("quantized_decomposed._choose_qparams_per_token_asymmetric_impl",),
)
def choose_of_tokens_asymmetric(n: AtenLayer, input: Value, dtype: Type) -> list[Value]:
    x = Term(n, n.cast(input, f32))
    axes = (x.rank - 1,)
    least = x.least(*axes, keep=True).min(0.0)
    most = x.largest(*axes, keep=True).max(0.0)
    low, high = map(float, limits_of(dtype))
    scale = ((most - least) / (high - low)).max(float(np.finfo(np.float32).eps))
    down, up = least / scale, most / scale
    zero = ((down + low) + (up + high) > 0.0).choose(low - down, high - up)
    zero = zero.max(low).min(high).function(nn.Round)
    return [scale.cast(f64).value, zero.cast(i64).value]


@ROWS("quantized_decomposed.choose_qparams_symmetric")
def choose_symmetric(
    n: AtenLayer, input: Value, quant_min: int, quant_max: int, eps: float, dtype: Type
) -> list[Value]:
    x = Term(n, n.cast(input, f32))
    size = x.function(nn.Abs).largest(*range(x.rank))
    scale = (size / (float(quant_max - quant_min) / 2)).max(eps)
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
    steps = (Term(n, n.cast(x, f32)) * (1.0 / scale) + zero).function(nn.Round)
    low, high = float(n.int(quant_min)), float(n.int(quant_max))
    # As in PyTorch, NaN becomes the least one; per channel, so do numbers beyond i64.
    steps = (steps < 2.0**63 if axis is not None else steps.equals(steps)).choose(steps, low)
    found = ((steps.max(low).min(high) - zero) * scale).cast(x.type.element_type)
    inside = (steps >= low) & (steps <= high)
    if fake_quant_enabled is not None:
        on = Term(n, fake_quant_enabled).reshape() > 0
        found, inside = on.choose(found, Term(n, x)), inside | ~on
    return [found.value, inside.value]


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
    x = Term(n, n.cast(input, f32))
    axes = tuple(range(x.rank))
    least = x.least(*axes).min(0.0)
    most = x.largest(*axes).max(0.0)
    scale = ((most - least) / float(quant_max - quant_min)).max(eps)
    zero = (float(quant_min) - (least / scale).function(nn.Round)).max(float(quant_min))
    zero = zero.min(float(quant_max))
    return [scale.cast(f64).reshape(1).value, zero.cast(i64).reshape(1).value]
