"""Transformers of any batch and length against ONNX Runtime, compiled once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import nnc
import numpy as np
import onnx
import onnxruntime
import pytest
from nnc.driver.compile import load_module, run_stages
from nnc.ir.diagnostics import NncError
from onnx import TensorProto, helper

from .small_models import GraphMaker

HEADS, WIDTH, WORDS, POSITIONS = 2, 32, 40, 16
SIZES = [(1, 1), (1, 2), (3, 5), (2, 16)]


class Exported(GraphMaker):
    """Nodes as PyTorch's exporters write them, shapes computed from those of tensors."""

    def number(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def extent(self, x: str, axis: int) -> str:
        one = self.op("Gather", self.op("Shape", x), self.constant(np.array(axis)), axis=0)
        return self.op("Unsqueeze", one, self.number(0))

    def shaped(self, x: str, *extents: str | int) -> str:
        parts = [self.number(e) if isinstance(e, int) else e for e in extents]
        return self.op("Reshape", x, self.op("Concat", *parts, axis=0))

    def dense(self, x: str, width: int, to: int) -> str:
        return self.op("Add", self.op("MatMul", x, self.weight(width, to)), self.weight(to))

    def flat_dense(self, x: str, width: int, to: int) -> str:
        """As `addmm` of a view: a matrix, whose rows are given their shape again."""
        flat = self.op("Reshape", x, self.number(-1, width))
        product = self.op("Gemm", flat, self.weight(width, to), self.weight(to))
        return self.shaped(product, self.extent(x, 0), self.extent(x, 1), to)

    def norm(self, x: str) -> str:
        ones = self.constant(np.ones(WIDTH, np.float32))
        return self.op("LayerNormalization", x, ones, self.weight(WIDTH, scale=0.1), axis=-1)

    def heads(self, x: str) -> str:
        wide = self.shaped(x, self.extent(x, 0), -1, HEADS, WIDTH // HEADS)
        return self.op("Transpose", wide, perm=[0, 2, 1, 3])

    def attention(self, q: str, k: str, v: str, mask: str) -> str:
        q, k, v = self.heads(q), self.heads(k), self.heads(v)
        scores = self.op("MatMul", q, self.op("Transpose", k, perm=[0, 1, 3, 2]))
        scores = self.op("Mul", scores, self.constant(np.float32(0.25)))
        weights = self.op("Softmax", self.op("Add", scores, mask), axis=-1)
        out = self.op("Transpose", self.op("MatMul", weights, v), perm=[0, 2, 1, 3])
        return self.shaped(out, self.extent(out, 0), self.extent(out, 1), WIDTH)

    def embedded(self, ids: str) -> str:
        words = self.op("Gather", self.weight(WORDS, WIDTH, scale=1.0), ids)
        table = self.weight(POSITIONS, WIDTH, scale=1.0)
        ends = self.extent(ids, 1), self.number(0), self.number(1)
        return self.op("Add", words, self.op("Slice", table, self.number(0), *ends))

    def finished(self, inputs: list[str], output: str) -> onnx.ModelProto:
        shapes = dict.fromkeys(inputs, ("batch", "tokens"))
        return self.model(shapes, output, TensorProto.INT64)


def encoder() -> onnx.ModelProto:
    """A layer of BERT: a mask of tokens, expanded to the scores' shape."""
    g = Exported()
    x = g.norm(g.embedded("ids"))
    kept = g.op("Cast", g.op("Unsqueeze", "mask", g.number(1, 2)), to=TensorProto.FLOAT)
    batch, tokens = g.extent("ids", 0), g.extent("ids", 1)
    shape = g.op("Concat", batch, g.number(1), tokens, tokens, axis=0)
    kept = g.op("Sub", g.op("Expand", kept, shape), g.constant(np.float32(1)))
    mask = g.op("Mul", kept, g.constant(np.float32(1e4)))
    q, k, v = (g.dense(x, WIDTH, WIDTH) for _ in range(3))
    x = g.norm(g.op("Add", g.dense(g.attention(q, k, v, mask), WIDTH, WIDTH), x))
    wide = g.op("Tanh", g.dense(x, WIDTH, 2 * WIDTH))
    return g.finished(["ids", "mask"], g.norm(g.op("Add", g.dense(wide, 2 * WIDTH, WIDTH), x)))


def decoder() -> onnx.ModelProto:
    """A layer of GPT-2: flattened products, one for queries, keys and values; a causal mask."""
    g = Exported()
    x = g.embedded("ids")
    tokens = g.extent("ids", 1)
    shape = g.op("Concat", g.number(1, 1), tokens, tokens, axis=0)
    low = helper.make_tensor("low", TensorProto.FLOAT, [1], [-1e4])
    full = g.op("ConstantOfShape", shape, value=low)
    mask = g.op("Trilu", full, g.constant(np.array(1)), upper=1)
    three = g.flat_dense(g.norm(x), WIDTH, 3 * WIDTH)
    parts = [f"part{i}" for i in range(3)]
    sizes = g.number(WIDTH, WIDTH, WIDTH)
    g.nodes.append(helper.make_node("Split", [three, sizes], parts, "split", axis=2))
    x = g.op("Add", g.flat_dense(g.attention(*parts, mask), WIDTH, WIDTH), x)
    wide = g.op("Tanh", g.flat_dense(g.norm(x), WIDTH, 2 * WIDTH))
    return g.finished(["ids"], g.op("Add", g.flat_dense(wide, 2 * WIDTH, WIDTH), x))


def inputs_of(model: onnx.ModelProto, batch: int, tokens: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(batch * 100 + tokens)
    given = {"ids": rng.integers(0, WORDS, (batch, tokens))}
    if len(model.graph.input) == 2:
        given["mask"] = np.arange(tokens) < rng.integers(1, tokens + 1, (batch, 1))
    return {name: array.astype(np.int64) for name, array in given.items()}


def check(compiled: nnc.Model, session: onnxruntime.InferenceSession, inputs: dict) -> None:
    """The output is ONNX Runtime's, to 1e-4 of its largest value."""
    (want,) = session.run(None, inputs)
    (got,) = compiled.run(inputs).values()
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, atol=1e-4 * np.abs(want).max(), rtol=0)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("make", [encoder, decoder])
def test_a_layer_of_any_batch_and_length(make: Callable[[], onnx.ModelProto]) -> None:
    model = make()
    compiled = nnc.compile(model)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    for batch, tokens in SIZES:
        check(compiled, session, inputs_of(model, batch, tokens))


@pytest.mark.parametrize("make", [encoder, decoder])
def test_it_has_the_kernels_of_a_fixed_one(make: Callable[[], onnx.ModelProto]) -> None:
    """Attention is one kernel, weights are packed, and reshapes need no computed shape."""
    module = load_module(make())
    run_stages(module, last="make-kernels")
    names = [op.name for op in module.walk()]
    assert names.count("nn.softmax") == 1
    (attention,) = [f for f in module.body_block if "softmax" in getattr(f, "sym_name", "")]
    inside = [op.name for op in attention.walk()]
    assert inside.count("nn.matmul") == names.count("nn.matmul") == 2
    assert "nn.packed_matmul" in names
    assert "nn.reshape_dynamic" not in names


def test_dimensions_of_one_name_must_agree() -> None:
    """The error names both inputs and extents, and the next call works."""
    model = encoder()
    compiled = nnc.compile(model)
    good = inputs_of(model, 2, 5)
    want = compiled.run(good)
    bad = good | {"mask": good["mask"][:, :4]}
    with pytest.raises(NncError, match="'tokens' is 5 in input 'ids' but 4 in input 'mask'"):
        compiled.run(bad)
    ((name, array),) = compiled.run(good).items()
    np.testing.assert_array_equal(array, want[name])


@pytest.mark.slow
@pytest.mark.parametrize("exporter", ["dynamo", "torchscript"])
@pytest.mark.parametrize("name", ["bert_base", "gpt2"])
def test_exported(name: str, exporter: str, export_model: Callable[..., Path]) -> None:
    """Small variants from PyTorch, with batch and tokens left open."""
    path = export_model(name, "--tiny", "--batch", "2", "--symbolic", "--exporter", exporter)
    compiled = nnc.compile(path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(0)
    for batch, tokens in [(1, 2), (3, 7), (2, 33), (1, 64)]:
        inputs = {"input_ids": rng.integers(0, 500, (batch, tokens))}
        if name == "bert_base":
            kept = np.arange(tokens) < tokens - np.arange(batch)[:, None] % tokens
            inputs["attention_mask"] = kept.astype(np.int64)
        check(compiled, session, inputs)
