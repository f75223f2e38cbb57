"""Attention as exporters write it, scores never being in memory as a whole, against NumPy."""

from dataclasses import dataclass

import ml_dtypes
import nnc
import numpy as np
import onnx
import pytest
from nnc.driver.compile import load_module, run_stages
from onnx import TensorProto, helper, numpy_helper

from ..processor import runnable


@dataclass(frozen=True)
class Layer:
    """Attention over `queries` and `keys` places; with `groups` heads that share keys."""

    batch: int = 1
    heads: int = 2
    queries: int = 7
    keys: int = 9
    depth: int = 8
    mask: str | None = None
    groups: int = 1
    guarded: bool = False
    dynamic: bool = False

    def model(self) -> onnx.ModelProto:
        """Transposes of [batch, place, head, depth], scores, mask, softmax, product, transpose."""
        nodes, weights = [], {}
        heads = self.heads * self.groups
        queries, keys = ("q", "k") if self.dynamic else (self.queries, self.keys)

        def node(op: str, inputs: list[str], out: str, **attributes) -> str:
            nodes.append(helper.make_node(op, inputs, [out], **attributes))
            return out

        def weight(name: str, value) -> str:
            weights[name] = np.asarray(value)
            return name

        inputs = [
            helper.make_tensor_value_info(
                "query", TensorProto.FLOAT, [self.batch, queries, heads, self.depth]
            )
        ]
        for name in ("key", "value"):
            shape = [self.batch, keys, self.heads, self.depth]
            inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        q = node("Transpose", ["query"], "q", perm=[0, 2, 1, 3])
        k = node("Transpose", ["key"], "k", perm=[0, 2, 1, 3])
        v = node("Transpose", ["value"], "v", perm=[0, 2, 1, 3])
        if self.groups > 1:
            axis = weight("axis", np.array([2]))
            repeats = weight("repeats", np.array([1, 1, self.groups, 1, 1]))
            shape = weight("shape", np.array([0, heads, -1, self.depth]))
            for name in ("k", "v"):
                node("Unsqueeze", [name, axis], f"{name}_1")
                node("Expand", [f"{name}_1", repeats], f"{name}_2")
                node("Reshape", [f"{name}_2", shape], f"{name}_3")
            k, v = "k_3", "v_3"
        scores = node("MatMul", [q, node("Transpose", [k], "kt", perm=[0, 1, 3, 2])], "scores")
        scores = node("Mul", [scores, weight("scale", np.float32(self.depth**-0.5))], "scaled")
        if self.mask == "where":
            shape = [self.batch, 1, 1, keys]
            inputs.append(helper.make_tensor_value_info("mask", TensorProto.BOOL, shape))
            scores = node("Where", ["mask", scores, weight("low", np.float32(-np.inf))], "kept")
        elif self.mask is not None:
            rows = {"keys": (self.batch, 1, 1), "full": (1, 1, queries), "heads": (1, heads, 1)}
            shape = [*rows[self.mask], keys]
            inputs.append(helper.make_tensor_value_info("mask", TensorProto.FLOAT, shape))
            scores = node("Add", [scores, "mask"], "masked")
        shares = node("Softmax", [scores], "shares", axis=-1)
        if self.guarded:
            lost = node("IsNaN", [shares], "lost")
            shares = node("Where", [lost, weight("zero", np.float32(0)), shares], "guarded")
        node("Transpose", [node("MatMul", [shares, v], "t")], "y", perm=[0, 2, 1, 3])
        out = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
        graph = helper.make_graph(
            nodes, "g", inputs, [out], [numpy_helper.from_array(a, n) for n, a in weights.items()]
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

    def arguments(self, queries: int, keys: int) -> list[np.ndarray]:
        random = np.random.default_rng(queries * keys)
        heads = self.heads * self.groups
        shapes = [(self.batch, queries, heads, self.depth)]
        shapes += [(self.batch, keys, self.heads, self.depth)] * 2
        found = [random.standard_normal(shape).astype("f4") for shape in shapes]
        if self.mask == "where":
            mask = random.random((self.batch, 1, 1, keys)) < 0.6
            mask[-1] = not self.guarded  # a row without any key is NaN
            found.append(mask)
        elif self.mask is not None:
            rows = {"keys": (self.batch, 1, 1), "full": (1, 1, queries), "heads": (1, heads, 1)}
            mask = random.random((*rows[self.mask], keys)) < 0.6
            found.append(np.where(mask, 0, -1e4).astype("f4"))
        return found

    def expected(self, q, k, v, mask=None) -> np.ndarray:
        q, k, v = (x.astype("f8").transpose(0, 2, 1, 3) for x in (q, k, v))
        k, v = (np.repeat(x, self.groups, axis=1) for x in (k, v))
        scores = q @ k.transpose(0, 1, 3, 2) * np.float32(self.depth**-0.5).astype("f8")
        if self.mask == "where":
            scores = np.where(mask, scores, -np.inf)
        elif mask is not None:
            scores = scores + mask
        with np.errstate(invalid="ignore"):
            powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
            shares = powers / powers.sum(axis=-1, keepdims=True)
        if self.guarded:
            shares = np.where(np.isnan(shares), 0, shares)
        return (shares @ v).transpose(0, 2, 1, 3)


LAYERS = {
    "plain": Layer(),
    "one query": Layer(queries=1, keys=40, depth=64),
    "one key": Layer(queries=5, keys=1),
    "one of each": Layer(queries=1, keys=1, depth=4),
    "batch": Layer(batch=3, heads=3, queries=33, keys=33, depth=16, mask="keys"),
    "cross": Layer(batch=2, queries=50, keys=13, depth=24),
    "full mask": Layer(queries=21, keys=35, depth=16, mask="full"),
    "mask by head": Layer(queries=21, keys=35, depth=16, mask="heads"),
    "where": Layer(batch=2, queries=17, keys=31, depth=16, mask="where"),
    "guarded": Layer(batch=2, queries=17, keys=31, depth=16, mask="where", guarded=True),
    "grouped": Layer(queries=19, keys=37, depth=32, groups=3, mask="full"),
    "blocks": Layer(queries=101, keys=2051, depth=20, mask="full"),
    "blocks of few heads": Layer(heads=1, queries=205, keys=1024, depth=64),
    "blocks dealt out": Layer(heads=3, queries=300, keys=1024, depth=64),
    "rows that collide": Layer(heads=16, queries=200, keys=1024, depth=64),
}


@pytest.mark.sampled(9)
@pytest.mark.parametrize("machine", runnable("host", "avx2", "sse"))
@pytest.mark.parametrize("layer", LAYERS.values(), ids=LAYERS.keys())
def test_attention(layer: Layer, machine: str):
    """On one thread and on two, which differ in nothing."""
    arguments = layer.arguments(layer.queries, layer.keys)
    expected = layer.expected(*arguments)
    model = layer.model()
    found = nnc.compile(model, target=machine)(*arguments)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=2e-6)
    np.testing.assert_array_equal(nnc.compile(model, target=machine, threads=2)(*arguments), found)


