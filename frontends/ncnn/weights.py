"""ncnn's `.bin` file: the weights of all layers, in the order of the layers.

Their number and shapes follow from the layers' parameters. Tagged weights begin with four bytes
that tell how they are stored: f32, f16, int8, or bytes that index a table of 256 floats. Source:
ncnn's modelbin.cpp
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from ..common.source import Source
from .param import Entry, Parameters

_HALF, _INT8, _FLOAT = 0x01306B47, 0x000D4B38, 0x0002C056

Part = tuple[str, tuple[int, ...], bool]
"""(the name of a weight, its shape, whether a tag before it tells how it is stored)."""


class Bin:
    """The bytes of a `.bin` file, read from the front on."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.at = 0

    def bytes(self, count: int, entry: Entry) -> np.ndarray:
        """The next `count` bytes, which are padded to a multiple of four."""
        end = self.at + count
        if end > self.source.data.size:
            raise self.source.error(f"the file ends inside the weights of layer '{entry.name}'")
        found, self.at = self.source.data[self.at : end], end + -count % 4
        return found

    def read(self, part: Part, entry: Entry) -> np.ndarray:
        """A weight; a view of the file where it is stored as it is."""
        name, shape, is_tagged = part
        if any(d <= 0 for d in shape):
            raise self.source.error(f"layer '{entry.name}': its {name} has the shape {list(shape)}")
        count = math.prod(shape)
        tag = int(self.bytes(4, entry).view("<u4")[0]) if is_tagged else 0
        if tag == _HALF:
            return self.bytes(2 * count, entry).view("<f2").reshape(shape)
        if tag == _INT8:
            return self.bytes(count, entry).view("i1").reshape(shape)
        if tag not in (0, _FLOAT):
            table = self.bytes(1024, entry).view("<f4")
            return table[self.bytes(count, entry)].reshape(shape)
        return self.bytes(4 * count, entry).view("<f4").reshape(shape)


def parts(entry: Entry) -> Iterator[Part]:
    """The weights of a layer, in the order of the file."""
    spec = _SPECS.get(entry.kind)
    if spec is not None:
        yield from spec(entry.parameters)


Spec = Callable[[Parameters], Iterator[Part]]


def _inferred_extent(total: int, *by: int) -> int:
    """`total` divided by all of `by`: the extent that is not given."""
    rest = math.prod(by)
    return total // rest if rest > 0 and total % rest == 0 else -1


def _kernel(p: Parameters, dims: int) -> tuple[int, ...]:
    """The kernel's extents: depth, height and width, the last `dims` of them."""
    width = p.int(1)
    return {1: (width,), 2: (p.int(11, width), width)}.get(
        dims, (p.int(21, width), p.int(11, width), width)
    )


