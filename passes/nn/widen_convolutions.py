"""Convolutions of 16-bit floats are computed on f32, to which each operand is cast once.

The sums are in f32 either way. What is cast as it is loaded is cast as often as it is used, and
Winograd's algorithm is for f32 alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from ...dialects import nn
from ...dialects.marks import INPUT_DIMS
from ...dialects.nn.dimension_names import names_of
from ...dialects.nn.symbolic_shapes import SymbolicShapes
from ...dialects.strict_math import is_strict
from ...ir.builder import Builder
from ...ir.core import Operation
from ...ir.passes import Pass, PassContext, option
from ...ir.types import bf16, f16
from ...targets.attribute import target_of
from ...targets.roofline import F32
from .building import cast, element_of, shape_of, widen
from .choose_algorithms import Work
from .fold_batch_norm import is_made_of_constants


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
        names = names_of(op.attributes.get(INPUT_DIMS))
        shapes = SymbolicShapes(op.regions[0].blocks[0], names)
        work = Work(target_of(op, self.target).machine, shapes)
        gaining = [c for c in convs if is_made_of_constants(c.weight) and gains(work, c)]
        for conv in gaining:
            compute_wide(conv)
            context.statistic("wide-convolutions")


def gains(work: Work, conv: nn.Conv) -> bool:
    """Whether the casts that are saved outweigh the larger weights."""
    N, _, *places = work.shapes.of(conv.out)
    weights = prod(shape_of(conv.weight))
    products = work.arithmetic(float(weights * prod(work.expected(N, *places))))
    read = F32 * weights / work.machine.memory_bandwidth
    narrow = work.beside(work.costs.half_products * products, read / 2)
    return work.beside(products, read) < narrow


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
