"""Einsum as transposes, reshapes, products and sums.

Operands are joined two at a time, as a batched matrix product of reshaped operands. Each letter of
a pair is a batch letter (in both operands and used later), a free one (in one operand), or a summed
one (in both operands and not used later).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...dialects import nn
from ...ir.core import Value
from ...ir.types import Dim, i64
from . import terms as formulas
from .layer import Layer
from .shapes import merge, positions, reshape, shape_text


@dataclass
class Term:
    """A value and the letters of its dimensions; an ellipsis has the letters `0`, `1`, .."""

    value: Value
    letters: str

    def extent(self, letter: str) -> Dim:
        return self.value.type.shape[self.letters.index(letter)]


def einsum(n: Layer, equation: str, operands: list[Value]) -> Value:
    """The value of an einsum. Raises NncError where the equation does not fit the operands."""
    terms, output = parse(n, equation, operands)
    terms = [diagonal(n, term) for term in terms]
    while len(terms) > 1:
        first, second = terms.pop(0), terms.pop(0)
        later = set(output).union(*(t.letters for t in terms))
        terms.insert(0, join(n, first, second, later))
    return _ordered(n, sum_out(n, terms[0], set(output)), output)


def parse(n: Layer, equation: str, operands: list[Value]) -> tuple[list[Term], str]:
    """The operands with their letters, and the output's letters."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    inputs = left.split(",")
    if len(inputs) != len(operands):
        raise n.error(f"equation '{equation}' has {len(inputs)} terms for {len(operands)} inputs")
    widest, terms = 0, []
    for text, value in zip(inputs, operands, strict=True):
        named = text.replace("...", "")
        if not all(c.isascii() and c.isalpha() for c in named) or text.count("...") > 1:
            raise n.error(f"equation '{equation}': '{text}' is not a list of letters")
        missing = value.type.rank - len(named)
        if missing < 0 or (missing and "..." not in text):
            raise n.error(f"equation '{equation}': '{text}' does not fit shape {shape_text(value)}")
        widest = max(widest, missing)
        terms.append((value, text, missing))
    # Ellipses align at their ends; digits cannot clash with letters.
    names = "".join(chr(ord("0") + i) for i in range(widest))
    found = [
        Term(value, text.replace("...", names[widest - missing :] if missing else ""))
        for value, text, missing in terms
    ]
    if arrow:
        output = right.replace("...", names)
    else:
        joined = "".join(t.letters for t in found)
        output = names + "".join(
            sorted(c for c in set(joined) if joined.count(c) == 1 and c.isalpha())
        )
    known = set("".join(t.letters for t in found))
    if not set(output) <= known or len(set(output)) != len(output):
        raise n.error(
            f"equation '{equation}': the output '{right}' does not follow from the inputs"
        )
    return found, output


def diagonal(n: Layer, term: Term) -> Term:
    """The term with repeated letters taken along the diagonal."""
    for letter in dict.fromkeys(term.letters):
        while term.letters.count(letter) > 1:
            first = term.letters.index(letter)
            second = term.letters.index(letter, first + 1)
            term = _one_diagonal(n, term, first, second)
    return term


def _one_diagonal(n: Layer, term: Term, first: int, second: int) -> Term:
    """Drop dimension `second`: out[.., i, ..] = x[.., i, .., i, ..]"""
    value = term.value
    extent, other = value.type.shape[first], value.type.shape[second]
    if None not in (extent, other) and extent != other:
        raise n.error(f"a repeated letter needs equal extents, not {shape_text(value)}")
    rest = [i for i in range(value.type.rank) if i not in (first, second)]
    moved = n(nn.Transpose(value, permutation=(first, second, *rest)))
    if extent is not None and other is not None:
        places = n.constant(np.stack([positions(n, extent)] * 2, axis=1), i64)
    else:
        count, same = (formulas.extent(n, (value, axis)) for axis in (first, second))
        text = "a repeated letter has two different extents"
        count = count.made(nn.Assume(count.value, count.equals(same).value, text))
        at = formulas.counting(n, count).spread(0, 1)
        places = formulas.joined([at, at], 1).value
    taken = n(nn.GatherNd(moved, places))
    letters = term.letters[first] + "".join(term.letters[i] for i in rest)
    return Term(taken, letters)


def sum_out(n: Layer, term: Term, keep: set[str]) -> Term:
    """The term summed over the letters that are not to be kept."""
    axes = tuple(i for i, c in enumerate(term.letters) if c not in keep)
    if not axes:
        return term
    letters = "".join(c for c in term.letters if c in keep)
    return Term(n(nn.ReduceSum(term.value, axes=axes)), letters)


def join(n: Layer, lhs: Term, rhs: Term, later: set[str]) -> Term:
    """The product of two terms, summed over the letters that are not needed later."""
    lhs = sum_out(n, lhs, later | set(rhs.letters))
    rhs = sum_out(n, rhs, later | set(lhs.letters))
    shared = [c for c in lhs.letters if c in rhs.letters]
    for c in shared:
        known = {lhs.extent(c), rhs.extent(c)} - {1, None}
        if len(known) > 1:
            raise n.error(f"letter '{c}' has {lhs.extent(c)} and {rhs.extent(c)} elements")
    batch = [c for c in shared if c in later]
    summed = [c for c in shared if c not in later]
    rows = [c for c in lhs.letters if c not in shared]
    columns = [c for c in rhs.letters if c not in shared]
    # A product broadcasts its batch dimensions, not what it sums.
    repeated = any(1 in (at := (lhs.extent(c), rhs.extent(c))) and at != (1, 1) for c in summed)
    if not summed or repeated:
        return _join_by_broadcast(n, lhs, rhs, later)
    a = _matrices(n, lhs, batch, rows, summed)
    b = _matrices(n, rhs, batch, summed, columns)
    product = n(nn.Matmul(a, b))
    letters = "".join((*batch, *rows, *columns))
    if len(rows) == len(columns) == 1:
        return Term(product, letters)
    extents = [(product, i) for i in range(len(batch))]
    extents += [(lhs.value, lhs.letters.index(c)) for c in rows]
    extents += [(rhs.value, rhs.letters.index(c)) for c in columns]
    return Term(reshape(n, product, extents), letters)


def _matrices(n: Layer, term: Term, batch: list, first: list, second: list) -> Value:
    """The term as [batch.., first, second], each of the two groups in one dimension."""
    value = _ordered(n, term, (*batch, *first, *second))
    lead, middle, rank = len(batch), len(batch) + len(first), value.type.rank
    return merge(n, value, [*((i, i + 1) for i in range(lead)), (lead, middle), (middle, rank)])


def _ordered(n: Layer, term: Term, letters: str | tuple) -> Value:
    order = tuple(term.letters.index(c) for c in letters)
    if order == tuple(range(len(order))):
        return term.value
    return n(nn.Transpose(term.value, permutation=order))


def _join_by_broadcast(n: Layer, lhs: Term, rhs: Term, later: set[str]) -> Term:
    """An elementwise product in all letters, then the sum."""
    letters = lhs.letters + "".join(c for c in rhs.letters if c not in lhs.letters)

    def spread(term: Term) -> Value:
        present = tuple(c for c in letters if c in term.letters)
        value = _ordered(n, term, present)
        extents = [(value, present.index(c)) if c in present else 1 for c in letters]
        return reshape(n, value, extents)

    product = n(nn.Mul(spread(lhs), spread(rhs)))
    return sum_out(n, Term(product, letters), later)
