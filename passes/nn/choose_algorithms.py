"""Convolutions by algorithms that take fewer operations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ...dialects import nn
from ...dialects.nn.winograd import TRANSFORMS
from ...dialects.strict_math import is_strict
from ...ir.builder import Builder
from ...ir.core import Operation, Value
from ...ir.decisions import Alternative, Decision, Terms, described
from ...ir.location import Location
from ...ir.passes import Pass, PassContext, option
from ...ir.types import FloatType, TensorType
from ...targets.machine import Machine
from .building import element_of, is_arranged_constant, scalar, shape_of
from .dilations import dilations_of, undilate
from .work import ConvCosts, ConvSizes, stride_of, work_of


@dataclass(frozen=True)
class ChooseAlgorithms(
    Pass,
    name="choose-algorithms",
    anchor="func.func",
    statistics={"winograd-convolutions": "Number of convolutions by Winograd's algorithm"},
):
    """Make 3x3 convolutions of stride 1 or 2 Winograd's, where that is expected to be faster.

    %y = nn.blocked_conv %x, %w    ->    %v = nn.winograd_input (nn.pad %x)
                                         %m = nn.blocked_matmul %v, (nn.winograd_weight %w)
                                         %y = nn.slice (nn.winograd_output %m)

    Operations are weighed against bytes at the target's bandwidths: transformed weights are 16
    to 81 numbers for 9. Tiles are of 4x4 results, or of 2x2 where the weights of the larger ones
    are too many. With dilations, every d-th row and column is an image of its own. Of images whose
    extents only the run tells, those without dilations are done so.

    Numerics: f32 only; the error grows to some 1e-5 of the largest result.
    """

    numerics = "approximate"

    target: str = option("", help="a target's name (default: the module's)", alias="machine")
    winograd: bool = option(True, help="use Winograd's algorithm where it pays")

    def run(self, op: Operation, context: PassContext) -> None:
        """One look at each convolution; `fold-constants` then transforms the weights.

        A module that wants its math as written keeps its convolutions.
        """
        if is_strict(op):
            return
        work = work_of(op, self.target)
        for conv in [c for c in op.walk() if isinstance(c, nn.BlockedConv)]:
            if not self.winograd or not is_winograd(conv):
                continue
            decided = algorithm(work.machine, work.sizes_of(conv), conv.loc, described(conv))
            found = context.decide(decided)
            if (tile := _TILES.get(found.taken)) is not None:
                if dilations_of(conv) != (1, 1):
                    conv = undilate(conv)
                use_winograd(conv, tile)
                context.statistic("winograd-convolutions")


def is_winograd(conv: nn.BlockedConv) -> bool:
    """Whether the algorithm applies: 3x3, stride 1, or 2 without dilations, f32.

    Of images of unknown extents without dilations alone.
    """
    weight = conv.weight
    is_open = None in shape_of(conv.x)[2:4]
    return (
        is_arranged_constant(weight)
        and element_of(conv.x) is FloatType("f32")
        and len(shape_of(weight)) == 6
        and shape_of(weight)[2:4] == (3, 3)
        and (set(conv.strides or (1,)) == {1} or is_strided(conv))
        and (not (is_open or shape_of(conv.x)[0] is None) or dilations_of(conv) == (1, 1))
        and 0 not in shape_of(conv.out)
    )


def is_strided(conv: nn.BlockedConv) -> bool:
    """Whether the stride is 2 in both directions, without dilations."""
    return set(conv.strides or (1,)) == {2} and dilations_of(conv) == (1, 1)


ERROR = 1e-5
"""What Winograd's algorithm adds to the error of a convolution, of the largest result."""
_DIRECT = "direct"
_TILES = {f"winograd {tile}x{tile}": tile for tile, _ in TRANSFORMS}
"""The algorithms, by the results of a tile."""


def algorithm(
    machine: Machine, sizes: tuple[ConvSizes, ...], loc: Location, operation: str = ""
) -> Decision:
    """Which algorithm a convolution gets on a machine.

    Of open images the geometric mean over usual ones and small ones counts.
    """
    costs, stride = ConvCosts(machine), sizes[0].stride
    names = [name for name, tile in _TILES.items() if (tile, stride) in TRANSFORMS]
    direct = _mean([costs.direct(one) for one in sizes])
    found = {name: _mean([costs.winograd(one, _TILES[name]) for one in sizes]) for name in names}
    least = min(found, key=lambda name: found[name].cycles)
    margin = 1 / costs.costs.epilogue
    return Decision(
        "algorithm",
        costs.shared(
            Alternative(name, terms) for name, terms in {_DIRECT: direct, **found}.items()
        ),
        least if found[least].cycles < margin * direct.cycles else _DIRECT,
        loc,
        margin=margin,
        again=lambda other: algorithm(other, sizes, loc),
        operation=operation,
    )


def _mean(several: Sequence[Terms]) -> Terms:
    if len(several) == 1:
        return several[0]
    usual, small = several
    return Terms.between(usual, small, math.sqrt(usual.cycles * small.cycles))


def use_winograd(conv: nn.BlockedConv, tile: int) -> None:
    """Replace a convolution by transforms and a batched product."""
    b = Builder.before_op(conv)
    is_open = None in shape_of(conv.x)[2:4]
    x = _with_whole_tiles(b, conv, tile)
    stride = stride_of(conv)
    values = b.insert(nn.WinogradInput(x, tile=tile, stride=stride))
    weight = b.insert(nn.WinogradWeight(conv.weight, tile=tile, stride=stride))
    products = b.insert(nn.BlockedMatmul(values, weight))
    image, more = _image_of(conv) if is_open else (None, None)
    out = b.insert(
        nn.WinogradOutput(products, tile=tile, stride=stride, image=image, more=more)
    ).result
    if not is_open and shape_of(out) != shape_of(conv.out):
        type = TensorType(shape_of(conv.out), element_of(out))
        out = b.insert(nn.Slice(out, (0,) * 5, out=type)).result
    out.name_hint = conv.out.name_hint
    conv.out.replace_all_uses_with(out)
    conv.erase()


def _with_whole_tiles(b: Builder, conv: nn.BlockedConv, tile: int) -> Value:
    """The operand with zeros at its ends for tiles to cover all results.

    Where the extents are unknown, for a whole tile more, less a result.
    """
    x, stride = conv.x, stride_of(conv)
    short = []
    for extent, results in zip(shape_of(x)[2:4], shape_of(conv.out)[2:4], strict=True):
        if extent is None or results is None:
            short.append(stride * (tile - 1))
        else:
            short.append(max(0, stride * (-(-results // tile) * tile - 1) + 3 - extent))
    if not any(short):
        return x
    pads = (0,) * 7 + (*short, 0)
    return b.insert(nn.Pad(x, scalar(b, 0, element_of(x)), pads=pads)).result


def _image_of(conv: nn.BlockedConv) -> tuple[Value, tuple[int, int]]:
    """What a convolution has as operand before its padding, and how many rows and columns more
    it would take to be the stride times those of its result, rounded down.
    """
    stride, pad = stride_of(conv), conv.x.defined_by(nn.Pad)
    if pad is None:
        return conv.x, (stride - 3, stride - 3)
    rank = pad.x.type.rank
    begin, end = pad.pads[2:4], pad.pads[rank + 2 : rank + 4]
    rows, columns = (first + last + stride - 3 for first, last in zip(begin, end, strict=True))
    return pad.x, (rows, columns)
