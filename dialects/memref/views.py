"""The same memory in another shape: nothing here copies an element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ir.attributes import AffineMapAttr, ArrayAttr, Attribute, I64Attr
from ...ir.constraints import (
    AnyMemRef,
    AnyRankedOrUnrankedMemRef,
    AnyType,
    Constraint,
    Index,
)
from ...ir.core import Value
from ...ir.declare import (
    ARRAY,
    INT_ARRAY,
    Op,
    Operand,
    Operands,
    Result,
    Results,
    attribute,
    instance,
    operand,
    operands,
    result,
    results,
)
from ...ir.diagnostics import NncError
from ...ir.traits import Pure
from ...ir.types import (
    IndexType,
    IntegerType,
    MemRefType,
    Type,
    UnrankedMemRefType,
    index,
)
from ..index_lists import Mixed, by_field, check_list, mix, plain_error, split, to_dims
from .layouts import (
    collapsed_strides,
    compatible,
    expanded_strides,
    rank_reduced,
    reshaped,
    strided,
    subview_type,
)

ByteBuffer = Constraint(
    "1D memref of 8-bit signless integer values",
    lambda t: isinstance(t, MemRefType) and t.rank == 1 and t.element_type is IntegerType(8),
)
IndexBuffer = Constraint(
    "1D memref of signless integer or index values",
    lambda t: (
        isinstance(t, MemRefType)
        and t.rank == 1
        and isinstance(t.element_type, IntegerType | IndexType)
    ),
)


def _steps(array: Any) -> list[int]:
    """Strides in elements."""
    return [s // array.itemsize for s in array.strides]


def reassociation(groups: Sequence[Sequence[int]]) -> ArrayAttr:
    """`[[0], [1, 2]]` as upstream's attribute of i64 arrays."""
    return ArrayAttr(tuple(ArrayAttr(tuple(I64Attr(i) for i in group)) for group in groups))


class View(Op, name="memref.view", traits=(Pure,)):
    """Bytes from a shift on, as a contiguous memref of another type."""

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
            raise self.error(f"unsupported map for result memref type {type}")
        if self.source.type.memory_space is not type.memory_space:
            raise self.error("different memory spaces specified for base memref type and view")
        wanted = sum(d is None for d in type.shape)
        if len(self.sizes) != wanted:
            raise self.error(
                f"incorrect number of dynamic sizes, has {len(self.sizes)}, expected {wanted}"
            )

    def evaluate(self, source: Any, byte_shift: Any, *sizes: Any) -> Any:
        import math

        from ...ir.numpy_types import type_to_numpy

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


