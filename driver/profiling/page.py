"""A profile as one self-contained HTML page: roofline, time line, table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from html import escape

from .collect import KernelRun, Profile, Spread
from .report import EXCESS, exceeds, percent, reading, shares, summary, waited

_WIDTH, _HEIGHT = 960, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 20, 20, 44
_COLOURS = ("#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#a463f2", "#97bbf5", "#9c6b4e")

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --text: #444; }
@media (prefers-color-scheme: dark) { :root { --text: #bbb; } }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 1000px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.5em; margin-bottom: 0; } h2 { font-size: 1.15em; margin-top: 2em; }
p { color: var(--text); } svg { width: 100%; min-width: 620px; height: auto; display: block; }
.wide { overflow-x: auto; } /* on a narrow screen it scrolls by itself */
svg text { font: 12px system-ui, sans-serif; fill: var(--text); }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
td, th { padding: 3px 8px; text-align: right; border-bottom: 1px solid var(--line); }
td:first-child, th:first-child, td.nodes, th:last-child { text-align: left; }
td { white-space: nowrap; }
td:first-child { position: sticky; left: 0; background: Canvas; max-width: 14em; overflow: hidden;
  text-overflow: ellipsis; }
td.nodes { color: var(--text); min-width: 12em; white-space: normal; overflow-wrap: anywhere; }
@media (max-width: 600px) { td:first-child { max-width: 8em; } body { margin-top: 1em; } }
circle:hover, rect.k:hover { stroke: currentColor; stroke-width: 2; }
"""


def html_page(profile: Profile) -> str:
    """The text of the page."""
    title = escape(profile.model)
    colours = _colours(profile)
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}: nnc profile</title>",
            f"<style>{_STYLE}</style></head><body>",
            f"<h1>{title}</h1><p>{escape(summary(profile))}</p>",
            "<h2>Roofline</h2><p>Each kernel by the operations it does for a byte of its arguments,"
            " and by its speed. Under a slope that memory is the limit, under the flat part the"
            " arithmetic units. The area of a circle is its share of the time."
            f"{' ' + EXCESS if exceeds(profile) else ''}</p>",
            *_scrolling(_roofline(profile, colours)),
            "<h2>Time line</h2><p>The fastest run. Point at a part to see what it is.</p>",
            *_scrolling(_timeline(profile, colours)),
            "<h2>Runs</h2><p>Each run as it was measured: its kernels, and above them, lighter,"
            " what it took beside them.</p>",
            *_scrolling(_runs(profile)),
            "<h2>Kernels</h2>",
            *_scrolling(_table(profile, colours)),
            "</body></html>",
            "",
        ]
    )


def _scrolling(rows: Iterable[str]) -> Iterator[str]:
    """A wide element that scrolls inside the page."""
    yield '<div class="wide">'
    yield from rows
    yield "</div>"


def _family(kernel: KernelRun) -> str:
    """The kernel's name without its number, which is its kind of work."""
    return kernel.kernel.rstrip("0123456789").rstrip("_")


def _colours(profile: Profile) -> dict[str, str]:
    """A colour for each kind of kernel; the most expensive kinds get different ones."""
    times: dict[str, float] = {}
    for kernel in profile.kernels:
        family = _family(kernel)
        times[family] = times.get(family, 0) + kernel.median
    ordered = sorted(times, key=lambda family: -times[family])
    return {family: _COLOURS[min(i, len(_COLOURS) - 1)] for i, family in enumerate(ordered)}


def _about(kernel: KernelRun) -> str:
    """The tooltip of a kernel."""
    parts = [f"{kernel.label}: {kernel.median / 1e6:.3f} ms, {_range(kernel.time)}"]
    if kernel.gflops is not None and kernel.gigabytes is not None:
        parts.append(f"{kernel.gflops:.1f} GFLOP/s, {kernel.gigabytes:.1f} GB/s")
    if kernel.pieces:
        parts.append(f"pieces by thread {shares(kernel)}, waited {waited(kernel)} us")
    parts += kernel.nodes
    return f"<title>{escape(chr(10).join(parts))}</title>"


