"""Convolutions and matrix products by algorithms that take fewer operations."""

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
from ...targets.processor import Processor
from ...targets.roofline import F32
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
    """Make 3x3 convolutions Winograd's and large products Strassen's, where that is expected to be
    faster.

    %y = nn.blocked_conv %x, %w    ->    %v = nn.winograd_input (nn.pad %x)
                                         %m = nn.blocked_matmul %v, (nn.winograd_weight %w)
                                         %y = nn.slice (nn.winograd_output %m)

    Operations are weighed against bytes at the target's bandwidths: transformed weights are 16
    to 81 numbers for 9. Tiles are of 4x4 results, or of 2x2 where the weights of the larger ones
    are too many. With dilations, every d-th row and column is an image of its own. Convolutions
    within groups are done so where a group's channels are blocks of their own, and those over three
    directions in the last two, plane by plane. Of images whose extents only the run tells, those
    over two directions without groups and dilations are.

    %y = nn.packed_matmul %x, %w   ->    %v = nn.strassen_input %x
                                         %m = nn.packed_matmul %v, (nn.strassen_weight %w)
                                         %y = nn.strassen_output %m

    Products with a constant matrix, and 1x1 convolutions of stride 1, are seven products of halves
    in place of eight, once: pixels in a direction, sums and blocks of columns must be even
    numbers; to an odd number of a matrix's rows, one of zeros is added.
    Cores without vectors, or with few registers of them, keep theirs.

    Numerics: f32 only; the error grows to some 1e-5 of the largest result.
    """

    numerics = "approximate"

    target: str = option("", help="a target's name (default: the module's)", alias="machine")
    winograd: bool = option(True, help="use Winograd's algorithm where it pays")
    strassen: bool = option(True, help="use Strassen's algorithm where it pays")

    def run(self, op: Operation, context: PassContext) -> None:
        """One look at each product; `fold-constants` then transforms the weights.

        A module that wants its math as written keeps its products.
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
        if not self.strassen or not has_tall_tiles(work.machine):
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
"""The size of a tile of results, by the name of the algorithm."""


def algorithm(
    machine: Machine, sizes: tuple[ConvSizes, ...], loc: Location, operation: str = ""
) -> Decision:
    """Decide the algorithm of a convolution on a machine.

    For images of unknown extents, the geometric mean over usual and small images counts.
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


def has_tall_tiles(machine: Machine) -> bool:
    """Whether the registers of a core hold tiles that products of halves fill as well as whole ones
    do.
    """
    least = machine.costs.algorithms.halved_registers
    return isinstance(machine, Processor) and (
        machine.lanes(F32) > 1 and machine.vector_registers >= least
    )


def halving(machine: Machine, sizes: ProductSizes, loc: Location, operation: str = "") -> Decision:
    """The decision for a product with a constant matrix: direct, or Strassen's seven of halves."""
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
