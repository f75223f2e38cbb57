"""Operations of MIL against PyTorch's, or NumPy by their documentation in coremltools."""

from __future__ import annotations

import nnc
import numpy as np
import pytest
from nnc.test.frontends.coreml.programs import constant, operation, program, run

RANDOM = np.random.default_rng(7)
X = RANDOM.standard_normal((2, 3, 4, 6)).astype(np.float32)


def close(found, wanted) -> None:
    assert found.shape == tuple(wanted.shape)
    np.testing.assert_allclose(found, np.asarray(wanted), rtol=1e-5, atol=1e-6)


def test_reverse_sequence():
    lengths = np.array([3, 5], np.int32)
    wanted = X.copy()
    for i, length in enumerate(lengths):
        wanted[i, :, :, :length] = X[i, :, :, :length][..., ::-1]
    (found,) = run("reverse_sequence", {"x": X, "lengths": lengths}, seq_axis=3, batch_axis=0)
    close(found, wanted)


@pytest.mark.parametrize("axis", [1, -1])
@pytest.mark.slow
def test_sliding_windows(torch, axis):
    (found,) = run("sliding_windows", {"x": X}, axis=axis, size=2, stride=2)
    wanted = torch.tensor(X).unfold(axis, 2, 2).movedim(-1, axis + 1 if axis >= 0 else axis)
    close(found, wanted)


def test_space_and_batch():
    given = {"block_shape": [2, 3], "paddings": [[1, 1], [0, 3]]}
    (wide,) = run("space_to_batch", {"x": X}, **given)
    padded = np.pad(X, ((0, 0), (0, 0), (1, 1), (0, 3)))
    # Blocks' positions are the outermost part of the new batch, as TensorFlow has them.
    apart = padded.reshape(2, 3, 3, 2, 3, 3).transpose(3, 5, 0, 1, 2, 4)
    close(wide, apart.reshape(12, 3, 3, 3))
    (back,) = run("batch_to_space", {"x": wide}, block_shape=[2, 3], crops=[[1, 1], [0, 3]])
    close(back, X)


GRID = RANDOM.uniform(-1.3, 1.3, (2, 5, 7, 2)).astype(np.float32)


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize(
    ("padding", "corners", "same"),
    [
        ("constant", True, "zeros"),
        ("constant", False, "zeros"),
        ("border", True, "border"),
        ("reflection", True, "reflection"),
        ("symmetric", False, "reflection"),
    ],
)
@pytest.mark.slow
def test_resample(torch, mode, padding, corners, same):
    F = torch.nn.functional
    given = {
        "sampling_mode": mode,
        "padding_mode": padding,
        "padding_value": np.float32(0),
        "align_corners": corners,
    }
    x, grid = torch.tensor(X), torch.tensor(GRID)
    wanted = F.grid_sample(x, grid, mode, same, corners)
    minus = {"coordinates_mode": "normalized_minus_one_to_one"}
    close(run("resample", {"x": X, "coordinates": GRID}, **given, **minus)[0], wanted)
    half = {"x": X, "coordinates": (GRID + 1) / 2}
    close(run("resample", half, **given, coordinates_mode="normalized_zero_to_one")[0], wanted)
    if corners:
        places = (GRID + 1) / 2 * np.array([5, 3], np.float32)
        pixels = {"x": X, "coordinates": places}
        close(run("resample", pixels, **given, coordinates_mode="unnormalized")[0], wanted)


@pytest.mark.slow
def test_resample_fills_with_a_value(torch):
    F = torch.nn.functional
    given = {"padding_mode": "constant", "padding_value": np.float32(3), "align_corners": True}
    units = {"sampling_mode": "bilinear", "coordinates_mode": "normalized_minus_one_to_one"}
    (found,) = run("resample", {"x": X, "coordinates": GRID * 9}, **given, **units)
    wanted = F.grid_sample(torch.tensor(X - 3), torch.tensor(GRID * 9), align_corners=True) + 3
    close(found, wanted)


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.slow
def test_affine(torch, count):
    F = torch.nn.functional
    matrix = RANDOM.standard_normal((count, 6)).astype(np.float32)
    given = {
        "output_height": 5,
        "output_width": 3,
        "sampling_mode": "bilinear",
        "padding_mode": "constant",
        "padding_value": np.float32(0),
        "coordinates_mode": "normalized_minus_one_to_one",
        "align_corners": True,
    }
    (found,) = run("affine", {"x": X, "transform_matrix": matrix}, **given)
    theta = torch.tensor(matrix).reshape(count, 2, 3).expand(2, 2, 3)
    grid = F.affine_grid(theta, [2, 3, 5, 3], align_corners=True)
    close(found, F.grid_sample(torch.tensor(X), grid, align_corners=True))


BOXES = np.array([[0.5, 1, 2.5, 4], [0, 0.25, 3, 5], [1, 2, 2, 7]], np.float32)
"""Corners y, x, y, x in pixels; the last one leaves the image."""


