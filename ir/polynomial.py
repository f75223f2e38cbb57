"""Sizes and strides that may depend on extents known only at run time.

A size is an `int` where it is known, else a `Poly`: a sum of products of *symbols* times
integers. `memref<?x64x?xf32>` has the strides `64 * d2`, `d2` and 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from math import prod


@dataclass(frozen=True, eq=False)
class Symbol:
    """A number known only at run time. `number` is its order of creation, by which products are
    sorted: it is the same in every process.
    """

    number: int = field(default_factory=count().__next__, init=False, repr=False)


class Poly:
    """A polynomial in symbols with integer coefficients; never constant (that is an `int`)."""

    __slots__ = ("_hash", "terms")

    def __init__(self, terms: dict[tuple[Symbol, ...], int]) -> None:
        self.terms = terms
        self._hash: int | None = None

    @staticmethod
    def symbol(symbol: Symbol) -> Poly:
        return Poly({(symbol,): 1})

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """The symbols that occur in the polynomial, each once."""
        return tuple(dict.fromkeys(symbol for product in self.terms for symbol in product))

    def at(self, value: Callable[[Symbol], int]) -> int:
        """The polynomial evaluated with `value` for each symbol."""
        return sum(factor * prod(map(value, product)) for product, factor in self.terms.items())

    @property
    def is_product(self) -> bool:
        """Whether the polynomial is a single product of symbols times a number."""
        return len(self.terms) == 1

    @property
    def single(self) -> Symbol | None:
        """The symbol, where the polynomial is one symbol and nothing else; else None."""
        ((product, factor),) = self.terms.items() if self.is_product else (((), 0),)
        return product[0] if factor == 1 and len(product) == 1 else None

    @property
    def is_natural(self) -> bool:
        """Whether no coefficient is negative, so that the value is >= 0 if the symbols are."""
        return min(self.terms.values()) >= 0

    def __add__(self, other: Size) -> Size:
        terms = dict(self.terms)
        for product, factor in _terms(other).items():
            terms[product] = terms.get(product, 0) + factor
        return _simplest(terms)

    __radd__ = __add__

    def __neg__(self) -> Size:
        return self * -1

    def __sub__(self, other: Size) -> Size:
        return self + other * -1

    def __rsub__(self, other: Size) -> Size:
        return self * -1 + other

    def __mul__(self, other: Size) -> Size:
        terms: dict[tuple[Symbol, ...], int] = {}
        for a, x in self.terms.items():
            for b, y in _terms(other).items():
                product = tuple(sorted(a + b, key=_number))
                terms[product] = terms.get(product, 0) + x * y
        return _simplest(terms)

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Poly) and self.terms == other.terms

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self.terms.items()))
        return self._hash

    def __repr__(self) -> str:
        return " + ".join(
            "*".join([str(f), *map(str, product)]) for product, f in self.terms.items()
        )


Size = int | Poly


def _number(symbol: Symbol) -> int:
    return symbol.number


def _terms(size: Size) -> dict[tuple[Symbol, ...], int]:
    return size.terms if isinstance(size, Poly) else {(): size}


def _simplest(terms: dict[tuple[Symbol, ...], int]) -> Size:
    terms = {product: factor for product, factor in terms.items() if factor}
    if not terms:
        return 0
    if len(terms) == 1 and () in terms:
        return terms[()]
    return Poly(terms)


def quotient(size: Size, by: Size) -> Size | None:
    """The q with q * by = size, where `by` is a number or one product; None if there is none."""
    divisors = list(_terms(by).items())
    if len(divisors) != 1:
        return None
    ((divisor, number),) = divisors
    found: dict[tuple[Symbol, ...], int] = {}
    for product, factor in _terms(size).items():
        rest = list(product)
        for symbol in divisor:
            if symbol not in rest:
                return None
            rest.remove(symbol)
        if not number or factor % number:
            return None
        found[tuple(rest)] = factor // number
    return _simplest(found)


def is_natural(size: Size) -> bool:
    """Whether a size cannot be negative, as long as its symbols are extents."""
    return size.is_natural if isinstance(size, Poly) else size >= 0
