"""Single operators compiled for several machines, over sizes with remainders, against NumPy."""

from typing import Literal

import nnc
import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from ..processor import runnable

MACHINES = pytest.mark.parametrize("machine", runnable("host", "avx2", "sse"))


def compiled(
    op: str, machine: str, x: np.ndarray, *constants: np.ndarray, outputs=1, opset=18, **attributes
):
    """The results of one operator on `x` and constants."""
    names = [f"c{i}" for i in range(len(constants))]
    outs = [f"y{i}" for i in range(outputs)]
    graph = helper.make_graph(
        [helper.make_node(op, ["x", *names], outs, **attributes)],
        "g",
        [helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)],
        [onnx.ValueInfoProto(name=o) for o in outs],
        [numpy_helper.from_array(c, n) for c, n in zip(constants, names, strict=True)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
    model = onnx.shape_inference.infer_shapes(model)
    return nnc.compile(model, target=machine)(x)


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


@pytest.mark.sampled(23)
@MACHINES
@pytest.mark.parametrize("stride", [2, 3, 4, 5, 8, 9])
@pytest.mark.parametrize("window", [1, 2, 3, 5])
@pytest.mark.parametrize("columns", [1, 7, 16, 37])
def test_windows_of_any_stride(columns: int, window: int, stride: int, machine: str):
    """The last window ends with the image: nothing behind it may be read."""
    width = stride * (columns - 1) + window
    x = numbers(1, 3, 2, width)
    found = compiled(
        "MaxPool", machine, x, kernel_shape=[1, window], strides=[1, stride]
    )  # fmt: skip
    windows = np.lib.stride_tricks.sliding_window_view(x, window, axis=3)[..., ::stride, :]
    np.testing.assert_array_equal(found, windows.max(-1))


@pytest.mark.sampled(4)
@MACHINES
@pytest.mark.parametrize("step", [2, 3, 7])
def test_steps_of_slices(step: int, machine: str):
    x = numbers(5, 131)
    bounds = [np.array([n], np.int64) for n in (1, 130, 1, step)]
    np.testing.assert_array_equal(compiled("Slice", machine, x, *bounds), x[:, 1:130:step])


@MACHINES
@pytest.mark.parametrize("channels,size", [(3, 15), (20, 8)])
def test_padding_of_pools_in_parts(channels: int, size: int, machine: str):
    """Each channel is padded in memory of its own."""
    x = numbers(2, channels, size, size)
    found = compiled(
        "MaxPool", machine, x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]
    )  # fmt: skip
    padded = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)], constant_values=-np.inf)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    np.testing.assert_array_equal(found, windows[:, :, ::2, ::2].max((-1, -2)))


@pytest.mark.sampled(5)
@MACHINES
@pytest.mark.parametrize("columns", [2, 7, 16, 33])
def test_softmax_of_short_rows(columns: int, machine: str):
    x = numbers(3, 70, columns)
    wide = np.exp(x.astype("f8"))
    expected = wide / wide.sum(-1, keepdims=True)
    np.testing.assert_allclose(compiled("Softmax", machine, x, axis=-1), expected, atol=1e-6)


@pytest.mark.sampled(17)
@MACHINES
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.uint8])
@pytest.mark.parametrize("op,find", [("ArgMax", np.argmax), ("ArgMin", np.argmin)])
def test_arg(op, find, dtype, axis: int, machine: str):
    x = (numbers(5, 37, 18) * 3 + 9).astype(dtype)
    np.testing.assert_array_equal(
        compiled(op, machine, x, axis=axis, keepdims=0), find(x, axis=axis)
    )
    last = compiled(op, machine, x, axis=axis, keepdims=1, select_last_index=1)
    expected = x.shape[axis] - 1 - find(np.flip(x, axis), axis=axis, keepdims=True)
    np.testing.assert_array_equal(last, expected)


def test_arg_of_halves():
    x = numbers(5, 37).astype(np.float16)
    found = compiled("ArgMax", "host", x, axis=1, keepdims=0)
    np.testing.assert_array_equal(found, x.argmax(1))


@MACHINES
@pytest.mark.parametrize("op,find", [("ArgMax", np.argmax), ("ArgMin", np.argmin)])
def test_arg_of_nan_and_infinities(op, find, machine: str):
    inf, nan = np.inf, np.nan
    x = np.array([[1, nan, 9, nan], [-inf] * 4, [inf] * 4, [nan] * 4, [2, 7, 7, 2]], np.float32)
    x = np.concatenate([np.repeat(x[:, :1], 20, 1), x], 1)
    np.testing.assert_array_equal(compiled(op, machine, x, axis=1, keepdims=0), find(x, axis=1))


