"""Layers of CoreML's networks of exact shapes against PyTorch and NumPy."""

from __future__ import annotations

import nnc
import numpy as np
import pytest
from nnc.test.frontends.coreml.test_coreml import feature, layer, network

RANDOM = np.random.default_rng(4)
X = RANDOM.standard_normal((2, 3, 4, 5)).astype(np.float32)
V = RANDOM.standard_normal((2, 4, 5, 6, 7)).astype(np.float32)
"""Volumes."""


def run(made: dict, *inputs: np.ndarray, outputs: int = 1) -> list[np.ndarray]:
    """What a layer makes of blobs x0, x1, ..; its outputs are y0, y1, .."""
    names = {f"x{i}": np.asarray(one) for i, one in enumerate(inputs)}
    about = {
        "input": [feature(name, *one.shape) for name, one in names.items()],
        "output": [feature(f"y{i}", 1) for i in range(outputs)],
    }
    data = network(made, about=about, arrayInputShapeMapping="EXACT")
    found = nnc.compile(data).run({k: v.astype(np.float32) for k, v in names.items()})
    return [found[f"y{i}"] for i in range(outputs)]


def close(found: np.ndarray, wanted) -> None:
    assert found.shape == tuple(wanted.shape)
    np.testing.assert_allclose(found, np.asarray(wanted), rtol=1e-4, atol=1e-5)


CHANNELS = np.array([0.5, -1, 2]).reshape(3, 1, 1)
PER_CHANNEL = {"floatValue": CHANNELS.reshape(-1).tolist()}
COLUMNS = np.arange(10.0).reshape(5, 2) - 3
TWELVE = np.arange(12.0).reshape(2, 6) - 5


def near_in_channels(x):
    """The sums of squares of each channel and its neighbours."""
    squares = np.pad(x * x, [(0, 0)] * (x.ndim - 3) + [(1, 1), (0, 0), (0, 0)])
    return sum(squares[..., i : i + x.shape[-3], :, :] for i in range(3))


@pytest.mark.parametrize("x", [X[0], X, V[:, :2, :3, :2, :1].repeat(1, 4)], ids=["3", "4", "5"])
@pytest.mark.parametrize(
    ("kind", "p", "formula"),
    [
        ("batchnorm", {"channels": 3, "epsilon": 0.1, "gamma": PER_CHANNEL, "beta": PER_CHANNEL,
                       "mean": PER_CHANNEL, "variance": {"floatValue": [1.0, 2, 3]}},
         lambda x: (x - CHANNELS) / np.sqrt(np.array([1.1, 2.1, 3.1]).reshape(3, 1, 1)) * CHANNELS
         + CHANNELS),
        ("lrn", {"alpha": 0.9, "beta": 0.75, "localSize": 3, "k": 2.0},
         lambda x: x / (2 + 0.3 * near_in_channels(x)) ** 0.75),
        ("activation", {"PReLU": {"alpha": PER_CHANNEL}},
         lambda x: np.where(x > 0, x, x * CHANNELS)),
        ("flatten", {}, lambda x: x.reshape(*x.shape[:-3], -1, 1, 1)),
        ("pooling", {"kernelSize": [2, 1], "stride": [1, 1], "valid": {}},
         lambda x: np.maximum(x[..., 1:, :], x[..., :-1, :])),
    ],
)  # fmt: skip
def test_leading_dimensions_are_examples(kind, p, formula, x):
    """Channels are the third dimension from behind, whatever the rank."""
    close(run(layer(kind, "x0", "y0", **p), x)[0], formula(x))


def test_zeros_that_fill_are_floats():
    """A number of 0 is absent in the file."""
    weights = {"floatValue": COLUMNS.T.reshape(-1).tolist()}
    product = {"inputChannels": 5, "outputChannels": 2, "hasBias": True, "weights": weights}
    made = network(
        layer("fillLike", "x", "zeros"),
        layer("innerProduct", "zeros", "y", bias={"floatValue": [0.5, -2.0]}, **product),
        about={"input": [feature("x", 4, 5)], "output": [feature("y", 1)]},
        arrayInputShapeMapping="EXACT",
    )
    found = nnc.compile(made).run({"x": X[0, 0]})["y"]
    np.testing.assert_array_equal(found, [[0.5, -2]] * 4)


def test_extents_that_all_shapes_share_are_known():
    several = [{"shape": [rows, 6]} for rows in (2, 3)]
    array = {"shape": [2, 6], "dataType": "FLOAT32", "enumeratedShapes": {"shapes": several}}
    x = {"name": "x", "type": {"multiArrayType": array}}
    halves = layer("splitND", "x", "y z", axis=1, numSplits=2)
    about = {"input": [x], "output": [feature("y", 1), feature("z", 1)]}
    model = nnc.compile(network(halves, about=about, arrayInputShapeMapping="EXACT"))
    found = model.run({"x": np.repeat(COLUMNS[:3, :1], 6, 1).astype(np.float32)})
    assert found["y"].tolist() == found["z"].tolist() == [[one] * 3 for one in (-3, -1, 1)]


