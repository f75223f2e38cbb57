"""NumPy's functions in `frontends/common/formulas.py` and `arrays.py` are those of NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from nnc.frontends.common import arrays, formulas, reductions, scans
from nnc.frontends.common.terms import Term, constant
from nnc.ir.types import i64

from .test_families import ran

RNG = np.random.default_rng(5)
X = RNG.standard_normal((3, 4, 5)).astype("f4")
SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 0.5, -2.5, 3.0, 1e-40, 3e38], "f4")
FIRST, SECOND = (v.ravel().copy() for v in np.meshgrid(SPECIAL, SPECIAL))

UNARY = {
    "trunc": (formulas.trunc, np.trunc),
    "round": (lambda x: formulas.around(x, 0), np.round),
    "log2": (formulas.log2, np.log2),
    "log10": (formulas.log10, np.log10),
    "exp2": (formulas.exp2, np.exp2),
    "sinc": (formulas.sinc, np.sinc),
    "cbrt": (formulas.cbrt, np.cbrt),
    "isnan": (formulas.isnan, np.isnan),
    "isfinite": (formulas.isfinite, np.isfinite),
    "nan_to_num": (formulas.nan_to_num, np.nan_to_num),
    "others": (
        lambda x: formulas.nan_to_num(x, 1.0, 2.0, 3.0),
        lambda x: np.nan_to_num(x, nan=1.0, posinf=2.0, neginf=3.0),
    ),
}
BINARY = {
    "fmax": (formulas.fmax, np.fmax),
    "fmin": (formulas.fmin, np.fmin),
    "heaviside": (formulas.heaviside, np.heaviside),
    "copysign": (formulas.copysign, np.copysign),
    "nextafter": (formulas.nextafter, np.nextafter),
    "hypot": (formulas.hypot, np.hypot),
    "arctan2": (formulas.atan2, np.arctan2),
    "logaddexp": (formulas.logaddexp, np.logaddexp),
    "logaddexp2": (lambda x, y: formulas.logaddexp(x, y, np.log(2)), np.logaddexp2),
    "isclose": (lambda x, y: formulas.isclose(x, y, 1e-5, 1e-8), np.isclose),
    "isclose, NaN too": (
        lambda x, y: formulas.isclose(x, y, 0.1, 0.1, True),
        lambda x, y: np.isclose(x, y, 0.1, 0.1, equal_nan=True),
    ),
}


def of_terms(make, *given, opened=False):
    """What a function of terms makes of arrays."""
    return ran(lambda n, *values: make(*(Term(n, v) for v in values)).value, *given, opened=opened)


def same(found, wanted):
    wanted = np.asarray(wanted)
    assert found.shape == wanted.shape and (found.dtype == bool) == (wanted.dtype == bool)
    np.testing.assert_allclose(found, wanted, rtol=2e-6, atol=1e-40)
    if wanted.dtype.kind == "f":
        zeros = wanted == 0
        np.testing.assert_array_equal(np.signbit(found[zeros]), np.signbit(wanted[zeros]))


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_number(name):
    make, wanted = UNARY[name]
    with np.errstate(all="ignore"):
        same(of_terms(make, SPECIAL), wanted(SPECIAL))
        same(of_terms(make, X), wanted(X))


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_numbers(name):
    make, wanted = BINARY[name]
    with np.errstate(all="ignore"):
        same(of_terms(make, FIRST, SECOND), wanted(FIRST, SECOND))


def test_integers_have_neither_infinities_nor_fractions():
    x, y = np.arange(-3, 3), np.array([2, -2, 0, 0, 5, 7])
    for name in ("trunc", "nan_to_num"):
        same(of_terms(UNARY[name][0], x), x)
    for name in ("fmax", "fmin"):
        same(of_terms(BINARY[name][0], x, y), BINARY[name][1](x, y))
    same(of_terms(formulas.heaviside, x, y), np.heaviside(x, y))


def test_numbers_of_halves_are_replaced_by_what_halves_hold():
    x = np.array([np.nan, np.inf, -np.inf, 1], "f2")
    same(of_terms(formulas.nan_to_num, x), np.nan_to_num(x))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_ldexp_where_the_power_alone_is_beyond_the_type(dtype):
    info = np.finfo(dtype)
    x = np.array([info.max, info.smallest_subnormal, 1.5, 0, np.inf, np.nan, 3], dtype)
    power = np.array([info.minexp - 9, info.maxexp + 9, 3, 10**4, -(10**4), 1, -2])
    wanted = np.ldexp(x, power.astype("i4"))
    found = of_terms(formulas.ldexp, x, np.clip(power, -(10**4), 10**4).astype(dtype))
    np.testing.assert_array_equal(found, wanted)


def test_places_before_the_point_are_rounded_by_division():
    x = np.array([15, 25, 35, 550, 12345.678, -449.99, 2.675, 0.125], "f4")
    for decimals in (-2, -1, 1, 2):
        same(of_terms(lambda x, d=decimals: formulas.around(x, d), x), x.round(decimals))


def test_halves_away_from_zero():
    x = np.array([0.49999997, -0.49999997, 0.5, -0.5, 2.5, -3.5, 8388609.0, 1.2], "f4")
    found = of_terms(formulas.round_half_away, x)
    np.testing.assert_array_equal(found, [0, 0, 1, -1, 3, -4, 8388609, 1])


@pytest.mark.parametrize("opened", [False, True])
def test_divisors_and_multiples(opened):
    x, y = np.array([[12], [-8], [0], [35]]), np.array([18, 12, 0, -14, 7])
    same(of_terms(formulas.gcd, x, y, opened=opened), np.gcd(x, y))
    same(of_terms(formulas.lcm, x, y, opened=opened), np.lcm(x, y))


@pytest.mark.parametrize("opened", [False, True])
def test_what_is_among_others_and_what_holds_everywhere(opened):
    x, y = np.array([[1, 2], [3, 5]]), np.array([5, 1])
    same(of_terms(formulas.isin, x, y, opened=opened), np.isin(x, y))
    for given in (x > 0, x > 1, np.zeros((0, 2), bool)):
        same(of_terms(formulas.all_of, given, opened=opened), given.all())


@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("rank", [0, 1, 2, 3])
@pytest.mark.parametrize("name", ["hstack", "vstack", "dstack", "column_stack"])
def test_stacks(name, rank, opened):
    x = X[(0,) * (3 - rank)]
    found = ran(lambda n, *values: getattr(arrays, name)(n, values), x, x + 1, opened=opened)
    same(found, getattr(np, name)([x, x + 1]))


@pytest.mark.parametrize("rank", [0, 1, 2, 3])
def test_further_dimensions(rank):
    x = X[(0,) * (3 - rank)]
    for least in (1, 2, 3):
        found = ran(lambda n, v, least=least: arrays.atleast(n, v, least), x)
        same(found, getattr(np, f"atleast_{least}d")(x))


def test_parts():
    for given in (1, 3, 7, [2], [0, 2, 9], [-1], [3, 1], []):
        wanted = [len(part) for part in np.array_split(np.arange(5), given)]
        assert arrays.array_split(5, given) == wanted


def test_dimensions_moved():
    for source, target in (([0], [2]), ([2], [0]), ([0, 2], [1, 0]), ([2, 0, 1], [0, 1, 2])):
        found = X.transpose(arrays.moveaxis(3, source, target))
        np.testing.assert_array_equal(found, np.moveaxis(X, source, target))


LAID_OUT = {
    **{f"rot90 {k}": (lambda n, x, k=k: arrays.rot90(n, x, k, 0, 2), lambda x, k=k: np.rot90(x, k, (0, 2)))
       for k in range(-1, 5)},
    "diff": (lambda n, x: arrays.diff(n, x, 1, 2), lambda x: np.diff(x, 2, 1)),
    "repeat": (lambda n, x: arrays.repeat(n, x, 3, 1), lambda x: x.repeat(3, 1)),
    "repeat none": (lambda n, x: arrays.repeat(n, x, 0, 2), lambda x: x.repeat(0, 2)),
    "repeat each": (
        lambda n, x: arrays.repeat_each(n, x, n.constant(np.array([2, 0, 1, 3])), 1),
        lambda x: x.repeat([2, 0, 1, 3], 1),
    ),
    "tile fewer": (lambda n, x: arrays.tile(n, x, n.constant(np.array([2, 3]))), lambda x: np.tile(x, (2, 3))),
    "tile more": (
        lambda n, x: arrays.tile(n, x, n.constant(np.array([2, 1, 1, 2]))),
        lambda x: np.tile(x, (2, 1, 1, 2)),
    ),
    "sort": (lambda n, x: reductions.ordered(n, x, 1)[0], lambda x: np.sort(x, 1)),
    "sort down": (lambda n, x: reductions.ordered(n, x, 1, True)[0], lambda x: -np.sort(-x, 1)),
    "argsort": (lambda n, x: reductions.ordered(n, x, 2)[1], lambda x: np.argsort(x, 2)),
    "logcumsumexp": (lambda n, x: scans.logcumsumexp(n, x, 1), lambda x: np.logaddexp.accumulate(x, 1)),
}  # fmt: skip


@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("name", LAID_OUT)
def test_elements_laid_out_otherwise(name, opened):
    make, wanted = LAID_OUT[name]
    same(ran(make, X, opened=opened), wanted(X))


def test_sums_of_powers_of_nothing():
    """The logarithm of 0 is no NaN, but -inf."""
    x = np.array([-np.inf, -np.inf, 1, 2], "f4")
    same(ran(lambda n, v: scans.logcumsumexp(n, v, 0), x), np.logaddexp.accumulate(x))


@pytest.mark.parametrize("opened", [False, True])
def test_repetitions_that_the_run_tells(opened):
    counts = np.array([2, 0, 1, 3])
    found = ran(lambda n, x, c: arrays.repeat_each(n, x, c, 1), X, counts, opened=opened)
    same(found, X.repeat(counts, 1))


def test_differences_of_truth_values():
    same(ran(lambda n, x: arrays.diff(n, x, 2), X > 0), np.diff(X > 0, axis=2))


@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("indexing", ["xy", "ij"])
def test_meshes(indexing, opened):
    given = [np.arange(3.0), np.arange(2.0) + 7, np.array([5.0])]
    for i, wanted in enumerate(np.meshgrid(*given, indexing=indexing)):
        found = ran(lambda n, *v, i=i: arrays.meshgrid(n, v, indexing)[i], *given, opened=opened)
        same(found, wanted)


@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("k", [-1, 0, 2])
def test_diagonals(k, opened):
    for x in (X[0], X[0, 0]):
        same(ran(lambda n, v: arrays.diag(n, v, k), x, opened=opened), np.diag(x, k))


PRODUCTS = {
    "inner": (arrays.inner, np.inner, X, X[0]),
    "inner of numbers": (arrays.inner, np.inner, X, X[0, 0, 0]),
    "dot": (arrays.dot, np.dot, X, X[:, 0].repeat(2, 0)[:5]),
    "dot of many": (arrays.dot, np.dot, X, X.transpose(0, 2, 1)),
    "dot of vectors": (arrays.dot, np.dot, X, X[0, 0]),
    "tensordot": (
        lambda x, y: arrays.tensordot(x, y, [2, 0], [1, 2]),
        lambda x, y: np.tensordot(x, y, ([2, 0], [1, 2])),
        X,
        X.transpose(1, 2, 0),
    ),
    "kron": (arrays.kron, np.kron, X[0], X),
    "cross": (
        lambda x, y: arrays.cross(x, y, 0),
        lambda x, y: np.cross(x, y, axis=0),
        X,
        X[::-1].copy(),
    ),
}


@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name, opened):
    make, wanted, x, y = PRODUCTS[name]
    found = of_terms(make, x, y, opened=opened)
    assert found.shape == wanted(x, y).shape
    np.testing.assert_allclose(found, wanted(x, y), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("right", [False, True])
def test_places_in_order(right, opened):
    side = "right" if right else "left"
    rows, x = np.sort(X[0], 1).round(1), X[0, :, :3].round(1)
    x[0, 0], x[1, 1], x[2, 2] = np.nan, np.inf, -np.inf

    def make(table: Term, value: Term) -> Term:
        return arrays.searchsorted(table, value, right)

    same(of_terms(make, rows[0], x, opened=opened), np.searchsorted(rows[0], x, side))
    wanted = [np.searchsorted(row, v, side) for row, v in zip(rows, x, strict=True)]
    same(of_terms(make, rows, x, opened=opened), wanted)


@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("least", [0, 7])
def test_counts_of_numbers(least, opened):
    x, weights = np.array([[1, 1, 3], [0, 4, 4]]), np.array([[0.5, 1, 2], [3, 4, 5]], "f4")

    def make(numbers: Term, *others: Term) -> Term:
        return arrays.bincount(numbers, *(others or [None]), constant(numbers.n, least, i64))

    size = max(least, 5)
    wanted = [np.bincount(row, minlength=size) for row in x]
    same(of_terms(make, x, opened=opened), wanted)
    same(of_terms(make, x[0], opened=opened), np.bincount(x[0], minlength=least))
    same(of_terms(make, x[0, :0], opened=opened), np.bincount(x[0, :0], minlength=least))
    wanted = [np.bincount(row, w, size) for row, w in zip(x, weights, strict=True)]
    same(of_terms(make, x, weights, opened=opened), wanted)


def test_coordinates():
    at = np.array([0, 23, 59])
    for i, wanted in enumerate(np.unravel_index(at, X.shape)):
        same(of_terms(lambda v, i=i: arrays.unravel_index(v, X.shape)[i], at), wanted)


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_windows(count):
    pairs = {"hann": np.hanning, "hamming": np.hamming, "blackman": np.blackman}
    for name, wanted in pairs.items():
        np.testing.assert_allclose(arrays.window(name, count, False), wanted(count), atol=1e-12)
        whole = wanted(count + 1)[:-1] if count > 1 else np.ones(count)
        np.testing.assert_allclose(arrays.window(name, count, True), whole, atol=1e-12)


@pytest.mark.parametrize("coefficients", [[2.0], [2.0, -1.0], [0.5, 0.0, 3.0, -1.0]])
def test_polynomials(coefficients):
    same(of_terms(lambda x: formulas.polyval(coefficients, x), X), np.polyval(coefficients, X))


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_cube_roots_of_the_largest_and_smallest(kind):
    limits = np.finfo(kind)
    x = np.array([limits.max, limits.min, limits.smallest_subnormal, limits.tiny, -np.inf], kind)
    np.testing.assert_allclose(of_terms(formulas.cbrt, x), np.cbrt(x), rtol=2e-6, atol=0)


def test_zero_keeps_its_sign_when_it_is_rounded():
    x = np.array([-0.0, 0.0, -0.3, 2.5, -2.5, np.inf, -np.inf], "f4")
    found = of_terms(formulas.round_half_away, x)
    wanted = np.array([-0.0, 0.0, -0.0, 3, -3, np.inf, -np.inf], "f4")
    np.testing.assert_array_equal(found.view("i4"), wanted.view("i4"))
