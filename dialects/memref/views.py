"""Views of parts of a buffer, and views with other strides."""

from __future__ import annotations

import math

from ..index_lists import Mixed, check_list, plain_error, split, to_dims
from ..slicing import LISTS, Slicing
from ..vocabulary import *
from .aliasing import ViewLike
from .layouts import (
    compatible,
    dropped_dimensions,
    rank_reduced,
    strided,
    subview_type,
)

ByteBuffer = Constraint(
    "1D memref of 8-bit signless integer values",
    lambda t: isinstance(t, MemRefType) and t.rank == 1 and t.element_type is IntegerType(8),
)


class View(Op, name="memref.view", traits=(Pure, ViewLike)):
    """A contiguous memref of another type in a buffer of bytes, from `byte_shift` on."""

    source: Operand = operand(ByteBuffer)
    byte_shift: Operand = operand(Index)
    sizes: Operands = operands(Index)
    result: Result = result(AnyMemRef)

    result_name = "view"
    format = (
        "$source `[` $byte_shift `]` `` `[` $sizes `]` attr-dict "
        "`:` type($source) `to` type($result)"
    )
    example = "%v = memref.view %bytes[%shift][%n] : memref<2048xi8> to memref<?x4xf32>"

    def verify_op(self) -> None:
        type = self.result.type
        if type.layout is not None:
            raise plain_error(self, f"unsupported map for result memref type '{type}'")
        if self.source.type.memory_space is not type.memory_space:
            raise plain_error(
                self,
                "different memory spaces specified for base memref type "
                f"'{self.source.type}' and view memref type '{type}'",
            )
        wanted = sum(d is None for d in type.shape)
        if len(self.sizes) != wanted:
            raise self.error(
                f"incorrect number of dynamic sizes, has {len(self.sizes)}, expected {wanted}"
            )

    def evaluate(self, source: Any, byte_shift: Any, *sizes: Any) -> Any:

        rest = iter(sizes)
        type = self.result.type
        shape = [int(next(rest)) if d is None else d for d in type.shape]
        dtype = type_to_numpy(type.element_type)
        start = int(byte_shift)
        end = start + math.prod(shape) * dtype.itemsize
        if start < 0 or end > source.nbytes:
            raise NncError(
                f"'memref.view': bytes {start} to {end} of a buffer of {source.nbytes}", self.loc
            )
        return source[start:end].view(dtype).reshape(shape)


class _OfBuffer(Op):
    """Base of the ops that make a memref from a memref."""

    source: Operand = operand(AnyMemRef)
    result: Result = result(AnyMemRef)


class SubView(Slicing, _OfBuffer, name="memref.subview", traits=(Pure, ViewLike)):
    """A view of a rectangular, possibly strided part; dimensions of size 1 may be dropped."""

    result_name = "subview"
    format = f"$source `` {LISTS} attr-dict `:` type($source) `to` type($result)"
    example = (
        "%v = memref.subview %m[0, %i] [4, 4] [1, 1] : "
        "memref<8x8xf32> to memref<4x4xf32, strided<[8, 1], offset: ?>>"
    )

    @staticmethod
    def of(
        source: Value,
        offsets: Sequence[Mixed],
        sizes: Sequence[Mixed],
        strides: Sequence[Mixed] | None = None,
        shape: Sequence[int | None] | None = None,
    ) -> SubView:
        """Make the op from lists of numbers and values.

        The result type is inferred; with `shape`, dimensions of size 1 are dropped to get that
        shape.
        """
        steps = strides if strides is not None else [1] * len(offsets)
        parts = [split(part) for part in (offsets, sizes, steps)]
        type = subview_type(source.type, *(static for _, static in parts))  # type: ignore[arg-type]
        if shape is not None:
            reduced = rank_reduced(type, shape)
            if reduced is None:
                raise NncError(f"memref.subview: {shape} is not a reduction of {type}")
            type = reduced
        return SubView(
            source, *(values for values, _ in parts), *(static for _, static in parts), result=type
        )

    @property
    def kept(self) -> list[int] | None:
        """The source's dimensions that the result has; the dropped ones have size 1. None if types
        misfit.
        """
        whole = subview_type(
            self.source.type, self.static_offsets, self.static_sizes, self.static_strides
        )
        dropped = dropped_dimensions(whole, self.result.type, self.static_sizes)
        return None if dropped is None else [i for i in range(whole.rank) if i not in dropped]

    def verify_op(self) -> None:
        source, target = self.source.type, self.result.type
        if target.memory_space is not source.memory_space:
            raise plain_error(
                self,
                f"different memory spaces specified for base memref type '{source}' and subview "
                f"memref type '{target}'",
            )
        if source.strides_and_offset() is None:
            raise plain_error(self, f"base type '{source}' is not strided")
        self.verify_lists(source.rank)
        self.verify_bounds(source.shape)
        inferred = subview_type(source, self.static_offsets, self.static_sizes, self.static_strides)
        expected = f"expected result type to be '{inferred}' or a rank-reduced version."
        reduced = rank_reduced(inferred, target.shape)
        if target.element_type is not source.element_type:
            raise plain_error(
                self,
                f"expected result element type to be '{source.element_type}', but got '{target}'",
            )
        if reduced is None:
            raise plain_error(self, f"{expected} (mismatch of result sizes), but got '{target}'")
        if not self._same_layout(inferred, target):
            raise plain_error(self, f"{expected} (mismatch of result layout), but got '{target}'")

    def _same_layout(self, inferred: MemRefType, target: MemRefType) -> bool:
        """Whether the target has the inferred offset and the strides of the dimensions that it
        keeps.
        """
        dropped = dropped_dimensions(inferred, target, self.static_sizes)
        wanted, found = inferred.strides_and_offset(), target.strides_and_offset()
        if dropped is None or wanted is None or found is None or wanted[1] != found[1]:
            return False
        return found[0] == tuple(s for i, s in enumerate(wanted[0]) if i not in dropped)

    def fold(self) -> Sequence[Value | Attribute] | None:
        """A view of the whole source -> the source."""
        if self.result.type is not self.source.type or not self.source.type.has_static_shape:
            return None
        if self.offsets or any(self.static_offsets) or any(s != 1 for s in self.static_strides):
            return None
        return [self.source]

    def evaluate(self, source: Any, *rest: Any) -> Any:
        window, sizes = self.window(source.shape, source, *rest)
        return source[window].reshape(self._run_time_shape(sizes), copy=False)

    def _run_time_shape(self, sizes: list[int]) -> list[int]:
        """The sizes without the dimensions that the result type drops."""
        wanted = self.result.type.shape
        kept: list[int] = []
        for static, size in zip(to_dims(self.static_sizes), sizes, strict=True):
            if len(kept) < len(wanted) and compatible(static, wanted[len(kept)]):
                kept.append(size)
        return kept if len(kept) == len(wanted) else sizes


