"""SSD's priors, and the detections made from offsets to them."""

from __future__ import annotations

from dataclasses import replace

from ...common.detections import (
    Choice,
    Ranked,
    best_first,
    best_of_classes,
    decoded,
    ratios_of_priors,
)
from ...common.vocabulary import *
from ...common.windows import pad_by_vector
from ..layer import OpenvinoLayer, rows


@rows("DetectionOutput")
def detections(
    n: OpenvinoLayer,
    moves: Value,
    scores: Value,
    anchors: Value,
    sure: Value | None = None,
    first_moves: Value | None = None,
) -> Value:
    """Rows of (image, class, score, corners): [1, 1, R, 7], then a row of -1 and rows of zeros.

    moves [B, N * 4 or N * C * 4], scores [B, N * C], anchors [1 or B, 1 or 2, N * size]
    """
    own = anchors.type.shape[2]
    wide = 4 if n.flag("normalized", False) else 5
    if None in (own, *scores.type.shape) or moves.type.shape[0] != scores.type.shape[0]:
        raise n.error("its inputs must have known extents")
    count = own // wide
    classes = scores.type.shape[1] // count
    n.float("objectness_score", 0.0)
    if n.opset < 8 and n.int("num_classes") != classes:
        raise n.error(f"{classes} scores of each box, expected {n.int('num_classes')}")
    given = Term(n, anchors)
    first, variances = _anchors(n, given, count, wide)
    shares = n.flag("share_location", True)
    if sure is not None and first_moves is not None:
        first = _moved(n, first, variances, first_moves, count, shares, classes)
    boxes = _moved(n, first, variances, moves, count, shares, classes)
    if n.flag("clip_before_nms", False):
        boxes = boxes.max(0.0).min(1.0)
    chances = Term(n, scores).reshape((scores, 0), count, classes).transpose(0, 2, 1)
    if sure is not None:
        chances = _objects_only(n, chances, sure, count)
    found = _kept(n, boxes, chances).by_class()
    out = found.boxes.max(0.0).min(1.0) if n.flag("clip_after_nms", False) else found.boxes
    less = float(n.flag("decrease_label_id", False))
    images, kinds = (found.places.part(1, i, i + 1) for i in range(2))
    table = joined([images, kinds - less, found.scores, out], axis=1)
    return _padded(n, table, scores.type.shape[0], count, classes)


def _anchors(n: OpenvinoLayer, given: Term, count: int, wide: int) -> tuple[Term, Term | None]:
    """The corners [.., 1, N, 4] of priors as parts of the image, and their variances."""
    first = given.part(1, 0, 1).reshape((given.value, 0), 1, count, wide)
    size = [float(n.int(f"input_{name}", 1)) for name in ("width", "height")]
    if wide == 5:
        first = first.part(3, 1, 5) / constant(n, np.array([*size, *size], np.float32))
    if n.flag("variance_encoded_in_target", False):
        return first, None
    flat = given.part(1, 1, 2).reshape((given.value, 0), 1, count * wide)
    return first, flat.part(2, 0, count * 4).reshape((given.value, 0), 1, count, 4)


def _moved(
    n: OpenvinoLayer,
    first: Term,
    variances: Term | None,
    moves: Value,
    count: int,
    shares: bool,
    classes: int,
) -> Term:
    """Boxes [B, 1 or C, N, 4], from offsets to the priors."""
    kinds = 1 if shares else classes
    given = Term(n, moves).reshape((moves, 0), count, kinds, 4).transpose(0, 2, 1, 3)
    if variances is not None:
        given = given * variances
    match n.text("code_type", "caffe.priorboxparameter.corner").rpartition(".")[2]:
        case "corner":
            return first + given
        case "center_size":
            return decoded(first, given)
        case kind:
            raise n.error(f"boxes coded as '{kind}' are not supported")


