"""Products of integers of 8 bits by constant weights, on words that hold several of them.

    (x - zero) @ w  ->  packed(words(x), words(w)) - zero * colsum(w)     bytes, "u8s8" and "s8"
    (x - zero) @ w  ->  packed(pairs(x - zero), pairs(w))                 16 bits, "s16"

All sums are those of i32, which wrap, so both are exact. Bytes are taken where the machine
multiplies them and the weights, their own zero point taken off, fit; x gets the sign that the
machine wants by adding 128 or -128.
See docs/decisions/0024-integer-products.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...dialects import nn
from ...dialects.nn.products import SINGLE
from ...ir.builder import Builder
from ...ir.core import Operation, Value
from ...ir.lazy import np
from ...ir.packing import INTEGERS, Packing
from ...ir.types import IntegerType, TensorType, f32, i8, i32
from ...targets.machine import Machine
from .building import cast, element_of, reshape, scalar, shape_of
from .constants import constant_array, make_constant

_BYTE = IntegerType(8, "u")
MOST_TERMS_OF_FLOATS = (1 << 24) // (256 * 256)
"""The most products of two 8-bit integers whose sum is exact in f32, in any order."""
_MIDDLE = 128
"""The offset that turns signed bytes into unsigned ones."""


@dataclass(frozen=True)
class Steps:
    """An i32 operand that is `x - zero`: x has 8 bits; zero is one i32, or None for 0."""

    x: Value
    zero: Value | None
    moves: tuple[Operation, ...] = ()
    """The reshapes and transposes after the subtraction, in order."""

    def tensor(self, b: Builder) -> Value:
        """x with the reshapes and transposes applied that lead to the operand."""
        found = self.x
        for move in self.moves:
            type = TensorType(shape_of(move.results[0]), element_of(found))
            again = move.create(
                [found, *move.operands[1:]], [type], move.attributes, move.properties
            )
            found = b.insert(again).results[0]
        return found

    @property
    def is_signed(self) -> bool:
        return element_of(self.x).signedness != "u"  # type: ignore[attr-defined]


def steps_of(value: Value) -> Steps | None:
    """The 8-bit integers and the zero point from which an i32 tensor is computed; None if it is
    not.
    """
    if element_of(value) is not i32:
        return None
    moves: list[Operation] = []
    while (move := value.defined_by(nn.Reshape) or value.defined_by(nn.Transpose)) is not None:
        moves.append(move)
        value = move.operands[0]
    zero, wide = None, value
    if (moved := value.defined_by(nn.Sub)) is not None:
        wide, zero = moved.lhs, moved.rhs
        if shape_of(wide) != shape_of(value) or set(shape_of(zero)) - {1}:
            return None
    narrow = wide.defined_by(nn.Cast)
    element = element_of(narrow.x) if narrow is not None else None
    if narrow is None or not isinstance(element, IntegerType) or element.width != 8:
        return None
    return Steps(narrow.x, zero, tuple(reversed(moves)))


@dataclass(frozen=True)
class IntegerProduct:
    """A product to be computed on words: its operand, its weights' elements, and the packing's
    name.
    """

    operand: Steps
    weight: np.ndarray
    name: str

    @property
    def packing(self) -> Packing | None:
        """How integers are packed in words; None if they are multiplied one by one."""
        return INTEGERS.get(self.name)

    @property
    def count(self) -> int:
        """The number of integers in a word."""
        return 1 if self.packing is None else self.packing.count

    @property
    def has_bytes(self) -> bool:
        return self.packing is None or self.count == 4

    @property
    def shift(self) -> int:
        """What is added to the operand so that its bytes are signed or unsigned as the packing
        needs.
        """
        if self.packing is None or not self.has_bytes:
            return 0
        if self.operand.is_signed == (self.packing.lhs.signedness != "u"):
            return 0
        return _MIDDLE if self.operand.is_signed else -_MIDDLE

    def weights(self, b: Builder, arranged: Value) -> Value:
        """The constant weights [.., K, A] as words [.., K / count, A]."""
        if self.packing is None:
            return cast(b, arranged, i8)
        count = self.count
        *lead, K, A = shape_of(arranged)
        apart = reshape(b, arranged, (*lead, K // count, count, A))
        rank = len(lead)
        last = b.insert(nn.Transpose(apart, (*range(rank), rank, rank + 2, rank + 1))).result
        if self.has_bytes:
            words = b.insert(nn.Words(cast(b, last, i8)))
        else:
            words = b.insert(nn.Pairs(last, scalar(b, 0, i32)))
        return reshape(b, words, (*lead, K // count, A))

    def words(self, b: Builder, x: Value) -> Value:
        """The operand [.., N] as words; it must be `aligned` and `padded`."""
        if self.packing is None:
            return x
        if self.has_bytes:
            return b.insert(nn.Words(x)).result
        zero = self.operand.zero
        number = scalar(b, 0, i32) if zero is None else as_number(b, zero)
        return b.insert(nn.Pairs(x, number)).result

    def aligned(self, b: Builder, x: Value) -> Value:
        """x plus the shift, as bytes that are signed or unsigned as the packing needs."""
        if self.packing is None or not self.shift:
            return x
        kind = self.packing.lhs if self.packing.lhs.signedness else i8
        same = b.insert(nn.Bitcast(x, out=TensorType(shape_of(x), kind))).result
        # Of either sign, half of all numbers is one bit.
        return b.insert(
            nn.Xor(same, scalar(b, _MIDDLE if kind is _BYTE else -_MIDDLE, kind))
        ).result

    def corrected(self, b: Builder, out: Value, sums: np.ndarray) -> Value:
        """The product less what zero point and shift contribute. `sums` are the weights' column
        sums.
        """
        operand = self.operand
        if not self.has_bytes or (operand.zero is None and not self.shift):
            return out
        zero = np.int32(0) if operand.zero is None else constant_array(operand.zero)
        if zero is not None:
            moved = (sums.astype(np.int64) * (int(zero.reshape(())) + self.shift)).astype(np.int32)
            return b.insert(nn.Sub(out, b.insert(make_constant(moved)))).result
        assert operand.zero is not None
        number = as_number(b, operand.zero)
        if self.shift:
            number = b.insert(nn.Add(number, scalar(b, self.shift, i32))).result
        moved = b.insert(nn.Mul(b.insert(make_constant(sums.astype(np.int32))), number))
        return b.insert(nn.Sub(out, moved)).result

    def padded(self, b: Builder, x: Value, pads: Sequence[int]) -> Value:
        """x, `aligned` or not, padded with the value that stands for zero."""
        if not any(pads):
            return x
        zero, element = self.operand.zero, element_of(x)
        number = scalar(b, 0, i32) if zero is None else as_number(b, zero)
        if element is not element_of(self.operand.x):
            number = b.insert(nn.Add(number, scalar(b, self.shift, i32))).result
        return b.insert(nn.Pad(x, cast(b, number, element), pads=tuple(pads))).result


def as_number(b: Builder, x: Value) -> Value:
    """A tensor of one element as a 0-d tensor."""
    return reshape(b, x, ())


def integer_product(operand: Value, weight: Value, machine: Machine) -> IntegerProduct | None:
    """How a product of i32 tensors can be computed on words; None if it cannot."""
    steps = steps_of(operand)
    numbers = constant_array(weight) if steps is not None else None
    if steps is None or numbers is None or not numbers.size:
        return None
    least, most = int(numbers.min()), int(numbers.max())
    if least >= -128 and most <= 127:
        if machine.has_byte_products:
            return IntegerProduct(steps, numbers, "u8s8")
        if machine.has_signed_byte_products:
            return IntegerProduct(steps, numbers, "s8")
    if machine.has_pair_products and least >= -(1 << 15) and most < 1 << 15:
        return IntegerProduct(steps, numbers, "s16")
    return None


def integer_matmul(product: nn.Matmul, machine: Machine) -> IntegerProduct | None:
    """How to compute a product with a constant matrix on packed integers; None if that does not
    pay.
    """
    lhs, rhs = shape_of(product.lhs), shape_of(product.rhs)
    if len(rhs) != 2 or len(lhs) < 2 or lhs[-1] is None:
        return None
    return integer_product(product.lhs, product.rhs, machine)


def integer_conv(conv: nn.Conv, machine: Machine) -> IntegerProduct | None:
    """How to compute a convolution with constant weights on packed integers; None if it does not
    pay.
    """
    if conv.bias is not None and element_of(conv.bias) is not i32:
        return None
    found = integer_product(conv.x, conv.weight, machine)
    if found is not None and conv.groups > 1 and found.weight.shape[1] % 4:
        found = None
    if found is not None and 2 * found.weight.shape[1] > found.count:
        return found
    return (
        single_product(conv, machine) if conv.groups == 1 or conv.is_depthwise else None
    ) or found


def single_product(conv: nn.Conv, machine: Machine) -> IntegerProduct | None:
    """How to compute a convolution on bytes that are read one by one and multiplied as i32.

    None on machines with vectors. Where a register holds one number, a byte is read as fast as an
    i32.
    """
    steps, numbers = steps_of(conv.x), constant_array(conv.weight)
    if steps is None or numbers is None or not numbers.size or machine.lanes(4) > 1:
        return None
    fits = int(numbers.min()) >= -_MIDDLE and int(numbers.max()) < _MIDDLE
    return IntegerProduct(steps, numbers, SINGLE) if fits else None


def is_exact_in_floats(product: nn.Matmul) -> bool:
    """Whether f32 holds each sum of products of two computed operands of 8 bits."""
    terms = shape_of(product.lhs)[-1]
    return (
        product.rhs.defined_by(nn.Constant) is None
        and terms is not None
        and terms <= MOST_TERMS_OF_FLOATS
        and all(_is_small(v) for v in product.operands)
    )


def _is_small(value: Value) -> bool:
    """Whether a tensor is 8-bit integers less a zero point that is itself such an integer."""
    steps = steps_of(value)
    if steps is None or steps.zero is None:
        return steps is not None
    made = steps.zero.defined_by(nn.Cast)
    if made is not None:
        return element_of(made.x) is element_of(steps.x)
    zero = constant_array(steps.zero)
    least = -_MIDDLE if steps.is_signed else 0
    return zero is not None and least <= int(zero.reshape(())) < least + 2 * _MIDDLE


def multiply_in_floats(product: nn.Matmul) -> None:
    """matmul(a, b) of i32 -> i32(matmul(f32(a), f32(b)))"""
    b = Builder.before_op(product)
    real = b.insert(nn.Matmul(cast(b, product.lhs, f32), cast(b, product.rhs, f32)))
    out = cast(b, real, i32)
    product.replace_with(out)


def pack_integer_matmul(product: nn.Matmul, found: IntegerProduct, block: int) -> None:
    """Replace a product of integers by one of words, with the weights in blocks of columns."""
    b = Builder.before_op(product)
    K, N = shape_of(product.rhs)
    count = found.count
    depth, whole = -(-K // count) * count, -(-N // block) * block
    weight = behind(b, product.rhs, (depth - K, whole - N))
    apart = reshape(b, weight, (depth, whole // block, block))
    weights = found.weights(b, b.insert(nn.Transpose(apart, (1, 0, 2))).result)
    rank = len(shape_of(product.lhs))
    x = found.aligned(b, found.operand.tensor(b))
    x = found.padded(b, x, (*(0,) * (2 * rank - 1), depth - K))
    out = b.insert(nn.PackedMatmul(found.words(b, x), weights, packing=found.name)).result
    rows = shape_of(product.out)[:-1]
    out = b.insert(nn.Reshape(out, out=TensorType((*rows, whole), i32))).result
    sums = found.weight.sum(axis=0, dtype=np.int64)
    out = found.corrected(b, out, np.pad(sums, (0, whole - N)))
    if whole != N:
        out = b.insert(nn.Slice(out, (0,) * rank, out=product.out.type)).result
    product.replace_with(out)


def behind(b: Builder, x: Value, counts: Sequence[int]) -> Value:
    """x with `counts` zeros appended in each dimension."""
    if not any(counts):
        return x
    pads = (*(0,) * len(counts), *counts)
    return b.insert(nn.Pad(x, scalar(b, 0, element_of(x)), pads=pads)).result


def with_whole_words(conv: nn.Conv, found: IntegerProduct) -> tuple[Value, Value]:
    """The 8-bit operand and the weights of a convolution, with zero channels so that they fill
    words.
    """
    b, weight = Builder.before_op(conv), conv.weight
    x = found.operand.tensor(b)
    rest = -(shape_of(weight)[1] % -found.count) if conv.groups == 1 else 0
    rank = len(shape_of(x))
    pads = (*(0,) * (rank + 1), rest, *(0,) * (rank - 2))
    lead = (0, rest, *(0,) * (rank - 2))
    return found.padded(b, x, pads), behind(b, weight, lead)
