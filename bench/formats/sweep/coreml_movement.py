"""Operations that rearrange, select and create elements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .cases import Config, Subject
from .coreml_base import Arrays, Body, array, given, mb, of_torch, subject

DTYPES = {"dtype": ["float32", "int32", "float16"]}

ONE: dict[str, Body] = {
    "reshape": lambda x: mb.reshape(x=x, shape=[4, -1]),
    "reshape 0": lambda x: mb.reshape(x=x, shape=[2, 2, 6]),
    "expand_dims": lambda x: mb.expand_dims(x=x, axes=[0]),
    "expand_dims -1": lambda x: mb.expand_dims(x=x, axes=[-1, 1]),
    "squeeze": lambda x: mb.squeeze(x=mb.expand_dims(x=x, axes=[1, 3])),
    "squeeze -2": lambda x: mb.squeeze(x=mb.expand_dims(x=x, axes=[1, 3]), axes=[-2]),
    "transpose": lambda x: mb.transpose(x=x, perm=[2, 0, 1]),
    "transpose -": lambda x: mb.transpose(x=x, perm=[-1, 0, -2]),
    "reverse": lambda x: mb.reverse(x=x),
    "reverse 1": lambda x: mb.reverse(x=x, axes=[1]),
    "reverse -": lambda x: mb.reverse(x=x, axes=[-1, 0]),
    "tile": lambda x: mb.tile(x=x, reps=[2, 1, 3]),
    "flatten2d": lambda x: mb.flatten2d(x=x),
    "flatten2d 0": lambda x: mb.flatten2d(x=x, axis=0),
    "flatten2d 2": lambda x: mb.flatten2d(x=x, axis=2),
    "flatten2d -1": lambda x: mb.flatten2d(x=x, axis=-1),
    "flatten2d -3": lambda x: mb.flatten2d(x=x, axis=-3),
    "shape": lambda x: mb.shape(x=x),
    "concat": lambda x: mb.concat(values=[x, mb.reverse(x=x)], axis=-1),
    "concat 0": lambda x: mb.concat(values=[x, x, x], axis=0),
    "stack": lambda x: mb.stack(values=[x, mb.reverse(x=x)], axis=1),
    "stack -1": lambda x: mb.stack(values=[x, mb.reverse(x=x)], axis=-1),
    "split": lambda x: mb.split(x=x, num_splits=2, axis=-1),
    "split sizes": lambda x: mb.split(x=x, split_sizes=[1, 2], axis=1),
    "split -2": lambda x: mb.split(x=x, num_splits=3, axis=-2),
    "band_part": lambda x: mb.band_part(x=x, lower=1, upper=0),
    "band_part -1": lambda x: mb.band_part(x=x, lower=-1, upper=1),
    "band_part 0 -1": lambda x: mb.band_part(x=x, lower=0),
    "band_part all": lambda x: mb.band_part(x=x),
    "non_zero": lambda x: mb.non_zero(x=x),
    "slice_by_size": lambda x: mb.slice_by_size(x=x, begin=[0, 1, 2], size=[2, -1, 2]),
    "fill_like": lambda x: mb.add(x=x, y=mb.reduce_max(x=x)),
    "identity": lambda x: mb.identity(x=x),
    "gather": lambda x: mb.gather(x=x, indices=np.array([2, 0], np.int32), axis=1),
    "gather default": lambda x: mb.gather(x=x, indices=np.array([1, 0, 1], np.int32)),
    "gather scalar": lambda x: mb.gather(x=x, indices=np.int32(1), axis=-1),
    "gather -": lambda x: mb.gather(x=x, indices=np.array([-1, 0], np.int32), axis=1),
    "gather matrix": lambda x: mb.gather(
        x=x, indices=np.array([[1, 0], [2, 2]], np.int32), axis=-2
    ),
}


def _input(config: Config, rng: np.random.Generator) -> Arrays:
    return [array(rng, config.get("shape", [2, 3, 4]), config["dtype"], "ties")]


def _moved() -> Iterator[Subject]:
    yield subject("movement", {"op": list(ONE), **DTYPES}, _input, lambda c: ONE[c["op"]])


def _padded() -> Iterator[Subject]:
    def body(config: Config) -> Body:
        how = given(config, "mode")
        if config["value"] is not None:
            how["constant_val"] = np.dtype(config["dtype"]).type(config["value"])
        return lambda x: mb.pad(x=x, pad=config["pad"], **how)

    def reference(config: Config) -> Any:
        mode = {None: "constant", "replicate": "edge"}.get(config["mode"], config["mode"])

        def computed(x: np.ndarray) -> np.ndarray:
            pairs = np.reshape(config["pad"], (-1, 2))
            pairs = [(0, 0)] * (x.ndim - len(pairs)) + [tuple(p) for p in pairs.tolist()]
            how = {"constant_values": config["value"] or 0} if mode == "constant" else {}
            return np.pad(x, pairs, mode, **how)

        return computed

    pads = [[1, 2], [0, 1, 2, 0], [0, 0, 1, 1, 2, 2], [3, 3]]
    choices = {
        "pad": pads,
        "mode": [None, "constant", "reflect", "replicate"],
        "value": [None, 2, -1],
    }
    choices |= {"dtype": ["float32", "float16"], "shape": [[2, 4, 5], [4, 5], [2, 3, 4, 5]]}
    fits = lambda c: len(c["pad"]) <= 2 * len(c["shape"])  # noqa: E731
    yield subject("pad", choices, _input, body, reference, fits)


SLICES: list[tuple[str, dict[str, Any]]] = [
    ("plain", {"begin": [0, 1, 1], "end": [2, 3, 3]}),
    ("negative", {"begin": [0, -2, -3], "end": [1, -1, -1]}),
    ("stride", {"begin": [0, 0, 0], "end": [2, 3, 4], "stride": [1, 2, 3]}),
    ("back", {"begin": [1, 2, 3], "end": [0, 0, 1], "stride": [-1, -1, -2]}),
    ("begin_mask", {"begin": [1, 1, 1], "end": [2, 3, 3], "begin_mask": [True, False, True]}),
    ("end_mask", {"begin": [1, 1, 1], "end": [1, 1, 1], "end_mask": [True, True, True]}),
    (
        "both masks",
        {"begin": [1, 1, 1], "end": [1, 1, 1], "begin_mask": [True] * 3, "end_mask": [True] * 3},
    ),
    ("squeeze", {"begin": [1, 1, 0], "end": [2, 2, 4], "squeeze_mask": [True, True, False]}),
    ("squeeze -", {"begin": [0, -1, 0], "end": [2, 0, 4], "squeeze_mask": [False, True, False]}),
    (
        "back masks",
        {
            "begin": [0, 0, 0],
            "end": [0, 0, 0],
            "stride": [-1, -2, -1],
            "begin_mask": [True] * 3,
            "end_mask": [True] * 3,
        },
    ),
    ("far", {"begin": [0, 0, -9], "end": [9, 100, 9]}),
    ("squeeze all", {"begin": [1, 2, 3], "end": [2, 3, 4], "squeeze_mask": [True] * 3}),
]


def _sliced() -> Iterator[Subject]:
    table = dict(SLICES)
    body = lambda c: lambda x: mb.slice_by_index(x=x, **table[c["slice"]])  # noqa: E731
    yield subject("slice_by_index", {"slice": list(table), **DTYPES}, _input, body)

    def update(config: Config) -> Body:
        return lambda x, u: mb.slice_update(x=x, update=u, **table[config["slice"]])

    def indices(one: dict[str, Any]) -> tuple[Any, ...]:
        found = []
        for i in range(3):
            if one.get("squeeze_mask", [False] * 3)[i]:
                found.append(one["begin"][i])
                continue
            begin = None if one.get("begin_mask", [False] * 3)[i] else one["begin"][i]
            end = None if one.get("end_mask", [False] * 3)[i] else one["end"][i]
            found.append(slice(begin, end, one.get("stride", [1] * 3)[i]))
        return tuple(found)

    def updated(config: Config) -> Any:
        def computed(x: np.ndarray, u: np.ndarray) -> np.ndarray:
            y = x.copy()
            y[indices(table[config["slice"]])] = u
            return y

        return computed

    def inputs(config: Config, rng: np.random.Generator) -> Arrays:
        x = array(rng, [2, 3, 4], config["dtype"])
        return [x, array(rng, x[indices(table[config["slice"]])].shape, config["dtype"])]

    new = lambda c: c["target"] == "iOS18" and c["slice"] not in ("far", "squeeze all")  # noqa: E731
    choices = {"slice": list(table), **DTYPES}
    yield _since_18(subject("slice_update", choices, inputs, update, updated, lambda c: new({**c})))


def _since_18(made: Subject) -> Subject:
    """The subject for the newest version only."""
    choices = {**made.choices, "target": ["iOS18"]}
    return Subject(made.name, choices, made.make, made.allowed)


def _by_index() -> Iterator[Subject]:
    places = {"gather": [4], "gather_along_axis": None, "gather_nd": [3, 2]}

    def inputs(config: Config, rng: np.random.Generator) -> Arrays:
        x = array(rng, [3, 3, 3], config["dtype"])
        shape = {"gather": [4], "matrix": [2, 2]}.get(config["op"], [3, 3, 3])
        least = -3 if config["negative"] else 0
        if config["op"] == "gather_nd":
            shape = [3, 2]
        return [x, rng.integers(least, 3, shape).astype(np.int32)]

    def body(config: Config) -> Body:
        op = "gather" if config["op"] == "matrix" else config["op"]
        how = (
            given(config, "batch_dims")
            if op != "gather_along_axis" and config["target"] != "iOS15"
            else {}
        )
        if op != "gather_nd":
            how |= given(config, "axis")
        if config["validate"] and config["target"] in ("iOS17", "iOS18"):
            how["validate_indices"] = False
        return lambda x, i: getattr(mb, op)(x=x, indices=i, **how)

    def reference(config: Config) -> Any:
        axis = 0 if config["axis"] is None else config["axis"]
        batch = 0 if config["target"] == "iOS15" else config["batch_dims"] or 0

        def computed(x: np.ndarray, i: np.ndarray) -> np.ndarray:
            if config["op"] == "gather_along_axis":
                return np.take_along_axis(x, i, axis)
            if config["op"] == "gather_nd":
                if batch:
                    return np.stack([x[(b, *i[b])] for b in range(3)])
                return x[tuple(np.moveaxis(i, -1, 0))]
            if batch:
                return np.stack([np.take(x[b], i[b], (axis % 3) - 1) for b in range(len(i))])
            return np.take(x, i, axis)

        return computed

    choices = {"op": [*places, "matrix"], "axis": [None, 0, 1, -1], "negative": [False, True]}
    choices |= {"batch_dims": [None, 0, 1], "validate": [False, True], **DTYPES}
    fits = lambda c: not c["batch_dims"] or c["op"] == "gather_nd"  # noqa: E731
    yield subject("gather", choices, inputs, body, reference, fits)

    modes = {
        "update": None,
        "add": np.add,
        "sub": np.subtract,
        "mul": np.multiply,
        "div": np.divide,
        "max": np.maximum,
        "min": np.minimum,
    }

    def scattered(config: Config, rng: np.random.Generator) -> Arrays:
        x = array(rng, [3, 4, 3], config["dtype"])
        least = -3 if config["negative"] else 0
        axis = (config["axis"] or 0) % 3
        if config["op"] == "scatter":
            where = rng.permutation(3)[:2] + (least if config["negative"] else 0)
            shape = [*x.shape[:axis], 2, *x.shape[axis + 1 :]]
        elif config["op"] == "scatter_nd":
            where = np.array([[0, 1], [2, 0], [1, 3]]) + (
                np.array([-3, -4]) if config["negative"] else 0
            )
            shape = [3, 3]
        else:
            shape = list(x.shape)
            shape[axis] = 2
            where = np.argsort(rng.random(x.shape), axis)
            where = np.take(where, [0, 1], axis) + (-x.shape[axis] if config["negative"] else 0)
        u = array(rng, shape, config["dtype"])
        u = np.where(u == 0, 1, u).astype(u.dtype)
        return [x, where.astype(np.int32), u]

    def write(config: Config) -> Body:
        how = (
            given(config, "mode") if config["op"] == "scatter_nd" else given(config, "mode", "axis")
        )
        if config["op"] != "scatter_nd" and config["mode"] is None:
            how["mode"] = "add"
        return lambda x, i, u: getattr(mb, config["op"])(data=x, indices=i, updates=u, **how)

    def written(config: Config) -> Any:
        axis = (config["axis"] or 0) % 3
        how = modes[config["mode"] or "add"]

        def computed(x: np.ndarray, i: np.ndarray, u: np.ndarray) -> np.ndarray:
            y = x.copy()
            if config["op"] == "scatter":
                at: Any = (*[slice(None)] * axis, i % x.shape[axis])
            elif config["op"] == "scatter_nd":
                at = tuple(np.moveaxis(i % np.array([3, 4]), -1, 0))
            else:
                grid = list(np.indices(i.shape))
                grid[axis] = i % x.shape[axis]
                at = tuple(grid)
            y[at] = u if how is None else how(x[at], u)
            return y

        return computed

    choices = {
        "op": ["scatter", "scatter_nd", "scatter_along_axis"],
        "mode": [None, *modes],
        "axis": [None, 0, 1, -1],
    }
    choices |= {"negative": [False, True], "dtype": ["float32", "float16"]}
    yield subject("scatter", choices, scattered, write, written)


def _made() -> Iterator[Subject]:
    def indices(config: Config, rng: np.random.Generator) -> Arrays:
        return [rng.integers(-1 if config["odd"] else 0, 5, [2, 3]).astype(np.int32)]

    def one_hot(config: Config) -> Body:
        how = given(config, "axis")
        if config["values"]:
            on, off = config["values"]
            how |= {"on_value": np.float32(on), "off_value": np.float32(off)}
        return lambda i: mb.one_hot(indices=i, one_hot_vector_size=5, **how)

    def hot(config: Config) -> Any:
        on, off = config["values"] or [1, 0]

        def computed(i: np.ndarray) -> np.ndarray:
            found = np.where(i[..., None] == np.arange(5), on, off)
            return np.moveaxis(found, -1, -1 if config["axis"] is None else config["axis"])

        return computed

    choices = {"axis": [None, 0, 1, -1, -2], "values": [None, [2.5, -1.0]], "odd": [False, True]}
    yield subject("one_hot", choices, indices, one_hot, hot, lambda c: not c["odd"])

    def ranged(config: Config) -> Body:
        kind = np.float32 if config["kind"] == "float" else np.int32
        b, e, s = (kind(v) for v in config["range"])
        return lambda x: mb.add(
            x=mb.reduce_max(x=x), y=mb.cast(x=mb.range_1d(start=b, end=e, step=s), dtype="fp32")
        )

    def counted(config: Config) -> Any:
        return lambda x: x.max() + np.arange(*config["range"]).astype(np.float32)

    choices = {
        "range": [[0, 5, 1], [5, 0, -2], [1, 8, 3], [-4, 3, 2]],
        "kind": ["int", "float"],
        "dtype": ["float32"],
    }
    yield subject("range_1d", choices, _input, ranged, counted)

    def windows(config: Config) -> Body:
        return lambda x: mb.sliding_windows(x=x, **given(config, "axis", "size", "stride"))

    def cut(config: Config) -> Any:
        def computed(x: np.ndarray) -> np.ndarray:
            axis = config["axis"] % x.ndim
            found = np.lib.stride_tricks.sliding_window_view(x, config["size"], axis)
            found = np.moveaxis(found, -1, axis + 1)
            return np.take(found, range(0, found.shape[axis], config["stride"] or 1), axis)

        return computed

    choices = {
        "axis": [1, 0, -1],
        "size": [2, 1, 3],
        "stride": [None, 1, 2],
        **DTYPES,
        "shape": [[3, 4, 5]],
    }
    yield subject("sliding_windows", choices, _input, windows, cut)

    def turned(config: Config) -> Body:
        how = given(config, "seq_axis", "batch_axis")
        return lambda x, n: mb.reverse_sequence(x=x, lengths=n, **how)

    def lines(config: Config, rng: np.random.Generator) -> Arrays:
        return [array(rng, [3, 3, 3], config["dtype"]), rng.integers(1, 4, 3).astype(np.int32)]

    def back(config: Config) -> Any:
        def computed(x: np.ndarray, n: np.ndarray) -> np.ndarray:
            seq, batch = config["seq_axis"] or 0, config["batch_axis"] or 0
            y = np.moveaxis(x, [batch % 3, seq % 3], [0, 1]).copy()
            for row, count in zip(y, n, strict=True):
                row[:count] = row[:count][::-1].copy()
            return np.moveaxis(y, [0, 1], [batch % 3, seq % 3])

        return computed

    choices = {"seq_axis": [1, 2, None, -1], "batch_axis": [None, 0, 1], **DTYPES}
    apart = lambda c: (c["seq_axis"] or 0) % 3 != (c["batch_axis"] or 0) % 3  # noqa: E731
    yield subject("reverse_sequence", choices, lines, turned, back, apart)


def _blocks() -> Iterator[Subject]:
    import torch
    import torch.nn.functional as fn

    def body(config: Config) -> Body:
        s, op = config["block"], config["op"]
        if op in ("depth_to_space", "space_to_depth"):
            return lambda x: getattr(mb, op)(x=x, block_size=s)
        name = "upscale_factor" if op == "pixel_shuffle" else "downscale_factor"
        return lambda x: getattr(mb, op)(
            x=x, **{name: np.uint32(s) if op == "pixel_unshuffle" else s}
        )

    def depth(x: Any, s: int) -> Any:
        n, c, h, w = x.shape
        y = x.reshape(n, s, s, c // (s * s), h, w).permute(0, 3, 4, 1, 5, 2)
        return y.reshape(n, c // (s * s), h * s, w * s)

    def space(x: Any, s: int) -> Any:
        n, c, h, w = x.shape
        y = x.reshape(n, c, h // s, s, w // s, s).permute(0, 3, 5, 1, 2, 4)
        return y.reshape(n, c * s * s, h // s, w // s)

    table: dict[str, Any] = {
        "depth_to_space": depth,
        "space_to_depth": space,
        "pixel_shuffle": fn.pixel_shuffle,
        "pixel_unshuffle": fn.pixel_unshuffle,
    }
    choices = {
        "op": list(table),
        "block": [2, 3, 1],
        "dtype": ["float32", "float16"],
        "shape": [[2, 36, 6, 12]],
    }
    yield subject(
        "blocks", choices, _input, body, lambda c: of_torch(lambda x: table[c["op"]](x, c["block"]))
    )

    def batches(config: Config) -> Body:
        block, pads = np.array(config["block"], np.int32), np.array(config["pads"], np.int32)
        if config["op"] == "space_to_batch":
            return lambda x: mb.space_to_batch(x=x, block_shape=block, paddings=pads)
        return lambda x: mb.batch_to_space(x=x, block_shape=block, crops=pads)

    def moved(config: Config) -> Any:
        (a, b), pads = config["block"], config["pads"]

        def computed(x: Any) -> Any:
            n, c, h, w = x.shape
            if config["op"] == "space_to_batch":
                x = torch.nn.functional.pad(x, (*pads[1], *pads[0]))
                h, w = x.shape[2:]
                return (
                    x.reshape(n, c, h // a, a, w // b, b)
                    .permute(3, 5, 0, 1, 2, 4)
                    .reshape(n * a * b, c, h // a, w // b)
                )
            y = (
                x.reshape(a, b, n // (a * b), c, h, w)
                .permute(2, 3, 4, 0, 5, 1)
                .reshape(-1, c, h * a, w * b)
            )
            return y[:, :, pads[0][0] : h * a - pads[0][1], pads[1][0] : w * b - pads[1][1]]

        return of_torch(computed)

    choices = {"op": ["space_to_batch", "batch_to_space"], "block": [[2, 2], [2, 3], [1, 2]]}
    choices |= {
        "pads": [[[0, 0], [0, 0]], [[1, 1], [2, 1]]],
        "shape": [[12, 2, 6, 9]],
        "dtype": ["float32"],
    }
    choices["shape"] = [[12, 2, 4, 6], [12, 2, 6, 9]]
    yield subject("batches", choices, _input, batches, moved)


def subjects() -> Iterator[Subject]:
    """Yield the subjects of this file."""
    for made in (_moved, _padded, _sliced, _by_index, _made, _blocks):
        yield from made()
