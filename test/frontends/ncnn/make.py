"""Writes `files/`: groups of single layers with random weights, and what ncnn makes of them.

Run with a Python that has ncnn of 2026: `python test/frontends/ncnn/make.py`.
"""

import sys
from pathlib import Path

import ncnn
import numpy as np

FILES = Path(__file__).parent / "files"
HALF, INT8 = 0x01306B47, 0x000D4B38

F, H, I, V = "float", "half", "int8", "vector"  # tagged weights, and those without a tag


class Group:
    """A model that is many single layers, each with inputs and outputs of its own."""

    def __init__(self, name: str, seed: int) -> None:
        self.name, self.random = name, np.random.default_rng(seed)
        self.lines, self.blobs, self.weights, self.inputs, self.outputs = [], 0, b"", {}, []

    def weight(self, kind: str, count: int, low=-1.0, high=1.0) -> None:
        values = self.random.uniform(low, high, count).astype("f4")
        if kind == I:
            data = self.random.integers(-127, 128, count).astype("i1").tobytes()
            self.weights += INT8.to_bytes(4, "little") + data + bytes(-len(data) % 4)
        elif kind == H:
            data = values.astype("f2").tobytes()
            self.weights += HALF.to_bytes(4, "little") + data + bytes(-len(data) % 4)
        else:
            self.weights += (bytes(4) if kind == F else b"") + values.tobytes()

    def add(
        self, kind: str, shapes, parameters="", weights=(), outputs=1, low=-2.0, high=2.0, last=None
    ):
        """A layer; `weights` are kind, count and perhaps bounds; shapes of integers are tuples.

        `last` are the elements of the last input.
        """
        names = []
        for shape in shapes:
            name = f"in{len(self.inputs)}"
            extents = [f"{k}={v}" for k, v in zip((0, 1, 2), shape[::-1], strict=False)]
            if len(shape) == 4:
                c, d, h, w = shape
                extents = [f"0={w}", f"1={h}", f"11={d}", f"2={c}"]
            self.lines.append(f"Input {name} 0 1 {name} {' '.join(extents)}")
            if kind == "Embed":
                values = self.random.integers(0, 7, shape).astype("i4")
            else:
                values = self.random.uniform(low, high, shape).astype("f4")
            if last is not None and shape is shapes[-1]:
                values = np.array(last, "f4")
            self.inputs[name] = values
            names.append(name)
        number = len(self.lines)
        outs = [f"out{number}_{i}" for i in range(outputs)]
        counts = f"{len(names)} {outputs}"
        words = [kind, f"layer{number}", counts, *names, *outs, parameters]
        self.lines.append(" ".join(w for w in words if w))
        self.blobs += len(names) + outputs
        self.outputs += outs
        for one in weights:
            self.weight(*one)

    def text(self) -> str:
        head = ["7767517", f"{len(self.lines)} {self.blobs}"]
        return "\n".join([*head, *self.lines]) + "\n"

    def write(self) -> None:
        net = ncnn.Net()
        option = net.opt
        option.num_threads = 1
        option.use_fp16_packed = option.use_fp16_storage = option.use_fp16_arithmetic = False
        option.use_bf16_storage = False
        path = FILES / f"{self.name}.param"
        path.write_text(self.text())
        path.with_suffix(".bin").write_bytes(self.weights)
        assert net.load_param(str(path)) == 0
        assert net.load_model(str(path.with_suffix(".bin"))) == 0
        run = net.create_extractor()
        for name, value in self.inputs.items():
            run.input(name, ncnn.Mat(value).clone())
        found = {}
        for name in self.outputs:
            status, mat = run.extract(name)
            assert status == 0, (self.name, name, self.lines)
            found[name] = np.array(mat).copy()
        np.savez_compressed(FILES / f"{self.name}.npz", **self.inputs, **found)
        print(self.name, len(self.outputs))


