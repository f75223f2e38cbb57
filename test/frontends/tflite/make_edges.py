"""Writes `files/edges/`: operators at their edges, and what LiteRT's kernels make of them.

PYTHONPATH=. python test/frontends/tflite/make_edges.py      # needs ai-edge-litert, flatbuffers
"""

from pathlib import Path

import numpy as np

from bench.formats.sweep.tflite_files import Writer, kernels

FOLDER = Path(__file__).parent / "files" / "edges"
rng = np.random.default_rng(7)
WHOLE = {"i8": np.int8, "u8": np.uint8, "i16": np.int16}


def store(name, w, outputs):
    """A file, its inputs and its results."""
    data = w.data(outputs)
    found = kernels(data, w.given)
    for number, array in zip(outputs, found, strict=True):
        w.graph.tensors[number].shape = list(array.shape)
    (FOLDER / f"{name}.tflite").write_bytes(w.data(outputs))
    arrays = {f"in{i}": x for i, x in enumerate(w.given)}
    np.savez_compressed(
        FOLDER / f"{name}.npz", **arrays, **{f"out{i}": y for i, y in enumerate(found)}
    )


def whole(shape, kind):
    about = np.iinfo(WHOLE[kind])
    return rng.integers(about.min, about.max + 1, shape).astype(WHOLE[kind])


def reductions():
    """Sums whose steps change, products by each factor, axes that are named twice, no elements."""
    cases = [
        ("sum_u8", "SUM", "u8", [2, 70], [0]),
        ("product_i8", "REDUCE_PROD", "i8", [9, 3, 4], [1, -1]),
        ("product_i16", "REDUCE_PROD", "i16", [5, 6], [1]),
        ("mean_i8", "MEAN", "i8", [3, 4, 5], [0, -2, 0]),
    ]
    for name, kind, element, shape, axes in cases:
        w, zero = Writer(), 0 if element == "i16" else 11
        scale = 0.0004 if element == "i16" else 0.037
        x = w.input(whole(shape, element), element, scale=scale, zero=zero)
        out = w.tensor((), element, scale=scale * 2, zero=zero)
        operands = [x, w.constant(np.array(axes))]
        w.operator(kind, operands, [out], "ReducerOptions", 2, keepDims=True)
        store(name, w, [out])
    w = Writer()
    x = w.input(np.zeros((0, 3)), "i64")
    out = w.tensor((), "i64")
    operands = [x, w.constant(np.array([0]))]
    w.operator("MEAN", operands, [out], "ReducerOptions", 2, keepDims=True)
    store("mean_of_none", w, [out])


def slices():
    """A dimension that is dropped where its range begins at the first element."""
    w = Writer()
    x = w.input(rng.standard_normal((3, 4)), "f32")
    bounds = [w.constant(np.array(v)) for v in ([2, 1], [3, 3], [1, 1])]
    out = w.tensor(())
    fields = {"beginMask": 1, "shrinkAxisMask": 1}
    w.operator("STRIDED_SLICE", [x, *bounds], [out], "StridedSliceOptions", 2, **fields)
    store("dropped_at_begin", w, [out])


def images():
    """Open extents: the nearest pixels between corners and centers, mirrored borders, blocks."""
    w = Writer()
    x = w.input(rng.standard_normal((1, 6, 7, 2)), "f32", (0, 1, 2, 3))
    out = w.tensor(())
    fields = {"alignCorners": True, "halfPixelCenters": True}
    size = w.constant(np.array([5, 4]))
    kind = "RESIZE_NEAREST_NEIGHBOR"
    w.operator(kind, [x, size], [out], "ResizeNearestNeighborOptions", 3, **fields)
    store("nearest_open", w, [out])

    w = Writer()
    x = w.input(rng.standard_normal((3, 4)), "f32", (0, 1))
    out = w.tensor(())
    pads = w.constant(np.array([[1, 3], [2, 0]]))
    w.operator("MIRROR_PAD", [x, pads], [out], "MirrorPadOptions", 1, mode=1)
    store("mirrored_open", w, [out])

    w = Writer()
    x = w.input(rng.standard_normal((2, 5, 4, 2)), "f32", (0, 1, 2, 3))
    block, pads = w.constant(np.array([2, 3])), w.constant(np.array([[1, 0], [0, 2]]))
    many, out = w.tensor(()), w.tensor(())
    w.operator("SPACE_TO_BATCH_ND", [x, block, pads], [many], "SpaceToBatchNDOptions")
    w.operator("BATCH_TO_SPACE_ND", [many, block, pads], [out], "BatchToSpaceNDOptions")
    store("blocks_open", w, [many, out])


def known_images():
    """Twice as many pixels between corners and centers; a response to no neighbours."""
    w = Writer()
    x = w.input(rng.standard_normal((1, 3, 1, 2)), "f32")
    out = w.tensor((), "f32")
    fields = {"alignCorners": True, "halfPixelCenters": True}
    operands = [x, w.constant(np.array([6, 7]))]
    options = "ResizeNearestNeighborOptions"
    w.operator("RESIZE_NEAREST_NEIGHBOR", operands, [out], options, 3, **fields)
    store("nearest_corners_and_halves", w, [out])

    w = Writer()
    x = w.input(rng.standard_normal((1, 2, 2, 3)), "f32")
    out = w.tensor((), "f32")
    options = "LocalResponseNormalizationOptions"
    fields = {"radius": 0, "bias": 2.0, "alpha": 0.5, "beta": 2.0}
    w.operator("LOCAL_RESPONSE_NORMALIZATION", [x], [out], options, **fields)
    store("no_neighbours", w, [out])


def divisions():
    """Whole divisions and remainders, which look at no steps."""
    for kind, name in (("FLOOR_DIV", "floor_div_i8"), ("FLOOR_MOD", "floor_mod_i8")):
        w = Writer()
        x = w.input(np.array([-128, -7, 0, 5, 127, -9]), "i8", scale=0.04, zero=3)
        y = w.input(np.array([3, -2, 5, -4, 10, 4]), "i8", scale=0.02, zero=-1)
        out = w.tensor((), "i8", scale=0.5, zero=7)
        w.operator(kind, [x, y], [out], version=2)
        store(name, w, [out])


def rows():
    """Rows of open extents that a matrix is multiplied with: all dimensions stay, or two do."""
    for keeps in (True, False):
        w = Writer()
        x = w.input(rng.integers(-9, 9, (2, 4, 3)), "f32", open=(0, 1, 2))
        weight = w.constant(rng.integers(-9, 9, (5, 3)), "f32")
        out = w.tensor((), "f32")
        options = {"keepNumDims": keeps}
        w.operator("FULLY_CONNECTED", [x, weight, -1], [out], "FullyConnectedOptions", 2, **options)
        store("rows_kept" if keeps else "rows_merged", w, [out])


def means():
    """Quantized images of an open size, each of which is averaged."""
    for kind, zero in (("i8", 11), ("u8", 140), ("i16", 0)):
        w, about = Writer(), {"scale": 0.037, "zero": zero}
        x = w.input(whole((3, 6, 7, 5), kind), kind, open=(0, 1, 2), **about)
        out = w.tensor((), kind, scale=0.011, zero=zero)
        operands = [x, w.constant(np.array([1, 2]))]
        w.operator("MEAN", operands, [out], "ReducerOptions", 2, keepDims=False)
        store(f"mean_open_{kind}", w, [out])


def main():
    FOLDER.mkdir(exist_ok=True)
    reductions()
    slices()
    images()
    known_images()
    divisions()
    rows()
    means()


if __name__ == "__main__":
    main()
