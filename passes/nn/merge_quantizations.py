"""Tensors that are quantized a second time in the same way stay as they were.

    q2 = saturate(round((q - zero) * scale / scale) + zero)    ->    q2 = q

Quantizers of models put such a pair of operations between any two others, around a reshape or a
transpose as well, where nothing needs real numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...dialects import nn
from ...ir.builder import Builder
from ...ir.core import Operation, Value
from ...ir.passes import Pass, PassContext
from ...ir.rewriting import constant_number
from ...ir.types import IntegerType, TensorType, f32
from .building import element_of, shape_of

MOST_BITS = 16
"""The most bits of integers, and of zero points, that come back from f32: of q less its zero point,
n, (n * scale) / scale is within n * 2**-23 and rounded to n."""

SCALES = (2.0**-100, 2.0**100)
"""The least and the largest scale. Products with up to 17 bits neither overflow nor lose bits."""

MOVING = (nn.Reshape, nn.Transpose, nn.Slice, nn.Split, nn.BroadcastTo, nn.Concat)
"""Ops that move the elements of their first operand, or of all."""

MOST_MOVES = 32
"""The most ops of data movement, one behind the other, that are looked through."""


@dataclass(frozen=True)
class MergeQuantizations(
    Pass,
    name="merge-quantizations",
    anchor="func.func",
    statistics={"quantizations-merged": "Number of quantizations of what was quantized so before"},
):
    """Take integers as they are where they are dequantized and quantized by the same numbers.

        %f = nn.cast %q                                  %r = nn.reshape %q
        %x = nn.mul (nn.sub %f, %zero), %scale     ->
        %y = nn.reshape %x
        %s = nn.round (nn.div %y, %scale)
        %r = nn.cast (nn.clip (nn.add %s, %zero), 0, 255)

    Reshapes, transposes, slices, splits, broadcasts and concatenations may lie between. Scale and
    zero point are constant, one for the whole tensor. The result is the same to the bit.
    """

    def run(self, op: Operation, context: PassContext) -> None:
        """Visit quantizations in order, so that a chain of pairs becomes its first tensor."""
        known: dict[Numbers, Integers] = {}
        for last in list(op.walk()):
            if isinstance(last, nn.Cast) and (found := quantization(last)) is not None:
                x, numbers = found
                integers = known.setdefault(numbers, Integers(numbers))
                if integers.are_behind(x):
                    last.replace_with(integers.behind(x))
                    context.statistic("quantizations-merged")


@dataclass(frozen=True)
class Numbers:
    """What integers of a type stand for: (q - zero) * scale; zero is an integer, too."""

    element: IntegerType
    scale: float
    zero: float


def quantization(op: nn.Cast) -> tuple[Value, Numbers] | None:
    """The f32 tensor that an op quantizes, and by which numbers; None if it does not quantize."""
    element, clip = op.out.type.element_type, op.x.defined_by(nn.Clip)
    if not isinstance(element, IntegerType) or not 1 < element.width <= MOST_BITS or clip is None:
        return None
    low, high = constant_number(clip.low), constant_number(clip.high)
    if low is None or high is None or not _covers(low, high, element):
        return None
    shifted, zero = _apart(clip.x, nn.Add)
    rounded = shifted.defined_by(nn.Round)
    if zero is None or rounded is None:
        return None
    if (steps := rounded.x.defined_by(nn.Div)) is not None:
        number = constant_number(steps.rhs)
    elif (steps := rounded.x.defined_by(nn.Mul)) is not None:
        # A power of two: multiplying by its inverse is what a division by it becomes.
        inverse = constant_number(steps.rhs)
        number = 1 / inverse if inverse else None
    else:
        return None
    scale = _scale(steps.lhs, steps.out, number)
    if scale is None or shape_of(op.out) != shape_of(steps.lhs):
        return None
    return steps.lhs, Numbers(element, scale, zero)


def dequantization(value: Value) -> tuple[Value, Numbers] | None:
    """The integers that an f32 tensor stands for, and by which numbers; None if for none."""
    scaled = value.defined_by(nn.Mul)
    if scaled is None:
        return None
    scale = _scale(scaled.lhs, scaled.out, constant_number(scaled.rhs))
    shifted, zero = _apart(scaled.lhs, nn.Sub)
    wide = shifted.defined_by(nn.Cast)
    element = None if wide is None else element_of(wide.x)
    if scale is None or zero is None or wide is None or not isinstance(element, IntegerType):
        return None
    if shape_of(wide.x) != shape_of(value):
        return None
    return wide.x, Numbers(element, scale, zero)


def _apart(x: Value, shift: type[nn.Add | nn.Sub]) -> tuple[Value, float | None]:
    """A tensor before its shift by a zero point, and that; 0 if there is none, None if it is no
    integer of few bits.
    """
    shifted = x.defined_by(shift)
    if shifted is None:
        return x, 0.0
    number = constant_number(shifted.rhs)
    if number is None or not abs(number) <= 1 << MOST_BITS or number != int(number):
        return shifted.lhs, None
    return shifted.lhs, float(number)


def _scale(x: Value, scaled: Value, number: float | None) -> float | None:
    """The number by which x of f32 is scaled; None if it is not in the range of `SCALES`."""
    least, most = SCALES
    if number is None or not least <= number <= most:
        return None
    return float(number) if element_of(x) is element_of(scaled) is f32 else None


def _covers(low: float, high: float, element: IntegerType) -> bool:
    """Whether no integer of the type is below low or above high."""
    is_signed = element.signedness != "u"
    least = -(1 << (element.width - 1)) if is_signed else 0
    return low <= least and high >= least + (1 << element.width) - 1


class Integers:
    """The integers that tensors stand for by some numbers; each is looked for and made once."""

    def __init__(self, numbers: Numbers) -> None:
        self.numbers = numbers
        self._are: dict[Value, bool] = {}
        self._made: dict[Value, Value] = {}

    def are_behind(self, x: Value, moves: int = MOST_MOVES) -> bool:
        """Whether x comes from integers by these numbers, moved by at most so many ops."""
        if x not in self._are:
            op, found = x.defining_op, dequantization(x)
            if found is not None:
                self._are[x] = found[1] == self.numbers
            elif moves and isinstance(op, MOVING):
                self._are[x] = all(self.are_behind(part, moves - 1) for part in _moved(op))
            else:
                self._are[x] = False
        return self._are[x]

    def behind(self, x: Value) -> Value:
        """The integers that x comes from, moved as x is moved; they must be behind it."""
        if x not in self._made:
            found, op = dequantization(x), x.defining_op
            if found is not None:
                self._made[x] = found[0]
            else:
                assert op is not None
                operands = [self.behind(part) for part in _moved(op)]
                types = [TensorType(shape_of(out), self.numbers.element) for out in op.results]
                copy = op.create(operands, types, op.attributes, op.properties, loc=op.loc)
                Builder.before_op(op).insert(copy)
                self._made.update(zip(op.results, copy.results, strict=True))
        return self._made[x]


def _moved(op: Operation) -> Sequence[Value]:
    """The operands whose elements an op moves."""
    return op.operands if isinstance(op, nn.Concat) else op.operands[:1]
