"""Convolutions, poolings, normalizations, products, recurrence and resampling, against PyTorch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as fn
from coremltools.converters.mil import Builder as mb

from .cases import Config, Subject
from .coreml_base import Arrays, Body, array, given, of_torch, subject

PLACES = (7, 8, 6)


def _image(config: Config, rng: np.random.Generator) -> Arrays:
    return [
        array(
            rng,
            [2, 4, *PLACES[: config["rank"]]],
            config.get("dtype", "float32"),
            config.get("numbers", ""),
        )
    ]


def _weight(config: Config, *shape: int) -> np.ndarray:
    numbers = np.random.default_rng(7).normal(0, 0.5, shape)
    return numbers.astype(config.get("dtype", "float32"))


def _pairs(config: Config, extents: Any, kernel: int, steps: Any, dilation: int) -> list[int]:
    """Padding of begin and end of each dimension: TensorFlow's where it is named."""
    rank, kind = config["rank"], config["pad_type"]
    if kind == "custom":
        return list(config["pad"][: 2 * rank])
    if kind in (None, "valid"):
        return [0] * (2 * rank)
    found = []
    for extent, step in zip(extents, steps, strict=True):
        total = max((-(-extent // step) - 1) * step + (kernel - 1) * dilation + 1 - extent, 0)
        small, large = total // 2, total - total // 2
        found += [small, large] if kind == "same" else [large, small]
    return found


def _padded(x: Any, pairs: list[int], fill: float = 0.0) -> Any:
    wide = [v for i in reversed(range(len(pairs) // 2)) for v in pairs[2 * i : 2 * i + 2]]
    return fn.pad(x, wide, value=fill)


PAD = {
    "pad_type": ["valid", "custom", "same", "same_lower"],
    "pad": [[1, 0, 2, 1, 0, 1], [1, 1, 1, 1, 1, 1]],
}
STRIDES = {"strides": [None, [2, 2, 2], [1, 2, 3]]}


def _convolutions() -> Iterator[Subject]:
    def arguments(config: Config) -> dict[str, Any]:
        rank = config["rank"]
        how: dict[str, Any] = given(config, "pad_type", "groups")
        if config["pad_type"] == "custom":
            how["pad"] = config["pad"][: 2 * rank]
        if config["strides"]:
            how["strides"] = config["strides"][:rank]
        if config["dilation"]:
            how["dilations"] = [config["dilation"]] * rank
        return how

    def conv(config: Config) -> Body:
        rank, groups = config["rank"], config["groups"] or 1
        weight = _weight(config, 8, 4 // groups, *[config["kernel"]] * rank)
        bias = {"bias": _weight(config, 8)} if config["bias"] else {}
        return lambda x: mb.conv(x=x, weight=weight, **bias, **arguments(config))

    def convolved(config: Config) -> Any:
        rank, groups, k = config["rank"], config["groups"] or 1, config["kernel"]
        weight = torch.from_numpy(_weight(config, 8, 4 // groups, *[k] * rank).astype(np.float32))
        bias = torch.from_numpy(_weight(config, 8).astype(np.float32)) if config["bias"] else None
        steps, dilation = (config["strides"] or [1] * 3)[:rank], config["dilation"] or 1
        pairs = _pairs(config, PLACES[:rank], k, steps, dilation)
        apply = getattr(fn, f"conv{rank}d")
        return of_torch(
            lambda x: apply(_padded(x, pairs), weight, bias, steps, 0, dilation, groups)
        )

    choices = {"rank": [2, 1, 3], "kernel": [3, 1, 2], **STRIDES, **PAD, "dilation": [None, 2]}
    choices |= {"groups": [None, 2, 4], "bias": [True, False], "dtype": ["float32", "float16"]}
    yield subject("conv", choices, _image, conv, convolved)

    def turned(config: Config) -> Body:
        rank, groups = config["rank"], config["groups"] or 1
        weight = _weight(config, 4, 6 // groups, *[config["kernel"]] * rank)
        bias = {"bias": _weight(config, 6)} if config["bias"] else {}
        return lambda x: mb.conv_transpose(x=x, weight=weight, **bias, **arguments(config))

    def transposed(config: Config) -> Any:
        rank, groups, k = config["rank"], config["groups"] or 1, config["kernel"]
        weight = torch.from_numpy(_weight(config, 4, 6 // groups, *[k] * rank).astype(np.float32))
        bias = torch.from_numpy(_weight(config, 6).astype(np.float32)) if config["bias"] else None
        steps, dilation = (config["strides"] or [1] * 3)[:rank], config["dilation"] or 1
        apply = getattr(fn, f"conv_transpose{rank}d")
        cut = config["pad"][: 2 * rank] if config["pad_type"] == "custom" else [0] * (2 * rank)

        def computed(x: Any) -> Any:
            y = apply(x, weight, bias, steps, 0, 0, groups, dilation)
            return _padded(y, [-v for v in cut])

        return of_torch(computed)

    plain = {"pad_type": [None, "valid", "custom"], "groups": [None, 2]}
    yield subject("conv_transpose", choices | plain, _image, turned, transposed)


def _pools() -> Iterator[Subject]:
    def pool(config: Config) -> Body:
        rank, op = config["rank"], config["op"]
        how: dict[str, Any] = {
            "kernel_sizes": [config["kernel"]] * rank,
            "pad_type": config["pad_type"],
        }
        if config["pad_type"] == "custom":
            how["pad"] = config["pad"][: 2 * rank]
        if config["strides"]:
            how["strides"] = config["strides"][:rank]
        if config["ceil"] is not None:
            how["ceil_mode"] = config["ceil"]
        if op == "avg" and config["exclude"] is not None:
            how["exclude_padding_from_average"] = config["exclude"]
        return lambda x: getattr(mb, f"{op}_pool")(x=x, **how)

    def pooled(config: Config) -> Any:
        rank, op, k = config["rank"], config["op"], config["kernel"]
        steps = (config["strides"] or [1] * 3)[:rank]
        pairs = _pairs(config, PLACES[:rank], k, steps, 1)
        if config["ceil"]:  # the last window may begin inside of the input or its begin's padding
            for i, (extent, step) in enumerate(zip(PLACES, steps, strict=False)):
                total = extent + pairs[2 * i] + pairs[2 * i + 1]
                count = -(-(total - k) // step) + 1
                if (count - 1) * step >= extent + pairs[2 * i]:
                    count -= 1
                pairs[2 * i + 1] += max((count - 1) * step + k - total, 0)
        mean = getattr(fn, f"avg_pool{rank}d")

        def computed(x: Any) -> Any:
            if op == "max":
                return getattr(fn, f"max_pool{rank}d")(_padded(x, pairs, -torch.inf), k, steps)
            wide = _padded(x, pairs)
            if op == "l2":
                return (mean(wide * wide, k, steps) * k**rank).sqrt()
            found = mean(wide, k, steps)
            if config["exclude"]:
                found = found / mean(_padded(torch.ones_like(x), pairs), k, steps)
            return found

        return of_torch(computed)

    choices = {"op": ["avg", "max", "l2"], "rank": [2, 1, 3], "kernel": [3, 1, 2], **STRIDES, **PAD}
    choices |= {
        "ceil": [None, True, False],
        "exclude": [None, True, False],
        "dtype": ["float32", "float16"],
    }

    def fits(config: Config) -> bool:
        named = config["pad_type"] in ("same", "same_lower")
        wide = config["kernel"] == 1 and config["pad_type"] == "custom"
        # With extents rounded up, how many elements a mean has is for the run to tell.
        mean = config["op"] == "avg" and config["ceil"] and not config["exclude"]
        return not (named and config["ceil"]) and not wide and not mean

    yield subject("pool", choices, _image, pool, pooled, fits)


def _norms() -> Iterator[Subject]:
    draw = np.random.default_rng(5)
    numbers = [draw.normal(0, 1, 4).astype(np.float32) for _ in range(3)]
    positive = np.abs(draw.normal(0, 1, 4)).astype(np.float32) + 0.5

    def parameters(config: Config) -> dict[str, Any]:
        kind = np.dtype(config["dtype"])
        how: dict[str, Any] = {}
        if config["affine"] in ("both", "scale"):
            how["gamma"] = numbers[0].astype(kind)
        if config["affine"] in ("both", "bias"):
            how["beta"] = numbers[1].astype(kind)
        if config["epsilon"] is not None:
            how["epsilon"] = kind.type(config["epsilon"])
        return how

    def norm(config: Config) -> Body:
        how, kind = parameters(config), np.dtype(config["dtype"])
        if config["op"] == "batch_norm":
            how |= {"mean": numbers[2].astype(kind), "variance": positive.astype(kind)}
        return lambda x: getattr(mb, config["op"])(x=x, **how)

    def normed(config: Config) -> Any:
        how = parameters(config)
        scale, bias = (
            torch.from_numpy(how[k].astype(np.float32)) if k in how else None
            for k in ("gamma", "beta")
        )
        epsilon = float(how.get("epsilon", 1e-5))
        if config["op"] == "batch_norm":
            mean, var = torch.from_numpy(numbers[2]), torch.from_numpy(positive)
            return of_torch(lambda x: fn.batch_norm(x, mean, var, scale, bias, False, 0.0, epsilon))
        return of_torch(lambda x: fn.instance_norm(x, None, None, scale, bias, True, 0.0, epsilon))

    choices = {
        "op": ["batch_norm", "instance_norm"],
        "rank": [2, 1, 3],
        "affine": ["both", None, "scale", "bias"],
    }
    choices |= {"epsilon": [None, 0.1], "dtype": ["float32", "float16"]}
    yield subject("norm", choices, _image, norm, normed)

    def shape(config: Config) -> list[int]:
        own = [2, 4, 7, 8]
        return [own[axis] for axis in sorted(a % 4 for a in config["axes"] or range(4))]

    def layer(config: Config) -> Body:
        how = given(config, "axes")
        if config["epsilon"] is not None:
            how["epsilon"] = np.float32(config["epsilon"])
        if config["affine"] in ("both", "scale"):
            how["gamma"] = _weight({}, *shape(config))
        if config["affine"] in ("both", "bias"):
            how["beta"] = _weight({}, *shape(config)) * np.float32(2)
        return lambda x: mb.layer_norm(x=x, **how)

    def layered(config: Config) -> Any:
        axes = sorted(a % 4 for a in config["axes"] or range(4))
        wide = [[2, 4, 7, 8][i] if i in axes else 1 for i in range(4)]
        weight = torch.from_numpy(_weight({}, *shape(config)).reshape(wide))

        def computed(x: Any) -> Any:
            var, mean = torch.var_mean(x, axes, correction=0, keepdim=True)
            y = (x - mean) / (
                var + (1e-5 if config["epsilon"] is None else config["epsilon"])
            ).sqrt()
            y = y * weight if config["affine"] in ("both", "scale") else y
            return y + weight * 2 if config["affine"] in ("both", "bias") else y

        return of_torch(computed)

    choices = {
        "axes": [None, [-1], [2, 3], [1], [1, 3], [-2, -1]],
        "affine": ["both", None, "scale", "bias"],
    }
    choices |= {"epsilon": [None, 0.1], "rank": [2]}
    yield subject("layer_norm", choices, _image, layer, layered)

    def local(config: Config) -> Body:
        how = {
            key: np.float32(config[key])
            for key in ("alpha", "beta", "k")
            if config[key] is not None
        }
        return lambda x: mb.local_response_norm(x=x, size=config["size"], **how)

    def responded(config: Config) -> Any:
        alpha, beta, k = (
            d if config[key] is None else config[key]
            for key, d in (("alpha", 1e-4), ("beta", 0.75), ("k", 1.0))
        )
        return of_torch(lambda x: fn.local_response_norm(x, config["size"], alpha, beta, k))

    choices = {
        "size": [3, 1, 5],
        "alpha": [None, 0.5],
        "beta": [None, 0.6],
        "k": [None, 2.0],
        "rank": [2, 1],
    }
    yield subject("local_response_norm", choices, _image, local, responded)

    def length(config: Config) -> Body:
        how = {} if config["epsilon"] is None else {"epsilon": np.float32(config["epsilon"])}
        return lambda x: mb.l2_norm(x=x, **how)

    def lengths(config: Config) -> Any:
        epsilon = 1e-6 if config["epsilon"] is None else config["epsilon"]
        axes = [-3, -2, -1]
        return of_torch(lambda x: x / ((x * x).sum(axes, keepdim=True) + epsilon).sqrt())

    yield subject("l2_norm", {"epsilon": [None, 0.5], "rank": [2, 1, 3]}, _image, length, lengths)


def _products() -> Iterator[Subject]:
    def inputs(config: Config, rng: np.random.Generator) -> Arrays:
        first, second = ([*s] for s in config["shapes"])
        if config["transpose_x"] and len(first) > 1:
            first[-1], first[-2] = first[-2], first[-1]
        if config["transpose_y"] and len(second) > 1:
            second[-1], second[-2] = second[-2], second[-1]
        return [array(rng, s, config["dtype"]) for s in (first, second)]

    def matmul(config: Config) -> Body:
        how = {key: True for key in ("transpose_x", "transpose_y") if config[key]}
        return lambda x, y: mb.matmul(x=x, y=y, **how)

    def product(config: Config) -> Any:
        def computed(x: np.ndarray, y: np.ndarray) -> np.ndarray:
            x = x.swapaxes(-1, -2) if config["transpose_x"] and x.ndim > 1 else x
            y = y.swapaxes(-1, -2) if config["transpose_y"] and y.ndim > 1 else y
            return np.matmul(x, y)

        return computed

    shapes = [
        [[3, 4], [4, 5]],
        [[2, 3, 4], [2, 4, 5]],
        [[2, 1, 3, 4], [6, 4, 5]],
        [[4], [4, 5]],
        [[3, 4], [4]],
        [[4], [4]],
    ]
    choices = {"shapes": shapes, "transpose_x": [False, True], "transpose_y": [False, True]}
    yield subject(
        "matmul", choices | {"dtype": ["float32", "float16", "int32"]}, inputs, matmul, product
    )

    def linear(config: Config) -> Body:
        bias = {"bias": _weight({}, 5)} if config["bias"] else {}
        return lambda x: mb.linear(x=x, weight=_weight({}, 5, 4), **bias)

    def lined(config: Config) -> Any:
        bias = torch.from_numpy(_weight({}, 5)) if config["bias"] else None
        return of_torch(lambda x: fn.linear(x, torch.from_numpy(_weight({}, 5, 4)), bias))

    one = lambda c, rng: [array(rng, c["shape"])]  # noqa: E731
    yield subject(
        "linear", {"shape": [[3, 4], [2, 3, 4], [4]], "bias": [True, False]}, one, linear, lined
    )

    def attention(config: Config) -> Body:
        def made(q: Any, k: Any, v: Any, *mask: Any) -> Any:
            more = {"attn_mask": mask[0]} if mask else {}
            if mask and config["mask"] == "bool":
                more["attn_mask"] = mb.greater(x=mask[0], y=np.float32(-1))
            return mb.scaled_dot_product_attention(query=q, key=k, value=v, **more)

        return made

    def attended(config: Config) -> Any:
        def computed(q: Any, k: Any, v: Any, *mask: Any) -> Any:
            chosen = mask[0] if mask else None
            chosen = chosen > -1 if mask and config["mask"] == "bool" else chosen
            return fn.scaled_dot_product_attention(q, k, v, chosen)

        return of_torch(computed)

    def heads(config: Config, rng: np.random.Generator) -> Arrays:
        lead = config["lead"]
        found = [array(rng, [*lead, n, w]) for n, w in ((5, 8), (6, 8), (6, config["width"]))]
        return [*found, array(rng, [5, 6])] if config["mask"] else found

    choices = {"mask": [None, "float", "bool"], "lead": [[2], [2, 3], [1, 2, 2]], "width": [8, 3]}
    made = subject("scaled_dot_product_attention", choices, heads, attention, attended)
    yield Subject(made.name, {**made.choices, "target": ["iOS18"]}, made.make)


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
"""By paddings around: PyTorch has the one where corners are aligned, the other where not."""


def _line(mode: str, size: int, out: int) -> np.ndarray:
    """Where elements of the result lie in the input, as coremltools' documentation has it."""
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
    """All subjects."""
    for made in (_convolutions, _pools, _norms, _products, _recurrences, _resampling):
        yield from made()