class SubView(Op, name="memref.subview", traits=(Pure,)):
    """A rectangular, possibly strided part; the result may drop dimensions of size 1."""

    source: Operand = operand(AnyMemRef)
    offsets: Operands = operands(Index)
    sizes: Operands = operands(Index)
    strides: Operands = operands(Index)
    static_offsets = attribute(INT_ARRAY)
    static_sizes = attribute(INT_ARRAY)
    static_strides = attribute(INT_ARRAY)
    result: Result = result(AnyMemRef)

    result_name = "subview"
    format = (
        "$source `` custom<DynamicIndexList>($offsets, $static_offsets) "
        "custom<DynamicIndexList>($sizes, $static_sizes) "
        "custom<DynamicIndexList>($strides, $static_strides) "
        "attr-dict `:` type($source) `to` type($result)"
    )
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
        """From mixed lists; the type is inferred, reduced to `shape` where that is given."""
        steps = strides if strides is not None else [1] * len(offsets)
        parts = [split(part) for part in (offsets, sizes, steps)]
        type = subview_type(source.type, *(static for _, static in parts))  # type: ignore[arg-type]
        if shape is not None:
            reduced = rank_reduced(type, shape)
            if reduced is None:
                raise NncError(f"memref.subview: {shape} is no reduction of {type}")
            type = reduced
        return SubView(
            source, *(values for values, _ in parts), *(static for _, static in parts), result=type
        )

    @property
    def mixed_offsets(self) -> list[Mixed]:
        return mix(self.static_offsets, self.offsets)

    @property
    def mixed_sizes(self) -> list[Mixed]:
        return mix(self.static_sizes, self.sizes)

    @property
    def mixed_strides(self) -> list[Mixed]:
        return mix(self.static_strides, self.strides)

    def verify_op(self) -> None:
        source, target = self.source.type, self.result.type
        for what in ("offset", "size", "stride"):
            static = getattr(self, f"static_{what}s")
            if len(static) != source.rank:
                raise plain_error(self, f"expected {source.rank} {what} values, got {len(static)}")
            check_list(self, static, getattr(self, f"{what}s"), what)
        self._verify_bounds(source)
        inferred = subview_type(source, self.static_offsets, self.static_sizes, self.static_strides)
        expected = f"expected result type to be '{inferred}' or a rank-reduced version."
        reduced = rank_reduced(inferred, target.shape)
        if target.element_type is not source.element_type:
            raise plain_error(
                self, f"{expected} (mismatch of result element type), but got '{target}'"
            )
        if target.memory_space is not source.memory_space:
            raise plain_error(
                self, f"{expected} (mismatch of result memory space), but got '{target}'"
            )
        if reduced is None:
            raise plain_error(self, f"{expected} (mismatch of result sizes), but got '{target}'")
        if not _same_layout(reduced, target):
            raise plain_error(self, f"{expected} (mismatch of result layout), but got '{target}'")

    def _verify_bounds(self, source: MemRefType) -> None:
        lists = (self.static_offsets, self.static_sizes, self.static_strides)
        for i, (offset, size, step) in enumerate(zip(*map(to_dims, lists), strict=True)):
            extent = source.shape[i]
            if offset is None or extent is None:
                continue
            if not 0 <= offset <= extent or (offset == extent and size not in (0, None)):
                raise plain_error(self, f"offset {i} is out-of-bounds: {offset} >= {extent}")
            if size is not None and step is not None and size > 0:
                last = offset + (size - 1) * step
                if not 0 <= last < extent:
                    raise plain_error(
                        self, f"slice along dimension {i} runs out-of-bounds: {last} >= {extent}"
                    )

    def fold(self) -> Sequence[Value | Attribute] | None:
        """A view of everything is the source itself."""
        if self.result.type is not self.source.type or not self.source.type.has_static_shape:
            return None
        if self.offsets or any(self.static_offsets) or any(s != 1 for s in self.static_strides):
            return None
        return [self.source]

    def evaluate(self, source: Any, *rest: Any) -> Any:
        given = by_field(self, [source, *rest])
        starts = [int(v) for v in mix(self.static_offsets, given["offsets"])]
        sizes = [int(v) for v in mix(self.static_sizes, given["sizes"])]
        steps = [int(v) for v in mix(self.static_strides, given["strides"])]
        for i, (start, size, step) in enumerate(zip(starts, sizes, steps, strict=True)):
            last = start + (size - 1) * step
            extent = source.shape[i]
            if size < 0 or (size and not (0 <= start < extent and 0 <= last < extent)):
                raise NncError(
                    f"'memref.subview': offset {start}, size {size}, stride {step} do not fit "
                    f"dimension {i} of size {extent}",
                    self.loc,
                )
        window = source[tuple(map(_slice, starts, sizes, steps))]
        return window.reshape(self._run_time_shape(sizes), copy=False)

    def _run_time_shape(self, sizes: list[int]) -> list[int]:
        """The sizes without the dimensions that the result type drops."""
        wanted = self.result.type.shape
        kept: list[int] = []
        for static, size in zip(to_dims(self.static_sizes), sizes, strict=True):
            if len(kept) < len(wanted) and compatible(static, wanted[len(kept)]):
                kept.append(size)
        return kept if len(kept) == len(wanted) else sizes


def _slice(start: int, size: int, step: int) -> slice:
    if not size:
        return slice(0, 0)
    end = start + (size - 1) * step + (1 if step > 0 else -1)
    return slice(start, end if end >= 0 else None, step or 1)


def _same_layout(a: MemRefType, b: MemRefType) -> bool:
    found, wanted = a.strides_and_offset(), b.strides_and_offset()
    if found is None or wanted is None:
        return a.layout is b.layout
    # The stride of a dimension of size 1 says nothing.
    strides = zip(found[0], wanted[0], a.shape, strict=True)
    return found[1] == wanted[1] and all(x == y or n == 1 for x, y, n in strides)


