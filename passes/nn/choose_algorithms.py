"""Convolutions by algorithms that take fewer operations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...dialects import nn
from ...dialects.marks import INPUT_DIMS
from ...dialects.nn.blocked import BlockedConvOp
from ...dialects.nn.dimension_names import names_of
from ...dialects.nn.symbolic_shapes import SymbolicShapes
from ...dialects.nn.winograd import TRANSFORMS, points_of
from ...dialects.strict_math import is_strict
from ...ir.builder import Builder
from ...ir.core import Block, Operation, Value
from ...ir.decisions import Alternative, Decision, Terms
from ...ir.location import Location
from ...ir.passes import Pass, PassContext, option
from ...ir.polynomial import Size
from ...ir.types import FloatType, TensorType
from ...targets.attribute import target_of
from ...targets.machine import Machine
from ...targets.roofline import F32, Roofline
from .building import element_of, is_arranged_constant, scalar, shape_of
from .dilations import dilations_of, undilate


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
        names = names_of(op.attributes.get(INPUT_DIMS))
        shapes = SymbolicShapes(op.regions[0].blocks[0] if op.regions[0].blocks else None, names)
        work = Work(target_of(op, self.target).machine, shapes)
        for conv in [c for c in op.walk() if isinstance(c, nn.BlockedConv)]:
            if not self.winograd or not is_winograd(conv):
                continue
            found = algorithm(work.machine, work.sizes_of(conv), conv.loc)
            context.decide(found)
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


def stride_of(conv: nn.BlockedConv) -> int:
    """The stride in both directions."""
    return conv.strides[0] if conv.strides else 1


_DIRECT = "direct"
_TILES = {f"winograd {tile}x{tile}": tile for tile, _ in TRANSFORMS}
"""The algorithms, by the results of a tile."""


@dataclass(frozen=True)
class ConvSizes:
    """What the time of a convolution depends on: images, channels, rows and columns of results,
    channels of results. Dilated images are taken apart.
    """

    images: int
    channels: int
    rows: int
    columns: int
    results: int
    stride: int
    products: float
    is_dilated: bool


def algorithm(machine: Machine, sizes: tuple[ConvSizes, ...], loc: Location) -> Decision:
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
        tuple(Alternative(name, terms) for name, terms in {_DIRECT: direct, **found}.items()),
        least if found[least].cycles < margin * direct.cycles else _DIRECT,
        loc,
        margin=margin,
        because="on one core",
        again=lambda other: algorithm(other, sizes, loc),
    )


def _mean(several: Sequence[Terms]) -> Terms:
    if len(several) == 1:
        return several[0]
    usual, small = several
    return Terms.between(usual, small, math.sqrt(usual.cycles * small.cycles))


@dataclass(frozen=True)
class ConvCosts(Roofline):
    """What convolutions are expected to take on a machine. Units: cycles of one core."""

    def direct(self, sizes: ConvSizes) -> Terms:
        """The products; the weights come from memory, mostly beside them."""
        weights = F32 * 9 * sizes.channels * sizes.results
        read = self.costs.hidden * weights / self.machine.memory_bandwidth
        return Terms({"arithmetic": self.arithmetic(sizes.products), "memory": read})

    def winograd(self, sizes: ConvSizes, tile: int) -> Terms:
        """The products, with the weights beside them; the transforms, which write and read."""
        N, C, P, Q, M = sizes.images, sizes.channels, sizes.rows, sizes.columns, sizes.results
        machine = self.machine
        tiles, points = N * -(-P // tile) * -(-Q // tile), points_of(tile, sizes.stride) ** 2
        between = points * tiles * (C + M)
        weights = points * C * M
        found = self.beside_memory(self.arithmetic(tiles * weights), F32 * weights)
        transforms = self.arithmetic(tiles * (C + M) * self._transform(tile, sizes.stride))
        is_cached = self.is_cached(between) or self.is_blocked(between, weights)
        if sizes.is_dilated:
            between += N * P * Q * (C + M)
        found = found.plus("arithmetic", transforms)
        if not is_cached:
            return found.plus("memory", 2 * F32 * between / machine.memory_bandwidth)
        # What is written to the second cache is partly read from the third.
        found = found.plus("l2", F32 * between / machine.private_memory.bandwidth)
        return found.plus("l3", F32 * between / machine.shared_memory.bandwidth)

    def _transform(self, tile: int, stride: int) -> int:
        """Multiplications that one tile's transform at input or output is worth."""
        costs = self.costs
        if stride == 1:
            return costs.transform_2 if tile == 2 else costs.transform_4
        return costs.transform_2_strided if tile == 2 else costs.transform_4_strided

    def is_cached(self, between: int) -> bool:
        """Whether so many elements between kernels stay in the second cache and the one behind."""
        return F32 * between <= self.costs.between_l2s * self.machine.private_memory.bytes

    def is_blocked(self, between: int, weights: int) -> bool:
        """Whether transforms and products are to be done on blocks of tiles, one after the other.

        Then what is between them never leaves the caches, but each block reads all weights.
        """
        return not self.is_cached(between) and between > self.costs.between_weights * weights


