"""Padding: elements added around a tensor, or removed."""

from __future__ import annotations

from ..vocabulary import *
from .base import NnOp, check_length, one_of, shape_operand_length, tensor
from .traits import Arranging, Fusion, Total

_MODE = one_of("constant", "reflect", "edge", "wrap")


class Pad(NnOp, name="nn.pad", traits=(Total, Arranging)):
    """x with elements added before and after it in each dimension; negative numbers remove some.

    `pads` has a number for the begin of each dimension, then one for the end of each. What is added
    is the 0-d `value` (0 without it), or in the modes "reflect", "edge" and "wrap" elements of x,
    as by numpy.pad. Source: ONNX Pad-25.
    """

    x: Operand = operand(AnyRankedTensor)
    value: OptionalOperand = optional_operand(AnyRankedTensor)
    pads: tuple[int, ...] = attribute(INT_ARRAY)
    mode: str = attribute(_MODE, default="constant")
    out: Result = result(AnyRankedTensor)

    fusion = Fusion.PADDING
    keeps_channels = True

    @property
    def places_rows(self):
        return self.mode == "constant" and min(self.pads, default=0) >= 0

    def operands_by_parts(self):
        return {0} if self.pads[0] == self.pads[self.x.type.rank] == 0 else None

    example = (
        "%y = nn.pad %x, %zero {pads = array<i64: 0, 1, 0, 1>} : "
        "(tensor<4x8xf32>, tensor<f32>) -> tensor<4x10xf32>"
    )

    @classmethod
    def infer(cls, types, attrs):
        x = types[0]
        check_length(attrs.pads, 2 * x.rank, "pads")
        begin, end = attrs.pads[: x.rank], attrs.pads[x.rank :]
        shape = []
        for d, b, e in zip(x.shape, begin, end, strict=True):
            shape.append(None if d is None else d + b + e)
            if d is None:
                continue
            if d + b + e < 0:
                raise NncError(f"pads remove more than there is of '{x}'")
            kept = d + min(b, 0) + min(e, 0)
            if attrs.mode != "constant" and kept <= 0 and (kept, d + b + e) != (0, 0):
                raise NncError(f"there is no element of '{x}' to repeat")
        return [tensor(shape, x.element_type)]

    def evaluate(self, x, value=None):
        from ...ir.comprehension_numpy import pad

        rank = x.ndim
        pairs = list(zip(self.pads[:rank], self.pads[rank:], strict=True))
        fill = 0 if value is None else value.reshape(())[()]
        return pad(x, pairs, fill, self.mode)


class PadDynamic(NnOp, name="nn.pad_dynamic"):
    """`nn.pad` with `pads` known only at run time: a 1-D tensor of i64, the begins, then the ends.

    Source: ONNX Pad-25.
    """

    x: Operand = operand(AnyRankedTensor)
    pads: Operand = operand(AnyRankedTensor)
    value: OptionalOperand = optional_operand(AnyRankedTensor)
    mode: str = attribute(_MODE, default="constant")
    out: Result = result(AnyRankedTensor)

    example = (
        "%y = nn.pad_dynamic %x, %p, %zero : "
        "(tensor<4x8xf32>, tensor<4xi64>, tensor<f32>) -> tensor<?x?xf32>"
    )

    @classmethod
    def infer(cls, types, attrs):
        x, pads = types[:2]
        if shape_operand_length(pads, "pads") not in (2 * x.rank, None):
            raise NncError(f"pads must have {2 * x.rank} elements, but is '{pads}'")
        return [tensor([None] * x.rank, x.element_type)]

    def evaluate(self, x, pads, value=None):
        from ...ir.comprehension_numpy import pad

        pairs = [(int(b), int(e)) for b, e in pads.reshape(2, x.ndim).T]
        if any(d + min(b, 0) + min(e, 0) < 0 for d, (b, e) in zip(x.shape, pairs, strict=True)):
            raise NncError(f"pads {pairs} remove more than there is of {list(x.shape)} elements")
        return pad(x, pairs, 0 if value is None else value.reshape(())[()], self.mode)