def elementwise() -> Group:
    g, x = Group("elementwise", 1), [(3, 4, 5)]
    for kind in [
        "AbsVal",
        "BNLL",
        "Erf",
        "Mish",
        "Sigmoid",
        "Softplus",
        "Swish",
        "TanH",
        "ReLU",
        "GELU",
        "HardSigmoid",
    ]:
        g.add(kind, x)
    g.add("ReLU", x, "0=0.2")
    g.add("PReLU", x, "0=3", [(V, 3)])
    g.add("PReLU", x, "0=1", [(V, 1)])
    g.add("Clip", x, "0=-0.5 1=1.0")
    g.add("ELU", x, "0=0.7")
    g.add("CELU", x, "0=0.7")
    g.add("SELU", x)
    g.add("GELU", x, "0=1")
    g.add("HardSwish", x)
    g.add("HardSwish", x, "0=0.1666667 1=0.5")
    g.add("Shrink", x, "0=0.1 1=0.6")
    g.add("Threshold", x, "0=0.3")
    g.add("Dropout", x, "0=0.5")
    g.add("Power", x, "0=2.0 1=0.5 2=0.3")
    g.add("Power", x, "0=0.5 1=1.0 2=3.0")
    g.add("Exp", x, "0=2.0 1=0.5 2=0.1")
    g.add("Exp", x)
    g.add("Log", x, "0=2.0 1=0.5 2=3.0")
    g.add("GLU", [(4, 3)], "0=0")
    g.add("GLU", [(3, 5, 4)], "0=-1")
    g.add("Bias", x, "0=3", [(V, 3)])
    g.add("Scale", x, "0=3 1=1", [(V, 3), (V, 3)])
    g.add("Scale", [(3, 4, 5), (3,)], "0=-233")
    g.add("BatchNorm", x, "0=3 1=0.001", [(V, 3), (V, 3), (V, 3, 0.5, 2.0), (V, 3)])
    for i in range(28):
        low, high = (0.1, 0.9) if i in (5, 6, 8, 12, 13, 17, 26, 27) else (-2.0, 2.0)
        if i == 25:
            low, high = 1.1, 3.0
        g.add("UnaryOp", [(2, 3)], f"0={i}", low=low, high=high)
    for i in range(12):
        low = 0.2 if i in (6, 9) else -2.0
        g.add("BinaryOp", [(2, 3), (2, 3)], f"0={i}", low=low)
    g.add("BinaryOp", x, "0=7 1=1 2=0.5")
    g.add("BinaryOp", [(3, 4, 5), (3,)], "0=0")
    g.add("BinaryOp", [(4,), (3, 5, 4)], "0=1")
    g.add("BinaryOp", [(3, 4, 5), (3, 4)], "0=2")
    g.add("BinaryOp", [(3, 4, 5), (3, 1, 1)], "0=2")
    g.add("BinaryOp", [(4,), (4, 5)], "0=0")
    for i in range(3):
        g.add("Eltwise", [(3, 4), (3, 4), (3, 4)], f"0={i}")
    g.add("Eltwise", [(3, 4), (3, 4)], "0=1 -23301=2,0.5,-2.0")
    return g


