"""TensorFlow Lite's operators that create tensors, and that read or write at computed indices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from .cases import Config, Subject
from .tflite_case import MOVED, OPEN, STEPS, Build, Built, subject, values
from .tflite_files import number_of

SHAPES = [[2, 3, 4], [6], [1, 4, 4, 8], [0, 3]]
NUMBERS = ["f32", "i32", "i64"]


def _parts() -> Iterator[Subject]:
    def parts_of_sizes(b: Built) -> Sequence[int]:
        sizes, x = b.config["sizes"], b.x([4, 4, 2])
        outs = [b.out(like=x) for _ in sizes]
        operands = [x, b.ints(*sizes), b.w.constant(b.config["axis"])]
        return b.w.operator("SPLIT_V", operands, outs, "SplitVOptions", numSplits=len(sizes))

    choices = {
        "type": MOVED,
        "sizes": [[1, 3], [4], [-1, 1], [2, 1, 1]],
        "axis": [0, 1, -2],
        "open": OPEN,
        "steps": STEPS,
    }
    yield subject("SPLIT_V", choices, parts_of_sizes)

    def reversed_parts(b: Built) -> Sequence[int]:
        shape, (along, batch) = b.config["shape"], b.config["axes"]
        x = b.x(shape)
        lengths = b.rng.integers(0, shape[along] + 1, shape[batch])
        number = b.w.constant(lengths, b.config["lengths"])
        return b.w.operator(
            "REVERSE_SEQUENCE", [x, number], [b.out(like=x)], "ReverseSequenceOptions",
            seqDim=along, batchDim=batch,
        )  # fmt: skip

    choices = {
        "type": ["f32", "u8", "i16", "i32", "i64"],
        "shape": [[3, 4, 2], [2, 3]],
        "axes": [[1, 0], [0, 1]],
        "lengths": ["i32", "i64"],
        "open": OPEN,
        "steps": STEPS,
    }
    yield subject("REVERSE_SEQUENCE", choices, reversed_parts)

    def updated(b: Built) -> Sequence[int]:
        x = b.x([4, 5])
        about = b.w.graph.tensors[x].quantization
        update = b.x(b.config["size"])
        b.w.graph.tensors[update].quantization = about
        start = b.x([2], "i32", np.array(b.config["start"]), scale=None)
        return b.w.operator(
            "DYNAMIC_UPDATE_SLICE", [x, update, start], [b.out(like=x)],
            "DynamicUpdateSliceOptions", version=3,
        )  # fmt: skip

    choices = {
        "type": MOVED,
        "size": [[2, 2], [4, 5], [1, 3]],
        "start": [[1, 2], [0, 0], [-1, 9], [3, 4]],
        "steps": STEPS,
    }
    yield subject("DYNAMIC_UPDATE_SLICE", choices, updated)


def _new() -> Iterator[Subject]:
    def broadcast(b: Built) -> Sequence[int]:
        x = b.x(b.config["shapes"][0])
        shape = b.w.constant(np.array(b.config["shapes"][1]), b.config["index"])
        return b.w.operator("BROADCAST_TO", [x, shape], [b.out(like=x)], "BroadcastToOptions", 3)

    pairs = [[[3], [2, 3]], [[2, 1], [2, 4]], [[1, 4, 1], [2, 4, 3]], [[1], [5]]]
    index = ["i32", "i64"]
    choices = {"type": MOVED, "shapes": pairs, "index": index, "open": OPEN, "steps": STEPS}
    yield subject("BROADCAST_TO", choices, broadcast)

    def filled(b: Built) -> Sequence[int]:
        shape = b.w.constant(np.array(b.config["shape"]), b.config["index"])
        x = b.x([])
        return b.w.operator("FILL", [shape, x], [b.out(like=x)], "FillOptions", version=4)

    choices = {"type": MOVED, "shape": [[2, 3], [4], [1, 1, 2]], "index": index, "steps": STEPS}
    yield subject("FILL", choices, filled)

    def counted(b: Built) -> Sequence[int]:
        first, limit, step = (np.array(v) for v in b.config["numbers"])
        x = b.x([], data=first, scale=None)
        rest = [b.w.constant(v, b.element) for v in (limit, step)]
        return b.w.operator("RANGE", [x, *rest], [b.out(scale=None)], "RangeOptions", version=2)

    numbers = [[0, 5, 1], [3, -4, -2], [2, 2, 1], [1, 9, 4], [5, 1, -1]]
    yield subject("RANGE", {"type": NUMBERS, "numbers": numbers}, counted)

    def about(kind: str) -> Build:
        def build(b: Built) -> Sequence[int]:
            x, to = b.x(b.config["shape"]), b.config.get("to", "i32")
            fields = {"outType": number_of(to)} if kind == "SHAPE" else {}
            return b.w.operator(kind, [x], [b.out(to)], f"{kind.title()}Options", **fields)

        return build

    choices = {"type": MOVED, "shape": SHAPES, "open": OPEN, "steps": STEPS}
    yield subject("SHAPE", choices | {"to": index}, about("SHAPE"))
    yield subject("RANK", choices, about("RANK"))

    def on_diagonal(b: Built) -> Sequence[int]:
        x = b.x(b.config["shape"])
        return b.w.operator("MATRIX_DIAG", [x], [b.out(like=x)], "MatrixDiagOptions")

    kinds = ["f32", "i8", "u8", "i16", "i32", "i64"]
    choices = {"type": kinds, "shape": [[2, 3], [4], [1, 2, 2]], "open": OPEN, "steps": STEPS}
    yield subject("MATRIX_DIAG", choices, on_diagonal)

    def with_diagonal(b: Built) -> Sequence[int]:
        shape = b.config["shape"]
        x = b.x(shape)
        diagonal = b.x([*shape[:-2], min(shape[-2:])])
        b.w.graph.tensors[diagonal].quantization = b.w.graph.tensors[x].quantization
        operands = [x, diagonal]
        return b.w.operator("MATRIX_SET_DIAG", operands, [b.out(like=x)], "MatrixSetDiagOptions")

    choices["shape"] = [[3, 3], [2, 2, 4], [4, 2]]
    yield subject("MATRIX_SET_DIAG", choices, with_diagonal)


def _written() -> Iterator[Subject]:
    def scattered(b: Built) -> Sequence[int]:
        shape, last = b.config["shape"], b.config["last"]
        at = b.rng.integers(0, min(shape[:last]), [b.config["count"], last])
        updates = b.x([b.config["count"], *shape[last:]], scale=None)
        indices = b.w.constant(at) if b.config["known"] else b.x(at.shape, "i32", at, scale=None)
        operands = [indices, updates, b.ints(*shape)]
        return b.w.operator("SCATTER_ND", operands, [b.out(scale=None)], "ScatterNdOptions")

    choices = {
        "type": ["f32", "i8", "u8", "i32", "i64", "bool"],
        "shape": [[4, 3], [5], [3, 2, 2]],
        "last": [1, 2],
        "count": [3, 1, 7],
        "known": [True, False],
    }
    yield subject("SCATTER_ND", choices, scattered, lambda c: c["last"] <= len(c["shape"]))

    def sparse(b: Built) -> Sequence[int]:
        shape, kind = b.config["shape"], b.config["index"]
        whole = int(np.prod(shape))
        at = np.sort(b.rng.choice(whole, 3, replace=False))
        index = np.stack(np.unravel_index(at, shape), 1)
        index = index[:, 0] if len(shape) == 1 else index
        found = values(b.rng, [] if b.config["one"] else [3], b.element)
        operands = [
            b.w.constant(index, kind),
            b.w.constant(np.array(shape), kind),
            b.x(found.shape, data=found, scale=None),
            b.w.constant(values(b.rng, [], b.element), b.element),
        ]
        options = "SparseToDenseOptions"
        return b.w.operator("SPARSE_TO_DENSE", operands, [b.out(scale=None)], options, version=3)

    choices = {
        "type": ["f32", "i8", "u8", "i32", "i64"],
        "shape": [[6], [3, 4], [2, 2, 3]],
        "index": ["i32", "i64"],
        "one": [False, True],
    }
    yield subject("SPARSE_TO_DENSE", choices, sparse)

    def segments(kind: str) -> Build:
        def build(b: Built) -> Sequence[int]:
            ids = np.array(b.config["ids"])
            x = b.x([len(ids), *b.config["inner"]])
            number = b.w.constant(ids) if b.config["known"] else b.x(ids.shape, "i32", ids)
            more = [] if kind == "SEGMENT_SUM" else [b.w.constant(b.config["count"])]
            options = {"SEGMENT_SUM": "SegmentSumOptions"}.get(
                kind, "UnsortedSegment" + kind.rsplit("_", 1)[1].title() + "Options"
            )
            return b.w.operator(kind, [x, number, *more], [b.out()], options)

        return build

    choices = {
        "type": ["f32", "i32"],
        "ids": [[0, 0, 1, 3, 3], [0, 1, 2, 3, 4], [2, 2, 2, 2, 2]],
        "inner": [[3], [], [2, 2]],
        "known": [True, False],
        "open": OPEN,
    }
    yield subject("SEGMENT_SUM", choices, segments("SEGMENT_SUM"))
    some = [[1, 0, 3, 0, 1], [-1, 0, 2, -7, 2], [2, 2, 2, 2, 2], [-1, -1, -1, -1, -1]]
    for how in ("SUM", "PROD", "MAX", "MIN"):
        kind = f"UNSORTED_SEGMENT_{how}"
        yield subject(kind, choices | {"ids": some, "count": [4, 5]}, segments(kind))


def _found() -> Iterator[Subject]:
    def where(b: Built) -> Sequence[int]:
        data = values(b.rng, b.config["shape"], b.element)
        data = data * (np.abs(data) > 3) if b.element != "bool" else data
        x = b.x(data.shape, data=data, scale=None)
        return b.w.operator("WHERE", [x], [b.out("i64")], "WhereOptions")

    kinds = ["bool", "f32", "i32", "i64", "i8", "u8"]
    yield subject("WHERE", {"type": kinds, "shape": SHAPES, "open": OPEN}, where)

    def unique(b: Built) -> Sequence[int]:
        data = b.rng.integers(0, 4, [b.config["count"]])
        x, to = b.x(data.shape, data=data, scale=None), b.config["to"]
        outs = [b.out(scale=None), b.out(to)]
        return b.w.operator("UNIQUE", [x], outs, "UniqueOptions", idxOutType=number_of(to))

    kinds = ["f32", "i8", "i16", "u8", "i32", "i64"]
    choices = {"type": kinds, "count": [8, 1], "to": ["i32", "i64"], "open": OPEN}
    yield subject("UNIQUE", choices, unique)

    def bucket(b: Built) -> Sequence[int]:
        x = b.x(b.config["shape"], scale=None)
        bounds = b.config["bounds"]
        return b.w.operator("BUCKETIZE", [x], [b.out("i32")], "BucketizeOptions", boundaries=bounds)

    bounds = [[-1.0, 0.0, 1.0], [0.3], [-2.0, -2.0, 1.0]]
    kinds = ["f32", "i32", "i64"]
    choices = {"type": kinds, "shape": SHAPES, "bounds": bounds, "open": OPEN}
    yield subject("BUCKETIZE", choices, bucket)

    def rows(b: Built) -> Sequence[int]:
        kind = b.config["table"]
        about = {"i8": {"scale": 0.02, "zero": 0}}.get(kind, {})
        table = b.w.constant(values(b.rng, [6, *b.config["inner"]], kind), kind, **about)
        indices = b.rng.integers(0, 6, [b.config["count"]])
        x = b.x(indices.shape, "i32", indices)
        out = b.w.tensor((), b.config["out"], **(about if b.config["out"] == kind else {}))
        return b.w.operator("EMBEDDING_LOOKUP", [x, table], [out], "", version=3)

    choices = {
        "table": ["f32", "i8"],
        "out": ["f32", "i8"],
        "inner": [[3], [2, 2]],
        "count": [4, 1],
        "open": OPEN,
    }

    def fits(c: Config) -> bool:
        return not (c["table"] == "f32" and c["out"] == "i8")

    yield subject("EMBEDDING_LOOKUP", choices, rows, fits)


def _suppressed() -> Iterator[Subject]:
    def build(kind: str) -> Build:
        def suppress(b: Built) -> Sequence[int]:
            count = b.config["count"]
            corner = b.rng.uniform(0, 5, [count, 2])
            boxes = np.concatenate([corner, corner + b.rng.uniform(0.5, 4, [count, 2])], 1)
            scores = b.rng.uniform(0, 1, count)
            operands = [b.x(boxes.shape, "f32", boxes), b.x(scores.shape, "f32", scores)]
            operands += [b.w.constant(b.config["most"]), b.w.constant(b.config["overlap"], "f32")]
            operands += [b.w.constant(b.config["least"], "f32")]
            outs = [b.w.tensor((), "i32"), b.w.tensor((), "i32")]
            if kind.endswith("5"):
                operands.append(b.w.constant(b.config["sigma"], "f32"))
                outs.insert(1, b.w.tensor(()))
            options = f"NonMaxSuppressionV{kind[-1]}Options"
            return b.w.operator(kind, operands, outs, options)

        return suppress

    choices = {
        "count": [12, 1, 3],
        "most": [4, 1, 20],
        "overlap": [0.5, 0.1, 0.9],
        "least": [0.0, 0.5],
    }
    yield subject("NON_MAX_SUPPRESSION_V4", choices, build("NON_MAX_SUPPRESSION_V4"))
    choices = choices | {"sigma": [0.0, 0.7]}
    yield subject("NON_MAX_SUPPRESSION_V5", choices, build("NON_MAX_SUPPRESSION_V5"))


def subjects() -> Iterator[Subject]:
    """Yield the subjects of this file."""
    yield from _parts()
    yield from _new()
    yield from _written()
    yield from _found()
    yield from _suppressed()
