"""Slices of a tensor, at indices that a tensor holds, taken out or put in."""

from __future__ import annotations

from ..vocabulary import *

IndexTensor = Constraint(
    "ranked tensor of signless integer or index values",
    lambda t: (
        isinstance(t, TensorType)
        and (
            isinstance(t.element_type, IndexType)
            or (isinstance(t.element_type, IntegerType) and t.element_type.is_signless)
        )
    ),
)


def gathered_type(
    source: TensorType, indices: TensorType, dims: Sequence[int], reduced: bool
) -> TensorType:
    """The result type of a gather: a slice for each row of `indices` (its last dimension).

    The gathered dimensions `dims` have size 1 in a slice, or are dropped if `reduced`.
    """
    inner = [
        1 if i in dims else extent
        for i, extent in enumerate(source.shape)
        if not (reduced and i in dims)
    ]
    return TensorType((*indices.shape[:-1], *inner), source.element_type)


class _Indexed(Op, traits=(Pure,)):
    """Base of gather and scatter."""

    def verify_dims(self, dims: Sequence[int], indices: TensorType, rank: int) -> None:
        """Check that `dims` ascend, and that a row of `indices` has a coordinate for each."""
        word = self.name.partition(".")[2]
        whole = "source" if word == "gather" else "dest"
        if not dims:
            raise self.error(f"{word}_dims must be non-empty")
        if len(dims) > rank:
            raise self.error(f"{word}_dims overflow {whole} rank")
        if not indices.shape or indices.shape[-1] != len(dims):
            raise self.error(f"{word}_dims length must match the size of last dimension of indices")
        for before, dim in zip((-1, *dims), dims, strict=False):
            if dim < 0:
                raise self.error(f"{word}_dims value must be non-negative")
            if dim >= rank:
                raise self.error(f"{word}_dims value must be smaller than {whole} rank")
            if dim <= before:
                raise self.error(f"{word}_dims values must be strictly increasing")

    def expect(self, what: str, found: Any, whole: Any, indices: Any, dims: Sequence[int]) -> None:
        """Check that `found` is the type of the slices, with or without the gathered dimensions."""
        full, less = (gathered_type(whole, indices, dims, reduced) for reduced in (False, True))
        if found not in (full, less):
            raise self.error(
                f"{what} type mismatch: expected '{full}' or its rank-reduced variant '{less}' "
                f"(got: '{found}')"
            )

    def places(self, array: Any, indices: Any, dims: Sequence[int]) -> tuple[Any, ...]:
        """The NumPy index of the slices in an array whose gathered dimensions were moved to the
        front.
        """
        coordinates = np.moveaxis(np.asarray(indices), -1, 0)
        for dim, at in zip(dims, coordinates, strict=True):
            if at.size and (at.min() < 0 or at.max() >= array.shape[dim]):
                raise NncError(
                    f"'{self.name}': an index of dimension {dim} is out of bounds for size "
                    f"{array.shape[dim]}",
                    self.loc,
                )
        return tuple(coordinates)


class Gather(_Indexed, name="tensor.gather"):
    """Slices of a tensor; each row of `indices` has the coordinates of one in `gather_dims`."""

    source: Operand = operand(AnyRankedTensor)
    indices: Operand = operand(IndexTensor)
    gather_dims = attribute(INT_ARRAY)
    unique = attribute(UNIT, optional=True)
    result: Result = result(AnyRankedTensor)

    format = (
        "$source `[` $indices `]` `gather_dims` `(` $gather_dims `)` (`unique` $unique^)? "
        "attr-dict `:` functional-type(operands, results)"
    )
    result_name = "gather"
    example = (
        "%gather = tensor.gather %a[%i] gather_dims([1]) unique : "
        "(tensor<3x4x5xf32>, tensor<6x7x1xindex>) -> tensor<6x7x3x1x5xf32>"
    )

    def verify_op(self) -> None:
        source, indices = self.source.type, self.indices.type
        self.verify_dims(self.gather_dims, indices, source.rank)  # type: ignore[arg-type,attr-defined]
        self.expect("result", self.result.type, source, indices, self.gather_dims)

    def evaluate(self, source: Any, indices: Any) -> Any:
        dims = self.gather_dims
        at = self.places(source, indices, dims)
        slices = np.moveaxis(source, dims, range(len(dims)))[at]
        shape = list(source.shape)
        for dim in dims:
            shape[dim] = 1
        if self.result.type.rank < len(indices.shape) - 1 + len(shape):  # type: ignore[attr-defined]
            return slices
        return slices.reshape((*indices.shape[:-1], *shape))


class Scatter(_Indexed, name="tensor.scatter"):
    """A tensor with slices replaced; each row of `indices` has the place of one in
    `scatter_dims`.
    """

    source: Operand = operand(AnyRankedTensor)
    dest: Operand = operand(AnyRankedTensor)
    indices: Operand = operand(IndexTensor)
    scatter_dims = attribute(INT_ARRAY)
    unique = attribute(UNIT, optional=True)
    result: Result = result(AnyRankedTensor)

    format = (
        "$source `into` $dest `[` $indices `]` `scatter_dims` `(` $scatter_dims `)` "
        "(`unique` $unique^)? attr-dict `:` functional-type(operands, results)"
    )
    result_name = "scatter"
    example = (
        "%scatter = tensor.scatter %a into %b[%i] scatter_dims([1]) unique : "
        "(tensor<6x3x5xf32>, tensor<3x4x5xf32>, tensor<6x1xindex>) -> tensor<3x4x5xf32>"
    )

    def verify_op(self) -> None:
        dest, indices = self.dest.type, self.indices.type
        self.verify_dims(self.scatter_dims, indices, dest.rank)  # type: ignore[arg-type,attr-defined]
        if not self.unique:
            raise self.error("requires 'unique' attribute to be set")
        self.expect("source", self.source.type, dest, indices, self.scatter_dims)

    def evaluate(self, source: Any, dest: Any, indices: Any) -> Any:
        dims = self.scatter_dims
        found = dest.copy()
        front = np.moveaxis(found, dims, range(len(dims)))
        at = self.places(dest, indices, dims)
        rest = [n for i, n in enumerate(dest.shape) if i not in dims]
        front[at] = source.reshape((*indices.shape[:-1], *rest))
        return found