class ReinterpretCast(Op, name="memref.reinterpret_cast", traits=(Pure,)):
    """The underlying buffer with any offset, sizes and strides, whatever the source's are."""

    source: Operand = operand(AnyRankedOrUnrankedMemRef)
    offsets: Operands = operands(Index)
    sizes: Operands = operands(Index)
    strides: Operands = operands(Index)
    static_offsets = attribute(INT_ARRAY)
    static_sizes = attribute(INT_ARRAY)
    static_strides = attribute(INT_ARRAY)
    result: Result = result(AnyMemRef)

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
        """From mixed lists, with the type that they say."""
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
        for what in ("size", "stride"):
            static = getattr(self, f"static_{what}s")
            if len(static) != target.rank:
                raise plain_error(self, f"expected {target.rank} {what} values, got {len(static)}")
        for what in ("offset", "size", "stride"):
            check_list(self, getattr(self, f"static_{what}s"), getattr(self, f"{what}s"), what)
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
        import numpy as np
        from numpy.lib.array_utils import byte_bounds

        given = by_field(self, [source, *rest])
        (offset,) = (int(v) for v in mix(self.static_offsets, given["offsets"]))
        sizes = [int(v) for v in mix(self.static_sizes, given["sizes"])]
        steps = [int(v) for v in mix(self.static_strides, given["strides"])]
        known = None
        if isinstance(self.source.type, MemRefType):
            known = self.source.type.strides_and_offset()
        start = offset - (known[1] or 0 if known else 0)
        owner = source
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
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


class _Reassociating(Op):
    """Shared by the two reshapes that group neighbouring dimensions."""

    @property
    def groups(self) -> list[list[int]]:
        """The dimensions of the larger shape that make one of the smaller."""
        return [[int(i) for i in group] for group in self.reassociation]  # type: ignore[attr-defined]

    def _verify_groups(self, small: MemRefType, large: MemRefType) -> None:
        groups = self.groups
        if len(groups) != small.rank:
            raise self.error(
                f"invalid number of reassociation groups: found {len(groups)}, "
                f"expected {small.rank}"
            )
        if groups and [i for group in groups for i in group] != list(range(large.rank)):
            raise self.error("expected reassociation indices to be contiguous")
        for group, extent in zip(groups, small.shape, strict=True):
            sizes = [large.shape[i] for i in group]
            if None in sizes or extent is None:
                continue
            total = 1
            for size in sizes:
                total *= size  # type: ignore[operator]
            if total != extent:
                raise self.error(
                    f"collapsed dim size ({extent}) must equal reassociation group size ({total})"
                )


class ExpandShape(_Reassociating, name="memref.expand_shape", traits=(Pure,)):
    """Dimensions split in several."""

    src: Operand = operand(AnyMemRef)
    output_shape: Operands = operands(Index)
    reassociation = attribute(ARRAY)
    static_output_shape = attribute(INT_ARRAY)
    result: Result = result(AnyMemRef)

    result_name = "expand_shape"
    format = (
        "$src $reassociation `output_shape` "
        "custom<DynamicIndexList>($output_shape, $static_output_shape) "
        "attr-dict `:` type($src) `into` type($result)"
    )
    example = (
        "%e = memref.expand_shape %m [[0], [1, 2]] output_shape [%n, 2, 2] : "
        "memref<?x4xf32> into memref<?x2x2xf32>"
    )

    @staticmethod
    def of(src: Value, groups: Sequence[Sequence[int]], shape: Sequence[Mixed]) -> ExpandShape:
        """From the groups and the full new shape; the type is inferred."""
        values, static = split(shape)
        found = expanded_strides(src.type, groups, to_dims(static))  # type: ignore[arg-type]
        if found is None:
            raise NncError(f"memref.expand_shape: {src.type} has no strided layout")
        type = reshaped(src.type, to_dims(static), *found)  # type: ignore[arg-type]
        return ExpandShape(src, values, reassociation(groups), static, result=type)

    def verify_op(self) -> None:
        source, target = self.src.type, self.result.type
        self._verify_groups(source, target)
        if len(self.static_output_shape) != target.rank:
            raise self.error(
                f"expected number of static shape bounds to be equal to the output rank "
                f"({target.rank}) but found {len(self.static_output_shape)} inputs instead"
            )
        check_list(self, self.static_output_shape, self.output_shape, "output shape")
        for i, size in enumerate(to_dims(self.static_output_shape)):
            if size is not None and size != target.shape[i]:
                raise self.error(f"invalid output shape provided at pos {i}")
        found = expanded_strides(source, self.groups, target.shape)
        if found is None:
            raise self.error("invalid source layout map")
        expected = reshaped(source, target.shape, *found)
        if not _same_layout(expected, target):
            raise self.error(f"expected expanded type to be '{expected}' but found '{target}'")

    def fold(self) -> Sequence[Value | Attribute] | None:
        """expand(collapse(x)) -> x of the same type."""
        if self.result.type is self.src.type:
            return [self.src]
        inner = self.src.defined_by(CollapseShape)
        if inner and inner.src.type is self.result.type and self.result.type.has_static_shape:
            return [inner.src]
        return None

    def evaluate(self, src: Any, *output_shape: Any) -> Any:
        shape = [int(v) for v in mix(self.static_output_shape, output_shape)]
        return _reshape_in_place(self, src, shape)


