"""Convolutions of 16-bit floats are computed on f32, to which each operand is cast once.

The sums are in f32 either way. What is cast as it is loaded is cast as often as it is used, and
Winograd's algorithm is for f32 alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from ...dialects import nn
from ...dialects.strict_math import is_strict
from ...ir.builder import Builder
from ...ir.core import Operation
from ...ir.decisions import Alternative, Decision, described
from ...ir.location import Location
from ...ir.passes import Pass, PassContext, option
from ...ir.types import bf16, f16
from ...targets.machine import Machine
from ...targets.roofline import F32, Roofline
from .building import cast, element_of, shape_of, widen
from .fold_batch_norm import is_made_of_constants
from .work import work_of


@dataclass(frozen=True)
class WidenConvolutions(
    Pass,
    name="widen-convolutions",
    anchor="func.func",
    statistics={"wide-convolutions": "Number of convolutions that are computed on f32"},
):
    """Cast the operands of convolutions of f16 and bf16 to f32, and their results back.

    %y = nn.conv %x, %w    ->    %0 = nn.conv (nn.cast %x), (nn.cast %w)
                                 %y = nn.cast %0

    The weights must be constant, and few beside the products: they take twice the bytes.
    A module that wants its math as written keeps its convolutions.
    """

    numerics = "rounding"

    target: str = option("", help="a target's name (default: the module's)", alias="machine")

    def run(self, op: Operation, context: PassContext) -> None:
        """Each convolution for itself; `fold-constants` then casts the weights."""
        convs = [] if is_strict(op) else [c for c in op.walk() if isinstance(c, nn.Conv)]
        convs = [conv for conv in convs if element_of(conv.x) in (f16, bf16)]
        if not convs:
            return
        work = work_of(op, self.target)
        for conv in [c for c in convs if is_made_of_constants(c.weight)]:
            N, _, *places = work.shapes.of(conv.out)
            weights = prod(shape_of(conv.weight))  # type: ignore[arg-type]
            products = float(weights * prod(work.expected(N, *places)))
            decided = precision(work.machine, weights, products, conv.loc, described(conv))
            found = context.decide(decided)
            if found.taken == _WIDE:
                compute_wide(conv)
                context.statistic("wide-convolutions")


_NARROW, _WIDE = "16 bits", "f32"


def precision(
    machine: Machine, weights: int, products: float, loc: Location, operation: str = ""
) -> Decision:
    """Whether the casts that are saved outweigh the larger weights."""
    costs = Roofline(machine)
    arithmetic, read = costs.arithmetic(products), float(F32 * weights)
    narrow = costs.beside_memory(costs.costs.half_products * arithmetic, read / 2)
    wide = costs.beside_memory(arithmetic, read)
    return Decision(
        "precision",
        costs.shared((Alternative(_NARROW, narrow), Alternative(_WIDE, wide))),
        _WIDE if wide.cycles < narrow.cycles else _NARROW,
        loc,
        again=lambda other: precision(other, weights, products, loc),
        operation=operation,
    )


def compute_wide(conv: nn.Conv) -> None:
    """conv(x, w, b) -> cast(conv(cast(x), cast(w), cast(b)))"""
    b = Builder.before_op(conv)
    wide = nn.Conv(
        widen(b, conv.x),
        widen(b, conv.weight),
        None if conv.bias is None else widen(b, conv.bias),
        strides=conv.strides,
        dilations=conv.dilations,
        pads=conv.pads,
        groups=conv.groups,
    )
    out = cast(b, b.insert(wide), element_of(conv.out))
    out.name_hint = conv.out.name_hint
    conv.out.replace_all_uses_with(out)
    conv.erase()
