"""A profile as a table of text and as a Chrome trace."""

from __future__ import annotations

import json
from collections.abc import Iterator

from .collect import KernelRun, Profile, Spread


def table(profile: Profile, rows: int | None = 20) -> Iterator[str]:
    """The lines of a table, the slowest kernels first; `rows` at most, None for all.

    Times are medians over the runs, followed by the 10th and the 90th percentile.
    """
    total = sum(k.median for k in profile.kernels)
    shared = [shares(k) for k in profile.kernels] if profile.threads > 1 else []
    width = max(map(len, [*shared, "pieces"])) + 2
    heads = f"{'pieces':>{width}}{'waited us':>11}" if shared else ""
    heads = f"{'expected':>10}{heads}"
    yield summary(profile)
    yield (
        f"{'ms':>9}{'10 %':>9}{'90 %':>9}{'share':>7}"
        f"{'GFLOP/s':>9}{'of peak':>8}{'GB/s':>8}{'of peak':>12}"
        f"{heads}  kernel, and the nodes it came from"
    )
    ordered = sorted(profile.kernels, key=lambda k: -k.median)
    for kernel in ordered[:rows]:
        nodes = ", ".join(kernel.nodes)
        yield (
            f"{_times(kernel.time)}{kernel.median / total:7.1%}"
            f"{_number(kernel.gflops, 1):>9}{percent(profile.part_of_arithmetic(kernel)):>8}"
            f"{_number(kernel.gigabytes, 1):>8}{reading(profile, kernel):>12}"
            f"{expected(kernel):>10}"
            f"{f'{shares(kernel):>{width}}{waited(kernel):>11}' if shared else ''}"
            f"  {kernel.label}: {nodes}"
        )
    left = ordered[len(ordered) if rows is None else rows :]
    if left:
        rest = sum(k.median for k in left)
        gap = " " * (39 + len(heads))
        yield f"{rest / 1e6:9.3f}{'':18}{rest / total:7.1%}{gap}{len(left)} more"
    gap = " " * (46 + len(heads))
    yield f"{_times(profile.outside)}{gap}outside of kernels: each run less its own kernels"
    if exceeds(profile):
        yield EXCESS


def summary(profile: Profile) -> str:
    """One line: the time of a run, its operations per second, and the machine's peak."""
    whole = profile.whole
    rate = profile.operations / whole.median
    return (
        f"{whole.median / 1e6:.3f} ms a run (median of {len(profile.runs)}; "
        f"{whole.low / 1e6:.3f} to {whole.high / 1e6:.3f} from the 10th to the 90th percentile), "
        f"{profile.threads} thread(s), {profile.expected / 1e6:.3g} ms expected, "
        f"{len(profile.kernels)} kernels, "
        f"{profile.operations / 1e9:.3f} GFLOP, {rate:.1f} GFLOP/s; the machine: "
        f"{profile.peaks.gflops:.0f} GFLOP/s of float32, "
        + ", ".join(f"{one.gigabytes:.0f} GB/s from {one.name}" for one in profile.peaks.levels)
    )


def expected(kernel: KernelRun) -> str:
    """The milliseconds that are expected of a kernel's calls; `?` if unknown."""
    return "?" if kernel.expected is None else f"{kernel.expected / 1e6:.3f}"


EXCESS = (
    "More than 100 %: the peak of arithmetic is that of float32 on vectors; integers of 8 bits "
    "have up to four operations in its place, and tile registers are faster. The peak of bytes is "
    "that of the nearest memory that holds all arguments of a call, and a part of them may be in a "
    "nearer one."
)
"""The explanation of kernels above the peaks."""


def exceeds(profile: Profile) -> bool:
    """Whether a kernel exceeds a measured peak."""
    parts = [profile.part_of_arithmetic(kernel) or 0 for kernel in profile.kernels]
    parts += [(profile.part_of_reading(kernel) or (0, ""))[0] for kernel in profile.kernels]
    return max(parts, default=0) > 1


def reading(profile: Profile, kernel: KernelRun) -> str:
    """The share of a memory's speed, and the memory's name: `87% L2`."""
    found = profile.part_of_reading(kernel)
    return "?" if found is None else f"{found[0]:.0%} {found[1]}"


def shares(kernel: KernelRun) -> str:
    """The number of pieces of parallel loops that each thread did: `24+24`."""
    return "+".join(f"{count:.0f}" for count in kernel.pieces)


def waited(kernel: KernelRun) -> str:
    """The microseconds that the calling thread waited for others to finish their pieces."""
    return f"{kernel.waited / 1e3:.1f}" if kernel.pieces else ""


def chrome_trace(profile: Profile) -> str:
    """The fastest run in the format of Chrome's trace viewer and of Perfetto; in microseconds.

    Source: "Trace Event Format", complete events.
    """
    events = [
        {
            "name": kernel.kernel,
            "cat": "kernel",
            "ph": "X",
            "pid": 1,
            "tid": 1,
            "ts": kernel.start / 1e3,
            "dur": kernel.duration / 1e3,
            "args": _arguments(kernel),
        }
        for kernel in profile.kernels
        if kernel.inner_calls is None
    ]
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ms"}, indent=1) + "\n"


def _arguments(kernel: KernelRun) -> dict[str, object]:
    return {
        "nodes": list(kernel.nodes),
        "median": kernel.time.median / 1e3,
        "10th percentile": kernel.time.low / 1e3,
        "90th percentile": kernel.time.high / 1e3,
        "expected": None if kernel.expected is None else kernel.expected / 1e3,
        "operations": kernel.cost.operations,
        "bytes": kernel.cost.bytes,
        "GFLOP/s": kernel.gflops,
        "GB/s": kernel.gigabytes,
        "pieces by thread": list(kernel.pieces),
        "waited": kernel.waited / 1e3,
    }


def _times(spread: Spread) -> str:
    return "".join(f"{t / 1e6:9.3f}" for t in (spread.median, spread.low, spread.high))


def _number(value: float | None, digits: int) -> str:
    return "?" if value is None else f"{value:.{digits}f}"


def percent(part: float | None) -> str:
    """A fraction as a percentage; `?` if it is None."""
    return "?" if part is None else f"{part:.0%}"
