"""Views of the same elements in another shape."""

from __future__ import annotations

import math

from ...ir.declare import I64_ARRAYS
from ..index_lists import Mixed, check_list, mix, split, to_dims
from ..reassociation import Reassociating, reassociation
from ..vocabulary import *
from .aliasing import ViewLike
from .layouts import (
    collapsed_strides,
    element_strides,
    expanded_strides,
    product,
    reshaped,
    same_layout,
)

IndexBuffer = Constraint(
    "1D memref of signless integer or index values",
    lambda t: (
        isinstance(t, MemRefType)
        and t.rank == 1
        and isinstance(t.element_type, IntegerType | IndexType)
    ),
)


class _Reassociating(Reassociating):
    """Base of the two reshapes that split or join neighbouring dimensions."""

    def _verify_groups(self, small: MemRefType, large: MemRefType) -> None:
        groups = self.groups
        if len(groups) != small.rank:
            raise self.error(
                f"invalid number of reassociation groups: found {len(groups)}, "
                f"expected {small.rank}"
            )
        self.verify_contiguous(large.rank)
        for group, extent in zip(groups, small.shape, strict=True):
            sizes = [large.shape[i] for i in group]
            if None in sizes or extent is None:
                continue
            total = math.prod(sizes)  # type: ignore[arg-type]
            if total != extent:
                raise self.error(
                    f"collapsed dim size ({extent}) must equal reassociation group size ({total})"
                )


class ExpandShape(_Reassociating, name="memref.expand_shape", traits=(Pure, ViewLike)):
    """A view with dimensions split into several."""

    src: Operand = operand(AnyMemRef)
    output_shape: Operands = operands(Index)
    reassociation = attribute(I64_ARRAYS)
    static_output_shape = attribute(INT_ARRAY)
    result: Result = result(AnyMemRef)

    inverse = "memref.collapse_shape"
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
        """Make the op from the groups and the whole new shape; the result type is inferred."""
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
            if target.shape[i] not in (None, size):
                raise self.error(f"invalid output shape provided at pos {i}")
        found = expanded_strides(source, self.groups, target.shape)
        if found is None:
            raise self.error("invalid source layout map")
        expected = reshaped(source, target.shape, *found)
        if not same_layout(expected, target):
            raise self.error(f"expected expanded type to be '{expected}' but found '{target}'")

    def evaluate(self, src: Any, *output_shape: Any) -> Any:
        shape = [int(v) for v in mix(self.static_output_shape, output_shape)]
        return _reshape_in_place(self, src, shape)


class CollapseShape(_Reassociating, name="memref.collapse_shape", traits=(Pure, ViewLike)):
    """A view with neighbouring dimensions joined; these must be contiguous in memory."""

    src: Operand = operand(AnyMemRef)
    reassociation = attribute(I64_ARRAYS)
    result: Result = result(AnyMemRef)

    inverse = "memref.expand_shape"
    result_name = "collapse_shape"
    format = "$src $reassociation attr-dict `:` type($src) `into` type($result)"
    example = "%c = memref.collapse_shape %m [[0, 1]] : memref<?x4xf32> into memref<?xf32>"

    @staticmethod
    def of(src: Value, groups: Sequence[Sequence[int]]) -> CollapseShape:
        """Make the op from the groups; the result type is inferred.

        Raises NncError where a group is not contiguous.
        """
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
        if not same_layout(expected, target):
            raise self.error(f"expected collapsed type to be '{expected}' but found '{target}'")

    def evaluate(self, src: Any) -> Any:
        return _reshape_in_place(
            self, src, [math.prod(src.shape[i] for i in group) for group in self.groups]
        )


def _reshape_in_place(op: Op, array: Any, shape: list[int]) -> Any:
    try:
        return array.reshape(shape, copy=False)
    except ValueError:
        raise NncError(
            f"'{op.name}': {array.shape} with strides {element_strides(array)} is not a view of "
            f"{shape}",
            op.loc,
        ) from None


class Reshape(Op, name="memref.reshape", traits=(Pure, ViewLike)):
    """A view of a contiguous memref in the shape that another memref holds."""

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