def convolution() -> Group:
    g = Group("convolution", 2)
    g.add("Convolution", [(3, 9, 8)], "0=4 1=3 5=1 6=108 9=1", [(F, 108), (V, 4)])
    g.add("Convolution", [(3, 9, 8)], "0=4 1=3 11=2 3=2 4=1 14=0 6=72 9=2 -23310=1,0.1", [(H, 72)])
    g.add(
        "Convolution", [(2, 9, 8)], "0=2 1=3 2=2 4=-233 3=2 6=36 9=3 -23310=2,-0.5,0.9", [(F, 36)]
    )
    g.add("Convolution", [(2, 9, 8)], "0=2 1=2 4=-234 3=2 6=16 9=4", [(F, 16)])
    g.add("Convolution", [(2, 6, 7)], "0=2 1=3 4=1 15=2 16=0 18=0.5 6=36 9=5", [(F, 36)])
    g.add("Convolution", [(2, 6, 7)], "0=2 1=1 6=4 9=6 -23310=2,0.2,0.5", [(F, 4)])
    g.add("ConvolutionDepthWise", [(4, 7, 7)], "0=4 1=3 4=1 5=1 6=36 7=4", [(F, 36), (V, 4)])
    g.add("ConvolutionDepthWise", [(4, 7, 7)], "0=6 1=3 3=2 6=108 7=2", [(F, 108)])
    g.add("Convolution1D", [(3, 9)], "0=4 1=3 4=1 5=1 6=36", [(F, 36), (V, 4)])
    g.add("ConvolutionDepthWise1D", [(4, 9)], "0=4 1=3 3=2 6=12 7=4", [(F, 12)])
    g.add("Convolution3D", [(2, 4, 5, 6)], "0=3 1=3 21=2 4=1 24=0 5=1 6=108", [(F, 108), (V, 3)])
    g.add("ConvolutionDepthWise3D", [(2, 4, 5, 6)], "0=2 1=2 6=16 7=2", [(F, 16)])
    g.add("Deconvolution", [(3, 4, 5)], "0=2 1=4 3=2 4=1 5=1 6=96 9=1", [(F, 96), (V, 2)])
    g.add("Deconvolution", [(3, 4, 5)], "0=2 1=3 3=2 2=2 18=1 6=54", [(F, 54)])
    g.add("Deconvolution", [(2, 4, 5)], "0=2 1=3 3=2 4=-233 20=10 21=8 6=36", [(F, 36)])
    g.add("DeconvolutionDepthWise", [(4, 4, 5)], "0=4 1=3 3=2 6=36 7=4", [(F, 36)])
    g.add("DeconvolutionDepthWise", [(4, 4, 5)], "0=6 1=3 3=2 6=108 7=2", [(F, 108)])
    g.add("Deconvolution1D", [(3, 5)], "0=2 1=3 3=2 6=18", [(F, 18)])
    g.add("Deconvolution3D", [(2, 3, 3, 3)], "0=2 1=2 3=2 6=32", [(F, 32)])
    g.add("InnerProduct", [(3, 4, 2)], "0=5 1=1 2=120 9=1", [(F, 120), (V, 5)])
    g.add("InnerProduct", [(24,)], "0=5 1=0 2=120", [(H, 120)])
    g.add("InnerProduct", [(4, 6)], "0=5 1=1 2=30", [(F, 30), (V, 5)])
    int8 = [(I, 72), (V, 4), (V, 4, 40.0, 60.0), (V, 1, 50.0, 60.0)]
    g.add("Convolution", [(2, 6, 7)], "0=4 1=3 5=1 6=72 8=2", int8)
    g.add("InnerProduct", [(8,)], "0=5 2=40 8=2", [(I, 40), (V, 5, 40.0, 60.0), (V, 1, 50.0, 60.0)])
    g.add("MatMul", [(3, 4), (4, 5)])
    g.add("MatMul", [(2, 3, 4), (2, 5, 4)], "0=1")
    g.add("MatMul", [(4,), (4, 5)])
    g.add("MatMul", [(3, 4), (4,)])
    g.add("Gemm", [(3, 4), (4, 5)], "0=0.5")
    g.add("Gemm", [(3, 4)], "3=1 5=1 6=1 8=5 9=4 10=4 1=2.0", [(F, 20), (F, 5)])
    g.add("Gemm", [(4, 3), (5, 4)], "2=1 3=1 14=1")
    g.add("Embed", [(6,)], "0=4 1=7 2=1 3=28", [(F, 28), (V, 4)])
    return g


def pooling() -> Group:
    g = Group("pooling", 3)
    for kind in (0, 1):
        g.add("Pooling", [(2, 7, 8)], f"0={kind} 1=3 2=2")
        g.add("Pooling", [(2, 7, 8)], f"0={kind} 1=3 2=2 3=1 5=1")
        g.add("Pooling", [(2, 7, 8)], f"0={kind} 1=2 11=3 2=2 3=1 13=0 6=1")
        g.add("Pooling", [(2, 7, 8)], f"0={kind} 1=3 2=2 5=2")
        g.add("Pooling", [(2, 7, 8)], f"0={kind} 4=1")
        g.add("Pooling", [(2, 7, 8)], f"0={kind} 7=1 8=4 18=3")
        g.add("Pooling1D", [(2, 9)], f"0={kind} 1=3 2=2")
        g.add("Pooling3D", [(2, 4, 5, 6)], f"0={kind} 1=2 2=2")
    return g


