"""Reading, writing and moving elements of memrefs at affine indices."""

from __future__ import annotations

from typing import ClassVar

from ..memref.access import check_bounds
from ..memref.transfers import start_transfer
from ..vocabulary import *
from .maps import MAP, check_count, values_at
from .scope import check_inputs

AnyVectorOfNonZeroRank = Constraint(
    "vector of any type values", lambda t: isinstance(t, VectorType) and t.rank > 0
)


class _Access(Op):
    """An access to a memref at the results of a map."""

    memref: Any
    indices: Any
    map: Any

    rank_error: ClassVar[str] = ""
    """Upstream's prefix of the error for a map that does not fit the memref."""

    def verify_access(self) -> None:
        """Check that there is an index per dimension, and an operand per input of the map."""
        check_count(self, self.map.map, len(self.indices))
        if len(self.map.map.results) != self.memref.type.rank:
            raise self.error(f"{self.rank_error}affine map num results must equal memref rank")
        check_inputs(self, self.indices, self.map.map.dim_count)


class Load(_Access, name="affine.load", traits=(ReadsMemory,)):
    """Load the element of a memref at affine indices."""

    memref: Operand = operand(AnyMemRef)
    indices: Operands = operands(Index)
    map = attribute(MAP)
    result: Result = result(element_of("memref"))

    format = "$memref `[` custom<AffineSubscript>($map, $indices) `]` attr-dict `:` type($memref)"
    example = "%x = affine.load %m[%i + 1, symbol(%n) * 2] : memref<8x8xf32>"

    def verify_op(self) -> None:
        self.verify_access()

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        array, *indices = operands
        at = values_at(self.map.map, indices)
        check_bounds(self, array, at)
        return [array[at]]


class Store(_Access, name="affine.store", traits=(WritesMemory,)):
    """Store a value to the element of a memref at affine indices."""

    value: Operand = operand(element_of("memref"))
    memref: Operand = operand(AnyMemRef)
    indices: Operands = operands(Index)
    map = attribute(MAP)

    format = (
        "$value `,` $memref `[` custom<AffineSubscript>($map, $indices) `]` attr-dict "
        "`:` type($memref)"
    )
    example = "affine.store %x, %m[%i mod 4, 0] : memref<8x8xf32>"

    def verify_op(self) -> None:
        self.verify_access()

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        value, array, *indices = operands
        at = values_at(self.map.map, indices)
        check_bounds(self, array, at)
        array[at] = value
        return []


class VectorLoad(_Access, name="affine.vector_load", traits=(ReadsMemory,)):
    """Load a vector of elements of a memref, from affine indices on, along the last dimensions."""

    memref: Operand = operand(AnyMemRef)
    indices: Operands = operands(Index)
    map = attribute(MAP)
    result: Result = result(AnyVectorOfNonZeroRank)

    format = (
        "$memref `[` custom<AffineSubscript>($map, $indices) `]` attr-dict "
        "`:` type($memref) `,` type($result)"
    )
    example = "%x = affine.vector_load %m[%i, %j + 4] : memref<8x8xf32>, vector<4xf32>"

    def verify_op(self) -> None:
        self.verify_access()
        _check_vector(self, self.memref.type, self.result.type)

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        array, *indices = operands
        return [array[_slice(self, array, indices, self.result.type)].copy()]


class VectorStore(_Access, name="affine.vector_store", traits=(WritesMemory,)):
    """Store a vector to elements of a memref, from affine indices on, along the last dimensions."""

    value: Operand = operand(AnyVectorOfNonZeroRank)
    memref: Operand = operand(AnyMemRef)
    indices: Operands = operands(Index)
    map = attribute(MAP)

    format = (
        "$value `,` $memref `[` custom<AffineSubscript>($map, $indices) `]` attr-dict "
        "`:` type($memref) `,` type($value)"
    )
    example = "affine.vector_store %x, %m[%i, %j + 4] : memref<8x8xf32>, vector<4xf32>"

    def verify_op(self) -> None:
        self.verify_access()
        _check_vector(self, self.memref.type, self.value.type)

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        value, array, *indices = operands
        array[_slice(self, array, indices, self.value.type)] = value
        return []


def _check_vector(op: Op, memory: Any, vector: Any) -> None:
    if memory.element_type is not vector.element_type:
        raise op.error("requires memref and vector types of the same elemental type")


