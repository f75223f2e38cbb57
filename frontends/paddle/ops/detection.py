"""Object detection: prior boxes, box decoding, suppression, and region proposals.

Source: PaddlePaddle's paddle/phi/kernels/cpu
"""

from __future__ import annotations

from dataclasses import replace

from ...common import regions
from ...common.detections import (
    Choice,
    Found,
    best_first,
    best_of_classes,
    decay_by_overlap,
    decoded,
    image_of,
    not_suppressed,
    overlaps,
    places_of,
    priors,
    ranked_by_class,
    ratios_of_priors,
    rows_at,
    sizes_of_priors,
)
from ...common.proposals import Proposing, cut, ranked
from ...common.vocabulary import *
from ..layer import PaddleLayer, rows

# -- boxes -----------------------------------------------------------------------------------------


@rows("yolo_box")
def yolo_box(n: PaddleLayer, x: Value, image: Value) -> list[Value]:
    """Boxes [B, A * H * W, 4] in the image and scores [B, A * H * W, C], zeros below the threshold.

    x is [B, A * (5 + C), H, W], preceded by A channels of IoU if `iou_aware`; image is [B, 2].
    """
    anchors = np.array(n.ints("anchors"), np.float32).reshape(-1, 2)
    count, classes, (height, width) = len(anchors), n.int("class_num"), x.type.shape[2:]
    if height is None or width is None or not count:
        raise n.error(f"its input is {shape_text(x)}, expected anchors and known extents")
    batch, whole = (x, 0), Term(n, x)
    overlap = None
    if n.flag("iou_aware"):
        overlap = whole.part(1, 0, count).function(nn.Sigmoid)
        whole = whole.part(1, count, count * (6 + classes))
    cells = whole.reshape(batch, count, 5 + classes, height * width).transpose(0, 1, 3, 2)
    inner = cells.part(3, 4, 5 + classes).function(nn.Sigmoid)
    sure = inner.part(3, 0, 1)
    if overlap is not None:
        power = n.float("iou_aware_factor", 0.5)
        sure = sure ** (1 - power) * overlap.reshape(batch, count, height * width, 1) ** power
    seen = sure >= n.float("conf_thresh")
    scale, stride = n.float("scale_x_y", 1.0), n.int("downsample_ratio", 32)
    extents = Term(n, image).cast(f32).gather(constant(n, np.array([1, 0])), 1)
    extents = extents.reshape((image, 0), 1, 1, 2)  # x, then y
    places = np.stack(np.meshgrid(np.arange(width), np.arange(height)), -1).reshape(-1, 2)
    grid = constant(n, np.array([width, height], np.float32))
    corner = constant(n, places - 0.5 * (scale - 1)).cast(f32)
    center = (cells.part(3, 0, 2).function(nn.Sigmoid) * scale + corner) * extents / grid
    sizes = constant(n, anchors.reshape(count, 1, 2) / stride) / grid
    half = cells.part(3, 2, 4).function(nn.Exp) * sizes * extents * 0.5
    low, high = center - half, center + half
    if n.flag("clip_bbox", True):
        low, high = low.max(0.0), high.min(extents - 1.0)
    boxes = seen.choose(joined([low, high], 3), 0.0)
    scores = seen.choose(sure * inner.part(3, 1, 1 + classes), 0.0)
    total = count * height * width
    return [boxes.reshape(batch, total, 4).value, scores.reshape(batch, total, classes).value]


@rows("prior_box")
def prior_box(n: PaddleLayer, x: Value, image: Value) -> list[Value]:
    """Priors [H, W, K, 4] relative to the image, and their variances."""
    places, whole = x.type.shape[2:], image.type.shape[2:]
    if None in (*places, *whole):
        raise n.error(f"inputs {shape_text(x)} and {shape_text(image)}, expected known extents")
    steps = [
        n.float(name) or own / count
        for name, own, count in zip(("step_h", "step_w"), whole, places, strict=True)
    ]
    ratios = ratios_of_priors(n.floats("aspect_ratios"), n.flag("flip"))
    squares_first = n.flag("min_max_aspect_ratios_order")
    sizes = sizes_of_priors(n.floats("min_sizes"), n.floats("max_sizes"), ratios, squares_first)
    offset = n.float("offset", 0.5)
    boxes = priors(places, steps, (offset, offset), sizes, whole[::-1]).astype(np.float32)
    boxes = boxes.clip(0, 1) if n.flag("clip") else boxes
    variances = np.broadcast_to(np.array(n.floats("variances"), np.float32), boxes.shape)
    return [n.constant(boxes), n.constant(np.ascontiguousarray(variances))]


