"""--check-numerics over a small model of each kind: open shapes, branches, loops, narrow numbers."""

import onnx.parser
import pytest
from nnc.driver.compile import load_module
from nnc.driver.hosting import cut_parts, is_hosted
from nnc.ir.core import Operation
from nnc.ir.passes import PassManager
from nnc.lowering.pipelines import DEFAULT, pipeline, stages_of
from nnc.numerics.checking import CheckNumerics
from nnc.targets.base import target


def listed(numbers):
    return ",".join(map(str, numbers))


HEAD = '<ir_version: 10, opset_import: ["" : 21, "ai.onnx.ml" : 5]>\n'
KINDS = {
    "open shapes": """
    g (float[N,3,H,W] x) => (float[N,C] y, int64[4] s)
    <float[4,3,3,3] w = {WEIGHTS}, int64[2] axes = {2, 3}>
    { a = Conv<pads = [1,1,1,1]>(x, w)  b = Relu(a)  c = ReduceMean<keepdims = 0>(b, axes)
      s = Shape(b)  y = Softmax<axis = 1>(c) }""".replace(
        "WEIGHTS", listed((i % 7 - 3) / 8 for i in range(108))
    ),
    "shapes from values": """
    g (float[N,6] x, int64[1] k) => (float[?,?] y, float[?] z)
    <int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[2] flat = {-1, 2}>
    { a = Slice(x, one, k, one, one)  b = Transpose(x)  c = Slice(b, zero, k, zero, two)
      y = Neg(c)  d = ReduceSum<keepdims = 0>(a, one)  z = Abs(d) }""",
    "a branch": """
    g (float[4,8] x, bool c) => (float[4,8] y)
    { y = If(c) <then_branch = t () => (float[4,8] a) { b = Tanh(x)  a = Add(b, x) },
                 else_branch = e () => (float[4,8] d) { d = Softmax<axis = 1>(x) }> }""",
    "a loop": """
    g (float[4,8] x, int64 n) => (float[4,8] y, float[?,4,8] z)
    <bool go = {1}, float half = {0.5}>
    { y, z = Loop(n, go, x) <body = b (int64 i, bool c, float[4,8] s)
                                    => (bool d, float[4,8] t, float[4,8] u)
      { d = Identity(c)  r = Mul(s, half)  t = Add(r, x)  u = Relu(t) }> }""",
    "a scan": """
    g (float[5,8] x, float[8] s) => (float[8] y, float[5,8] z)
    { y, z = Scan<num_scan_inputs = 1, body = b (float[8] a, float[8] e)
                    => (float[8] c, float[8] d) { c = Add(a, e)  d = Tanh(c) }>(s, x) }""",
    "recurrent": """
    g (float[T,2,3] x, float[1,16,3] w, float[1,16,4] r, float[1,32] b)
    => (float[?,1,2,4] y, float[1,2,4] h)
    { y, h = LSTM<hidden_size = 4>(x, w, r, b) }""",
    "quantized": """
    g (float[4,8] x) => (float[4,6] y)
    <uint8[8,6] w = {WEIGHTS}, float scale = {0.25}, uint8 zero = {3}>
    { q, s, z = DynamicQuantizeLinear(x)  p = MatMulInteger(q, w, z, zero)
      f = Cast<to = 1>(p)  t = Mul(s, scale)  y = Mul(f, t) }""".replace(
        "WEIGHTS", listed(i % 11 for i in range(48))
    ),
    "quantized inputs": """
    g (int8[2,8] a, int8[8,4] b) => (float[2,4] y)
    <float s = {0.5}, int8 z = {1}>
    { c = QLinearMatMul(a, s, z, b, s, z, s, z)  y = DequantizeLinear(c, s, z) }""",
    "trees": """
    g (float[N,3] x) => (float[N,2] y)
    { y = ai.onnx.ml.TreeEnsemble<
        nodes_featureids = [0, 2, 1], nodes_splits = float[3] {0.1, -0.3, 0.5},
        nodes_modes = uint8[3] {0, 0, 2}, tree_roots = [0, 2],
        nodes_truenodeids = [1, 0, 2], nodes_trueleafs = [0, 1, 1],
        nodes_falsenodeids = [1, 3, 4], nodes_falseleafs = [1, 1, 1],
        leaf_targetids = [0, 1, 1, 0, 1], leaf_weights = float[5] {1.0, -2.0, 0.5, 3.0, 0.7},
        n_targets = 2, aggregate_function = 1>(x) }""",
}
HOSTED = {
    "strings": """
    g (string[N] s, float[N,4] x) => (float[N,4] y, string[N] t)
    <float[3,4] w = {WEIGHTS}>
    { i = ai.onnx.ml.LabelEncoder<keys_strings = ["a", "b", "c"], values_int64s = [0, 1, 2],
        default_int64 = 0>(s)
      e = Gather(w, i)  p = Mul(e, x)  y = Softmax<axis = 1>(p)
      t = StringConcat(s, s) }""".replace("WEIGHTS", listed((i % 5 - 2) / 4 for i in range(12))),
    "a sequence": """
    g (seq(float[?,4]) s, float[M,4] x, int64 k) => (float[?,4] y, seq(float[?,4]) t)
    { a = SequenceAt(s, k)  b = Concat<axis = 0>(a, x)  y = Tanh(b)  t = SequenceInsert(s, y) }""",
}


def check(module: Operation) -> int:
    """How many results the passes to machine code were compared in; none may have changed."""
    numerics = CheckNumerics()
    for stage in stages_of(target(DEFAULT)):
        PassManager(pipeline(stage.text()), instrumentations=[numerics]).run(module)
    assert numerics.notes == []
    return numerics.compared


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_small_model_of_a_kind(kind: str) -> None:
    assert check(load_module(onnx.parser.parse_model(HEAD + KINDS[kind]))) > 20


@pytest.mark.slow
@pytest.mark.parametrize("kind", HOSTED)
def test_what_is_compiled_of_a_model_with_a_host(kind: str) -> None:
    module = load_module(onnx.parser.parse_model(HEAD + HOSTED[kind]))
    assert is_hosted(module)
    assert sum(map(check, cut_parts(module))) > 20