def sampled(image: np.ndarray, ys: np.ndarray, xs: np.ndarray) -> np.ndarray:
    """Bilinear interpolation of [C, H, W] at rows and columns; 0 outside."""
    _, height, width = image.shape
    out = np.zeros((len(image), len(ys), len(xs)))
    for i, y in enumerate(ys):
        for j, x in enumerate(xs):
            if 0 <= y <= height - 1 and 0 <= x <= width - 1:
                top, left = min(int(y), height - 2), min(int(x), width - 2)
                b, r = y - top, x - left
                part = image[:, top : top + 2, left : left + 2]
                out[:, i, j] = part @ [1 - r, r] @ [1 - b, b]
    return out


def places(first: float, last: float, count: int, mode: str) -> np.ndarray:
    """The grid points of resize_bilinear's documentation, from the box's begin on."""
    size, i = last - first + 1, np.arange(count)
    if mode in ("STRICT_ALIGN_CORNERS", "ALIGN_CORNERS"):
        return first + i * (size - 1) / (count - 1)
    if mode == "OFFSET_CORNERS":
        at = (i + 0.5) * max(1, size - 1) / count
    elif mode == "UNALIGN_CORNERS":
        at = (i + 0.5) * size / count - 0.5
    else:
        at = i * size / count
    return first + np.clip(at, 0, size - 1)


MODES = ["STRICT_ALIGN_CORNERS", "ALIGN_CORNERS", "UNALIGN_CORNERS", "DEFAULT", "OFFSET_CORNERS"]


@pytest.mark.parametrize("mode", MODES)
def test_crop_resize(mode):
    given = {"target_height": 3, "target_width": 2, "sampling_mode": mode}
    wanted = np.array([
        [
            sampled(image, places(y0, y1, 3, mode), places(x0, x1, 2, mode))
            for image in X.astype(np.float64)
        ]
        for y0, x0, y1, x1 in BOXES.astype(np.float64)
    ])  # fmt: skip
    (found,) = run("crop_resize", {"x": X, "roi": BOXES.reshape(3, 1, 4, 1, 1)}, **given)
    close(found, wanted)
    which = np.array([1, 0, 1], np.int32)
    named = np.concatenate([which[:, None], BOXES], 1).astype(np.float32).reshape(3, 1, 5, 1, 1)
    chosen = wanted[np.arange(3), which]
    close(run("crop_resize", {"x": X, "roi": named}, **given)[0], chosen[:, None])
    middle, size = (BOXES[:, :2] + BOXES[:, 2:]) / 2, BOXES[:, 2:] - BOXES[:, :2]
    turned = np.concatenate([middle[:, ::-1], size[:, ::-1]], 1) / np.array([5, 3, 5, 3])
    newer = {"x": X, "boxes": turned.astype(np.float32), "box_indices": which}
    more = {"normalized_coordinates": True, "box_coordinate_mode": "CENTER_SIZE_WIDTH_FIRST"}
    close(run("crop_resize", newer, **given, **more)[0], chosen)


@pytest.mark.parametrize(
    ("kind", "given", "mean", "deviation"),
    [
        ("random_uniform", {"low": np.float32(-1), "high": np.float32(3)}, 1, 4 / 12**0.5),
        ("random_normal", {"mean": np.float32(2), "stddev": np.float32(0.5)}, 2, 0.5),
        ("random_bernoulli", {"prob": np.float32(0.25)}, 0.25, 0.1875**0.5),
    ],
)
def test_random_numbers(kind, given, mean, deviation):
    shape = {"shape": np.array([40, 50], np.int32)}
    found, again = (run(kind, {}, **shape, **given, seed=3)[0] for _ in range(2))
    assert found.shape == (40, 50)
    assert found.dtype == np.float32
    assert abs(found.mean() - mean) < 0.1 * deviation
    assert abs(found.std() - deviation) < 0.05
    np.testing.assert_array_equal(found, again)


@pytest.mark.parametrize("mode", ["logits", "probs"])
def test_random_categories(mode):
    chances = np.array([[[0.1, 0.6, 0.3], [0.5, 0.25, 0.25]]], np.float32)
    x = np.log(chances) if mode == "logits" else chances
    (found,) = run("random_categorical", {"x": x}, mode=mode, size=2000, seed=5)
    assert found.shape == (1, 2, 2000)
    shares = np.stack([(found == i).mean(-1) for i in range(3)], -1)
    np.testing.assert_allclose(shares, chances, atol=0.05)


@pytest.mark.parametrize("grows", [False, True])
def test_lists(grows):
    first, second = X[0, 0], X[1, 1]
    inputs = {"x": first, "z": second, "i": np.array(2, np.int32)}
    made = {"dynamic_length": grows, "elem_shape": [4, 6], "dtype": "fp32"}
    length = 1 if grows else 4
    data = program(
        inputs,
        ["picked", "one", "count"],
        operation("make_list", ["a"], {}, init_length=length, **made),
        operation("list_write", ["b"], {"ls": "a", "index": "i", "value": "x"}),
        operation("expand_dims", ["row"], {"x": "z"}, axes=[0]),
        operation("list_scatter", ["c"], {"ls": "b", "value": "row"}, indices=[3]),
        operation("list_gather", ["picked"], {"ls": "c"}, indices=[3, 0, 2]),
        operation("list_read", ["one"], {"ls": "c", "index": "i"}),
        operation("list_length", ["count"], {"ls": "c"}),
    )
    found = nnc.compile(data).run(inputs)
    close(found["picked"], np.stack([second, np.zeros_like(first), first]))
    close(found["one"], first)
    assert found["count"] == 4