def movement() -> Group:
    g = Group("movement", 4)
    g.add("Concat", [(2, 3, 4), (1, 3, 4)], "0=0")
    g.add("Concat", [(2, 3), (2, 4)], "0=-1")
    g.add("Slice", [(6, 2, 3)], "-23300=3,1,2,-233", outputs=3)
    g.add("Slice", [(2, 7)], "-23300=2,-233,-233 1=1", outputs=2)
    g.add("Flatten", [(2, 3, 4)])
    g.add("Reshape", [(2, 3, 4)], "0=6 1=-1")
    g.add("Reshape", [(2, 3, 4)], "0=0 1=1 2=-1")
    g.add("Reshape", [(24,)], "0=2 1=3 11=2 2=2")
    g.add("Reshape", [(2, 3, 4)], '6="*(0w,0h),0c"')
    g.add("Squeeze", [(1, 3, 1)], "-23303=2,0,2")
    g.add("Squeeze", [(1, 3, 4)], "2=1")
    g.add("ExpandDims", [(3, 4)], "-23303=1,1")
    g.add("ExpandDims", [(3,)], "-23303=2,0,-1")
    for i in range(6):
        g.add("Permute", [(2, 3, 4)], f"0={i}")
    g.add("Permute", [(3, 4)], "0=1")
    for i in (7, 13, 18, 23):
        g.add("Permute", [(2, 3, 4, 5)], f"0={i}")
    g.add("Tile", [(2, 3)], "0=1 1=2")
    g.add("Tile", [(2, 3, 2)], "-23302=3,1,2,3")
    g.add("Flip", [(2, 3, 4)], "-23300=2,0,-1")
    g.add("Crop", [(4, 6, 7)], "0=1 1=2 2=1 3=4 4=3 5=2")
    g.add("Crop", [(4, 6, 7)], "0=1 1=1 2=0 3=-233 4=-233 5=-233 6=2 7=1")
    g.add("Crop", [(4, 6, 7)], "-23309=2,1,-3 -23310=2,3,-233 -23311=2,0,2")
    g.add("Crop", [(4, 6, 7), (4, 3, 4)], "0=2 1=1")
    g.add("CopyTo", [(4, 5), (2, 2)], "0=1 1=2")
    for i in range(3):
        g.add("Padding", [(3, 5, 6)], f"0=1 1=2 2=2 3=1 4={i} 5=0.5")
    g.add("Padding", [(3, 5, 6)], "0=1 1=2 2=2 3=1 6=3", [(V, 3)])
    g.add("Padding", [(2, 3, 4)], "2=1 3=1 7=1 8=2 5=0.25")
    for mode in (0, 1):
        g.add("PixelShuffle", [(8, 2, 3)], f"0=2 1={mode}")
        g.add("Reorg", [(2, 4, 6)], f"0=2 1={mode}")
        g.add("ShuffleChannel", [(6, 2, 3)], f"0=2 1={mode}")
    for kind in (1, 2, 3):
        g.add("Interp", [(2, 5, 6)], f"0={kind} 1=2.0 2=2.0")
        g.add("Interp", [(2, 5, 6)], f"0={kind} 3=8 4=7")
        g.add("Interp", [(2, 5, 6)], f"0={kind} 3=8 4=9 6=1")
        g.add("Interp", [(3, 6)], f"0={kind} 2=2.0 4=0 3=0")
    g.add("Unfold", [(2, 5, 6)], "1=3 4=1 3=2")
    g.add("CumulativeSum", [(3, 4)], "0=1")
    g.add("Diag", [(4,)], "0=1")
    g.add("Diag", [(4, 5)], "0=1")
    g.add("MemoryData", [], "0=3 1=2", [(V, 6)])
    return g


def normalization() -> Group:
    g, x = Group("normalization", 5), [(4, 5, 6)]
    g.add("InstanceNorm", x, "0=4 1=0.001 2=1", [(V, 4), (V, 4)])
    g.add("InstanceNorm", x, "0=4 1=0.001 2=0")
    g.add("GroupNorm", x, "0=2 1=4 2=0.001 3=1", [(V, 4), (V, 4)])
    g.add("LayerNorm", x, "0=6 1=0.001 2=1", [(V, 6), (V, 6)])
    g.add("LayerNorm", x, "0=30 1=0.001 2=0")
    g.add("RMSNorm", [(5, 6)], "0=6 1=0.001 2=1", [(V, 6)])
    g.add("LRN", x, "0=0 1=3 2=0.5 3=0.75")
    g.add("LRN", x, "0=1 1=3 2=0.5 3=0.75")
    for variance in (0, 1):
        g.add("MVN", x, f"0={variance} 1=0")
        g.add("MVN", x, f"0={variance} 1=1")
    g.add("Normalize", x, "0=0 1=0 2=0.01 3=4 4=1", [(V, 4)])
    g.add("Normalize", x, "0=1 1=1 2=0.01 3=1 4=1 9=1", [(V, 1)])
    g.add("Normalize", x, "0=1 1=0 2=0.01 3=4 4=0 9=2", [(V, 4)])
    for axis in (0, 1, -1):
        g.add("Softmax", x, f"0={axis} 1=1")
    for i in range(11):
        low = 0.2 if i in (6, 9) else -2.0
        g.add("Reduction", [(3, 4, 5)], f"0={i} 1=0 -23303=2,1,2 4=0 5=1", low=low)
    g.add("Reduction", [(3, 4, 5)], "0=3 1=0 -23303=1,0 4=1 5=1 2=0.5")
    g.add("Reduction", [(3, 4)], "0=0 1=1")
    g.add("StatisticsPooling", [(3, 4, 5)], "0=1")
    for shape in ((3, 4), (2, 3, 4), (2, 2, 3, 2)):  # as many parameters as elements
        size = int(np.prod(shape))
        g.add("LayerNorm", [shape], f"0={size} 1=0.001 2=1", [(V, size), (V, size)])
        g.add("RMSNorm", [shape], f"0={size} 1=0.001 2=1", [(V, size)])
    return g


