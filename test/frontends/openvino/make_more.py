"""Writes more of `files/`: loops and branches, detectors, regions, resampling, other operations.

Run with a Python that has OpenVINO of 2026: `python test/frontends/openvino/make_more.py`.
"""

import sys

import numpy as np
import openvino as ov
from make import FILES, Group
from openvino import opset1, opset3, opset8, opset9, opset11, opset13, opset14, opset15, opset16
from openvino.utils.node_factory import NodeFactory

o = opset13


def parameter(shape, kind=np.float32):
    return o.parameter(shape, kind)


def model(results, parameters):
    return ov.Model([o.result(one) for one in results], parameters, "body")


def branches() -> Group:
    g = Group("branches", 11)

    def branch(condition, x):
        a, b = parameter([2, 3]), parameter([2, 3])
        bodies = (
            model([o.add(a, g.k(1, "f4")), o.exp(a)], [a]),
            model([o.multiply(b, g.k(2, "f4")), b], [b]),
        )
        made = o.if_op(condition.output(0))
        made.set_then_body(bodies[0])
        made.set_else_body(bodies[1])
        made.set_input(x.output(0), a, b)
        for first, second in zip(bodies[0].results, bodies[1].results, strict=True):
            made.set_output(first, second)
        return made

    for holds in (True, False):
        g.add(branch, np.array(holds), g.f(2, 3))
    return g


def loops() -> Group:
    g = Group("loops", 12)

    def loop(is_loop, axis, part, backward, last=None):
        def make(x, first, *count):
            rows, state = parameter([part, 3] if axis == 0 else [3, part]), parameter([1, 3])
            if axis:
                state = parameter([3, 1])
            number, factor = parameter([], np.int64), parameter([1])
            total = o.reduce_sum(rows, g.k([axis]), True)
            following = o.add(o.multiply(state, g.k(0.5, "f4")), o.multiply(total, factor))
            twice = o.multiply(rows, g.k(2, "f4"))
            if is_loop:
                goes = g.k(True) if last is None else o.less(number, g.k(last))
                made = o.loop(count[0] if count else g.k(4), g.k(True))
                made.set_function(model([following, goes, twice], [rows, state, number, factor]))
                made.set_special_body_ports([2, 1])
            else:
                made = o.tensor_iterator()
                made.set_body(model([following, twice], [rows, state, factor]))
            where = (-1, -part, part, 0, axis) if backward else (0, part, part, -1, axis)
            made.set_sliced_input(rows, x.output(0), *where)
            made.set_merged_input(state, first.output(0), following.output(0))
            made.set_invariant_input(factor, g.k([2], "f4").output(0))
            made.get_iter_value(following.output(0), -1)
            made.get_iter_value(twice.output(0), -1)
            made.get_concatenated_slices(twice.output(0), *where)
            return made

        return make

    for axis, part, backward in ((0, 1, False), (1, 2, True), (0, 2, True), (1, 1, False)):
        shapes = ((4 * part, 3), (1, 3)) if axis == 0 else ((3, 4 * part), (3, 1))
        g.add(loop(False, axis, part, backward), *(g.f(*s) for s in shapes))
    g.add(loop(True, 0, 1, False), g.f(4, 3), g.f(1, 3))
    g.add(loop(True, 0, 1, False, 2), g.f(4, 3), g.f(1, 3))
    g.add(loop(True, 1, 1, False), g.f(3, 4), g.f(3, 1), np.int64(3))
    return g


def corners(g: Group, count: int, images: int = 2, size: float = 1.0):
    low = g.random.uniform(0, size, (images, count, 2))
    sides = g.random.uniform(0.05 * size, 0.5 * size, (images, count, 2))
    return np.concatenate([low, low + sides], -1).astype("f4")


