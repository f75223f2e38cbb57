"""Operators whose import is more than one op, against onnxruntime and NumPy, case by case."""

import nnc
import numpy as np
import onnx.parser
import pytest
from onnx import TensorProto

from .models import initializer, make_model, node, run, value
from .onnx_operators import RANDOM, check, one, random

# -- slices ----------------------------------------------------------------------------------------

_BOUNDS = (0, 1, 3, 6, -1, -2, -6, 100, -100)


@pytest.mark.parametrize("seed", range(25))
def test_slices_by_numpys_rules(seed):
    pick = np.random.default_rng(seed)
    x = random(4, 6, 5)
    axes = pick.permutation(3)[: pick.integers(1, 4)]
    starts, ends = (pick.choice(_BOUNDS, axes.size) for _ in range(2))
    steps = pick.choice((1, 2, 3, -1, -2), axes.size)
    where = [slice(None)] * 3
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        where[axis] = slice(int(start), int(end), int(step))
    signed = np.where(pick.random(axes.size) < 0.5, axes, axes - 3)
    model = one("Slice", [x], [starts, ends, signed, steps])
    np.testing.assert_array_equal(run(model, x)[0], x[tuple(where)])


@pytest.mark.parametrize(("start", "step"), [(0, 4), (2, 4), (3, 7), (25, 4), (19, 2)])
def test_steps_to_an_end_known_at_run_time(start, step):
    x = random(3, 20)
    weights = [np.array([n]) for n in (start, 2**63 - 1, 1, step)]
    model = one("Slice", [x], weights)
    model.graph.input[0].CopyFrom(value("x0", ["a", "b"]))
    np.testing.assert_array_equal(nnc.compile(model)(x), x[:, start::step])


def test_no_axes_are_not_all_axes():
    x, none = random(4, 6), np.zeros(0, np.int64)
    np.testing.assert_array_equal(run(one("Slice", [x], [none, none, none, none]), x)[0], x)
    model = one("CenterCropPad", [x], [none], axes=[0])
    del model.graph.node[0].attribute[0].ints[:]
    np.testing.assert_array_equal(run(model, x)[0], x)


@pytest.mark.parametrize("opset", [11, 13])
def test_uneven_splits_need_sizes(opset):
    x = random(2, 5)
    model = one(
        "Split",
        [x],
        [np.array([1, 0, 4])] if opset == 13 else [],
        3,
        opset,
        axis=1,
        **({} if opset == 13 else {"split": [1, 0, 4]}),
    )
    found = run(model, x)
    assert [f.shape for f in found] == [(2, 1), (2, 0), (2, 4)]
    np.testing.assert_array_equal(np.concatenate(found, 1), x)


@pytest.mark.parametrize("shape", [("n", 1, "m"), ("n", "m", "k")])
def test_squeeze_of_what_the_run_knows(shape):
    """The declared rank tells how many dimensions go; which ones, the types or the run."""
    x = random(3, 1, 4)
    inputs = [value("x", shape, TensorProto.FLOAT)]
    outputs = [value("y", ("a", "b"), TensorProto.FLOAT)]
    check(make_model([node("Squeeze", ["x"], ["y"], "op")], inputs, outputs), x)


# -- normalization ---------------------------------------------------------------------------------


def test_layer_normalization_with_all_outputs():
    x = random(2, 3, 4)
    check(one("LayerNormalization", [x], [random(3, 4), random(3, 4)], 3, axis=1), x)


def test_group_normalization_per_group():
    x = random(2, 6, 5)
    model = one("GroupNormalization", [x], [random(3), random(3)], opset=18, num_groups=3)
    check(model, x)


# -- the rest --------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"transA": 1}, {"transB": 1, "alpha": 0.5, "beta": 2.0}])
@pytest.mark.parametrize("bias", [(4,), (2, 4), (2, 1), ()])
def test_gemm(options, bias):
    a = random(3, 2) if options.get("transA") else random(2, 3)
    b = random(4, 3) if options.get("transB") else random(3, 4)
    check(one("Gemm", [a], [b, random(*bias)], **options), a)


