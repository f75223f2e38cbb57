"""Vectors to and from memory: contiguous, masked, gathered."""

from __future__ import annotations

from ..index_lists import by_field
from ..vocabulary import *

AnyShaped = Constraint(
    "shaped of any type values", lambda t: isinstance(t, MemRefType | TensorType)
)


MaskVector = Constraint(
    "vector of 1-bit signless integer values",
    lambda t: isinstance(t, VectorType) and t.element_type is i1,
)


IndexVector = Constraint(
    "vector of integer or index values",
    lambda t: isinstance(t, VectorType) and isinstance(t.element_type, IntegerType | IndexType),
)


def inner_part(array: Any, starts: Sequence[int], extents: Sequence[int | None]) -> Any:
    """A view of the part of an array that begins at `starts`; None if it reaches outside the array.

    `extents` has its size in each dimension. Where it is None, the part is a single index of the
    dimension, which is then dropped, as in `a[2, 0:4]`.
    """
    at: list[Any] = []
    for start, extent, size in zip(starts, extents, array.shape, strict=True):
        end = start + (1 if extent is None else extent)
        if start < 0 or end > size:
            return None
        at.append(start if extent is None else slice(start, end))
    return array[(*at, ...)]


def _unwatched(array: Any, indices: list[Any], shape: tuple[int, ...], frame: Any) -> Any:
    """The vector's elements along the last dimensions, as a view; None if checks are needed."""
    first = len(indices) - len(shape)
    if first < 0 or len(indices) != array.ndim or frame.watches(array):
        return None
    return inner_part(array, [int(i) for i in indices], [*[None] * first, *shape])


def _rows(op: Op, array: Any, indices: list[Any], shape: tuple[int, ...]) -> tuple:
    """Index arrays of the vector that starts at the indices and runs along the last dimensions.

    They are not checked against the array's bounds.
    """
    if len(shape) > len(indices):
        raise NncError(f"'{op.name}': the memory has a lower rank than the vector", op.loc)
    at = [np.asarray(int(i)) for i in indices]
    grids = np.indices(shape, sparse=True)
    for lane in range(len(shape)):
        d = len(at) - len(shape) + lane
        at[d] = at[d] + grids[lane]
    return tuple(np.broadcast_to(p, shape) for p in at)


def _inside(op: Op, array: Any, at: tuple, active: Any = None) -> None:
    for d, position in enumerate(at):
        wrong = (position < 0) | (position >= array.shape[d])
        if np.any(wrong if active is None else wrong & active):
            raise NncError(
                f"'{op.name}': out of bounds in dimension {d} of size {array.shape[d]}", op.loc
            )


def _check_access(op: Op, base: Value, indices: tuple[Value, ...], vector: VectorType) -> None:
    type = base.type
    element = type.element_type
    if len(indices) != type.rank:
        raise op.error(f"requires {type.rank} indices")
    if element is not vector and element is not vector.element_type:
        raise op.error("base and result element types should match")
    if isinstance(type, MemRefType) and element is not vector:
        found = type.strides_and_offset()
        if found is None or (found[0] and found[0][-1] != 1 and vector.num_elements != 1):
            raise op.error("most minor memref dim must have unit stride")
        if vector.rank > type.rank:
            raise op.error(
                "destination memref has lower rank than the result vector"
                if isinstance(op, Load)
                else "source memref has lower rank than the vector to store"
            )


class Load(Op, name="vector.load", traits=(ReadsMemory,)):
    """A contiguous vector read from a memref. All of it must lie inside the memref."""

    base: Operand = operand(AnyMemRef)
    indices: Operands = operands(Index)
    nontemporal = attribute(BOOL, default=False, optional=True)
    alignment = attribute(I64, optional=True)
    result: Result = result(AnyVector)

    format = "$base `[` $indices `]` attr-dict `:` type($base) `,` type($result)"
    example = "%v = vector.load %m[%i, %j] : memref<8x8xf32>, vector<4xf32>"

    def verify_op(self) -> None:
        _check_access(self, self.base, self.indices, self.result.type)

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        array, *indices = operands
        part = _unwatched(array, indices, self.result.type.shape, frame)
        if part is not None:
            return [part.copy()]
        at = _rows(self, array, indices, self.result.type.shape)
        _inside(self, array, at)
        frame.reads(self, array, at)
        return [array[at]]


