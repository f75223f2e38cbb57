"""arith and math as machine code against the interpreter, on scalars and vectors."""

import itertools

import ml_dtypes
import numpy as np
import pytest

from .native import call_native, check, compare

DTYPES = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "index": np.int64,
}
FLOATS = ("f16", "bf16", "f32", "f64")
INTEGERS = ("i1", "i8", "i32", "i64")

SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 6e-8, 65504.0, 3.4e38]


def samples(kind, count, seed=0):
    """Values of a type, the special ones first."""
    generator = np.random.default_rng(seed)
    dtype = DTYPES[kind]
    with np.errstate(over="ignore"):
        if kind in FLOATS:
            values = np.concatenate([SPECIAL, generator.standard_normal(count) * 4])
            return values[:count].astype(dtype)
    if kind == "i1":
        return generator.integers(0, 2, count).astype(dtype)
    info = np.iinfo(dtype)
    values = generator.integers(info.min, info.max, count, dtype=dtype, endpoint=True)
    values[:6] = [0, 1, -1, info.min, info.max, 7]
    return values


def pairs(kind, count=256):
    """All special values with each other, then others."""
    few = samples(kind, 16)
    grid = list(itertools.product(few, few))
    a, b = (np.array([p[i] for p in grid], few.dtype) for i in range(2))
    return a[:count], b[:count]


LANES = 16


def program(line, inputs, output, count, vector):
    """`line` computes %r from %x, %y.. of the types; {T} is the first type, {R} the result's."""
    names = ["x", "y", "z"][: len(inputs)]
    args = ", ".join(f"%m{n}: memref<{count}x{t}>" for n, t in zip(names, inputs, strict=True))
    lanes = min(count, LANES)
    assert not vector or count % lanes == 0
    if vector:
        types = [f"vector<{lanes}x{t}>" for t in inputs]
        result = f"vector<{lanes}x{output}>"
        loads = [
            f"%{n} = vector.load %m{n}[%i] : memref<{count}x{t}>, {v}"
            for n, t, v in zip(names, inputs, types, strict=True)
        ]
        store = f"vector.store %r, %o[%i] : memref<{count}x{output}>, {result}"
    else:
        types, result = list(inputs), output
        loads = [
            f"%{n} = memref.load %m{n}[%i] : memref<{count}x{t}>"
            for n, t in zip(names, inputs, strict=True)
        ]
        store = f"memref.store %r, %o[%i] : memref<{count}x{output}>"
    body = ["scf.for %i = %c0 to %n step %step {", *loads, line, store, "}"]
    text = "\n".join(body).replace("{T}", types[0]).replace("{R}", result)
    return f"""
func.func @f({args}, %o: memref<{count}x{output}>) {{
  %c0 = arith.constant 0 : index
  %step = arith.constant {lanes if vector else 1} : index
  %n = arith.constant {count} : index
  {text}
  return
}}"""


def run(line, inputs, output, arrays, exact=True):
    count = -(-len(arrays[0]) // LANES) * LANES
    arrays = [np.resize(a, count) for a in arrays]
    for vector in (False, True):
        text = program(line, inputs, output, count, vector)
        check(text, *arrays, np.zeros(count, DTYPES[output]), exact=exact)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize(
    "name", ["addf", "subf", "mulf", "divf", "maximumf", "minimumf", "maxnumf", "minnumf"]
)
def test_float_binary(name, kind):
    arrays = pairs(kind)
    if name in ("maxnumf", "minnumf"):
        # Of 0.0 and -0.0, either may be the larger.
        zero = (arrays[0] == 0) & (arrays[1] == 0)
        arrays = tuple(a[~zero] for a in arrays)
    run(f"%r = arith.{name} %x, %y : {{T}}", (kind, kind), kind, arrays)


@pytest.mark.parametrize("kind", FLOATS)
def test_negf(kind):
    run("%r = arith.negf %x : {T}", (kind,), kind, [samples(kind, 64)])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", INTEGERS)
@pytest.mark.parametrize(
    "name",
    ["addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui"],
)
def test_integer_binary(name, kind):
    run(f"%r = arith.{name} %x, %y : {{T}}", (kind, kind), kind, pairs(kind))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["i8", "i32", "i64"])