def attention() -> Group:
    g = Group("attention", 6)
    eight = [w for _ in range(4) for w in ((F, 64, -0.3, 0.3), (V, 8))]
    g.add("MultiHeadAttention", [(5, 8)], "0=8 1=2 2=64", eight)
    g.add("MultiHeadAttention", [(5, 8), (7, 8), (7, 8)], "0=8 1=2 2=64", eight)
    g.add("MultiHeadAttention", [(5, 8), (7, 8), (7, 8), (5, 7)], "0=8 1=2 2=64 5=1", eight)
    g.add("SDPA", [(4, 5, 6), (4, 7, 6), (4, 7, 6)], "")
    g.add("SDPA", [(4, 5, 6), (2, 7, 6), (2, 7, 6), (5, 7)], "5=1 6=0.3")
    for i in (0, 1):
        g.add("RotaryEmbed", [(2, 5, 8), (5, 4), (5, 4)], f"0={i}")
    return g


def detection() -> Group:
    g = Group("detection", 9)
    for roi in ([4, 6, 25, 29], [0, 0, 3, 3], [10.4, 2.6, 30, 12]):
        g.add("ROIPooling", [(3, 9, 10), (4,)], "0=3 1=2 2=0.25", last=roi)
        for samples, aligned in ((2, 0), (0, 1), (3, 1)):
            given = f"0=3 1=2 2=0.25 3={samples} 4={aligned} 5=1"
            g.add("ROIAlign", [(3, 9, 10), (4,)], given, last=roi)
    sizes = [10, 14, 23, 27, 37, 58, 81, 82, 135, 169, 344, 319]
    lists = ((4, sizes), (5, [3, 4, 5, 0, 1, 2]), (6, [32, 16]))  # floats, all of them
    lists = (f"-{23300 + i}={len(v)},{','.join(f'{x:.1f}' for x in v)}" for i, v in lists)
    given = f"0=3 1=3 2=0.3 3=0.45 {' '.join(lists)}"
    g.add("Yolov3DetectionOutput", [(24, 4, 5), (24, 8, 10)], given)
    return g


def regions() -> Group:
    """Regions whose scale is left out, with bins of whole elements and a half."""
    g = Group("regions", 30)
    g.add("ROIPooling", [(3, 9, 10), (4,)], "0=2 1=2", last=[1, 2, 5, 8])
    g.add("ROIAlign", [(3, 9, 10), (4,)], "0=3 1=2 3=2 5=1", last=[1.4, 2, 5, 7.7])
    g.add("PSROIPooling", [(12, 9, 10), (4,)], "0=2 1=2 3=3", last=[20, 40, 101, 140])
    return g


