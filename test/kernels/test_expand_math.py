"""Every expansion against f64, over all exponents, and at its limits."""

from __future__ import annotations

import math as python_math
from importlib import import_module

import numpy as np
import pytest
from nnc.dialects import arith, func, math
from nnc.dialects.builtin import ModuleOp
from nnc.ir.attributes import StringAttr
from nnc.ir.core import Block, Region
from nnc.ir.passes import PassContext
from nnc.ir.types import FunctionType, VectorType, bf16, f16, f32, f64, i64
from nnc.kernels.math.expand_math import EXACT, ExpandMath
from nnc.kernels.math.minimax import TABLES, best_combination
from nnc.numerics.interpreter import Interpreter
from nnc.targets.base import host

from .elementwise import all_exponents, compiled, expanded, module_of, ulps


def elementwise(function):
    """A function of Python's math module on f64 arrays."""
    apply = np.frompyfunc(function, 1, 1)
    return lambda x: np.asarray(apply(x), np.float64)


# The op, what it should be in f64, the largest error in ulp, and where it is looked at closely.
CASES = {
    "exp": (math.Exp, np.exp, 0.9, [(-105, 90), (-1, 1)]),
    "exp2": (math.Exp2, np.exp2, 0.9, [(-151, 129)]),
    "expm1": (math.ExpM1, np.expm1, 1.5, [(-19, 90), (-1, 1)]),
    "sinh": (math.Sinh, np.sinh, 1.7, [(-90, 90), (-2, 2)]),
    "cosh": (math.Cosh, np.cosh, 1.4, [(-90, 90), (-2, 2)]),
    "tanh": (math.Tanh, np.tanh, 2.5, [(-10, 10), (-1, 1)]),
    "log": (math.Log, np.log, 0.9, [(0, 3)]),
    "log2": (math.Log2, np.log2, 1.1, [(0, 3)]),
    "log10": (math.Log10, np.log10, 1.0, [(0, 3)]),
    "log1p": (math.Log1p, np.log1p, 1.5, [(-1, 4), (-0.1, 0.1)]),
    "asinh": (math.Asinh, np.arcsinh, 1.8, [(-10, 10), (-1e9, 1e9)]),
    "acosh": (math.Acosh, np.arccosh, 2.2, [(1, 10), (1, 1.01), (1, 1e9)]),
    "atanh": (math.Atanh, np.arctanh, 2.2, [(-1, 1)]),
    "asin": (math.Asin, np.arcsin, 2.4, [(-1, 1)]),
    "acos": (math.Acos, np.arccos, 1.2, [(-1, 1)]),
    "atan": (math.Atan, np.arctan, 1.5, [(-10, 10)]),
    "erf": (math.Erf, elementwise(python_math.erf), 1.3, [(-4, 4)]),
    "erfc": (math.Erfc, elementwise(python_math.erfc), 0.57, [(-4, 11)]),
    "cbrt": (math.Cbrt, np.cbrt, 0.51, [(-9, 9)]),
}
PERIODIC = {
    "sin": (math.Sin, np.sin, 1.7),
    "cos": (math.Cos, np.cos, 1.7),
    "tan": (math.Tan, np.tan, 3.5),
}


def close_looks(ranges, count=30001):
    return [np.linspace(a, b, count).astype(np.float32) for a, b in ranges]


def check(name, found, exact, x, limit):
    error = ulps(found, exact)
    worst = int(np.argmax(error))
    at = [float(part[worst]) for part in x]
    assert error[worst] <= limit, (
        f"{name}{tuple(at)} is {found[worst]!r}, not {exact[worst]!r}: {error[worst]} ulp"
    )


SEPARATE = 0.8
"""How much larger errors are where products are rounded before they are added. Units: ulp."""


def unfused(*arguments, **options):
    """By the interpreter, as for a machine without fused multiply-adds."""
    return expanded(*arguments, target="wasm32-simd", **options)


def allowed(limit, how):
    """The largest error where code of this kind runs."""
    fused = how is not unfused and host().machine.has_fma
    return limit if fused else limit + SEPARATE


@pytest.mark.sampled(3)
@pytest.mark.parametrize("how", [expanded, unfused, compiled])
@pytest.mark.parametrize("name", CASES)
def test_error(name, how):
    op, exact, limit, ranges = CASES[name]
    x = np.concatenate([all_exponents(64), *close_looks(ranges)])
    with np.errstate(all="ignore"):
        found, wanted = how(op, x, element=f32), exact(x.astype(np.float64))
    check(name, found, wanted, (x,), allowed(limit, how))