def _slice(op: Any, array: Any, indices: Any, vector: Any) -> tuple[Any, ...]:
    """The slices of the array that the vector covers."""
    at = values_at(op.map.map, indices)
    lengths = (1,) * (array.ndim - vector.rank) + vector.shape
    check_bounds(op, array, at)
    check_bounds(op, array, tuple(a + n - 1 for a, n in zip(at, lengths, strict=True)))
    outer = array.ndim - vector.rank
    inner = zip(at[outer:], vector.shape, strict=True)
    return (*at[:outer], *(slice(a, a + n) for a, n in inner))


class Prefetch(_Access, name="affine.prefetch", traits=(WritesMemory,)):
    """A hint that the element at affine indices will be used soon."""

    memref: Operand = operand(AnyMemRef)
    indices: Operands = operands(Index)
    isWrite = attribute(BOOL)  # noqa: N815
    localityHint = attribute(I32)  # noqa: N815
    isDataCache = attribute(BOOL)  # noqa: N815
    map = attribute(MAP)

    rank_error = "affine.prefetch "

    format = (
        "$memref `[` custom<AffineSubscript>($map, $indices) `]` `,` "
        "custom<Prefetch>($isWrite, $localityHint, $isDataCache) attr-dict `:` type($memref)"
    )
    example = "affine.prefetch %m[%i, %j + 4], read, locality<3>, data : memref<8x8xf32>"

    def verify_op(self) -> None:
        self.verify_access()
        if not 0 <= self.localityHint <= 3:
            raise self.error(
                "attribute 'localityHint' failed to satisfy constraint: 32-bit signless integer "
                "attribute whose minimum value is 0 whose maximum value is 3"
            )

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        return []


# -- transfers ------------------------------------------------------------------------------------


class _Transfer(Op, traits=(WritesMemory,)):
    """Base of the transfers between memrefs, whose maps are free attributes."""

    map_names: ClassVar[tuple[str, ...]] = ()

    values: Operands = operands(AnyType)

    def map_named(self, name: str) -> AffineMap:
        """The map of that attribute."""
        found = self.attributes.get(name)
        if not isinstance(found, AffineMapAttr):
            raise self.error(f"requires an affine map attribute '{name}'")
        return found.map

    def accesses(self, *names: str) -> tuple[list[tuple[Value, list[Value]]], list[Value]]:
        """([(memref, operands of its map)] for each map, the remaining operands)."""
        found, at = [], 0
        values = list(self.values)
        for name in names:
            map_ = self.map_named(name)
            count = map_.dim_count + map_.symbol_count
            if at + count >= len(values):
                raise self.error("expected more operands")
            found.append((values[at], values[at + 1 : at + 1 + count]))
            at += 1 + count
        return found, values[at:]

    def check_accesses(self, *names: str) -> list[Value]:
        """Check memrefs and their numbers of indices. Returns the remaining operands."""
        found, rest = self.accesses(*names)
        for name, (memref, _) in zip(names, found, strict=True):
            if not isinstance(memref.type, MemRefType):
                raise self.error(f"expected DMA {_WORDS[name]} to be of memref type")
        return rest


_WORDS = {"src_map": "source", "dst_map": "destination", "tag_map": "tag"}


class DmaStart(_Transfer, name="affine.dma_start"):
    """Begin to copy elements from one memref to another; `affine.dma_wait` waits for the tag.

    After the memrefs come the number of elements, and optionally a stride and the number of
    elements for each stride, for the slower of the two memories.
    """

    format = "custom<AffineTransfer>($values)"
    example = (
        "affine.dma_start %src[%i + 3, %j], %dst[%k + 7], %tag[%c], %n "
        ": memref<40x128xf32>, memref<1024xf32, 1>, memref<1xi32, 2>"
    )
    map_names = ("src_map", "dst_map", "tag_map")

    def verify_op(self) -> None:
        rest = self.check_accesses(*self.map_names)
        if len(rest) not in (1, 3):
            raise self.error("incorrect number of operands")

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        pieces, at = [], 0
        for name in self.map_names:
            map_ = self.map_named(name)
            count = map_.dim_count + map_.symbol_count
            inputs = operands[at + 1 : at + 1 + count]
            pieces.append((operands[at], values_at(map_, inputs)))
            at += 1 + count
        (source, start), (target, to), _ = pieces
        start_transfer(self, source, start, target, to, [int(n) for n in operands[at:]])
        return []


class DmaWait(_Transfer, name="affine.dma_wait"):
    """Wait until the transfer with a tag is done."""

    format = "custom<AffineTransfer>($values)"
    example = "affine.dma_wait %tag[%c], %n : memref<1xi32, 2>"
    map_names = ("tag_map",)

    def verify_op(self) -> None:
        if len(self.check_accesses(*self.map_names)) != 1:
            raise self.error("incorrect number of operands")

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        return []
