"""TensorFlow Lite's reductions, searches and selections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from .cases import Config, Subject
from .tflite_case import MOVED, OPEN, STEPS, Build, Built, subject, values
from .tflite_files import OPTIMIZED, QUANTIZED, number_of


def subjects() -> Iterator[Subject]:
    """Yield the subjects of this file."""
    shapes = [[2, 3, 4], [6], [1, 4, 5, 8], [3, 1], [0, 3], [2, 70, 3]]

    def reduction(kind: str, types: Sequence[str]) -> Subject:
        def build(b: Built) -> Sequence[int]:
            data = values(b.rng, b.config["shape"], b.element)
            if kind == "SUM" and b.element == "i8":
                data = np.abs(data.astype(np.int16)).clip(0, 127)  # of others it gives no sums
            x = b.x(data.shape, data=data)
            if kind == "SUM" and b.element == "i16":
                b.kernels = OPTIMIZED  # the reference gives no sums
            keeps = kind in ("REDUCE_MAX", "REDUCE_MIN")
            out = b.out(like=x if keeps else None)
            rank = len(b.config["shape"])
            axes = range(rank) if b.config["axes"] == "all" else b.config["axes"]
            return b.w.operator(
                kind,
                [x, b.ints(*axes)],
                [out],
                "ReducerOptions",
                version=3,
                keepDims=b.config["keep"],
            )

        def fits(c: Config) -> bool:
            axes = c["axes"]
            unset = QUANTIZED if kind == "REDUCE_PROD" else ("i8", "i16") if kind == "SUM" else ()
            if 0 in c["shape"] and c["type"] in unset:
                return False  # which gives what memory had
            return isinstance(axes, str) or all(
                -len(c["shape"]) <= a < len(c["shape"]) for a in axes
            )

        choices = {
            "type": types,
            "shape": shapes,
            "axes": [[0], [-1], [1, 2], "all", [0, 0], [1, -1]],
            "keep": [False, True],
            "open": OPEN,
            "steps": STEPS,
        }
        return subject(kind, choices, build, fits)

    numbers = ["f32", "i8", "u8", "i16", "i32", "i64"]
    for kind in ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN"):
        yield reduction(kind, numbers)
    yield reduction("REDUCE_PROD", ["f32", "i32", "i64", "i8", "i16"])
    yield reduction("REDUCE_ANY", ["bool"])
    yield reduction("REDUCE_ALL", ["bool"])

    def extreme(kind: str) -> Build:
        def build(b: Built) -> Sequence[int]:
            data = values(b.rng, b.config["shape"], b.element)
            if b.config["ties"] and data.size:
                data = (
                    np.sort(data, axis=None)[data.size // 2 :][:1]
                    .repeat(data.size)
                    .reshape(data.shape)
                )
            x = b.x(data.shape, data=data)
            options = "ArgMaxOptions" if "MAX" in kind else "ArgMinOptions"
            to = b.config["to"]
            return b.w.operator(
                kind,
                [x, b.w.constant(b.config["axis"])],
                [b.out(to)],
                options,
                version=2,
                outputType=number_of(to),
            )

        return build

    for kind in ("ARG_MAX", "ARG_MIN"):
        choices = {
            "type": ["f32", "i8", "u8", "i32", "bool"],
            "shape": [[2, 3, 4], [6], [1, 4, 4, 8]],
            "axis": [0, -1, 1],
            "to": ["i32", "i64"],
            "ties": [False, True],
            "open": OPEN,
            "steps": STEPS,
        }
        yield subject(kind, choices, extreme(kind), lambda c: c["axis"] < len(c["shape"]))

    def largest(b: Built) -> Sequence[int]:
        x = b.x(b.config["shape"])
        return b.w.operator(
            "TOPK_V2",
            [x, b.w.constant(b.config["k"])],
            [b.out(like=x), b.out("i32")],
            "TopKV2Options",
            version=2,
        )

    choices = {
        "type": ["f32", "i8", "u8", "i16", "i32", "i64"],
        "shape": [[2, 3, 4], [6], [5, 40]],
        "k": [1, 3, 0],
        "open": OPEN,
        "steps": STEPS,
    }
    yield subject("TOPK_V2", choices, largest)

    def select(kind: str) -> Build:
        def build(b: Built) -> Sequence[int]:
            condition, first, second = b.config["shapes"]
            c = b.x(condition, "bool", scale=None)
            x = b.x(first)
            y = b.x(second)
            b.w.graph.tensors[y].quantization = b.w.graph.tensors[x].quantization
            options = "SelectOptions" if kind == "SELECT" else "SelectV2Options"
            return b.w.operator(kind, [c, x, y], [b.out(like=x)], options)

        return build

    triples = [[[2, 3], [2, 3], [2, 3]], [[2], [2, 3], [2, 3]], [[], [4], [4]]]
    choices = {"type": MOVED, "shapes": triples, "open": OPEN, "steps": STEPS}
    yield subject("SELECT", choices, select("SELECT"))
    triples = [
        [[2, 3], [2, 3], [2, 3]],
        [[1, 3], [2, 1], [2, 3]],
        [[], [4], [1]],
        [[2, 1, 4], [3, 1], [4]],
    ]
    yield subject("SELECT_V2", choices | {"shapes": triples}, select("SELECT_V2"))

    def hot(b: Built) -> Sequence[int]:
        x = b.x(b.config["shape"], "i32", scale=None)
        on, off = (b.w.constant(values(b.rng, [], b.element), b.element) for _ in range(2))
        return b.w.operator(
            "ONE_HOT",
            [x, b.w.constant(b.config["depth"]), on, off],
            [b.out(scale=None)],
            "OneHotOptions",
            axis=b.config["axis"],
        )

    choices = {
        "type": ["f32", "i32", "i64", "bool"],
        "shape": [[3], [2, 2], []],
        "depth": [4, 1, 12],
        "axis": [-1, 0],
        "open": OPEN,
    }
    yield subject("ONE_HOT", choices, hot)

    def gather_nd(b: Built) -> Sequence[int]:
        x = b.x(b.config["shape"])
        last = b.config["last"]
        indices = b.rng.integers(
            0, 1 if not b.config["shape"] else min(b.config["shape"][:last]), [2, 3, last]
        )
        return b.w.operator(
            "GATHER_ND", [x, b.w.constant(indices)], [b.out(like=x)], "GatherNdOptions"
        )

    choices = {
        "type": MOVED,
        "shape": [[2, 3, 4], [4, 4]],
        "last": [1, 2],
        "open": OPEN,
        "steps": STEPS,
    }
    yield subject("GATHER_ND", choices, gather_nd)