def _convolution(dims: int, grouped: bool, transposed: bool = False) -> Spec:
    def spec(p: Parameters) -> Iterator[Part]:
        if p.int(28 if transposed else 19):
            return  # the weights are inputs
        groups, out, kernel = p.int(7, 1) if grouped else 1, p.int(0), _kernel(p, dims)
        inner = _inferred_extent(p.int(6), out, *kernel)
        shape = (out, inner, *kernel)
        if transposed and groups > 0:
            shape = (groups, out // groups, inner, *kernel)
        yield "weight", shape, True
        if p.int(5):
            yield "bias", (out,), False
        if p.int(8) and dims == 2 and not transposed:
            scales = out if not grouped else groups
            if grouped and p.int(8) % 100 == 2:
                scales = 1
            yield "weight_scales", (scales,), False
            yield "input_scale", (1,), False
            if p.int(8) > 100:
                yield "output_scale", (1,), False

    return spec


def _inner_product(p: Parameters) -> Iterator[Part]:
    out = p.int(0)
    yield "weight", (out, _inferred_extent(p.int(2), out)), True
    if p.int(1):
        yield "bias", (out,), False
    if p.int(8):
        yield "weight_scales", (out,), False
        yield "input_scale", (1,), False


def _vectors(*names: str, size: int = 0, when: int | None = None) -> Spec:
    """A layer's vectors with their length in parameter `size`, present if parameter `when` is not
    0.
    """

    def spec(p: Parameters) -> Iterator[Part]:
        if when is None or p.int(when, 1):
            for name in names:
                yield name, (p.int(size),), False

    return spec


def _sized(**sizes: tuple[int, int]) -> Spec:
    """A layer's vectors, each with its length in a parameter of its own; absent if that is 0."""

    def spec(p: Parameters) -> Iterator[Part]:
        for name, (number, default) in sizes.items():
            if p.int(number, default):
                yield name, (p.int(number, default),), False

    return spec


def _scale(p: Parameters) -> Iterator[Part]:
    if p.int(0) != -233:
        yield "scale", (p.int(0),), False
        if p.int(1):
            yield "bias", (p.int(0),), False


def _embed(p: Parameters) -> Iterator[Part]:
    yield "weight", (p.int(1), p.int(0)), True
    if p.int(2):
        yield "bias", (p.int(0),), False
    if p.int(18):
        yield "weight_scale", (1,), False


def blob_shape(p: Parameters) -> tuple[int, ...]:
    """The shape that an input or a constant declares; () for none."""
    w, h, d, c = p.int(0), p.int(1), p.int(11), p.int(2)
    shape = (c, d, h, w) if d else (c, h, w) if c else (h, w) if h else (w,) if w else ()
    return shape


def _memory(p: Parameters) -> Iterator[Part]:
    yield "data", blob_shape(p) or (0,), p.int(21, 1) == 0


def _gemm(p: Parameters) -> Iterator[Part]:
    m, n, k = p.int(7), p.int(8), p.int(9)
    if p.int(4):
        yield "a", (k, m) if p.int(2) else (m, k), True
    if p.int(5):
        yield "b", (n, k) if p.int(3) else (k, n), True
    shapes = {0: (1,), 1: (m, 1), 2: (m, 1), 3: (m, n), 4: (1, n)}
    if p.int(6) and p.int(10) in shapes:
        yield "c", shapes[p.int(10)], True
    if p.int(18):
        if p.int(4):
            yield "a_scales", (m,), False
        if p.int(5):
            yield "b_scale", (1,), False


def _attention(p: Parameters) -> Iterator[Part]:
    embed = p.int(0)
    query = _inferred_extent(p.int(2), embed)
    for name, out, inner in (
        ("q", embed, query),
        ("k", embed, p.int(3, embed)),
        ("v", embed, p.int(4, embed)),
        ("out", query, embed),
    ):
        yield name, (out, inner), True
        yield f"{name}_bias", (out,), False
    if p.int(18):
        for name in ("q", "k", "v"):
            yield f"{name}_scales", (embed,), False
        yield "out_scales", (1,), False


def _recurrent(gates: int, biases: int) -> Spec:
    def spec(p: Parameters) -> Iterator[Part]:
        out, count = p.int(0), 2 if p.int(2) == 2 else 1
        hidden = p.int(3, out) if gates == 4 else out
        size = _inferred_extent(p.int(1), count, hidden, gates)
        yield "input", (count, gates * hidden, size), True
        yield "bias", (count, biases, hidden), True
        yield "state", (count, gates * hidden, out), True
        if out != hidden:
            yield "projection", (count, out, hidden), True
        if p.int(8):
            yield "input_scales", (count, gates * hidden), False
            yield "state_scales", (count, gates * hidden), False

    return spec


_SPECS: dict[str, Spec] = {
    "InnerProduct": _inner_product,
    "BatchNorm": _vectors("slope", "mean", "variance", "bias"),
    "Bias": _vectors("bias"),
    "Scale": _scale,
    "PReLU": _vectors("slope"),
    "Embed": _embed,
    "MemoryData": _memory,
    "InstanceNorm": _vectors("scale", "bias", when=2),
    "GroupNorm": _vectors("scale", "bias", size=1, when=3),
    "LayerNorm": _vectors("scale", "bias", when=2),
    "RMSNorm": _vectors("scale", when=2),
    "Normalize": _vectors("scale", size=3),
    "Padding": _sized(fill=(6, 0)),
    "Quantize": _sized(scale=(0, 1)),
    "Dequantize": _sized(scale=(0, 1), bias=(1, 0)),
    "Requantize": _sized(scale_in=(0, 1), scale_out=(1, 1), bias=(2, 0)),
    "Gemm": _gemm,
    "MultiHeadAttention": _attention,
    "LSTM": _recurrent(4, 4),
    "GRU": _recurrent(3, 4),
    "RNN": _recurrent(1, 1),
    "DeformableConv2D": _convolution(2, False),
    **{
        f"{kind}{group}{suffix}": _convolution(dims, bool(group), kind == "Deconvolution")
        for kind in ("Convolution", "Deconvolution")
        for group in ("", "DepthWise")
        for dims, suffix in ((1, "1D"), (2, ""), (3, "3D"))
    },
}
