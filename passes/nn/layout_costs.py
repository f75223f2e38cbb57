"""The layouts that a product may have, and the expected time of each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ...dialects import nn
from ...ir.decisions import Alternative, Decision, Terms, described
from .building import shape_of
from .integer_products import IntegerProduct
from .layout_blocks import Layouts
from .work import Work

Blocks = tuple[int, ...]
"""The block sizes of the channels (or columns) of operand and result; () is the plain layout."""

PLAIN = "as the model has it"
_KEPT = "weights that change, or of which no block fills vectors, stay as they are"


@dataclass(frozen=True)
class LayoutOptions:
    """The possible layouts of a product, by name, with the rule's first, and the decision between
    them.

    With `words`, the product is computed on words of integers.
    """

    blocks: Mapping[str, Blocks]
    decision: Decision
    words: IntegerProduct | None = None


def conv_options(conv: nn.Conv, found: Blocks, layouts: Layouts, work: Work) -> LayoutOptions:
    """The possible layouts of a convolution: the rule's (`found`), others, and the plain one.

    The others have other blocks of results, which the results' readers then take.
    """
    words = layouts.integers.get(conv)
    count = words.count if words is not None else 1
    options = [found] if found else []
    if found and conv.groups == 1 and words is None:
        results, block = shape_of(conv.out)[1], layouts.block
        options += [
            (found[0], other)
            for other in (block // 2, 2 * block)
            if other > 1 and results % other == 0 and other != found[1]
        ]
    words_of = "blocks of {} channels, of {} results".format

    def terms(blocks: Blocks) -> Terms:
        return conv_terms(conv, blocks[-1] if blocks else None, layouts, work, count=count)

    return _options(conv, work, [*options, ()], words_of, terms)


def conv_terms(
    conv: nn.Conv,
    block: int | None,
    layouts: Layouts,
    work: Work,
    factors: Sequence[float] = (1.0, 1.0),
    count: int = 1,
) -> Terms:
    """The expected time of a convolution with results in blocks of `block` channels, or on the
    plain layout.

    `factors` multiply the numbers of channels of the operand and of the result. `count` is the
    number of integers in a word.
    """
    costs, both = work.machine.costs.layouts, math.prod(factors)
    products, weights = both * work.operations(conv), both * work.bytes(conv.weight)
    tensors = (factors[0] * work.bytes(conv.x), factors[1] * work.bytes(conv.out))
    if block is not None:
        filled = layouts.filled(block) if layouts.block > 1 else 1.0
        return work.kernel(products / count / filled, tensors, weights / count)
    lanes = work.machine.lanes(4)
    columns = shape_of(conv.out)[-1] or costs.few_rows * lanes
    filled = columns / (lanes * -(-columns // lanes))
    is_strided = set(conv.strides or (1,)) != {1}
    longer = costs.plain_strided if is_strided else costs.plain_products
    return work.kernel(longer * products / filled, tensors, weights)


def matmul_options(
    product: nn.Matmul, layouts: Layouts, work: Work, words: IntegerProduct | None
) -> LayoutOptions:
    """The possible layouts of a product's right-hand side.

    They are blocks of as many columns as the rule says, of another number, or none. Words of
    integers are always in blocks.
    """
    own = layouts.columns_of(product)
    other = layouts.block if own != layouts.block else 2 * layouts.block
    fit = [n for n in (own, other) if words is not None or layouts.is_packable(product, n)]
    options: list[Blocks] = [(n,) for n in fit] if own in fit else []
    if words is None:
        options.append(())
    costs = work.machine.costs.layouts
    products = work.operations(product) / (words.count if words is not None else 1)
    weights = work.bytes(product.rhs)
    tensors = (work.bytes(product.lhs), work.bytes(product.out))
    rows = math.prod(d or costs.few_rows for d in shape_of(product.lhs)[:-1])
    is_constant = product.rhs.defined_by(nn.Constant) is not None

    def terms(blocks: Blocks) -> Terms:
        if rows < costs.few_rows:
            stretch = costs.unpacked if not blocks else 1.0
            if blocks and blocks[0] < 2 * layouts.block:
                stretch = costs.narrow_blocks
            return work.kernel(products, tensors, stretch * weights)
        if not blocks and is_constant:  # the kernel packs them, each time
            return work.kernel(products, (*tensors, weights, weights), weights)
        return work.kernel(products, tensors, weights)

    found = _options(product, work, options, "blocks of {} columns".format, terms)
    return replace(found, words=words)


def _options(
    product: nn.Conv | nn.Matmul,
    work: Work,
    options: list[Blocks],
    words: Callable[..., str],
    terms: Callable[[Blocks], Terms],
) -> LayoutOptions:
    named = {words(*blocks) if blocks else PLAIN: blocks for blocks in options}
    found = [Alternative(name, terms(blocks)) for name, blocks in named.items()]
    rule = next(iter(named))
    if is_plain := not named[rule]:
        found.insert(0, Alternative("blocks", fault=_KEPT))
    decision = Decision(
        "layout",
        work.shared(found),
        rule,
        product.loc,
        because=_KEPT if is_plain else "blocks fill vectors",
        operation=described(product),
    )
    return LayoutOptions(named, decision)
