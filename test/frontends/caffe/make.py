"""Writes the nets of this folder's tests, and what OpenCV 4 makes of them.

    python -m nnc.test.frontends.caffe.make    (with opencv-python-headless<5)

Weights are drawn so that outputs vary; the oracle is `cv2.dnn`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from nnc.frontends.caffe.model import _kind
from nnc.frontends.caffe.schema import SCHEMA
from nnc.frontends.wire.protobuf_text import read_text
from nnc.test.frontends.protobuf_writer import written

FILES = Path(__file__).parent / "files"

WIDE = """
name: "wide"
input: "data"
input_shape { dim: 1 dim: 3 dim: 17 dim: 19 }
layer { name: "c1" type: "Convolution" bottom: "data" top: "c1"
  convolution_param { num_output: 8 kernel_size: 3 pad: 1 stride: 2 } }
layer { name: "b1" type: "BatchNorm" bottom: "c1" top: "c1" }
layer { name: "s1" type: "Scale" bottom: "c1" top: "c1" scale_param { bias_term: true } }
layer { name: "r1" type: "ReLU" bottom: "c1" top: "c1" relu_param { negative_slope: 0.1 } }
layer { name: "p1" type: "Pooling" bottom: "c1" top: "p1"
  pooling_param { pool: MAX kernel_size: 3 stride: 2 } }
layer { name: "n1" type: "LRN" bottom: "p1" top: "n1" lrn_param { local_size: 3 alpha: 0.5 } }
layer { name: "n2" type: "LRN" bottom: "p1" top: "n2"
  lrn_param { local_size: 3 alpha: 0.5 norm_region: WITHIN_CHANNEL } }
layer { name: "d1" type: "Convolution" bottom: "n1" top: "d1"
  convolution_param { num_output: 8 kernel_h: 3 kernel_w: 1 pad_h: 1 pad_w: 0 group: 8 dilation: 1 } }
layer { name: "pr" type: "PReLU" bottom: "d1" top: "d1" }
layer { name: "el" type: "ELU" bottom: "n2" top: "el" elu_param { alpha: 0.5 } }
layer { name: "th" type: "TanH" bottom: "el" top: "th" }
layer { name: "sg" type: "Sigmoid" bottom: "n2" top: "sg" }
layer { name: "ab" type: "AbsVal" bottom: "d1" top: "ab" }
layer { name: "pw" type: "Power" bottom: "ab" top: "pw"
  power_param { power: 2 scale: 0.5 shift: 0.1 } }
layer { name: "bn" type: "BNLL" bottom: "th" top: "bn" }
layer { name: "sum" type: "Eltwise" bottom: "bn" bottom: "pw" top: "sum"
  eltwise_param { operation: SUM coeff: 1 coeff: -0.5 } }
layer { name: "mul" type: "Eltwise" bottom: "sum" bottom: "sg" top: "mul"
  eltwise_param { operation: PROD } }
layer { name: "max" type: "Eltwise" bottom: "mul" bottom: "d1" top: "max"
  eltwise_param { operation: MAX } }
layer { name: "cat" type: "Concat" bottom: "max" bottom: "sum" top: "cat" }
layer { name: "avg" type: "Pooling" bottom: "cat" top: "avg"
  pooling_param { pool: AVE kernel_size: 3 stride: 2 pad: 1 } }
layer { name: "sl" type: "Slice" bottom: "avg" top: "sa" top: "sb" top: "sc"
  slice_param { slice_point: 3 slice_point: 10 } }
layer { name: "drop" type: "Dropout" bottom: "sb" top: "sb" }
layer { name: "ip" type: "InnerProduct" bottom: "sb" top: "ip"
  inner_product_param { num_output: 6 } }
layer { name: "prob" type: "Softmax" bottom: "ip" top: "prob" }
layer { name: "glob" type: "Pooling" bottom: "sc" top: "glob"
  pooling_param { pool: AVE global_pooling: true } }
layer { name: "end" type: "Concat" bottom: "sa" bottom: "sa" top: "end" concat_param { axis: 2 } }
"""

SHAPES = """
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 4 dim: 6 dim: 8 } } }
layer { name: "up" type: "Deconvolution" bottom: "data" top: "up"
  convolution_param { num_output: 6 kernel_size: 4 stride: 2 pad: 1 group: 2 bias_term: false } }
layer { name: "crop" type: "Crop" bottom: "up" bottom: "data" top: "crop"
  crop_param { axis: 2 offset: 3 offset: 2 } }
layer { name: "norm" type: "Normalize" bottom: "crop" top: "norm"
  norm_param { across_spatial: false channel_shared: false } }
layer { name: "shuffle" type: "ShuffleChannel" bottom: "norm" top: "shuffle"
  shuffle_channel_param { group: 3 } }