class CollapseShape(_Reassociating, name="memref.collapse_shape", traits=(Pure,)):
    """Neighbouring dimensions joined; they must be contiguous in memory."""

    src: Operand = operand(AnyMemRef)
    reassociation = attribute(ARRAY)
    result: Result = result(AnyMemRef)

    result_name = "collapse_shape"
    format = "$src $reassociation attr-dict `:` type($src) `into` type($result)"
    example = "%c = memref.collapse_shape %m [[0, 1]] : memref<?x4xf32> into memref<?xf32>"

    @staticmethod
    def of(src: Value, groups: Sequence[Sequence[int]]) -> CollapseShape:
        """From the groups; the type is inferred. Raises NncError where it is not contiguous."""
        from .layouts import product

        source = src.type
        found = collapsed_strides(source, groups)  # type: ignore[arg-type]
        if found is None:
            raise NncError(f"memref.collapse_shape: {source} is not contiguous in {groups}")
        shape = [product(*(source.shape[i] for i in group)) for group in groups]  # type: ignore[attr-defined]
        type = reshaped(source, shape, *found)  # type: ignore[arg-type]
        return CollapseShape(src, reassociation(groups), result=type)

    def verify_op(self) -> None:
        source, target = self.src.type, self.result.type
        self._verify_groups(target, source)
        found = collapsed_strides(source, self.groups)
        if found is None:
            raise self.error("invalid source layout map or collapsing non-contiguous dims")
        expected = reshaped(source, target.shape, *found)
        if not _same_layout(expected, target):
            raise self.error(f"expected collapsed type to be '{expected}' but found '{target}'")

    def fold(self) -> Sequence[Value | Attribute] | None:
        """collapse(expand(x)) -> x of the same type."""
        if self.result.type is self.src.type:
            return [self.src]
        inner = self.src.defined_by(ExpandShape)
        if inner and inner.src.type is self.result.type and self.result.type.has_static_shape:
            return [inner.src]
        return None

    def evaluate(self, src: Any) -> Any:
        import math

        return _reshape_in_place(
            self, src, [math.prod(src.shape[i] for i in group) for group in self.groups]
        )


def _reshape_in_place(op: Op, array: Any, shape: list[int]) -> Any:
    try:
        return array.reshape(shape, copy=False)
    except ValueError:
        raise NncError(
            f"'{op.name}': {array.shape} with strides {_steps(array)} is no view of {shape}", op.loc
        ) from None


class Cast(Op, name="memref.cast", traits=(Pure,)):
    """The same view under a type that knows more or less about it."""

    source: Operand = operand(AnyRankedOrUnrankedMemRef)
    dest: Result = result(AnyRankedOrUnrankedMemRef)

    result_name = "cast"
    format = "$source attr-dict `:` type($source) `to` type($dest)"
    example = "%c = memref.cast %m : memref<8x8xf32> to memref<?x8xf32>"

    def verify_op(self) -> None:
        source, target = self.source.type, self.dest.type
        if not castable(source, target):
            raise self.error(
                f"operand type '{source}' and result type '{target}' are cast incompatible"
            )

    def fold(self) -> Sequence[Value | Attribute] | None:
        """cast to the own type -> the source; cast(cast(x)) back to x's type -> x."""
        if self.source.type is self.dest.type:
            return [self.source]
        inner = self.source.defined_by(Cast)
        return [inner.source] if inner and inner.source.type is self.dest.type else None

    def evaluate(self, source: Any) -> Any:
        target = self.dest.type
        if isinstance(target, MemRefType) and not (
            source.ndim == target.rank and all(map(compatible, source.shape, target.shape))
        ):
            raise NncError(f"'memref.cast': {source.shape} is not of type {target}", self.loc)
        return source