EDGES = np.array([-7, -0.5, 0.5, 1, np.nan, 1.2], np.float32)


@pytest.mark.parametrize(
    ("kind", "inputs", "given", "wanted"),
    [
        ("thresholded_relu", {"x": EDGES}, {"alpha": np.float32(0.5)}, [0, 0, 0.5, 1, np.nan, 1.2]),
        ("mod", {"x": EDGES}, {"y": np.float32(np.inf)}, [np.inf, np.inf, 0.5, 1, np.nan, 1.2]),
        ("mod", {"x": EDGES}, {"y": np.float32(-2)}, [-1, -0.5, -1.5, -1, np.nan, -0.8]),
        ("floor_div", {"x": EDGES}, {"y": np.float32(np.inf)}, [-1, -1, 0, 0, np.nan, 0]),
        ("floor_div", {"x": EDGES}, {"y": np.float32(0.1)}, EDGES // np.float32(0.1)),
    ],
)
def test_edges_of_arithmetic(kind, inputs, given, wanted):
    (found,) = run(kind, inputs, **given)
    close(found, np.array(wanted, np.float32))


@pytest.mark.parametrize("width", [5, 6])
def test_corners_of_one_element_are_in_the_middle(width):
    x = X[:, :, :, :width]
    sizes = {"target_size_height": 1, "target_size_width": 1}
    (found,) = run("resize_bilinear", {"x": x}, sampling_mode="ALIGN_CORNERS", **sizes)
    middle = x[..., 2] if width == 5 else (x[..., 2] + x[..., 3]) / 2
    close(found, ((middle[:, :, 1] + middle[:, :, 2]) / 2)[..., None, None])
    (found,) = run("resize_bilinear", {"x": x}, sampling_mode="STRICT_ALIGN_CORNERS", **sizes)
    close(found, x[:, :, :1, :1])


def test_parameters_of_half_floats():
    """Coremltools leaves those of a parametric softplus at 32 bits."""
    x, half = X[0], {"dtype": "fp16"}
    slopes = {"alpha": np.float32([2, 3, 0.5, 1]), "beta": np.float32([1, 0.5, 2, 1])}
    steps = [
        operation("cast", ["h"], {"x": "x"}, **half),
        operation("softplus_parametric", ["y"], {"x": "h"}, **slopes),
        operation("cast", ["z"], {"x": "y"}, dtype="fp32"),
    ]
    found = nnc.compile(program({"x": x}, ["z"], *steps)).run({"x": x})["z"]
    alpha, beta = (one[:, None] for one in slopes.values())
    np.testing.assert_allclose(found, alpha * np.log1p(np.exp(beta * x)), rtol=5e-3)


def test_attention_of_open_width():
    """Its scale is computed when the model runs."""
    x, reps = X[:, :2], np.array([1, 1, 1, 2], np.int32)
    steps = [
        operation("tile", ["w"], {"x": "x", "reps": "r"}),
        operation(
            "scaled_dot_product_attention", ["z"], dict.fromkeys(("query", "key", "value"), "w")
        ),
    ]
    found = nnc.compile(program({"x": x, "r": reps}, ["z"], *steps)).run({"x": x, "r": reps})
    wide = np.tile(x, reps).astype(np.float64)
    powers = np.exp(wide @ wide.swapaxes(2, 3) / np.sqrt(12))
    close(found["z"], (powers / powers.sum(3, keepdims=True) @ wide).astype(np.float32))


def test_concat_interleaves():
    x, y = X[0, :, :, 0], -X[0, :, :, 0]
    made = operation("concat", ["z"], {"values": "x y"}, axis=1, interleave=True)
    found = nnc.compile(program({"x": x, "y": y}, ["z"], made)).run({"x": x, "y": y})["z"]
    close(found, np.stack([x, y], 2).reshape(3, 8))


def test_numbers_are_joined_to_a_vector():
    made = operation("concat", ["z"], {"values": "x x"}, axis=0)
    x = np.array(3, np.float32)
    assert nnc.compile(program({"x": x}, ["z"], made)).run({"x": x})["z"].tolist() == [3, 3]


@pytest.mark.parametrize("labels", [["low", "high", "none"], [3, 15, 9]])
def test_the_likely_class_has_its_label(labels):
    """Also if labels are a list of numbers, as coremltools writes them."""
    values = [constant(one)["value"] for one in labels]
    chances = np.array([[0.2, 0.5, 0.3]], np.float32)
    made = operation("classify", ["label", "all"], {"probabilities": "x"})
    listed = {"value": {"immediateValue": {"list": {"values": values}}}}
    made["inputs"]["classes"] = {"arguments": [listed]}
    found = nnc.compile(program({"x": chances}, ["label", "all"], made)).run({"x": chances})
    assert found["label"] == labels[1]
    np.testing.assert_array_equal(found["all"], chances[0])
