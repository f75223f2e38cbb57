"""An explanation as text for people."""

from __future__ import annotations

from collections.abc import Iterator

from ...kernels.model.executions import UNKNOWN_TRIPS
from ...kernels.model.extents import UNKNOWN_EXTENT
from .changes import FACTORS
from .explain import Choice, Explanation, KernelReason, slowest
from .words import WORDS

ROWS = 20
"""The most kernels of an overview, unless all are requested."""


def overview(found: Explanation) -> Iterator[str]:
    """A line for each of the slowest kernels."""
    yield from _head(found)
    if not found.kernels:
        return
    yield f"{'us':>10}{'share':>7}{'of roofline':>12}  bound by, kernel, nodes; what was not taken"
    total = sum(one.total for one in found.kernels) + found.copying or 1.0
    ordered = slowest(found.kernels)
    for one in ordered[:ROWS]:
        part = "?" if not one.microseconds or one.roofline is None else (
            f"{one.roofline.microseconds / one.microseconds:.0%}"
        )  # fmt: skip
        yield (
            f"{one.total:10.1f}{one.total / total:7.1%}{part:>12}  "
            f"{WORDS.get(one.bound, one.bound) or '?'}, {_name(one)}{_second(one)}"
        )
    left = len(ordered) - ROWS
    if left > 0:
        yield f"{sum(one.total for one in ordered[ROWS:]):10.1f}  {left} more"
    yield "nnc why MODEL NODE says more of a node or kernel, --all of all"


def details(found: Explanation) -> Iterator[str]:
    """Everything known about each kernel."""
    yield from _head(found)
    for one in slowest(found.kernels):
        yield ""
        yield from _kernel(one)


def _head(found: Explanation) -> Iterator[str]:
    device = "" if found.launches is None else f"{found.launches} launches on the device, "
    copied = f"{found.copied:,} bytes copied per run"
    if found.copying:
        copied += f" ({found.copying:.3g} us)"
    yield (
        f"{found.model} for {found.target}: {len(found.kernels)} kernels in {found.calls:,} calls, "
        f"{device}{len(found.host_steps)} steps of the host, {copied}, "
        f"{found.microseconds / 1000:.3g} ms expected"
    )
    if any(one.roofline is None for one in found.kernels):
        yield (
            f"assumed of extents that only a run tells (--shape fixes them): {UNKNOWN_EXTENT:,} in "
            "times of kernels; in choices on the graph, 1 of a batch, else usual ones"
        )
    if any(one.is_assumed for one in found.kernels):
        yield (
            f"assumed of loops whose iterations only a run tells: {UNKNOWN_EXTENT:,}, "
            f"or {UNKNOWN_TRIPS} where values end them"
        )
    if any(one.beside for one in found.kernels):
        yield "of loops that run side by side, the longest counts; shares are of all work"
    for choice in found.choices:
        yield from _choice(choice)
    for step in found.host_steps:
        yield f"on the host: {step}"


def _name(one: KernelReason) -> str:
    nodes = ", ".join(one.nodes)
    times = f" x {one.calls:,}" if one.calls > 1 else ""
    assumed = " (assumed)" if one.is_assumed else ""
    return f"{one.kernel}{times}{assumed}" + (f": {nodes}" if nodes else "")


def _second(one: KernelReason) -> str:
    """The rejected alternative that comes closest to the chosen one, over all decisions.

    Its time is left out: a decision on the graph may count several kernels, or assumed extents.
    """
    rest = [
        (option.microseconds - choice.chosen.microseconds, choice, option)
        for choice in one.choices
        for option in choice.options
        if option.microseconds is not None
        and choice.chosen.microseconds is not None
        and option.terms != choice.chosen.terms
    ]
    if not rest:
        return ""
    _, choice, option = min(rest, key=lambda row: row[0])
    return f"; {choice.kind} '{option.name}': {option.why_not}"


def _kernel(one: KernelReason) -> Iterator[str]:
    yield _name(one)
    if one.on_host:
        yield f"  on the host, by {one.target}: {one.on_host}"
    for choice in one.choices:
        yield from _choice(choice)
    if one.microseconds is None:
        yield "  no model says what it takes"
        return
    terms = sorted(one.terms.items(), key=lambda term: -term[1])
    listed = ", ".join(f"{WORDS.get(name, name)} {time:.3g}" for name, time in terms)
    yield f"  bound by {WORDS.get(one.bound, one.bound)}; us of a call: {listed}"
    if one.roofline is None:
        yield "  its roofline depends on extents that only a run tells"
    else:
        least = one.roofline.microseconds
        times = one.microseconds / least if least else 0.0
        yield (
            f"  at least {least:.3g} us by its {one.roofline.by} on {one.cores} core(s): "
            f"{times:.3g} times that is expected"
        )


def _choice(choice: Choice) -> Iterator[str]:
    yield f"  {choice.kind}" + (f", {choice.because}" if choice.because else "")
    width = max(len(one.name) for one in choice.options)
    for one in choice.options:
        time = "" if one.microseconds is None else f"{one.microseconds:.3g} us"
        said = "taken" if one.name == choice.taken else one.why_not
        bound = f", bound by {WORDS.get(one.bound, one.bound)}" if one.bound else ""
        detail = f" [{one.detail}]" if one.detail else ""
        yield f"    {one.name:{width}}  {time:>10}  {said}{bound}{detail}"
    if choice.changes == () and len(choice.options) > 1:
        yield f"    no number of the machine changes this within a factor of {FACTORS[-1]:g}"
    for change in choice.changes or ():
        yield (
            f"    with {change.factor:.3g} times the {change.words} '{change.taken}' would be taken"
        )