def proposals() -> Group:
    """Detectors' priors, what is decoded from them, and regions."""
    g = Group("proposals", 10)
    g.add("PSROIPooling", [(12, 9, 10), (4,)], "0=2 1=2 2=0.25 3=3", last=[4, 6, 25, 29])
    sizes = ",".join(f"{v:.1f}" for v in (1, 1.5, 2.5, 2, 0.5, 0.7))
    given = f"0=3 1=3 2=0.1 3=0.45 -23304=6,{sizes}"
    g.add("YoloDetectionOutput", [(24, 4, 5)], given)
    lists = "-23300=2,20.0,40.0 -23301=2,40.0,60.0 -23302=1,2.0"
    for more in ("13=0.5", "13=0.5 8=1 7=0 11=8.0 12=9.0 3=0.2 14=1 15=1"):
        g.add("PriorBox", [(2, 4, 5), (3, 60, 70)], f"{lists} 9=-233 10=-233 {more}")
    lists = "-23300=2,0.2,0.4 -23302=3,1.0,2.0,0.5"
    g.add("PriorBox", [(2, 4, 5)], f"{lists} 7=0 8=1 9=-233 10=-233 13=0.5")
    corners = g.random.uniform(0, 0.6, (2, 30, 2))
    boxes = np.concatenate([corners[0], corners[0] + 0.1 + corners[1] / 2], -1).reshape(1, -1)
    boxes = np.concatenate([boxes, np.tile([0.1, 0.1, 0.2, 0.2], 30)[None]])
    # Scores below 0.7, as those of a softmax: ncnn leaves out what is background to 1 - 0.3.
    given = "0=3 1=0.4 2=20 3=12 4=0.3"
    g.add("DetectionOutput", [(120,), (90,), (2, 120)], given, last=boxes, low=0, high=0.69)
    given, boxes = "0=-233 1=0.4 2=20 3=12 4=0.02", boxes[0].reshape(30, 4)
    g.add("DetectionOutput", [(120,), (3, 30), (30, 4)], given, last=boxes, low=0, high=0.4)
    given = "0=16 1=16 2=60 3=20 4=0.5 5=12"
    shapes = [(18, 4, 5), (36, 4, 5), (3,)]
    g.add("Proposal", shapes, given, outputs=2, low=-0.5, high=0.5, last=[70, 90, 1.5])
    return g


def images() -> Group:
    """Windows and positions that are computed, sums of products, spectra."""
    g = Group("images", 11)
    equation = [ord(c) for c in "ijl,ikl->ijk"]
    given = f"-23300={len(equation)},{','.join(map(str, equation))}"
    g.add("Einsum", [(2, 3, 4), (2, 5, 4)], given)
    g.add("Fold", [(18, 20)], "1=3 3=2 4=1 20=9 21=7")
    g.add("Unfold", [(2, 5, 6)], "1=3 11=2 2=2 3=1 4=1 14=0 18=0.5")
    for kind in (1, 2, 3):
        for padding in (1, 2, 3):
            corners = (kind + padding) % 2
            g.add("GridSample", [(3, 5, 6), (4, 7, 2)], f"0={kind} 1={padding} 2={corners}",
                  low=-1.2, high=1.2)  # fmt: skip
    g.add("GridSample", [(3, 5, 6), (2, 4, 7)], "0=1 1=1 3=1", low=-1.2, high=1.2)
    g.add("GridSample", [(3, 4, 5, 6), (2, 4, 7, 3)], "0=1 1=1", low=-1.2, high=1.2)
    kernel = "0=4 1=3 3=2 4=1 5=1 6=72 9=2 -23310=1,0.1"
    g.add("DeformableConv2D", [(2, 7, 8), (18, 4, 4)], kernel, [(F, 72), (V, 4)])
    g.add("DeformableConv2D", [(2, 7, 8), (18, 4, 4), (9, 4, 4)], kernel, [(F, 72), (V, 4)])
    g.add("Spectrogram", [(90,)], "0=16")
    g.add("Spectrogram", [(90,)], "0=16 1=1 2=5 3=12 4=1 6=0 7=1")
    g.add("Spectrogram", [(90,)], "0=16 1=2 2=5 4=2 5=0 7=2 8=0")
    g.add("InverseSpectrogram", [(9, 12, 2)], "0=16 1=1 4=1")
    g.add("InverseSpectrogram", [(9, 12, 2)], "0=16 1=1 2=8 3=12 4=2 5=0 7=1")
    g.add("InverseSpectrogram", [(16, 12, 2)], "0=16 1=0 2=4 4=1 7=2")
    return g


def recurrent() -> Group:
    g = Group("recurrent", 7)
    for direction in (0, 1, 2):
        n = 2 if direction == 2 else 1
        bounds = (-0.5, 0.5)
        for kind, gates, biases in (("LSTM", 4, 4), ("GRU", 3, 4), ("RNN", 1, 1)):
            weights = [
                (F, n * gates * 5 * 3, *bounds),
                (F, n * biases * 5, *bounds),
                (F, n * gates * 25, *bounds),
            ]
            g.add(kind, [(3, 3)], f"0=5 1={n * gates * 15} 2={direction}", weights)
    weights = [(F, 4 * 15, -0.5, 0.5), (F, 20, -0.5, 0.5), (F, 100, -0.5, 0.5)]
    g.add("LSTM", [(2, 3), (1, 5), (1, 5)], "0=5 1=60 2=0", weights, outputs=3)
    projected = [(F, 60, -0.5, 0.5), (F, 20, -0.5, 0.5), (F, 40, -0.5, 0.5), (F, 10, -0.5, 0.5)]
    g.add("LSTM", [(2, 3)], "0=2 1=60 2=0 3=5", projected)
    return g


