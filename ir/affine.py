"""Affine expressions, maps and integer sets, with upstream MLIR's text and simplifications."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd


class AffineExpr:
    """A sum of dims and symbols times constants, with floordiv, ceildiv and mod by constants."""

    __slots__ = ()

    def __add__(self, other: AffineExpr | int) -> AffineExpr:
        return _add(self, _expr(other))

    __radd__ = __add__

    def __mul__(self, other: AffineExpr | int) -> AffineExpr:
        return _mul(self, _expr(other))

    __rmul__ = __mul__

    def __neg__(self) -> AffineExpr:
        return self * -1

    def __sub__(self, other: AffineExpr | int) -> AffineExpr:
        return self + -_expr(other)

    def __rsub__(self, other: int) -> AffineExpr:
        return _expr(other) + -self

    def __floordiv__(self, other: AffineExpr | int) -> AffineExpr:
        return _div(self, _expr(other), "floordiv")

    def ceildiv(self, other: AffineExpr | int) -> AffineExpr:
        return _div(self, _expr(other), "ceildiv")

    def __mod__(self, other: AffineExpr | int) -> AffineExpr:
        return _div(self, _expr(other), "mod")

    def evaluate(self, dims: Sequence, symbols: Sequence = ()):
        """The value at a point; dims and symbols may be ints, arrays, anything with + * // %."""
        raise TypeError(self)

    def replace(self, dims: Sequence[AffineExpr], symbols: Sequence[AffineExpr] = ()) -> AffineExpr:
        """The expression with its dims and symbols replaced, simplified."""
        return _expr(self.evaluate(dims, symbols)) if not isinstance(self, AffineConstant) else self

    def dims_used(self) -> set[int]:
        return set()

    def is_symbolic_or_constant(self) -> bool:
        return not self.dims_used()

    def linear(self, dim_count: int) -> tuple[list[int], int] | None:
        """Coefficients of the dims and the constant term; None if not linear in dims alone."""
        return None

    def __str__(self) -> str:
        return _text(self)


@dataclass(frozen=True, slots=True)
class AffineConstant(AffineExpr):
    """`4`"""

    value: int

    def evaluate(self, dims: Sequence, symbols: Sequence = ()):
        return self.value

    def linear(self, dim_count: int) -> tuple[list[int], int]:
        return [0] * dim_count, self.value


@dataclass(frozen=True, slots=True)
class AffineDim(AffineExpr):
    """`d0`"""

    position: int

    def evaluate(self, dims: Sequence, symbols: Sequence = ()):
        return dims[self.position]

    def dims_used(self) -> set[int]:
        return {self.position}

    def linear(self, dim_count: int) -> tuple[list[int], int]:
        coefficients = [0] * dim_count
        coefficients[self.position] = 1
        return coefficients, 0


@dataclass(frozen=True, slots=True)
class AffineSymbol(AffineExpr):
    """`s0`"""

    position: int

    def evaluate(self, dims: Sequence, symbols: Sequence = ()):
        return symbols[self.position]


@dataclass(frozen=True, slots=True)
class AffineBinary(AffineExpr):
    """`lhs kind rhs`, where `kind` is one of `+`, `*`, `floordiv`, `ceildiv`, `mod`."""

    kind: str
    lhs: AffineExpr
    rhs: AffineExpr

    def evaluate(self, dims: Sequence, symbols: Sequence = ()):
        a, b = self.lhs.evaluate(dims, symbols), self.rhs.evaluate(dims, symbols)
        return _EVALUATE[self.kind](a, b)

    def dims_used(self) -> set[int]:
        return self.lhs.dims_used() | self.rhs.dims_used()

    def linear(self, dim_count: int) -> tuple[list[int], int] | None:
        a = self.lhs.linear(dim_count)
        if a is not None and self.kind == "*" and isinstance(self.rhs, AffineConstant):
            return [x * self.rhs.value for x in a[0]], a[1] * self.rhs.value
        if a is None or self.kind != "+" or (b := self.rhs.linear(dim_count)) is None:
            return None
        return [x + y for x, y in zip(a[0], b[0], strict=True)], a[1] + b[1]


def _expr(value: AffineExpr | int) -> AffineExpr:
    return value if isinstance(value, AffineExpr) else AffineConstant(int(value))