def detectors() -> Group:
    g = Group("detectors", 13)

    def scores(*shape):
        return g.random.uniform(size=shape).astype("f4")

    for descending, coding in ((True, "corner"), (False, "center")):
        g.add(
            lambda b, s, d=descending, c=coding: opset9.non_max_suppression(
                b, s, g.k(4), g.k(0.3, "f4"), g.k(0.2, "f4"), None, c, d, "i64"
            ),
            corners(g, 12),
            scores(2, 3, 12),
        )
    for order, across, keep in (("score", False, 7), ("classid", True, -1), ("classid", False, 5)):
        how = {
            "sort_result_type": order,
            "sort_result_across_batch": across,
            "output_type": "i64",
            "score_threshold": 0.2,
            "nms_top_k": 5,
            "keep_top_k": keep,
            "background_class": 0,
        }
        given = corners(g, 12), scores(2, 3, 12)
        g.add(lambda b, s, h=how: opset9.multiclass_nms(b, s, None, iou_threshold=0.3, **h), *given)
        for decay in ("linear", "gaussian"):
            g.add(
                lambda b, s, h=how, d=decay: opset8.matrix_nms(b, s, decay_function=d, **h), *given
            )
    usual = {
        "background_label_id": 0,
        "top_k": -1,
        "variance_encoded_in_target": False,
        "keep_top_k": [10],
        "code_type": "caffe.PriorBoxParameter.CENTER_SIZE",
        "share_location": True,
        "nms_threshold": 0.3,
        "confidence_threshold": 0.2,
        "clip_after_nms": False,
        "clip_before_nms": False,
        "decrease_label_id": False,
        "normalized": True,
        "input_height": 1,
        "input_width": 1,
        "objectness_score": 0.3,
    }
    variances = np.resize(np.float32([0.1, 0.1, 0.2, 0.2]), (1, 1, 48))
    for own, more in (
        ({}, False),
        ({"code_type": "caffe.PriorBoxParameter.CORNER", "clip_before_nms": True}, False),
        ({"decrease_label_id": True, "top_k": 5, "keep_top_k": [4]}, False),
        ({"top_k": 4, "keep_top_k": [-1], "clip_after_nms": True}, False),
        ({}, True),
    ):
        priors = np.concatenate([corners(g, 12, 1).reshape(1, 1, 48), variances], 1)
        given = [g.f(2, 48), scores(2, 36), priors]
        given += [scores(2, 24), g.f(2, 48)] if more else []
        g.add(
            lambda m, s, p, *more, own=own: opset8.detection_output(m, s, p, usual | own, *more),
            *given,
        )
    for own in (
        {},
        {"clip": True, "variance": [0.3], "flip": False, "step": 4.0},
        {"scale_all_sizes": False, "min_size": [0.1, 0.2], "max_size": [], "step": 0.1},
        {"min_size": [], "max_size": [], "fixed_size": [8.0, 13.0], "density": [2.0, 3.0]},
    ):
        how = {
            "min_size": [3.0, 5.0],
            "max_size": [6.0, 9.0],
            "aspect_ratio": [2.0, 3.0],
            "flip": True,
            "clip": False,
            "step": 0.0,
            "offset": 0.5,
            "variance": [0.1, 0.1, 0.2, 0.2],
        } | own
        g.add(
            lambda x, h=how: opset1.add(opset8.prior_box(g.k([2, 3]), g.k([30, 40]), h), x),
            np.zeros(1, "f4"),
        )
    return g


def regions() -> Group:
    g = Group("regions", 14)
    images = np.array([0, 1, 0, 1, 1])
    x, rois = g.f(2, 3, 12, 12), corners(g, 5, 1, 12.0)[0]
    for mode, kind, samples in (
        ("asymmetric", "avg", 2),
        ("half_pixel_for_nn", "max", 0),
        ("half_pixel", "avg", 0),
    ):
        g.add(
            lambda x, r, m=mode, k=kind, s=samples: opset9.roi_align(
                x, r, g.k(images), 3, 2, s, 0.7, k, m
            ),
            x,
            rois,
        )
    table = np.concatenate([images[:, None], rois], 1).astype("f4")
    g.add(
        lambda x, r: opset1.psroi_pooling(x, r, 2, 3, 0.7, 1, 1, "average"), g.f(2, 18, 9, 9), table
    )
    weight = g.k(g.f(4, 2, 3, 3))
    for border in (True,):
        g.add(
            lambda x, o, m, b=border: opset8.deformable_convolution(
                x, o, weight, [1, 2], [1, 1], [1, 0], [1, 1], m, "explicit", 2, 2, b
            ),
            g.f(1, 4, 6, 6),
            g.f(1, 36, 6, 3),
            np.abs(g.f(1, 18, 6, 3)),
        )
    grid = g.random.uniform(-1.3, 1.3, (2, 4, 5, 2)).astype("f4")
    how = {"mode": "bicubic", "padding_mode": "reflection", "align_corners": False}
    g.add(lambda x, at: opset9.grid_sample(x, at, how), g.f(2, 3, 6, 7), grid)
    g.add(lambda x: opset1.region_yolo(x, 4, 3, 2, True, [0], 1, 3, [1.0] * 4), g.f(2, 16, 3, 4))
    g.add(lambda x: opset1.region_yolo(x, 4, 3, 4, False, [0, 1], 1, 3, [1.0]), g.f(2, 16, 3, 4))
    g.add(lambda x: opset3.reorg_yolo(x, [2]), g.f(1, 8, 4, 6))
    return g


