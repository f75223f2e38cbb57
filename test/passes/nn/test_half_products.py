"""Products of bf16 on words of two, against NumPy, and which ones become so."""

import numpy as np
import pytest
from nnc.driver.compile import mark_entry, run_stages
from nnc.ir.decisions import Decisions
from nnc.ir.passes import PassContext, PassManager
from nnc.ir.syntax.parser import parse_module
from nnc.lowering.pipelines import pipeline
from nnc.numerics.interpreter import Interpreter

TILES = "tiles = {tile_registers = 8, multiplies_halves = true}"
VECTORS = "has_half_products = true"


def module(rows, steps, columns, weights, machine=TILES, element="bf16", strict=False):
    numbers = ", ".join(
        "[" + ", ".join(f"{float(n):.8e}" for n in row) + "]" for row in weights
    )  # fmt: skip
    kind = f"tensor<{steps}x{columns}x{element}>"
    x, y = (f"tensor<{rows}x{n}x{element}>" for n in (steps, columns))
    marks = ", nnc.strict_math" if strict else ""
    target = f'nnc.target = {{name = "x86-64-v4", machine = {{{machine}}}}}'
    return parse_module(f"""
module attributes {{{target}{marks}}} {{
  func.func @f(%x: {x}) -> {y} {{
    %w = nn.constant dense<[{numbers}]> : {kind}
    %y = nn.matmul %x, %w : ({x}, {kind}) -> {y}
    return %y : {y}
  }}
}}""")


def rounded(numbers, dtype):
    return np.asarray(numbers, np.float32).astype(dtype)


@pytest.fixture
def bf16():
    from nnc.ir.numpy_types import type_to_numpy
    from nnc.ir.types import bf16

    return type_to_numpy(bf16)


@pytest.mark.parametrize("machine", [TILES, VECTORS])
@pytest.mark.parametrize("shape", [(1, 6, 16), (5, 7, 3), (17, 33, 40)])
def test_numbers(shape, machine, bf16):
    rows, steps, columns = shape
    rng = np.random.default_rng(0)
    x = rounded(rng.standard_normal((rows, steps)), bf16)
    w = rounded(rng.standard_normal((steps, columns)), bf16)
    found = module(rows, steps, columns, w, machine)
    PassManager(pipeline("widen-products,choose-layouts,fold-constants")).run(found)
    assert 'packing = "bf16"' in str(found)
    (y,) = Interpreter(found).call("f", [x])
    wanted = x.astype(np.float64) @ w.astype(np.float64)
    np.testing.assert_allclose(y.astype(np.float64), wanted, rtol=2**-8, atol=1e-5)


@pytest.mark.parametrize(
    "given",
    [
        {"machine": "tiles = {tile_registers = 8}"},  # bytes alone
        {"element": "f16"},
    ],
)
def test_others_are_computed_on_f32(given):
    found = module(**{"rows": 16, "steps": 4, "columns": 16, "weights": np.ones((4, 16)), **given})
    PassManager(pipeline("widen-products,choose-layouts")).run(found)
    assert "packing" not in str(found)


@pytest.mark.parametrize("machine", [TILES, VECTORS])
def test_f32_is_an_alternative(machine):
    found, decisions = module(64, 32, 32, np.ones((32, 32)), machine), Decisions()
    PassManager(pipeline("widen-products"), PassContext(decisions=decisions)).run(found.clone())
    (made,) = decisions.made
    assert (made.kind, made.taken, made.others[0].name) == ("precision", "16 bits", "f32")
    assert made.others[0].cycles / made.chosen.cycles > 1.9  # two products at once, or more
    told = PassContext(decisions=Decisions(told={made.key: "f32"}))
    PassManager(pipeline("widen-products,choose-layouts"), told).run(found)
    assert "packing" not in str(found).replace('packing = "none"', "")


@pytest.mark.parametrize("rows", [3, 17, "?"])
def test_every_stage_is_read_back(rows, bf16):
    """Each pass leaves valid IR, and its text is valid IR, too."""
    weights = rounded(np.random.default_rng(0).standard_normal((32, 40)), bf16)
    text = str(module(rows, 32, 40, weights)).replace("x86-64-v4", "sapphirerapids")
    found = parse_module(text)
    mark_entry(found)
    seen = []

    def read_back(stage, op):
        parse_module(str(op)).verify()
        seen.append(stage)

    run_stages(found, verify_each=True, after_stage=read_back)
    assert seen[-1] == "llvm"


@pytest.mark.parametrize("columns", [40, 16, 4])
def test_vectors_have_an_instruction(columns):
    """Where tile registers take too few rows; so has Zen 4, which has none."""
    found = module(5, 32, columns, np.ones((32, columns)), "tiles = {least_rows = 64}")
    found = parse_module(str(found).replace("x86-64-v4", "sapphirerapids"))
    mark_entry(found)
    run_stages(found)
    assert "llvm.x86.avx512bf16.dpbf16ps.512" in str(found)
    assert "tdpbf16ps" not in str(found)
