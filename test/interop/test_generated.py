"""Generated modules: every kind of type, number and affine expression, as mlir-opt prints them."""

import random
import struct

import pytest
from nnc.ir.types import FLOAT_KINDS

from .upstream import ours, theirs

INTEGERS = [
    f"{sign}i{width}" for sign in ("", "s", "u") for width in (1, 2, 3, 8, 31, 32, 64, 65, 128)
]
SCALARS = [*INTEGERS, *FLOAT_KINDS, "index"]
COMPLEX = [f"complex<{name}>" for name in (*INTEGERS, *FLOAT_KINDS)]
SHAPES = ("", "4x", "2x3x4x", "1x1x")


def operations(attributes) -> str:
    """One operation for each attribute."""
    return "\n".join(f'"t.x"() {{a = {text}}} : () -> ()' for text in attributes)


def agree(mlir_opt: str, text: str) -> None:
    for form in ("custom", "generic"):
        wanted = theirs(mlir_opt, text, form)
        assert ours(text, form) == wanted
        assert ours(wanted, form) == theirs(mlir_opt, wanted, form)


@pytest.mark.thorough
@pytest.mark.mlir_opt
def test_types(mlir_opt: str) -> None:
    found = [*SCALARS, *COMPLEX]
    for element in (*SCALARS, *COMPLEX, "!t.opaque<1>", "vector<[2]x3xf16>"):
        shapes = [*SHAPES, "?x2x", "0x"]
        found += [f"tensor<{shape}{element}>" for shape in shapes]
        found += [f"tensor<*x{element}>", f"tensor<{shapes[1]}{element}, {{e = 1 : i8}}>"]
        if element != "!t.opaque<1>":
            found += [f"memref<{shape}{element}>" for shape in shapes]
            found += [
                f"memref<4x?x{element}, {layout}{space}>"
                for layout in ("strided<[?, 1]>", "affine_map<(d0, d1) -> (d1, d0)>")
                for space in ("", ", 3", ', "far"', ", 1 : i8")
            ]
        if element in SCALARS:
            found += [f"vector<{shape}{element}>" for shape in (*SHAPES, "[4]x", "2x[3]x")]
    agree(mlir_opt, operations(found))
    values = "\n".join(f'%{i} = "t.x"() : () -> ({text})' for i, text in enumerate(found))
    agree(mlir_opt, values)


def bounds(type: str) -> tuple[int, int]:
    width = int(type.lstrip("siu"))
    if type.startswith("u"):
        return 0, (1 << width) - 1
    return -(1 << (width - 1)), (1 << (width - 1)) - 1


@pytest.mark.thorough
@pytest.mark.mlir_opt
def test_integers(mlir_opt: str) -> None:
    rng = random.Random(1)
    found = []
    for type in INTEGERS:
        low, high = bounds(type)
        values = [low, high, *(rng.randint(low, high) for _ in range(4)), min(1, high)]
        found += [f"{value} : {type}" for value in values]
        if type.lstrip("siu") != "1":
            found += [f"{hex(value)} : {type}" for value in values if value >= 0]
            found += [
                f"dense<{values}> : tensor<{len(values)}x{type}>",
                f"dense<{low}> : vector<3x{type}>",
            ]
            found += [f"dense<[({low}, {high})]> : tensor<1xcomplex<{type}>>"]
        if int(type.lstrip("siu")) % 8 == 0:
            found.append(f"array<{type}: {', '.join(map(str, values))}>")
    agree(mlir_opt, operations(found))


@pytest.mark.thorough
@pytest.mark.mlir_opt
@pytest.mark.parametrize("kind", FLOAT_KINDS)
def test_floats_by_their_bits(kind: str, mlir_opt: str) -> None:
    rng = random.Random(kind)
    width = FLOAT_KINDS[kind][0]
    patterns = range(1 << width) if width <= 8 else [rng.getrandbits(width) for _ in range(300)]
    if kind == "f80":  # the leading bit is stored, and says whether the exponent is 0
        patterns = [
            bits | 1 << 63 if bits >> 64 & 0x7FFF else bits & ~(1 << 63) for bits in patterns
        ]
    texts = [f"0x{bits:0{(width + 3) // 4}X}" for bits in patterns]
    found = [f"{text} : {kind}" for text in texts]
    found += [f"dense<[{', '.join(texts[:90])}]> : tensor<{len(texts[:90])}x{kind}>"]
    agree(mlir_opt, operations(found))


@pytest.mark.thorough
@pytest.mark.mlir_opt
def test_floats_by_their_digits(mlir_opt: str) -> None:
    rng = random.Random(2)
    found = []
    for kind in FLOAT_KINDS:
        for _ in range(60):
            value = struct.unpack("<d", rng.randbytes(8))[0]
            magnitude = rng.choice(
                [value, rng.uniform(-10, 10), rng.random() * 10.0 ** rng.randint(-12, 12)]
            )
            if magnitude == magnitude and abs(magnitude) < 1e300:
                text = f"{magnitude:.{rng.randint(1, 17)}e}"
                found.append(
                    f"{text} : {kind}" if kind != "f8E8M0FNU" or magnitude > 0 else f"1.0 : {kind}"
                )
    agree(mlir_opt, operations(found))


def expression(rng: random.Random, depth: int) -> str:
    roll = rng.random()
    if depth == 0 or roll < 0.2:
        return rng.choice(["d0", "d1", "s0", "s1", str(rng.choice([0, 1, 2, 3, 4, 5, 6, 8]))])
    a, b = expression(rng, depth - 1), expression(rng, depth - 1)
    if roll < 0.45:
        return f"({a} + {b})"
    if roll < 0.65:
        return f"({a} - {b})"
    if roll < 0.8:
        return f"({a} * {rng.choice(['s0', '2', '4', '-3', '1', '0', '8', '(s0 + 1)'])})"
    if roll < 0.85:
        return f"-{a}"
    return f"({a} {rng.choice(['floordiv', 'ceildiv', 'mod'])} {rng.choice(['2', '4', '1', '8', 's1', '3'])})"


@pytest.mark.thorough
@pytest.mark.mlir_opt
def test_affine_expressions(mlir_opt: str) -> None:
    rng = random.Random(3)
    found = []
    for _ in range(400):
        body = expression(rng, 4)
        found.append(f"affine_map<(d0, d1)[s0, s1] -> ({body})>")
        inner, by = expression(rng, 2), rng.choice(["2", "4", "s0"])
        found.append(
            f"affine_map<(d0, d1)[s0, s1] -> (d1 + {inner} - (({inner}) floordiv {by}) * {by})>"
        )
        found.append(
            f"affine_set<(d0, d1)[s0, s1] : ({body} >= {expression(rng, 1)}, {inner} == 0)>"
        )
    agree(mlir_opt, operations(found))