def _owner(array: Any) -> Any:
    """The array that owns the memory of an array."""
    while array.base is not None:
        # `as_strided` puts an object of its own between the two.
        base = (
            array.base if isinstance(array.base, np.ndarray) else getattr(array.base, "base", None)
        )
        if not isinstance(base, np.ndarray):
            break
        array = base
    return array


class ReinterpretCast(Slicing, _OfBuffer, name="memref.reinterpret_cast", traits=(Pure, ViewLike)):
    """A view of the source's buffer with any offset, sizes and strides, whatever the source has."""

    source: Operand = operand(AnyRankedOrUnrankedMemRef)

    result_name = "reinterpret_cast"
    format = (
        "$source `to` `offset` `` `:` custom<DynamicIndexList>($offsets, $static_offsets) "
        "`` `,` `sizes` `` `:` custom<DynamicIndexList>($sizes, $static_sizes) "
        "`` `,` `strides` `` `:` custom<DynamicIndexList>($strides, $static_strides) "
        "attr-dict `:` type($source) `to` type($result)"
    )
    example = (
        "%v = memref.reinterpret_cast %m to offset: [0], sizes: [%n, 4], strides: [4, 1] : "
        "memref<8x8xf32> to memref<?x4xf32>"
    )

    @staticmethod
    def of(
        source: Value, offset: Mixed, sizes: Sequence[Mixed], strides: Sequence[Mixed]
    ) -> ReinterpretCast:
        """Make the op from lists of numbers and values; they determine the type."""
        parts = [split(part) for part in ([offset], sizes, strides)]
        (at,), shape, steps = (to_dims(static) for _, static in parts)
        type = strided(source.type, shape, steps, at)  # type: ignore[arg-type]
        return ReinterpretCast(
            source, *(values for values, _ in parts), *(static for _, static in parts), result=type
        )

    def verify_op(self) -> None:
        target = self.result.type
        if self.source.type.element_type is not target.element_type:
            raise self.error("different element types specified for source and result")
        if len(self.static_offsets) != 1:
            raise self.error(f"expected 1 offset values, got {len(self.static_offsets)}")
        self.verify_lists(target.rank, "size", "stride")
        check_list(self, self.static_offsets, self.offsets, "offset")
        found = target.strides_and_offset()
        if found is None:
            raise self.error(f"expected result type to have strided layout but found {target}")
        (offset,) = to_dims(self.static_offsets)
        if not compatible(offset, found[1]):
            raise plain_error(
                self, f"expected result type with offset = {offset} instead of {found[1]}"
            )
        self._verify_lists("size", to_dims(self.static_sizes), target.shape)
        self._verify_lists("stride", to_dims(self.static_strides), found[0])

    def _verify_lists(self, what: str, given: Sequence[Any], typed: Sequence[Any]) -> None:
        for i, (a, b) in enumerate(zip(given, typed, strict=True)):
            if not compatible(a, b):
                raise plain_error(
                    self, f"expected result type with {what} = {a} instead of {b} in dim = {i}"
                )

    def evaluate(self, source: Any, *rest: Any) -> Any:
        """The array given is taken to start at its type's offset from the buffer's start."""
        from numpy.lib.array_utils import byte_bounds

        (offset,), sizes, steps = self.numbers_of(source, *rest)
        known = None
        if isinstance(self.source.type, MemRefType):
            known = self.source.type.strides_and_offset()
        start = offset - (known[1] or 0 if known else 0)
        owner = _owner(source)
        low, high = byte_bounds(owner)
        width = source.itemsize
        first = source.__array_interface__["data"][0] + start * width
        spans = [(n - 1) * s * width for n, s in zip(sizes, steps, strict=True)]
        least, most = first + sum(s for s in spans if s < 0), first + sum(s for s in spans if s > 0)
        if 0 not in sizes and (least < low or most + width > high):
            raise NncError("'memref.reinterpret_cast': the view exceeds the buffer", self.loc)
        raw = np.asarray(owner).reshape(-1).view(np.uint8)[first - low :]
        bytes_of = raw[: raw.size // width * width].view(source.dtype)
        return np.lib.stride_tricks.as_strided(bytes_of, sizes, [s * width for s in steps])