layer { name: "permute" type: "Permute" bottom: "shuffle" top: "permute"
  permute_param { order: 0 order: 2 order: 3 order: 1 } }
layer { name: "reshape" type: "Reshape" bottom: "permute" top: "reshape"
  reshape_param { shape { dim: 0 dim: -1 dim: 12 } } }
layer { name: "soft" type: "Softmax" bottom: "reshape" top: "soft" softmax_param { axis: 2 } }
layer { name: "flat" type: "Flatten" bottom: "soft" top: "flat" }
layer { name: "interp" type: "Interp" bottom: "crop" top: "interp"
  interp_param { height: 9 width: 13 } }
layer { name: "mvn" type: "MVN" bottom: "interp" top: "mvn" mvn_param { eps: 1e-6 } }
"""

BOXES = """
name: "boxes"
input: "data" input_dim: 1 input_dim: 3 input_dim: 32 input_dim: 32
layer { name: "f" type: "Convolution" bottom: "data" top: "f"
  convolution_param { num_output: 8 kernel_size: 8 stride: 8 } }
layer { name: "loc" type: "Convolution" bottom: "f" top: "loc"
  convolution_param { num_output: 16 kernel_size: 1 } }
layer { name: "locp" type: "Permute" bottom: "loc" top: "locp"
  permute_param { order: 0 order: 2 order: 3 order: 1 } }
layer { name: "locf" type: "Flatten" bottom: "locp" top: "locf" }
layer { name: "conf" type: "Convolution" bottom: "f" top: "conf"
  convolution_param { num_output: 12 kernel_size: 1 } }
layer { name: "confp" type: "Permute" bottom: "conf" top: "confp"
  permute_param { order: 0 order: 2 order: 3 order: 1 } }
layer { name: "confr" type: "Reshape" bottom: "confp" top: "confr"
  reshape_param { shape { dim: 0 dim: -1 dim: 3 } } }
layer { name: "confs" type: "Softmax" bottom: "confr" top: "confs" softmax_param { axis: 2 } }
layer { name: "conff" type: "Flatten" bottom: "confs" top: "conff" }
layer { name: "prior" type: "PriorBox" bottom: "f" bottom: "data" top: "prior"
  prior_box_param { min_size: 10 max_size: 16 aspect_ratio: 2 flip: true clip: true
    variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2 offset: 0.5 } }
layer { name: "out" type: "DetectionOutput" bottom: "locf" bottom: "conff" bottom: "prior" top: "out"
  detection_output_param { num_classes: 3 share_location: true background_label_id: 0
    nms_param { nms_threshold: 0.45 top_k: 40 } code_type: CENTER_SIZE keep_top_k: 10
    confidence_threshold: 0.1 } }
"""

REGIONS = """
input: "data" input_shape { dim: 1 dim: 3 dim: 12 dim: 14 }
input: "rois" input_shape { dim: 4 dim: 5 }
layer { name: "roi" type: "ROIPooling" bottom: "data" bottom: "rois" top: "roi"
  roi_pooling_param { pooled_h: 3 pooled_w: 2 spatial_scale: 0.5 } }
layer { name: "square" type: "Power" bottom: "data" top: "square" power_param { power: 2 } }
layer { name: "wide" type: "Concat" bottom: "data" bottom: "square" bottom: "square" bottom: "data"
  top: "wide" }
layer { name: "psroi" type: "PSROIPooling" bottom: "wide" bottom: "rois" top: "psroi"
  psroi_pooling_param { spatial_scale: 0.5 output_dim: 3 group_size: 2 } }
"""

PROPOSALS = """
input: "scores" input_shape { dim: 1 dim: 12 dim: 5 dim: 6 }
input: "moves" input_shape { dim: 1 dim: 24 dim: 5 dim: 6 }
input: "info" input_shape { dim: 1 dim: 3 }
layer { name: "rois" type: "Proposal" bottom: "scores" bottom: "moves" bottom: "info" top: "rois"
  proposal_param { feat_stride: 16 base_size: 16 min_size: 1 ratio: 0.5 ratio: 1 ratio: 2
    scale: 2 scale: 4 pre_nms_topn: 80 post_nms_topn: 20 nms_thresh: 0.6 } }
"""

OLD = """
name: "old"
input: "data" input_dim: 2 input_dim: 3 input_dim: 9 input_dim: 9
layers { name: "c" type: CONVOLUTION bottom: "data" top: "c"
  convolution_param { num_output: 4 kernel_size: 3 } }
layers { name: "r" type: RELU bottom: "c" top: "c" }
layers { name: "p" type: POOLING bottom: "c" top: "p"
  pooling_param { pool: AVE kernel_size: 3 stride: 2 } }
