"""The block sizes of convolutions and matrix products in blocked layouts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...dialects import nn
from ...ir.core import Value
from ...ir.types import FloatType, Type, i32
from ...targets.costs import LayoutCosts
from ...targets.machine import Machine
from ...targets.roofline import F32
from .building import element_of, is_arranged_constant, shape_of
from .grouped_layouts import is_narrow, same_channels
from .integer_products import IntegerProduct


@dataclass(frozen=True)
class Layouts:
    """Chooses the block sizes of convolutions and matrix products."""

    costs: LayoutCosts
    machine: Machine
    integers: Mapping[nn.Conv, IntegerProduct] = field(default_factory=dict)
    """The convolutions that are computed on words of packed integers."""

    @property
    def block(self) -> int:
        """The preferred number of channels in a block."""
        return self.costs.block

    def is_shuffled(self, conv: nn.Conv) -> bool:
        """Whether the convolution's channels get another order: it has many small groups."""
        return conv.groups > 1 and not conv.is_depthwise and is_narrow(conv, self.block)

    def wanted_blocks(self, convolutions: Sequence[nn.Conv]) -> dict[Value, int]:
        """{tensor: block size} of the tensors that grouped convolutions read and write.

        Their neighbours then use the same block sizes, so that the layout does not change between
        them.
        """
        wanted: dict[Value, int] = {}
        for conv in convolutions:
            if conv.groups == 1 or (blocks := self.blocks_of(conv, {})) is None:
                continue
            for value, block in zip((conv.x, conv.out), blocks, strict=True):
                if block != self.block_of(shape_of(value)[1]) and value not in wanted:
                    wanted.update(dict.fromkeys(same_channels(value), block))
        for value in self._rows_of_words(convolutions):
            if value not in wanted:
                wanted.update(dict.fromkeys(same_channels(value), self.machine.bytes_in_row))
        return wanted

    def _rows_of_words(self, convolutions: Sequence[nn.Conv]) -> Iterator[Value]:
        """The tensors of products of bytes whose channels fill rows of tile registers."""
        row = self.machine.bytes_in_row
        for conv in convolutions if row else ():
            words = self.integers.get(conv)
            if words is not None and words.count == 4 and conv.groups == 1:
                values = (conv.x, conv.out)
                yield from (v for v in values if (shape_of(v)[1] or 1) % row == 0)

    def join(self, wanted: dict[Value, int], concatenations: Sequence[nn.Concat]) -> None:
        """Want the same block size for all tensors concatenated along the channels, and for the
        result.

        24 and 24 channels are 48 in blocks of 24, where 48 by themselves would be in blocks of 16,
        and the layout would change twice. It must leave no more lanes empty than the tensor's own
        block size.
        """
        for concat in concatenations:
            values = (*concat.inputs, concat.out)
            counts = [shape_of(value)[1] or 0 if concat.axis == 1 else 0 for value in values]
            if 0 in counts:
                continue
            block, own = self.block_of(math.gcd(*counts)), [self.block_of(n) for n in counts]
            if block is None or 2 * block < self.block or set(own) == {block}:
                continue
            if any(one is None or self.filled(one) > self.filled(block) for one in own[:-1]):
                continue
            if any(wanted.get(value, block) != block for value in values):
                continue
            for value in values:
                wanted.update(dict.fromkeys(same_channels(value), block))

    def blocks_of(self, conv: nn.Conv, wanted: Mapping[Value, int]) -> tuple[int, int] | None:
        """The block sizes of operand and result; None if the convolution stays as it is."""
        x, weight, out = shape_of(conv.x), shape_of(conv.weight), shape_of(conv.out)
        if None in (x[1], *weight) or not is_arranged_constant(conv.weight):
            return None
        words = self.integers.get(conv)
        if not _is_blocked_type(element_of(conv.x)) or 0 in (*x[1:], *weight):
            return None
        C, M, groups = x[1], out[1], conv.groups
        if words is not None and words.count > 1:
            return self.blocks_of_words(conv, words.count, wanted)
        if groups == 1:
            before = wanted.get(conv.x) or self.block_of(C)
            after = wanted.get(conv.out) or self.block_of(M)
        elif conv.is_depthwise:
            before = after = wanted.get(conv.x) or self.block_of(C)
            if self.block > C and conv.x not in wanted:
                return None
        elif is_narrow(conv, self.block):
            before = after = self.block
        else:
            before, after = self.block_of(C // groups), self.block_of(M // groups)
            if 2 * min(C, M) < self.block * groups:
                return None
        return None if before is None or after is None else (before, after)

    def blocks_of_words(
        self, conv: nn.Conv, count: int, wanted: Mapping[Value, int]
    ) -> tuple[int, int] | None:
        """The (operand, result) block sizes of a convolution on words of `count` integers."""
        C, M, groups = shape_of(conv.x)[1], shape_of(conv.out)[1], conv.groups
        if groups == 1:
            C += -C % count
        before = wanted.get(conv.x) or self.block_of(C // groups)
        after = wanted.get(conv.out) or self.block_of(M // groups)
        if before is None or after is None or before % count:
            return None
        return before, after

    def is_packable(self, product: nn.Matmul, block: int) -> bool:
        """Whether the weights are constant and their columns make whole blocks."""
        *_, columns = shape_of(product.rhs)
        return (
            product.rhs.defined_by(nn.Constant) is not None
            and len(shape_of(product.rhs)) == 2
            and len(shape_of(product.lhs)) >= 2
            and _is_blocked_type(element_of(product.rhs))
            and columns is not None
            and (columns % block == 0 or columns >= self.costs.padded_blocks * self.block)
        )

    def columns_of(self, product: nn.Matmul) -> int:
        """The number of columns in a block of the weights."""
        rows = math.prod(d or self.costs.few_rows for d in shape_of(product.lhs)[:-1])
        return self.block if rows >= self.costs.few_rows else 2 * self.block

    def block_of(self, channels: int) -> int | None:
        """The block size for a number of channels; None if there is no good one.

        It is the full block if that divides them, all channels if they are few, or a divisor of up
        to four full blocks: the one that leaves the fewest lanes empty, and of equal ones the
        largest.
        """
        if channels % self.block == 0:
            return self.block
        if channels <= 2 * self.block:
            return channels
        sizes = [n for n in range(2, 4 * self.block + 1) if channels % n == 0]
        good = [n for n in sizes if self._lanes_used(n) >= self.costs.filled]
        return max(good, key=lambda size: (self.filled(size), size), default=None)

    def filled(self, size: int) -> float:
        """The part of its time in which a block of this size keeps all lanes busy.

        Half a vector takes as long as a whole one where units are as wide as vectors.
        """
        halves = -(-size // self._half)
        short, whole = (self.machine.fma_cycles(F32 * n) for n in (self._half, self.block))
        spared = halves % 2 * (whole - short)
        return self._lanes_used(size) * halves * whole / (2 * (-(-halves // 2) * whole - spared))

    def _lanes_used(self, size: int) -> float:
        """The part of the lanes that a block of this size uses, where half vectors may be used too.

        A block of one half vector counts as less, because it shares what it loads among fewer
        results.
        """
        part = size / (self._half * -(-size // self._half))
        return part if size > self._half else part * self.costs.half_filled

    @property
    def _half(self) -> int:
        return max(1, self.block // 2)


def _is_blocked_type(element: Type) -> bool:
    """Whether products of such elements are computed in blocks."""
    return isinstance(element, FloatType) or element is i32
