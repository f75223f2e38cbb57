"""Polynomials in parameters of a launch: distances in buffers of unknown extents.

A buffer of n x 3 x h x w elements has rows that are w apart, and images that are 3*h*w apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

Monomial = tuple[str, ...]
"""A product of parameters, by their names in order; the empty product is 1."""


class Polynomial:
    """A polynomial as {monomial: non-zero coefficient}; it never changes."""

    __slots__ = ("_hash", "terms")

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        self.terms = terms
        self._hash: int | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and self.terms == other.terms

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self.terms.items()))
        return self._hash

    def __repr__(self) -> str:
        return " + ".join("*".join([str(n), *names]) for names, n in self.terms.items()) or "0"

    @staticmethod
    def of(terms: Mapping[Monomial, int]) -> Polynomial:
        """The polynomial with these coefficients; those that are 0 are dropped."""
        if 0 not in terms.values():
            return Polynomial(terms)
        return Polynomial({names: factor for names, factor in terms.items() if factor})

    @staticmethod
    def number(value: int) -> Polynomial:
        """A constant."""
        return Polynomial({(): value} if value else {})

    @property
    def constant(self) -> int | None:
        """The value of a constant polynomial; None for any other."""
        terms = self.terms
        return terms.get((), 0) if len(terms) == (() in terms) else None

    def __add__(self, other: Polynomial | int) -> Polynomial:
        """The sum."""
        terms = dict(self.terms)
        for names, factor in _made(other).terms.items():
            terms[names] = terms.get(names, 0) + factor
        return Polynomial.of(terms)

    def __mul__(self, other: Polynomial | int) -> Polynomial:
        """The product."""
        by = other if isinstance(other, int) else other.constant
        if by is not None:
            return self._scaled(by)
        assert isinstance(other, Polynomial)
        if (by := self.constant) is not None:
            return other._scaled(by)
        terms: dict[Monomial, int] = {}
        for names, factor in self.terms.items():
            for others, its in other.terms.items():
                together = tuple(sorted(names + others))
                terms[together] = terms.get(together, 0) + factor * its
        return Polynomial.of(terms)

    def _scaled(self, by: int) -> Polynomial:
        if by == 1:
            return self
        return Polynomial({names: n * by for names, n in self.terms.items()} if by else {})

    def __neg__(self) -> Polynomial:
        """The negative."""
        return self._scaled(-1)

    def __sub__(self, other: Polynomial | int) -> Polynomial:
        """The difference."""
        terms = dict(self.terms)
        for names, factor in _made(other).terms.items():
            terms[names] = terms.get(names, 0) - factor
        return Polynomial.of(terms)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: int) -> Polynomial:
        return -self + other

    @property
    def leading(self) -> tuple[Monomial, int]:
        """(monomial of the highest degree, its coefficient)."""
        return max(self.terms.items(), key=lambda term: (len(term[0]), term[0]))

    @lru_cache(maxsize=1 << 14)  # noqa: B019  Polynomials are small, and never change.
    def divided(self, by: Polynomial) -> tuple[Polynomial, Polynomial]:
        """(quotient, remainder) with `by` * quotient + remainder equal to this polynomial.

        The remainder's leading coefficient is >= 0: h*w - w is h - 1 times w, but 0 times h*w.
        """
        if by.constant == 1:
            return self, Polynomial({})
        quotient, rest = self._divided(by)
        if rest.terms and rest.leading[1] < 0:
            return quotient - 1, rest + by
        return quotient, rest

    def divided_by_name(self, name: str) -> Polynomial | None:
        """The quotient by a parameter; None if that is not a factor of every term."""
        if not self.terms or not all(name in names for names in self.terms):
            return None
        return Polynomial({_without(names, (name,)): n for names, n in self.terms.items()})  # type: ignore[misc]

    def _divided(self, by: Polynomial) -> tuple[Polynomial, Polynomial]:
        wanted, divisor = by.leading
        quotient, left, rest = Polynomial({}), self, Polynomial({})
        while left.terms:
            names, factor = left.leading
            others = _without(names, wanted)
            if others is None or not factor // divisor:
                term = Polynomial({names: factor})
                left, rest = left - term, rest + term
                continue
            term = Polynomial({others: factor // divisor})
            quotient, left = quotient + term, left - term * by
            if left.terms.get(names, 0):  # What the factor's quotient leaves.
                term = Polynomial({names: left.terms[names]})
                left, rest = left - term, rest + term
        return quotient, rest


def _made(value: Polynomial | int) -> Polynomial:
    return value if isinstance(value, Polynomial) else Polynomial.number(value)


def _without(names: Monomial, wanted: Monomial) -> Monomial | None:
    """The quotient of two monomials; None if `wanted` does not divide `names`."""
    left = list(names)
    for name in wanted:
        if name not in left:
            return None
        left.remove(name)
    return tuple(left)
