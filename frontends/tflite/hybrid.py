"""Products of floats with weights of 8 bits or less: kernels round the floats to 8 bits first.

Each row, or each image, has a scale of its own, from its least and its largest element. Here the
rounded numbers stay floats, `steps * scale`, which the dequantized weights are multiplied with.

Results are those of LiteRT's interpreter without options. There, XNNPACK computes the products with
constant weights: it chooses a zero point for each row, and rounds halves to even. LiteRT's own
kernels compute the others: they round halves away from 0, and recurrent ones have the zero point 0
unless the file asks for others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

from ...dialects import nn
from ...ir.core import Value
from ...ir.types import f32, f64
from ..common.formulas import round_half_away
from ..common.recurrent import Product
from ..common.terms import Term
from .layer import TfliteLayer

LEAST, MOST = -128.0, 127.0


class Rounding(Enum):
    """How floats are rounded to 8 bits: by which implementation, and by what rule."""

    XNNPACK = "halves to even, computed in f32; 0 lies where the range says"
    ASYMMETRIC = "halves away from 0, the scale computed in f64; 0 lies where the range says"
    SYMMETRIC = "halves away from 0; from -127 to 127 steps"

    @staticmethod
    def asked(n: TfliteLayer) -> Rounding:
        """The rounding of LiteRT's own kernels, by the operator's option `asymmetric_inputs`."""
        return Rounding.ASYMMETRIC if n.options.asymmetric_inputs else Rounding.SYMMETRIC


def rounded(n: TfliteLayer, x: Value, axes: Sequence[int], how: Rounding) -> Value:
    """Floats rounded as by kernels, with one scale for the elements along these axes."""
    term = Term(n, x)
    along = tuple(sorted(axis % x.type.rank for axis in axes))
    low = term.least(*along, keep=True).min(0.0)
    high = term.largest(*along, keep=True).max(0.0)
    return _ROUNDINGS[how](term, low, high).value


def _by_xnnpack(x: Term, low: Term, high: Term) -> Term:
    """Source: XNNPACK, src/xnnpack/quantization.h, xnn_f32_qd8_asymmetric_quantization_params."""
    span = high - low
    factor = span.equals(0.0).choose(1.0, (MOST - LEAST) / span)
    bottom, top = low * factor + LEAST, high * factor + MOST
    zero = (bottom + top > 0.0).choose(LEAST - low * factor, MOST - high * factor)
    zero = zero.max(LEAST).min(MOST).function(nn.Round)
    steps = (x * factor).function(nn.Round)
    return steps.max(LEAST - zero).min(MOST - zero) / factor


def _asymmetric(x: Term, low: Term, high: Term) -> Term:
    """Source: LiteRT, tflite/kernels/internal/reference/portable_tensor_utils.cc."""
    low, high = low.cast(f64), high.cast(f64)
    span = high - low
    wide = span.equals(0.0).choose(1.0, span / (MOST - LEAST))
    bottom, top = LEAST - low / wide, MOST - high / wide
    is_bottom = -LEAST - low / wide < MOST + high / wide
    zero = round_half_away(is_bottom.choose(bottom, top).max(LEAST).min(MOST)).cast(f32)
    scale = wide.cast(f32)
    steps = round_half_away(x * (1.0 / scale))
    return steps.max(LEAST - zero).min(MOST - zero) * scale


def _symmetric(x: Term, low: Term, high: Term) -> Term:
    reach = high.max(-low)
    factor = reach.equals(0.0).choose(1.0, MOST / reach)
    return round_half_away(x * factor).max(-MOST).min(MOST) * (reach / MOST)


_ROUNDINGS: dict[Rounding, Callable[[Term, Term, Term], Term]] = {
    Rounding.XNNPACK: _by_xnnpack,
    Rounding.ASYMMETRIC: _asymmetric,
    Rounding.SYMMETRIC: _symmetric,
}


def row_product(n: TfliteLayer, how: Rounding) -> Product:
    """A product of rounded rows with a matrix."""
    return lambda x, weight: n(nn.Matmul(rounded(n, x, (-1,), how), weight))
