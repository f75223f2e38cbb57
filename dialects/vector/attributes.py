"""Attributes of the vector dialect."""

from __future__ import annotations

from typing import ClassVar

from ..vocabulary import *


@attribute_class
class CombiningKind(EnumAttr):
    """`#vector.kind<add>`: how elements are combined in reductions."""

    name: ClassVar[str] = "vector.kind"
    cases: ClassVar[tuple[str, ...]] = (
        "add", "mul", "minui", "minsi", "minnumf", "maxui", "maxsi", "maxnumf", "and", "or",
        "xor", "minimumf", "maximumf",
    )  # fmt: skip


@attribute_class
class IteratorType(EnumAttr):
    """`#vector.iterator_type<parallel>`: a dimension of vector.contract."""

    name: ClassVar[str] = "vector.iterator_type"
    cases: ClassVar[tuple[str, ...]] = ("parallel", "reduction")


@attribute_class
class PrintPunctuation(EnumAttr):
    """`#vector.punctuation<newline>`: what vector.print writes beside or after a value."""

    name: ClassVar[str] = "vector.punctuation"
    cases: ClassVar[tuple[str, ...]] = ("no_punctuation", "newline", "comma", "open", "close")


_FLOAT_KINDS = ("add", "mul", "minnumf", "maxnumf", "minimumf", "maximumf")
_INTEGER_KINDS = ("add", "mul", "minui", "minsi", "maxui", "maxsi", "and", "or", "xor")


def supports(kind: str, element: Type) -> bool:
    """Whether elements of a type can be combined so."""
    return kind in (_FLOAT_KINDS if isinstance(element, FloatType) else _INTEGER_KINDS)


def combine(kind: str, a: Any, b: Any) -> Any:
    """Two NumPy values combined element by element, in their type."""
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype == np.bool_:
        both = kind in ("mul", "and", "minui", "maxsi")
        return (np.logical_xor if kind in ("add", "xor") else
                np.logical_and if both else np.logical_or)(a, b)  # fmt: skip
    if kind in ("minui", "maxui"):
        bits = np.dtype(f"u{a.dtype.itemsize}")
        pick = np.minimum if kind == "minui" else np.maximum
        return pick(a.view(bits), b.view(bits)).view(a.dtype)
    table = {"add": np.add, "mul": np.multiply, "and": np.bitwise_and, "or": np.bitwise_or,
             "xor": np.bitwise_xor, "minsi": np.minimum, "maxsi": np.maximum,
             "minimumf": np.minimum, "maximumf": np.maximum, "minnumf": np.fmin,
             "maxnumf": np.fmax}  # fmt: skip
    return table[kind](a, b).astype(a.dtype)


def reduce_along(kind: str, values: Any, axis: int) -> Any:
    """All elements along an axis combined, first to last."""
    total = values.take(0, axis=axis)
    for i in range(1, values.shape[axis]):
        total = combine(kind, total, values.take(i, axis=axis))
    return total
