"""Comprehensions evaluated with NumPy: views instead of loops over elements.

Every access becomes a strided view over the iteration space (or, for indices with `//` and
`%`, a gather). A sum of products of two accesses becomes a matrix product.

Numerics: f16, bf16 and smaller floats are computed in f32 and rounded once at the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from .affine import AffineExpr, AffineMap
from .comprehension import (
    Apply,
    Comprehension,
    Load,
    Number,
    Position,
    Scalar,
    combiner_identity,
)
from .conversions import CASTS, convert, is_small_integer
from .diagnostics import NncError
from .numpy_types import numpy_to_type, type_to_numpy
from .packing import DOTS, PACKINGS, PARTS, unsigned_part
from .types import IntegerType, Type


def accumulator(dtype: Any) -> np.dtype:
    """The dtype in which elements are computed and summed: f32 for smaller floats, else `dtype`.

    For integers of a width that NumPy lacks, it is the next wider one.
    """
    dtype = np.dtype(dtype)
    if dtype.kind in "biucO" or dtype.char in "fd":
        return dtype
    if dtype.kind == "V" and is_small_integer(type := numpy_to_type(dtype)):
        return np.dtype(np.uint8 if type.signedness else np.int8)  # type: ignore[attr-defined]
    return np.dtype(np.float32)


def evaluate(form: Comprehension, operands: Sequence[np.ndarray], dtype: np.dtype) -> np.ndarray:
    """The result of a comprehension whose dimensions are all known, in a given dtype."""
    sizes: list[Any] = [d.size for d in form.dims]
    if None in sizes:
        raise NncError(f"`{form.text}`: extents must be known")
    views = [
        view(
            _row_major(operands[a.operand]),
            a.map,
            sizes,
        )
        for a in form.accesses
    ]
    with np.errstate(all="ignore"):
        if _is_contraction(form):
            result = _contract(form, views, sizes)
        elif _is_contraction(form, DOTS):
            packing = PACKINGS[DOTS[form.value.function]]  # type: ignore[union-attr]
            terms = [_contract(form, list(pair), sizes) for pair in packing.parts(*views)]
            result = np.add.reduce(terms, dtype=accumulator(dtype))
        else:
            result = _reduce(form, _scalar(form.value, views, sizes), sizes)
        kept = convert(result, numpy_to_type(dtype))
        return np.ascontiguousarray(kept).reshape(form.shape)


def _row_major(operand: np.ndarray) -> np.ndarray:
    """The operand in its dtype of computation, contiguous: NumPy's sums depend on the layout."""
    array = np.asarray(operand)
    array = array.astype(_wide(array.dtype), copy=False)
    return array if array.flags.c_contiguous else array.copy("C")


def _wide(dtype: np.dtype) -> np.dtype:
    return accumulator(dtype)


# -- views ---------------------------------------------------------------------------------------


def view(operand: np.ndarray, access: AffineMap, sizes: Sequence[int]) -> np.ndarray:
    """The operand over the iteration space; dimensions that it does not depend on have extent 1.

    Raises NncError where an index would leave the operand.
    """
    used = set().union(*(e.dims_used() for e in access.results), set())
    shape = [n if d in used else 1 for d, n in enumerate(sizes)]
    if 0 in shape:
        return np.zeros(shape, operand.dtype)
    linear: list[Any] = [e.linear(len(sizes)) for e in access.results]
    if None in linear:
        return _gather(operand, access, shape)
    strides = [0] * len(sizes)
    origin = []
    for (factors, offset), extent, stride in zip(
        linear, operand.shape, operand.strides, strict=True
    ):
        low = offset + sum(min(0, f * (n - 1)) for f, n in zip(factors, shape, strict=True))
        high = offset + sum(max(0, f * (n - 1)) for f, n in zip(factors, shape, strict=True))
        if low < 0 or high >= extent:
            raise NncError(f"indices {low}..{high} leave an axis of {extent} elements")
        origin.append(slice(offset, None))
        for d, factor in enumerate(factors):
            strides[d] += factor * stride
    return np.lib.stride_tricks.as_strided(operand[tuple(origin)], shape, strides, writeable=False)