def test_products_of_images():
    """Of four dimensions or more, the last three are one: [.., outputs, 1, 1]."""
    weights = {"weights": {"floatValue": TWELVE.reshape(-1).tolist()}}
    made = layer("innerProduct", "x0", "y0", inputChannels=6, outputChannels=2, **weights)
    x = X[:, :3, :2, :1]
    close(run(made, x)[0], (x.reshape(2, 6) @ TWELVE.T).reshape(2, 2, 1, 1))


ROWS = np.array([[0.0, 1, 2, 3, 4]] * 12).reshape(3, 4, 5)


@pytest.mark.parametrize(
    ("kind", "p", "inputs", "wanted"),
    [
        ("asinh", {}, [X], np.arcsinh(X)),
        ("acosh", {}, [abs(X) + 1], np.arccosh(abs(X) + 1)),
        ("oneHot", {"oneHotVectorSize": 4, "axis": -1, "offValue": 0.5}, [[1, 3]],
         np.array([[0.5, 0, 0.5, 0.5], [0.5, 0.5, 0.5, 0]])),
        ("rangeStatic", {"endValue": 2.0, "startValue": 0.5, "stepSizeValue": 0.5}, [],
         np.array([0.5, 1, 1.5])),
        ("fillStatic", {"value": 0.25, "targetShape": [2, 3]}, [], np.full((2, 3), 0.25)),
        ("fillLike", {"value": 0.5}, [X], np.full(X.shape, 0.5)),
        ("broadcastToStatic", {"targetShape": [2, 3, 4, 5]}, [X[:, :1]],
         np.repeat(X[:, :1], 3, 1)),
        ("broadcastToLike", {}, [X[:1], X], np.repeat(X[:1], 2, 0)),
        ("reshapeLike", {}, [X, X.reshape(6, 20)], X.reshape(6, 20)),
        ("reverseSeq", {"batchAxis": 0, "sequenceAxis": 3}, [X, [5, 5]], X[..., ::-1]),
        ("slidingWindows", {"axis": 3, "windowSize": 3, "step": 2}, [X],
         np.stack([X[..., :3], X[..., 2:]], 3)),
        ("sliceDynamic", {"strides": [1, 1, 1, 2], "endIds": [2, 3, 4, 5]}, [X, [0, 1, 0, 1]],
         X[:, 1:, :, 1::2]),
        ("sliceDynamic", {"endIds": [2, 2, 4, 5], "strides": [1] * 4, "beginMasks": [False] * 5},
         [X, [0, 1, 0, 1]], X[:, 1:2, :, 1:]),
        ("tile", {}, [X, [1, 2, 1, 2]], np.tile(X, (1, 2, 1, 2))),
        ("topK", {"axis": 1}, [X, [2]], -np.sort(-X, 1)[:, :2]),
        ("scatterAlongAxis", {"axis": 1, "mode": "add"},
         [X, np.zeros((2, 1, 4, 5)), X[:, 1:2]], np.concatenate([X[:, :1] + X[:, 1:2], X[:, 1:]], 1)),
        ("sliceBySize", {"axis": 2, "size": 2}, [X, [1]], X[:, :, 1:3]),
        ("matrixBandPart", {"numLower": 1, "numUpper": 0}, [X], np.tril(np.triu(X, -1))),
        ("lowerTriangular", {"k": -1}, [X], np.tril(X, -1)),
        ("upperTriangular", {"k": 1}, [X], np.triu(X, 1)),
        ("constantPad", {"value": 0.5, "padAmounts": [0, 0, 0, 0, 1, 2, 0, 3]}, [X],
         np.pad(X, ((0, 0), (0, 0), (1, 2), (0, 3)), constant_values=0.5)),
        ("constantPad", {"padAmounts": [0, 0, 0, 0, 6, 0, 0, 7], "padToGivenOutputSizeMode": True},
         [X], np.pad(X, ((0, 0), (0, 0), (2, 0), (0, 2)))),
        ("crop", {"offset": [1, 2]}, [X, X[..., :2, :3]], X[..., 1:3, 2:5]),
        ("batchedMatmul", {"weightMatrixFirstDimension": 5, "weightMatrixSecondDimension": 2,
                           "weights": {"floatValue": COLUMNS.T.reshape(-1).tolist()}},
         [X], X @ COLUMNS),
        ("dot", {}, [X, ROWS[None]], (X * ROWS).sum(1, keepdims=True)),
        ("dot", {"cosineSimilarity": True}, [X, 2 * X], np.ones((2, 1, 4, 5))),
        ("scale", {"shapeScale": [3], "scale": PER_CHANNEL}, [X], X * CHANNELS),
        ("bias", {"shape": [3], "bias": PER_CHANNEL}, [X], X + CHANNELS),
        ("reduce", {"mode": "SUM", "axis": "CHW", "epsilon": 1e-6}, [X], X.sum((1, 2, 3), keepdims=True)),
        ("reduce", {"mode": "LOGSUM", "axis": "C", "epsilon": 0.5}, [abs(X)],
         np.log(abs(X) + 0.5).sum(1, keepdims=True)),
        ("embedding", {"inputDim": 2, "outputChannels": 3, "weights": {
            "floatValue": COLUMNS[:3].reshape(-1).tolist()}},
         [np.array([1, 0, 1, 1]).reshape(2, 2, 1, 1, 1)],
         COLUMNS[:3].T[[1, 0, 1, 1]].reshape(2, 2, 3, 1, 1)),
    ],
)  # fmt: skip
def test_numpy_agrees(kind, p, inputs, wanted):
    names = " ".join(f"x{i}" for i in range(len(inputs)))
    given = inputs or [np.zeros(1)]
    close(run(layer(kind, names, "y0", **p), *given)[0], wanted)