@pytest.mark.sampled(5)
@pytest.mark.parametrize("how", [expanded, unfused, compiled])
@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize("name", PERIODIC)
def test_error_of_periodic_functions(name, far, how):
    op, exact, limit = PERIODIC[name]
    rng = np.random.default_rng(3)
    turns = rng.integers(1, 1 << 17, 5000) * (np.pi / 2)
    x = np.concatenate([*close_looks([(-10, 10), (-(2.0**18), 2.0**18)]), turns]).astype(np.float32)
    tiny = all_exponents(64)
    x = np.concatenate([x, tiny] if far else [x, tiny[~(np.abs(tiny) > 2.0**18)]])
    with np.errstate(all="ignore"):
        found = how(op, x, element=f32, arithmetic_only=False)
        check(name, found, exact(x.astype(np.float64)), (x,), limit)


SPECIAL = np.float32(
    [
        "0",
        "-0",
        "1",
        "-1",
        "2",
        "-2",
        "3",
        "-3",
        "0.5",
        "-0.5",
        "0.25",
        "inf",
        "-inf",
        "nan",
        "1e-45",
        "-1e-45",
        "3e38",
        "-3e38",
        "1e-38",
        "16777216",
        "16777215",
        "8388608.5",
    ]
)


@pytest.mark.parametrize("how", [expanded, compiled])
@pytest.mark.parametrize(
    ("name", "op", "exact", "limit"),
    [("pow", math.PowF, np.power, 0.51), ("atan2", math.Atan2, np.arctan2, 1.8)],
)
def test_functions_of_two(name, op, exact, limit, how):
    rng = np.random.default_rng(4)
    grid = [part.reshape(-1) for part in np.meshgrid(SPECIAL, SPECIAL)]
    wide = all_exponents(32)
    near = rng.uniform(0, 20, 20000).astype(np.float32)
    x = np.concatenate([grid[0], rng.permutation(wide), near])
    y = np.concatenate([grid[1], rng.permutation(wide), rng.permutation(near) - 10])
    with np.errstate(all="ignore"):
        exactly = exact(x.astype(np.float64), y.astype(np.float64))
        check(name, how(op, x, y, element=f32), exactly, (x, y), limit)


WITHOUT_F64 = {"pow": 2.5, "cbrt": 1, "erfc": 5}
"""What is computed in f64 where there is such arithmetic: the largest error elsewhere, in ulp."""


def test_functions_of_two_without_f64():
    rng = np.random.default_rng(4)
    grid = [part.reshape(-1) for part in np.meshgrid(SPECIAL, SPECIAL)]
    wide = all_exponents(32)
    near = rng.uniform(0, 20, 20000).astype(np.float32)
    one = rng.uniform(0.5, 2, 20000).astype(np.float32)
    x = np.concatenate([grid[0], rng.permutation(wide), near, one])
    y = np.concatenate(
        [grid[1], rng.permutation(wide), rng.permutation(near) - 10, near * 12 - 120]
    )
    with np.errstate(all="ignore"):
        wanted = np.power(x.astype(np.float64), y.astype(np.float64))
        found = expanded(math.PowF, x, y, element=f32, target="metal")
    check("pow", found, wanted, (x, y), WITHOUT_F64["pow"])


@pytest.mark.parametrize("name", ["cbrt", "erfc"])
def test_error_without_f64(name):
    op, exact, _, ranges = CASES[name]
    x = np.concatenate([all_exponents(64), *close_looks(ranges)])
    with np.errstate(all="ignore"):
        found, wanted = (
            expanded(op, x, element=f32, target="metal"),
            exact(x.astype(np.float64)),
        )
    check(name, found, wanted, (x,), WITHOUT_F64[name])


@pytest.mark.parametrize("name", WITHOUT_F64)
def test_there_is_no_f64(name):
    op = {"pow": math.PowF, "cbrt": math.Cbrt, "erfc": math.Erfc}[name]
    module = module_of(op, f32, 2 if op is math.PowF else 1)
    module.attributes["nnc.target"] = StringAttr("opencl-mali")
    ExpandMath().run(module, PassContext())
    types = {r.type for one in module.walk() for r in one.results}
    assert not types & {f64, i64}


