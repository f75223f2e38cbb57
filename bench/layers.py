"""Single layers as ONNX files, to find the shapes that nnc is weak at.

    python -m bench.layers OUTPUT_FOLDER [--only resnet50|mobilenet_v2|gemm|vgg16|step]
    python -m bench.compare OUTPUT_FOLDER/*.onnx --peers onnxruntime openvino

The shapes are those of well-known models and a sweep of matrix products.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


@dataclass(frozen=True)
class Conv:
    """A convolution on a batch of one, followed by a ReLU, with "same" padding."""

    channels: int
    filters: int
    size: int
    kernel: int = 3
    stride: int = 1
    groups: int = 1

    @property
    def name(self) -> str:
        depthwise = "dw" if self.groups > 1 else "conv"
        return (
            f"{depthwise}{self.kernel}x{self.kernel}s{self.stride}"
            f"_{self.channels}x{self.size}_{self.filters}"
        )

    def model(self) -> onnx.ModelProto:
        shape = (self.filters, self.channels // self.groups, self.kernel, self.kernel)
        nodes = [
            helper.make_node(
                "Conv",
                ["x", "w", "b"],
                ["c"],
                pads=[self.kernel // 2] * 4,
                strides=[self.stride] * 2,
                group=self.groups,
            ),
            helper.make_node("Relu", ["c"], ["y"]),
        ]
        weights = {"w": shape, "b": (self.filters,)}
        out = (self.size - 1) // self.stride + 1
        x, y = (1, self.channels, self.size, self.size), (1, self.filters, out, out)
        return _model(nodes, x, y, weights)


@dataclass(frozen=True)
class Gemm:
    """A product of an input of m × k with constant weights of k × n, and a bias."""

    m: int
    k: int
    n: int

    @property
    def name(self) -> str:
        return f"gemm_{self.m}x{self.k}x{self.n}"

    def model(self) -> onnx.ModelProto:
        nodes = [
            helper.make_node("MatMul", ["x", "w"], ["p"]),
            helper.make_node("Add", ["p", "b"], ["y"]),
        ]
        weights = {"w": (self.k, self.n), "b": (self.n,)}
        return _model(nodes, (self.m, self.k), (self.m, self.n), weights)


def _model(
    nodes: list[onnx.NodeProto],
    x: tuple[int, ...],
    y: tuple[int, ...],
    weights: dict[str, tuple[int, ...]],
) -> onnx.ModelProto:
    random = np.random.default_rng(0)
    arrays = {
        name: random.standard_normal(dims).astype(np.float32) / np.sqrt(np.prod(dims[1:]) or 1)
        for name, dims in weights.items()
    }
    graph = helper.make_graph(
        nodes,
        "layer",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, y)],
        [numpy_helper.from_array(a.astype(np.float32), name) for name, a in arrays.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def resnet50() -> Iterator[Conv]:
    """Every convolution of ResNet-50 (and so of ResNet-18's 3x3) once."""
    yield Conv(3, 64, 224, 7, 2)
    width, size, before = 64, 56, 64
    for stage in range(4):
        yield Conv(before, width, size, 1)
        yield Conv(width, width, size)
        yield Conv(width, 4 * width, size, 1)
        yield Conv(4 * width, width, size, 1)
        if stage < 3:
            yield Conv(4 * width, 2 * width, size, 1)
            yield Conv(2 * width, 2 * width, size, 3, 2)
            yield Conv(4 * width, 8 * width, size, 1, 2)
        before, width, size = 4 * width, 2 * width, size // 2


def vgg16() -> Iterator[Conv]:
    """Every convolution of VGG-16 once."""
    for channels, filters, size in (
        (3, 64, 224),
        (64, 64, 224),
        (64, 128, 112),
        (128, 128, 112),
        (128, 256, 56),
        (256, 256, 56),
        (256, 512, 28),
        (512, 512, 28),
        (512, 512, 14),
    ):
        yield Conv(channels, filters, size)


def mobilenet_v2() -> Iterator[Conv]:
    """Every convolution of MobileNetV2 once."""
    yield Conv(3, 32, 224, 3, 2)
    yield Conv(32, 32, 112, 3, 1, 32)
    yield Conv(32, 16, 112, 1)
    channels, size = 16, 112
    for filters, count, stride in (
        (24, 2, 2),
        (32, 3, 2),
        (64, 4, 2),
        (96, 3, 1),
        (160, 3, 2),
        (320, 1, 1),
    ):
        for number in range(min(count, 2)):
            step = stride if number == 0 else 1
            wide = 6 * channels
            yield Conv(channels, wide, size, 1)
            yield Conv(wide, wide, size, 3, step, wide)
            size //= step
            yield Conv(wide, filters, size, 1)
            channels = filters
    yield Conv(320, 1280, 7, 1)


def gemm() -> Iterator[Gemm]:
    """Products of transformers, and squares around the sizes of caches and blocks."""
    for m, k, n in ((128, 768, 768), (128, 768, 3072), (128, 3072, 768), (64, 768, 2304)):
        yield Gemm(m, k, n)
    for size in (17, 31, 64, 100, 256, 333, 512, 1024):
        yield Gemm(size, size, size)


def step() -> Iterator[Gemm]:
    """One row times a matrix: a decoder's step, a classifier's head."""
    for k, n in ((768, 768), (768, 2304), (768, 3072), (3072, 768), (2048, 1000), (768, 50257)):
        yield Gemm(1, k, n)


GROUPS = {f.__name__: f for f in (resnet50, vgg16, mobilenet_v2, gemm, step)}


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=GROUPS)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    layers = {
        one.name: one for name, f in GROUPS.items() if args.only in (None, name) for one in f()
    }
    for name, one in layers.items():
        onnx.save(one.model(), args.folder / f"{name}.onnx")
    print(f"wrote {len(layers)} layers to {args.folder}")


if __name__ == "__main__":
    main()
