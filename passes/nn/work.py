"""Expected times of a graph's ops, by which layouts, algorithms and fusion are chosen."""

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
    """The sizes that determine a convolution's time.

    `images`, `rows` and `columns` are those of the result, `channels` the operand's and `results`
    the result's channels. With dilations each image counts as several, and so does each plane.
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
        """The number of pairs of an operand channel and a result channel."""
        return self.channels * self.results / self.groups


@dataclass(frozen=True)
class ProductSizes:
    """The sizes that determine the time of a matrix product.

    `steps` is the number of terms of each sum, `block` the number of contiguous elements of the
    left matrix, `lone` the number of rows that Strassen's algorithm pairs with zeros. `in_rows`
    says that the left matrix is one of rows, not a blocked image.
    """

    rows: int
    steps: int
    columns: int
    block: int
    lone: int = 0
    in_rows: bool = False

    @property
    def multiplications(self) -> float:
        return float(self.rows * self.steps * self.columns)


@dataclass(frozen=True)
class ConvCosts(Roofline):
    """The expected times of products on a machine. Units: cycles of one core."""

    def product(self, sizes: ProductSizes) -> Terms:
        """The time of a product with a matrix that is read from memory."""
        longer = 1 + self.costs.short_sums / sizes.steps
        products = self.arithmetic(longer * sizes.multiplications)
        return self.beside_memory(products, F32 * sizes.steps * sizes.columns)

    def strassen(self, sizes: ProductSizes) -> Terms:
        """The time of a product by Strassen's algorithm: seven products of half the extents, and
        the sums of operands before and of results after them.
        """
        M, K, N = sizes.rows + sizes.lone, sizes.steps, sizes.columns
        sums, lanes = PRODUCTS / 4, self.machine.lanes(F32)
        longer = 1 + 2 * self.costs.short_sums / K
        products = self.arithmetic(PRODUCTS / 8 * longer * M * K * N)
        weights = F32 * sums * K * N
        found = self.beside_memory(products, weights)
        # What fills no vector passes one by one.
        read = K * (sizes.block // lanes + sizes.block % lanes) * lanes / sizes.block
        parts = self.arithmetic(M * (read + N) / 4 * self.costs.transform_parts)
        between = sums * M * (K + N)
        # Rows with a lone one are not dealt into blocks.
        in_blocks = not sizes.lone and self.is_blocked(between, sums * K * N)
        is_near = self.is_cached(between) or in_blocks
        if in_blocks and sizes.in_rows:
            name, bandwidth = self.home(weights)
            again = M / (2 * self.costs.row_pairs) * weights / bandwidth
            found = found.plus(name, self.costs.hidden * again)
        return self._between(found.plus("arithmetic", parts), between, is_near)

    def direct(self, sizes: ConvSizes) -> Terms:
        """The time of the direct algorithm: products, while the weights are being loaded."""
        weights = F32 * 9 * sizes.taps * sizes.weights
        read = self.costs.hidden * weights / self.machine.memory_bandwidth
        return Terms({"arithmetic": self.arithmetic(sizes.products), "memory": read})

    def winograd(self, sizes: ConvSizes, tile: int) -> Terms:
        """The time of Winograd's algorithm: products, loading of weights, and transforms."""
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
        """`found` plus the time to write `between` elements in one kernel and read them in the
        next.
        """
        machine = self.machine
        if not is_cached:
            return found.plus("memory", 2 * F32 * between / machine.memory_bandwidth)
        # What is written to the L2 cache is partly read from the third.
        found = found.plus("l2", F32 * between / machine.private_memory.bandwidth)
        return found.plus("l3", F32 * between / machine.shared_memory.bandwidth)

    def _transform(self, tile: int, stride: int) -> int:
        """The time of a tile's transform, input or output, as a number of multiplications."""
        costs = self.costs
        if stride == 1:
            return costs.transform_2 if tile == 2 else costs.transform_4
        return costs.transform_2_strided if tile == 2 else costs.transform_4_strided

    def is_cached(self, between: float) -> bool:
        """Whether `between` elements that one kernel writes for the next stay in the caches."""
        return F32 * between <= self.costs.between_l2s * self.machine.private_memory.bytes

    def is_blocked(self, between: float, weights: float) -> bool:
        """Whether transforms and products should be computed block by block of tiles.

        What is between them then never leaves the caches, but each block reads all weights.
        """
        return not self.is_cached(between) and between > self.costs.between_weights * weights


