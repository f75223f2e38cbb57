"""Convolutions and poolings of networks, of images [N, C, H, W] and of volumes [N, C, D, H, W]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..wire.protobuf import Record
from .network_reader import Reader
from .network_tables import POOLINGS


def bias_of(r: Reader, p: Record, *shape: int) -> dict[str, np.ndarray]:
    """The layer's bias as an input, if it has one."""
    return {"bias": r.weight(p.part("bias"), shape)} if p.hasBias else {}


def _padding(p: Record, count: int) -> dict[str, Any]:
    if p.same is not None:
        upper = p.same.asymmetryMode == "BOTTOM_RIGHT_HEAVY"
        return {"pad_type": "same" if upper else "same_lower"}
    pairs = edge_sizes(p.part("valid").part("paddingAmounts"))
    return {"pad_type": "custom", "pad": pairs or [0] * 2 * count}


def edge_sizes(amounts: Record) -> list[int]:
    """(begin, end) amounts of each dimension, as a flat list."""
    return [v for one in amounts.borderAmounts for v in (one.startEdgeSize, one.endEdgeSize)]


def convolution(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    """A convolution of images, or a transposed one."""
    kernel, groups = list(p.kernelSize) or [3, 3], p.nGroups or 1
    given = {
        "strides": list(p.stride) or [1, 1],
        "dilations": list(p.dilationFactor) or [1, 1],
        "groups": groups,
        **_padding(p, 2),
    }
    # Transposed ones have their inputs first.
    sides = [p.outputChannels, p.kernelChannels]
    if p.isDeconvolution:
        sides = [p.kernelChannels, p.outputChannels // groups]
        if p.outputShape:
            given["output_shape"] = list(p.outputShape)
    bound: dict[str, Any] = {"x": inputs[0]}
    if len(inputs) > 1:
        bound["weight"] = inputs[1]
    else:
        bound["weight"] = r.weight(p.part("weights"), [*sides, *kernel])
    bound |= bias_of(r, p, p.outputChannels)
    r.add("conv_transpose" if p.isDeconvolution else "conv", out, bound, **given)


def pooling(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    """A pooling of images, by windows or global."""
    if p.type not in POOLINGS:
        raise r.error(f"a pooling {p.type} is not supported")
    name, over = POOLINGS[p.type]
    given = _padding(p, 2)
    kernel, strides = list(p.kernelSize) or [3, 3], list(p.stride) or [1, 1]
    if p.globalPooling:  # the windows are those of the whole image, whatever is told of them
        if any(given.get("pad", ())):
            raise r.error("a pooling of whole images with padding is not supported")
        r.add(over, out, {"x": inputs[0]}, axes=np.array([-2, -1]), keep_dims=True)
        return
    if p.includeLastPixel is not None:
        rows, columns = (list(p.includeLastPixel.paddingAmounts) or [0, 0])[:2]
        given = {"pad_type": "custom", "pad": [rows, rows, columns, columns], "ceil_mode": True}
    if p.type == "AVERAGE":
        given["exclude_padding_from_average"] = p.avgPoolExcludePadding
    r.add(name, out, {"x": inputs[0]}, kernel_sizes=kernel, strides=strides, **given)


_AXES = ("Depth", "Height", "Width")
_ENDS = ("Front", "Back", "Top", "Bottom", "Left", "Right")


def _padding3d(p: Record) -> dict[str, Any]:
    if p.paddingType != "CUSTOM":
        return {"pad_type": p.paddingType.lower()}
    return {"pad_type": "custom", "pad": [getattr(p, f"customPadding{end}") for end in _ENDS]}


def _each_axis(p: Record, name: str) -> list[int]:
    return [getattr(p, f"{name}{axis}") or 1 for axis in _AXES]


def convolution3d(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    """A convolution of volumes, or a transposed one."""
    groups = p.nGroups or 1
    sides = [p.outputChannels, p.inputChannels // groups]
    given = {
        "strides": _each_axis(p, "stride"),
        "dilations": _each_axis(p, "dilation"),
        "groups": groups,
        **_padding3d(p),
    }
    if p.isDeconvolution:
        sides = [p.inputChannels, p.outputChannels // groups]
        if p.outputShape:
            given["output_shape"] = list(p.outputShape)
    weight = r.weight(p.part("weights"), [*sides, *_each_axis(p, "kernel")])
    bound = {"x": inputs[0], "weight": weight, **bias_of(r, p, p.outputChannels)}
    r.add("conv_transpose" if p.isDeconvolution else "conv", out, bound, **given)


def pooling3d(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    """A pooling of volumes, by windows or global."""
    name, over = POOLINGS[p.type]
    if r.kind == "globalPooling3d":
        r.add(over, out, {"x": inputs[0]}, axes=np.array([-3, -2, -1]), keep_dims=True)
        return
    given, excludes = _padding3d(p), p.countExcludePadding
    if p.type == "AVERAGE":
        given["exclude_padding_from_average"] = excludes
    kernel, strides = _each_axis(p, "kernel"), _each_axis(p, "stride")
    r.add(name, out, {"x": inputs[0]}, kernel_sizes=kernel, strides=strides, **given)