def test_results_stay_in_range():
    x = np.concatenate([all_exponents(256), *close_looks([(-10, 10), (3, 10)])])
    for op in (math.Tanh, math.Erf):
        found = expanded(op, x, element=f32)
        assert np.nanmax(np.abs(found)) == 1


@pytest.mark.parametrize("element", [f16, bf16])
@pytest.mark.parametrize("name", ["exp", "tanh", "log", "erf", "sin", "sqrt"])
def test_half_precision_is_computed_in_f32(name, element):
    op, exact = {
        **{key: case[:2] for key, case in {**CASES, **PERIODIC}.items()},
        "sqrt": (math.Sqrt, np.sqrt),
    }[name]
    import ml_dtypes

    dtype = np.float16 if element is f16 else ml_dtypes.bfloat16
    x = np.arange(1 << 16, dtype=np.uint16).view(dtype)
    with np.errstate(all="ignore"):
        found = expanded(op, x, element=element, arithmetic_only=False)
        wanted = exact(x.astype(np.float64)).astype(np.float32).astype(dtype)
    same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
    # One in a few thousand differs by where f32 rounds before the half does.
    assert same.mean() > 0.999
    near = np.abs(found.view(np.int16).astype(int) - wanted.view(np.int16).astype(int))
    assert near[~same].max(initial=0) <= 1


# -- special forms ---------------------------------------------------------------------------------


def power_by_constant(x, exponent, element=f32):
    type = VectorType((x.size,), element)
    block = Block([type])
    constant = arith.Constant.of(exponent, type)
    op = math.PowF(block.args[0], constant)
    for one in (constant, op, func.Return([op.result])):
        block.append(one)
    function = func.FuncOp("f", FunctionType((type,), (type,)), body=Region([block]))
    module = ModuleOp(Region([Block((), [function])]))
    ExpandMath().run(module, PassContext())
    module.verify()
    (found,) = Interpreter(module).call("f", [x])
    return found, {op.name for op in module.walk()}


@pytest.mark.parametrize(
    "exponent", [0.0, 0.5, -0.5, 1.0, 2.0, 3.0, 4.0, 7.0, 8.0, -1.0, -2.0, -3.0]
)
def test_constant_powers_need_no_logarithm(exponent):
    x = np.concatenate([SPECIAL, all_exponents(64)])
    found, names = power_by_constant(x, exponent)
    assert not names & {"arith.extf", "math.powf"}
    limit = exponent / 2 + 0.6 if exponent >= 0 else 1.4 - exponent
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(np.float64), np.full(x.size, exponent))
        check("pow", found, exact, (x,), limit)


def test_constant_powers_of_f64_and_other_exponents():
    x = np.array([0.0, -2.0, 3.0, 1e200])
    found, names = power_by_constant(x, 2.0, f64)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(found, x * x)
    assert "math.powf" not in names
    for exponent in (2.5, np.inf, np.nan):
        assert "math.powf" in power_by_constant(x, exponent, f64)[1]
    assert "arith.extf" in power_by_constant(np.float32([2, 3]), 2.5)[1]


def added_to(op_class, x, addend):
    """A function plus a constant, and how many operations that takes."""
    type = VectorType((x.size,), f32)
    block = Block([type])
    constant = arith.Constant.of(addend, type)
    op = op_class(block.args[0])
    total = arith.AddF(constant, op.result)
    for one in (constant, op, total, func.Return([total.result])):
        block.append(one)
    function = func.FuncOp("f", FunctionType((type,), (type,)), body=Region([block]))
    module = ModuleOp(Region([Block((), [function])]))
    ExpandMath().run(module, PassContext())
    (found,) = Interpreter(module).call("f", [x])
    return found, sum(1 for op in module.walk() if not op.name.endswith("constant"))


def test_exp_plus_one_needs_no_denormals():
    x = np.concatenate([all_exponents(64), np.linspace(-105, 90, 10001).astype(np.float32)])
    found, short = added_to(math.Exp, x, 1.0)
    with np.errstate(all="ignore"):
        check("exp(x) + 1", found, np.exp(x.astype(np.float64)) + 1, (x,), 1.5)
    assert short < added_to(math.Exp, x, 0.0)[1]


