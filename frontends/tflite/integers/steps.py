"""Quantized operands minus their zero points, and results of fixed-point arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import IntegerType, i32
from ...common.fixed_point import rounded_away
from ...common.shapes import limits_of
from ...common.terms import Term
from ..layer import TfliteLayer, scales_of
from ..tensors import element_type

LIMITS = {0: (None, None), 1: (0.0, None), 2: (-1.0, 1.0), 3: (0.0, 6.0), -1: (0.0, 1.0)}
"""The (least, greatest) results of fused activations, by their numbers; -1 is nnc's own."""


@dataclass(frozen=True)
class Quantization:
    """How integers q stand for (q - zero) * scale: one scale and zero point, or per channel."""

    element: IntegerType
    scales: np.ndarray
    zeros: np.ndarray
    axis: int

    @property
    def scale(self) -> np.float32:
        """The scale, if all channels have the same one."""
        return self.scales[0]

    @property
    def zero(self) -> int:
        """The zero point, if all channels have the same one."""
        return int(self.zeros[0])

    @property
    def is_one(self) -> bool:
        """Whether all channels have the same scale and zero point."""
        return self.scales.size == 1 and self.zeros.size == 1


def quantization(n: TfliteLayer, tensor: Any) -> Quantization:
    """The quantization of a quantized tensor.

    Raises NncError if it is not by scales and zero points, or if a scale is not finite: converters
    write such scales for weights that are multiplied with zeros only.
    """
    scales = scales_of(tensor)
    element = element_type(tensor.type)
    if scales is None or tensor.quantization.details_kind or not isinstance(element, IntegerType):
        raise n.error(f"tensor '{tensor.name}' is not quantized by scales and zero points")
    if not np.isfinite(scales).all():
        raise n.error(f"tensor '{tensor.name}' has scales that are not finite")
    zeros = np.asarray(tensor.quantization.zero, np.int64)
    zeros = zeros if zeros.size else np.zeros(1, np.int64)
    return Quantization(element, np.asarray(scales, np.float32), zeros, tensor.quantization.axis)


def of_input(n: TfliteLayer, i: int) -> Quantization:
    """The quantization of operand i, with one scale."""
    return _with_one_scale(n, n.attributes.inputs[i])


def of_output(n: TfliteLayer, o: int = 0) -> Quantization:
    """The quantization of result o, with one scale."""
    return _with_one_scale(n, n.attributes.outputs[o])


def _with_one_scale(n: TfliteLayer, tensor: Any) -> Quantization:
    found = quantization(n, tensor)
    if not found.is_one:
        raise n.error(f"tensor '{tensor.name}' has scales for each channel")
    return found


def centred(n: TfliteLayer, i: int, x: Value) -> Term:
    """Operand i minus its zero point, as i32."""
    found = Term(n, x).cast(i32)
    zero = of_input(n, i).zero
    return found - zero if zero else found


def limits(n: TfliteLayer, activation: int = 0, o: int = 0) -> tuple[int, int]:
    """The least and the greatest integer of result o after an activation."""
    if activation not in LIMITS:
        raise n.error(f"activation {activation} is not supported for quantized tensors")
    about = of_output(n, o)
    least, most = limits_of(about.element)
    low, high = (
        None
        if v is None
        else int(rounded_away(np.asarray(np.float32(v) / about.scale))) + about.zero
        for v in LIMITS[activation]
    )
    least = least if low is None else max(int(least), low)
    return int(least), int(most if high is None else min(int(most), high))


def limited(n: TfliteLayer, x: Term, activation: int = 0, o: int = 0) -> Value:
    """i32 integers clipped to the limits of result o."""
    least, most = limits(n, activation, o)
    clipped = n(nn.Clip(x.value, n.constant(least, i32), n.constant(most, i32)))
    return n.cast(clipped, of_output(n, o).element)


def stored(n: TfliteLayer, x: Term, activation: int = 0, o: int = 0) -> Value:
    """Result o, from its i32 integers minus the zero point: this is added, and the sum clipped."""
    zero = of_output(n, o).zero
    return limited(n, x + zero if zero else x, activation, o)
