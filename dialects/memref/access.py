"""Reading and writing elements of memrefs."""

from __future__ import annotations

from ..vocabulary import *


def check_bounds(op: Operation, array: Any, indices: tuple[int, ...]) -> None:
    """Raise NncError where an index is outside of the array (NumPy would count from the end)."""
    for i, (at, extent) in enumerate(zip(indices, array.shape, strict=True)):
        if not 0 <= at < extent:
            raise NncError(
                f"'{op.name}': index {at} of dimension {i} is out of bounds for size {extent}",
                op.loc,
            )


def check_alignment(op: Operation, alignment: int | None) -> None:
    """Raise an error unless the alignment is None or a power of two."""
    if alignment is not None and (alignment <= 0 or alignment & (alignment - 1)):
        raise op.error(
            "attribute 'alignment' failed to satisfy constraint: 64-bit signless integer "
            "attribute whose value is positive and whose value is a power of two > 0"
        )


def same_shape(one: Any, other: Any) -> bool:
    """Whether two memrefs may have the same shape at run time; of unknown rank, they may."""
    if not (isinstance(one, MemRefType) and isinstance(other, MemRefType)):
        return True
    return one.rank == other.rank and all(
        None in pair or pair[0] == pair[1] for pair in zip(one.shape, other.shape, strict=True)
    )


def copy_elements(op: Operation, source: Any, target: Any, frame: Any) -> None:
    """Copy one array to another. Raises NncError where their shapes differ."""
    if source.shape != target.shape:
        raise NncError(
            f"'{op.name}': source of shape {source.shape}, target of {target.shape}", op.loc
        )
    everything = tuple(np.indices(source.shape, sparse=True))
    frame.reads(op, source, everything)
    frame.writes(op, target, everything)
    target[...] = source


class Load(Op, name="memref.load", traits=(ReadsMemory,)):
    """The element of a memref at the indices."""

    memref: Operand = operand(AnyMemRef)
    indices: Operands = operands(Index)
    result: Result = result(element_of("memref"))
    nontemporal = attribute(BOOL, default=False, optional=True)
    alignment = attribute(I64, optional=True)

    format = "$memref `[` $indices `]` attr-dict `:` type($memref)"
    example = "%x = memref.load %m[%i, %j] : memref<4x8xf32>"

    def verify_op(self) -> None:
        rank, found = self.memref.type.rank, len(self.indices)
        if found != rank:
            raise self.error(
                f"incorrect number of indices for load, expected {rank} but got {found}"
            )
        check_alignment(self, self.alignment)

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        array, *indices = operands
        at = tuple(int(i) for i in indices)
        check_bounds(self, array, at)
        frame.reads(self, array, at)
        return [array[at]]


class Store(Op, name="memref.store", traits=(WritesMemory,)):
    """Write a value to the element of a memref at the indices."""

    value: Operand = operand(element_of("memref"))
    memref: Operand = operand(AnyMemRef)
    indices: Operands = operands(Index)
    nontemporal = attribute(BOOL, default=False, optional=True)
    alignment = attribute(I64, optional=True)

    format = "$value `,` $memref `[` $indices `]` attr-dict `:` type($memref)"
    example = "memref.store %x, %m[%i, %j] : memref<4x8xf32>"

    def verify_op(self) -> None:
        if len(self.indices) != self.memref.type.rank:
            raise self.error("store index operand count not equal to memref rank")
        check_alignment(self, self.alignment)

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        value, array, *indices = operands
        at = tuple(int(i) for i in indices)
        check_bounds(self, array, at)
        frame.writes(self, array, at)
        array[at] = value
        return []


class Copy(Op, name="memref.copy", traits=(WritesMemory,)):
    """Copy all elements of one memref to another of the same shape."""

    source: Operand = operand(AnyRankedOrUnrankedMemRef)
    target: Operand = operand(AnyRankedOrUnrankedMemRef)

    format = "$source `,` $target attr-dict `:` type($source) `to` type($target)"
    example = "memref.copy %a, %b : memref<4x?xf32> to memref<?x8xf32>"

    def verify_op(self) -> None:
        source, target = self.source.type, self.target.type
        if source.element_type is not target.element_type:  # type: ignore[attr-defined]
            raise self.error("requires the same element type for all operands")
        if not same_shape(source, target):
            raise self.error("requires the same shape for all operands")

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        source, target = operands
        copy_elements(self, source, target, frame)
        return []


class Prefetch(Op, name="memref.prefetch", traits=(WritesMemory,)):
    """Fetch the cache line of an element for reading or writing; locality 0 (none) to 3."""

    memref: Operand = operand(AnyMemRef)
    indices: Operands = operands(Index)
    isWrite = attribute(BOOL)  # noqa: N815
    localityHint = attribute(I32)  # noqa: N815
    isDataCache = attribute(BOOL)  # noqa: N815

    format = (
        "$memref `[` $indices `]` `,` custom<Prefetch>($isWrite, $localityHint, $isDataCache) "
        "attr-dict `:` type($memref)"
    )
    example = "memref.prefetch %m[%i, %j], read, locality<3>, data : memref<4x8xf32>"

    def verify_op(self) -> None:
        if len(self.indices) != self.memref.type.rank:
            raise self.error("too few indices")
        if not 0 <= self.localityHint <= 3:
            raise self.error(
                "attribute 'localityHint' failed to satisfy constraint: 32-bit signless integer "
                "attribute whose minimum value is 0 whose maximum value is 3"
            )

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        return []
