"""Shared parts of detectors: priors, boxes as offsets from priors, and the best boxes of each
class.

Boxes are corners, x then y, in the last dimension.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .gathering import true_places
from .words import *


def priors(
    places: Sequence[int],
    steps: Sequence[float],
    offsets: Sequence[float],
    sizes: np.ndarray,
    whole: Sequence[float] = (1.0, 1.0),
) -> np.ndarray:
    """Boxes of K sizes [K, 2], x then y, around each grid point: [rows, columns, K, 4].

    `places` (numbers of grid points), `steps` and `offsets` (of the first point, in steps) are
    given for rows, then for columns. Boxes are divided by the image's extents `whole`, x then y.
    """
    rows, columns = (
        (np.arange(count) + offset) * step
        for count, step, offset in zip(places, steps, offsets, strict=True)
    )
    centers = np.stack(np.meshgrid(columns, rows), axis=-1)[:, :, None]
    half = np.asarray(sizes).reshape(-1, 2) / 2
    return np.concatenate([centers - half, centers + half], axis=-1) / [*whole, *whole]


def sizes_of_priors(
    least: Sequence[float], most: Sequence[float], ratios: Sequence[float], squares_first: bool
) -> np.ndarray:
    """The sizes [K, 2] of SSD's priors: for each size in `least` one box of each ratio, and a
    square.

    The square's side is the geometric mean of the sizes in `least` and `most`; there is no square
    if `most` is empty. It comes last, or second if `squares_first`.
    """
    sizes = []
    for i, size in enumerate(least):
        shapes = [(size * math.sqrt(r), size / math.sqrt(r)) for r in ratios]
        square = [(math.sqrt(size * most[i]),) * 2] if len(most) else []
        sizes += [shapes[0], *square, *shapes[1:]] if squares_first else [*shapes, *square]
    return np.array(sizes, np.float32).reshape(-1, 2)


def ratios_of_priors(given: Sequence[float], flip: bool) -> list[float]:
    """1 and the given ratios without duplicates; with `flip`, each is followed by its inverse."""
    ratios = [1.0]
    for ratio in given:
        if all(abs(ratio - other) >= 1e-6 for other in ratios):
            ratios += [ratio, 1 / ratio] if flip else [ratio]
    return ratios


def decoded(anchors: Term, moves: Term, unit: float = 0.0, most: float | None = None) -> Term:
    """Anchors [.., 4] moved and resized by `moves` [.., 4], which a network predicts.

    Centers move by moves * the anchor's size, and sizes are multiplied by e**moves, where the
    exponents are limited to `most`. `unit` is 1 where a box ends at its last element, else 0.
    """
    low, high = anchors.part(-1, 0, 2), anchors.part(-1, 2, 4)
    size = high - low + unit if unit else high - low
    center = (low + high + unit) * 0.5 if unit else (low + high) * 0.5
    center = moves.part(-1, 0, 2) * size + center
    growth = moves.part(-1, 2, 4)
    half = (growth if most is None else growth.min(most)).function(nn.Exp) * size * 0.5
    return joined([center - half, center + half - unit if unit else center + half], -1)


def corners(boxes: Term) -> Term:
    """Boxes as corners, from their centers and sizes."""
    center, half = boxes.part(-1, 0, 2), boxes.part(-1, 2, 4) * 0.5
    return joined([center - half, center + half], -1)


def overlaps(a: Term, b: Term) -> Term:
    """The intersection over union (IoU) of boxes [.., N, 4] and [.., M, 4]: [.., N, M]."""
    lead = [(a.value, i) for i in range(a.rank - 2)]
    left = a.reshape(*lead, (a.value, a.rank - 2), 1, 4)
    right = b.reshape(*lead, 1, (b.value, b.rank - 2), 4)

    def area(low: Term, high: Term) -> Term:
        size = (high - low).max(0.0)
        return size.column(0) * size.column(1)

    low, high = ([t.part(-1, at, at + 2) for t in (left, right)] for at in (0, 2))
    common = area(low[0].max(low[1]), high[0].min(high[1]))
    union = area(low[0], high[0]) + area(low[1], high[1]) - common
    return (union > 0.0).choose(common / union, 0.0)


def best_first(scores: Term, most: int | None = None) -> tuple[Term, Term]:
    """The largest scores along the last dimension, in descending order, and their indices."""
    n, axis = scores.n, scores.rank - 1
    count = scores.shape[axis]
    if count is None:
        raise n.error("the number of boxes must be known at import")
    count = count if most is None else min(most, count)
    shape = (*scores.shape[:axis], count)
    out, where = TensorType(shape, scores.element), TensorType(shape, i64)
    k = n.constant(count, i64)
    found, order = n(nn.TopK(scores.value, k, axis=axis, out=out, indices=where))
    return Term(n, found), Term(n, order)


def not_suppressed(boxes: Term, eligible: Term, overlap: float, most: int | None = None) -> Term:
    """Which of the eligible boxes [.., N, 4], the best first, are kept: [.., N].

    A box is dropped if its IoU with a better box that is kept exceeds `overlap`.
    """
    n = boxes.n
    count = extent(n, (boxes.value, boxes.rank - 2)) if most is None else constant(n, most, i64)
    level = n.scalar(overlap, boxes.value)
    return boxes.made(nn.Suppress(boxes.value, eligible.value, count.value, level))


def decay_by_overlap(shares: Term, sigma: float | None) -> Term:
    """The least factor of each box by all better ones: shares [.., T, T] -> [.., T].

    A factor falls linearly with the share, or as a Gaussian if `sigma` is given, and rises with
    how far the better box is covered itself. Source: Wang and others, "SOLOv2" (2020).
    """
    n, count = shares.n, shares.shape[-1]
    assert count is not None
    better = constant(n, np.tri(count, k=-1, dtype=np.bool_))
    shares = better.choose(shares, 0.0)
    most = shares.largest(shares.rank - 1)
    lead = [(most.value, i) for i in range(most.rank)]
    covered = most.reshape(*lead[:-1], 1, lead[-1])
    if sigma is not None:
        left = ((covered * covered - shares * shares) * sigma).function(nn.Exp)
    else:
        left = (1.0 - shares) / (1.0 - covered)
    left = better.choose(left, 1.0)
    return left.least(left.rank - 1).min(1.0)


@dataclass(frozen=True)
class Choice:
    """How boxes are chosen: the `top` best of each class, then the `keep` best of each image.

    A box is dropped if its score is not above `threshold`, if its IoU with a better box exceeds
    `overlap`, or if it is of class `background`. `unit` is 1 where a box ends at its last element,
    else 0.
    """

    threshold: float
    overlap: float
    top: int | None = None
    keep: int | None = None
    background: int = -1
    unit: float = 0.0


@dataclass(frozen=True)
class Found:
    """M boxes: their image and class [M, 2], score [M, 1], corners [M, 4], and index [M, 1]."""

    places: Term
    scores: Term
    boxes: Term
    numbers: Term


@dataclass(frozen=True)
class Ranked:
    """The T best boxes of each class [B, C, T, 4], with scores [B, C, T] in descending order.

    `numbers` [B, C, T] are the boxes' indices, `kept` [B, C, T] says which of them are kept.
    """

    boxes: Term
    scores: Term
    numbers: Term
    kept: Term

    @property
    def classes(self) -> int:
        assert self.scores.shape[1] is not None
        return self.scores.shape[1]

    @property
    def top(self) -> int:
        assert self.scores.shape[2] is not None
        return self.scores.shape[2]

    def by_class(self) -> Found:
        """The boxes that are kept, image by image and class by class, the best first."""
        found = places_of(self.kept)
        first = TensorType((None, 2), i64)
        images = found.made(nn.Slice(found.value, starts=(0, 0), out=first))
        taken = (self.scores, self.numbers, self.boxes)
        scores, numbers, boxes = (t.made(nn.GatherNd(t.value, found.value)) for t in taken)
        return Found(images.cast(scores.element), scores.spread(0, 1), boxes, numbers.spread(0, 1))

    def by_score(self, most: int | None = None) -> Found:
        """The boxes that are kept, image by image the best first, at most `most` of each."""
        n, count = self.scores.n, self.classes * self.top
        ranked = self.kept.choose(self.scores, -math.inf).flattened(1)
        found, order = best_first(ranked, most)
        rows = places_of(found > -math.inf)
        batch = (self.scores.value, 0)
        kinds = constant(n, np.arange(self.classes).repeat(self.top)).gather(order)

        def taken(x: Term) -> Term:
            return x.made(nn.GatherNd(rows_at(x, order).value, rows.value))

        image = rows.made(nn.Slice(rows.value, starts=(0, 0), out=TensorType((None, 1), i64)))
        kind = kinds.made(nn.GatherNd(kinds.value, rows.value)).spread(0, 1)
        return Found(
            joined([image, kind], 1).cast(found.element),
            found.made(nn.GatherNd(found.value, rows.value)).spread(0, 1),
            taken(self.boxes.reshape(batch, count, 4)),
            taken(self.numbers.flattened(1)).spread(0, 1),
        )


def rows_at(x: Term, order: Term) -> Term:
    """The rows of x [B, N, ..] at indices [B, K]: [B, K, ..]."""
    return x.made(nn.GatherNd(x.value, order.spread(0, 1).value, batch_dims=1))


def places_of(mask: Term) -> Term:
    """The indices of a mask's true elements, in order: [M, rank]."""
    n = mask.n
    return Term(n, true_places(n, mask.value))