def _objects_only(n: OpenvinoLayer, chances: Term, sure: Value, count: int) -> Term:
    """Scores [B, C, N], those of the background where an earlier stage sees no object."""
    sees = Term(n, sure).reshape((sure, 0), count, 2).column(1).spread(1, 0)
    background = n.int("background_label_id", 0)
    classes = chances.shape[1] or 0
    nothing = (np.arange(classes) == background).astype(np.float32).reshape(1, -1, 1)
    sees = (sees >= n.float("objectness_score", 0.0)).reshape((chances.value, 0), 1, count)
    return sees.choose(chances, constant(n, nothing))


def _kept(n: OpenvinoLayer, boxes: Term, chances: Term) -> Ranked:
    """The boxes that are kept, after suppression within each class."""
    top, keep = n.int("top_k", -1), n.ints("keep_top_k")[0]
    background = n.int("background_label_id", 0)
    choice = Choice(
        threshold=n.float("confidence_threshold", 0.0),
        overlap=n.float("nms_threshold"),
        top=top if top > -1 else None,
        keep=keep if keep > -1 else None,
        background=background,
    )
    classes = chances.shape[1] or 0
    if boxes.shape[1] == 1:
        boxes = boxes.reshape((boxes.value, 0), boxes.shape[2] or 0, 4)
    if n.flag("decrease_label_id", False):  # each box is of its best class only
        kinds = np.arange(classes).reshape(1, -1, 1)
        wanted = constant(n, (kinds > 0) & (kinds != background), i1)
        chances = wanted.choose(chances, -1.0)
        is_best = chances.argmax(1, keep=True).equals(constant(n, kinds))
        chances = (is_best & (chances >= choice.threshold) & wanted).choose(chances, -math.inf)
        if choice.top is not None:
            count = (chances.shape[1] or 0) * (chances.shape[2] or 0)
            best, _ = best_first(chances.flattened(1), min(choice.top, count))
            worst = best.part(1, (best.shape[1] or 1) - 1, best.shape[1] or 1).spread(0, 1)
            chances = (chances >= worst).choose(chances, -math.inf)
        choice = replace(choice, threshold=-math.inf, background=-1)
    return best_of_classes(boxes, chances, choice)


def _padded(n: OpenvinoLayer, table: Term, images: int, count: int, classes: int) -> Value:
    """The rows with a mark behind the last one, as [1, 1, R, 7]."""
    top, keep = n.int("top_k", -1), n.ints("keep_top_k")[0]
    each = keep if keep > 0 else (top if top > 0 else count) * classes
    total, own = images * each, extent(n, (table.value, 0))
    mark = constant(n, np.array([[-1, 0, 0, 0, 0, 0, 0]], np.float32))
    ends = constant(n, [0, 0]), (constant(n, total, i64) - own).reshape(1), constant(n, [0])
    pads = joined([ends[0], ends[1], ends[2]], 0)
    rows_ = pad_by_vector(n, joined([table, mark], 0).value, pads.value, n.scalar(0.0, table.value))
    return Term(n, rows_).part(0, 0, total).reshape(1, 1, total, 7).value


@rows("PriorBox")
def prior_box(n: OpenvinoLayer, layer: Value, image: Value) -> Value:
    """Boxes at each position, as corners relative to the image, then variances: [2, P]."""
    height, width = n.known_ints(layer, "the extents of the layer")
    high, wide = n.known_ints(image, "the extents of the image")
    scales, step = n.flag("scale_all_sizes", True), n.float("step", 0.0)
    least = np.array(n.floats("min_size"), np.float32)
    if not scales:
        step = high / height if step == -1 else step * high
        least = least * high
    steps, offset = (step, step), n.float("offset")
    if step == 0:
        steps, offset = (high / height, wide / width), 0.5
    sizes = _sizes(n, least, scales)
    dense = _dense_sizes(n)
    rows_, columns = (
        (np.arange(c) + offset) * s for c, s in zip((height, width), steps, strict=True)
    )
    centers = np.stack(np.meshgrid(columns, rows_), -1)[:, :, None].astype(np.float32)
    whole, parts = np.array([wide, high], np.float32), []
    for shapes, bounds in ((dense, (0, 1)), (sizes, (-np.inf, np.inf))):
        middle, half = centers + shapes[:, :2], shapes[:, 2:] / 2
        begin = ((middle - half) / whole).clip(bounds[0], None)
        parts.append(np.concatenate([begin, ((middle + half) / whole).clip(None, bounds[1])], -1))
    boxes = np.concatenate(parts, 2).reshape(-1)
    return _with_variances(n, boxes.clip(0, 1) if n.flag("clip") else boxes)