@pytest.mark.parametrize("addend", [1.0, -1.0, 3.0])
def test_erf_beside_one_is_one_polynomial(addend):
    x = np.concatenate([all_exponents(64), np.linspace(-5, 5, 20001).astype(np.float32)])
    x = x[~np.isnan(x)]
    found, short = added_to(math.Erf, x, addend)
    wanted = elementwise(python_math.erf)(x.astype(np.float64)) + addend
    # What the sum is rounded by, half an ulp of 4 at most, and 1 ulp of 1 of the function, which
    # is off by 0.85 ulp with fused multiply-adds and by 0.95 without.
    most = np.spacing(np.maximum(np.abs(wanted), 0.5).astype(np.float32)) / 2 + 2**-23
    assert (np.abs(found - wanted) <= most).all()
    far = np.abs(x) >= 4
    assert (found[far] == np.sign(x[far]) + np.float32(addend)).all()  # GELU of -1e30 is 0
    assert short < added_to(math.Erf, x, 0.25)[1] - 5
    assert np.isnan(added_to(math.Erf, np.float32([np.nan]), addend)[0]).all()


def test_tensors_and_f64_and_marked_ops_stay():
    from .elementwise import module_of

    module = module_of(math.Exp, f64)
    ExpandMath().run(module, PassContext())
    assert any(isinstance(op, math.Exp) for op in module.walk())
    module = module_of(math.Sin, f32)
    for _ in range(2):
        ExpandMath().run(module, PassContext())
        left = [op for op in module.walk() if isinstance(op, math.Sin)]
        assert len(left) == 1 and EXACT in left[0].attributes


@pytest.mark.parametrize("name", ["sin", "exp"])
@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 8), (2, 2, 4)])
def test_scalars_and_vectors_of_any_rank(name, shape):
    op, exact, *_ = {**CASES, **PERIODIC}[name]
    x = np.linspace(-3, 3, int(np.prod(shape))).astype(np.float32).reshape(shape)[()]
    from .elementwise import module_of

    module = module_of(op, VectorType(shape, f32) if shape else f32)
    ExpandMath().run(module, PassContext())
    module.verify()
    (found,) = Interpreter(module).call("f", [x])
    np.testing.assert_allclose(found, exact(x.astype(np.float64)), rtol=2e-7)


# -- coefficients ----------------------------------------------------------------------------------

# The largest error of each polynomial's function, in ulp of f32.
POLYNOMIALS = {
    "exponential.EXP": 0.03,
    "exponential.EXP2": 0.03,
    "exponential.SINH": 0.003,
    "logarithm.LOG": 0.04,
    "trigonometric.SIN": 0.035,
    "trigonometric.COS": 0.001,
    "trigonometric.TAN": 0.15,
    "trigonometric.ASIN": 0.041,
    "trigonometric.ATAN": 0.141,
    "error_function.ERF": 0.06,
    "error_function.ERFC_LOG2": 0.02,
    "error_function.WHOLE": 0.05,
    "power.LOG2": 2**-14,
    "power.EXP2": 2**-11,
    "power.ERFC": 2**-5,
}


def written(name):
    module, constant = name.split(".")
    return getattr(import_module(f"nnc.kernels.math.{module}"), constant)


def test_every_table_has_a_limit():
    assert TABLES.keys() == POLYNOMIALS.keys()


@pytest.mark.parametrize("name", TABLES)
def test_error_of_polynomials(name):
    # Other places than those that the generator looks at.
    assert TABLES[name].error(written(name), 300) * 2**23 <= POLYNOMIALS[name]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", TABLES)
def test_coefficients_are_what_the_generator_finds(name):
    assert tuple(TABLES[name].solve()) == written(name)


@pytest.mark.parametrize("degree", range(2, 9))
def test_best_combination_against_chebyshev(degree):
    """x**n less its best approximation of a lower degree is Chebyshev's T_n / 2**(n-1)."""
    places = np.cos(np.linspace(0, np.pi, 40 * degree + 1))  # T_n's extremes are among them
    found = best_combination([[x**k for k in range(degree)] for x in places], places**degree)
    wanted = -np.polynomial.chebyshev.cheb2poly([0] * degree + [1])[:-1] / 2 ** (degree - 1)
    np.testing.assert_allclose(np.array(found, float), wanted, atol=1e-14)