def _ceildiv(a, b):
    return a.ceildiv(b) if isinstance(a, AffineExpr) else -(-a // b)


_EVALUATE = {
    "+": lambda a, b: a + b,
    "*": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
    "ceildiv": _ceildiv,
    "mod": lambda a, b: a % b,
}


def largest_known_divisor(expr: AffineExpr) -> int:
    """A number that divides every value of the expression; 0 for the constant 0."""
    match expr:
        case AffineConstant(value):
            return abs(value)
        case AffineBinary("floordiv" | "ceildiv", lhs, AffineConstant(by)) if by:
            divisor = largest_known_divisor(lhs)
            return abs(divisor // by) if divisor % by == 0 else 1
        case AffineBinary("*", lhs, rhs):
            return largest_known_divisor(lhs) * largest_known_divisor(rhs)
        case AffineBinary("+" | "mod", lhs, rhs):
            return gcd(largest_known_divisor(lhs), largest_known_divisor(rhs))
    return 1


def strided_form(expr: AffineExpr, dim_count: int) -> tuple[list[int | None], int | None] | None:
    """(factor of each dim, constant term); a number that depends on symbols is None.

    None instead of the pair if the expression is not a sum of dims times factors and a term.
    """
    zeros: list[int | None] = [0] * dim_count
    match expr:
        case AffineConstant(value):
            return zeros, value
        case AffineDim(position):
            zeros[position] = 1
            return zeros, 0
        case AffineBinary("+", lhs, rhs):
            a, b = strided_form(lhs, dim_count), strided_form(rhs, dim_count)
            if a is None or b is None:
                return None
            sums = [_known_sum(x, y) for x, y in zip(a[0], b[0], strict=True)]
            return sums, _known_sum(a[1], b[1])
        case AffineBinary("*", lhs, rhs) if rhs.is_symbolic_or_constant():
            found = strided_form(lhs, dim_count)
            if found is None:
                return None
            factor = rhs.value if isinstance(rhs, AffineConstant) else None
            factors = [_known_product(x, factor) for x in found[0]]
            return factors, _known_product(found[1], factor)
    return (zeros, None) if expr.is_symbolic_or_constant() else None


def _known_sum(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def _known_product(a: int | None, b: int | None) -> int | None:
    if a == 0:
        return 0
    return None if a is None or b is None else a * b


# The rules and their order are upstream's (AffineExpr.cpp), since text shows what they leave.


def _add(lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr:
    return _simplified_sum(lhs, rhs) or AffineBinary("+", lhs, rhs)


def _simplified_sum(lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr | None:
    match lhs, rhs:
        case AffineConstant(a), AffineConstant(b):
            return AffineConstant(a + b)
        case AffineConstant(), _:
            return _add(rhs, lhs)
        case _, AffineConstant(0):
            return lhs
        case AffineBinary("+", inner, AffineConstant(a)), AffineConstant(b):
            return _add(inner, AffineConstant(a + b))
        case _, AffineConstant():
            return None
    if lhs.is_symbolic_or_constant() and not rhs.is_symbolic_or_constant():
        return _add(rhs, lhs)
    if _out_of_order(lhs, rhs):
        return _add(rhs, lhs)
    a_base, a_factor = _scaled(lhs)
    b_base, b_factor = _scaled(rhs)
    if a_base == b_base:
        return _mul(a_base, AffineConstant(a_factor + b_factor))
    if isinstance(lhs, AffineBinary) and lhs.kind == "+" and isinstance(lhs.rhs, AffineConstant):
        return _add(_add(lhs.lhs, rhs), lhs.rhs)
    return _remainder(lhs, rhs)


def _out_of_order(lhs: AffineExpr, rhs: AffineExpr) -> bool:
    match lhs, rhs:
        case (AffineDim(a), AffineDim(b)) | (AffineSymbol(a), AffineSymbol(b)):
            return a > b
    return False


def _remainder(lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr | None:
    """`x - (x floordiv q) * q` as `x mod q`, also where x is the last term of a sum."""
    match rhs:
        case AffineBinary(
            "*",
            AffineBinary("*", AffineBinary("floordiv", x, q), factor),
            AffineConstant(-1),
        ) if factor == q and x == lhs:
            return _div(lhs, q, "mod")
        case AffineBinary("*", AffineBinary("floordiv", x, q), factor):
            if isinstance(q, AffineConstant) and q.value > 0 and x == lhs and factor == -q:
                return _div(lhs, q, "mod")
            if isinstance(lhs, AffineBinary) and lhs.kind == "+":
                last = _simplified_sum(lhs.rhs, rhs)
                return None if last is None else _add(lhs.lhs, last)
    return None


def _scaled(expr: AffineExpr) -> tuple[AffineExpr, int]:
    match expr:
        case AffineBinary("*", base, AffineConstant(factor)):
            return base, factor
    return expr, 1


def _mul(lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr:
    match lhs, rhs:
        case AffineConstant(a), AffineConstant(b):
            return AffineConstant(a * b)
        case AffineConstant(), _:
            return _mul(rhs, lhs)
        case _, AffineConstant(1):
            return lhs
        case _, AffineConstant(0):
            return rhs
        case AffineBinary("*", inner, AffineConstant(a)), AffineConstant(b):
            return _mul(inner, AffineConstant(a * b))
        case _, AffineConstant():
            return AffineBinary("*", lhs, rhs)
    if _out_of_order(lhs, rhs):
        return _mul(rhs, lhs)
    if not rhs.is_symbolic_or_constant():
        return _mul(rhs, lhs) if lhs.is_symbolic_or_constant() else AffineBinary("*", lhs, rhs)
    if isinstance(lhs, AffineBinary) and lhs.kind == "*" and isinstance(lhs.rhs, AffineConstant):
        return _mul(_mul(lhs.lhs, rhs), lhs.rhs)
    return AffineBinary("*", lhs, rhs)


def _div(lhs: AffineExpr, rhs: AffineExpr, kind: str) -> AffineExpr:
    plain = AffineBinary(kind, lhs, rhs)
    if not isinstance(rhs, AffineConstant) or rhs.value == 0 or (kind == "mod" and rhs.value < 1):
        return plain
    by = rhs.value
    if isinstance(lhs, AffineConstant):
        return AffineConstant(_EVALUATE[kind](lhs.value, by))
    if kind == "mod":
        return _modulo(lhs, by) or plain
    if by == 1:
        return lhs
    match lhs:
        case AffineBinary("*", base, AffineConstant(factor)) if factor % by == 0:
            return _mul(base, AffineConstant(factor // by))
        case AffineBinary("+", a, b) if kind == "floordiv":
            if largest_known_divisor(a) % by == 0 or largest_known_divisor(b) % by == 0:
                return _add(_div(a, rhs, kind), _div(b, rhs, kind))
    return plain


def _modulo(lhs: AffineExpr, by: int) -> AffineExpr | None:
    if largest_known_divisor(lhs) % by == 0:
        return AffineConstant(0)
    match lhs:
        case AffineBinary("+", a, b):
            if largest_known_divisor(a) % by == 0:
                return b % by
            if largest_known_divisor(b) % by == 0:
                return a % by
        case AffineBinary("mod", a, AffineConstant(inner)) if inner >= 1 and inner % by == 0:
            return a % by
    return None


def _text(expr: AffineExpr, parenthesize: bool = False) -> str:
    """Upstream's spelling: `d0 * 2 - d1 + 3`, subtraction shown for negative terms."""
    match expr:
        case AffineConstant(value):
            return str(value)
        case AffineDim(position):
            return f"d{position}"
        case AffineSymbol(position):
            return f"s{position}"
        case AffineBinary("*", lhs, AffineConstant(-1)):
            text = f"-{_text(lhs, True)}"
        case AffineBinary("+", lhs, AffineBinary("*", base, AffineConstant(-1))):
            paren = isinstance(base, AffineBinary) and base.kind == "+"
            text = f"{_text(lhs)} - {_text(base, paren)}"
        case AffineBinary("+", lhs, AffineBinary("*", base, AffineConstant(factor))) if factor < -1:
            text = f"{_text(lhs)} - {_text(base, True)} * {-factor}"
        case AffineBinary("+", lhs, AffineConstant(value)) if value < 0:
            text = f"{_text(lhs)} - {-value}"
        case AffineBinary("+", lhs, rhs):
            text = f"{_text(lhs)} + {_text(rhs)}"
        case AffineBinary(kind, lhs, rhs):
            text = f"{_text(lhs, True)} {kind} {_text(rhs, True)}"
        case _:
            raise TypeError(expr)
    return f"({text})" if parenthesize else text


def dims(*positions: int) -> tuple[AffineExpr, ...]:
    """The dimensions at these positions."""
    return tuple(AffineDim(i) for i in positions)


def _names(dim_count: int, symbol_count: int) -> str:
    text = "(" + ", ".join(f"d{i}" for i in range(dim_count)) + ")"
    if symbol_count:
        text += "[" + ", ".join(f"s{i}" for i in range(symbol_count)) + "]"
    return text


@dataclass(frozen=True, slots=True)
class AffineMap:
    """`(d0, d1)[s0] -> (d0 + s0, d1)`"""

    dim_count: int
    symbol_count: int
    results: tuple[AffineExpr, ...]

    @staticmethod
    def identity(rank: int) -> AffineMap:
        return AffineMap(rank, 0, tuple(AffineDim(i) for i in range(rank)))

    @staticmethod
    def permutation(order: Sequence[int]) -> AffineMap:
        return AffineMap(len(order), 0, tuple(AffineDim(i) for i in order))

    @staticmethod
    def constant(value: int) -> AffineMap:
        return AffineMap(0, 0, (AffineConstant(value),))

    def evaluate(self, dims: Sequence, symbols: Sequence = ()) -> tuple:
        return tuple(expr.evaluate(dims, symbols) for expr in self.results)

    def is_identity(self) -> bool:
        return self.results == tuple(AffineDim(i) for i in range(self.dim_count))

    def is_projected_permutation(self) -> bool:
        """Whether every result is a different dim (so an access without arithmetic or repeats)."""
        seen = [e.position for e in self.results if isinstance(e, AffineDim)]
        return len(seen) == len(self.results) == len(set(seen))

    def compose(self, inner: AffineMap) -> AffineMap:
        """self(inner(x))"""
        assert self.dim_count == len(inner.results)
        symbols = [AffineSymbol(i) for i in range(self.symbol_count)]
        shifted = [AffineSymbol(i + self.symbol_count) for i in range(inner.symbol_count)]
        replaced = [
            e.replace([AffineDim(i) for i in range(inner.dim_count)], shifted)
            for e in inner.results
        ]
        results = tuple(e.replace(replaced, symbols) for e in self.results)
        return AffineMap(inner.dim_count, self.symbol_count + inner.symbol_count, results)

    def __str__(self) -> str:
        results = ", ".join(_text(e) for e in self.results)
        return f"{_names(self.dim_count, self.symbol_count)} -> ({results})"


@dataclass(frozen=True, slots=True)
class IntegerSet:
    """`(d0)[s0] : (d0 - s0 >= 0, d0 == 0)`; constraints are (expression, whether it is `==`)."""

    dim_count: int
    symbol_count: int
    constraints: tuple[tuple[AffineExpr, bool], ...]

    def __str__(self) -> str:
        body = ", ".join(f"{_text(e)} {'==' if eq else '>='} 0" for e, eq in self.constraints)
        return f"{_names(self.dim_count, self.symbol_count)} : ({body})"


def is_tiling(
    maps: Sequence[AffineMap], ranges: Sequence[int | None], shape: Sequence[int | None]
) -> bool:
    """Whether the maps together send the points of the ranges to each element exactly once.

    For example (i) -> (i * 2) and (i) -> (i * 2 + 1) with 4 points and a shape of 8 elements. None
    is an unknown extent; a dim that alone indexes an unknown axis is taken to have its extent.
    """
    places: set[tuple[int, ...]] = set()
    steps: set[tuple[tuple[int, int], ...]] = set()
    for map in maps:
        forms = [e.linear(map.dim_count) for e in map.results]
        if any(f is None or sum(c != 0 for c in f[0]) != 1 for f in forms):
            return False
        places.add(tuple(f[1] for f in forms if f is not None))
        steps.add(tuple(next((d, c) for d, c in enumerate(f[0]) if c) for f in forms if f))
    if len(steps) != 1 or len(places) != len(maps):
        return False
    ((*tiled,),) = steps
    count = 1
    for axis, (dim, step) in enumerate(tiled):
        extent = ranges[dim]
        if shape[axis] != (extent if extent is None and step == 1 else step * (extent or 0)):
            return False
        if any(not 0 <= place[axis] < step for place in places):
            return False
        count *= step
    return sorted(d for d, _ in tiled) == list(range(len(ranges))) and len(maps) == count
