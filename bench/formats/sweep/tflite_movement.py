"""TensorFlow Lite's operators that rearrange, repeat and concatenate elements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .cases import Subject
from .tflite_case import MOVED, OPEN, STEPS, TYPES, Built, subject, values


def subjects() -> Iterator[Subject]:
    """Yield the subjects of this file."""

    def moved(
        kind: str,
        options: str,
        more: Mapping[str, Sequence[Any]],
        build: Any,
        allowed: Any = None,
        types: Sequence[str] = MOVED,
    ) -> Subject:
        def whole(b: Built) -> Sequence[int]:
            x = b.x(b.config["shape"])
            operands, fields, count = build(b, x)
            outs = [b.out(like=x) for _ in range(count)]
            return b.w.operator(
                kind, operands, outs, options, version=b.config.get("version", 2), **fields
            )

        shapes = [[2, 3, 4], [6], [1, 4, 4, 8], [2, 1, 5, 1, 3], [0, 3]]
        choices = {"type": types, "shape": shapes, "open": OPEN, "steps": STEPS, **more}
        return subject(kind, choices, whole, allowed)

    def rank(c: Any) -> Any:
        return len(c["shape"])

    axes = {"axis": [0, -1, 1, 2]}

    def inside(c: Any) -> Any:
        return -rank(c) <= c["axis"] < rank(c)

    def concat(b: Built) -> Sequence[int]:
        shape, axis = b.config["shape"], b.config["axis"]
        x = b.x(shape)
        same = b.config["outs"] == "same"
        parts = [x]
        for i in range(b.config["count"] - 1):
            other = [d + (i if j == axis % len(shape) else 0) for j, d in enumerate(shape)]
            parts.append(b.x(other))
            if same:
                tensors = b.w.graph.tensors
                tensors[parts[-1]].quantization = tensors[x].quantization
        return b.w.operator(
            "CONCATENATION",
            parts,
            [b.out(like=x if same else None)],
            "ConcatenationOptions",
            version=2,
            axis=axis,
        )

    choices = {
        "type": MOVED,
        "shape": [[2, 3, 4], [6], [1, 4, 4, 8]],
        "open": OPEN,
        "steps": STEPS,
        "axis": [0, -1, 1],
        "count": [2, 1, 3],
        "outs": ["same", "other"],
    }
    yield subject("CONCATENATION", choices, concat, inside)

    def pack(b: Built) -> Sequence[int]:
        parts = [b.x(b.config["shape"]) for _ in range(b.config["count"])]
        for part in parts[1:]:
            b.w.graph.tensors[part].quantization = b.w.graph.tensors[parts[0]].quantization
        return b.w.operator(
            "PACK",
            parts,
            [b.out(like=parts[0])],
            "PackOptions",
            axis=b.config["axis"],
            valuesCount=len(parts),
        )

    choices = {
        "type": MOVED[:-1],
        "shape": [[2, 3], [], [4]],
        "open": OPEN,
        "count": [2, 1, 3],
        "axis": [0, -1, 1],
    }
    yield subject("PACK", choices, pack, lambda c: c["axis"] <= rank(c))
    yield moved(
        "UNPACK",
        "UnpackOptions",
        axes,
        lambda b, x: (
            [x],
            {"axis": b.config["axis"], "num": b.config["shape"][b.config["axis"]]},
            b.config["shape"][b.config["axis"]],
        ),
        lambda c: inside(c) and c["open"] == "none" and c["shape"][c["axis"]] > 0,
    )
    yield moved(
        "SPLIT",
        "SplitOptions",
        axes | {"parts": [1, 2, 3]},
        lambda b, x: (
            [b.w.constant(b.config["axis"]), x],
            {"numSplits": b.config["parts"]},
            b.config["parts"],
        ),
        lambda c: inside(c) and c["open"] == "none" and c["shape"][c["axis"]] % c["parts"] == 0,
    )
    yield moved(
        "TRANSPOSE",
        "TransposeOptions",
        {"order": ["back", "roll"]},
        lambda b, x: (
            [
                x,
                b.ints(*np.roll(range(rank(b.config)), 1))
                if b.config["order"] == "roll"
                else b.ints(*reversed(range(rank(b.config)))),
            ],
            {},
            1,
        ),
    )
    yield moved(
        "RESHAPE",
        "ReshapeOptions",
        {"to": ["flat", "last", "options"]},
        lambda b, x: (
            [x]
            if b.config["to"] == "options"
            else [
                x,
                b.ints(*([-1] if b.config["to"] == "flat" else [*b.config["shape"][:-1], -1, 1])),
            ],
            {"newShape": [-1]} if b.config["to"] == "options" else {},
            1,
        ),
        lambda c: 0 not in c["shape"],
    )
    yield moved(
        "EXPAND_DIMS",
        "ExpandDimsOptions",
        axes,
        lambda b, x: ([x, b.w.constant(b.config["axis"])], {}, 1),
        inside,
    )
    yield moved(
        "SQUEEZE",
        "SqueezeOptions",
        {"axes": [[], [1], [-2]]},
        lambda b, x: ([x], {"squeezeDims": b.config["axes"]}, 1),
        lambda c: (
            all(-rank(c) <= a < rank(c) and c["shape"][a] == 1 for a in c["axes"])
            and (c["axes"] or c["open"] == "none")
        ),
    )
    pads = {"pads": [[1, 2], [0, 0], [3, 0]]}

    def table(b: Any) -> Any:
        return b.w.constant(np.tile(b.config["pads"], (rank(b.config), 1)))

    yield moved(
        "PAD",
        "PadOptions",
        pads,
        lambda b, x: ([x, table(b)], {}, 1),
        lambda c: rank(c) < 5,
        MOVED[:-1],
    )
    yield moved(
        "PADV2",
        "PadV2Options",
        pads,
        lambda b, x: ([x, table(b), _like(b, x)], {}, 1),
        lambda c: rank(c) < 5,
        MOVED[:-1],
    )
    small = {"pads": [[1, 1], [0, 0], [0, 1]], "mode": [0, 1]}
    yield moved(
        "MIRROR_PAD",
        "MirrorPadOptions",
        small,
        lambda b, x: ([x, table(b)], {"mode": b.config["mode"]}, 1),
        lambda c: 0 not in c["shape"] and (c["pads"] == [0, 0] or min(c["shape"]) > 1),
        MOVED[:-1],
    )
    yield moved(
        "TILE",
        "TileOptions",
        {"times": [2, 1, 0, 3]},
        lambda b, x: ([x, b.ints(*[b.config["times"]] * rank(b.config))], {}, 1),
        lambda c: rank(c) < 5,
    )
    yield moved(
        "REVERSE_V2",
        "ReverseV2Options",
        axes,
        lambda b, x: ([x, b.ints(b.config["axis"])], {}, 1),
        inside,
    )
    yield moved(
        "SLICE",
        "SliceOptions",
        {"begin": [0, 1], "size": [-1, 1, 0]},
        lambda b, x: (
            [
                x,
                b.ints(*[min(b.config["begin"], max(0, d - 1)) for d in b.config["shape"]]),
                b.ints(*[min(b.config["size"], d) for d in b.config["shape"]]),
            ],
            {},
            1,
        ),
    )
    masks = {
        "begin": [0, 1, -1],
        "end": [3, -1, 100],
        "stride": [1, 2, -1],
        "begin_mask": [0, 1, 3],
        "end_mask": [0, 2, 1],
        "shrink": [0, 1],
        "new": [0, 2],
        "ellipsis": [0, 1],
    }
    yield moved(
        "STRIDED_SLICE",
        "StridedSliceOptions",
        masks,
        lambda b, x: (
            [
                x,
                *(
                    b.ints(*[b.config[k]] * min(2, rank(b.config)))
                    for k in ("begin", "end", "stride")
                ),
            ],
            {
                "beginMask": b.config["begin_mask"],
                "endMask": b.config["end_mask"],
                "shrinkAxisMask": b.config["shrink"],
                "newAxisMask": b.config["new"],
                "ellipsisMask": b.config["ellipsis"],
            },
            1,
        ),
        lambda c: (
            rank(c) < 5
            and not (c["shrink"] and c["stride"] < 0)
            and not (c["ellipsis"] and (c["shrink"] or rank(c) < 2))
        ),
    )
    yield moved(
        "GATHER",
        "GatherOptions",
        axes | {"indices": [[2], [0], [2, 2], []], "many": [False, True]},
        lambda b, x: (
            [
                x,
                b.w.constant(
                    b.rng.integers(
                        0, max(1, b.config["shape"][b.config["axis"]]), b.config["indices"]
                    ),
                    "i64" if b.config["many"] else "i32",
                ),
            ],
            {"axis": b.config["axis"]},
            1,
        ),
        lambda c: inside(c) and (c["shape"][c["axis"]] > 0 or c["indices"] == [0]),
    )
    yield _batches("SPACE_TO_BATCH_ND", "SpaceToBatchNDOptions")
    yield _batches("BATCH_TO_SPACE_ND", "BatchToSpaceNDOptions")
    yield moved(
        "CUMSUM",
        "CumsumOptions",
        axes | {"exclusive": [False, True], "reverse": [False, True]},
        lambda b, x: (
            [x, b.w.constant(b.config["axis"])],
            {"exclusive": b.config["exclusive"], "reverse": b.config["reverse"]},
            1,
        ),
        inside,
        ["f32", "i32", "i64"],
    )


def _like(b: Built, x: int) -> int:
    about = b.w.graph.tensors[x].quantization
    number = b.w.constant(values(b.rng, [1], b.element), b.element)
    b.w.graph.tensors[number].quantization = about
    return number


def _batches(kind: str, options: str) -> Subject:
    def build(b: Built) -> Sequence[int]:
        (h, w), (top, left) = b.config["block"], b.config["pads"]
        back = kind.startswith("BATCH")
        size = [h * w * 2, 3, 2, 2] if back else [2, h * 2 - top, w * 3 - left, 2]
        x = b.x(size)
        operands = [x, b.ints(h, w), b.w.constant([[top, 0], [0, left]])]
        return b.w.operator(kind, operands, [b.out(like=x)], options, version=2)

    choices = {
        "type": [*TYPES, "i32"],
        "block": [[2, 2], [1, 3], [2, 1]],
        "pads": [[0, 0], [1, 0], [1, 1]],
        "open": OPEN,
        "steps": STEPS,
    }
    return subject(kind, choices, build)