def castable(source: Type, target: Type) -> bool:
    """Whether `memref.cast` goes between the types."""
    if source.element_type is not target.element_type:  # type: ignore[attr-defined]
        return False
    if source.memory_space is not target.memory_space:  # type: ignore[attr-defined]
        return False
    if isinstance(source, UnrankedMemRefType) or isinstance(target, UnrankedMemRefType):
        return not (
            isinstance(source, UnrankedMemRefType) and isinstance(target, UnrankedMemRefType)
        )
    if source.rank != target.rank:  # type: ignore[attr-defined]
        return False
    if not all(map(compatible, source.shape, target.shape)):  # type: ignore[attr-defined]
        return False
    a, b = source.strides_and_offset(), target.strides_and_offset()  # type: ignore[attr-defined]
    if a is None or b is None:
        return source.layout is target.layout  # type: ignore[attr-defined]
    return compatible(a[1], b[1]) and all(map(compatible, a[0], b[0]))


class MemorySpaceCast(Op, name="memref.memory_space_cast", traits=(Pure,)):
    """The same buffer, named in another memory space."""

    source: Operand = operand(AnyRankedOrUnrankedMemRef)
    dest: Result = result(AnyRankedOrUnrankedMemRef)

    result_name = "memspacecast"
    format = "$source attr-dict `:` type($source) `to` type($dest)"
    example = "%c = memref.memory_space_cast %m : memref<8x8xf32> to memref<8x8xf32, 1>"

    def verify_op(self) -> None:
        source, target = self.source.type, self.dest.type
        same = getattr(source, "shape", None) == getattr(target, "shape", None)
        if not same or source.element_type is not target.element_type:
            raise self.error(
                f"operand type '{source}' and result type '{target}' are cast incompatible"
            )

    def evaluate(self, source: Any) -> Any:
        return source


class Transpose(Op, name="memref.transpose", traits=(Pure,)):
    """The dimensions in another order; only strides change."""

    # "in" is the source's name upstream, a keyword here.
    source: Operand = operand(AnyMemRef)
    permutation = attribute(instance(AffineMapAttr))
    result: Result = result(AnyMemRef)

    result_name = "transpose"
    format = (
        "$source custom<AffineMapBody>($permutation) attr-dict `:` type($source) `to` type($result)"
    )
    example = (
        "%t = memref.transpose %m (d0, d1) -> (d1, d0) : "
        "memref<4x8xf32> to memref<8x4xf32, strided<[1, 8]>>"
    )

    @property
    def order(self) -> list[int]:
        """Which source dimension each result dimension is."""
        return [e.position for e in self.permutation.map.results]  # type: ignore[union-attr]

    def verify_op(self) -> None:
        source, target = self.source.type, self.result.type
        mapping = self.permutation.map
        if not mapping.is_projected_permutation() or len(mapping.results) != mapping.dim_count:
            raise self.error("expected a permutation map")
        if mapping.dim_count != source.rank:
            raise self.error("expected a permutation map of same rank as the input")
        found = source.strides_and_offset()
        if found is None:
            raise self.error(f"source type '{source}' has no strided layout")
        expected = strided(
            source,
            [source.shape[i] for i in self.order],
            [found[0][i] for i in self.order],
            found[1],
        )
        if expected.shape != target.shape or not _same_layout(expected, target):
            raise self.error(
                f"result type '{target}' is not equivalent to the canonical transposed input "
                f"type '{expected}'"
            )

    def evaluate(self, source: Any) -> Any:
        return source.transpose(self.order)