def integers() -> Group:
    """Layers whose weights are integers, and those that make integers of floats."""
    g, scales = Group("integers", 12), (40.0, 60.0)
    depthwise = [(I, 36), (V, 4), (V, 4, *scales), (V, 1, 50.0, 60.0)]
    g.add("ConvolutionDepthWise", [(4, 6, 7)], "0=4 1=3 4=1 5=1 6=36 7=4 8=1", depthwise)
    requantized = [(I, 72), (V, 4), (V, 4, *scales), (V, 1, 50.0, 60.0), (V, 1, 2.0, 3.0)]
    g.add("Convolution", [(2, 6, 7)], "0=4 1=3 5=1 6=72 8=102 9=1", requantized)
    g.add("Gemm", [(3, 8), (8, 5)], "18=1")
    g.add("Gemm", [(8, 3), (5, 8)], "0=0.5 2=1 3=1 18=1")
    given = "3=1 5=1 6=1 8=5 9=8 10=4 18=1"
    g.add("Gemm", [(3, 8)], given, [(I, 40), (F, 5), (V, 1, *scales)])
    g.add("Gemm", [(8, 3)], "4=1 7=5 9=8 10=-1 18=1", [(I, 40), (V, 5, *scales)])
    wide = [w for _ in range(4) for w in ((I, 64), (V, 8))]
    wide += [(V, 8, 300, 500)] * 3 + [(V, 1, 300, 500)]
    g.add("MultiHeadAttention", [(5, 8), (7, 8), (7, 8)], "0=8 1=2 2=64 18=1", wide)
    g.add("SDPA", [(4, 5, 6), (2, 7, 6), (2, 7, 6), (5, 7)], "5=1 6=0.3 18=1")
    g.add("Embed", [(6,)], "0=4 1=7 3=28 18=1", [(I, 28), (V, 1, *scales)])
    for kind, gates, biases in (("LSTM", 4, 4), ("GRU", 3, 4), ("RNN", 1, 1)):
        weights = [(I, gates * 15), (F, biases * 5, -0.5, 0.5), (I, gates * 25)]
        weights += [(V, gates * 5, 200, 400)] * 2
        g.add(kind, [(3, 3)], f"0=5 1={gates * 15} 2=0 8=2", weights)
    both = [(I, 120), (F, 40, -0.5, 0.5), (I, 80), (F, 20, -0.5, 0.5), *[(V, 40, 200, 400)] * 2]
    g.add("LSTM", [(3, 3)], "0=2 1=120 2=2 3=5 8=2", both)
    for fill in (0.7, -1.5):  # padding is of whole numbers
        padded = [(I, 72), (V, 4), (V, 4, *scales), (V, 1, 50.0, 60.0)]
        g.add("Convolution", [(2, 6, 7)], f"0=4 1=3 4=2 5=1 6=72 8=2 18={fill}", padded)
        padded = [(I, 36), (V, 4), (V, 4, *scales), (V, 1, 50.0, 60.0)]
        given = f"0=4 1=3 4=-233 5=1 6=36 7=4 8=1 18={fill}"
        g.add("ConvolutionDepthWise", [(4, 6, 7)], given, padded)
    return g