@rows("box_coder")
def box_coder(
    n: PaddleLayer, anchors: Value, variances: Value | None = None, moves: Value | None = None
) -> Value:
    """Boxes [N, M, 4] decoded from offsets `moves` from M priors, or from N priors with axis 1."""
    if n.text("code_type") != "decode_center_size" or moves is None:
        raise n.error("boxes are encoded in training only")
    axis = n.int("axis")

    def placed(value: Value) -> Term:
        return Term(n, value).spread(0, 1).transpose(0, 2, 1) if axis else Term(n, value)

    given, own = Term(n, moves), n.floats("variance")
    if variances is not None:
        given = given * placed(variances)
    elif own:
        given = given * constant(n, np.array(own, np.float32))
    unit = 0.0 if n.flag("box_normalized", True) else 1.0
    return decoded(placed(anchors), given, unit).value


# -- the best --------------------------------------------------------------------------------------


@rows("nms")
def nms(n: PaddleLayer, boxes: Value) -> Value:
    """The indices of the boxes, the best first, that no better one overlaps."""
    table = Term(n, boxes).reshape(1, (boxes, 0), 4)
    eligible = table.column(0) * 0.0
    kept = not_suppressed(table, eligible.equals(0.0), n.float("threshold", 1.0))
    found = n(nn.NonZero(kept.reshape((boxes, 0)).value))
    return n(nn.Reshape(found, out=TensorType((None,), i64)))


@rows("multiclass_nms3")
def multiclass_nms(
    n: PaddleLayer, boxes: Value, scores: Value, counts: Value | None = None
) -> list[Value]:
    """Rows of (class, score, corners); their indices among all boxes; the number of rows per image.

    boxes [B, N, 4], scores [B, C, N]
    """
    if scores.type.rank != 3 or n.float("nms_eta", 1.0) != 1:
        raise n.error(f"scores of shape {shape_text(scores)}, with nms_eta {n.float('nms_eta', 1)}")
    found = best_of_classes(Term(n, boxes), Term(n, scores), _choice(n)).by_class()
    return _rows(n, boxes, found)


def _choice(n: PaddleLayer) -> Choice:
    top, keep = n.int("nms_top_k", -1), n.int("keep_top_k", -1)
    return Choice(
        threshold=n.float("score_threshold"),
        overlap=n.float("nms_threshold", 0.3),
        top=top if top > 0 else None,
        keep=keep if keep > 0 else None,
        background=n.int("background_label", 0),
        unit=0.0 if n.flag("normalized", True) else 1.0,
    )


def _rows(n: PaddleLayer, boxes: Value, found: Found) -> list[Value]:
    """The rows, their indices among the boxes of all images, and the number of rows per image."""
    images, classes = (found.places.part(1, i, i + 1) for i in range(2))
    numbers = images.cast(i64) * (boxes.type.shape[1] or 0) + found.numbers
    each = constant(n, np.arange(boxes.type.shape[0] or 1)).cast(images.element)
    return [
        joined([classes, found.scores, found.boxes], 1).value,
        numbers.cast(i32).value,
        images.equals(each).cast(i32).sum(0).value,
    ]


@rows("matrix_nms")
def matrix_nms(n: PaddleLayer, boxes: Value, scores: Value) -> list[Value]:
    """Like `multiclass_nms`, but scores decay with the overlap by better boxes (matrix NMS)."""
    if not n.flag("normalized", True):
        raise n.error("boxes that end at their last element are not supported")
    if None in scores.type.shape:
        raise n.error(f"scores of shape {shape_text(scores)}, expected known extents")
    choice = _choice(n)
    found = ranked_by_class(Term(n, boxes), Term(n, scores), choice)
    sigma = n.float("gaussian_sigma", 2.0) if n.flag("use_gaussian") else None
    fallen = found.scores * decay_by_overlap(overlaps(found.boxes, found.boxes), sigma)
    kept = found.kept & (fallen >= n.float("post_threshold"))
    return _rows(n, boxes, replace(found, scores=fallen, kept=kept).by_score(choice.keep))