class Store(Op, name="vector.store", traits=(WritesMemory,)):
    """A contiguous vector written to a memref. All of it must lie inside the memref."""

    valueToStore: Operand = operand(AnyVector)  # noqa: N815
    base: Operand = operand(AnyMemRef)
    indices: Operands = operands(Index)
    nontemporal = attribute(BOOL, default=False, optional=True)
    alignment = attribute(I64, optional=True)

    format = (
        "$valueToStore `,` $base `[` $indices `]` attr-dict `:` type($base) `,` type($valueToStore)"
    )
    example = "vector.store %v, %m[%i, %j] : memref<8x8xf32>, vector<4xf32>"

    def verify_op(self) -> None:
        _check_access(self, self.base, self.indices, self.valueToStore.type)

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        value, array, *indices = operands
        part = _unwatched(array, indices, value.shape, frame)
        if part is not None:
            part[...] = value
            return []
        at = _rows(self, array, indices, value.shape)
        _inside(self, array, at)
        frame.writes(self, array, at)
        array[at] = value
        return []


def _check_masked(op: Op, base: Value, indices: tuple[Value, ...], vector: VectorType) -> None:
    """Check the memref of a masked access, for which fewer rules hold."""
    type: Any = base.type
    if type.element_type is not vector.element_type:
        whose = "valueToStore" if isinstance(op, _MaskedWrite) else "result"
        raise op.error(f"base and {whose} element type should match")
    if len(indices) != type.rank:
        raise op.error(f"requires {type.rank} indices")


def _check_mask(op: Op, mask: Value, vector: VectorType, what: str = "shape") -> None:
    if mask.type.shape != vector.shape:
        whose = "valueToStore" if isinstance(op, _MaskedWrite | Scatter) else "result"
        raise op.error(f"expected {whose} {what} to match mask {what}")


class _MaskedRead(Op):
    """Lanes under a mask, read from memory that starts at indices."""

    base: Operand = operand(AnyMemRef)
    indices: Operands = operands(Index)
    mask: Operand = operand(MaskVector)
    pass_thru: Operand = operand(AnyVector)
    alignment = attribute(I64, optional=True)
    result: Result = result(Same("pass_thru"))

    format = (
        "$base `[` $indices `]` `,` $mask `,` $pass_thru attr-dict `:` type($base) `,` "
        "type($mask) `,` type($pass_thru) `into` type($result)"
    )


class _MaskedWrite(Op):
    """Lanes under a mask, written to memory that starts at indices."""

    base: Operand = operand(AnyMemRef)
    indices: Operands = operands(Index)
    mask: Operand = operand(MaskVector)
    valueToStore: Operand = operand(AnyVector)  # noqa: N815
    alignment = attribute(I64, optional=True)

    format = (
        "$base `[` $indices `]` `,` $mask `,` $valueToStore attr-dict `:` type($base) `,` "
        "type($mask) `,` type($valueToStore)"
    )


class MaskedLoad(_MaskedRead, name="vector.maskedload", traits=(ReadsMemory,)):
    """The lanes that the mask selects, read from memory; the others from a vector."""

    example = (
        "%v = vector.maskedload %m[%i], %mask, %w : "
        "memref<?xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>"
    )

    def verify_op(self) -> None:
        _check_masked(self, self.base, self.indices, self.result.type)
        _check_mask(self, self.mask, self.result.type)

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        array, *indices, mask, pass_thru = operands
        at = _selected(self, array, indices, mask)
        frame.reads(self, array, at)
        result = pass_thru.copy()
        result[mask] = array[at]
        return [result]


class MaskedStore(_MaskedWrite, name="vector.maskedstore", traits=(WritesMemory,)):
    """The lanes that the mask selects, written to memory."""

    example = "vector.maskedstore %m[%i], %mask, %v : memref<?xf32>, vector<4xi1>, vector<4xf32>"

    def verify_op(self) -> None:
        _check_masked(self, self.base, self.indices, self.valueToStore.type)
        _check_mask(self, self.mask, self.valueToStore.type)

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        array, *indices, mask, value = operands
        at = _selected(self, array, indices, mask)
        frame.writes(self, array, at)
        array[at] = value[mask]
        return []


def _selected(op: Op, array: Any, indices: list[Any], mask: Any) -> tuple:
    """Index arrays of the lanes that the mask selects, in the row at the indices."""
    at = _rows(op, array, indices, mask.shape)
    _inside(op, array, at, mask)
    return tuple(p[mask] for p in at)


def _scattered(array: Any, offsets: list[Any], indices: Any) -> tuple:
    """One index array for each dimension of the memory: `offsets`, and in the last
    one + `indices`.
    """
    at = [np.broadcast_to(np.asarray(int(i)), indices.shape) for i in offsets]
    at[-1] = at[-1] + indices.astype(np.int64)
    return tuple(at)