def corners() -> Group:
    """Layers of blobs of unusual rank, of scales that are no whole numbers, of rare parameters."""
    g = Group("corners", 13)
    for kind in (17, 18):
        g.add("BinaryOp", [(4, 5)], f"0={kind} 1=1 2=1.5", low=-6.0, high=6.0)
        g.add("BinaryOp", [(4, 5), (5,)], f"0={kind}", low=0.5, high=6.0)
    g.add("Bias", [(4,)], "0=4", [(V, 4)])
    g.add("Bias", [(4, 3)], "0=4", [(V, 4)])
    g.add("InstanceNorm", [(4, 5)], "0=4 1=0.01 2=1", [(V, 4), (V, 4)])
    g.add("InstanceNorm", [(6,)], "0=6 1=0.01 2=0")
    g.add("Tile", [(2, 3, 2)], "-23302=4,2,3,2,1")
    for kind in (2, 3):
        for shape in ((2, 5, 6), (4, 7)):
            g.add("Interp", [shape], f"0={kind} 1=1.5 2=1.7")
            g.add("Interp", [shape], f"0={kind} 1=0.5 2=0.5")
            g.add("Interp", [shape], f"0={kind} 1=1.5 2=1.7 6=1")
    for same in (-233, -234):
        g.add("Convolution", [(2, 6, 7)], f"0=2 1=3 2=2 3=2 4={same} 6=36 18=0.5", [(F, 36)])
    g.add("MVN", [(2, 3, 4)], "0=0 1=0 2=0.1")
    g.add("MatMul", [(2, 3, 4), (4,)], "0=1")
    g.add("Gemm", [(3, 4), (4, 5)], "0=0.5 1=2.0 12=1")
    g.add("Gemm", [(4, 3), (3, 4), (4,)], "1=2.0")
    g.add("Gemm", [(4, 3), (3, 5), (4,)], "1=2.0")
    for kind in (0, 1):  # depth has an odd element at the end, height and width at the begin
        g.add("Pooling3D", [(2, 4, 5, 4)], f"0={kind} 1=3 2=2 5=3 6=1")
    g.add("Pooling1D", [(2, 4)], "0=0 1=1 2=2 3=0 14=1 5=1")
    g.add("Convolution3D", [(2, 4, 5, 4)], "0=2 1=2 4=-234 6=32", [(F, 32)])
    g.add("ConvolutionDepthWise3D", [(2, 4, 5, 4)], "0=2 1=2 4=-234 6=16 7=2", [(F, 16)])
    g.add("Interp", [(3, 5)], "0=1 4=7")
    for inputs in ([(2, 5, 6), (4, 2, 3, 3)], [(2, 5, 6), (4, 2, 3, 3), (4,)]):
        g.add("Convolution", inputs, f"0=4 1=3 4=1 5={len(inputs) - 2} 6=72 19=1")
    g.add("ConvolutionDepthWise", [(4, 5, 6), (4, 1, 3, 3)], "0=4 1=3 6=36 7=4 19=1")
    g.add("Einsum", [(3, 3)], f"-23300=2,{ord('i')},{ord('i')}")
    g.add("Spectrogram", [(90,)], "0=16 5=0 6=1")
    g.add("Reduction", [(3, 4)], "0=3 1=1 5=1")
    g.add("Quantize", [(6,)], "0=6", [(V, 6, 20.0, 60.0)])
    g.add("Quantize", [(6, 2)], "0=6", [(V, 6, 20.0, 60.0)])
    for inputs in ([(2, 5, 6), (2, 4, 2, 3)], [(2, 5, 6), (2, 4, 2, 3), (4,)]):
        g.add("Deconvolution", inputs, f"0=4 1=3 11=2 3=2 5={len(inputs) - 2} 6=48 9=1 28=1")
    g.add("DeconvolutionDepthWise", [(4, 5, 6), (4, 1, 3, 3)], "0=4 1=3 4=1 6=36 7=4 28=1")
    g.add("DeconvolutionDepthWise", [(4, 5, 6), (4, 3, 3, 3)], "0=6 1=3 4=1 6=108 7=2 28=1")
    g.add("Deconvolution1D", [(2, 6), (2, 3, 4)], "0=3 1=4 3=2 6=24 28=1")
    g.add("CopyTo", [(6, 5, 4), (2, 3, 1)], "-23309=3,1,-4,-233 -23311=3,-1,0,1")
    g.add("CopyTo", [(4, 3), (1, 1)], "-23309=1,1 -23311=1,-2")
    for shape in ((5,), (4, 5)):
        g.add("StatisticsPooling", [shape], "0=1")
    g.add("Padding", [(5,)], "0=0 1=0 2=2 3=1 4=2 5=0.0 6=0")
    g.add("Padding", [(4, 5)], "0=1 1=2 2=2 3=1 4=1 7=1 8=2")
    same = "0=2 1=3 3=2 4=-233 14=-233 15=-233 16=-233 6=36"
    g.add("Convolution", [(2, 6, 7)], same, [(F, 36)])
    return g


if __name__ == "__main__":
    FILES.mkdir(exist_ok=True)
    vision = (elementwise, convolution, pooling, movement, detection, regions, proposals, images)
    groups = (*vision, normalization, attention, recurrent, integers, corners)
    for make in groups:
        if make.__name__ in (sys.argv[1:] or [one.__name__ for one in groups]):
            make().write()
