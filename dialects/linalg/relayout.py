"""linalg.pack and linalg.unpack: dimensions cut into tiles, which become inner dimensions."""

from __future__ import annotations

from ...ir.types import Dim
from ..index_lists import mix, plain_error, to_dims
from ..memref.layouts import compatible
from ..vocabulary import *

AnyRankedTensor = Constraint(
    "ranked tensor of any type values", lambda t: isinstance(t, TensorType)
)


class _Relayout(Op, traits=(Pure,)):
    """Base of packing and unpacking, which have the same attributes."""

    outer_dims_perm = attribute(INT_ARRAY, default=(), optional=True)
    inner_dims_pos = attribute(INT_ARRAY)
    static_inner_tiles = attribute(INT_ARRAY)

    source: Any
    dest: Any
    inner_tiles: Any

    @property
    def tiles(self) -> tuple[Dim, ...]:
        """The sizes of the tiles; None for those given by operands."""
        return to_dims(self.static_inner_tiles)

    def same_tiles(self, other: _Relayout) -> bool:
        """Whether the other op has the same tiles and the same order of dimensions."""
        return (
            self.inner_dims_pos == other.inner_dims_pos
            and self.static_inner_tiles == other.static_inner_tiles
            and list(self.inner_tiles) == list(other.inner_tiles)
            and self.outer_dims_perm == other.outer_dims_perm
        )

    def verify_layout(self, plain: TensorType, packed: TensorType) -> None:
        """Check that `packed` is the type of `plain` after tiling and permuting."""
        positions, order, tiles = self.inner_dims_pos, self.outer_dims_perm, self.tiles
        if any(t == 0 for t in tiles):
            raise plain_error(self, "invalid zero tile factor")
        for word, dims in (("inner_dims_pos", positions), ("outer_dims_perm", order)):
            if any(not 0 <= d < plain.rank for d in dims) or len(set(dims)) != len(dims):
                raise plain_error(self, f"invalid {word} vector")
        if order and len(order) != plain.rank:
            raise plain_error(self, "outer_dims_perm must be a permutation or empty")
        if len(tiles) > plain.rank or len(tiles) != len(positions):
            raise plain_error(
                self,
                "tiling factors must be less than or equal to the input rank for pack or output "
                "rank for unpack"
                if len(tiles) > plain.rank
                else "tiling factors must equal the number of dimensions to tile",
            )
        expected = packed_shape(plain.shape, positions, order, tiles)
        if packed.rank != len(expected):
            raise plain_error(
                self,
                "packed rank != (unpacked rank + num tiling factors), got "
                f"{packed.rank} != {len(expected)}",
            )
        self._verify_sizes(plain, packed, expected)

    def _verify_sizes(self, plain: TensorType, packed: TensorType, expected: Sequence[Dim]) -> None:
        for tile, extent in zip(self.tiles, packed.shape[plain.rank :], strict=True):
            if (tile is None) != (extent is None) or tile != extent:
                raise plain_error(
                    self,
                    "mismatch in inner tile sizes specified and shaped of tiled dimension in the "
                    "packed type",
                )
        wanted = TensorType(tuple(expected), packed.element_type)
        for a, b in zip(packed.shape, expected, strict=True):
            if not compatible(a, b):
                raise plain_error(
                    self, f"expected '{wanted}' for the packed domain value, got '{packed}'"
                )


