"""Regions that a network proposes: boxes of a grid, moved, clipped to the image, the best kept.

Source: Ren and others, "Faster R-CNN" (2015).
"""

from __future__ import annotations

from dataclasses import dataclass

from .detections import best_first, measured, not_suppressed, places_of, rows_at
from .words import *


@dataclass(frozen=True)
class Proposing:
    """How proposals are chosen: how many of the best boxes are considered, then kept; None for all.

    A box that overlaps a better one by more than `overlap` is dropped.
    """

    before: int | None
    after: int | None
    overlap: float
    unit: float = 1.0
    """1 if a box includes its last element, so that its width is end - begin + 1; else 0."""


@dataclass(frozen=True)
class Proposals:
    """R boxes, image by image: their image [R], corners [R, 4], score [R, 1]."""

    images: Term
    boxes: Term
    scores: Term


def anchors(
    base: float,
    ratios: Sequence[float],
    scales: Sequence[float],
    unit: float = 1.0,
    whole: bool = False,
) -> np.ndarray:
    """Anchors around the middle of a square with side `base`, for each ratio and scale: [A, 4].

    Ratios are of height to width. Sizes are rounded to whole numbers before they are scaled;
    `whole` also rounds down the square of the width. `unit` is 1 where a box ends at its last
    element, else 0.
    """
    found = []
    center = (base - unit) / 2
    for ratio in ratios:
        area = base * base / ratio if ratio > 0 else 0.0
        width = _nearest(math.sqrt(math.floor(area) if whole else area))
        sizes = np.array([width, _nearest(width * ratio)])
        for scale in scales:
            half = (sizes * scale - unit) / 2
            found.append([*(center - half), *(center + half)])
    return np.array(found, np.float32)


def _nearest(value: float) -> float:
    return math.floor(value + 0.5)


def placed(boxes: np.ndarray, rows: int, columns: int, stride: float) -> np.ndarray:
    """Boxes [A, 4] at each point of a grid: [rows, columns, A, 4]."""
    y, x = np.indices((rows, columns), np.float32) * np.float32(stride)
    return boxes + np.stack([x, y, x, y], -1)[:, :, None]


def cut(boxes: Term, image: Term) -> Term:
    """Boxes [B, N, 4] clipped to images, whose last elements are at `image` [B, 2], x first."""
    last = joined([image, image], 1).reshape((image.value, 0), 1, 4)
    return boxes.max(0.0).min(last)


def proposed(boxes: Term, scores: Term, last: Term, least: Term, how: Proposing) -> Proposals:
    """The best of boxes [B, N, 4] by scores [B, N], clipped to the image and without small ones.

    `last` [B, 2] is the last element of each image, x first; `least` [B, 1] is the least length of
    a box's sides, both ends included.
    """
    boxes = cut(boxes, last)
    sides = boxes.part(2, 2, 4) - boxes.part(2, 0, 2) + 1.0
    wide = (sides.column(0) >= least) & (sides.column(1) >= least)
    return best(boxes, wide.choose(scores, -math.inf), how)


def ranked(boxes: Term, scores: Term, how: Proposing) -> tuple[Term, Term, Term]:
    """Boxes [B, T, 4] by falling score [B, T], and which of them are kept: those above -inf that
    overlap no better one.
    """
    found, order = best_first(scores, how.before)
    chosen = rows_at(boxes, order)
    sized = measured(chosen, how.unit)
    kept = not_suppressed(sized, found > -math.inf, how.overlap, how.after)
    return chosen, found, kept


def best(boxes: Term, scores: Term, how: Proposing) -> Proposals:
    """The boxes that `ranked` marks as kept."""
    chosen, found, kept = ranked(boxes, scores, how)
    places = places_of(kept)
    first = TensorType((None, 1), i64)
    images = places.made(nn.Slice(places.value, starts=(0, 0), out=first))
    return Proposals(
        images.reshape((images.value, 0)),
        chosen.made(nn.GatherNd(chosen.value, places.value)),
        found.made(nn.GatherNd(found.value, places.value)).spread(0, 1),
    )
