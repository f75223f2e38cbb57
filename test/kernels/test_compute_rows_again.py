"""Attention whose scores no group keeps: what is rewritten, its numbers, launches and proof."""

from __future__ import annotations

from typing import Any

import nnc
import numpy as np
import pytest
from nnc.dialects import func, gpu, memref
from nnc.driver.compile import run_stages
from nnc.ir.syntax.parser import parse_module
from nnc.ir.types import MemRefType
from nnc.kernels.compute_rows_again import rows_again
from nnc.numerics.checking.running import Runner
from nnc.numerics.checking.subjects import Subject
from nnc.numerics.options import NumericsOptions

from ..targets.test_llvm_devices import emulated  # noqa: F401
from ..targets.test_metal import emulated as metal  # noqa: F401
from ..targets.test_webgpu import adapter  # noqa: F401
from .test_prove_kernels import prove

DEVICES = ["cuda", "opencl", "webgpu", "metal", "amd-gfx90a", "cuda-sm90"]


def attention(sizes, width: int, element="f32", heads=2, division="softmax"):
    """A module with attention under a mask; `None` is an extent that the run tells."""
    queries, keys = sizes
    q, k, v, p, m = (
        "tensor<" + "x".join("?" if n is None else str(n) for n in shape) + f"x{element}>"
        for shape in (
            (1, heads, queries, width), (1, heads, width, keys), (1, heads, keys, width),
            (1, heads, queries, keys), (1, 1, queries, keys),
        )
    )  # fmt: skip
    return f"""func.func @main(%q: {q}, %k: {k}, %v: {v}, %m: {m}) -> {q}
        attributes {{nn.input_dims = [["", "", "q", ""], ["", "", "", "k"], ["", "", "k", ""],
                                      ["", "", "q", "k"]]}} {{
      %s = nn.matmul %q, %k : ({q}, {k}) -> {p}
      %t = nn.add %s, %m : ({p}, {m}) -> {p}
      %p = nn.{division} %t {{axis = 3 : i64}} : ({p}) -> {p}
      %o = nn.matmul %p, %v : ({p}, {v}) -> {q}
      return %o : {q}
    }}"""


def numbers(queries, keys, width, heads=2):
    """Operands, a third of the keys masked, and the result in f64."""
    rng = np.random.default_rng(5)
    shapes = (heads, queries, width), (heads, width, keys), (heads, keys, width)
    q, k, v = (rng.standard_normal((1, *shape)).astype(np.float32) for shape in shapes)
    mask = np.where(rng.random((1, 1, queries, keys)) < 0.3, -np.inf, 0).astype(np.float32)
    scores = q.astype("d") @ k.astype("d") + mask
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    return [q, k, v, mask], shares / shares.sum(-1, keepdims=True) @ v.astype("d")


def stages(text: str, target: str, last: str) -> Any:
    module: Any = parse_module(f"module {{ {text} }}")
    run_stages(module, target=target, last=last)
    return module


def kernels(module):
    return [f for f in module.walk() if isinstance(f, func.FuncOp) and "nn.kernel" in f.attributes]


def interpreted(module, inputs):
    main = next(f for f in module.walk() if isinstance(f, func.FuncOp) and f.sym_name == "main")
    runner = Runner(module, NumericsOptions(max_steps=50_000_000))
    outcome = runner.interpret(Subject("main", main.function_type), inputs)
    assert outcome.error is None, outcome.error
    assert outcome.values is not None
    return outcome.values


@pytest.mark.parametrize("open", [False, True])
def test_rewritten_kernels_compute_the_same(open):
    text = attention([None, None] if open else [5, 9], 4)
    inputs, wanted = numbers(5, 9, 4)
    module = stages(text, "cuda", "bufferize")
    (kernel,) = kernels(module)
    assert rows_again(kernel.body.blocks[0])
    module.verify()
    result = np.zeros_like(wanted, np.float32)
    values = interpreted(module, [*inputs, *([] if open else [result])])
    np.testing.assert_allclose(values[0 if open else -1], wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "text",
    [attention((5, 9), 4, "f16"), attention((5, 9), 4, division="log_softmax")],
    ids=["f16", "not divided"],
)
def test_others_stay(text):
    """Sums of f16 may overflow before they are divided; logarithms are not divided."""
    for kernel in kernels(stages(text, "cuda", "bufferize")):
        before = str(kernel)
        assert not rows_again(kernel.body.blocks[0])
        assert str(kernel) == before


@pytest.mark.thorough
@pytest.mark.parametrize("sizes", [(1500, 1500), (None, None), (2000, 6000)])
@pytest.mark.parametrize("target", DEVICES)
def test_no_buffer_has_the_scores(sizes, target):
    """One launch, and no buffer with an element for each pair of a query and a key but the mask."""
    module = stages(attention(sizes, 64), target, "launches")
    assert sum(isinstance(op, gpu.LaunchFunc) for op in module.walk()) == 1
    made = [
        op.results[0].type for op in module.walk() if isinstance(op, memref.Alloc | memref.View)
    ]
    pairs = [t for t in made if isinstance(t, MemRefType) and t.shape[:2] == (1, 2)]
    assert not [t for t in pairs if t.shape[2:] == sizes]


@pytest.mark.thorough
@pytest.mark.parametrize("target", ["cuda", "opencl", "webgpu", "metal"])
@pytest.mark.parametrize("sizes", [(40, 150), (33, 128), (None, None)])
def test_proven(sizes, target):
    """Also where queries and keys are left over of blocks; numbers are compared below."""
    assert prove(stages(attention(sizes, 16), target, "shares"))


@pytest.mark.emulated
@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("emulated-cuda-sm80", (None, None)),
        ("emulated-amd-gfx90a", (70, 300)),
        pytest.param("emulated-cuda-sm80", (70, 300), marks=pytest.mark.thorough),
        pytest.param("emulated-amd-gfx90a", (None, None), marks=pytest.mark.thorough),
    ],
)
def test_emulated(sizes, name, emulated):  # noqa: F811
    check_numbers(sizes, name)


@pytest.mark.thorough
@pytest.mark.parametrize("sizes", [(70, 300), (None, None)])
def test_on_pocl(sizes):
    check_numbers(sizes, "opencl")


@pytest.mark.emulated
@pytest.mark.parametrize("sizes", [(70, 300), (None, None)])
def test_on_webgpu(sizes, adapter):  # noqa: F811
    check_numbers(sizes, "webgpu")


@pytest.mark.emulated
@pytest.mark.parametrize("sizes", [(70, 300), (None, None)])
def test_on_metal(sizes, metal):  # noqa: F811
    check_numbers(sizes, metal)


def check_numbers(sizes, target):
    """One launch, as `compute-rows-again` makes it, and numbers of attention in f64."""
    text = attention(sizes, 16)
    module = stages(text, target, "launches")
    assert sum(isinstance(op, gpu.LaunchFunc) for op in module.walk()) == 1
    inputs, wanted = numbers(70, 300, 16)
    found = nnc.compile(parse_module(f"module {{ {text} }}"), target=target)(*inputs)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