def packed_shape(
    shape: Sequence[Dim], positions: Sequence[int], order: Sequence[int], tiles: Sequence[Dim]
) -> list[Dim]:
    """The packed shape: outer dimensions, permuted by `order`, then the tiles."""
    outer = list(shape)
    for d, tile in zip(positions, tiles, strict=True):
        extent = outer[d]
        outer[d] = None if extent is None or not tile else -(-extent // tile)
    if order:
        outer = [outer[d] for d in order]
    return [*outer, *tiles]


def _axes(rank: int, positions: Sequence[int], order: Sequence[int]) -> list[int]:
    """The transposition from split dimensions to the packed order.

    Before it, each dimension stands next to its tile, if it has one: rows, rows in a tile, columns,
    ... Axis i of the packed array is axis `_axes(..)[i]` of that.
    """
    outer, inner, at = [0] * rank, {}, 0
    for d in range(rank):
        outer[d] = at
        at += 1
        if d in positions:
            inner[d] = at
            at += 1
    first = [outer[d] for d in order] if order else outer
    return [*first, *(inner[d] for d in positions)]


class Pack(_Relayout, name="linalg.pack"):
    """A tensor with some dimensions cut into tiles, which become the last dimensions.

    Dimension `inner_dims_pos[i]` is cut into tiles of `inner_tiles[i]`; the outer dimensions are
    then permuted by `outer_dims_perm`. Where a dimension is not a multiple of its tile, the last
    tile is filled up with `padding_value`; without it, the rest is undefined.
    """

    source: Operand = operand(AnyRankedTensor)
    dest: Operand = operand(AnyRankedTensor)
    padding_value: OptionalOperand = optional_operand(AnyType)
    inner_tiles: Operands = operands(Index)
    result: Result = result(Same("dest"))

    format = (
        "$source (`padding_value` `(` $padding_value^ `:` type($padding_value) `)`)? "
        "(`outer_dims_perm` `=` $outer_dims_perm^)? `inner_dims_pos` `=` $inner_dims_pos "
        "`inner_tiles` `=` custom<DynamicIndexList>($inner_tiles, $static_inner_tiles) "
        "`into` $dest attr-dict `:` type($source) `->` type($dest)"
    )
    result_name = "pack"
    example = """
        %pack = linalg.pack %a padding_value(%pad : f32) outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [8, %tile] into %b : tensor<30x?xf32> -> tensor<?x4x8x?xf32>
    """  # noqa: E501

    def verify_op(self) -> None:
        source, dest = self.source.type, self.dest.type
        pad = self.padding_value
        if pad is not None and pad.type is not source.element_type:
            raise self.error(
                f"expected padding_value has '{source.element_type}' but got: '{pad.type}'"
            )
        self.verify_layout(source, dest)
        if pad is None:
            self._verify_no_rest()

    def _verify_no_rest(self) -> None:
        shape = self.source.type.shape
        for d, tile in zip(self.inner_dims_pos, self.tiles, strict=True):
            if shape[d] is not None and tile and shape[d] % tile:
                raise self.error(
                    "invalid tile factor or output size provided. Only full tiles are supported "
                    "when padding_value is not set",
                )

    def fold(self) -> Sequence[Value | Attribute] | None:
        """pack(unpack(x)) -> x, if both have the same tiles."""
        inner = self.source.defined_by(UnPack)
        if inner is None or self.padding_value is not None or not self.same_tiles(inner):
            return None
        return [inner.source] if inner.source.type is self.result.type else None

    def evaluate(self, source: Any, dest: Any, *rest: Any) -> Any:
        pad = rest[0] if self.padding_value is not None else 0
        tiles = mix(self.static_inner_tiles, rest[self.padding_value is not None :])
        widths, shape = [], []
        for d, extent in enumerate(source.shape):
            if d not in self.inner_dims_pos:
                widths.append((0, 0))
                shape.append(extent)
                continue
            tile = int(tiles[self.inner_dims_pos.index(d)])
            widths.append((0, -extent % tile))
            shape += [-(-extent // tile), tile]
        whole = np.pad(source, widths, constant_values=pad).reshape(shape)
        order = _axes(source.ndim, self.inner_dims_pos, self.outer_dims_perm)
        return np.ascontiguousarray(whole.transpose(order))


class UnPack(_Relayout, name="linalg.unpack"):
    """The tensor from which `linalg.pack` made tiles; what exceeds the result's
    shape is dropped.
    """

    source: Operand = operand(AnyRankedTensor)
    dest: Operand = operand(AnyRankedTensor)
    inner_tiles: Operands = operands(Index)
    result: Result = result(Same("dest"))

    format = (
        "$source (`outer_dims_perm` `=` $outer_dims_perm^)? `inner_dims_pos` `=` $inner_dims_pos "
        "`inner_tiles` `=` custom<DynamicIndexList>($inner_tiles, $static_inner_tiles) "
        "`into` $dest attr-dict `:` type($source) `->` type($dest)"
    )
    result_name = "unpack"
    example = """
        %unpack = linalg.unpack %a inner_dims_pos = [0] inner_tiles = [8] into %b : tensor<4x16x8xf32> -> tensor<30x16xf32>
    """  # noqa: E501

    def verify_op(self) -> None:
        self.verify_layout(self.dest.type, self.source.type)

    def fold(self) -> Sequence[Value | Attribute] | None:
        """unpack(pack(x)) -> x, if both have the same tiles."""
        inner = self.source.defined_by(Pack)
        if inner is None or inner.padding_value is not None or not self.same_tiles(inner):
            return None
        return [inner.source] if inner.source.type is self.result.type else None

    def evaluate(self, source: Any, dest: Any, *tiles: Any) -> Any:
        rank = dest.ndim
        order = _axes(rank, self.inner_dims_pos, self.outer_dims_perm)
        flat = source.transpose(np.argsort(order))
        shape, axis = [], 0
        for d in range(rank):
            extent = flat.shape[axis]
            axis += 1
            if d in self.inner_dims_pos:
                extent *= flat.shape[axis]
                axis += 1
            shape.append(extent)
        whole = flat.reshape(shape)[tuple(slice(n) for n in dest.shape)]
        return np.ascontiguousarray(whole)
