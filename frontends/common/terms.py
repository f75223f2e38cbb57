"""Formulas of values: `(x - low) * scale` inserts the ops that it stands for.

Operands broadcast as in NumPy; a number stands for a constant of the other operand's element type.
In arithmetic with 16-bit floats, a number that they lack is not rounded: the result is computed in
f32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...dialects import nn
from ...ir.core import Value
from ...ir.numpy_types import type_to_numpy
from ...ir.types import Dim, TensorType, Type, bf16, f16, f32, i64, is_told_by_count
from .layer import Layer
from .shapes import Extent, as_scalar, broadcast, flatten, product, reshape, shape_vector

Operand = Any
"""A term, or a number."""


class Term:
    """A value with arithmetic operators; `n` is the layer into which the ops are inserted."""

    __slots__ = ("n", "value")

    def __init__(self, n: Layer, value: Value) -> None:
        self.n = n
        self.value = value

    @property
    def element(self) -> Type:
        return self.value.type.element_type

    @property
    def shape(self) -> tuple[Dim, ...]:
        return self.value.type.shape

    @property
    def rank(self) -> int:
        return len(self.shape)

    def other(self, operand: Operand) -> Value:
        """The operand as a value; a number becomes a constant of this term's element type."""
        if isinstance(operand, Term):
            return operand.value
        return self.n.constant(operand, self.element)

    def made(self, op: Any) -> Term:
        """The result of inserting an op."""
        return Term(self.n, self.n(op))

    def computed(self, element: Type) -> Term:
        """This term in the type that a formula is computed in, see `Layer.compute_as`."""
        return Term(self.n, self.n.compute_as(self.value, element))

    def arithmetic(self, op: Any, other: Operand, swap: bool = False) -> Term:
        """The result of an arithmetic op with another operand; `swap` puts that one first."""
        if not isinstance(other, Term) and is_finer(other, self.element):
            return self.computed(f32).arithmetic(op, other, swap).computed(self.element)
        operands = self.value, self.other(other)
        return self.made(op(*(reversed(operands) if swap else operands)))

    # -- arithmetic ---------------------------------------------------------------------------

    def __add__(self, other: Operand) -> Term:
        return self.arithmetic(nn.Add, other)

    def __sub__(self, other: Operand) -> Term:
        return self.arithmetic(nn.Sub, other)

    def __rsub__(self, other: Operand) -> Term:
        return self.arithmetic(nn.Sub, other, swap=True)

    def __mul__(self, other: Operand) -> Term:
        return self.arithmetic(nn.Mul, other)

    def __truediv__(self, other: Operand) -> Term:
        return self.arithmetic(nn.Div, other)

    def __rtruediv__(self, other: Operand) -> Term:
        return self.arithmetic(nn.Div, other, swap=True)

    def __mod__(self, other: Operand) -> Term:
        return self.made(nn.Mod(self.value, self.other(other)))

    def __pow__(self, other: Operand) -> Term:
        return self.arithmetic(nn.Pow, other)

    def __rpow__(self, other: Operand) -> Term:
        return self.arithmetic(nn.Pow, other, swap=True)

    def __matmul__(self, other: Term) -> Term:
        return self.made(nn.Matmul(self.value, other.value))

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> Term:
        return self.made(nn.Neg(self.value))

    def min(self, other: Operand) -> Term:
        return self.made(nn.Min(self.value, self.other(other)))

    def max(self, other: Operand) -> Term:
        return self.made(nn.Max(self.value, self.other(other)))

    def function(self, op: Any) -> Term:
        """The result of an op with this operand alone: `x.function(nn.Exp)`."""
        return self.made(op(self.value))

    # -- comparisons and bits ------------------------------------------------------------------

    def __lt__(self, other: Operand) -> Term:
        return self.made(nn.Less(self.value, self.other(other)))

    def __le__(self, other: Operand) -> Term:
        return self.made(nn.LessEqual(self.value, self.other(other)))

    def __gt__(self, other: Operand) -> Term:
        return self.made(nn.Greater(self.value, self.other(other)))

    def __ge__(self, other: Operand) -> Term:
        return self.made(nn.GreaterEqual(self.value, self.other(other)))

    def equals(self, other: Operand) -> Term:
        return self.made(nn.Equal(self.value, self.other(other)))

    def __and__(self, other: Operand) -> Term:
        return self.made(nn.And(self.value, self.other(other)))

    def __or__(self, other: Operand) -> Term:
        return self.made(nn.Or(self.value, self.other(other)))

    def __xor__(self, other: Operand) -> Term:
        return self.made(nn.Xor(self.value, self.other(other)))

    def __invert__(self) -> Term:
        return self.made(nn.Not(self.value))

    def __lshift__(self, other: Operand) -> Term:
        return self.made(nn.ShiftLeft(self.value, self.other(other)))

    def __rshift__(self, other: Operand) -> Term:
        return self.made(nn.ShiftRight(self.value, self.other(other)))

    def choose(self, yes: Operand, no: Operand) -> Term:
        """`yes` where this condition holds, else `no`; at least one of them is a term."""
        like = yes if isinstance(yes, Term) else no
        return self.made(nn.Where(self.value, like.other(yes), like.other(no)))

    # -- other shapes and types ------------------------------------------------------------------

    def cast(self, element: Type) -> Term:
        return Term(self.n, self.n.cast(self.value, element))

    def reshape(self, *extents: Extent) -> Term:
        """This term in another shape; an extent may be (value, axis), as in `shapes.reshape`."""
        return Term(self.n, reshape(self.n, self.value, extents))

    def shaped(self, shape: Term) -> Term:
        """This term in a shape that is a 1-D i64, whose elements may be unknown at import."""
        extents = self.n.ranked(shape.value)
        out = TensorType(tuple(extents), self.element)
        if is_told_by_count(extents):
            return self.made(nn.Reshape(self.value, out=out))
        return self.made(nn.ReshapeDynamic(self.value, shape.value, out=out))

    def filled(self, shape: Term) -> Term:
        """A tensor of a shape, a 1-D i64, whose elements all equal this 0-d term."""
        extents = self.n.ranked(shape.value)
        out = TensorType(tuple(extents), self.element)
        if None not in extents:
            return self.made(nn.Fill(self.value, out=out))
        return self.made(nn.FillDynamic(shape.value, self.value, out=out))

    def zeros(self) -> Term:
        """Zeros of the term's shape and element type."""
        own = [(self.value, i) for i in range(self.rank)]
        return Term(self.n, broadcast(self.n, self.n.constant(0, self.element), own))

    def spread(self, before: int, after: int) -> Term:
        """This term with `before` dimensions of extent 1 in front, and `after` at the end."""
        own = [(self.value, i) for i in range(self.rank)]
        return self.reshape(*[1] * before, *own, *[1] * after)

    def flattened(self, axis: int) -> Term:
        """This term as a matrix: the dimensions before the axis are rows, the others columns."""
        return Term(self.n, flatten(self.n, self.value, axis))

    def flat(self) -> Term:
        """All elements as a vector."""
        if self.rank == 1:
            return self
        out = TensorType((product(self.shape),), self.element)
        return self.made(nn.Reshape(self.value, out=out))

    def transpose(self, *permutation: int) -> Term:
        if permutation == tuple(range(self.rank)):
            return self
        return self.made(nn.Transpose(self.value, permutation=permutation))

    @property
    def mT(self) -> Term:  # noqa: N802 - NumPy's name
        """The matrices of the last two dimensions, transposed."""
        return self.transpose(*range(self.rank - 2), self.rank - 1, self.rank - 2)

    def gather(self, indices: Term, axis: int = 0) -> Term:
        return self.made(nn.Gather(self.value, indices.value, axis=axis))

    def gather_nd(self, indices: Term, batch_dims: int = 0) -> Term:
        """The elements or slices at the index tuples in the last dimension of `indices`."""
        return self.made(nn.GatherNd(self.value, indices.value, batch_dims=batch_dims))

    def gather_elements(self, indices: Term, axis: int) -> Term:
        """out[.., i, ..] = this[.., indices[.., i, ..], ..], where i counts along the axis."""
        return self.made(nn.GatherElements(self.value, indices.value, axis=axis))

    def column(self, i: int, axis: int = -1) -> Term:
        """The slice at position i of an axis, without this axis."""
        return self.gather(Term(self.n, self.n.constant(i, i64)), axis % self.rank)

    def sum(self, *axes: int, keep: bool = False) -> Term:
        return self.made(nn.ReduceSum(self.value, axes=axes, keep_dims=keep))

    def largest(self, *axes: int, keep: bool = False) -> Term:
        return self.made(nn.ReduceMax(self.value, axes=axes, keep_dims=keep))

    def least(self, *axes: int, keep: bool = False) -> Term:
        return self.made(nn.ReduceMin(self.value, axes=axes, keep_dims=keep))

    def mean(self, *axes: int, keep: bool = False) -> Term:
        return self.made(nn.ReduceMean(self.value, axes=axes, keep_dims=keep))

    def product(self, *axes: int, keep: bool = False) -> Term:
        return self.made(nn.ReduceProd(self.value, axes=axes, keep_dims=keep))

    def argmax(self, axis: int, keep: bool = False) -> Term:
        """The index of the largest element along an axis."""
        return self.made(nn.Argmax(self.value, axis=axis, keep_dims=keep))

    def part(self, axis: int, begin: int, end: int) -> Term:
        """The elements [begin, end) along an axis."""
        axis %= self.rank
        starts = tuple(begin if i == axis else 0 for i in range(self.rank))
        shape = tuple(end - begin if i == axis else d for i, d in enumerate(self.shape))
        return self.made(nn.Slice(self.value, starts=starts, out=TensorType(shape, self.element)))


