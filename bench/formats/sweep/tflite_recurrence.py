"""TensorFlow Lite's recurrent networks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from .cases import Subject
from .tflite_case import OPEN, ROUNDING, Built, steps_of, subject, values


def _lstm(b: Built) -> Sequence[int]:
    """An LSTM over a sequence: in floats, with 8-bit weights, or in 8 bits with
    16-bit cell states.
    """
    rng, w, is_real = b.rng, b.w, b.element == "f32"
    batch, steps, size = b.config["shape"]
    cells, projects = b.config["cells"], b.config["projection"]
    given = 3 if projects else cells
    shape = [steps, batch, size] if b.config["time_major"] else [batch, steps, size]
    about = steps_of(rng, b.element, b.config["steps"])
    open_axes = {"none": (), "batch": (0,), "all": (0, 1)}[b.config["open"]]
    data = values(rng, shape, b.element)
    x = w.input(data, b.element, open_axes, **about)

    def weight(*extents: int) -> int:
        if b.kind == "f32":
            return w.constant(rng.standard_normal(extents) * 0.4, "f32")
        scale = np.float32(rng.uniform(0.003, 0.02))
        return w.constant(rng.integers(-127, 128, extents), "i8", scale=scale)

    def bias(extent: int) -> int:
        if is_real:
            return w.constant(rng.standard_normal(extent), "f32")
        return w.constant(rng.integers(-3000, 3000, extent), "i32", scale=1e-4)

    weights = [weight(cells, size) for _ in range(4)] + [weight(cells, given) for _ in range(4)]
    biases = [bias(cells) for _ in range(4)]
    last = [weight(given, cells), bias(given)] if projects else [-1, -1]
    own = {} if is_real else {"scale": np.float32(0.0078), "zero": int(rng.integers(-20, 20))}
    cell = {} if is_real else {"scale": 2.0 ** b.config["cell"]}
    h = w.tensor((batch, given), b.element, variable=True, **own)
    c = w.tensor((batch, cells), "f32" if is_real else "i16", variable=True, **cell)
    hidden = dict(own)
    if projects and not is_real:
        hidden = {"scale": np.float32(0.0065), "zero": int(rng.integers(-20, 20))}
    inner = [] if is_real else [w.tensor((1,), "i16", scale=2.0**-12) for _ in range(4)]
    inner += [] if is_real else [w.tensor((1,), "i8", **hidden)]
    operands = [x, *weights, -1, -1, -1, *biases, *last, h, c]
    out = w.tensor((), b.element, **own)
    return w.operator(
        "UNIDIRECTIONAL_SEQUENCE_LSTM", operands, [out], "UnidirectionalSequenceLSTMOptions",
        1, inner, fusedActivationFunction=4, timeMajor=b.config["time_major"],
        cellClip=b.config["clip"], projClip=b.config["clip"] / 2, **b.asked_rounding(),
    )  # fmt: skip


def _weight(b: Built, *extents: int) -> int:
    if b.kind == "f32":
        return b.w.constant(b.rng.standard_normal(extents) * 0.4, "f32")
    scale = np.float32(b.rng.uniform(0.003, 0.01))
    return b.w.constant(b.rng.integers(-127, 128, extents), "i8", scale=scale)


def _rnn(b: Built) -> Sequence[int]:
    """A simple recurrent network over a sequence."""
    (batch, steps, size), cells, w = b.config["shape"], b.config["cells"], b.w
    shape = [steps, batch, size] if b.config["time_major"] else [batch, steps, size]
    x = w.input(values(b.rng, shape, "f32"), "f32")
    bias = w.constant(b.rng.standard_normal(cells), "f32")
    state = w.tensor((batch, cells), "f32", variable=True)
    return w.operator(
        "UNIDIRECTIONAL_SEQUENCE_RNN",
        [x, _weight(b, cells, size), _weight(b, cells, cells), bias, state],
        [w.tensor(())],
        "SequenceRNNOptions",
        3,
        timeMajor=b.config["time_major"],
        fusedActivationFunction=4,
        **b.asked_rounding(),
    )


def subjects() -> Iterator[Subject]:
    """Yield the subjects of this file."""
    yield subject(
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
        {
            "type": ["f32", "i8", "dynamic"],
            "rounding": ROUNDING,
            "shape": [[2, 5, 3], [1, 1, 7], [3, 40, 2]],
            "cells": [4, 1, 17],
            "projection": [False, True],
            "time_major": [False, True],
            "cell": [-11, -9, -13],
            "clip": [0.0, 1.5],
            "open": OPEN,
            "steps": ["plain", "odd"],
        },
        _lstm,
        lambda config: config["open"] == "none",
    )
    yield subject(
        "UNIDIRECTIONAL_SEQUENCE_RNN",
        {
            "type": ["f32", "dynamic"],
            "rounding": ROUNDING,
            "shape": [[2, 5, 3], [1, 1, 7], [3, 40, 2]],
            "cells": [4, 1, 17],
            "time_major": [False, True],
        },
        _rnn,
    )