@pytest.mark.sampled(5)
@MACHINES
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("reverse", [0, 1])
def test_cumsum(reverse: int, axis: int, machine: str):
    x = numbers(6, 5, 21)
    expected = np.cumsum(np.flip(x, axis) if reverse else x, axis)
    expected = np.flip(expected, axis) if reverse else expected
    found = compiled("CumSum", machine, x, np.array(axis), reverse=reverse)
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.sampled(17)
@pytest.mark.parametrize("largest", [0, 1])
@pytest.mark.parametrize("k", [0, 1, 2, 30, 99, 100])
@pytest.mark.parametrize("kinds", [3, 1000])
@pytest.mark.parametrize("axis", [0, 1])
def test_top_k(axis: int, kinds: int, k: int, largest: int):
    """Also where many elements are equal, and of rows that are sorted already."""
    x = np.random.default_rng(k).integers(0, kinds, (2, 100)).astype(np.int32)
    x[1].sort()
    x = np.ascontiguousarray(np.moveaxis(x, 1, axis))
    values, places = compiled(
        "TopK", "host", x, np.array([k]), outputs=2, axis=axis, largest=largest
    )  # fmt: skip
    order = np.argsort(-x if largest else x, axis=axis, kind="stable")
    order = np.take(order, np.arange(k), axis)
    np.testing.assert_array_equal(places, order)
    np.testing.assert_array_equal(values, np.take_along_axis(x, order, axis))


@pytest.mark.parametrize("largest,expected", [(1, [1, 3, 2]), (0, [4, 0, 2])])
def test_top_k_counts_nan_as_largest(largest: int, expected: list[int]):
    x = np.array([[1, np.nan, 3, np.nan, -np.inf]], np.float32)
    _, places = compiled("TopK", "host", x, np.array([3]), outputs=2, largest=largest)
    np.testing.assert_array_equal(places, [expected])


@MACHINES
@pytest.mark.parametrize("shape,other", [((70, 1100), (1100,)), ((3, 40, 300), (40, 300))])
def test_operands_repeated_for_far_rows(shape, other, machine: str):
    x, y = numbers(*shape), numbers(*other)
    np.testing.assert_array_equal(compiled("Mul", machine, x, y), x * y)


@pytest.mark.sampled(11)
@MACHINES
@pytest.mark.parametrize("block", [2, 3, 4, 5, 8])
@pytest.mark.parametrize("width", [1, 7, 16, 21])
def test_blocks_of_depth_to_space(width: int, block: int, machine: str):
    """Results that lie between each other's lanes, also where the last vector is not full."""
    x = numbers(2, 2 * block * block, 3, width)
    found = compiled("DepthToSpace", machine, x, blocksize=block, mode="CRD")
    apart = x.reshape(2, 2, block, block, 3, width).transpose(0, 1, 4, 2, 5, 3)
    np.testing.assert_array_equal(found, apart.reshape(2, 2, 3 * block, width * block))


@pytest.mark.sampled(5)
@MACHINES
@pytest.mark.parametrize("factors", [(2, 2), (1, 3), (5, 1), (4, 9)])
def test_nearest_repeats(factors: tuple[int, int], machine: str):
    x = numbers(1, 3, 5, 19)
    scales = np.array([1, 1, *factors], np.float32)
    found = compiled("Resize", machine, x, np.array([], np.float32), scales, mode="nearest")
    np.testing.assert_array_equal(found, x.repeat(factors[0], 2).repeat(factors[1], 3))


@pytest.mark.parametrize("scales", [(0.5, 0.5), (0.25, 1), (2, 0.5), (0.5, 3)])
def test_nearest_takes_every_other(scales: tuple[float, float]):
    x = numbers(1, 2, 8, 36)
    found = compiled(
        "Resize", "host", x, np.array([], np.float32), np.array([1, 1, *scales], np.float32),
        mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor",
    )  # fmt: skip
    rows, columns = (
        np.floor(np.arange(int(n * s)) / s).astype(int)
        for n, s in zip(x.shape[2:], scales, strict=True)
    )
    np.testing.assert_array_equal(found, x[:, :, rows][..., columns])


