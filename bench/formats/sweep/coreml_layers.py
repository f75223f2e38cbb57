"""Convolutions, poolings, normalizations and products, against PyTorch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as fn

from .cases import Config, Subject
from .coreml_base import Arrays, Body, array, given, mb, of_torch, subject

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
    """The padding before and after each dimension; with a named padding, computed as TensorFlow
    does.
    """
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


def _layer_norms() -> Iterator[Subject]:
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


def _other_norms() -> Iterator[Subject]:
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


def subjects() -> Iterator[Subject]:
    """Yield the subjects of this file."""
    for made in (_convolutions, _pools, _norms, _layer_norms, _other_norms, _products):
        yield from made()
