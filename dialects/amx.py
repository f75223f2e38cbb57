"""The amx dialect: products of small matrices in the tile registers of x86 servers, as upstream.

A tile has up to 16 rows of up to 64 bytes. A product takes four bytes, or two halves, of a row of
the left tile at once; the right tile has those of one column side by side. For bytes:

    acc[i, j] += lhs[i, 4 k] * rhs[k, 4 j] + .. + lhs[i, 4 k + 3] * rhs[k, 4 j + 3]

Source: upstream's amx, and Intel's manual of the instructions (TDPBUSD, TDPBF16PS and others).
"""

from __future__ import annotations

from typing import ClassVar

from ..ir.types import bf16, f16, f32, i8, i32
from .vocabulary import *

REGISTERS = 8
MOST_ROWS = 16
MOST_ROW_BYTES = 64

_ELEMENTS = {
    f32: "32-bit float",
    f16: "16-bit float",
    bf16: "bfloat16 type",
    i32: "32-bit signless integer",
    i8: "8-bit signless integer",
}


@attribute_class
class TileType(Type):
    """`!amx.tile<16x64xi8>`: the rows, columns and elements of a tile register."""

    shape: tuple[int, ...]
    element_type: Any
    name: ClassVar[str] = "amx.tile"
    grammar: ClassVar[str] = '"<" DIMS TYPE ">"'

    @classmethod
    def from_syntax(cls, child: Sequence[Any]) -> TileType:
        """The instance for what the grammar made of `<16x64xi8>`."""
        (dims, _), element = child
        parts = "".join(dims.split()).rstrip("x").split("x")
        if not all(part.isdigit() and len(part) < 20 for part in parts):
            raise NncError("expected static shape")
        if element not in _ELEMENTS:
            raise NncError(f"failed to verify 'elementType': {_any_of(*_ELEMENTS)}")
        return cls(tuple(map(int, parts)), element)

    def parameters_text(self) -> str:
        """The text after the type's name."""
        return f"<{'x'.join(map(str, self.shape))}x{self.element_type}>"

    @property
    def row_bytes(self) -> int:
        """The bytes of a row."""
        return self.shape[1] * self.element_type.byte_width

    @property
    def size(self) -> tuple[int, int]:
        """(rows, bytes of a row)."""
        return self.shape[0], self.row_bytes

    @property
    def numpy(self) -> Any:
        """The NumPy type of the elements."""
        return type_to_numpy(self.element_type)


def _any_of(*types: Any) -> str:
    return " or ".join(_ELEMENTS[type] for type in types)


def _tile_of(*types: Any) -> Constraint:
    def allows(type: Any) -> bool:
        return isinstance(type, TileType) and type.element_type in types and len(type.shape) == 2

    return Constraint(f"tile of {_any_of(*types)} values", allows)


AnyTile = _tile_of(*_ELEMENTS)


def _check_size(op: Op, type: TileType) -> None:
    rows, width = type.shape[0], type.row_bytes
    if rows > MOST_ROWS:
        raise op.error(f"bad row height: {rows}")
    if width > MOST_ROW_BYTES or width % 4:
        raise op.error(f"bad column width: {width}")


class TileZero(Op, name="amx.tile_zero", traits=(Pure,)):
    """A tile of zeros."""

    res: Result = result(AnyTile)

    format = "attr-dict `:` type($res)"
    example = "%t = amx.tile_zero : !amx.tile<16x16xi32>"

    def verify_op(self) -> None:
        _check_size(self, self.res.type)

    def evaluate(self) -> Any:
        return np.zeros(self.res.type.shape, self.res.type.numpy)


