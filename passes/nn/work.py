"""Expected times of a graph's operations, from which layouts, algorithms and fusion are chosen."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ...dialects import nn
from ...dialects.marks import INPUT_DIMS
from ...dialects.nn.blocked import BlockedConvOp
from ...dialects.nn.dimension_names import names_of
from ...dialects.nn.strassen import PRODUCTS
from ...dialects.nn.symbolic_shapes import SymbolicShapes
from ...dialects.nn.traits import Fusion
from ...dialects.nn.winograd import points_of
from ...ir.core import Block, Operation, Value
from ...ir.decisions import Terms
from ...ir.polynomial import Size
from ...ir.types import IntegerType, TensorType
from ...targets.attribute import target_of
from ...targets.roofline import F32, Roofline
from .building import shape_of
from .dilations import dilations_of
from .winograd import Convolution, directions, planar


@dataclass(frozen=True)
class ConvSizes:
    """The sizes on which a convolution's time depends: images of the result, channels, rows and
    columns of the result, its channels. Each image of a dilated one, and each plane, is an image.
    """

    images: int
    channels: int
    rows: int
    columns: int
    results: int
    stride: int
    products: float
    is_dilated: bool
    groups: int = 1
    taps: int = 1
    """The window's extent along its third dimension."""
    planes: float = 1.0
    """How many images are read for each image of results."""

    @property
    def is_plain(self) -> bool:
        """Whether transforms and products may share loops over tiles."""
        return self.groups == 1 and self.planes == 1

    @property
    def weights(self) -> float:
        """The number of (operand channel, result channel) pairs."""
        return self.channels * self.results / self.groups


@dataclass(frozen=True)
class ProductSizes:
    """What the time of a matrix product depends on: rows, steps of each sum, columns, elements that
    lie side by side in the left matrix, and rows that Strassen's algorithm pairs with zeros.
    """

    rows: int
    steps: int
    columns: int
    block: int
    lone: int = 0

    @property
    def multiplications(self) -> float:
        return float(self.rows * self.steps * self.columns)