CUSTOM = {f"customPadding{end}": 1 for end in ("Front", "Top", "Bottom")} | {
    "customPaddingRight": 2
}
PADS = (0, 2, 1, 1, 1, 0)
"""As PyTorch has them, from the last dimension on."""


def each(name: str, *numbers: int) -> dict:
    return {
        f"{name}{axis}": n for axis, n in zip(("Depth", "Height", "Width"), numbers, strict=True)
    }


@pytest.mark.parametrize(
    ("p", "pads"),
    [({"paddingType": "CUSTOM", **CUSTOM}, PADS), ({"paddingType": "VALID"}, (0,) * 6)],
)
@pytest.mark.slow
def test_volumes(torch, p, pads):
    F = torch.nn.functional
    steps, weight = (2, 1, 2), RANDOM.standard_normal((6, 2, 3, 2, 2)).astype(np.float32)
    given = {**p, **each("stride", *steps), **each("kernel", 3, 2, 2)}
    bias = RANDOM.standard_normal(6).astype(np.float32)
    weights = {"weights": {"floatValue": weight.ravel()}, "bias": {"floatValue": bias}}
    sizes = {"outputChannels": 6, "inputChannels": 4, "nGroups": 2, "hasBias": True}
    made = layer("convolution3d", "x0", "y0", **sizes, **weights, **given)
    wide = F.pad(torch.tensor(V), pads)
    wanted = F.conv3d(wide, torch.tensor(weight), torch.tensor(bias), steps, groups=2)
    close(run(made, V)[0], wanted)
    mean = layer("pooling3d", "x0", "y0", type="AVERAGE", **given)
    close(run(mean, V)[0], F.avg_pool3d(wide, (3, 2, 2), steps))
    most = layer("pooling3d", "x0", "y0", type="MAX", **given)
    lowest = F.pad(torch.tensor(V), pads, value=-torch.inf)
    close(run(most, V)[0], F.max_pool3d(lowest, (3, 2, 2), steps))


@pytest.mark.slow
def test_volumes_back(torch):
    F = torch.nn.functional
    weight = RANDOM.standard_normal((4, 3, 3, 2, 2)).astype(np.float32)
    given = {"paddingType": "VALID", **each("stride", 2, 1, 2), **each("kernel", 3, 2, 2)}
    sizes = {"outputChannels": 6, "inputChannels": 4, "nGroups": 2, "isDeconvolution": True}
    weights = {"weights": {"floatValue": weight.ravel()}}
    made = layer("convolution3d", "x0", "y0", **sizes, **weights, **given)
    wanted = F.conv_transpose3d(torch.tensor(V), torch.tensor(weight), None, (2, 1, 2), groups=2)
    close(run(made, V)[0], wanted)


@pytest.mark.parametrize("kind", ["MAX", "AVERAGE"])
@pytest.mark.slow
def test_whole_volumes(torch, kind):
    F = torch.nn.functional
    pool = F.adaptive_max_pool3d if kind == "MAX" else F.adaptive_avg_pool3d
    close(run(layer("globalPooling3d", "x0", "y0", type=kind), V)[0], pool(torch.tensor(V), 1))