def _range(time: Spread) -> str:
    return f"{time.low / 1e6:.3f} to {time.high / 1e6:.3f}"


def _roofline(profile: Profile, colours: dict[str, str]) -> Iterator[str]:
    points = [
        (k, k.cost.operations / k.cost.bytes, k.gflops)
        for k in profile.kernels
        if k.cost.operations and k.cost.bytes and k.gflops
    ]
    peaks = profile.peaks
    ridge = peaks.gflops / peaks.gigabytes  # where the memory's slope meets the flat part
    xs = [x for _, x, _ in points] + [ridge / 8, ridge * 8]
    ys = [y for _, _, y in points] + [peaks.gflops / 30, peaks.gflops]
    x_axis = _Axis(min(xs) / 1.5, max(xs) * 1.5, _LEFT, _WIDTH - _RIGHT)
    y_axis = _Axis(min(ys) / 1.5, max(ys) * 1.6, _HEIGHT - _BOTTOM, _TOP)
    yield f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="roofline">'
    yield from _grid(x_axis, y_axis)
    for level in peaks.levels:
        low = max(x_axis.low, y_axis.low / level.gigabytes)
        x, y = x_axis(low), y_axis(low * level.gigabytes)
        corner = x_axis(peaks.gflops / level.gigabytes), y_axis(peaks.gflops)
        yield (
            f'<polyline fill="none" stroke="currentColor" points="{x:.1f},{y:.1f} '
            f'{corner[0]:.1f},{corner[1]:.1f} {_WIDTH - _RIGHT},{corner[1]:.1f}"/>'
        )
        place = f"translate({(x + corner[0]) / 2:.1f} {(y + corner[1]) / 2 - 5:.1f})"
        turn = math.degrees(math.atan2(corner[1] - y, corner[0] - x))
        yield (
            f'<text transform="{place} rotate({turn:.1f})" text-anchor="middle">'
            f"{level.name}, {level.gigabytes:.0f} GB/s</text>"
        )
    yield (
        f'<text x="{_WIDTH - _RIGHT}" y="{y_axis(peaks.gflops) - 6:.1f}" text-anchor="end">'
        f"{peaks.gflops:.0f} GFLOP/s of float32</text>"
    )
    total = sum(k.median for k in profile.kernels)
    for kernel, x, y in sorted(points, key=lambda p: -p[0].median):
        radius = max(2.5, 60 * math.sqrt(kernel.median / total))
        yield (
            f'<circle cx="{x_axis(x):.1f}" cy="{y_axis(y):.1f}" r="{radius:.1f}" '
            f'fill="{colours[_family(kernel)]}" fill-opacity="0.6">{_about(kernel)}</circle>'
        )
    yield "</svg>"