@pytest.mark.parametrize(
    "shapes", [((3,), (3,)), ((3,), (2, 3, 4)), ((2, 4, 3), (3,)), ((2, 3), (3, 4))]
)
def test_matmul_of_vectors(shapes):
    a, b = (random(*s) for s in shapes)
    check(one("MatMul", [a, b]), a, b)


@pytest.mark.parametrize("order", [("time", 0, 1), ("batch", 1, 0)])
@pytest.mark.parametrize("shape", [(4, 4), (4, 4, 2, 3)])
def test_reverse_sequence(order, shape):
    x = random(*shape)
    model = one(
        "ReverseSequence", [x], [np.array([4, 2, 1, 3])], time_axis=order[1], batch_axis=order[2]
    )
    check(model, x)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_compress(axis):
    x = random(3, 4)
    more = {} if axis is None else {"axis": axis}
    check(one("Compress", [x], [np.array([True, False, True])], **more), x)


def test_max_unpool_into_a_given_shape():
    x = np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2)
    indices = np.array([5, 7, 13, 15]).reshape(1, 1, 2, 2)
    model = one("MaxUnpool", [x], [indices], kernel_shape=[2, 2], strides=[2, 2])
    check(model, x)


@pytest.mark.parametrize("to", ["int8", "uint8", "int32", "bool", "float16", "float64"])
def test_cast(to):
    from onnx.helper import np_dtype_to_tensor_dtype

    x = np.array([-3.7, -0.2, 0.0, 1.5, 100.0], np.float32)
    if to == "uint8":
        x = np.abs(x)
    kind = int(np_dtype_to_tensor_dtype(np.dtype(to)))
    check(one("Cast", [x], to=kind, results=[kind]), x)


def test_quantized_products():
    a, b = RANDOM.integers(0, 255, (2, 3, 4)).astype(np.uint8), RANDOM.integers(-128, 127, (4, 5))
    nodes = [
        node("Cast", ["x"], ["a"], to=int(TensorProto.UINT8)),
        node("MatMulInteger", ["a", "b", "za", "zb"], ["y"]),
    ]
    weights = [
        initializer("b", b.astype(np.int8)),
        initializer("za", np.array(3, np.uint8)),
        initializer("zb", np.array(-2, np.int8)),
    ]
    x = a.astype(np.float32)
    model = make_model(nodes, [value("x", x.shape)], [value("y", None)], weights)
    expected = (a.astype(np.int32) - 3) @ (b.astype(np.int32) + 2)
    np.testing.assert_array_equal(run(model, x)[0], expected)


@pytest.mark.parametrize(
    ("op_type", "weights", "attributes", "outputs"),
    [
        ("Gelu", [], {}, 1),
        ("FastGelu", [(4,)], {}, 1),
        ("FastGelu", [], {}, 1),
        ("BiasGelu", [(4,)], {}, 1),
        ("QuickGelu", [], {"alpha": 1.5}, 1),
        ("FusedMatMul", [(2, 5, 4)], {"transB": 1, "alpha": 0.5}, 1),
        ("FusedMatMul", [(2, 3, 5)], {"transA": 1}, 1),
        ("SkipLayerNormalization", [(2, 3, 4), (4,), (4,), (4,)], {"epsilon": 1e-5}, 1),
        ("SkipLayerNormalization", [(2, 3, 4), (4,), (4,), (4,)], {"epsilon": 1e-5}, 4),
        ("SkipSimplifiedLayerNormalization", [(2, 3, 4), (4,)], {"epsilon": 1e-5}, 4),
    ],
)
def test_operators_of_onnxruntime(op_type, weights, attributes, outputs):
    x = random(2, 3, 4)
    model = one(
        op_type, [x], [random(*s) for s in weights], outputs, domain="com.microsoft", **attributes
    )
    check(model, x, rtol=1e-3, atol=1e-4)


def test_a_map_over_a_sequence():
    text = (
        '<ir_version: 10, opset_import: ["" : 21]> g (float[2,3] x, float[2,3] z) => (float[4,3] y) '
        "{ s = SequenceConstruct(x, z) "
        "r = SequenceMap<body = b (float[2,3] a) => (float[2,3] q) { q = Neg(a) }>(s) "
        "y = ConcatFromSequence<axis = 0>(r) }"
    )
    check(onnx.parser.parse_model(text), random(2, 3), random(2, 3))