@pytest.mark.slow
def test_crops_are_resized(torch):
    F = torch.nn.functional
    boxes = np.array([[0, 0, 3, 4], [1, 1, 2, 3]], np.float32).reshape(2, 1, 4, 1, 1)
    p = {"targetSize": [4, 5], "mode": {"samplingMethod": "STRICT_ALIGN_ENDPOINTS_MODE"}}
    (found,) = run(layer("cropResize", "x0 x1", "y0", **p), X[None], boxes)
    close(found[0], X)
    small = F.interpolate(
        torch.tensor(X[:, :, 1:3, 1:4]), (4, 5), mode="bilinear", align_corners=True
    )
    close(found[1], small)


def test_boxes_are_suppressed():
    boxes = np.array([[[0.3, 0.3, 0.2, 0.2], [0.31, 0.3, 0.2, 0.2], [0.7, 0.7, 0.1, 0.1]]])
    scores = np.array([[[0.5], [0.9], [0.8]]])
    p = {"iouThreshold": 0.5, "scoreThreshold": 0.1, "maxBoxes": 3}
    names = "y0 y1 y2 y3"
    made = layer("NonMaximumSuppression", "x0 x1", names, **p)
    places, chances, order, count = run(made, boxes, scores, outputs=4)
    close(places, np.array([[boxes[0, 1], boxes[0, 2], np.zeros(4)]]))
    close(chances, np.array([[[0.9], [0.8], [0]]]))
    assert order.tolist() == [[1, 2, -1]]
    assert count.tolist() == [2]


@pytest.mark.parametrize("form", ["Like", "Static", "Dynamic"])
def test_random_layers(form):
    p = {"seed": 3, "minVal": 1.0, "maxVal": 3.0}
    if form == "Static":
        p["outputShape"] = [30, 40]
    given = np.array([30, 40]) if form == "Dynamic" else np.zeros((30, 40))
    (found,) = run(layer(f"randomUniform{form}", "x0", "y0", **p), given)
    assert found.shape == (30, 40)
    assert abs(found.mean() - 2) < 0.1
    assert found.min() >= 1
    assert found.max() < 3


def test_poolings_as_coremltools_writes_them():
    """A pooling of whole images tells windows of no extent; one for maxima how means are counted."""
    whole = layer(
        "pooling", "x0", "y0", type="AVERAGE", globalPooling=True, kernelSize=[0, 0], stride=[1, 1],
        valid={"paddingAmounts": {"borderAmounts": [{}, {}]}}, avgPoolExcludePadding=True,
    )  # fmt: skip
    close(run(whole, X)[0], X.mean((2, 3), keepdims=True))
    given = {"paddingType": "VALID", **each("stride", 2, 1, 2), **each("kernel", 2, 5, 6)}
    most = layer("pooling3d", "x0", "y0", type="MAX", countExcludePadding=True, **given)
    windows = np.lib.stride_tricks.sliding_window_view(V, (2, 5, 6), (2, 3, 4))[:, :, ::2, :, ::2]
    close(run(most, V)[0], windows.max((5, 6, 7)))


def test_poolings_of_padded_wholes_are_an_error():
    padded = {"paddingAmounts": {"borderAmounts": [{"startEdgeSize": 1}, {}]}}
    made = layer("pooling", "x0", "y0", type="MAX", globalPooling=True, valid=padded)
    with pytest.raises(nnc.NncError, match="a pooling of whole images with padding"):
        run(made, X)


def test_inputs_of_64_bits_are_computed_in_32():
    """Older converters call inputs DOUBLE, which the layers never compute in."""
    weights = {"weights": {"floatValue": TWELVE.reshape(-1).tolist()}}
    made = layer("innerProduct", "x0", "y0", inputChannels=6, outputChannels=2, **weights)
    about = {"input": [feature("x0", 2, 6)], "output": [feature("y0", 1)]}
    about["input"][0]["type"]["multiArrayType"]["dataType"] = "DOUBLE"
    x = X.reshape(-1)[:12].reshape(2, 6)
    data = network(made, about=about, arrayInputShapeMapping="EXACT")
    close(nnc.compile(data).run({"x0": x.astype(np.float64)})["y0"], x @ TWELVE.T)


def test_recurrent_layers_bound_what_enters_activations():
    one = {"floatValue": [1.0]}
    made = layer(
        "simpleRecurrent", "x0", "y0", inputVectorSize=1, outputVectorSize=1, weightMatrix=one,
        recursionMatrix=one, activation={"ReLU": {}}, sequenceOutput=True,
    )  # fmt: skip
    x = np.array([20, 20, 20, -30]).reshape(4, 1, 1, 1, 1)
    close(run(made, x)[0], np.array([20, 40, 50, 20]).reshape(x.shape))
