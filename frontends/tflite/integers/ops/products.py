"""Convolutions, dense layers and products of matrices of integers.

Sums of products of 8 bits are of i32. Those of 16 by 8 bits are of i64 where they may be larger
than i32 holds: then they are computed in f64, in which they are exact.
"""

from __future__ import annotations

from functools import partial

from ....common.fixed_point import Multiplier, nearest
from ....common.vocabulary import *
from ...layer import TfliteLayer
from ...ops.convolution import CONVOLUTIONS, TRANSPOSED_CONVOLUTIONS, dense, matrices
from ..rows import INTEGERS
from ..steps import centred, of_input, of_output, quantization, stored

EXACT_IN_I32 = (1 << 31) - 1
_OUTPUT_AXES = {"CONV_2D": 0, "DEPTHWISE_CONV_2D": 3, "CONV_3D": 4, "TRANSPOSE_CONV": 0,
                "CONV_3D_TRANSPOSE": 3, "FULLY_CONNECTED": 0}  # fmt: skip
"""The dimension of the weights, as stored in the file, that counts the result's channels."""

Multiply = Callable[[Value, Value], Value]
"""A product of an operand and weights, both in the element type of the sums."""


def _weights(n: TfliteLayer, i: int, weight: Value) -> Term:
    """Weights minus their zero point, as i32; per-channel weights have none."""
    about = quantization(n, n.attributes.inputs[i])
    found = Term(n, weight).cast(i32)
    return found - about.zero if about.is_one and about.zero else found


def _summed(n: TfliteLayer, x: Term, weights: Term, bias: Value | None, multiply: Multiply) -> Term:
    """The product and the bias, along the last dimension; in i64 where the kernels use it."""
    element = n.attributes.inputs[_place_of_data(n)]
    is_wide = quantization(n, element).element.width == 16 and (
        bias is None or bias.type.element_type is i64
    )
    if not is_wide:
        out = Term(n, multiply(x.value, weights.value))
        return out if bias is None else out + Term(n, bias).cast(i32)
    known = n.array(weights.value)
    terms = (
        1 << 62
        if known is None
        else int(
            np.abs(known.astype(np.int64))
            .sum(axis=tuple(i for i in range(known.ndim) if i != _OUTPUT_AXES.get(n.kind, -1)))
            .max(initial=0)
        )
    )
    in_ = i32 if terms << 15 <= EXACT_IN_I32 else f64
    out = Term(n, multiply(x.cast(in_).value, weights.cast(in_).value)).cast(i64)
    return out if bias is None else out + Term(n, bias).cast(i64)


def _place_of_data(n: TfliteLayer) -> int:
    return 2 if n.kind in TRANSPOSED_CONVOLUTIONS else 0


def _multiplier(n: TfliteLayer) -> Multiplier:
    """The multiplier from the scale of the product to that of the result."""
    about = quantization(n, n.attributes.inputs[1])
    data, out = of_input(n, _place_of_data(n)), of_output(n)
    if data.element.signedness == "u":
        return Multiplier.of(np.float64(data.scale * about.scale) / np.float64(out.scale))
    scales = np.float64(data.scale) * about.scales.astype(np.float64) / np.float64(out.scale)
    return Multiplier.of(scales if scales.size > 1 else scales[0])


def _conv(product: Callable[..., Value]) -> Any:
    def convert(n: TfliteLayer, x: Value, weight: Value, bias: Value | None = None) -> Value:
        multiply = partial(_on_weights, n, product)
        sums = _summed(n, centred(n, 0, x), _weights(n, 1, weight), bias, multiply)
        return stored(n, _multiplier(n)(sums), n.options.activation)

    return convert


def _on_weights(n: TfliteLayer, product: Callable[..., Value], x: Value, weight: Value) -> Value:
    return product(n, x, weight, None)


def _transposed_conv(product: Callable[..., Value]) -> Any:
    def convert(
        n: TfliteLayer, shape: Value, weight: Value, x: Value, bias: Value | None = None
    ) -> Value:
        def multiply(x: Value, weight: Value) -> Value:
            return product(n, shape, weight, x, None)

        sums = _summed(n, centred(n, 2, x), _weights(n, 1, weight), bias, multiply)
        return stored(n, _multiplier(n)(sums), n.options.activation)

    return convert


INTEGERS.add({kind: _conv(product) for kind, product in CONVOLUTIONS.items()})
INTEGERS.add({kind: _transposed_conv(product) for kind, product in TRANSPOSED_CONVOLUTIONS.items()})


@INTEGERS("FULLY_CONNECTED")
def fully_connected(n: TfliteLayer, x: Value, weight: Value, bias: Value | None = None) -> Value:
    """A dense layer. Numerics: signed sums are scaled in f64, rounded once, halves away from 0."""
    sums = _summed(n, centred(n, 0, x), _weights(n, 1, weight), bias, partial(dense, n))
    data, about, out = of_input(n, 0), quantization(n, n.attributes.inputs[1]), of_output(n)
    if data.element.signedness == "u":
        return stored(n, _multiplier(n)(sums), n.options.activation)
    scales = np.float64(data.scale) * about.scales.astype(np.float64) / np.float64(out.scale)
    steps = sums.cast(f64) * Term(n, n.constant(scales if scales.size > 1 else scales[0]))
    return stored(n, nearest(steps), n.options.activation)


@INTEGERS("BATCH_MATMUL")
def batch_matmul(n: TfliteLayer, lhs: Value, rhs: Value) -> Value:
    first, second, out = of_input(n, 0), of_input(n, 1), of_output(n)
    operands = centred(n, 0, lhs), centred(n, 1, rhs)
    multiplier = Multiplier.of(np.float64(first.scale * second.scale) / np.float64(out.scale))
    if first.element.width == 16:
        wide = [x.cast(f64).value for x in operands]
        return stored(n, multiplier(Term(n, matrices(n, *wide)).cast(i64)))
    return stored(n, multiplier(Term(n, matrices(n, *(x.value for x in operands)))))