def resampling() -> Group:
    g = Group("resampling", 15)
    x, axes = g.f(1, 2, 6, 7), g.k([2, 3])
    for where in ("half_pixel", "asymmetric", "align_corners", "tf_half_pixel_for_nn"):
        for nearest in ("simple", "floor", "round_prefer_floor"):
            for sizes in ([9, 5], [6, 1]):
                rest = "nearest", "sizes", [0] * 4, [0] * 4, where, nearest, False, -0.75, axes
                g.add(lambda a, s=sizes, r=rest: opset11.interpolate(a, g.k(s), *r), x)
    for mode in ("linear", "linear_onnx", "cubic"):
        rest = mode, "sizes", [0] * 4, [0] * 4, "tf_half_pixel_for_nn", "floor", False, -0.75, axes
        g.add(lambda a, r=rest: opset11.interpolate(a, g.k([9, 5]), *r), x)
    for mode in ("bilinear_pillow", "bicubic_pillow"):
        for sizes in ([9, 5], [3, 3]):
            rest = mode, "sizes", [0] * 4, [0] * 4, "half_pixel", "floor", False, -0.5, axes
            g.add(lambda a, s=sizes, r=rest: opset11.interpolate(a, g.k(s), *r), x)
    fourth = NodeFactory("opset4")
    how = {
        "mode": "cubic",
        "shape_calculation_mode": "sizes",
        "pads_begin": [0, 0, 1, 2],
        "pads_end": [0, 0, 2, 0],
    }
    given = g.k([9, 5]), g.k([1, 1], "f4"), axes
    g.add(lambda a: fourth.create("Interpolate", [a, *given], how), x)
    for mode in ("nearest", "linear"):
        for corner in (True, False):
            how = {"axes": [2, 3], "mode": mode, "align_corners": corner}
            g.add(lambda a, h=how: opset1.interpolate(a, g.k([9, 5]), h), x)
    for axes_ in ([1], [2, 3]):
        for size in (3, 4):
            g.add(
                lambda a, s=size, at=axes_: opset1.lrn(a, g.k(at), 0.5, 0.6, 1.0, s),
                g.f(1, 6, 5, 4),
            )
    weight, groups = g.k(g.f(4, 3, 3, 3)), g.k(g.f(2, 2, 3, 3, 3))
    for out, pad, begin, end in (
        ([8, 12], "same_upper", [0, 0], [0, 0]),
        ([6, 9], "same_lower", [0, 0], [0, 0]),
        ([8, 12], "explicit", [1, 0], [0, 1]),
        ([10, 15], "valid", [0, 0], [0, 0]),
    ):
        rest = [2, 3], g.k(out), begin, end, [1, 1], pad
        image = g.f(2, 4, 4, 5)
        g.add(lambda a, r=rest: opset1.convolution_backprop_data(a, weight, *r), image)
        g.add(lambda a, r=rest: opset1.group_convolution_backprop_data(a, groups, *r), image)
    return g


