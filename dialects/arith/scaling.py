"""Casts of floats that share a scale, the microscaling formats."""

from __future__ import annotations

from ...ir.constraints import FloatLike
from ...ir.traits import Elementwise
from ..vocabulary import *
from .attributes import FASTMATH, ROUNDING_MODE
from .base import round_to
from .cast import verify_same_shape


class _Scaling(Op, traits=(Pure, Elementwise)):
    """A float and a scale, of which only the power of two counts."""

    input: Operand = operand(FloatLike)
    scale: Operand = operand(FloatLike)

    def verify_op(self) -> None:
        verify_same_shape(self)


def _power_of_two(scale: Any) -> Any:
    """2 to the exponent of the scale, as f64."""
    wide = np.abs(scale.astype(np.float64))
    _, exponent = np.frexp(wide)
    power = np.ldexp(1.0, np.maximum(exponent - 1, -127))
    return np.where(np.isfinite(wide), power, np.nan)[()]


class ScalingExtF(_Scaling, name="arith.scaling_extf"):
    """A wider float, times the scale.

    Source: upstream arith.scaling_extf; OCP microscaling formats.
    """

    fastmath = attribute(FASTMATH, optional=True)
    out: Result = result(FloatLike)

    format = (
        "$input `,` $scale (`fastmath` `` $fastmath^)? attr-dict "
        "`:` type($input) `,` type($scale) `to` type($out)"
    )
    example = "%0 = arith.scaling_extf %a, %s : f8E5M2, f8E8M0FNU to f32"

    def evaluate(self, x, scale):
        return round_to(x.astype(np.float64) * _power_of_two(scale), self.out.type)

    def verify_op(self) -> None:
        super().verify_op()
        _verify_width(self, element_type(self.input.type).width < _out_width(self))


class ScalingTruncF(_Scaling, name="arith.scaling_truncf"):
    """A narrower float, after division by the scale.

    Source: upstream arith.scaling_truncf; OCP microscaling formats.
    """

    roundingmode = attribute(ROUNDING_MODE, optional=True)
    fastmath = attribute(FASTMATH, optional=True)
    out: Result = result(FloatLike)

    format = (
        "$input `,` $scale ($roundingmode^)? (`fastmath` `` $fastmath^)? attr-dict "
        "`:` type($input) `,` type($scale) `to` type($out)"
    )
    example = "%0 = arith.scaling_truncf %a, %s : f32, f8E8M0FNU to f8E5M2"

    def evaluate(self, x, scale):
        return round_to(x.astype(np.float64) / _power_of_two(scale), self.out.type)

    def verify_op(self) -> None:
        super().verify_op()
        _verify_width(self, element_type(self.input.type).width > _out_width(self))


def _out_width(op: _Scaling) -> int:
    return element_type(op.result_types[0]).width  # type: ignore[attr-defined]


def _verify_width(op: _Scaling, fits: bool) -> None:
    if not fits:
        raise op.error(
            f"operand types '{op.input.type}', '{op.scale.type}' and result type "
            f"'{op.result_types[0]}' are cast incompatible"
        )