@pytest.mark.parametrize(
    "name", ["divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui"]
)
def test_division(name, kind):
    a, b = pairs(kind)
    kept = b != 0
    run(f"%r = arith.{name} %x, %y : {{T}}", (kind, kind), kind, (a[kept], b[kept]))


def test_division_by_zero_does_not_stop_the_process():
    zero, x = np.zeros(4, np.int32), np.arange(4, dtype=np.int32)
    text = program("%r = arith.divsi %x, %y : {T}", ("i32", "i32"), "i32", 4, True)
    out = np.zeros(4, np.int32)
    call_native(text, [x, zero, out])
    np.testing.assert_array_equal(out, x)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["i8", "i32", "i64"])
@pytest.mark.parametrize("name", ["shli", "shrsi", "shrui"])
def test_shift(name, kind):
    a, _ = pairs(kind)
    b = (np.arange(len(a)) % (a.itemsize * 8)).astype(a.dtype)
    run(f"%r = arith.{name} %x, %y : {{T}}", (kind, kind), kind, (a, b))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["i1", "i8", "i64"])
@pytest.mark.parametrize("predicate", ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "uge"])
def test_cmpi(predicate, kind):
    run(f"%r = arith.cmpi {predicate}, %x, %y : {{T}}", (kind, kind), "i1", pairs(kind))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize(
    "predicate", ["oeq", "one", "olt", "oge", "ord", "uno", "ueq", "une", "ult"]
)
def test_cmpf(predicate, kind):
    run(f"%r = arith.cmpf {predicate}, %x, %y : {{T}}", (kind, kind), "i1", pairs(kind))


@pytest.mark.parametrize("kind", [*FLOATS, "i1", "i32", "index"])
def test_select(kind):
    a, b = pairs(kind)
    c = np.arange(len(a)) % 3 == 0
    for vector in (False, True):
        condition = f"vector<{LANES}xi1>, {{R}}" if vector else "{R}"
        line = f"%r = arith.select %x, %y, %z : {condition}"
        text = program(line, ("i1", kind, kind), kind, len(a), vector)
        check(text, c, a, b, np.zeros(len(a), DTYPES[kind]))


CASTS = [
    *[("extf", a, b) for a, b in itertools.combinations(FLOATS, 2) if (a, b) != ("f16", "bf16")],
    *[("truncf", b, a) for a, b in itertools.combinations(FLOATS, 2) if (a, b) != ("f16", "bf16")],
    *[("sitofp", a, b) for a in ("i8", "i32", "i64") for b in ("bf16", "f32", "f64")],
    *[("uitofp", a, b) for a in ("i1", "i8", "i32", "i64") for b in ("f32", "f64")],
    *[
        ("extsi", "i1", "i8"),
        ("extsi", "i8", "i64"),
        ("extui", "i1", "i32"),
        ("extui", "i8", "i16"),
    ],
    *[("trunci", "i64", "i8"), ("trunci", "i32", "i1"), ("index_cast", "i32", "index")],
    *[("index_cast", "index", "i8"), ("index_castui", "i8", "index"), ("bitcast", "f32", "i32")],
    *[("bitcast", "i16", "bf16"), ("bitcast", "f64", "i64")],
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "source", "target"), CASTS)
def test_cast(name, source, target):
    line = f"%r = arith.{name} %x : {{T}} to {{R}}"
    run(line, (source,), target, [samples(source, 256)])


@pytest.mark.parametrize("target", ["f16", "bf16"])
def test_truncation_of_f64_rounds_once(target):
    """Values just beside the middle between two neighbours, where rounding twice goes wrong."""
    generator = np.random.default_rng(1)
    near = generator.standard_normal(256).astype(DTYPES[target])
    above = (near.view(np.uint16) + 1).view(DTYPES[target])
    middle = (near.astype(np.float64) + above.astype(np.float64)) / 2
    x = np.concatenate([np.nextafter(middle, -np.inf), np.nextafter(middle, np.inf), middle])
    run("%r = arith.truncf %x : {T} to {R}", ("f64",), target, [x])


@pytest.mark.parametrize(("source", "target"), [("f32", "i32"), ("f64", "i64"), ("bf16", "i8")])
def test_fptosi(source, target):
    x = np.linspace(-100, 100, 77).astype(DTYPES[source])
    run("%r = arith.fptosi %x : {T} to {R}", (source,), target, [x])
    run("%r = arith.fptoui %x : {T} to {R}", (source,), target, [np.abs(x)])


