"""Layers that merge several tensors."""

from __future__ import annotations

from functools import partial, reduce

from ...common.vocabulary import *
from ..layer import ROWS, KerasLayer, called, layer
from ..promotion import result_type


def _of_one_type(n: KerasLayer) -> list[Value]:
    """The tensors, promoted to one element type; categories are integers."""
    given = n.tensors()
    types = {x.type.element_type for x in given}
    return [n.cast(x, result_type(*types)) for x in given] if len(types) > 1 else list(given)


def _aligned(n: KerasLayer) -> list[Value]:
    """The tensors, with dimensions of extent 1 after the batch up to the largest rank."""
    given = _of_one_type(n)
    rank = max(x.type.rank for x in given)
    return [
        reshape(
            n, x, [(x, 0), *[1] * (rank - x.type.rank), *((x, i) for i in range(1, x.type.rank))]
        )
        if 0 < x.type.rank < rank
        else x
        for x in given
    ]


def _merged(op: Callable) -> Callable:
    def convert(n: KerasLayer) -> list[Value]:
        given, masks = _aligned(n), n.masks
        if n.is_old or n.kind not in MERGED_BY_MASKS or all(mask is None for mask in masks):
            total = reduce(lambda a, b: n(op(a, b)), given)
        else:
            columns = [None if m is None else Term(n, m).spread(0, 1) for m in masks]
            merge_by = _product if n.kind == "Multiply" else partial(_outermost, op=op)
            total = merge_by(n, [Term(n, x) for x in given], columns).value
        if n.kind == "Average":
            n.keeps_types = isinstance(total.type.element_type, IntegerType)
            total = (_real(Term(n, total)) / float(len(given))).value
        there = [mask for mask in masks if mask is not None]
        if not there or (len(there) < len(masks) and not n.is_old):
            return [total]
        op_of_masks = nn.And if n.is_old else nn.Or
        return [total, reduce(lambda a, b: n(op_of_masks(a, b)), there)]

    return called(convert)


def _real(x: Term) -> Term:
    """x, with integers as the floats in which TensorFlow, Keras's default backend, divides them."""
    element = x.element
    if not isinstance(element, IntegerType):
        return x
    return x.cast(f32 if element.width < 32 else f64)


MERGED_BY_MASKS = {"Multiply", "Maximum", "Minimum"}
"""Layers of Keras 3 that ignore masked elements."""


def _product(n: KerasLayer, given: list[Term], masks: list[Term | None]) -> Term:
    """The product of unmasked elements; 0 where all are masked."""
    parts = [
        x if mask is None else mask.choose(x, 1.0) for x, mask in zip(given, masks, strict=True)
    ]
    total = reduce(lambda a, b: a * b, parts)
    there = [mask for mask in masks if mask is not None]
    if len(there) < len(masks):
        return total
    return reduce(lambda a, b: a | b, there).choose(total, 0.0)


def _outermost(
    n: KerasLayer, given: list[Term], masks: list[Term | None], op: Callable[..., Any]
) -> Term:
    """The largest or least unmasked element."""
    found, shown = given[0], masks[0]
    for x, mask in zip(given[1:], masks[1:], strict=True):
        if mask is not None:
            x = mask.choose(x, found)
        if shown is not None:
            found = shown.choose(found, x)
        shown = shown | mask if shown is not None and mask is not None else None
        found = found.made(op(found.value, x.value))
    return found


ROWS.add(
    {
        "Add": _merged(nn.Add),
        "Average": _merged(nn.Add),
        "Maximum": _merged(nn.Max),
        "Minimum": _merged(nn.Min),
        "Multiply": _merged(nn.Mul),
        "Subtract": _merged(nn.Sub),
    }
)


@layer("CustomScaleLayer")
def residual(n: KerasLayer) -> Value:
    """InceptionResNetV2's layer: the first tensor plus a scaled second one."""
    first, second = (Term(n, value) for value in n.tensors())
    return (first + second * n.number("scale")).value


@layer("Concatenate", "TFDConcat")
def concatenate(n: KerasLayer) -> list[Value]:
    given = _of_one_type(n)
    axis = normalize_axis(n, n.integer("axis", -1), given[0].type.rank)
    found = [concat(n, given, axis)]
    if any(mask is not None for mask in n.masks):
        found.append(_mask_of_concatenation(n, given, axis))
    return found


def _mask_of_concatenation(n: KerasLayer, given: list[Value], axis: int) -> Value:
    """The mask of a concatenation: whether any element of the last dimension counts; in Keras 2,
    whether all do.
    """
    parts = []
    for x, mask in zip(given, n.masks, strict=True):
        zeros = n(nn.Mul(x, n.scalar(0, x)))
        if mask is None:
            counts = n(nn.Equal(zeros, zeros))
        else:
            wide = n.cast(reshape(n, mask, [(mask, 0), (mask, 1), 1]), x.type.element_type)
            counts = n(nn.Greater(n(nn.Add(zeros, wide)), n.scalar(0, x)))
        parts.append(n.cast(counts, given[0].type.element_type))
    op = nn.ReduceMin if n.is_old else nn.ReduceMax
    return n.cast(reduced(n, concat(n, parts, axis), op, (parts[0].type.rank - 1,)), i1)


@layer("Dot")
def dot(n: KerasLayer) -> Value:
    """Products summed over an axis of each operand, for every example."""
    x, y = (Term(n, value) for value in _of_one_type(n))
    given = n.option("axes")
    axes = [given, given] if isinstance(given, int) else list(given)
    first, second = (normalize_axis(n, a, t.rank) for a, t in zip(axes, (x, y), strict=True))
    if 0 in (first, second):
        raise n.error(f"'axes' is {given}, and the batch's axis, 0, cannot be summed over")
    if n.option("normalize", False):
        x, y = (
            t * (t * t).sum(a, keep=True).max(1e-12).function(nn.Rsqrt)
            for t, a in ((x, first), (y, second))
        )
    left, right = _letters(x.rank, first, "a"), _letters(y.rank, second, "n")
    out = "z" + "".join(c for c in left + right if c not in "yz")
    found = einsum(n, f"{left},{right}->{out}", [x.value, y.value])
    return found if found.type.rank > 1 else reshape(n, found, [(found, 0), 1])


def _letters(rank: int, summed: int, begin: str) -> str:
    """The einsum letters of dimensions: z is the batch, y the summed one."""
    own = [chr(ord(begin) + i) for i in range(rank)]
    own[0], own[summed] = "z", "y"
    return "".join(own)