@pytest.mark.sampled(11)
@MACHINES
@pytest.mark.parametrize("mode", ["reflect", "edge", "wrap"])
@pytest.mark.parametrize("pads", [(1, 2, 3, 0), (0, 3, 0, 2), (2, 0, 1, 0), (0, -1, 2, 4)])
def test_mirrored_borders(
    pads: tuple[int, int, int, int], mode: Literal["reflect", "edge", "wrap"], machine: str
):
    x = numbers(3, 6, 21)
    found = compiled(
        "Pad", machine, x, np.array([0, *pads[:2], 0, *pads[2:]]), opset=19, mode=mode
    )  # fmt: skip
    left, right = pads[1], pads[3]
    # What a negative pad takes away is not repeated.
    kept = x[..., max(-left, 0) :]
    around = np.pad(
        kept, [(0, 0), (pads[0], pads[2]), (max(left, 0), max(right, 0))], mode=mode
    )  # fmt: skip
    np.testing.assert_array_equal(found, around)


@pytest.mark.sampled(5)
@MACHINES
@pytest.mark.parametrize(
    "kernel,strides,pads,dilations",
    [
        ((5, 5), (1, 1), (2, 2, 2, 2), (1, 1)),
        ((9, 7), (1, 1), (0, 3, 1, 2), (1, 1)),
        ((5, 9), (2, 1), (2, 0, 2, 0), (1, 1)),
        ((6, 6), (1, 2), (0, 0, 0, 0), (2, 1)),
    ],
)
def test_large_windows(kernel, strides, pads, dilations, machine: str):
    x = numbers(2, 3, 21, 37)
    found = compiled(
        "MaxPool", machine, x, kernel_shape=kernel, strides=strides, pads=pads, dilations=dilations
    )
    around = np.pad(
        x, [(0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])], constant_values=-np.inf
    )
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    windows = np.lib.stride_tricks.sliding_window_view(around, reach, axis=(2, 3))
    taken = windows[:, :, :: strides[0], :: strides[1], :: dilations[0], :: dilations[1]]
    np.testing.assert_array_equal(found, taken.max((-1, -2)))


@pytest.mark.sampled(23)
@MACHINES
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.uint8, np.int64])
@pytest.mark.parametrize("columns", [1, 7, 16, 61])
@pytest.mark.parametrize(
    "reduction,update", [("none", None), ("add", np.add), ("mul", np.multiply),
                         ("min", np.minimum), ("max", np.maximum)],
)  # fmt: skip
def test_scattered_rows(reduction: str, update, columns: int, dtype, machine: str):
    """Rows that come several times are updated one after the other."""
    x = (numbers(9, columns) * 3).astype(dtype)
    places = np.array([[3], [-1], [3], [0], [8], [3]])
    rows = (numbers(6, columns) * 3).astype(dtype)
    expected = x.copy()
    for (at,), row in zip(places, rows, strict=True):
        expected[at] = row if update is None else update(expected[at], row)
    found = compiled("ScatterND", machine, x, places, rows, reduction=reduction)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", [np.float16, np.bool_])
def test_scattered_rows_of_other_elements(dtype):
    x, rows = (numbers(5, 3, 20) > 0).astype(dtype), (numbers(2, 20) < 0).astype(dtype)
    expected = x.copy()
    expected[1, 2], expected[4, 0] = rows
    found = compiled("ScatterND", "host", x, np.array([[1, 2], [4, 0]]), rows)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.sampled(7)
@MACHINES
@pytest.mark.parametrize("batch", [2, 3])
@pytest.mark.parametrize(("m", "k", "n"), [(4, 5, 2), (9, 5, 1), (1, 7, 33), (5, 3, 20)])
def test_product_of_operands_that_both_repeat(machine: str, batch: int, m: int, k: int, n: int):
    """The batch is a dimension of neither operand, only of the result."""
    x, w = numbers(1, m, k), numbers(1, k, n)
    shapes = {"s": (batch, m, k), "t": (batch, k, n)}
    nodes = [
        helper.make_node("Expand", ["x", "s"], ["a"]),
        helper.make_node("Expand", ["w", "t"], ["b"]),
        helper.make_node("MatMul", ["a", "b"], ["y"]),
    ]
    inputs = [
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, value.shape)
        for name, value in {"x": x, "w": w}.items()
    ]
    constants = [numpy_helper.from_array(np.array(v), name) for name, v in shapes.items()]
    out = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, (batch, m, n))
    graph = helper.make_graph(nodes, "g", inputs, [out], constants)
    found = nnc.compile(helper.make_model(graph), target=machine)(x, w)
    np.testing.assert_allclose(found, np.broadcast_to(x @ w, (batch, m, n)), rtol=1e-4, atol=1e-5)
