"""Choice of algorithms that need fewer operations for convolutions and matrix products."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ...dialects.nn.winograd import TRANSFORMS
from ...dialects.strict_math import is_strict
from ...ir.core import Operation
from ...ir.decisions import Alternative, Decision, Terms, described
from ...ir.location import Location
from ...ir.passes import Pass, PassContext, option
from ...targets.machine import Machine
from .strassen import Product, is_strassen, sizes_of, use_strassen
from .winograd import Convolution, is_winograd, use_winograd
from .work import ConvCosts, ConvSizes, ProductSizes, work_of


@dataclass(frozen=True)
class ChooseAlgorithms(
    Pass,
    name="choose-algorithms",
    anchor="func.func",
    statistics={
        "winograd-convolutions": "Number of convolutions by Winograd's algorithm",
        "strassen-products": "Number of products by Strassen's algorithm",
    },
):
    """Use Winograd's algorithm for 3x3 convolutions and Strassen's for large products, where that
    is expected to be faster.

        %y = nn.blocked_conv %x, %w    ->    %v = nn.winograd_input (nn.pad %x)
                                             %m = nn.blocked_matmul %v, (nn.winograd_weight %w)
                                             %y = nn.slice (nn.winograd_output %m)

    Saved operations are weighed against bytes at the target's bandwidths: 9 weights become 16 to
    81. Tiles have 4x4 results, or 2x2 where the weights of the larger ones are too many. With
    dilation d, every d-th row and column is an image of its own. Grouped convolutions qualify if a
    group's channels are whole blocks, and convolutions over three dimensions in the last two of
    these, plane by plane. For images of unknown extents, only those over two dimensions without
    groups and dilations do.

        %y = nn.packed_matmul %x, %w   ->    %v = nn.strassen_input %x
                                             %m = nn.packed_matmul %v, (nn.strassen_weight %w)
                                             %y = nn.strassen_output %m

    Products with a constant matrix, and 1x1 convolutions of stride 1, become seven products of
    halves instead of eight. Halves need an even number of pixels in one direction, of terms in a
    sum and of blocks of columns; to an odd number of a matrix's rows, a row of zeros is added.

    Cores without vectors, or with few vector registers, keep their products.
    Numerics: f32 only; the error grows to some 1e-5 of the largest result.
    """

    numerics = "approximate"

    target: str = option("", help="a target's name (default: the module's)", alias="machine")
    winograd: bool = option(True, help="use Winograd's algorithm where it pays")
    strassen: bool = option(True, help="use Strassen's algorithm where it pays")

    def run(self, op: Operation, context: PassContext) -> None:
        """Decide on each product; `fold-constants` then transforms the weights.

        A module with strict math keeps its products.
        """
        if is_strict(op):
            return
        work = work_of(op, self.target)
        for conv in [c for c in op.walk() if isinstance(c, Convolution)]:
            if not self.winograd or not is_winograd(conv):
                continue
            decided = algorithm(work.machine, work.sizes_of(conv), conv.loc, described(conv))
            found = context.decide(decided)
            if (tile := _TILES.get(found.taken)) is not None:
                use_winograd(conv, tile)
                context.statistic("winograd-convolutions")
        if not self.strassen or not work.machine.has_tall_tiles:
            return
        for product in [p for p in op.walk() if isinstance(p, Product)]:
            if not is_strassen(product):
                continue
            decided = halving(work.machine, sizes_of(product), product.loc, described(product))
            if context.decide(decided).taken == _STRASSEN:
                use_strassen(product, work.costs.row_pairs)
                context.statistic("strassen-products")


ERROR = 1e-5
"""The error that Winograd's algorithm adds to a convolution, relative to the largest result."""
DIRECT, _STRASSEN = "direct", "strassen"
_TILES = {f"winograd {tile}x{tile}": tile for tile, _ in TRANSFORMS}
"""The number of a tile's results in each direction, by the name of the algorithm."""


def algorithm(
    machine: Machine, sizes: tuple[ConvSizes, ...], loc: Location, operation: str = ""
) -> Decision:
    """Decide the algorithm of a convolution on a machine.

    If extents of images are unknown, `sizes` are those of usual and of small images, and the
    geometric mean of the times counts.
    """
    costs, stride = ConvCosts(machine), sizes[0].stride
    names = [name for name, tile in _TILES.items() if (tile, stride) in TRANSFORMS]
    direct = _mean([costs.direct(one) for one in sizes])
    found = {name: _mean([costs.winograd(one, _TILES[name]) for one in sizes]) for name in names}
    least = min(found, key=lambda name: found[name].cycles)
    margin = 1 / costs.costs.epilogue
    return Decision(
        "algorithm",
        costs.shared(Alternative(name, terms) for name, terms in {DIRECT: direct, **found}.items()),
        least if found[least].cycles < margin * direct.cycles else DIRECT,
        loc,
        margin=margin,
        again=lambda other: algorithm(other, sizes, loc, operation),
        operation=operation,
    )


def halving(machine: Machine, sizes: ProductSizes, loc: Location, operation: str = "") -> Decision:
    """Decide between a direct product with a constant matrix and Strassen's seven products of
    halves.
    """
    costs = ConvCosts(machine)
    direct, halves = costs.product(sizes), costs.strassen(sizes)
    margin = 1 / (costs.costs.lone_halves if sizes.lone else costs.costs.halves)
    return Decision(
        "algorithm",
        costs.shared((Alternative(DIRECT, direct), Alternative(_STRASSEN, halves))),
        _STRASSEN if halves.cycles < margin * direct.cycles else DIRECT,
        loc,
        margin=margin,
        again=lambda other: halving(other, sizes, loc, operation),
        operation=operation,
    )


def _mean(several: Sequence[Terms]) -> Terms:
    if len(several) == 1:
        return several[0]
    usual, small = several
    return Terms.between(usual, small, math.sqrt(usual.cycles * small.cycles))
