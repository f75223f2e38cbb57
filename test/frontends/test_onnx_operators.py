"""Operators whose import is more than one op, against onnxruntime and NumPy, case by case."""

import numpy as np
import onnx.parser
import onnxruntime
import pytest
from nnc.frontends.onnx import import_model
from onnx import TensorProto

from .models import initializer, make_model, node, ops_of, run, value

RANDOM = np.random.default_rng(7)


def random(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def by_onnxruntime(model, *arrays):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    names = [i.name for i in session.get_inputs()]
    return session.run(None, dict(zip(names, arrays, strict=True)))


def check(model, *arrays, rtol=1e-4, atol=1e-5):
    model.ir_version = 10
    for found, expected in zip(run(model, *arrays), by_onnxruntime(model, *arrays), strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)


def one(op_type, arrays, weights=(), outputs=1, opset=21, domain="", results=None, **attributes):
    """A model of one node; `arrays` are inputs, `weights` constants behind them."""
    inputs = [f"x{i}" for i in range(len(arrays))]
    names = [f"w{i}" if w is not None else "" for i, w in enumerate(weights)]
    kinds = {"float32": TensorProto.FLOAT, "int64": TensorProto.INT64, "bool": TensorProto.BOOL}
    outs = [f"y{i}" for i in range(outputs)]
    return make_model(
        [node(op_type, inputs + names, outs, "op", domain=domain, **attributes)],
        [value(n, a.shape, kinds[str(a.dtype)]) for n, a in zip(inputs, arrays, strict=True)],
        [
            value(n, None, kind)
            for n, kind in zip(outs, results or [TensorProto.FLOAT] * outputs, strict=True)
        ],
        [initializer(n, w) for n, w in zip(names, weights, strict=True) if n],
        opset=opset,
        domains={"com.microsoft": 1} if domain else {},
    )


# -- einsum ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]),
        ("ij,jk", [(2, 3), (3, 4)]),
        ("bij,bjk->bik", [(5, 2, 3), (5, 3, 4)]),
        ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)]),
        ("bqhd,bkhd->bhqk", [(2, 4, 3, 5), (2, 6, 3, 5)]),
        ("...ij,...jk->...ik", [(2, 5, 2, 3), (5, 3, 4)]),
        ("...ij,jk->...ik", [(2, 5, 2, 3), (3, 4)]),
        ("i,j->ij", [(3,), (4,)]),
        ("i,i->", [(3,), (3,)]),
        ("i,i->i", [(3,), (3,)]),
        ("ij->ji", [(3, 4)]),
        ("ij->", [(3, 4)]),
        ("ij->j", [(3, 4)]),
        ("ii->i", [(3, 3)]),
        ("ii->", [(3, 3)]),
        ("iji->j", [(3, 4, 3)]),
        ("ba", [(3, 4)]),
        ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]),
        ("ij,kj,lj->ikl", [(2, 3), (4, 3), (5, 3)]),
        ("ijk,jil->kl", [(2, 3, 4), (3, 2, 5)]),
        ("abc,abd->cd", [(2, 3, 4), (2, 3, 5)]),
        ("ab,cd->acbd", [(2, 3), (4, 5)]),
        ("a,ab,b->", [(2,), (2, 3), (3,)]),
        ("b...,b...->...", [(2, 3, 4), (2, 3, 4)]),
    ],
)
def test_einsum(equation, shapes):
    arrays = [random(*shape) for shape in shapes]
    model = one("Einsum", arrays, equation=equation)
    expected = np.einsum(equation, *arrays)
    np.testing.assert_allclose(run(model, *arrays)[0], expected, rtol=1e-4, atol=1e-5)


def test_einsum_becomes_a_product():
    arrays = [random(2, 3, 4, 5), random(2, 3, 6, 5)]
    model = one("Einsum", arrays, equation="bhqd,bhkd->bhqk")
    assert ops_of(import_model(model)) == ["nn.transpose", "nn.matmul"]


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


# -- padding and windows ---------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
def test_pad_modes(mode):
    x = random(3, 4)
    model = one("Pad", [x], [np.array([1, 2, 0, 1])], mode=mode)
    np.testing.assert_array_equal(run(model, x)[0], np.pad(x, [(1, 0), (2, 1)], mode=mode))