def is_finer(number: Any, element: Type) -> bool:
    """Whether an element type is one of 16-bit floats, and lacks a number."""
    if element not in (f16, bf16) or not isinstance(number, bool | int | float):
        return False
    with np.errstate(over="ignore"):
        return bool(np.asarray(number, type_to_numpy(element)).astype(np.float64) != number)


def rounded_once(formula: Callable[..., Term], *operands: Term) -> Term:
    """A formula of several steps, computed in f32 for 16-bit floats and rounded once."""
    element = operands[0].element
    if element not in (f16, bf16):
        return formula(*operands)
    return formula(*(x.computed(f32) for x in operands)).computed(element)


def constant(n: Layer, value: Any, element: Type | None = None) -> Term:
    """A constant of an array or number."""
    return Term(n, n.constant(value, element))


def extent(n: Layer, of: Extent) -> Term:
    """An extent as a 0-d i64, computed at run time if it is unknown."""
    return Term(n, as_scalar(n, shape_vector(n, [of])))


def counting(n: Layer, count: Term) -> Term:
    """0, 1, .. below `count`, a 0-d i64."""
    known = n.known(count.value)
    length = None if known is None else int(known)
    zero, one = n.constant(0, i64), n.constant(1, i64)
    return Term(n, n(nn.Range(zero, count.value, one, out=TensorType((length,), i64))))


def joined(parts: Sequence[Term], axis: int) -> Term:
    """Terms concatenated along an axis."""
    first = parts[0]
    if len(parts) == 1:
        return first
    return first.made(nn.Concat([p.value for p in parts], axis=axis % first.rank))


def arange(count: int, step: int = 1) -> np.ndarray:
    """The first `count` multiples of a step, from 0 on, as i64."""
    return np.arange(count, dtype=np.int64) * step
