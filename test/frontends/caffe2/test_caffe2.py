"""Caffe2's nets, written by the tables that they are read with, against NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nnc
import numpy as np
import pytest
from nnc.frontends.caffe2.schema import SCHEMA
from nnc.frontends.common.source import Source
from nnc.frontends.formats import examine_model, find_format, import_model
from nnc.ir.diagnostics import NncError
from nnc.test.frontends.protobuf_writer import written
from numpy.lib.stride_tricks import sliding_window_view

RNG = np.random.default_rng(11)


def argument(name: str, value: Any) -> dict[str, Any]:
    if isinstance(value, bool | int):
        return {"name": name, "i": int(value)}
    if isinstance(value, float):
        return {"name": name, "f": value}
    if isinstance(value, str):
        return {"name": name, "s": value.encode()}
    kind = "floats" if np.asarray(value).dtype.kind == "f" else "ints"
    return {"name": name, kind: list(np.asarray(value).reshape(-1).tolist())}


def operator(kind: str, inputs: str, outputs: str, **arguments: Any) -> dict[str, Any]:
    args = [argument(*one) for one in arguments.items()]
    return {"type": kind, "input": inputs.split(), "output": outputs.split(), "arg": args}


def save(folder: Path, ops: list, weights: dict, inputs: str = "data", outputs: str = "y") -> Path:
    fills = []
    for name, array in weights.items():
        kind = "GivenTensorFill" if array.dtype.kind == "f" else "GivenTensorInt64Fill"
        fills.append(operator(kind, "", name, shape=list(array.shape), values=array))
    named = {"external_input": [*inputs.split(), *weights], "external_output": outputs.split()}
    net = {"name": "net", "op": ops, **named}
    (folder / "init_net.pb").write_bytes(written(SCHEMA, "Net", {"name": "init", "op": fills}))
    (folder / "predict_net.pb").write_bytes(written(SCHEMA, "Net", net))
    return folder


def conv(x: np.ndarray, w: np.ndarray, b: np.ndarray, pad: int, stride: int) -> np.ndarray:
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = sliding_window_view(x, w.shape[2:], (2, 3))[:, :, ::stride, ::stride]
    return np.einsum("nchwij,ocij->nohw", windows, w) + b[:, None, None]


def drawn(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def agree(found: np.ndarray, wanted: np.ndarray) -> None:
    assert found.shape == wanted.shape
    assert np.ptp(wanted) > 0
    assert np.abs(found - wanted).max() <= 1e-4 * np.abs(wanted).max()


def network(folder: Path) -> tuple[Path, np.ndarray, np.ndarray]:
    w, b, fc, fb = drawn(6, 3, 3, 3), drawn(6), drawn(5, 54), drawn(5)
    scale, shift, mean, var = drawn(6), drawn(6), drawn(6), np.abs(drawn(6)) + 0.5
    ops = [
        operator("Conv", "data w b", "c", kernel=3, pad=1, stride=2),
        operator("SpatialBN", "c s h m v", "c", epsilon=1e-3, is_test=1),
        operator("Relu", "c", "c"),
        operator("MaxPool", "c", "p", kernel=2, stride=2, legacy_pad=3),
        operator("FC", "p fc fb", "f"),
        operator("Softmax", "f", "y"),
    ]
    weights = {"w": w, "b": b, "s": scale, "h": shift, "m": mean, "v": var, "fc": fc, "fb": fb}
    x = drawn(2, 3, 9, 9)
    y = conv(x, w, b, 1, 2)
    y = (y - mean[:, None, None]) / np.sqrt(var + 1e-3)[:, None, None]
    y = np.maximum(y * scale[:, None, None] + shift[:, None, None], 0)
    y = np.pad(y, ((0, 0), (0, 0), (0, 1), (0, 1)), constant_values=-np.inf)
    y = sliding_window_view(y, (2, 2), (2, 3))[:, :, ::2, ::2].max((4, 5))
    y = y.reshape(2, -1) @ fc.T + fb
    powers = np.exp(y - y.max(1, keepdims=True))
    return save(folder, ops, weights), x, powers / powers.sum(1, keepdims=True)


@pytest.mark.parametrize("given", [".", "init_net.pb", "predict_net.pb"])
def test_network_as_numpy(tmp_path, given):
    folder, x, wanted = network(tmp_path)
    assert find_format(Source(folder / given)).name == "Caffe2"
    model = nnc.compile(folder / given, shapes={"data": x.shape})
    agree(model.run({"data": x})["y"], wanted)


def test_text(tmp_path):
    text = """name: "t"
    op { input: "x" output: "y" type: "Relu" }
    op { input: "y" input: "k" output: "y" type: "Add" arg { name: "broadcast" i: 1 } }
    external_input: "x" external_input: "k" external_output: "y" """
    fills = """op { output: "k" type: "GivenTensorFill" arg { name: "shape" ints: 3 }
    arg { name: "values" floats: 1 floats: 2.5 floats: -3 } }"""
    (tmp_path / "predict_net.pbtxt").write_text(text)
    (tmp_path / "init_net.pbtxt").write_text(fills)
    (tmp_path / "value_info.json").write_text('{"x": [1, [2, 3]]}')
    x = drawn(2, 3)
    found = nnc.compile(tmp_path / "predict_net.pbtxt").run({"x": x})["y"]
    agree(found, np.maximum(x, 0) + np.array([1, 2.5, -3], np.float32))


X, Y = drawn(2, 4, 6, 6), drawn(4)
ROWS = X.reshape(2, 4, 36)
MEAN, DEVIATION = ROWS.mean(2), np.sqrt(ROWS.var(2) + 1e-3)


def corners(x: np.ndarray, extents: tuple[int, int]) -> np.ndarray:
    """Images [N, C, H, W] of these extents, lines between elements, corners on corners."""
    for axis, extent in zip((2, 3), extents, strict=True):
        at = np.linspace(0, x.shape[axis] - 1, extent)
        low = np.minimum(at.astype(int), x.shape[axis] - 2)
        part = (at - low).reshape(-1, *(1,) * (3 - axis))
        x = x.take(low, axis) * (1 - part) + x.take(low + 1, axis) * part
    return x


ONE = [
    (operator("AveragePool", "data", "y", kernel=3, stride=3), X.reshape(2, 4, 2, 3, 2, 3).mean((3, 5))),
    (operator("AveragePool", "data", "y", global_pooling=1), X.mean((2, 3), keepdims=True)),
    (operator("LeakyRelu", "data", "y", alpha=0.3), np.where(X > 0, X, X * np.float32(0.3))),
    (operator("PRelu", "data k", "y"), np.where(X > 0, X, X * Y[:, None, None])),
    (operator("Mul", "data k", "y", broadcast=1, axis=1), X * Y[:, None, None]),
    (operator("Transpose", "data", "y", axes=[0, 2, 3, 1]), X.transpose(0, 2, 3, 1)),
    (operator("Reshape", "data", "y old", shape=[0, -1, 9]), X.reshape(2, 16, 9)),
    (operator("Flatten", "data", "y", axis=2), X.reshape(8, 36)),
    (operator("Concat", "data data", "y info", axis=1), np.concatenate([X, X], 1)),
    (operator("Concat", "data data", "y info", axis=1, add_axis=1), np.stack([X, X], 1)),
    (operator("Slice", "data", "y", starts=[0, 1, 0, 2], ends=[-1, 3, -2, -1]), X[:, 1:3, :5, 2:]),
    (operator("ReduceMean", "data", "y", axes=[2, 3], keepdims=0), X.mean((2, 3))),
    (operator("ChannelShuffle", "data", "y", group=2), X[:, [0, 2, 1, 3]]),
    (operator("ResizeNearest", "data", "y", height_scale=2.0, width_scale=2.0),
     X.repeat(2, 2).repeat(2, 3)),
    (operator("Clip", "data", "y", min=-0.5, max=1.0), X.clip(-0.5, 1)),
    (operator("Pow", "data", "y", exponent=2.0), X**2),
    (operator("ExpandDims", "data", "y", dims=[1]), X[:, None]),
    (operator("ArgMax", "data", "y", axis=1), X.argmax(1)[:, None]),
    (operator("PadImage", "data", "y", pad=1, mode="reflect"),
     np.pad(X, ((0, 0), (0, 0), (1, 1), (1, 1)), "reflect")),
    (operator("Sum", "data data data", "y"), X * 3),
    (operator("Dropout", "data", "y", is_test=1, ratio=0.5), X),
    (operator("Flatten", "data", "y", axis=0), X.reshape(1, -1)),
    (operator("Add", "data k", "y", broadcast=1, axis=1), X + Y[:, None, None]),
    (operator("AffineChannel", "data k k", "y"), (X + 1) * Y[:, None, None]),
    (operator("UpsampleNearest", "data", "y", scale=3), X.repeat(3, 2).repeat(3, 3)),
    (operator("UpsampleBilinear", "data", "y", height_scale=2.0, width_scale=1.5),
     corners(X, (12, 9))),
    (operator("LayerNorm", "data", "y mean std", axis=2, epsilon=1e-3),
     ((ROWS - MEAN[..., None]) / DEVIATION[..., None]).reshape(X.shape)),
    (operator("LayerNorm", "data", "n y std", axis=2, epsilon=1e-3), MEAN[..., None]),
    (operator("LayerNorm", "data", "n mean y", axis=2, epsilon=1e-3), DEVIATION[..., None]),
    (operator("GroupNorm", "data k k", "y", group=4, epsilon=1e-3),
     (((ROWS - MEAN[..., None]) / DEVIATION[..., None] + 1) * Y[:, None]).reshape(X.shape)),
    (operator("Normalize", "data", "y", axis=1), X / np.sqrt((X**2).sum(1, keepdims=True))),
    (operator("NormalizeL1", "data", "y"), X / np.abs(X).sum(3, keepdims=True)),
    (operator("Shape", "data", "y", axes=[1, 3]), np.array([4, 6])),
    (operator("Tile", "data", "y", tiles=2, axis=1), np.concatenate([X, X], 1)),
    (operator("TopK", "data", "y i", k=2), -np.sort(-X, 3)[..., :2]),
    (operator("ArgMin", "data", "y", axis=1, keepdims=0), X.argmin(1)),
    (operator("NCHW2NHWC", "data", "y"), X.transpose(0, 2, 3, 1)),
    (operator("NHWC2NCHW", "data", "y"), X.transpose(0, 3, 1, 2)),
    (operator("ReduceFrontMean", "data", "y", num_reduce_dim=2), X.mean((0, 1))),
    (operator("ReduceBackMax", "data", "y"), X.max(3)),
    (operator("Mean", "data data", "y"), X),
    (operator("Scale", "data", "y", scale=0.3), X * np.float32(0.3)),
    (operator("HardSigmoid", "data", "y"), (X * 0.2 + 0.5).clip(0, 1)),
    (operator("Selu", "data", "y", alpha=2.0, scale=3.0), np.where(X > 0, 3 * X, 6 * np.expm1(X))),
    (operator("Logit", "data", "y", eps=0.1),
     np.log(X.clip(0.1, 0.9) / (1 - X.clip(0.1, 0.9)))),
    (operator("Concat", "data data", "y info", add_axis=1), np.concatenate([X, X], 1)),
    (operator("MaxPool2D", "data", "y", kernel=3, stride=3), X.reshape(2, 4, 2, 3, 2, 3).max((3, 5))),
    (operator("AveragePool", "data", "y", kernel=4, stride=4, legacy_pad=3, count_include_pad=1),
     np.pad(X, ((0, 0), (0, 0), (0, 2), (0, 2))).reshape(2, 4, 2, 4, 2, 4).sum((3, 5)) / 16),
    (operator("MaxPool", "data", "y", kernel=3, stride=3, order="NHWC"),
     X[:, :3, :6].reshape(2, 1, 3, 2, 3, 6).max((2, 4))),
    (operator("AffineChannel", "data k k", "y"), X * Y[:, None, None] + Y[:, None, None]),
    (operator("DotProduct", "data data", "y"), (X * X).sum((1, 2, 3))),
    (operator("Glu", "data", "y", dim=1), X[:, :2] / (1 + np.exp(-X[:, 2:]))),
]  # fmt: skip


@pytest.mark.parametrize(
    ("op", "wanted"), ONE, ids=[f"{i}-{o['type']}" for i, (o, _) in enumerate(ONE)]
)
def test_operators_as_numpy(tmp_path, op, wanted):
    save(tmp_path, [op], {"k": Y} if "k" in op["input"] else {})
    model = nnc.compile(tmp_path, shapes={"data": X.shape})
    agree(model.run({"data": X})["y"], wanted)


def test_normalization_that_is_not_told_to_infer_takes_the_batch_statistics(tmp_path):
    save(tmp_path, [operator("SpatialBN", "data s b m v", "y", epsilon=1e-3)],
         {"s": Y, "b": Y, "m": Y, "v": np.abs(Y)})  # fmt: skip
    mean, var = X.mean((0, 2, 3), keepdims=True), X.var((0, 2, 3), keepdims=True)
    wanted = (X - mean) / np.sqrt(var + 1e-3) * Y[:, None, None] + Y[:, None, None]
    agree(nnc.compile(tmp_path, shapes={"data": X.shape}).run({"data": X})["y"], wanted)


def test_extents_that_are_outputs_are_those_of_the_run(tmp_path):
    ops = [
        operator("Concat", "data data", "y sizes", axis=0),
        operator("Reshape", "data", "flat shape", shape=[-1]),
    ]
    folder = save(tmp_path, ops, {}, outputs="sizes shape")
    model = nnc.compile(folder, shapes={"data": (None, 3)})
    for rows in (2, 5):
        found = model.run({"data": drawn(rows, 3)})
        assert found["sizes"].tolist() == [rows, rows]
        assert found["shape"].tolist() == [rows, 3]


@pytest.mark.parametrize(
    ("bounds", "wanted"),
    [
        (([0, 1], [-1, -1]), np.s_[:, 1:]),
        (([1, 0], [-2, 3]), np.s_[1:-1, :3]),  # the end counts from behind the last element
        (([-3, -2], [-1, -1]), np.s_[-2:, 4:]),
    ],
)
def test_slices_of_an_open_extent(tmp_path, bounds, wanted):
    starts, ends = bounds
    save(tmp_path, [operator("Slice", "data", "y", starts=starts, ends=ends)], {})
    model = nnc.compile(tmp_path, shapes={"data": (None, 5)})
    for rows in (3, 6):
        x = drawn(rows, 5)
        agree(model.run({"data": x})["y"], x[wanted])


def test_regions_as_the_mean_of_four_samples(tmp_path):
    folder = save(tmp_path, [operator("RoIAlign", "data k", "y", pooled_h=1, pooled_w=1,
                                      sampling_ratio=2)], {"k": np.array([[1, 1, 2, 3, 4]], "f4")})  # fmt: skip
    middle = corners(X[1:, :, 2:5, 1:4], (5, 5))[..., 1::2, 1::2]  # each half an element on
    agree(nnc.compile(folder, shapes={"data": X.shape}).run({"data": X})["y"],
          middle.mean((2, 3), keepdims=True))  # fmt: skip


def test_numbers_that_the_net_itself_makes(tmp_path):
    ops = [
        operator("GivenTensorInt64Fill", "", "shape", shape=[2], values=[-1, 6]),
        operator("ConstantFill", "", "two", shape=[1], value=2.0),
        operator("Reshape", "data shape", "r old"),
        operator("Relu", "r", "positive"),
        operator("NE", "r positive", "negative"),
        operator("Mul", "r two", "twice", broadcast=1),
        operator("Where", "negative r twice", "y"),
    ]
    folder = save(tmp_path, ops, {})
    wanted = np.where(X < 0, X, 2 * X).reshape(-1, 6)
    agree(nnc.compile(folder, shapes={"data": X.shape}).run({"data": X})["y"], wanted)


def test_channels_last(tmp_path):
    w, b = drawn(6, 3, 3, 4), drawn(6)
    save(tmp_path, [operator("Conv", "data w b", "y", kernel=3, order="NHWC")], {"w": w, "b": b})
    x = X.transpose(0, 2, 3, 1)
    wanted = conv(X, w.transpose(0, 3, 1, 2), b, 0, 1).transpose(0, 2, 3, 1)
    agree(nnc.compile(tmp_path, shapes={"data": x.shape}).run({"data": x})["y"], wanted)


def test_a_given_shape_replaces_an_assumed_one(tmp_path):
    """Weights of FC imply rows of 144 elements, but images of as many are legal, too."""
    w, b = drawn(5, 144), drawn(5)
    save(tmp_path, [operator("FC", "data w b", "y")], {"w": w, "b": b})
    found = nnc.compile(tmp_path, shapes={"data": X.shape}).run({"data": X})["y"]
    agree(found, X.reshape(2, -1) @ w.T + b)


@pytest.mark.parametrize("kind", ["SparseLengthsSum", "SparseLengthsMean"])
def test_embeddings_of_runs(tmp_path, kind):
    table, indices, lengths = drawn(9, 4), np.array([3, 8, 0, 3, 1, 5]), np.array([2, 0, 3, 1])
    save(tmp_path, [operator(kind, "t i l", "y")], {"t": table}, inputs="i l")
    program = nnc.compile(tmp_path, shapes={"i": (6,), "l": (4,)})
    found = program.run({"i": indices, "l": lengths.astype(np.int32)})
    for wrong in ([2, 0, 3, 2], [2, 0, 3, 0], [-1, 3, 3, 1]):  # Caffe2 refuses these
        with pytest.raises(NncError, match="do not add up to the number of rows"):
            program.run({"i": indices, "l": np.array(wrong, np.int32)})
    parts = np.split(table[indices], np.cumsum(lengths)[:-1])
    reduce = np.sum if kind.endswith("Sum") else np.mean
    wanted = [reduce(part, 0) if len(part) else np.zeros(4) for part in parts]
    agree(found["y"], np.array(wanted))


def test_types_beside_the_net(tmp_path):
    save(tmp_path, [operator("Mul", "data data", "y")], {})
    (tmp_path / "value_info.json").write_text('{"data": [2, [3]]}')
    x = np.array([2, -3, 70000 % 4099], np.int32)
    np.testing.assert_array_equal(nnc.compile(tmp_path).run({"data": x})["y"], x * x)


def test_split(tmp_path):
    save(tmp_path, [operator("Split", "data", "a b", axis=1, split=[1, 3])], {}, outputs="a b")
    found = nnc.compile(tmp_path, shapes={"data": X.shape}).run({"data": X})
    np.testing.assert_array_equal(found["b"], X[:, 1:])


@pytest.mark.parametrize(
    ("ops", "weights", "message"),
    [
        ([operator("Zork", "data", "y")], {}, r"layer 'y' \(Zork\): not supported"),
        ([operator("FC", "data w b", "y")], {}, "uses 'w', which nothing makes"),
        ([operator("Relu", "data", "z")], {}, "output 'y' is made by no operator"),
        ([operator("Conv", "data w b", "y", order="NCWH")], {"w": X, "b": Y}, "expected NCHW or"),
        (
            [operator("Conv", "data w b", "y", kernel=3)],
            {"w": X, "b": Y},
            "differs from the weight",
        ),
        ([operator("Dropout", "data", "y")], {}, "'is_test' is 0"),
        ([operator("Flatten", "data", "y", axis=-1)], {}, "axis -1 of .*, expected 0 to 4"),
        ([operator("Relu", "data", "y", ceiling=6)], {}, r"\(Relu\): 'ceiling' is 6, which is not"),
    ],
)
def test_errors(tmp_path, ops, weights, message):
    save(tmp_path, ops, weights)
    with pytest.raises(NncError, match=message):
        import_model(tmp_path, shapes={"data": (2, 4, 6, 6)})


def test_weights_that_are_not_there(tmp_path):
    save(tmp_path, [operator("Relu", "data", "y")], {})
    fill = operator("XavierFill", "", "w", shape=[3])
    (tmp_path / "init_net.pb").write_bytes(written(SCHEMA, "Net", {"op": [fill]}))
    with pytest.raises(NncError, match="XavierFill: these weights are not in the file"):
        examine_model(tmp_path)
