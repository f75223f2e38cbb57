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
from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from ...targets.attribute import target_of
from ...targets.costs import LayoutCosts
from .building import (
    arranged,
    element_of,
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
from .half_products import multiplies_halves, pack_half_matmul
from .integer_products import (
    IntegerProduct,
    integer_conv,
    integer_matmul,
    is_exact_in_floats,
    multiply_in_floats,
    pack_integer_matmul,
    with_whole_words,
)
from .layout_blocks import Layouts
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
        layouts = Layouts(replace(costs, block=self.block or costs.block), machine, integers)
        if layouts.block == 1:
            return
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
            if multiplies_halves(product, machine) and not is_strict(op):
                pack_half_matmul(product, layouts.columns_of(product))
                context.statistic("matrices-packed")
                continue
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


# -- changes of layout -----------------------------------------------------------------------


def blocked(b: Builder, x: Value, block: int) -> Value:
    """[N, C, D..] as [N, C / B, D.., B]."""
    N, C, *spatial = shape_of(x)
    apart = reshape(b, x, (N, C // block, block, *spatial))
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
    x, attributes = _padded_input(b, conv, blocked(b, operand, before), form, integers)
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
    conv.replace_with(result)


def _padded_input(
    b: Builder, conv: nn.Conv, x: Value, form: type[nn.NnOp], integers: IntegerProduct | None
) -> tuple[Value, dict[str, Any]]:
    """A blocked convolution's operand, padded unless the op does it, and the op's attributes."""
    window = conv.window(conv.operand_types, conv)
    attributes: dict[str, Any] = {"strides": conv.strides, "dilations": conv.dilations}
    pads = (0, 0, *window.begin, 0, 0, 0, *window.end, 0)
    if integers is not None:
        x = integers.words(b, integers.padded(b, integers.aligned(b, x), pads))
        attributes["packing"] = integers.name
    elif form is nn.BlockedPaddedConv:
        attributes["pads"] = (*window.begin, *window.end)
    elif window.has_padding:
        x = b.insert(nn.Pad(x, scalar(b, 0, element_of(x)), pads=pads)).result
    return x, attributes


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
    whole = math.prod(k * p for k, p in zip(window.kernel, out, strict=True))
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
    product.replace_with(result)
