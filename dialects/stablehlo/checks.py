"""Checks shared by the verifiers of stablehlo: matching shapes, lists of dimensions."""

from __future__ import annotations

from ...ir.types import Dim
from ..quant import UniformType
from ..vocabulary import *


def shaped(type: Type) -> Any:
    """The type, as a shaped one; unranked tensors are allowed."""
    return type


def fits(a: Dim, b: Dim) -> bool:
    """Whether two extents may be the same."""
    return a is None or b is None or a == b


def shapes_fit(a: Sequence[Dim], b: Sequence[Dim]) -> bool:
    """Whether two shapes may be the same."""
    return len(a) == len(b) and all(map(fits, a, b))


def same_elements(a: Type, b: Type) -> bool:
    """Whether two types of elements are one, or one of them is quantized: scales may differ."""
    return a is b or isinstance(a, UniformType) or isinstance(b, UniformType)


def types_fit(a: Type, b: Type) -> bool:
    """Whether a value of one type may be one of the other: unknown extents may be any."""
    if not is_ranked(a, b):
        return a is b or isinstance(a, UnrankedTensorType) or isinstance(b, UnrankedTensorType)
    same = same_elements(a.element_type, b.element_type)  # type: ignore[attr-defined]
    return same and shapes_fit(a.shape, b.shape)  # type: ignore[attr-defined]


def tensor(op: Operation, type: Type, what: str) -> TensorType:
    """A type that must be that of a ranked tensor."""
    if not isinstance(type, TensorType):
        raise op.error(f"{what} must be a ranked tensor, but got '{type}'")
    return type


def is_ranked(*types: Type) -> bool:
    """Whether all types are those of ranked tensors, so that there are shapes to check."""
    return all(isinstance(t, TensorType) for t in types)


def check_same_shape(op: Operation, first: int = 0) -> None:
    """All operands from the first on, and the results, must have one shape."""
    types = [*op.operand_types[first:], *op.result_types]
    known = [t for t in types if isinstance(t, TensorType)]
    for type in types:
        if not isinstance(type, TensorType | UnrankedTensorType):
            raise op.error(f"operands and results must be tensors, but got '{type}'")
    for type in known[1:]:
        if not shapes_fit(known[0].shape, type.shape):
            raise op.error("requires compatible shapes for all operands and results")


def check_dims(
    op: Operation, dims: Sequence[int], rank: int, what: str, *, ordered: bool = False
) -> None:
    """Dimensions must be in range, each at most once; ordered ones must ascend."""
    for dim in dims:
        if not 0 <= dim < rank:
            raise op.error(f"{what}: {dim} is out of range for rank {rank}")
    if len(set(dims)) != len(dims):
        raise op.error(f"{what}: a dimension occurs twice in {list(dims)}")
    if ordered and list(dims) != sorted(dims):
        raise op.error(f"{what}: dimensions must be sorted")


def check_result(op: Operation, shape: Sequence[Dim], element: Type | None, at: int = 0) -> None:
    """A result must have this shape and element type."""
    found = op.result_types[at]
    if not isinstance(found, TensorType):
        return
    wrong_element = element is not None and not same_elements(found.element_type, element)
    if wrong_element or not shapes_fit(shape, found.shape):
        extents = "x".join("?" if d is None else str(d) for d in shape)
        inner = element or found.element_type
        wanted = f"{extents}x{inner}" if extents else str(inner)
        raise op.error(f"inferred type 'tensor<{wanted}>' does not fit result type '{found}'")


def check_count(op: Operation, values: Sequence[Any] | None, count: int, what: str) -> None:
    """Check that a list, if given, has `count` entries."""
    if values is not None and len(values) != count:
        raise op.error(f"{what}: expected {count} entries, but got {len(values)}")
