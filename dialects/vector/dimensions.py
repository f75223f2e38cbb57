"""The dimensions of vector types, each a size and whether it is scalable."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...ir.types import Type, VectorType

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