@pytest.mark.parametrize("kind", ["i8", "i32", "i64"])
def test_wide_products(kind):
    a, b = pairs(kind)
    for name in ("mulsi_extended", "mului_extended"):
        run(f"%l, %r = arith.{name} %x, %y : {{T}}", (kind, kind), kind, (a, b))
    run("%s, %r = arith.addui_extended %x, %y : {T}, {R}", (kind, kind), "i1", (a, b))


EXACT = ["absf", "ceil", "floor", "trunc", "roundeven", "round", "sqrt"]
LIBM = [
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin"),
    *("acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "cbrt"),
    "rsqrt",
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("name", EXACT)
def test_exact_math(name, kind):
    x = np.concatenate([samples(kind, 32), (np.arange(-8, 8) / 4).astype(DTYPES[kind])])
    run(f"%r = math.{name} %x : {{T}}", (kind,), kind, [x])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("name", LIBM)
def test_libm(name, kind):
    x = np.concatenate([samples(kind, 64), np.linspace(-1, 3, 64).astype(DTYPES[kind])])
    run(f"%r = math.{name} %x : {{T}}", (kind,), kind, [x], exact=False)


@pytest.mark.parametrize("name", ["exp", "tanh", "erf"])
def test_half_precision_math(name):
    run(f"%r = math.{name} %x : {{T}}", ("bf16",), "bf16", [samples("bf16", 64)], exact=False)


@pytest.mark.parametrize("kind", FLOATS)
def test_binary_math(kind):
    a, b = pairs(kind)
    run("%r = math.copysign %x, %y : {T}", (kind, kind), kind, (a, b))
    near = [np.linspace(0.1, 3, 32).astype(DTYPES[kind]) for _ in range(2)]
    run("%r = math.powf %x, %y : {T}", (kind, kind), kind, near, exact=False)
    run("%r = math.atan2 %x, %y : {T}", (kind, kind), kind, near, exact=False)


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_fma(kind):
    a, b = pairs(kind)
    c = a[::-1].copy()
    run("%r = math.fma %x, %y, %z : {T}", (kind,) * 3, kind, (a[:32], b[:32], c[:32]), exact=False)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("name", ["isnan", "isinf", "isfinite", "isnormal"])
def test_classes(name, kind):
    run(f"%r = math.{name} %x : {{T}}", (kind,), "i1", [samples(kind, 32)])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", ["i8", "i32", "i64"])
@pytest.mark.parametrize("name", ["absi", "ctlz", "cttz", "ctpop"])
def test_integer_math(name, kind):
    run(f"%r = math.{name} %x : {{T}}", (kind,), kind, [samples(kind, 64)])


@pytest.mark.parametrize("kind", ["i8", "i32"])
def test_ipowi(kind):
    a, b = pairs(kind)
    kept = (a != 0) | (b >= 0)
    run("%r = math.ipowi %x, %y : {T}", (kind, kind), kind, (a[kept], b[kept]))


@pytest.mark.sampled(7)
@pytest.mark.parametrize("vector", [False, True])
@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("name", ["maximumf", "minimumf"])
@pytest.mark.parametrize("limit", ["0.0", "-0.0", "6.0", "-1.0", "0x7FC00000"])
def test_limits_that_are_constants(name, kind, limit, vector):
    if limit.startswith("0x"):
        limit = {"f16": "0x7E00", "bf16": "0x7FC0", "f64": "0x7FF8000000000000"}.get(kind, limit)
    x = samples(kind, 64)
    dense = f"dense<{limit}>" if vector else limit
    line = f"%k = arith.constant {dense} : {{T}}\n%r = arith.{name} %x, %k : {{T}}"
    text = program(line, (kind,), kind, len(x), vector)
    out = np.zeros(len(x), DTYPES[kind])
    call_native(text, [x, out])
    bound = float("nan") if limit.startswith("0x") else float(limit)
    want = [_extremum(name == "maximumf", float(v), bound) for v in x]
    compare(out, np.array(want).astype(DTYPES[kind]))


def _extremum(greatest, a, b):
    """IEEE 754's maximum and minimum, by the book."""
    if a != a or b != b:
        return float("nan")
    if a == b == 0:
        negative = np.signbit(a) and np.signbit(b) if greatest else np.signbit(a) or np.signbit(b)
        return -0.0 if negative else 0.0
    return max(a, b) if greatest else min(a, b)