class Gather(Op, name="vector.gather", traits=(ReadsMemory,)):
    """Each lane is read at its own index along the last dimension; masked-off lanes are those of
    `pass_thru`.
    """

    base: Operand = operand(AnyShaped)
    offsets: Operands = operands(Index)
    indices: Operand = operand(IndexVector)
    mask: Operand = operand(MaskVector)
    pass_thru: Operand = operand(AnyVector)
    alignment = attribute(I64, optional=True)
    result: Result = result(Same("pass_thru"))

    format = (
        "$base `[` $offsets `]` `[` $indices `]` `,` $mask `,` $pass_thru attr-dict `:` "
        "type($base) `,` type($indices) `,` type($mask) `,` type($pass_thru) `into` type($result)"
    )
    example = (
        "%v = vector.gather %m[%i] [%at], %mask, %w : "
        "memref<?xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32> into vector<4xf32>"
    )

    def verify_op(self) -> None:
        if len(self.offsets) != self.base.type.rank:
            raise self.error(f"requires {self.base.type.rank} indices")
        if self.result.type.shape != self.indices.type.shape:
            raise self.error("expected result dim to match indices dim")
        _check_mask(self, self.mask, self.result.type, "dim")

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        given = by_field(self, operands)
        array, mask = given["base"], given["mask"]
        at = _scattered(array, given["offsets"], given["indices"])
        _inside(self, array, at, mask)
        at = tuple(p[mask] for p in at)
        frame.reads(self, array, at)
        result = given["pass_thru"].copy()
        result[mask] = array[at]
        return [result]


class Scatter(Op, name="vector.scatter", traits=(WritesMemory,)):
    """Lanes that the mask selects, written anywhere along the last dimension, in order."""

    base: Operand = operand(AnyShaped)
    offsets: Operands = operands(Index)
    indices: Operand = operand(IndexVector)
    mask: Operand = operand(MaskVector)
    valueToStore: Operand = operand(AnyVector)  # noqa: N815
    alignment = attribute(I64, optional=True)
    result: OptionalResult = optional_result(AnyRankedTensor)

    format = (
        "$base `[` $offsets `]` `[` $indices `]` `,` $mask `,` $valueToStore attr-dict `:` "
        "type($base) `,` type($indices) `,` type($mask) `,` type($valueToStore) "
        "(`->` type($result)^)?"
    )
    example = (
        "vector.scatter %m[%i] [%at], %mask, %v : "
        "memref<?xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32>"
    )

    def verify_op(self) -> None:
        if len(self.offsets) != self.base.type.rank:
            raise self.error(f"requires {self.base.type.rank} indices")
        if self.valueToStore.type.shape != self.indices.type.shape:
            raise self.error("expected valueToStore dim to match indices dim")
        _check_mask(self, self.mask, self.valueToStore.type, "dim")

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        given = by_field(self, operands)
        array, mask = given["base"], given["mask"]
        at = _scattered(array, given["offsets"], given["indices"])
        _inside(self, array, at, mask)
        if self.result is not None:
            array = array.copy()
        at = tuple(p[mask] for p in at)
        frame.writes(self, array, at)
        array[at] = given["valueToStore"][mask]
        return [array] if self.result is not None else []


class ExpandLoad(_MaskedRead, name="vector.expandload", traits=(ReadsMemory,)):
    """Consecutive elements spread over the lanes that the mask selects."""

    example = (
        "%v = vector.expandload %m[%i], %mask, %w : "
        "memref<?xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>"
    )

    def verify_op(self) -> None:
        _check_masked(self, self.base, self.indices, self.result.type)
        _check_mask(self, self.mask, self.result.type, "dim")

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        array, *indices, mask, pass_thru = operands
        at = _rows(self, array, indices, (int(mask.sum()),))
        _inside(self, array, at)
        frame.reads(self, array, at)
        result = pass_thru.copy()
        result[mask] = array[at]
        return [result]


class CompressStore(_MaskedWrite, name="vector.compressstore", traits=(WritesMemory,)):
    """The lanes that the mask selects, written next to each other."""

    example = "vector.compressstore %m[%i], %mask, %v : memref<?xf32>, vector<4xi1>, vector<4xf32>"

    def verify_op(self) -> None:
        _check_masked(self, self.base, self.indices, self.valueToStore.type)
        _check_mask(self, self.mask, self.valueToStore.type, "dim")

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        array, *indices, mask, value = operands
        at = _rows(self, array, indices, (int(mask.sum()),))
        _inside(self, array, at)
        frame.writes(self, array, at)
        array[at] = value[mask]
        return []