@pytest.mark.parametrize("mask", [None, "keys", "full"])
def test_unknown_lengths(mask: str | None):
    """One executable for lengths below and above a block, and for its parts."""
    layer = Layer(dynamic=True, depth=16, mask=mask)
    run = nnc.compile(layer.model())
    for queries, keys in ((1, 1), (1, 90), (5, 3), (36, 64), (75, 130), (12, 1025)):
        arguments = layer.arguments(queries, keys)
        np.testing.assert_allclose(
            run(*arguments), layer.expected(*arguments), rtol=1e-5, atol=2e-6
        )


def test_all_from_one_tensor():
    """Queries, keys and values that are one buffer have dimensions of their own."""
    nodes = [
        helper.make_node("Transpose", ["x"], ["t"], perm=[0, 2, 1]),
        helper.make_node("MatMul", ["x", "t"], ["s"]),
        helper.make_node("Softmax", ["s"], ["p"], axis=-1),
        helper.make_node("MatMul", ["p", "x"], ["y"]),
    ]
    shape = [2, 16, 16]
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n in ("x", "y")]
    graph = helper.make_graph(nodes, "g", info[:1], info[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    x = np.random.default_rng(0).standard_normal(shape).astype("f4")
    scores = x.astype("f8") @ x.astype("f8").transpose(0, 2, 1)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    expected = powers / powers.sum(axis=-1, keepdims=True) @ x.astype("f8")
    np.testing.assert_allclose(nnc.compile(model)(x), expected, rtol=1e-5, atol=2e-6)


def test_memory():
    """Scores of 512 places are 12 MB; the arena holds none of them."""
    layer = Layer(heads=12, queries=512, keys=512, depth=64)
    module = run_stages(load_module(layer.model()))
    assert module.attributes["nn.arena_bytes"].value < 1 << 20


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("machine", runnable("host", "avx2", "sse"))
@pytest.mark.parametrize("fast_math", [True, False])
def test_softmax_of_16_bits(machine: str, dtype: str, fast_math: bool):
    """As near as its type allows; without fast math, each step of the operator's function body is
    rounded. NaN takes the whole row.
    """
    kind = np.float16 if dtype == "float16" else ml_dtypes.bfloat16
    info = [
        helper.make_tensor_value_info(n, TensorProto.DataType.Value(dtype.upper()), [64, 100])
        for n in "xy"
    ]
    node = helper.make_node("Softmax", ["x"], ["y"], axis=-1)
    graph = helper.make_graph([node], "g", info[:1], info[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    x = (4 * np.random.default_rng(0).standard_normal([64, 100])).astype(kind)
    x[3, 7], x[5, 1] = np.nan, np.inf
    step = (lambda x: x.astype("f8")) if fast_math else (lambda x: x.astype(kind).astype("f4"))
    wide = step(x)
    with np.errstate(invalid="ignore"):
        powers = step(np.exp(step(wide - wide.max(axis=-1, keepdims=True))))
        expected = powers / step(powers.sum(axis=-1, keepdims=True))
    found = np.asarray(nnc.compile(model, target=machine, fast_math=fast_math)(x))
    if not fast_math:
        np.testing.assert_array_equal(found.astype("f4"), step(expected))
        return
    half_unit = float(ml_dtypes.finfo(kind).eps) / 2
    np.testing.assert_allclose(found.astype("f8"), expected, rtol=1.01 * half_unit, atol=2**-25)


def test_maximum_of_16_bits_that_is_a_result_too():
    """The largest number of a row with NaN is NaN, whatever a softmax makes of the row."""
    steps = {
        "largest": ("ReduceMax", ["x"], {"axes": [-1]}),
        "shifted": ("Sub", ["x", "largest"], {}),
        "powers": ("Exp", ["shifted"], {}),
        "total": ("ReduceSum", ["powers", "axis"], {}),
        "y": ("Div", ["powers", "total"], {}),
    }
    nodes = [helper.make_node(op, ins, [out], **kw) for out, (op, ins, kw) in steps.items()]
    shapes = {"x": [4, 32], "y": [4, 32], "largest": [4, 1], "shifted": [4, 32]}
    infos = [helper.make_tensor_value_info(n, TensorProto.FLOAT16, s) for n, s in shapes.items()]
    axis = numpy_helper.from_array(np.array([-1]), "axis")
    graph = helper.make_graph(nodes, "g", infos[:1], infos[1:], [axis])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    x = np.random.default_rng(0).standard_normal([4, 32]).astype("f2")
    x[1, 3] = np.nan
    _, largest, shifted = nnc.compile(model)(x)
    np.testing.assert_array_equal(largest, x.max(axis=-1, keepdims=True))
    np.testing.assert_array_equal(shifted, x - x.max(axis=-1, keepdims=True))
