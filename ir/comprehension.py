"""Tensor comprehensions: what an op computes, as one index expression.

    out[b.., m, n] += lhs[b.., m, k] * rhs[b.., k, n]

`comprehension_bind` joins such a text with operand types and attributes into a `Comprehension`:
the iteration dimensions with kinds and extents, an affine map for each access, a combiner and a
scalar expression. From it come an op's shape rule (`shape`), its reference semantics
(`comprehension_numpy`) and its lowering to `linalg.generic`.

Groups such as `i..` stand for as many dimensions as the operand has left. Where a group stands
alone as an index, operands broadcast as in NumPy: aligned from the right, extent 1 repeated.
A dimension that stands alone as an index is as large as that axis; one that occurs only in index
arithmetic, such as `p` in `x[p*2 + k]`, is as large as keeps the index in bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from .affine import AffineDim, AffineExpr, AffineMap
from .types import Dim, FloatType, IntegerType, TensorType, Type

Kind = Literal["parallel", "reduction"]


@dataclass(frozen=True, slots=True)
class Access:
    """An element of an operand: which operand, and a map from dimensions to its indices.

    `broadcasts` are the operand's axes of unknown extent that may turn out to be 1 at run
    time while the dimension is larger; there the index is 0.
    """

    operand: int
    map: AffineMap
    broadcasts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Extent:
    """How the extent of a dimension follows from axes of operands.

    `sources` are these axes, as (operand, axis), and `expr` is the extent in terms of their
    extents d0, d1, .. With `broadcast` it is instead the first of their extents that is not 1 (1
    if all are). `given`: an attribute gives the extent, which no operand need have.
    """

    expr: AffineExpr
    sources: tuple[tuple[int, int], ...] = ()
    broadcast: bool = False
    given: bool = False

    def moved(self, operand: int, axes: Mapping[int, int]) -> Extent:
        """The extent after the axes of an operand were renumbered: axis `a` is now `axes[a]`."""
        sources = tuple((o, axes[axis] if o == operand else axis) for o, axis in self.sources)
        return replace(self, sources=sources)


@dataclass(frozen=True, slots=True)
class Dimension:
    """A dimension of the iteration space; `size` is None where only known at run time."""

    name: str
    kind: Kind
    size: Dim
    extent: Extent


# -- scalar expressions ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Load:
    """The element that access number `access` reads."""

    access: int
    type: Type


@dataclass(frozen=True, slots=True)
class Number:
    """A constant."""

    value: int | float
    type: Type


@dataclass(frozen=True, slots=True)
class Position:
    """The coordinate along dimension number `dim`."""

    dim: int
    type: Type


@dataclass(frozen=True, slots=True)
class Apply:
    """A function of `comprehension_text.FUNCTIONS` applied to scalars."""

    function: str
    args: tuple[Scalar, ...]
    type: Type


Scalar = Load | Number | Position | Apply


@dataclass(frozen=True)
class Comprehension:
    """A comprehension bound to operand types.

    `dims` are the dimensions of the result, in its order, then those that are reduced; `out` maps
    them to indices of the result. `combiner` is "" (one value per element), "add", "mul", "max" or
    "min".
    """

    text: str
    operand_types: tuple[TensorType, ...]
    dims: tuple[Dimension, ...]
    accesses: tuple[Access, ...]
    out: AffineMap
    combiner: str
    value: Scalar

    @property
    def shape(self) -> tuple[Any, ...]:
        """The result's extents, None for those known only at run time."""
        return tuple(self.dims[d.position].size for d in self.out.results)  # type: ignore[attr-defined]

    @property
    def iterators(self) -> tuple[Kind, ...]:
        return tuple(d.kind for d in self.dims)

    @property
    def identity(self) -> int | float:
        """The initial value of the reduction."""
        return combiner_identity(self.combiner, self.value.type)

    def read_through(self, operand: int, copy: Comprehension) -> Comprehension:
        """The same computation, reading the source of a copy in place of number `operand`.

        `copy` is the comprehension that computes this operand from the source: it only moves
        elements, and indexes each axis of unknown extent by a dimension alone.
        """
        (inner,) = copy.accesses
        moved = {
            expr.position: axis
            for axis, expr in enumerate(inner.map.results)
            if isinstance(expr, AffineDim)
        }
        accesses = tuple(
            Access(operand, inner.map.compose(a.map), tuple(moved[axis] for axis in a.broadcasts))
            if a.operand == operand
            else a
            for a in self.accesses
        )
        types = list(self.operand_types)
        types[operand] = copy.operand_types[inner.operand]
        dims = tuple(
            replace(dim, extent=dim.extent.moved(operand, moved)) if dim.size is None else dim
            for dim in self.dims
        )
        return replace(self, operand_types=tuple(types), accesses=accesses, dims=dims)

    def __str__(self) -> str:
        dims = ", ".join(f"{d.name}:{'?' if d.size is None else d.size}" for d in self.dims)
        return f"{self.text}  [{dims}]"


def combiner_identity(combiner: str, type: Type) -> int | float:
    """The identity element e of a combiner, such that combining x with e is x."""
    match combiner, type:
        case "add", _:
            return 0
        case "mul", _:
            return 1
        case "max", FloatType():
            return float("-inf")
        case "min", FloatType():
            return float("inf")
        case "max", IntegerType(width, signedness):
            return 0 if signedness == "u" or width == 1 else -(1 << (width - 1))
        case "min", IntegerType(width, signedness):
            return (1 << (width if signedness == "u" or width == 1 else width - 1)) - 1
    raise ValueError(f"no identity of '{combiner}' for {type}")
