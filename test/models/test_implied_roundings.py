"""Numbers of 16 bits are rounded where a kernel stores them, and where a model says so."""

from pathlib import Path

import ml_dtypes
import nnc
import numpy as np
import pytest
from nnc.tools.nnc import main

from ..processor import runnable

KINDS = {"f16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16)}
TARGETS = runnable("host", "avx2", "x86-64")
ROWS, COLUMNS = 5, 37


def run(body: str, kind: str, *arrays: np.ndarray, result: str = "", **options) -> np.ndarray:
    """What lines of `nn` operations on %a, %b, .. of one shape make of arrays; they end in %out."""
    type, out = f"tensor<{ROWS}x{COLUMNS}x{kind}>", f"tensor<{ROWS}x{COLUMNS}x{result or kind}>"
    names = ", ".join(f"%{chr(97 + i)}: {type}" for i in range(len(arrays)))
    lines = [line.strip() for line in body.strip().splitlines()]
    text = "\n".join(_typed(line, kind, result or kind) for line in lines)
    source = f"func.func @main({names}) -> {out} {{\n{text}\nreturn %out : {out}\n}}"
    return np.asarray(nnc.compile(nnc.parse(source), **options)(*arrays))


def _typed(line: str, kind: str, result: str) -> str:
    """`%y = nn.add %a, %b` with the types that it stands for; `-> X` is another element type."""
    line, _, element = line.partition(" -> ")
    given = line.partition(" : ")[2] or kind
    line = line.partition(" : ")[0]
    count = line.partition("nn.")[2].count("%")
    shape = f"tensor<{ROWS}x{COLUMNS}x"
    operands = ", ".join([f"{shape}{given}>"] * count)
    return f"{line} : ({operands}) -> {shape}{element or given}>"


def numbers(kind: str, count: int, scale: float = 1.0) -> list[np.ndarray]:
    random = np.random.default_rng(count)
    made = random.standard_normal((count, ROWS, COLUMNS)) * scale
    return [one.astype(KINDS[kind]) for one in made]


CHAIN = """
    %0 = nn.mul %a, %b
    %1 = nn.sigmoid %0
    %2 = nn.add %1, %a
    %out = nn.mul %2, %2
"""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_chain_is_rounded_once(kind: str, target: str):
    a, b = numbers(kind, 2)
    x, y = a.astype("f8"), b.astype("f8")
    exact = (1 / (1 + np.exp(-x * y)) + x) ** 2
    nearest = exact.astype(KINDS[kind])
    found = run(CHAIN, kind, a, b, target=target)
    unit = np.abs(
        np.nextafter(nearest, KINDS[kind].type(np.inf)).astype("f8") - nearest.astype("f8")
    )
    assert (np.abs(found.astype("f8") - exact) <= 0.51 * unit).all()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", KINDS)
def test_what_a_model_casts_is_rounded(kind: str, target: str):
    a, b = numbers(kind, 2)
    body = """
        %0 = nn.mul %a, %b
        %out = nn.cast %0 -> f32
    """
    found = run(body, kind, a, b, result="f32", target=target)
    np.testing.assert_array_equal(found, (a * b).astype(np.float32))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", KINDS)
def test_without_fast_math_each_step_is_rounded(kind: str, target: str):
    a, b = numbers(kind, 2)
    step = lambda x: x.astype(KINDS[kind]).astype("f8")  # noqa: E731
    x, y = a.astype("f8"), b.astype("f8")
    sum = step(step(1 / (1 + np.exp(-step(x * y)))) + x)
    found = run(CHAIN, kind, a, b, target=target, fast_math=False)
    np.testing.assert_array_equal(found.astype("f8"), step(sum * sum))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_cast_of_the_model_rounds(kind: str, target: str):
    """There and back, as in a quantization or PyTorch's x.half().float()."""
    wide = np.random.default_rng(0).standard_normal((ROWS, COLUMNS)).astype("f4")
    body = f"""
        %0 = nn.add %a, %a : f32
        %1 = nn.cast %0 : f32 -> {kind}
        %2 = nn.cast %1 : {kind} -> f32
        %3 = nn.sub %0, %2 : f32
        %out = nn.mul %3, %3 : f32
    """
    found = run(body, "f32", wide, target=target)
    rest = wide + wide - (wide + wide).astype(KINDS[kind]).astype("f4")
    assert rest.any()
    np.testing.assert_array_equal(found, rest * rest)


def test_what_would_be_infinite_between():
    """60000 * 2 / 4 is 30000, and infinite without fast math."""
    a = np.full((ROWS, COLUMNS), 60000, np.float16)
    two, quarter = (np.full_like(a, number) for number in (2, 0.25))
    body = "%0 = nn.mul %a, %b\n%out = nn.mul %0, %c"
    assert (run(body, "f16", a, two, quarter) == 30000).all()
    assert np.isinf(run(body, "f16", a, two, quarter, fast_math=False)).all()
    assert np.isinf(run("%out = nn.mul %a, %b", "f16", a, two)).all()  # stored


def test_not_a_number_stays():
    a, b = numbers("f16", 2)
    a[1, 2], b[3, 4] = np.nan, np.inf
    found = run("%0 = nn.mul %a, %b\n%1 = nn.sub %0, %0\n%out = nn.add %1, %a", "f16", a, b)
    wide = a.astype("f4") * b.astype("f4")
    np.testing.assert_array_equal(np.isnan(found), ~np.isfinite(wide) | np.isnan(a))


@pytest.mark.parametrize("kind", KINDS)
def test_check_numerics_knows_of_them(kind: str, tmp_path: Path):
    """Canonicalization leaves roundings out, and is no fault."""
    type = f"tensor<{ROWS}x{COLUMNS}x{kind}>"
    body = "\n".join(_typed(line.strip(), kind, kind) for line in CHAIN.strip().splitlines())
    file = tmp_path / "chain.mlir"
    file.write_text(f"func.func @main(%a: {type}, %b: {type}) -> {type} {{\n{body}\n")
    with file.open("a") as text:
        text.write(f"return %out : {type}\n}}\n")
    made = str(tmp_path / "chain.mlir.o")
    assert main(["compile", "-q", "--check-numerics", str(file), "-o", made]) == 0


@pytest.mark.parametrize("kind", KINDS)
def test_comparisons_see_rounded_numbers(kind: str):
    """Two ways to one number are equal where the rounded results are."""
    a, b = numbers(kind, 2)
    c = (a.astype("f8") * b.astype("f8")).astype(KINDS[kind])
    body = "%0 = nn.mul %a, %b\n%out = nn.equal %0, %c -> i1"
    assert run(body, kind, a, b, c, result="i1").all()


@pytest.mark.parametrize("kind", KINDS)
def test_parts_of_a_number_are_of_the_same_one(kind: str):
    """x - floor(x) is at least 0 and less than 1, though x is a product."""
    a, b = numbers(kind, 2, scale=40.0)
    found = run("%0 = nn.mul %a, %b\n%1 = nn.floor %0\n%out = nn.sub %0, %1", kind, a, b)
    x = (a.astype("f8") * b.astype("f8")).astype(KINDS[kind]).astype("f8")
    np.testing.assert_array_equal(found.astype("f8"), x - np.floor(x))


@pytest.mark.parametrize("kind", KINDS)
def test_integers_are_of_rounded_numbers(kind: str):
    a, b = numbers(kind, 2, scale=20.0)
    body = f"%0 = nn.mul %a, %b\n%out = nn.cast %0 : {kind} -> i32"
    found = run(body, kind, a, b, result="i32")
    x = (a.astype("f8") * b.astype("f8")).astype(KINDS[kind]).astype("f8")
    np.testing.assert_array_equal(found, np.trunc(x).astype("i4"))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", KINDS)
def test_division_by_a_constant(kind: str, target: str):
    """Its reciprocal is not rounded to 16 bits."""
    (a,) = numbers(kind, 1)
    shape = f"tensor<{ROWS}x{COLUMNS}x{kind}>"
    source = f"""
    func.func @main(%a: {shape}) -> {shape} {{
      %c = nn.constant dense<11.3125> : tensor<{kind}>
      %out = nn.div %a, %c : ({shape}, tensor<{kind}>) -> {shape}
      return %out : {shape}
    }}"""
    found = nnc.compile(nnc.parse(source), target=target)(a)
    divisor = np.float64(KINDS[kind].type(11.3125))
    np.testing.assert_array_equal(found, (a.astype("f8") / divisor).astype(KINDS[kind]))
