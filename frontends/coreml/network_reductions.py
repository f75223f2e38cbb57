"""Reductions of networks: the layers for any axes, and the older one for channels and images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..wire.protobuf import Record
from .network_reader import Reader
from .network_tables import MODES


def over_axes(op: str) -> Callable[[Reader, Any, Sequence[str], str], None]:
    """A converter to a reduction of the axes that the layer tells, or of all."""

    def convert(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
        given = {} if p.reduceAll or not p.axes else {"axes": np.array(p.axes)}
        r.add(op, out, {"x": inputs[0]}, keep_dims=p.keepDims, **given)

    return convert


def over_images(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    """A reduction along channels, height and width, or some of them.

    LOGSUM is the sum of the logarithms of x + epsilon. Source: NeuralNetwork.proto.
    """
    x, axes, epsilon = inputs[0], ["CHW".index(name) - 3 for name in p.axis], p.epsilon or 1e-6
    if p.mode == "ARGMAX":
        if len(axes) > 1:
            raise r.error(f"positions of the largest elements along {p.axis}")
        r.add("reduce_argmax", f"{out} place", {"x": x}, axis=axes[0], keep_dims=True)
        r.add("cast", out, {"x": f"{out} place"}, dtype="fp32")
        return
    op = MODES.get(p.mode, "")
    if p.mode == "LOGSUM":
        x, op = f"{out} logarithms", "reduce_sum"
        r.add("log", x, {"x": inputs[0]}, epsilon=np.float32(epsilon))
    if not op:
        raise r.error(f"a reduction {p.mode} is not supported")
    r.add(op, out, {"x": x}, axes=np.array(axes), keep_dims=True)