@rows("generate_proposals")
def generate_proposals(
    n: PaddleLayer, scores: Value, moves: Value, image: Value, anchors: Value, variances: Value
) -> list[Value]:
    """Regions [R, 4], their scores [R, 1], and the number of regions per image [B].

    scores [B, A, H, W], moves [B, 4 A, H, W], image [B, 2], anchors and variances [H, W, A, 4]
    """
    batch, count, height, width = scores.type.shape
    if None in (batch, count, height, width) or n.float("eta", 1.0) != 1:
        raise n.error(f"scores of shape {shape_text(scores)}, with eta {n.float('eta', 1.0)}")
    total, unit = (count or 0) * (height or 0) * (width or 0), float(n.flag("pixel_offset", True))
    sure = Term(n, scores).transpose(0, 2, 3, 1).reshape((scores, 0), total)
    given = Term(n, moves).reshape((scores, 0), count or 0, 4, height or 0, width or 0)
    given = given.transpose(0, 3, 4, 1, 2).reshape((scores, 0), total, 4)
    before, after = n.int("pre_nms_top_n", -1), n.int("post_nms_top_n", -1)
    best, order = best_first(sure, before if before > 0 else None)
    own = [Term(n, v).reshape(1, total, 4) for v in (anchors, variances)]
    most = math.log(1000 / 16)
    boxes = rows_at(decoded(own[0], given * own[1], unit, most), order)
    extents = Term(n, image).cast(best.element).gather(constant(n, np.array([1, 0])), 1)
    boxes = cut(boxes, extents - unit)
    sides = boxes.part(2, 2, 4) - boxes.part(2, 0, 2) + unit
    wide = sides >= max(n.float("min_size", 0.1), 1.0)
    if unit:
        middle = boxes.part(2, 0, 2) + sides * 0.5
        wide = wide & (middle <= extents.reshape((image, 0), 1, 2))
    wide = wide.column(0) & wide.column(1)
    how = Proposing(None, after if after > 0 else None, n.float("nms_thresh", 0.5), unit)
    found = ranked(boxes, wide.choose(best, -math.inf), how)
    places = places_of(found[2])
    taken = (t.gather_nd(places) for t in found[:2])
    rois, chances = taken
    return [rois.value, chances.spread(0, 1).value, found[2].cast(i32).sum(1).value]


@rows("distribute_fpn_proposals")
def distribute(n: PaddleLayer, rois: Value, counts: Value | None = None) -> list:
    """The regions of each pyramid level, by their size; then the indices that restore the order of
    all regions.
    """
    least, most = n.int("min_level", 2), n.int("max_level", 5)
    unit = float(n.flag("pixel_offset", True))
    sides = Term(n, rois).part(1, 2, 4) - Term(n, rois).part(1, 0, 2)
    valid = (sides.column(0) >= 0.0) & (sides.column(1) >= 0.0)
    area = valid.choose((sides.column(0) + unit) * (sides.column(1) + unit), 0.0)
    scale = area.function(nn.Sqrt) / float(n.int("refer_scale", 224)) + 1e-8
    level = (scale.function(nn.Log) * (1 / math.log(2))).function(nn.Floor)
    level = (level + float(n.int("refer_level", 4))).max(float(least)).min(float(most))
    image = image_of(n, counts, Term(n, rois))
    images = 1 if counts is None else counts.type.shape[0] or 1
    parts, numbers, orders = [], [], []
    for i in range(least, most + 1):
        inside = level.equals(float(i))
        order = Term(n, n(nn.NonZero(inside.value))).flat()
        orders.append(order)
        parts.append(Term(n, rois).gather(order).value)
        own = image.gather(order).spread(0, 1).equals(constant(n, np.arange(images)))
        numbers.append(own.cast(i32).sum(0).value)
    whole = joined(orders, 0)
    place = counting(n, extent(n, (rois, 0)))
    back = n(nn.ScatterElements(place.value, whole.value, place.value, axis=0))
    return [parts, numbers, Term(n, back).cast(i32).spread(0, 1).value]


@rows("box_clip")
def box_clip(n: PaddleLayer, boxes: Value, image: Value) -> Value:
    """Boxes [R, 4] clipped to a single image, given as (height, width, scale)."""
    if image.type.shape[0] != 1:
        raise n.error("boxes of several images")
    size = Term(n, image).part(1, 0, 2) / Term(n, image).part(1, 2, 3)
    last = (size + 0.5).function(nn.Floor).gather(constant(n, np.array([1, 0])), 1) - 1.0
    table = Term(n, boxes).reshape(1, (boxes, 0), 4)
    return cut(table, last).reshape((boxes, 0), 4).value


# -- regions ---------------------------------------------------------------------------------------


def _bins(n: PaddleLayer) -> tuple[int, int]:
    return n.int("pooled_height", 1), n.int("pooled_width", 1)


@rows("roi_align")
def roi_align(n: PaddleLayer, x: Value, boxes: Value, counts: Value | None = None) -> Value:
    return regions.roi_align(
        n,
        x,
        boxes,
        image_of(n, counts, Term(n, boxes)).value,
        bins=_bins(n),
        scale=n.float("spatial_scale", 1.0),
        samples=max(n.int("sampling_ratio", -1), 0),
        half=n.flag("aligned"),
    )


def _by_table(pool: Callable[..., Value]) -> Callable[..., list]:
    """A converter for a pooling whose regions are rows [R, 5] that begin with the image's index."""

    def convert(n: PaddleLayer, x: Value, boxes: Value, counts: Value | None = None) -> list:
        given = Term(n, boxes)
        image = image_of(n, counts, given).cast(given.element).spread(0, 1)
        table = joined([image, given], 1).value
        return [pool(n, x, table, bins=_bins(n), scale=n.float("spatial_scale", 1.0)), None]

    return convert


rows.add(
    {
        "roi_pool": _by_table(regions.max_roi_pool),
        "psroi_pool": _by_table(regions.average_of_own_channels),
    }
)