@pytest.mark.parametrize("auto_pad", ["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("kernel", [2, 3])
@pytest.mark.parametrize("op_type", ["Conv", "MaxPool", "AveragePool"])
def test_automatic_padding(op_type, kernel, stride, auto_pad):
    x = random(1, 2, 7, 8)
    weights = [random(3, 2, kernel, kernel)] if op_type == "Conv" else []
    model = one(
        op_type, [x], weights, auto_pad=auto_pad, strides=[stride] * 2, kernel_shape=[kernel] * 2
    )
    check(model, x)


@pytest.mark.parametrize("group", [1, 2, 4])
def test_convolution_groups_dilations_and_uneven_pads(group):
    x, w = random(2, 4, 9, 8), random(8, 4 // group, 3, 2)
    model = one(
        "Conv",
        [x],
        [w, random(8)],
        group=group,
        dilations=[2, 1],
        pads=[1, 0, 2, 3],
        strides=[1, 2],
    )
    check(model, x)


@pytest.mark.parametrize("rank", [1, 3])
def test_convolutions_of_other_ranks(rank):
    x, w = random(1, 2, *[6] * rank), random(3, 2, *[3] * rank)
    check(one("Conv", [x], [w]), x)


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"strides": [2, 3]},
        {"strides": [2, 2], "pads": [1, 0, 1, 2], "output_padding": [1, 1]},
        {"strides": [2, 2], "auto_pad": "SAME_UPPER"},
        {"strides": [3, 2], "auto_pad": "SAME_LOWER"},
        {"strides": [2, 2], "output_shape": [9, 10]},
        {"strides": [2, 2], "dilations": [2, 1]},
    ],
    ids=str,
)
@pytest.mark.parametrize("group", [1, 2])
def test_transposed_convolutions(attributes, group):
    x, w = random(1, 4, 4, 5), random(4, 3, 3, 3)
    check(one("ConvTranspose", [x], [w, random(3 * group)], group=group, **attributes), x)


@pytest.mark.parametrize("count_include_pad", [0, 1])
@pytest.mark.parametrize("ceil_mode", [0, 1])
def test_average_pooling_at_the_border(ceil_mode, count_include_pad):
    x = random(1, 2, 7, 8)
    model = one(
        "AveragePool",
        [x],
        kernel_shape=[3, 3],
        strides=[2, 2],
        pads=[1, 1, 1, 1],
        ceil_mode=ceil_mode,
        count_include_pad=count_include_pad,
    )
    check(model, x)


@pytest.mark.parametrize("storage_order", [0, 1])
def test_indices_of_max_pooling(storage_order):
    x = random(2, 2, 6, 8)
    check(
        one(
            "MaxPool",
            [x],
            (),
            2,
            kernel_shape=[2, 3],
            strides=[2, 2],
            storage_order=storage_order,
            results=[TensorProto.FLOAT, TensorProto.INT64],
        ),
        x,
    )


# -- normalization ---------------------------------------------------------------------------------


def test_layer_normalization_with_all_outputs():
    x = random(2, 3, 4)
    check(one("LayerNormalization", [x], [random(3, 4), random(3, 4)], 3, axis=1), x)


def test_group_normalization_per_group():
    x = random(2, 6, 5)
    model = one("GroupNormalization", [x], [random(3), random(3)], opset=18, num_groups=3)
    check(model, x)


# -- sampling --------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize(
    "transform", ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]
)
@pytest.mark.parametrize("sizes", [(1, 2, 7, 9), (1, 2, 3, 3)])
def test_resize_to_sizes(mode, transform, sizes):
    x = random(1, 2, 4, 6)
    more = {"nearest_mode": "floor"} if mode == "nearest" else {}
    model = one(
        "Resize",
        [x],
        [None, None, np.array(sizes)],
        mode=mode,
        coordinate_transformation_mode=transform,
        **more,
    )
    check(model, x)


@pytest.mark.parametrize("scale", [0.4, 1.6, 2.0, 3.0])
def test_resize_as_tensorflow_did(scale):
    x = random(1, 1, 5, 7)
    model = one(
        "Resize",
        [x],
        [np.zeros(0, np.float32), np.array([1, 1, scale, scale], np.float32)],
        opset=11,
        mode="nearest",
        coordinate_transformation_mode="tf_half_pixel_for_nn",
        nearest_mode="floor",
    )
    check(model, x)


@pytest.mark.parametrize("opset", [7, 9])
def test_upsample(opset):
    x = random(1, 2, 3, 4)
    scales = np.array([1, 1, 2, 3], np.float32)
    if opset == 7:
        model = one("Upsample", [x], opset=7, scales=scales.tolist(), mode="nearest")
    else:
        model = one("Upsample", [x], [scales], opset=9, mode="linear")
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
        ("SkipSimplifiedLayerNormalization", [(2, 3, 4), (4,)], {"epsilon": 1e-5}, 1),
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