def others() -> Group:
    g = Group("others", 16)
    x = np.round(g.f(2, 5) * 2) / 2
    for right in (True, False):
        g.add(lambda a, r=right: opset3.bucketize(a, g.k([-1, 0, 0.5, 2], "f4"), "i64", r), x)
        line = np.sort(np.round(g.f(2, 7) * 2) / 2)
        g.add(lambda t, a, r=right: opset15.search_sorted(t, a, r), line, x)
    g.add(lambda a: opset1.grn(a, 0.3), g.f(2, 4, 3, 3))
    g.add(
        lambda a: opset1.add(opset9.eye(g.k(4), g.k(3), g.k(-1), "f32", g.k([2])), a), np.float32(0)
    )
    block = g.k([1, 1, 2, 3]), g.k([0, 0, 1, 0]), g.k([0, 0, 0, 2])
    g.add(lambda a: opset3.space_to_batch(a, *block), g.f(2, 3, 5, 7))
    g.add(lambda a: opset3.batch_to_space(a, *block), g.f(12, 2, 3, 4))
    g.add(
        lambda a: opset15.col2im(a, g.k([6, 7]), g.k([2, 3]), [1, 2], [1, 1], [1, 0], [0, 1]),
        g.f(2, 12, 18),
    )
    g.add(lambda a: opset14.inverse(a, False), g.f(2, 3, 3))
    places = [g.k(v) for v in ([3, 0], [0, 100], [-2, 1], [1, 0])]
    g.add(lambda a, u: opset15.slice_scatter(a, u, *places), g.f(2, 5, 3), g.f(2, 2, 3))
    table, at, starts = g.f(7, 3), g.k([0, 2, 3, 4]), g.k([0, 2, 2, 3])
    g.add(lambda t, w: opset15.embedding_bag_packed(t, g.k([[0, 2], [1, 6]]), w), table, g.f(2, 2))
    g.add(lambda t, w: opset3.embedding_bag_offsets_sum(t, at, starts, g.k(2), w), table, g.f(4))
    g.add(lambda t: opset15.embedding_bag_offsets(t, at, starts, None, None, "mean"), table)
    ids = g.k([0, 0, 2, 2])
    g.add(lambda t: opset3.embedding_segments_sum(t, at, ids, g.k(4), g.k(2)), table)
    pairs, axes = g.f(2, 6, 5, 2), g.k([1, 2])
    g.add(lambda a: opset9.dft(a, axes, g.k([7, 4])), pairs)
    g.add(lambda a: opset9.idft(a, g.k([-1])), pairs)
    g.add(lambda a: opset9.rdft(a, axes), g.f(2, 6, 5))
    g.add(lambda a: opset9.irdft(a, axes), pairs)
    for kind, low in (("u1", 0), ("i1", -128)):
        values = [g.random.integers(low, low + 255, (2, 9)).astype(kind) for _ in range(2)]
        g.add(opset1.add, *values)
        g.add(opset1.multiply, *values)
    return g


def stored() -> Group:
    """Constants of less than a byte, and floats of 8 bits."""
    g = Group("stored", 17)
    data = np.arange(48, dtype=np.uint8) * 13 + 5
    names = "u1 u2 u3 u3 u4 u6 u6 i4 nf4 f4e2m1 f8e4m3 f8e5m2 f8e8m0".split()
    counts = 50, 37, 40, 37, 31, 20, 18, 31, 33, 33, 16, 16, 16
    for name, count in zip(names, counts, strict=True):
        tensor = ov.Tensor(getattr(ov.Type, name), ov.Shape([count]))
        room = tensor.data.view(np.uint8).reshape(-1)
        room[:] = data[: room.size]
        numbers = ov.op.Constant(tensor)
        g.add(lambda x, k=numbers: o.add(o.convert(k, "f32"), x), np.zeros(1, "f4"))
    x = np.concatenate([g.f(99) * 100, g.f(99) * 1e-3, np.float32([1e5, -448, 449, 465])])
    g.add(lambda a: o.fake_convert(a, g.k([3], "f4"), g.k([0.5], "f4"), "f8e4m3"), x)
    g.add(lambda a: o.fake_convert(a, g.k([0.5], "f4"), None, "f8e5m2"), x)
    return g


