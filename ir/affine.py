"""Affine expressions, maps and integer sets, with upstream MLIR's text and simplifications."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


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
        match self:
            case AffineConstant(value):
                return value
            case AffineDim(position):
                return dims[position]
            case AffineSymbol(position):
                return symbols[position]
            case AffineBinary(kind, lhs, rhs):
                a, b = lhs.evaluate(dims, symbols), rhs.evaluate(dims, symbols)
                return _EVALUATE[kind](a, b)
        raise TypeError(self)

    def replace(self, dims: Sequence[AffineExpr], symbols: Sequence[AffineExpr] = ()) -> AffineExpr:
        """The expression with its dims and symbols replaced, simplified."""
        return _expr(self.evaluate(dims, symbols)) if not isinstance(self, AffineConstant) else self

    def dims_used(self) -> set[int]:
        match self:
            case AffineDim(position):
                return {position}
            case AffineBinary(_, lhs, rhs):
                return lhs.dims_used() | rhs.dims_used()
        return set()

    def is_symbolic_or_constant(self) -> bool:
        return not self.dims_used()

    def linear(self, dim_count: int) -> tuple[list[int], int] | None:
        """Coefficients of the dims and the constant term; None if not linear in dims alone."""
        match self:
            case AffineConstant(value):
                return [0] * dim_count, value
            case AffineDim(position):
                return [int(i == position) for i in range(dim_count)], 0
            case AffineBinary("+", lhs, rhs):
                a, b = lhs.linear(dim_count), rhs.linear(dim_count)
                if a and b:
                    return [x + y for x, y in zip(a[0], b[0], strict=True)], a[1] + b[1]
            case AffineBinary("*", lhs, AffineConstant(factor)):
                if a := lhs.linear(dim_count):
                    return [x * factor for x in a[0]], a[1] * factor
        return None

    def __str__(self) -> str:
        return _text(self)


@dataclass(frozen=True, slots=True)
class AffineConstant(AffineExpr):
    """`4`"""

    value: int


@dataclass(frozen=True, slots=True)
class AffineDim(AffineExpr):
    """`d0`"""

    position: int


@dataclass(frozen=True, slots=True)
class AffineSymbol(AffineExpr):
    """`s0`"""

    position: int


@dataclass(frozen=True, slots=True)
class AffineBinary(AffineExpr):
    """kind is one of `+`, `*`, `floordiv`, `ceildiv`, `mod`."""

    kind: str
    lhs: AffineExpr
    rhs: AffineExpr


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


def _add(lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr:
    match lhs, rhs:
        case AffineConstant(a), AffineConstant(b):
            return AffineConstant(a + b)
        case AffineConstant(), _:
            return _add(rhs, lhs)
        case _, AffineConstant(0):
            return lhs
        case AffineBinary("+", inner, AffineConstant(a)), AffineConstant(b):
            return _add(inner, AffineConstant(a + b))
        case AffineBinary("+", inner, AffineConstant() as a), _:
            return _add(_add(inner, rhs), a)
    a_base, a_factor = _scaled(lhs)
    b_base, b_factor = _scaled(rhs)
    if a_base == b_base:
        return _mul(a_base, AffineConstant(a_factor + b_factor))
    return AffineBinary("+", lhs, rhs)


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
    return AffineBinary("*", lhs, rhs)


def _div(lhs: AffineExpr, rhs: AffineExpr, kind: str) -> AffineExpr:
    match lhs, rhs:
        case AffineConstant(a), AffineConstant(b) if b > 0:
            return AffineConstant(_EVALUATE[kind](a, b))
        case _, AffineConstant(1):
            return AffineConstant(0) if kind == "mod" else lhs
        case AffineBinary("*", base, AffineConstant(a)), AffineConstant(b) if b > 0 and a % b == 0:
            return AffineConstant(0) if kind == "mod" else _mul(base, AffineConstant(a // b))
    return AffineBinary(kind, lhs, rhs)


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
        """Every result a different dim (so an access without arithmetic or repeats)."""
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