def ranked_by_class(boxes: Term, scores: Term, choice: Choice) -> Ranked:
    """The `top` best boxes of each class; all above the threshold but the background are kept.

    boxes [B, N, 4], or [B, C, N, 4] where each class has its own; scores [B, C, N]
    """
    n = boxes.n
    best, order = best_first(scores, choice.top)
    classes = best.shape[1]
    assert classes is not None
    wanted = np.arange(classes).reshape(1, classes, 1) != choice.background
    eligible = (best > choice.threshold) & constant(n, wanted, i1)
    index, lead = order.spread(0, 1), boxes.rank - 2
    chosen = boxes.made(nn.GatherNd(boxes.value, index.value, batch_dims=lead))
    return Ranked(chosen, best, order, eligible)


def best_of_classes(boxes: Term, scores: Term, choice: Choice) -> Ranked:
    """`ranked_by_class` after non-maximum suppression within each class."""
    found = ranked_by_class(boxes, scores, choice)
    kept = not_suppressed(measured(found.boxes, choice.unit), found.kept, choice.overlap)
    if choice.keep is not None and choice.keep < found.classes * found.top:
        kept = _best_of_all(kept, found.scores, choice.keep)
    return replace(found, kept=kept)


def measured(boxes: Term, unit: float) -> Term:
    """Boxes whose ends are moved by `unit`, so that sizes count the last element."""
    if not unit:
        return boxes
    return joined([boxes.part(-1, 0, 2), boxes.part(-1, 2, 4) + unit], -1)


def _best_of_all(kept: Term, scores: Term, most: int) -> Term:
    """Which of the kept boxes are among the `most` best of their image, over all classes."""
    least = best_first(kept.choose(scores, -math.inf).flattened(1), most)[0]
    return kept & (scores >= least.part(1, most - 1, most).spread(0, 1))


def image_of(n: Layer, counts: Value | None, regions: Term) -> Term:
    """The index of the image that each of the regions [R, ..] belongs to: [R].

    `counts` has how many regions each image has, in order; it is None for a single image.
    """
    number = counting(n, extent(n, (regions.value, 0)))
    if counts is None or counts.type.shape == (1,):
        return number * 0
    ends = Term(n, n(nn.Cumsum(n.cast(counts, i64), axis=0)))
    return (number.spread(0, 1) >= ends).cast(i64).sum(1)