@dataclass(frozen=True)
class Work(ConvCosts):
    """The expected times of a function's ops; unknown extents are estimated."""

    shapes: SymbolicShapes
    smaller: int = 1
    """By what to divide the usual extents of images of unknown size."""

    def sizes_of(self, conv: Convolution) -> tuple[ConvSizes, ...]:
        """The sizes of a convolution; if extents are unknown, those of usual and
        of small images.
        """
        if None not in shape_of(conv.out)[-3:-1]:
            return (self.sizes(conv),)
        return self.sizes(conv), replace(self, smaller=self.costs.small_images).sizes(conv)

    def sizes_of_plain(self, conv: nn.Conv) -> ConvSizes | None:
        """The sizes of a convolution that is not blocked yet; None if Winograd's algorithm cannot
        apply.

        It can to 3x3 windows of stride 1 or 2 over images of known extents, without groups and
        dilations.
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
        """The expected N, P and Q of the result."""
        N, _, P, Q, _ = self.shapes.of(conv.out)
        return self.expected(N, P, Q)

    def elements_of_tiles(self, value: Value) -> int:
        """The expected number of elements of tiles at all points, [points, blocks,
        N, S, T, block].
        """
        if None not in shape_of(value):
            return math.prod(shape_of(value))
        points, blocks, *extents, block = self.shapes.of(value)
        return math.prod((points, blocks, *self.expected(*extents), block))  # type: ignore[arg-type]

    def is_padded_by_reader(self, op: nn.NnOp) -> bool:
        """Whether the only reader of a padded tensor does the padding itself, which the machine
        allows.
        """
        readers = {*op.results[0].users}
        return (
            op.fusion is Fusion.PADDING
            and self.machine.makes_borders
            and len(readers) == 1
            and all(isinstance(r, nn.NnOp) and op.fusion in r.prologue for r in readers)
        )

    def expected_extents(self, block: Block) -> dict[Size, int]:
        """The unknown extents of images in a block's convolutions, with their expected values."""
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
        """The expected number of images and extents; an unknown number of images counts as 1."""
        is_image = sum(extent != 1 for extent in extents) > 1
        other = (self.costs.open_extent if is_image else self.costs.open_steps) // self.smaller
        found = [self.shapes.estimate(d, self._given, other) for d in extents]
        return [images if isinstance(images, int) else 1, *found]

    def _given(self, input: TensorType) -> int:
        """The expected value of an unknown extent of an input.

        An input with two spatial dimensions is an image, one of integers is a text of tokens,
        another one is audio.
        """
        if sum(extent != 1 for extent in input.shape[2:]) > 1:
            return self.costs.open_image // self.smaller
        element = input.element_type
        is_text = isinstance(element, IntegerType) and element.width >= 32
        return (self.costs.open_text if is_text else self.costs.open_sound) // self.smaller

    def elements(self, value: Value) -> int:
        """The expected number of elements of a tensor."""
        first, *others = self.shapes.of(value) or (1,)
        return math.prod(self.expected(first, *others))

    def bytes(self, value: Value) -> float:
        """The expected bytes of a tensor."""
        element = value.type.element_type
        return float(self.elements(value) * getattr(element, "byte_width", 8))

    def operations(self, op: nn.NnOp) -> float:
        """The number of multiplications that an op's time is worth; a sum has one for each of its
        terms.
        """
        form = op.comprehension()
        sums = [d.size or 1 for d in form.dims if d.kind == "reduction"] if form else []
        if form is None and op.operands:
            return float(max(self.elements(v) for v in (op.operands[0], *op.results)))
        return float(self.elements(op.results[0]) * math.prod(sums))

    def sizes(self, conv: Convolution) -> ConvSizes:
        """The sizes of a convolution as a dense one over rows and columns."""
        if isinstance(conv, nn.BlockedGroupedConv):
            return self._sizes_of_groups(conv)
        if directions(conv) == 3:
            return self._sizes_of_planes(conv)
        _, Co, _, _, Ci = shape_of(conv.x)
        _, Mo, _, _, Mi = shape_of(conv.out)
        N, P, Q = self.extents(conv)
        d, e = dilations_of(conv)
        C, M = Co * Ci, Mo * Mi
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
    """The expected times of a function's ops for a target, by default the module's."""
    blocks = function.regions[0].blocks
    names = names_of(function.attributes.get(INPUT_DIMS))
    shapes = SymbolicShapes(blocks[0] if blocks else None, names)
    return Work(target_of(function, target).machine, shapes)