class _Axis:
    """A logarithmic scale from values to positions on the page."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        self.low, self.high, self.start, self.end = low, high, start, end

    def __call__(self, value: float) -> float:
        part = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + part * (self.end - self.start)

    def ticks(self) -> list[float]:
        first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
        return [10.0**power for power in range(first, last + 1)]


def _grid(x_axis: _Axis, y_axis: _Axis) -> Iterator[str]:
    for value in x_axis.ticks():
        x = x_axis(value)
        yield f'<path d="M{x:.1f} {_TOP}V{_HEIGHT - _BOTTOM}" stroke="var(--line)"/>'
        yield f'<text x="{x:.1f}" y="{_HEIGHT - 26}" text-anchor="middle">{value:g}</text>'
    for value in y_axis.ticks():
        y = y_axis(value)
        yield f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}" stroke="var(--line)"/>'
        yield f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>'
    middle = _WIDTH / 2
    yield f'<text x="{middle}" y="{_HEIGHT - 6}" text-anchor="middle">operations per byte</text>'
    yield f'<text x="{_LEFT}" y="{_TOP - 6}" text-anchor="middle">GFLOP/s</text>'


def _timeline(profile: Profile, colours: dict[str, str]) -> Iterator[str]:
    end = max((k.start + k.duration for k in profile.kernels), default=0) or 1
    height, legend = 64, 22
    families = list(colours)[: len(_COLOURS)]
    yield f'<svg viewBox="0 0 {_WIDTH} {height + legend * -(-len(families) // 4) + 24}">'
    for kernel in profile.kernels:
        if kernel.inner_calls is not None:
            continue
        x, width = _WIDTH * kernel.start / end, _WIDTH * kernel.duration / end
        yield (
            f'<rect class="k" x="{x:.2f}" y="0" width="{max(width, 0.4):.2f}" height="{height}" '
            f'fill="{colours[_family(kernel)]}">{_about(kernel)}</rect>'
        )
    yield f'<text x="0" y="{height + 16}">0</text>'
    yield f'<text x="{_WIDTH}" y="{height + 16}" text-anchor="end">{end / 1e6:.3f} ms</text>'
    for i, family in enumerate(families):
        x, y = _WIDTH / 4 * (i % 4), height + 38 + legend * (i // 4)
        name = family if i < len(_COLOURS) - 1 or len(colours) == len(_COLOURS) else "others"
        yield f'<rect x="{x}" y="{y - 10}" width="11" height="11" fill="{_COLOURS[i]}"/>'
        yield f'<text x="{x + 17}" y="{y}">{escape(name[:32])}</text>'
    yield "</svg>"


def _runs(profile: Profile) -> Iterator[str]:
    """A bar for each run, in the order of measurement."""
    height, step = 120, _WIDTH / len(profile.runs)
    most = max(run.wall for run in profile.runs)
    yield f'<svg viewBox="0 0 {_WIDTH} {height + 24}" role="img" aria-label="runs">'
    for i, run in enumerate(profile.runs):
        x, width, base = step * i, min(step * 0.8, 40), height
        for time, opacity in ((sum(run.kernels), 0.8), (run.outside, 0.3)):
            tall = height * time / most
            base -= tall
            yield (
                f'<rect class="k" x="{x:.2f}" y="{base:.2f}" width="{width:.2f}" '
                f'height="{tall:.2f}" fill="{_COLOURS[0]}" fill-opacity="{opacity}"><title>'
                f"run {i + 1}: {run.wall / 1e6:.3f} ms, {run.outside / 1e6:.3f} of it outside of "
                "kernels</title></rect>"
            )
    yield f'<text x="0" y="{height + 16}">the highest: {most / 1e6:.3f} ms</text>'
    yield "</svg>"


def _table(profile: Profile, colours: dict[str, str]) -> Iterator[str]:
    heads = (
        "kernel",
        "ms",
        "10 % to 90 %",
        "share",
        "MFLOP",
        "GFLOP/s",
        "of peak",
        "GB/s",
        "of peak",
        "nodes",
    )
    yield "<table><tr>" + "".join(f"<th>{head}</th>" for head in heads) + "</tr>"
    total = sum(k.median for k in profile.kernels)
    for kernel in sorted(profile.kernels, key=lambda k: -k.median):
        cells = [f"{kernel.median / 1e6:.3f}", _range(kernel.time), f"{kernel.median / total:.1%}"]
        cells += [
            _number(kernel.cost.operations, 1e6, 2),
            _number(kernel.gflops, 1, 1),
            percent(profile.part_of_arithmetic(kernel)),
            _number(kernel.gigabytes, 1, 1),
            reading(profile, kernel),
        ]
        mark = f'<span style="color:{colours[_family(kernel)]}">&#9632;</span> '
        row = "".join(f"<td>{cell}</td>" for cell in cells)
        nodes = escape(", ".join(kernel.nodes))
        yield f'<tr><td>{mark}{escape(kernel.label)}</td>{row}<td class="nodes">{nodes}</td></tr>'
    spreads = {"outside of kernels": profile.outside, "a whole run": profile.whole}
    for name, time in spreads.items():
        row = f"<td>{time.median / 1e6:.3f}</td><td>{_range(time)}</td>" + "<td></td>" * 6
        yield f"<tr><td>{name}</td>{row}<td></td></tr>"
    yield "</table>"


def _number(value: float | None, unit: float, digits: int) -> str:
    return "?" if value is None else f"{value / unit:.{digits}f}"