class _Access(Op):
    """The rows of a tile in memory. The first begins at the indices, and each next one as far
    behind as the rows of the memref's last two dimensions, or `stride` elements.
    """

    def _check(self, memref: Value, indices: Sequence[Value], tile: TileType) -> None:
        type: Any = memref.type
        if type.rank < 2:
            raise self.error("requires at least 2D memref")
        if len(indices) != type.rank:
            raise self.error(f"requires {type.rank} indices")
        _check_size(self, tile)
        found = type.strides_and_offset()
        if found is None or found[0][-1] != 1:
            raise self.error("requires memref with unit innermost stride")

    def _places(self, array: Any, given: Sequence[Any], tile: TileType, apart: bool) -> tuple:
        """(what of the memory is indexed, the indices of its elements as arrays of rows)."""
        *indices, last = (int(i) for i in given)
        stride = last if apart else None
        if not apart:
            indices.append(last)
        rows = np.arange(tile.shape[0])[:, None]
        columns = np.arange(tile.row_bytes // array.itemsize)[None, :]
        if stride is None:
            *outer, row, column = indices
            at = (*map(np.asarray, outer), row + rows, column + columns)
        else:
            if not array.flags.c_contiguous:
                raise NncError(
                    f"'{self.name}': strides of memory with gaps are not known", self.loc
                )
            first = sum(i * step for i, step in zip(indices, array.strides, strict=True))
            array = array.reshape(-1)
            at = (first // array.itemsize + stride * rows + columns,)
        for d, (position, size) in enumerate(zip(at, array.shape, strict=True)):
            if np.any((position < 0) | (position >= size)):
                raise NncError(f"'{self.name}': out of bounds in dimension {d} of {size}", self.loc)
        return array, np.broadcast_arrays(*at)


class TileLoad(_Access, name="amx.tile_load", traits=(ReadsMemory,)):
    """A tile read from memory: the bytes of its rows, whatever the memref's elements are.

    The first row begins at the indices. The next ones begin as far apart as rows of the memref's
    last dimension, or `stride` elements.
    """

    base: Operand = operand(AnyMemRef)
    indices: Operands = operands(Index)
    stride: OptionalOperand = optional_operand(Index)
    res: Result = result(AnyTile)

    format = "$base `[` $indices `]` (`,` $stride^)? attr-dict `:` type($base) `into` type($res)"
    example = "%t = amx.tile_load %m[%i, %j] : memref<32x64xi8> into !amx.tile<16x64xi8>"

    def verify_op(self) -> None:
        self._check(self.base, self.indices, self.res.type)

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        tile = self.res.type
        array, at = self._places(operands[0], operands[1:], tile, self.stride is not None)
        frame.reads(self, array, tuple(at))
        return [np.ascontiguousarray(array[tuple(at)]).view(tile.numpy)]


class TileStore(_Access, name="amx.tile_store", traits=(WritesMemory,)):
    """A tile written to memory: the bytes of its rows, whatever the memref's elements are.

    The first row begins at the indices. The next ones begin as far apart as rows of the memref's
    last dimension, or `stride` elements.
    """

    base: Operand = operand(AnyMemRef)
    indices: Operands = operands(Index)
    val: Operand = operand(AnyTile)
    stride: OptionalOperand = optional_operand(Index)

    format = (
        "$base `[` $indices `]` `,` $val (`,` $stride^)? attr-dict `:` type($base) `,` type($val)"
    )
    example = "amx.tile_store %m[%i, %j], %t : memref<32x16xi32>, !amx.tile<16x16xi32>"

    def verify_op(self) -> None:
        self._check(self.base, self.indices, self.val.type)

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        count = 1 + len(self.indices)
        given = [*operands[1:count], *operands[count + 1 :]]
        array, at = self._places(operands[0], given, self.val.type, self.stride is not None)
        frame.writes(self, array, tuple(at))
        array[tuple(at)] = np.ascontiguousarray(operands[count]).view(array.dtype)
        return []


def _check_shapes(op: TileMulI | TileMulF) -> None:
    lhs, rhs, acc = (value.type for value in (op.lhs, op.rhs, op.acc))
    for type in (lhs, rhs, acc):
        _check_size(op, type)
    side_by_side = 4 // lhs.element_type.byte_width
    steps, columns = lhs.shape[1] // side_by_side, rhs.shape[1] // side_by_side
    rows = acc.shape[0]
    if (lhs.shape[0], rhs.shape[0], columns) != (rows, steps, acc.shape[1]):
        raise op.error(f"bad mult shape: {rows} x {acc.shape[1]} x {steps}")


def _parts(tile: Any, type: Any) -> list[Any]:
    """For each element of 32 bits of a tile's rows, these elements, as numbers to multiply."""
    count = 32 // (8 * tile.itemsize)
    return [tile[:, part::count].astype(type) for part in range(count)]


def _summed(lhs: list[Any], rhs: list[Any], acc: Any) -> Any:
    """acc + lhs @ rhs, one step after the other."""
    for step in range(rhs[0].shape[0]):
        for left, right in zip(lhs, rhs, strict=True):
            acc = acc + left[:, step : step + 1] * right[step : step + 1]
    return acc


class TileMulI(Op, name="amx.tile_muli", traits=(Pure,)):
    """The matrix product of two tiles of bytes, added to a tile of sums, which wrap.

    A side's bytes are signed, or unsigned with `zext` behind it.
    """

    lhs: Operand = operand(_tile_of(i8))
    rhs: Operand = operand(_tile_of(i8))
    acc: Operand = operand(_tile_of(i32))
    isZextLhs = attribute(UNIT, default=False, optional=True)  # noqa: N815
    isZextRhs = attribute(UNIT, default=False, optional=True)  # noqa: N815
    res: Result = result(Same("acc"))

    format = (
        "$lhs (`zext` $isZextLhs^)? `,` $rhs (`zext` $isZextRhs^)? `,` $acc attr-dict `:` "
        "type($lhs) `,` type($rhs) `,` type($acc)"
    )
    example = (
        "%c = amx.tile_muli %a zext, %b, %acc : "
        "!amx.tile<16x64xi8>, !amx.tile<16x64xi8>, !amx.tile<16x16xi32>"
    )

    def verify_op(self) -> None:
        _check_shapes(self)

    def evaluate(self, lhs: Any, rhs: Any, acc: Any) -> Any:
        unsigned = (self.isZextLhs, self.isZextRhs)
        sides = (
            tile.view(np.uint8 if zext else np.int8)
            for tile, zext in zip((lhs, rhs), unsigned, strict=True)
        )
        with np.errstate(over="ignore"):
            left, right = (_parts(side, np.int32) for side in sides)
            return _summed(left, right, acc)


class TileMulF(Op, name="amx.tile_mulf", traits=(Pure,)):
    """The matrix product of two tiles of halves, added to a tile of sums in f32."""

    lhs: Operand = operand(_tile_of(f16, bf16))
    rhs: Operand = operand(_tile_of(f16, bf16))
    acc: Operand = operand(_tile_of(f32))
    res: Result = result(Same("acc"))

    format = "$lhs `,` $rhs `,` $acc attr-dict `:` type($lhs) `,` type($rhs) `,` type($acc)"
    example = (
        "%c = amx.tile_mulf %a, %b, %acc : "
        "!amx.tile<16x32xbf16>, !amx.tile<16x32xbf16>, !amx.tile<16x16xf32>"
    )

    def verify_op(self) -> None:
        if self.lhs.type.element_type is not self.rhs.type.element_type:
            raise self.error("unsupported type combination")
        _check_shapes(self)

    def evaluate(self, lhs: Any, rhs: Any, acc: Any) -> Any:
        return _summed(_parts(lhs, np.float32), _parts(rhs, np.float32), acc)


registry.dialect("amx").doc = __doc__ or ""
