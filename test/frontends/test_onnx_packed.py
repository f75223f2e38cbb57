"""Constant integers of few bits, which stay packed, against NumPy and ONNX Runtime."""

from dataclasses import replace

import numpy as np
import onnxruntime
import pytest
from nnc.dialects import nn
from nnc.driver.compile import compile_model, run_stages
from nnc.frontends.onnx import import_model
from nnc.targets.attribute import TARGET, to_attribute
from nnc.targets.base import target
from onnx import TensorProto, helper, numpy_helper

from .test_onnx_contributed import check

RANDOM = np.random.default_rng(8)
K, N = 72, 21


def model(rows, dtype=np.float32, width=K, **given):
    """A product of [rows, K], and the weights' arrays by the names of the operands.

    `width` is what the model says of K.
    """
    bits, block = given["bits"], given["block_size"]
    count = -(-K // block)
    arrays = {
        "B": RANDOM.integers(0, 256, (N, count, block * bits // 8), np.uint8),
        "scales": RANDOM.uniform(0.1, 0.4, (N, count)).astype(dtype),
    }
    packed = RANDOM.integers(0, 256, (N, -(-count * bits // 8)), np.uint8)
    points = RANDOM.uniform(0, 1 << bits, (N, count)).astype(dtype)
    groups = RANDOM.permutation(np.arange(K, dtype=np.int32) // block)
    arrays["zero_points"] = {"packed": packed, "numbers": points}.get(given.pop("zeros", ""))
    arrays["g_idx"] = {"shuffled": groups, "in turn": np.sort(groups)}.get(given.pop("groups", ""))
    arrays["bias"] = RANDOM.standard_normal(N).astype(dtype) if given.pop("bias", False) else None
    names = ["x", *(name if array is not None else "" for name, array in arrays.items())]
    node = helper.make_node("MatMulNBits", names, ["y"], domain="com.microsoft", K=K, N=N, **given)
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    graph = helper.make_graph(
        [node], "g",
        [helper.make_tensor_value_info("x", kind, [2, rows, width])],
        [helper.make_tensor_value_info("y", kind, [2, rows, N])],
        [numpy_helper.from_array(a, n) for n, a in arrays.items() if a is not None],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 19), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9), arrays


def unpacked(x: np.ndarray, bits: int) -> np.ndarray:
    apart = [(x >> place) & ((1 << bits) - 1) for place in range(0, 8, bits)]
    return np.stack(apart, -1).reshape(len(x), -1).astype(np.float64)


def matrix(arrays: dict, bits: int, block: int) -> np.ndarray:
    """The weights [N, K] by the operator's definition."""
    zeros, groups = arrays["zero_points"], arrays["g_idx"]
    groups = np.arange(K) // block if groups is None else groups
    if zeros is None:
        zeros = np.full(arrays["scales"].shape, 1 << (bits - 1))
    elif zeros.dtype == np.uint8:
        zeros = unpacked(zeros, bits)
    numbers = unpacked(arrays["B"], bits)[:, :K]
    return (numbers - zeros[:, groups]) * arrays["scales"].astype(np.float64)[:, groups]


@pytest.mark.sampled(9)
@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize(
    "given",
    [
        {"block_size": 16},
        {"block_size": 32, "zeros": "packed", "bias": True},
        {"block_size": 128, "zeros": "numbers"},
        {"block_size": 16, "groups": "in turn", "bias": True},
        {"block_size": 16, "groups": "shuffled"},
        {"block_size": 16, "groups": "shuffled", "zeros": "packed"},
        {"block_size": 16, "dtype": np.float16},
    ],
    ids=str,
)
def test_products(bits, given):
    made, arrays = model("rows", bits=bits, **given)
    found = compile_model(made)
    weights = matrix(arrays, bits, given["block_size"])
    precise = given.get("dtype") is None
    for rows in (1, 7):
        x = RANDOM.standard_normal((2, rows, K)).astype(given.get("dtype", np.float32))
        wanted = x.astype(np.float64) @ weights.T
        if arrays["bias"] is not None:
            wanted = wanted + arrays["bias"]
        within = (2e-6 if precise else 1e-3) * np.abs(wanted).max()
        np.testing.assert_allclose(found(x), wanted, rtol=0, atol=within)


@pytest.mark.parametrize("width", [K, "unknown"])
@pytest.mark.parametrize("zeros", ["", "packed"])
def test_as_onnxruntime(zeros, width):
    made, _ = model(3, width=width, bits=4, block_size=32, zeros=zeros, accuracy_level=1)
    x = RANDOM.standard_normal((2, 3, K)).astype(np.float32)
    (wanted,) = onnxruntime.InferenceSession(made.SerializeToString()).run(None, {"x": x})
    np.testing.assert_allclose(compile_model(made)(x), wanted, rtol=0, atol=1e-4)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize(
    "given",
    [
        {"block_size": 16},
        {"block_size": 32, "zeros": "packed", "bias": True},
        {"block_size": 64, "zeros": "numbers"},
    ],
    ids=str,
)
def test_level_4_rounds_rows_to_bytes(bits, given):
    """No further from the exact product than rows may be that are rounded step by step."""
    made, arrays = model("rows", bits=bits, accuracy_level=4, **given)
    host = target("host")
    machine = replace(host.machine, has_byte_products=True)
    module = import_model(made)
    module.attributes[TARGET] = to_attribute(replace(host, machine=machine))
    found = compile_model(module)
    weights = matrix(arrays, bits, given["block_size"])
    step = min(32, given["block_size"])
    for rows in (1, 7):
        x = RANDOM.standard_normal((2, rows, K)).astype(np.float32)
        x[0, :, :step] = 0
        x[1, 0] *= 1e-38
        wanted = x.astype(np.float64) @ weights.T
        filled = np.pad(np.abs(x), [(0, 0), (0, 0), (0, -K % step)]).reshape(2, rows, -1, step)
        most = np.repeat(np.maximum(filled.max(-1), 127e-37), step, axis=-1)[..., :K]
        bound = (most / 254) @ np.abs(weights).T
        wanted += 0 if arrays["bias"] is None else arrays["bias"]
        error = np.abs(found(x) - wanted)
        assert (error <= bound + 2e-6 * np.abs(wanted).max()).all()
        assert error.max() > 1e-2 * bound.max()
        x[0, 0, 3] = np.nan
        is_nan = np.isnan(found(x))
        assert is_nan[0, 0].all()
        assert not is_nan[1].any()


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_weights_stay_packed(bits):
    made, _ = model(1, bits=bits, block_size=16)
    module = run_stages(import_model(made), last="simplify-graph")
    constants = [op.value.type for op in module.walk() if isinstance(op, nn.Constant)]
    columns, rows = -(-N // 16) * 16, -(-K // 16) * 16
    words = columns * rows * bits // 8
    assert [t.num_bytes for t in constants if t.rank == 4] == [words]
    # The scales, and the zero behind the last row.
    assert sum(t.num_bytes for t in constants) == words + columns * rows // 16 * 4 + 4


@pytest.mark.parametrize(
    ("opset", "told", "wanted"),
    [
        (21, {}, [-57, 8]),  # what the division is in is left open
        (23, {}, [-58, 8]),
        (23, {"precision": TensorProto.FLOAT}, [-57, 8]),
    ],
)
def test_halves_are_divided_in_what_the_opset_tells(opset, told, wanted):
    """3.574 / 0.06216 is 57.496, and 57.5 as a half."""
    scale = numpy_helper.from_array(np.array(0.06216, np.float16), "scale")
    node = helper.make_node("QuantizeLinear", ["x", "scale"], ["y"],
                            output_dtype=TensorProto.INT8, **told)  # fmt: skip
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT16, [2])
    y = helper.make_tensor_value_info("y", TensorProto.INT8, [2])
    opsets = [helper.make_opsetid("", opset)]
    graph = helper.make_graph([node], "g", [x], [y], [scale])
    made = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    assert compile_model(made)(np.array([-3.574, 0.5], np.float16)).tolist() == wanted


# -- DequantizeLinear in blocks --------------------------------------------------------------------

KINDS = {
    TensorProto.INT4: (-8, 8),
    TensorProto.UINT4: (0, 16),
    TensorProto.INT8: (-128, 128),
    TensorProto.UINT8: (0, 256),
}


def integers(name: str, kind: int, shape) -> tuple[np.ndarray, TensorProto]:
    array = RANDOM.integers(*KINDS[kind], shape)
    return array, helper.make_tensor(name, kind, shape, array.ravel().tolist())


def dequantized(user, given, has_zeros: bool, **attributes):
    """A model that computes y of x [rows, 64] and of a dequantized matrix m."""
    stored, scales, zeros = given
    element = helper.np_dtype_to_tensor_dtype(scales.dtype)
    names = ["w", "s", *(["z"] if has_zeros else [])]
    graph = helper.make_graph(
        [helper.make_node("DequantizeLinear", names, ["m"], **attributes), user], "g",
        [helper.make_tensor_value_info("x", element, ["rows", 64])],
        [helper.make_tensor_value_info("y", element, None)],
        [stored, numpy_helper.from_array(scales, "s"), *([zeros] if has_zeros else [])],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def ops_of(made) -> set[type]:
    return {type(op) for op in run_stages(import_model(made), last="simplify-graph").walk()}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("kind", "has_zeros", "axis", "real"),
    [
        (TensorProto.INT4, False, 0, np.float32),
        (TensorProto.INT4, True, 1, np.float16),
        (TensorProto.UINT4, True, 0, np.float32),
        (TensorProto.UINT4, False, 1, np.float32),
        (TensorProto.INT8, True, 1, np.float32),
        (TensorProto.UINT8, True, 0, np.float16),
    ],
)
def test_dequantized_in_blocks(kind, has_zeros, axis, real):
    shape, block = ((64, N), 32) if axis == 0 else ((N, 64), 16)
    fewer = tuple(d // block if i == axis else d for i, d in enumerate(shape))
    numbers, stored = integers("w", kind, shape)
    points, zeros = integers("z", kind, fewer)
    scales = RANDOM.uniform(0.1, 0.4, fewer).astype(real)
    product = helper.make_node("Gemm", ["x", "m"], ["y"], transB=axis)
    given = [stored, scales, zeros]
    made = dequantized(product, given, has_zeros, axis=axis, block_size=block)
    wide = np.repeat(scales.astype(np.float64), block, axis)
    moved = numbers - np.repeat(points, block, axis) if has_zeros else numbers
    weights = moved * wide if axis == 0 else (moved * wide).T
    x = RANDOM.standard_normal((3, 64)).astype(real)
    wanted = x.astype(np.float64) @ weights
    within = (2e-6 if real is np.float32 else 2e-3) * np.abs(wanted).max()
    np.testing.assert_allclose(compile_model(made)(x), wanted, rtol=0, atol=within)
    assert nn.QuantizedMatmul in ops_of(made)


@pytest.mark.parametrize("has_zeros", [False, True])
def test_a_scale_for_each_column(has_zeros):
    numbers, stored = integers("w", TensorProto.INT4, (64, N))
    points, zeros = integers("z", TensorProto.INT4, (N,))
    scales = RANDOM.uniform(0.1, 0.4, N).astype(np.float32)
    made = dequantized(
        helper.make_node("MatMul", ["x", "m"], ["y"]), [stored, scales, zeros], has_zeros, axis=1
    )
    x = RANDOM.standard_normal((3, 64)).astype(np.float32)
    wanted = x.astype(np.float64) @ ((numbers - points * has_zeros) * scales)
    within = 2e-6 * np.abs(wanted).max()
    np.testing.assert_allclose(compile_model(made)(x), wanted, rtol=0, atol=within)
    assert nn.QuantizedMatmul in ops_of(made)


def test_rows_that_are_gathered():
    numbers, stored = integers("w", TensorProto.UINT4, (N, 64))
    points, zeros = integers("z", TensorProto.UINT4, (N, 4))
    scales = RANDOM.uniform(0.1, 0.4, (N, 4)).astype(np.float32)
    given = [stored, scales, zeros]
    made = dequantized(
        helper.make_node("Gather", ["m", "x"], ["y"]), given, True, axis=1, block_size=16
    )
    made.graph.input[0].type.tensor_type.elem_type = TensorProto.INT64
    x = RANDOM.integers(0, N, (5, 64))
    matrix = (numbers - np.repeat(points, 16, 1)) * np.repeat(scales, 16, 1)
    np.testing.assert_allclose(compile_model(made)(x), matrix[x], rtol=1e-5, atol=1e-5)
    module = run_stages(import_model(made), last="simplify-graph")
    constants = [op.value.type for op in module.walk() if isinstance(op, nn.Constant)]
    assert sum(t.num_bytes for t in constants) == N * 32 + 2 * scales.nbytes


# -- GatherBlockQuantized --------------------------------------------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("kind", "axis"),
    [(TensorProto.INT4, 0), (TensorProto.UINT4, 0), (TensorProto.INT4, 1), (2, 0), (4, 0), (8, 0)],
)
@pytest.mark.parametrize("has_zeros", [False, True])
def test_rows_of_an_embedding(kind, has_zeros, axis):
    """A kind of 2, 4 or 8 is bytes that hold integers of so many bits, in rows."""
    bytes_ = kind in (2, 4, 8)
    bits, kind = (kind, TensorProto.UINT8) if bytes_ else (4, kind)
    rows, columns, block = 48, 64, 16
    part = bits if bytes_ else 8
    _, data = integers("d", kind, (rows, columns * part // 8))
    shape = (rows, columns // block) if axis == 0 else (rows // block, columns)
    _, zeros = integers("z", kind, (rows, columns // block * part // 8) if bytes_ else shape)
    scales = RANDOM.uniform(0.1, 0.4, shape).astype(np.float32)
    names = ["d", "i", "s", *(["z"] if has_zeros else [])]
    node = helper.make_node(
        "GatherBlockQuantized", names, ["y"], domain="com.microsoft",
        bits=bits, block_size=block, gather_axis=axis, quantize_axis=1 - axis,
    )  # fmt: skip
    at = RANDOM.integers(0, (rows, columns)[axis], (2, 3))
    graph = helper.make_graph(
        [node], "g",
        [helper.make_tensor_value_info("i", TensorProto.INT64, at.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [data, numpy_helper.from_array(scales, "s"), *([zeros] if has_zeros else [])],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    made = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    (wanted,) = onnxruntime.InferenceSession(made.SerializeToString()).run(None, {"i": at})
    np.testing.assert_allclose(compile_model(made)(at), wanted, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("shape", [(5, 32), (4, 3, 64)])
@pytest.mark.parametrize("at", [(), (2, 1)])
def test_tables_of_rows_and_a_lone_index(bits, shape, at):
    """Zero points are packed in rows, also those of a table of matrices."""
    *lead, columns = shape
    groups, part = columns // 16, 8 // bits
    data = RANDOM.integers(0, 256, (*lead, columns // part)).astype(np.uint8)
    zeros = RANDOM.integers(0, 256, (*lead, -(-groups // part))).astype(np.uint8)
    scales = RANDOM.uniform(0.1, 0.4, (*lead, groups)).astype(np.float32)
    given = data, RANDOM.integers(-4, 4, at), scales, zeros
    more = {"bits": bits, "block_size": 16, "gather_axis": 0, "quantize_axis": len(lead)}
    check("GatherBlockQuantized", *given, domain="com.microsoft", **more)
