"""Recurrence and resampling, against PyTorch and the formulas of coremltools' documentation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as fn

from .cases import Config, Subject
from .coreml_base import Arrays, Body, array, given, mb, of_torch, subject


def _image(config: Config, rng: np.random.Generator) -> Arrays:
    return [array(rng, [2, 4, 7, 8])]


def _recurrences() -> Iterator[Subject]:
    gates = {"lstm": 4, "gru": 3, "rnn": 1}
    functions: dict[str, Any] = {"sigmoid": torch.sigmoid, "tanh": torch.tanh, "relu": torch.relu}

    def sequences(config: Config, rng: np.random.Generator) -> Arrays:
        count = 2 if config["direction"] == "bidirectional" else 1
        states = [array(rng, [2, 3 * count]) for _ in range(2 if config["op"] == "lstm" else 1)]
        return [array(rng, [5, 2, 4]), *states]

    def weights(config: Config, side: int) -> tuple[np.ndarray, ...]:
        draw, g = np.random.default_rng(side), gates[config["op"]] * 3
        ih, hh, bias, peep = (
            draw.normal(0, 0.5, s).astype(np.float32) for s in ((g, 4), (g, 3), (g,), (9,))
        )
        return (
            ih,
            hh,
            bias if config["bias"] else bias * 0,
            peep if config["peephole"] else peep * 0,
        )

    def body(config: Config) -> Body:
        op, sides = config["op"], 2 if config["direction"] == "bidirectional" else 1
        how: dict[str, Any] = given(config, "direction", "output_sequence", "activation")
        if op != "rnn":
            how |= given(config, "recurrent_activation")
        for i in range(sides):
            end = "_back" if i else ""
            ih, hh, bias, peep = weights(config, i)
            how |= {f"weight_ih{end}": ih, f"weight_hh{end}": hh}
            if config["bias"]:
                how[f"bias{end}"] = bias
            if config["peephole"] and op == "lstm":
                how[f"peephole{end}"] = peep
        if op == "lstm" and config["clip"]:
            how["clip"] = np.float32(config["clip"])
        if op == "lstm":
            return lambda x, h, c: mb.lstm(x=x, initial_h=h, initial_c=c, **how)
        return lambda x, h: getattr(mb, op)(x=x, initial_h=h, **how)

    def step(config: Config, x: Any, state: tuple[Any, ...], side: int) -> tuple[Any, ...]:
        ih, hh, b, peep = (torch.from_numpy(w) for w in weights(config, side))
        gate = functions[config["recurrent_activation"] or "sigmoid"]
        last = functions[config["activation"] or "tanh"]
        if config["op"] == "rnn":
            return (last(x @ ih.T + state[0] @ hh.T + b),)
        if config["op"] == "gru":
            (h,) = state
            r1, n1, z1 = (x @ ih.T + b).split(3, 1)
            wr, wn, wz = hh.split(3, 0)
            r, z = gate(r1 + h @ wr.T), gate(z1 + h @ wz.T)
            return ((1 - z) * last(n1 + (r * h) @ wn.T) + z * h,)
        h, c = state
        i, f, o, z = (x @ ih.T + h @ hh.T + b).split(3, 1)
        pi, pf, po = peep.split(3)
        i, f, z = gate(i + pi * c), gate(f + pf * c), torch.tanh(z)
        c = f * c + i * z
        c = c.clamp(-config["clip"], config["clip"]) if config["clip"] else c
        return gate(o + po * c) * last(c), c

    def reference(config: Config) -> Any:
        def computed(x: Any, *states: Any) -> Any:
            direction = config["direction"] or "forward"
            found, ends = [], []
            for side in range(2 if direction == "bidirectional" else 1):
                state = tuple(s[:, 3 * side : 3 * side + 3] for s in states)
                order = list(range(5))
                order = order[::-1] if direction == "reverse" or side else order
                outputs: list[Any] = [None] * 5
                for t in order:
                    state = step(config, x[t], state, side)
                    outputs[t] = state[0]
                found.append(torch.stack(outputs) if config["output_sequence"] else state[0][None])
                ends.append(state)
            return [torch.cat(found, 2), *(torch.cat(s, 1) for s in zip(*ends, strict=True))]

        return of_torch(computed)

    choices = {
        "op": ["lstm", "gru", "rnn"],
        "direction": [None, "forward", "reverse", "bidirectional"],
    }
    choices |= {"output_sequence": [None, True], "bias": [True, False], "peephole": [False, True]}
    choices |= {
        "activation": [None, "relu", "sigmoid"],
        "recurrent_activation": [None, "tanh"],
        "clip": [None, 0.3],
    }
    fits = lambda c: c["op"] == "lstm" or c["direction"] != "bidirectional"  # noqa: E731
    yield subject("recurrent", choices, sequences, body, reference, fits)


_MIRRORS = {"reflection": True, "symmetric": False}
"""For each mirroring padding mode: the `align_corners` with which PyTorch's
reflection equals it.
"""


def _line(mode: str, size: int, out: int) -> np.ndarray:
    """The input coordinates of the result's elements, as coremltools'
    documentation defines them.
    """
    i = np.arange(out)
    if mode in ("STRICT_ALIGN_CORNERS", "ALIGN_CORNERS"):
        centre = (size - 1) / 2 if mode == "ALIGN_CORNERS" else 0.0
        at = i * ((size - 1) / (out - 1)) if out > 1 else np.array([centre])
    elif mode == "UNALIGN_CORNERS":
        at = (i + 0.5) * size / out - 0.5
    elif mode == "OFFSET_CORNERS":
        at = (i + 0.5) * max(1, size - 1) / out
    else:
        at = i * size / out
    return np.clip(at, 0, size - 1)


def _linear(x: np.ndarray, mode: str, sizes: tuple[int, int]) -> np.ndarray:
    for axis, out in zip((-2, -1), sizes, strict=True):
        at = _line(mode, x.shape[axis], out)
        low = np.floor(at).astype(int)
        high = np.minimum(low + 1, x.shape[axis] - 1)
        part = (at - low).astype(np.float32).reshape([-1, 1] if axis == -2 else [-1])
        x = np.take(x, low, axis) * (1 - part) + np.take(x, high, axis) * part
    return x


def _resampling() -> Iterator[Subject]:
    def resize(config: Config) -> Body:
        height, width = config["size"]
        if config["op"] == "resize":
            how = {} if config["mode"] is None else {"sampling_mode": config["mode"]}
            shape = np.array([height, width], np.int32)
            return lambda x: mb.resize(
                x=x, shape=shape, resized_dims=np.uint32(2), interpolation_mode="LINEAR", **how
            )
        how = {"target_size_height": height, "target_size_width": width}
        if config["mode"] is not None:
            how["sampling_mode"] = config["mode"]
        return lambda x: mb.resize_bilinear(x=x, **how)

    modes = [
        None,
        "STRICT_ALIGN_CORNERS",
        "ALIGN_CORNERS",
        "DEFAULT",
        "OFFSET_CORNERS",
        "UNALIGN_CORNERS",
    ]
    choices = {
        "op": ["resize_bilinear", "resize"],
        "mode": modes,
        "size": [[14, 4], [1, 1], [7, 8], [10, 13], [3, 1]],
        "rank": [2],
    }
    new = lambda c: c["op"] != "resize" or c["target"] != "iOS15"  # noqa: E731
    yield subject(
        "resize",
        choices,
        _image,
        resize,
        lambda c: lambda x: _linear(x, c["mode"] or "DEFAULT", tuple(c["size"])),
        new,
    )

    def upsample(config: Config) -> Body:
        height, width = config["scale"]
        how: dict[str, Any] = {"scale_factor_height": height, "scale_factor_width": width}
        if config["op"] == "upsample_bilinear":
            how |= given(config, "align_corners")
            if config["target"] != "iOS15":
                how |= given(config, "half_pixel_centers")
        return lambda x: getattr(mb, config["op"])(x=x, **how)

    def upsampled(config: Config) -> Any:
        def computed(x: np.ndarray) -> np.ndarray:
            sizes = tuple(int(s * f) for s, f in zip(x.shape[-2:], config["scale"], strict=True))
            if config["op"] == "upsample_nearest_neighbor":
                at = [np.arange(o) * s // o for s, o in zip(x.shape[-2:], sizes, strict=True)]
                return np.take(np.take(x, at[0], -2), at[1], -1)
            corners = config["align_corners"] is not False
            half = not corners
            if config["target"] != "iOS15" and config["half_pixel_centers"] is not None:
                half = config["half_pixel_centers"]
            return _linear(
                x, "ALIGN_CORNERS" if corners else "UNALIGN_CORNERS" if half else "DEFAULT", sizes
            )

        return computed

    choices = {
        "op": ["upsample_bilinear", "upsample_nearest_neighbor"],
        "scale": [[2, 2], [3, 1], [2, 3]],
    }
    choices |= {
        "align_corners": [None, True, False],
        "half_pixel_centers": [None, True, False],
        "rank": [2],
    }
    both = lambda c: not (c["half_pixel_centers"] and c["align_corners"] is not False)  # noqa: E731
    yield subject("upsample", choices, _image, upsample, upsampled, both)

    def sample(config: Config) -> Body:
        how = given(config, "sampling_mode", "padding_mode", "coordinates_mode", "align_corners")
        return lambda x, g: mb.resample(
            x=x, coordinates=g, padding_value=np.float32(config["value"]), **how
        )

    def sampled(config: Config) -> Any:
        names = {"constant": "zeros", "border": "border"} | dict.fromkeys(_MIRRORS, "reflection")

        def computed(x: Any, g: Any) -> Any:
            if config["coordinates_mode"] == "normalized_zero_to_one":
                g = g * 2 - 1
            fill = config["value"] if config["padding_mode"] == "constant" else 0.0
            found = fn.grid_sample(
                x - fill,
                g,
                config["sampling_mode"],
                names[config["padding_mode"]],
                config["align_corners"],
            )
            return found + fill

        return of_torch(computed)

    def grids(config: Config, rng: np.random.Generator) -> Arrays:
        low = 0 if config["coordinates_mode"] == "normalized_zero_to_one" else -1
        return [
            array(rng, [2, 4, 7, 8]),
            rng.uniform(low - 0.3, 1.3, [2, 3, 5, 2]).astype(np.float32),
        ]

    choices = {
        "sampling_mode": ["bilinear", "nearest"],
        "padding_mode": ["constant", "border", *_MIRRORS],
    }
    choices |= {"coordinates_mode": ["normalized_minus_one_to_one", "normalized_zero_to_one"]}
    choices |= {"align_corners": [True, False], "value": [0.0, 2.0]}
    mirrored = lambda c: _MIRRORS.get(c["padding_mode"], c["align_corners"]) is c["align_corners"]  # noqa: E731
    yield subject("resample", choices, grids, sample, sampled, mirrored)


def subjects() -> Iterator[Subject]:
    """Yield the subjects of this file."""
    yield from _recurrences()
    yield from _resampling()