@dataclass(frozen=True)
class Work(ConvCosts):
    """The same of the convolutions of a function, whose unknown extents are estimated."""

    shapes: SymbolicShapes
    smaller: int = 1
    """By what to divide the extents of open images."""

    def sizes_of(self, conv: nn.BlockedConv) -> tuple[ConvSizes, ...]:
        """The sizes that count: of open images, usual ones and small ones."""
        if None not in shape_of(conv.out)[2:4]:
            return (self.sizes(conv),)
        return self.sizes(conv), replace(self, smaller=self.costs.small_images).sizes(conv)

    def extents(self, conv: nn.BlockedConv) -> list[int]:
        """N, P and Q of the result, as expected."""
        N, _, P, Q, _ = self.shapes.of(conv.out)
        return self.expected(N, P, Q)

    def elements_of_tiles(self, value: Value) -> int:
        """Elements of tiles at all points, [points, blocks, N, S, T, block], as expected."""
        points, blocks, *extents, block = self.shapes.of(value)
        return math.prod((points, blocks, *self.expected(*extents), block))  # type: ignore[arg-type]

    def expected_extents(self, block: Block) -> dict[Size, int]:
        """The unknown extents of images in a block's convolutions, with what they may be."""
        found: dict[Size, int] = {}
        for op in block:
            match op:
                case BlockedConvOp():
                    rank = len(op.out.type.shape) - 3 - op.outer_rank
                    values, places = (op.x, op.out), slice(-1 - rank, -1)
                case nn.WinogradInput() | nn.WinogradOutput():
                    values, places = (op.x, op.out), slice(-3, -1)
                case _:
                    continue
            for sizes in (self.shapes.of(value)[places] for value in values):
                pairs = zip(sizes, self.expected(1, *sizes)[1:], strict=True)
                found.update((size, extent) for size, extent in pairs if not isinstance(size, int))
        return found

    def expected(self, images: Size, *extents: Size) -> list[int]:
        """Extents of images: unknown ones as the target says, an unknown number of images as 1."""
        is_image = sum(extent != 1 for extent in extents) > 1
        other = (self.costs.open_extent if is_image else self.costs.open_steps) // self.smaller
        found = [self.shapes.estimate(d, self._given, other) for d in extents]
        return [images if isinstance(images, int) else 1, *found]

    def _given(self, input: TensorType) -> int:
        """An unknown extent of an input: of an image, if it has rows and columns, or of a sound."""
        is_image = sum(extent != 1 for extent in input.shape[2:]) > 1
        return (self.costs.open_image if is_image else self.costs.open_sound) // self.smaller

    def sizes(self, conv: nn.BlockedConv) -> ConvSizes:
        """The sizes of the dense convolution."""
        _, Co, _, _, Ci = shape_of(conv.x)
        _, Mo, _, _, Mi = shape_of(conv.out)
        N, P, Q = self.extents(conv)
        d, e = dilations_of(conv)
        C, M = Co * Ci, Mo * Mi  # type: ignore[operator]
        products = float(9 * C * M * N * P * Q)
        apart = (N * d * e, C, -(-P // d), -(-Q // e), M)
        return ConvSizes(*apart, stride_of(conv), products, (d, e) != (1, 1))


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