def _sizes(n: OpenvinoLayer, least: np.ndarray, scales: bool) -> np.ndarray:
    """The centers (0, 0) and sizes of boxes: [K, 4]."""
    most = n.floats("max_size")
    ratios, found = _ratios(n)[1:], []
    squares_first = n.flag("min_max_aspect_ratios_order", True)
    for i, size in enumerate(least):
        square = [(math.sqrt(size * most[i]),) * 2] if i < len(most) else []
        others, base = [], least[i if scales else 0]
        if scales or i == len(least) - 1:
            others = [(base * math.sqrt(r), base / math.sqrt(r)) for r in ratios]
        found += [(size, size), *([*square, *others] if squares_first else [*others, *square])]
    sizes = np.array(found, np.float32).reshape(-1, 2)
    return np.concatenate([np.zeros_like(sizes), sizes], 1)


def _ratios(n: OpenvinoLayer) -> list[float]:
    return ratios_of_priors(n.floats("aspect_ratio"), n.flag("flip"))


def _dense_sizes(n: OpenvinoLayer) -> np.ndarray:
    """Offsets of centers and sizes of boxes that fill squares of fixed sizes: [K, 4]."""
    fixed, density, found = n.floats("fixed_size"), n.floats("density"), []
    given = n.floats("fixed_ratio")
    ratios = given or [1.0, *_ratios(n)[1:]]
    if fixed and len(density) != len(fixed):
        raise n.error(f"{len(density)} densities of {len(fixed)} fixed sizes")
    if fixed and given and len(given) != len(_ratios(n)):
        raise n.error("as many fixed ratios as ratios are needed: OpenVINO counts boxes by both")
    for size, dense in zip(fixed, density, strict=False):
        count = int(dense)
        if count < 1:
            raise n.error(f"a density of {dense:g}")
        shift, whole = int(size / count), int(size)
        places = -(whole // 2) + shift / 2 + np.arange(count) * shift
        for ratio in ratios:
            side = (size if given or ratio != 1 else whole) * np.array([ratio**0.5, ratio**-0.5])
            found += [(x, y, *side) for y in places for x in places]
    return np.array(found, np.float32).reshape(-1, 4)


def _with_variances(n: OpenvinoLayer, boxes: np.ndarray) -> Value:
    """Boxes [P] and their variances: [2, P]."""
    variances = n.floats("variance") or [0.1]
    if len(variances) not in (1, 4):
        raise n.error(f"{len(variances)} variances, expected 1 or 4")
    own = np.resize(np.array(variances, np.float32), boxes.shape)
    return n.constant(np.stack([boxes, own]).astype(np.float32))


@rows("PriorBoxClustered")
def clustered(n: OpenvinoLayer, layer: Value, image: Value) -> Value:
    """Boxes of given widths and heights at each position: [2, P]."""
    height, width = n.known_ints(layer, "the extents of the layer")
    high, wide = n.known_ints(image, "the extents of the image")
    step = n.float("step", 0.0)
    across, down = (n.float(f"step_{name}", 0.0) or step for name in ("w", "h"))
    across, down = across or wide / width, down or high / height
    offset = n.float("offset")
    rows_, columns = (np.arange(height) + offset) * down, (np.arange(width) + offset) * across
    centers = np.stack(np.meshgrid(columns, rows_), -1)[:, :, None]
    half = np.array([n.floats("width"), n.floats("height")]).T / 2
    boxes = np.concatenate([centers - half, centers + half], -1) / [wide, high, wide, high]
    boxes = boxes.astype(np.float32).reshape(-1)
    return _with_variances(n, boxes.clip(0, 1) if n.flag("clip", False) else boxes)