class Reshape(Op, name="memref.reshape", traits=(Pure,)):
    """A contiguous memref in the shape that another memref holds."""

    source: Operand = operand(AnyRankedOrUnrankedMemRef)
    shape: Operand = operand(IndexBuffer)
    result: Result = result(AnyRankedOrUnrankedMemRef)

    result_name = "reshape"
    format = "$source `(` $shape `)` attr-dict `:` functional-type(operands, results)"
    example = "%r = memref.reshape %m(%s) : (memref<8x8xf32>, memref<2xindex>) -> memref<?x?xf32>"

    def verify_op(self) -> None:
        source, target = self.source.type, self.result.type
        if source.element_type is not target.element_type:
            raise self.error(
                "element types of source and destination memref types should be the same"
            )
        for type, which in ((source, "source"), (target, "result")):
            if isinstance(type, MemRefType) and type.layout is not None:
                raise self.error(f"{which} memref type should have identity affine map")
        count = self.shape.type.shape[0]
        if isinstance(target, MemRefType):
            if count is None:
                raise self.error(
                    "cannot use shape operand with dynamic length to reshape to "
                    "statically-ranked memref type"
                )
            if count != target.rank:
                raise self.error("length of shape operand differs from the result's memref rank")

    def evaluate(self, source: Any, shape: Any) -> Any:
        return _reshape_in_place(self, source, [int(n) for n in shape])


class ExtractStridedMetadata(Op, name="memref.extract_strided_metadata", traits=(Pure,)):
    """The buffer's start, and the offset, sizes and strides of the view."""

    source: Operand = operand(AnyMemRef)
    base_buffer: Result = result(AnyMemRef)
    offset: Result = result(Index)
    extents: Results = results(Index, doc="all sizes, then all strides")

    format = "$source `:` type($source) `->` type(results) attr-dict"
    example = (
        "%base, %offset, %sizes, %strides = memref.extract_strided_metadata %m : "
        "memref<8xf32> -> memref<f32>, index, index, index"
    )

    def result_names(self) -> list[str | None]:
        """Upstream's names for the parts."""
        rank = self.source.type.rank  # type: ignore[attr-defined]
        sizes, strides = (["sizes"], ["strides"]) if rank else ([], [])
        rest = [None] * (rank - 1)
        return ["base_buffer", "offset", *sizes, *rest, *strides, *rest]

    @property
    def sizes(self) -> tuple[Value, ...]:
        return self.extents[: self.source.type.rank]

    @property
    def strides(self) -> tuple[Value, ...]:
        return self.extents[self.source.type.rank :]

    @classmethod
    def infer_result_types(cls, operand_types: Any, properties: Any, regions: Any = ()):
        """A memref of one element, the offset, sizes and strides."""
        (source,) = operand_types
        base = MemRefType((), source.element_type, None, source.memory_space)
        return [base, index, *([index] * (2 * source.rank))]

    def verify_op(self) -> None:
        inferred = self.infer_result_types([self.source.type], {})
        if inferred != self.result_types:
            wanted = ", ".join(f"'{t}'" for t in inferred)
            found = ", ".join(f"'{t}'" for t in self.result_types)
            raise self.error(
                f"inferred type(s) {wanted} are incompatible with return type(s) of operation "
                f"{found}"
            )

    def evaluate(self, source: Any) -> Any:
        """The start is the view's own where the type does not say the offset."""
        import numpy as np

        found = self.source.type.strides_and_offset()
        offset = (found[1] or 0) if found else 0
        base = np.lib.stride_tricks.as_strided(source, (), ())
        if offset:
            at = ReinterpretCast.of(self.source, 0, [], [])
            base = at.evaluate(source)
            at.drop_all_references()
        sizes = [np.int64(n) for n in source.shape]
        strides = [np.int64(n) for n in _steps(source)]
        return (base, np.int64(offset), *sizes, *strides)


class ExtractAlignedPointerAsIndex(
    Op, name="memref.extract_aligned_pointer_as_index", traits=(Pure,)
):
    """The address of the buffer as a number."""

    source: Operand = operand(AnyType)
    aligned_pointer: Result = result(Index)

    result_name = "intptr"
    format = "$source `:` type($source) `->` type(results) attr-dict"
    example = "%p = memref.extract_aligned_pointer_as_index %m : memref<8xf32> -> index"

    def evaluate(self, source: Any) -> Any:
        import numpy as np

        return np.int64(source.__array_interface__["data"][0])
