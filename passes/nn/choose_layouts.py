"""Blocked layouts for convolutions: a vector of channels lies together.

    [N, C, H, W]  ->  [N, C / B, H, W, B]

The right-hand sides of matrix products are packed into blocks of columns in the same way.

Every convolution with constant weights is rewritten on blocked tensors, with a change of layout
before it and one after it. These changes then sink through ops for which it does not matter where
the channels are, until they meet and cancel. One remains at the begin of the model, and one
wherever something needs the plain order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from ...dialects import nn
from ...dialects.nn.blocked import BlockedConvOp
from ...dialects.nn.windows import Window, runs
from ...dialects.strict_math import is_strict
from ...ir.builder import Builder
from ...ir.core import Operation, Value
from ...ir.lazy import np
from ...ir.passes import Pass, PassContext, option
from ...ir.rewriting import apply_greedily
from ...ir.types import FloatType, TensorType, Type, i32
from ...targets.attribute import target_of
from ...targets.costs import LayoutCosts
from .building import (
    arranged,
    element_of,
    is_arranged_constant,
    replace_op,
    reshape,
    scalar,
    shape_of,
)
from .grouped_layouts import (
    is_narrow,
    same_channels,
    shuffle_operand,
    shuffled,
    unshuffle_result,
)
from .integer_products import (
    IntegerProduct,
    integer_conv,
    integer_matmul,
    is_exact_in_floats,
    multiply_in_floats,
    pack_integer_matmul,
    with_whole_words,
)
from .layout_costs import conv_options, matmul_options
from .sink_layouts import PATTERNS, plain
from .work import Work, work_of

MAX_PARTS = 27
"""The most parts into which a convolution's results are divided by which taps fall on padding: two
borders and a middle in each of three dimensions.
"""


@dataclass(frozen=True)
class ChooseLayouts(
    Pass,
    name="choose-layouts",
    anchor="func.func",
    statistics={
        "matrices-packed": "Number of constant matrices packed",
        "convolutions-blocked": "Number of convolutions on blocked layouts",
    },
):
    """Bring convolutions, and the ops between them, into blocked layouts.

        %y = nn.conv %x, %w      ->    %b = nn.transpose (nn.reshape %x)
                                       %c = nn.blocked_conv %b, %blocked_w
                                       %y = nn.reshape (nn.transpose %c)

    `fold-constants` brings the weights into blocks at compile time.
    """

    numerics = "rounding"

    target: str = option("", help="a target's name (default: the module's)", alias="machine")
    block: int = option(
        0,
        help="channels per block, where their number allows (default: the target's)",
        least=0,
    )

    def run(self, op: Operation, context: PassContext) -> None:
        """Rewrite each product; then let the changes of layout sink and cancel."""
        machine = target_of(op, self.target).machine
        costs = machine.costs.layouts
        convolutions = [c for c in op.walk() if isinstance(c, nn.Conv)]
        integers = {c: found for c in convolutions if (found := integer_conv(c, machine))}
        layouts = Layouts(replace(costs, block=self.block or costs.block), integers)
        if layouts.block == 1:
            return
        convolutions = [
            with_more_results(c, more) if (more := layouts.missing_results(c)) else c
            for c in convolutions
        ]
        products = [p for p in op.walk() if isinstance(p, nn.Matmul)]
        if not convolutions and not products:
            return
        work = work_of(op, self.target)
        wanted = layouts.wanted_blocks(convolutions)
        layouts.join(wanted, [c for c in op.walk() if isinstance(c, nn.Concat)])
        blocks = self._chosen(convolutions, wanted, layouts, work, context)
        packed = {p: matmul_options(p, layouts, work, integer_matmul(p, machine)) for p in products}
        # Narrow groups shuffle channels while those before and after are still plain.
        for conv in sorted(convolutions, key=lambda c: not layouts.is_shuffled(c)):
            if (found := blocks[conv]) is not None:
                block_conv(conv, *found, costs, integers.get(conv))
                context.statistic("convolutions-blocked")
        for product, options in packed.items():
            columns = options.blocks[context.decide(options.decision).taken]
            if options.words is not None:
                pack_integer_matmul(product, options.words, *columns)
            elif columns:
                pack_matmul(product, *columns)
            else:
                if is_exact_in_floats(product):
                    multiply_in_floats(product)
                continue
            context.statistic("matrices-packed")
        apply_greedily(op, PATTERNS, fold=False, trace=context.trace)

    @staticmethod
    def _chosen(
        convolutions: Sequence[nn.Conv],
        wanted: dict[Value, int],
        layouts: Layouts,
        work: Work,
        context: PassContext,
    ) -> dict[nn.Conv, tuple[int, int] | None]:
        """The (operand, result) block sizes of each convolution, by rule or as users asked.

        If users asked for other blocks of a result than the rule's, its readers get those blocks
        too.
        """
        found: dict[nn.Conv, tuple[int, int] | None] = {}
        for conv in convolutions:
            own = layouts.blocks_of(conv, wanted)
            options = conv_options(conv, own or (), layouts, work)
            taken = options.blocks[context.decide(options.decision).taken]
            found[conv] = (taken[0], taken[1]) if taken else None
            if own is not None and taken and taken[1] != own[1]:
                wanted.update(dict.fromkeys(same_channels(conv.out), taken[1]))
        return found


@dataclass(frozen=True)
class Layouts:
    """Chooses the block sizes of convolutions and matrix products."""

    costs: LayoutCosts
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
        return wanted

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

    def missing_results(self, conv: nn.Conv) -> int:
        """How many channels of zeros to append so that the results can be blocked; 0 if that does
        not pay.

        It pays only for many channels, such as the 402 of a spectrum of windows of 400.
        """
        M = shape_of(conv.out)[1]
        if conv.groups > 1 or conv in self.integers or self.blocks_of(conv, {}) is not None:
            return 0
        if M is None or M % self.block == 0 or self.costs.padded_results * self.block > M:
            return 0
        is_known = conv.weight.defined_by(nn.Constant) is not None and conv.bias is None
        return -M % self.block if is_known and self.block_of(shape_of(conv.x)[1] or 0) else 0

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
        best = max(sizes, key=lambda size: (self.filled(size), size), default=1)
        return best if self.filled(best) >= self.costs.filled else None

    def filled(self, size: int) -> float:
        """The part of the lanes that a block of this size uses, where half vectors may be used too.

        A block of one half vector counts as less, because it shares what it loads among fewer
        results.
        """
        half = max(1, self.block // 2)
        part = size / (half * -(-size // half))
        return part if size > half else part * self.costs.half_filled


def _is_blocked_type(element: Type) -> bool:
    """Whether products of such elements are computed in blocks."""
    return isinstance(element, FloatType) or element is i32


# -- changes of layout -----------------------------------------------------------------------


def blocked(b: Builder, x: Value, block: int) -> Value:
    """[N, C, D..] as [N, C / B, D.., B]."""
    N, C, *spatial = shape_of(x)
    apart = reshape(b, x, (N, C // block, block, *spatial))  # type: ignore[operator]
    order = (0, 1, *range(3, 3 + len(spatial)), 2)
    return b.insert(nn.Transpose(apart, order)).result


def form_of(conv: nn.Conv, block: int, costs: LayoutCosts) -> type[BlockedConvOp]:
    """The op class that a convolution becomes, with `block` result channels in a block."""
    if conv.groups == 1:
        window = conv.window(conv.operand_types, conv)
        return nn.BlockedPaddedConv if skips_padding(conv, window, costs) else nn.BlockedConv
    if conv.is_depthwise:
        return nn.BlockedDepthwiseConv
    return nn.BlockedNarrowConv if is_narrow(conv, block) else nn.BlockedGroupedConv


def block_conv(
    conv: nn.Conv,
    before: int,
    after: int,
    costs: LayoutCosts,
    integers: IntegerProduct | None = None,
) -> None:
    """Replace a convolution by one on tensors in blocks of `before` and `after` channels.

    With `integers`, it multiplies words that hold several quantized channels each.
    """
    M, _, *kernel = shape_of(conv.weight)
    form = form_of(conv, after, costs)
    if integers is not None and form is nn.BlockedPaddedConv:
        form = nn.BlockedConv
    shuffles = form is nn.BlockedNarrowConv
    operand = shuffle_operand(conv, after) if shuffles else conv.x
    weight = conv.weight
    if integers is not None:
        operand, weight = with_whole_words(conv, integers)
    b = Builder.before_op(conv)
    window = conv.window(conv.operand_types, conv)
    x = blocked(b, operand, before)
    attributes: dict[str, Any] = {"strides": conv.strides, "dilations": conv.dilations}
    pads = (0, 0, *window.begin, 0, 0, 0, *window.end, 0)
    if integers is not None:
        x = integers.words(b, integers.padded(b, integers.aligned(b, x), pads))
        attributes["packing"] = integers.name
    elif form is nn.BlockedPaddedConv:
        attributes["pads"] = (*window.begin, *window.end)
    elif window.has_padding:
        x = b.insert(nn.Pad(x, scalar(b, 0, element_of(x)), pads=pads)).result
    sizes = {"mi": after, "ci": before, "gi": after, "g": conv.groups, "m": M // conv.groups}
    weight = arranged(b, weight, form.arrangement, sizes)
    if integers is not None:
        weight = integers.weights(b, weight)
    if form.outer_rank:
        N, blocks, *rest = shape_of(x)
        outer = shape_of(weight)[0]
        x = reshape(b, x, (N, outer, blocks // outer, *rest))
    out = b.insert(form(x, weight, **attributes)).result
    if form.outer_rank:
        N, _, _, *rest = shape_of(out)
        out = reshape(b, out, (N, M // after, *rest))
    ones = (1,) * len(kernel)
    if integers is not None:
        sums = integers.weight.reshape(M // after, after, -1).sum(axis=2, dtype=np.int64)
        out = integers.corrected(b, out, sums.reshape(M // after, *ones, after))
    if conv.bias is not None:
        bias = conv.bias
        if shuffles:
            bias = shuffled(b, bias, 0, (conv.groups // after, after, M // conv.groups))
        out = b.insert(nn.Add(out, reshape(b, bias, (M // after, *ones, after)))).result
    result = plain(b, out, shape_of(conv.out))
    if shuffles:
        result = unshuffle_result(conv, result, after)
    replace_op(conv, result)


def with_more_results(conv: nn.Conv, more: int) -> nn.Conv:
    """The convolution with `more` result channels of zeros, which a slice after it cuts off."""
    b = Builder.before_op(conv)
    N, M, *rest = shape_of(conv.out)
    zero, rank = scalar(b, 0, element_of(conv.weight)), len(rest) + 2
    pads = (*(0,) * rank, more, *(0,) * (rank - 1))
    weight = b.insert(nn.Pad(conv.weight, zero, pads=pads)).result
    type = TensorType((N, M + more, *rest), element_of(conv.out))
    made = nn.Conv.create([conv.x, weight], [type], conv.attributes, conv.properties)
    out = b.insert(nn.Slice(b.insert(made).out, (0,) * rank, out=conv.out.type)).result
    replace_op(conv, out)
    return made


def skips_padding(conv: nn.Conv, window: Window, costs: LayoutCosts) -> bool:
    """Whether so many products involve padding that code which leaves them out pays."""
    if is_strict(conv) or not window.has_padding or None in shape_of(conv.x):
        return False
    extents, out = shape_of(conv.x)[2:], shape_of(conv.out)[2:]
    sizes = zip(extents, window.kernel, window.strides, window.dilations, strict=True)
    along = [
        list(islice(runs(*size, begin, count), MAX_PARTS + 1))  # type: ignore[arg-type]
        for size, begin, count in zip(sizes, window.begin, out, strict=True)
    ]
    used = math.prod(sum(r.taps * r.count for r in found) for found in along)
    whole = math.prod(k * p for k, p in zip(window.kernel, out, strict=True))  # type: ignore[operator]
    parts = math.prod(map(len, along))
    most = costs.used_dilated if max(window.dilations) > 1 else costs.used
    return min(window.begin + window.end) >= 0 and parts <= MAX_PARTS and used < most * whole


def pack_matmul(product: nn.Matmul, block: int) -> None:
    """Replace a product by one with its right-hand side in blocks of columns."""
    b = Builder.before_op(product)
    K, N = shape_of(product.rhs)
    weight, whole = product.rhs, -(-N // block) * block
    if whole != N:
        zero = scalar(b, 0, element_of(weight))
        weight = b.insert(nn.Pad(weight, zero, pads=(0, 0, 0, whole - N))).result
    apart = reshape(b, weight, (K, whole // block, block))
    packed = b.insert(nn.PackedMatmul(product.lhs, b.insert(nn.Transpose(apart, (1, 0, 2)))))
    rows = shape_of(product.out)[:-1]
    result = reshape(b, packed, (*rows, whole))
    if whole != N:
        result = b.insert(nn.Slice(result, (0,) * (len(rows) + 1), out=product.out.type)).result
    replace_op(product, result)
