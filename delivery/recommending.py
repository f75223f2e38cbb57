"""Recommends an engine: the fastest of those whose outputs are accurate enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .engines.turns import ratio
from .measuring import Row


@dataclass(frozen=True)
class Recommendation:
    """An engine with its options, and the reason in sentences; no engine if none is suitable."""

    row: Row | None
    reason: str
    text: str


def recommend(rows: Sequence[Row], tolerance: float, compared: bool) -> Recommendation:
    """The fastest measured row whose outputs are within the tolerance.

    If there are no outputs to compare with, `compared` is false, and only speed counts.
    """
    measured = [row for row in rows if not row.result.failure and row.result.turns]
    good = [row for row in measured if row.within or not compared]
    if not good:
        reason = "no engine ran the model" if not measured else (
            f"no engine's outputs are within {tolerance:g} of the original's"
        )  # fmt: skip
        return Recommendation(None, reason, f"Nothing is recommended: {reason}.")
    best = min(good, key=lambda row: row.result.median)
    sentences = [_fastest(best), *_others(best, good), *_left_out(best, measured, good, tolerance)]
    error = best.result.accuracy and best.result.accuracy.max_rel
    if not compared:
        sentences.append("Nothing could be said of its accuracy: there is no reference.")
    elif error is not None:
        sentences.append(
            f"Its outputs differ from the original's by {error:.1e} of the largest value at most "
            f"({tolerance:g} is allowed)."
        )
    return Recommendation(best, sentences[0], " ".join(sentences))


def label(row: Row) -> str:
    """`ONNX Runtime on 2 threads`"""
    threads = row.result.threads
    return f"{row.engine.title} on {threads} thread{'s' if threads > 1 else ''}"


def _fastest(best: Row) -> str:
    return (
        f"{label(best)} is the fastest: {best.result.median:.3g} ms, "
        f"{best.result.spread:.2g} ms spread."
    )


def _others(best: Row, good: Sequence[Row]) -> list[str]:
    """Sentences that compare the best with others on as many threads, and name statistical ties."""
    found = []
    beside = [r for r in good if r is not best and r.result.threads == best.result.threads]
    if beside:
        times = [(ratio(best.result, row.result), row) for row in beside]
        listed = ", ".join(
            f"{times:.2f} times as fast as {row.engine.title}"
            for times, row in sorted(times, key=lambda one: one[0])
        )
        found.append(f"In neighbouring turns it is {listed}.")
    near = [row for row in good if row is not best and _is_near(best, row)]
    if near:
        found.append(f"Within the spread {' and '.join(map(label, near))} may be as fast.")
    if not best.engine.is_nnc and (ours := [row for row in good if row.engine.is_nnc]):
        own = min(ours, key=lambda row: row.result.median)
        found.append(
            f"The package's library, {label(own)}, takes {own.result.median:.3g} ms: here another "
            "engine wins."
        )
    return found


def _is_near(best: Row, row: Row) -> bool:
    a, b = best.result, row.result
    return b.median - b.spread <= a.median + a.spread


def _left_out(
    best: Row, measured: Sequence[Row], good: Sequence[Row], tolerance: float
) -> list[str]:
    """Sentences on faster engines whose outputs are not accurate enough."""
    faster = [row for row in measured if row not in good and row.result.median < best.result.median]
    return [
        f"{label(row)} takes {row.result.median:.3g} ms, but its outputs are not within "
        f"{tolerance:g} of the original's."
        for row in faster
    ]