def later() -> Group:
    """Forms that newer opsets have: axes that may stay, borders mirrored whole, distinct elements."""
    g = Group("later", 18)
    x = g.f(2, 1, 3, 1)
    for axes in ([1], [-1, 0], [0]):
        for may_stay in (False, True):
            g.add(lambda a, k=axes, m=may_stay: opset15.squeeze(a, g.k(k), m), x)
    g.add(lambda a: opset15.squeeze(a, None, True), x)
    g.add(lambda a: opset1.squeeze(a, g.k([0, 3])), x)
    borders = g.k([0, 3, 1]), g.k([2, 0, 4])
    g.add(lambda a: o.pad(a, *borders, "symmetric"), g.f(2, 3, 4))
    rows = g.random.integers(0, 2, (5, 2, 3)).astype(np.int64)
    for axis, is_sorted in ((None, True), (None, False), (0, True), (2, False)):
        k = None if axis is None else g.k(axis)
        g.add(lambda a, k=k, s=is_sorted: opset11.unique(a, k, s), rows.astype("f4"))
    boxes = np.float32([[0, 0, 0, 9, 9], [1, 3, 2, 11, 4]])
    g.add(lambda a, b: o.roi_pooling(a, b, [2, 3], 0.5, "max"), g.f(2, 2, 6, 6), boxes)
    at = np.array([0, -1, 2, -3, -4, 3])
    on_off = g.k(3), g.k(2, "f4"), g.k(-1, "f4")
    for mode in ("ignore_negative", "normalize"):
        g.add(lambda a, m=mode: opset16.one_hot(a, *on_off, 1, negative_indices_mode=m), at)
    into, places, source = g.f(4, 3), [[0, 1, -1], [0, 1, 0]], g.f(2, 3)
    for kind in ("f4", "i4"):
        own = (into * 9).astype(kind), (source * 9).astype(kind)
        for how in ("sum", "prod", "min", "max", "mean"):
            for keeps in (True, False):
                given = g.k(places), g.k(0), how, keeps
                g.add(
                    lambda a, u, k=given: opset15.scatter_elements_update(a, k[0], u, *k[1:]), *own
                )
    for pad, strides, rates in (
        ("same_upper", [2, 1], [1, 2]),
        ("same_lower", [1, 2], [1, 1]),
        ("valid", [2, 3], [2, 1]),
    ):
        given = [2, 3], strides, rates, pad
        g.add(lambda a, k=given: opset3.extract_image_patches(a, *k), g.f(2, 3, 6, 7))
    for mode in ("ZERO", "LOWEST"):
        ids = g.k([0, 0, 1, 3])
        g.add(
            lambda a, i=ids, m=mode: opset16.segment_max(a, i, g.k(5), fill_mode=m), g.f(4, 3) - 2
        )
        g.add(lambda a, i=ids, m=mode: opset16.segment_max(a, i, fill_mode=m), g.f(4, 3) - 2)
    for kind in ("u1", "i1"):  # also powers of more than 8 bits, and of more than 32
        a, b = np.array([2, 3, 2, 10, 16, 100, 7]), np.array([8, 5, 6, 20, 8, 5, 0])
        g.add(o.power, a.astype(kind), b.astype(kind))
        rows = g.random.integers(0, 120, (3, 4)).astype(kind)
        for reduction in (o.reduce_sum, o.reduce_l1):
            g.add(lambda a, f=reduction: f(a, g.k([0]), False), rows)
        g.add(lambda a: o.reduce_prod(a, g.k([0]), False), rows % 11)
    g.add(lambda a, b: o.matmul(a, b, False, True), rows, rows - 60)
    image = g.f(1, 2, 6, 5)
    g.add(
        lambda a: o.interpolate(a, g.k([9, 4]), "bicubic_pillow", "sizes", axes=g.k([2, 3])), image
    )
    return g


def shaped() -> Group:
    """Reshapes to computed shapes, in which zeros stand for extents of the input."""
    g = Group("shaped", 19)
    g.is_open = True
    rest, kept = g.k([-1], "i4"), g.k([0], "i4")

    def extent(x, i):
        return o.gather(o.shape_of(x, "i32"), g.k([i], "i4"), g.k(0, "i4"))

    def reshaped(shape):
        g.add(lambda x: o.reshape(x, o.concat(shape(x), 0), True), g.f(2, 3, 4))

    reshaped(lambda x: [o.reduce_prod(o.shape_of(x, "i32"), g.k(0), True), rest])
    reshaped(lambda x: [kept, o.multiply(extent(x, 1), extent(x, 2))])
    reshaped(lambda x: [o.multiply(extent(x, 0), g.k([0], "i4")), rest])
    reshaped(lambda x: [extent(x, 2), extent(x, 1), extent(x, 0)])
    return g


if __name__ == "__main__":
    FILES.mkdir(exist_ok=True)
    for make in (branches, loops, detectors, regions, resampling, others, stored, later, shaped):
        if make.__name__ in (sys.argv[1:] or [make.__name__]):
            make().write()