layers { name: "i" type: INNER_PRODUCT bottom: "p" top: "i" inner_product_param { num_output: 5 } }
layers { name: "s" type: SOFTMAX bottom: "i" top: "s" }
"""

NETS = {
    "wide": WIDE,
    "shapes": SHAPES,
    "boxes": BOXES,
    "regions": REGIONS,
    "proposals": PROPOSALS,
    "old": OLD,
}

_WEIGHTS = {
    "wide": {
        "c1": [(8, 3, 3, 3), (8,)],
        "b1": [(8,), (8,), (1,)],
        "s1": [(8,), (8,)],
        "d1": [(8, 1, 3, 1), (8,)],
        "pr": [(8,)],
        "ip": [(6, 63), (6,)],
    },
    "shapes": {"up": [(4, 3, 4, 4)], "norm": [(6,)]},
    "boxes": {
        "f": [(8, 3, 8, 8), (8,)],
        "loc": [(16, 8, 1, 1), (16,)],
        "conf": [(12, 8, 1, 1), (12,)],
    },
    "regions": {},
    "proposals": {},
    "old": {"c": [(4, 3, 3, 3), (4,)], "i": [(5, 36), (5,)]},
}


def as_values(record: Any) -> dict[str, Any]:
    """A record as the writer takes it."""
    out = {}
    for name, value in record.fields():
        if isinstance(value, list):
            value = [as_values(v) if hasattr(v, "fields") else v for v in value]
        out[name] = as_values(value) if hasattr(value, "fields") else value
    return out


def blob(array: np.ndarray, old: bool, raw: bool) -> dict[str, Any]:
    """Weights as the nets' versions store them; NVIDIA's in half precision."""
    if old:
        shape = (1,) * (4 - array.ndim) + array.shape
        names = ("num", "channels", "height", "width")
        return {**dict(zip(names, shape, strict=True)), "data": array.reshape(-1)}
    shape = {"dim": list(array.shape)}
    if raw:
        data = array.astype(np.float16).tobytes()
        return {"shape": shape, "raw_data_type": "FLOAT16", "raw_data": data}
    return {"shape": shape, "data": array.reshape(-1)}


def make(name: str, text: str, rng: np.random.Generator) -> None:
    """Write a net, its weights, inputs and outputs."""
    net = read_text(SCHEMA, "Net", text)
    values = as_values(net)
    layers = values.get("layer") or values["layers"]
    for layer, record in zip(layers, net.layer or net.layers, strict=True):
        shapes = _WEIGHTS[name].get(layer["name"], [])
        size = 0.1 if name == "boxes" else 0.5
        arrays = [(rng.standard_normal(s) * size).astype(np.float32) for s in shapes]
        if _kind(record) == "BatchNorm":
            arrays = [arrays[0], np.abs(arrays[1]) + 0.5, np.array([2], np.float32)]
        if arrays:
            raw = name == "boxes"
            layer["blobs"] = [blob(a, "layers" in values, raw) for a in arrays]
    (FILES / f"{name}.prototxt").write_text(text.lstrip())
    (FILES / f"{name}.caffemodel").write_bytes(written(SCHEMA, "Net", values))


def expect(name: str, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What OpenCV computes for all blobs that no layer takes."""
    import cv2

    paths = (str(FILES / f"{name}.{suffix}") for suffix in ("prototxt", "caffemodel"))
    net = cv2.dnn.readNetFromCaffe(*paths)
    for key, value in inputs.items():
        net.setInput(value, key)
    names = net.getUnconnectedOutLayersNames()
    return dict(zip(names, net.forward(names), strict=True))


def main() -> None:
    """Write all files."""
    FILES.mkdir(exist_ok=True)
    for name, text in NETS.items():
        rng = np.random.default_rng(7)
        make(name, text, rng)
        net = read_text(SCHEMA, "Net", text)
        shapes = [tuple(s.dim) for s in net.input_shape] or [tuple(net.input_dim)]
        if not net.input:
            shapes = [tuple(net.layer[0].input_param.shape[0].dim)]
        names = net.input or ["data"]
        inputs = {
            key: rng.standard_normal(shape).astype(np.float32)
            for key, shape in zip(names, shapes, strict=True)
        }
        if name == "proposals":
            inputs["moves"] *= 0.3
            inputs["info"] = np.array([[80, 96, 1]], np.float32)
        if name == "regions":
            corners = [[0, 0, 0, 8, 10], [0, 4, 2, 20, 18], [0, 8, 10, 8, 10], [0, 2, 6, 26, 12]]
            inputs["rois"] = np.array(corners, np.float32)
        outputs = expect(name, inputs)
        arrays = {f"in:{k}": v for k, v in inputs.items()}
        arrays |= {f"out:{k}": v for k, v in outputs.items()}
        np.savez_compressed(FILES / f"{name}.npz", **arrays)


if __name__ == "__main__":
    main()
