"""Pictures of a report as SVG: one bar per engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

_WIDTH, _BAR, _GAP = 720, 22, 12
_LABELS, _NUMBERS = 220, 120
_TEXT = 13
"""The font size. Units of all sizes: pixels of the picture, which the page scales."""


@dataclass(frozen=True)
class Bar:
    """A row: its label, value, the text after the bar, half the length of its whisker (0 for none),
    and whether it is the recommended one.
    """

    label: str
    value: float
    text: str
    whisker: float = 0.0
    best: bool = False


def bars(title: str, about: str, rows: Sequence[Bar]) -> Markup:
    """A horizontal bar for each row, from 0; `about` is the alternative text."""
    height = len(rows) * (_BAR + _GAP) + _GAP
    most = max((row.value + row.whisker for row in rows), default=0.0) or 1.0
    scale = (_WIDTH - _LABELS - _NUMBERS) / most
    parts = [
        Markup('<svg class="picture" viewBox="0 0 {} {}" role="img" aria-label="{}">').format(
            _WIDTH, height, f"{title}. {about}"
        )
    ]
    for i, row in enumerate(rows):
        top = _GAP + i * (_BAR + _GAP)
        parts.append(_bar(row, top, scale))
    parts.append(Markup("</svg>"))
    return Markup("").join(parts)


def _bar(row: Bar, top: float, scale: float) -> Markup:
    middle, length = top + _BAR / 2, max(1.0, row.value * scale)
    kind = "bar best" if row.best else "bar"
    made = Markup(
        '<text x="{}" y="{}" class="label" text-anchor="end">{}</text>'
        '<rect x="{}" y="{}" width="{:.1f}" height="{}" rx="4" class="{}"/>'
    ).format(
        *(_LABELS - 10, middle + _TEXT / 3, _short(row.label)),
        *(_LABELS, top, length, _BAR, kind),
    )
    end = _LABELS + length
    if row.whisker:
        low, high = end - row.whisker * scale, end + row.whisker * scale
        made += Markup(
            '<path class="whisker" d="M{:.1f} {m}H{:.1f}M{:.1f} {a}v8M{:.1f} {a}v8"/>'
        ).format(low, high, low, high, m=middle, a=middle - 4)
        end = max(end, high)
    return made + Markup('<text x="{:.1f}" y="{}" class="number">{}</text>').format(
        end + 8, middle + _TEXT / 3, row.text
    )


def _short(text: str) -> str:
    return text if len(text) <= 32 else f"{text[:31]}…"


def bars_of(
    report: Mapping[str, Any],
    title: str,
    value: str,
    form: Callable[[float], str],
    whisker: str | None,
) -> Markup | None:
    """A picture of one figure of the report, with bars for all engines that have it.

    `value` is the figure's key in the report, `whisker` that of its spread, if it has one, and
    `form` formats the figure. With a spread there is a bar for each engine and number of threads,
    without one a bar for each engine: such figures hardly depend on the threads. Returns None if no
    engine has the figure.
    """
    best = report["recommendation"]
    chosen = (best["engine"], (best["options"] or {}).get("threads"))
    rows = []
    for one in report["engines"]:
        found = one[value]
        name, threads = one["title"], one["threads"]
        if found is None or one["failed"] or (not whisker and any(r.label == name for r in rows)):
            continue
        if whisker and len(report["threads"]) > 1:
            name = f"{name}, {threads} thread{'s' if threads > 1 else ''}"
        spread = (one[whisker] or 0.0) if whisker else 0.0
        is_best = one["name"] == chosen[0] and (not whisker or threads == chosen[1])
        rows.append(Bar(name, found, form(found), spread, is_best))
    if not rows:
        return None
    rows.sort(key=lambda row: row.value)
    return bars(title, "; ".join(f"{row.label}: {row.text}" for row in rows), rows)
