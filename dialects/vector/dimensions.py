"""The dimensions of vector types, each a size and whether it is scalable."""

from __future__ import annotations

from ..vocabulary import *

Dimension = tuple[int, bool]


def dimensions(type: Any) -> list[Dimension]:
    """(size, whether it is scalable) of each dimension; none for a scalar."""
    if not isinstance(type, VectorType):
        return []
    flags = type.scalable or (False,) * len(type.shape)
    return list(zip(type.shape, flags, strict=True))


def vector_of(dims: Iterable[Dimension], element: Any) -> VectorType:
    """The vector of the dimensions; a vector without any is 0-d."""
    dims = list(dims)
    return VectorType(tuple(n for n, _ in dims), element, tuple(s for _, s in dims))


def vector_or_element(dims: Iterable[Dimension], element: Any) -> Type:
    """The vector of the dimensions; the element where there are none."""
    dims = list(dims)
    return vector_of(dims, element) if dims else element


def with_last(type: Any, size: int) -> VectorType:
    """The vector with another last dimension, as scalable as its own."""
    dims = dimensions(type) or [(1, False)]
    return vector_of([*dims[:-1], (size, dims[-1][1])], type.element_type)


def default_transfer_map(shaped: Any, vector: VectorType) -> AffineMap:
    """The permutation map of a transfer that names none: the last dimensions, in order."""
    rank, element = len(shaped.shape), shaped.element_type
    own = element.rank if isinstance(element, VectorType) else 0
    if rank == 0 and vector.shape == (1,):
        return AffineMap(0, 0, (AffineConstant(0),))
    first = max(0, rank - (vector.rank - own))
    return AffineMap(rank, 0, tuple(AffineDim(i) for i in range(first, rank)))


def transfer_mask_type(vector: VectorType, map: AffineMap) -> VectorType:
    """A bit for each element transferred, in the order of the memory's dimensions.

    A dimension that repeats an element has none; the mask of a single element has one lane.
    """
    used = [
        (e.position, n)
        for e, n in zip(map.results, dimensions(vector), strict=False)
        if isinstance(e, AffineDim)
    ]
    return vector_of([n for _, n in sorted(used)] or [(1, False)], i1)
