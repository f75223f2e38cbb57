"""torchvision's operators on regions, against loops of NumPy: graphs are written by hand here."""

from __future__ import annotations

import math

import nnc
import numpy as np
import pytest
from nnc.frontends.common.importer import Importer
from nnc.frontends.common.inputs import InputChoices
from nnc.frontends.pytorch.arguments import Ref
from nnc.frontends.pytorch.layer import AtenLayer
from nnc.frontends.pytorch.program import Program, node, tensor_input
from nnc.frontends.pytorch.rows import ROWS
from nnc.ir.location import FileLineColLoc
from nnc.ir.types import f32

BINS = (2, 3)


def run(kind, tensors, **arguments):
    """The first output of one operator of torchvision, compiled."""
    inputs = [tensor_input(name, x.shape, f32, ()) for name, x in tensors.items()]
    given = {name: Ref(name) for name in tensors} | arguments
    made = node(f"torchvision.{kind}.default", kind, ["out"], given)
    graph = Program(inputs=inputs, nodes=[made], outputs=[Ref("out")]).graph()
    module = Importer(graph, ROWS, FileLineColLoc("-", 0, 0), AtenLayer).run(InputChoices.of())
    return nnc.compile(module, cache=False)(*tensors.values())


@pytest.fixture
def regions():
    rng = np.random.default_rng(0)
    corners = rng.uniform(-1, 9, (6, 2))
    rois = np.concatenate([corners, corners + rng.uniform(0, 9, (6, 2))], 1)
    image = rng.normal(size=(2, 4 * math.prod(BINS), 7, 8)).astype(np.float32)
    return image, np.insert(rois, 0, [0, 1, 0, 1, 1, 0], 1).astype(np.float32)


def test_means_of_whole_elements(regions):
    image, rois = regions
    scale = 0.6
    found = run("ps_roi_pool", {"input": image, "rois": rois}, **_pooled(scale))
    expected = np.zeros_like(found)
    for r, (number, *corners) in enumerate(rois):
        x0, y0, x1, y1 = (math.floor(c * np.float32(scale) + 0.5) for c in corners)
        for c, i, j in np.ndindex(expected.shape[1:]):
            channel = (c * BINS[0] + i) * BINS[1] + j
            rows = _bin(y0, y1, i, BINS[0], image.shape[2])
            columns = _bin(x0, x1, j, BINS[1], image.shape[3])
            part = image[int(number), channel, rows, columns]
            expected[r, c, i, j] = part.mean() if part.size else 0
    np.testing.assert_allclose(found, expected, atol=1e-5)


def _pooled(scale):
    return {"spatial_scale": scale, "pooled_height": BINS[0], "pooled_width": BINS[1]}


def _bin(begin, end, i, count, size):
    step = max(end - begin, 1) / count
    low, high = begin + math.floor(i * step), begin + math.ceil((i + 1) * step)
    return slice(*(min(max(v, 0), size - 1) for v in (low, high)))


@pytest.mark.parametrize("ratio", [0, 2])
def test_means_of_samples(regions, ratio):
    image, rois = regions
    given = {"input": image, "rois": rois}
    found = run("ps_roi_align", given, **_pooled(0.6), sampling_ratio=ratio)
    expected = np.zeros_like(found)
    for r, (number, *corners) in enumerate(rois):
        x0, y0, x1, y1 = (c * np.float32(0.6) - np.float32(0.5) for c in corners)
        for c, i, j in np.ndindex(expected.shape[1:]):
            plane = image[int(number), (c * BINS[0] + i) * BINS[1] + j]
            ys, xs = _samples(y0, y1, i, BINS[0], ratio), _samples(x0, x1, j, BINS[1], ratio)
            values = [_between(plane, y, x) for y in ys for x in xs]
            expected[r, c, i, j] = np.mean(values)
    np.testing.assert_allclose(found, expected, atol=1e-4)


def _samples(begin, end, i, count, ratio):
    step = (end - begin) / count
    number = ratio or math.ceil(step)
    return [begin + i * step + (k + 0.5) * step / number for k in range(number)]


def _between(plane, y, x, outside=-1.0):
    """Between four elements; 0 beyond an element outside, where the outermost ones go on."""
    height, width = plane.shape
    if y < outside or x < outside or y > height or x > width:
        return 0.0
    y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
    rows, columns = ((int(v), min(int(v) + 1, n - 1)) for v, n in ((y, height), (x, width)))
    v, h = y - rows[0], x - columns[0]
    upper, lower = ((1 - h) * plane[r, columns[0]] + h * plane[r, columns[1]] for r in rows)
    return (1 - v) * upper + v * lower


@pytest.mark.parametrize("masked", [False, True])
def test_deformed_convolution(masked):
    rng = np.random.default_rng(1)
    draw = lambda *shape: rng.normal(size=shape).astype(np.float32)  # noqa: E731
    image, weight, bias = draw(1, 4, 5, 6), draw(2, 2, 2, 3), draw(2)
    offset, mask = draw(1, 24, 4, 2) * 1.3, rng.random((1, 12, 4, 2)).astype(np.float32)
    tensors = {"input": image, "weight": weight, "offset": offset, "mask": mask, "bias": bias}
    window = {"stride_h": 1, "stride_w": 2, "pad_h": 0, "pad_w": 0, "dilation_h": 1}
    window |= {"dilation_w": 1, "groups": 2, "offset_groups": 2, "use_mask": masked}
    found = run("deform_conv2d", tensors, **window)
    padded = np.pad(image[0], ((0, 0), (9, 9), (9, 9)))
    expected = np.zeros_like(found)
    for m, i, j in np.ndindex(found.shape[1:]):
        total = bias[m]
        for c, k, h in np.ndindex(weight.shape[1:]):
            channel = 2 * m + c
            place = channel // 2 * 6 + k * 3 + h
            dy, dx = offset[0, 2 * place : 2 * place + 2, i, j]
            factor = mask[0, place, i, j] if masked else 1
            value = _between(padded[channel], i + k + dy + 9, 2 * j + h + dx + 9)
            total += weight[m, c, k, h] * value * factor
        expected[0, m, i, j] = total
    np.testing.assert_allclose(found, expected, atol=1e-4)