@dataclass(frozen=True)
class ConvCosts(Roofline):
    """What products are expected to take on a machine. Units: cycles of one core."""

    def product(self, sizes: ProductSizes) -> Terms:
        """A product with a matrix from memory."""
        longer = 1 + self.costs.short_sums / sizes.steps
        products = self.arithmetic(longer * sizes.multiplications)
        return self.beside_memory(products, F32 * sizes.steps * sizes.columns)

    def strassen(self, sizes: ProductSizes) -> Terms:
        """Seven products of halves, and the sums before and after them."""
        M, K, N = sizes.rows + sizes.lone, sizes.steps, sizes.columns
        sums, lanes = PRODUCTS / 4, self.machine.lanes(F32)
        longer = 1 + 2 * self.costs.short_sums / K
        products = self.arithmetic(PRODUCTS / 8 * longer * M * K * N)
        found = self.beside_memory(products, F32 * sums * K * N)
        # What fills no vector passes one by one.
        read = K * (sizes.block // lanes + sizes.block % lanes) * lanes / sizes.block
        parts = self.arithmetic(M * (read + N) / 4 * self.costs.transform_parts)
        between = sums * M * (K + N)
        # Rows with a lone one are not dealt into blocks.
        in_blocks = not sizes.lone and self.is_blocked(between, sums * K * N)
        is_near = self.is_cached(between) or in_blocks
        return self._between(found.plus("arithmetic", parts), between, is_near)

    def direct(self, sizes: ConvSizes) -> Terms:
        """The cost of the direct algorithm: products, overlapped with loading the weights."""
        weights = F32 * 9 * sizes.taps * sizes.weights
        read = self.costs.hidden * weights / self.machine.memory_bandwidth
        return Terms({"arithmetic": self.arithmetic(sizes.products), "memory": read})

    def winograd(self, sizes: ConvSizes, tile: int) -> Terms:
        """The cost of Winograd's algorithm: products, loading the weights, and transforms."""
        N, C, P, Q, M = sizes.images, sizes.channels, sizes.rows, sizes.columns, sizes.results
        tiles, points = N * -(-P // tile) * -(-Q // tile), points_of(tile, sizes.stride) ** 2
        moved = C * sizes.planes + M
        between = points * tiles * moved
        weights = points * sizes.taps * sizes.weights
        longer = 1 + self.costs.short_sums * sizes.groups / C
        read = self.costs.few_tiles_read if tiles < self.costs.few_tiles else 1.0
        products = self.arithmetic(longer * tiles * weights)
        found = self.beside_memory(products, F32 * read * weights)
        transforms = self.arithmetic(tiles * moved * self._transform(tile, sizes.stride))
        is_blocked = sizes.is_plain and self.is_blocked(between, weights)
        is_cached = self.is_cached(between) or is_blocked
        if sizes.is_dilated or sizes.planes != 1:
            between += N * P * Q * moved
        return self._between(found.plus("arithmetic", transforms), between, is_cached)

    def _between(self, found: Terms, between: float, is_cached: bool) -> Terms:
        """`found` plus the traffic of `between` elements, written by one kernel for the next."""
        machine = self.machine
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

    def is_cached(self, between: float) -> bool:
        """Whether `between` elements, passed between kernels, stay in the caches."""
        return F32 * between <= self.costs.between_l2s * self.machine.private_memory.bytes

    def is_blocked(self, between: float, weights: float) -> bool:
        """Whether transforms and products are to be done on blocks of tiles, one after the other.

        Then what is between them never leaves the caches, but each block reads all weights.
        """
        return not self.is_cached(between) and between > self.costs.between_weights * weights


@dataclass(frozen=True)
class Work(ConvCosts):
    """The expected times of a function's operations, with unknown extents estimated."""

    shapes: SymbolicShapes
    smaller: int = 1
    """A divisor of the assumed extents of images whose size is unknown."""

    def sizes_of(self, conv: Convolution) -> tuple[ConvSizes, ...]:
        """The sizes to estimate for: with unknown extents, those of usual and of small images."""
        if None not in shape_of(conv.out)[-3:-1]:
            return (self.sizes(conv),)
        return self.sizes(conv), replace(self, smaller=self.costs.small_images).sizes(conv)

    def sizes_of_plain(self, conv: nn.Conv) -> ConvSizes | None:
        """The sizes of a convolution before it is blocked, if Winograd's algorithm may apply: 3x3
        windows of stride 1 or 2 over images of known extents, without groups and dilations.
        """
        N, C, *_ = shape_of(conv.x)
        strides = {*(conv.strides or (1,))}
        is_plain = conv.groups == 1 and {*(conv.dilations or (1,))} == {1}
        if shape_of(conv.weight)[2:] != (3, 3) or strides not in ({1}, {2}) or not is_plain:
            return None
        _, M, P, Q = shape_of(conv.out)
        if None in (N, C, M, P, Q) or self.machine.lanes(F32) > min(C, M):
            return None
        products = float(9 * C * M * N * P * Q)
        return ConvSizes(N, C, P, Q, M, strides.pop(), products, False)

    def extents(self, conv: nn.BlockedConv) -> list[int]:
        """N, P and Q of the result, as expected."""
        N, _, P, Q, _ = self.shapes.of(conv.out)
        return self.expected(N, P, Q)

    def elements_of_tiles(self, value: Value) -> int:
        """Elements of tiles at all points, [points, blocks, N, S, T, block], as expected."""
        if None not in shape_of(value):
            return math.prod(shape_of(value))
        points, blocks, *extents, block = self.shapes.of(value)
        return math.prod((points, blocks, *self.expected(*extents), block))  # type: ignore[arg-type]

    def is_padded_by_reader(self, op: nn.NnOp) -> bool:
        """Whether the only reader of a padded tensor pads it itself, on a machine that can."""
        readers = {*op.results[0].users}
        return (
            op.fusion is Fusion.PADDING
            and self.machine.makes_borders
            and len(readers) == 1
            and all(isinstance(r, nn.NnOp) and op.fusion in r.prologue for r in readers)
        )

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
        """The expected unknown extent of an input: an image if it is 2-D per channel, a text if it
        is of numbers of tokens, or audio.
        """
        if sum(extent != 1 for extent in input.shape[2:]) > 1:
            return self.costs.open_image // self.smaller
        element = input.element_type
        is_text = isinstance(element, IntegerType) and element.width >= 32
        return (self.costs.open_text if is_text else self.costs.open_sound) // self.smaller

    def elements(self, value: Value) -> int:
        """The number of elements of a tensor, with the expected values of unknown extents."""
        first, *others = self.shapes.of(value) or (1,)
        return math.prod(self.expected(first, *others))

    def bytes(self, value: Value) -> float:
        """The size of a tensor, with the expected values of unknown extents."""
        element = value.type.element_type  # type: ignore[attr-defined]
        return float(self.elements(value) * getattr(element, "byte_width", 8))

    def operations(self, op: nn.NnOp) -> float:
        """Multiplications that an op is worth: of a sum, one for each of its terms."""
        form = op.comprehension()
        sums = [d.size or 1 for d in form.dims if d.kind == "reduction"] if form else []
        if form is None and op.operands:
            return float(max(self.elements(v) for v in (op.operands[0], *op.results)))
        return float(self.elements(op.results[0]) * math.prod(sums))

    def sizes(self, conv: Convolution) -> ConvSizes:
        """The sizes of the dense convolution over rows and columns."""
        if isinstance(conv, nn.BlockedGroupedConv):
            return self._sizes_of_groups(conv)
        if directions(conv) == 3:
            return self._sizes_of_planes(conv)
        _, Co, _, _, Ci = shape_of(conv.x)
        _, Mo, _, _, Mi = shape_of(conv.out)
        N, P, Q = self.extents(conv)
        d, e = dilations_of(conv)
        C, M = Co * Ci, Mo * Mi  # type: ignore[operator]
        products = float(9 * C * M * N * P * Q)
        apart = (N * d * e, C, -(-P // d), -(-Q // e), M)
        return ConvSizes(*apart, planar(conv.strides)[0], products, (d, e) != (1, 1))

    def _sizes_of_groups(self, conv: nn.BlockedGroupedConv) -> ConvSizes:
        _, G, Co, *_, Ci = shape_of(conv.x)
        N, _, Mo, P, Q, Mi = shape_of(conv.out)
        C, M = G * Co * Ci, G * Mo * Mi
        products = float(9 * C * M * N * P * Q) / G
        return ConvSizes(N, C, P, Q, M, planar(conv.strides)[0], products, False, G)

    def _sizes_of_planes(self, conv: nn.BlockedConv) -> ConvSizes:
        _, Co, D, *_, Ci = shape_of(conv.x)
        N, Mo, E, P, Q, Mi = shape_of(conv.out)
        taps, C, M = shape_of(conv.weight)[2], Co * Ci, Mo * Mi
        products = float(9 * taps * C * M * N * E * P * Q)
        extents, stride = (N * E, C, P, Q, M), planar(conv.strides)[0]
        return ConvSizes(*extents, stride, products, False, taps=taps, planes=D / E)


def work_of(function: Operation, target: str = "") -> Work:
    """The estimates of a function of the graph, for a target or the module's."""
    blocks = function.regions[0].blocks
    names = names_of(function.attributes.get(INPUT_DIMS))
    shapes = SymbolicShapes(blocks[0] if blocks else None, names)
    return Work(target_of(function, target).machine, shapes)