def _gather(operand: np.ndarray, access: AffineMap, shape: list[int]) -> np.ndarray:
    grid = np.ogrid[tuple(slice(n) for n in shape)]
    indices = []
    for expr, extent in zip(access.results, operand.shape, strict=True):
        index = np.asarray(_index(expr, grid))
        if index.size and (index.min() < 0 or index.max() >= extent):
            raise NncError(f"indices leave an axis of {extent} elements")
        indices.append(index)
    return operand[tuple(np.broadcast_arrays(*indices))].reshape(shape)


def _index(expr: AffineExpr, grid: Sequence[np.ndarray]) -> Any:
    return expr.evaluate(list(grid))


# -- sums of products ------------------------------------------------------------------------------


def _is_contraction(form: Comprehension, products: Collection[str] = ("mul",)) -> bool:
    match form.value:
        case Apply(function, (Load(a), Load(b))) if a != b and function in products:
            return form.combiner == "add"
    return False


def _contract(form: Comprehension, views: list[np.ndarray], sizes: list[int]) -> np.ndarray:
    """A sum of products, computed as a matrix product of [batch, rows, sum] and [batch, sum,
    columns].
    """
    lhs, rhs = views
    in_out = [d.kind == "parallel" for d in form.dims]
    axes = range(len(sizes))
    only_lhs = [d for d in axes if rhs.shape[d] == 1 != lhs.shape[d]]
    only_rhs = [d for d in axes if lhs.shape[d] == 1 != rhs.shape[d]]
    # Dimensions that one factor alone sums over.
    lone = tuple(d for d in only_lhs if not in_out[d])
    lhs = lhs.sum(axis=lone, keepdims=True, dtype=lhs.dtype) if lone else lhs
    lone = tuple(d for d in only_rhs if not in_out[d])
    rhs = rhs.sum(axis=lone, keepdims=True, dtype=rhs.dtype) if lone else rhs
    rows = [d for d in only_lhs if in_out[d]]
    columns = [d for d in only_rhs if in_out[d]]
    both = [d for d in axes if d not in only_lhs and d not in only_rhs]
    batch = [d for d in both if in_out[d]]
    summed = [d for d in both if not in_out[d]]
    rest = [d for d in axes if d not in (*batch, *rows, *columns, *summed)]

    def matrix(x: np.ndarray, *groups: list[int]) -> np.ndarray:
        order = [d for group in groups for d in group]
        x = x.transpose(*order, *[d for d in axes if d not in order])
        shape = [
            math.prod(lhs.shape[d] * rhs.shape[d] // _both(lhs, rhs, d) for d in g) for g in groups
        ]
        return x.reshape(shape)

    product = np.matmul(matrix(lhs, batch, rows, summed), matrix(rhs, batch, summed, columns))
    order = [*batch, *rows, *columns]
    extents = [
        max(lhs.shape[d], rhs.shape[d]) if 0 not in (lhs.shape[d], rhs.shape[d]) else 0
        for d in order
    ]
    product = product.reshape(extents + [1] * (len(summed) + len(rest)))
    product = product.transpose(np.argsort([*order, *summed, *rest]))
    return _to_result(form, product, sizes)


def _both(lhs: np.ndarray, rhs: np.ndarray, d: int) -> int:
    """The extent of dimension `d` if both views have it, else 1."""
    a, b = lhs.shape[d], rhs.shape[d]
    return max(a if a == b else 1, 1)


def _reduce(form: Comprehension, values: np.ndarray, sizes: list[int]) -> np.ndarray:
    values = np.asarray(values)
    values = values.reshape([1] * (len(sizes) - values.ndim) + list(values.shape))
    axes = tuple(d for d, dim in enumerate(form.dims) if dim.kind == "reduction")
    if axes and form.combiner:
        shape = [n if d in axes else values.shape[d] for d, n in enumerate(sizes)]
        values = np.broadcast_to(values, shape)
        reduce = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
        identity = combiner_identity(form.combiner, form.value.type)
        values = reduce[form.combiner].reduce(
            values,
            axis=axes,
            keepdims=True,
            dtype=values.dtype,
            initial=values.dtype.type(identity),
        )
    return _to_result(form, values, sizes)


def _to_result(form: Comprehension, values: np.ndarray, sizes: list[int]) -> np.ndarray:
    """Rearrange the iteration space, with reduced extents 1, to the result's dimensions."""
    order = [e.position for e in form.out.results]  # type: ignore[attr-defined]
    reduced = [d for d in range(len(sizes)) if d not in order]
    values = values.transpose([*order, *reduced]).reshape([values.shape[d] for d in order])
    return np.broadcast_to(values, [sizes[d] for d in order])


# -- scalars ---------------------------------------------------------------------------------


def _scalar(value: Scalar, views: list[np.ndarray], sizes: Sequence[int]) -> Any:
    match value:
        case Load(access):
            return views[access]
        case Number(number, type):
            return _wide(type_to_numpy(type)).type(number)
        case Position(dim, type):
            places = np.arange(sizes[dim]).astype(_wide(type_to_numpy(type)))
            return places.reshape([-1 if d == dim else 1 for d in range(len(sizes))])
        case Apply(function, (inner,), type) if function in CASTS:
            return convert(_scalar(inner, views, sizes), type, CASTS[function])
        case Apply(function, args, type):
            operands = [_scalar(a, views, sizes) for a in args]
            if function == "pow":
                base, exponent = operands
                return _pow(base, exponent, type)
            return NUMPY[function](*operands)
    raise TypeError(value)


def _div(a: Any, b: Any) -> Any:
    if a.dtype.kind not in "iu":
        return np.true_divide(a, b)
    zero = b == 0
    safe = np.where(zero, b.dtype.type(1), b)
    quotient = a // safe
    inexact = (quotient * safe != a) & ((a < 0) != (safe < 0))
    return np.where(zero, a.dtype.type(0), quotient + inexact.astype(a.dtype)).astype(a.dtype)


def _mod(a: Any, b: Any) -> Any:
    if a.dtype.kind not in "iu":
        return np.mod(a, b)
    safe = np.where(b == 0, b.dtype.type(1), b)
    return np.where(b == 0, a.dtype.type(0), np.mod(a, safe)).astype(a.dtype)


def _fmod(a: Any, b: Any) -> Any:
    if a.dtype.kind not in "iu":
        return np.fmod(a, b)
    safe = np.where(b == 0, b.dtype.type(1), b)
    return np.where(b == 0, a.dtype.type(0), np.fmod(a, safe)).astype(a.dtype)


def power(base: Any, exponent: Any) -> Any:
    """Powers of floats as C has them: NumPy takes roots for 0.5, which differ at -inf and -0.0."""
    is_other = (exponent == 0.5) & (np.isneginf(base) | (base == 0))
    return np.power(np.where(is_other, np.abs(base), base), exponent)


def _pow(base: Any, exponent: Any, type: Type) -> Any:
    if not isinstance(type, IntegerType):
        return power(base, exponent.astype(base.dtype)).astype(base.dtype)
    if exponent.dtype.kind in "iu" and not (np.asarray(exponent) < 0).any():
        return np.power(base, exponent.astype(base.dtype))
    real = np.power(base.astype(np.float64), exponent.astype(np.float64))
    return convert(real, type)


def _shift(function: Callable, a: Any, b: Any, past: Callable) -> Any:
    bits = a.dtype.itemsize * 8
    beyond = (b < 0) | (b >= bits)
    shifted = function(a, np.where(beyond, b.dtype.type(0), b))
    return np.where(beyond, past(a).astype(a.dtype), shifted)


def _logical(bitwise: Callable, logical: Callable) -> Callable:
    return lambda *args: (logical if args[0].dtype == np.bool_ else bitwise)(*args)


def erf(x: Any) -> Any:
    """The error function. Source: W. J. Cody, Rational Chebyshev approximations, 1969."""
    wide = np.asarray(x, np.float64)
    result = np.where(np.abs(wide) <= 0.46875, _erf_near(wide), np.copysign(1 - _tail(wide), wide))
    return np.where(np.isnan(wide), wide, result).astype(x.dtype)


def erfc(x: Any) -> Any:
    """1 - erf(x), with all digits where erf(x) is close to 1. Source: as `erf`."""
    wide = np.asarray(x, np.float64)
    tail = _tail(wide)
    far = np.where(wide < 0, 2 - tail, tail)
    result = np.where(np.abs(wide) <= 0.46875, 1 - _erf_near(wide), far)
    return np.where(np.isnan(wide), wide, result).astype(x.dtype)


def _erf_near(x: Any) -> Any:
    """erf(x) up to 0.46875."""
    return x * _ratio(np.minimum(x * x, 1.0), _NEAR)


def _tail(x: Any) -> Any:
    """1 - erf(|x|) from 0.46875 on."""
    size, square = np.abs(x), x * x
    middle = _ratio(np.minimum(size, 4.0), _MIDDLE)
    inverse = 1 / np.maximum(square, 16.0)
    far = (0.5641895835477563 - inverse * _ratio(inverse, _FAR)) / np.maximum(size, 4.0)
    return np.exp(-square) * np.where(size > 4.0, far, middle)


def _ratio(x: Any, table: tuple[Sequence[float], Sequence[float]]) -> Any:
    """The quotient of two polynomials, coefficients from the highest power."""
    return np.polyval(table[0], x) / np.polyval(table[1], x)


_NEAR = (
    (
        1.85777706184603153e-1,
        3.16112374387056560e0,
        1.13864154151050156e2,
        3.77485237685302021e2,
        3.20937758913846947e3,
    ),
    (
        1.0,
        2.36012909523441209e1,
        2.44024637934444173e2,
        1.28261652607737228e3,
        2.84423683343917062e3,
    ),
)
_MIDDLE = (
    (
        2.15311535474403846e-8,
        5.64188496988670089e-1,
        8.88314979438837594e0,
        6.61191906371416295e1,
        2.98635138197400131e2,
        8.81952221241769090e2,
        1.71204761263407058e3,
        2.05107837782607147e3,
        1.23033935479799725e3,
    ),
    (
        1.0,
        1.57449261107098347e1,
        1.17693950891312499e2,
        5.37181101862009858e2,
        1.62138957456669019e3,
        3.29079923573345963e3,
        4.36261909014324716e3,
        3.43936767414372164e3,
        1.23033935480374942e3,
    ),
)
_FAR = (
    (
        1.63153871373020978e-2,
        3.05326634961232344e-1,
        3.60344899949804439e-1,
        1.25781726111229246e-1,
        1.60837851487422766e-2,
        6.58749161529837803e-4,
    ),
    (
        1.0,
        2.56852019228982242e0,
        1.87295284992346047e0,
        5.27905102951428412e-1,
        6.05183413124413191e-2,
        2.33520497626869185e-3,
    ),
)

NUMPY: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": _div,
    "mod": _mod,
    "fmod": _fmod,
    "min": np.minimum,
    "max": np.maximum,
    "neg": np.negative,
    "abs": np.abs,
    "sign": np.sign,
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "ceil": np.ceil,
    "floor": np.floor,
    "round": np.rint,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "erf": erf,
    "erfc": erfc,
    "is_nan": np.isnan,
    "not": _logical(np.invert, np.logical_not),
    "and": _logical(np.bitwise_and, np.logical_and),
    "or": _logical(np.bitwise_or, np.logical_or),
    "xor": _logical(np.bitwise_xor, np.logical_xor),
    "shift_left": lambda a, b: _shift(np.left_shift, a, b, lambda a: np.zeros_like(a)),
    "shift_right": lambda a, b: _shift(np.right_shift, a, b, lambda a: np.where(a < 0, -1, 0)),
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    **{name: PACKINGS[packing].dot for name, packing in DOTS.items()},
    **{name: unsigned_part(bits) for name, bits in PARTS.items()},
    "select": np.where,
}


# -- padding ---------------------------------------------------------------------------------


def pad(
    x: np.ndarray, pairs: Sequence[tuple[int, int]], fill: Any = 0, mode: str = "constant"
) -> np.ndarray:
    """Elements added (or, where negative, removed) before and after each axis.

    More may be removed on one side than there is, if the other side adds as much.
    """
    crop, grow = [], []
    for extent, (before, after) in zip(x.shape, pairs, strict=True):
        first = min(max(0, -before), extent)
        last = max(first, extent - max(0, -after))
        crop.append(slice(first, last))
        added = min(max(0, before), extent + before + after)
        grow.append((added, extent + before + after - added - (last - first)))
    x = x[tuple(crop)]
    if not any(a or b for a, b in grow):
        return x
    if mode == "constant":
        return np.pad(x, grow, constant_values=x.dtype.type(fill))
    return np.pad(x, grow, mode=mode)  # type: ignore[call-overload]
