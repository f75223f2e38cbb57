"""A processor's numbers from the times of experiments.

Each round of measurements gives a value for each number; the median over all rounds is used.

Counts are whole, and disturbances only make a run slower: 1.5 loads in a cycle cannot come from one
unit, so there are two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil, floor, inf
from statistics import median

from ...targets.calibration import LEAST, Number
from ...targets.processor import Processor
from .functions import FUNCTIONS, OTHERS
from .memories import AHEAD, ASKED, STREAMS, levels, sizes
from .numbers import Fitted, digits, number
from .processors import widths
from .sampling import Round
from .threads import SHARED
from .tiles import MORE

REGIONS_WORTH = 5
"""The least work of a kernel that is shared among threads, as a multiple of the time of waking
them: 20 us for 2 to 5."""

UNITS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 3, 4, 6, 8)
"""The possible numbers of multiply-adds that start in a cycle."""

SHORT = 0.94
"""A whole number explains a measured one if it is at least this part of it: measurements are
uncertain by the rest.
"""

FETCHED = 0.7
"""The least ratio of the instructions fetched to those that can start in a cycle: 4.4 to 5.6 of six
on a Zen 3, in calibrations each of which repeats within 2 %."""

CLEARLY = 0.95
"""Another prefetch distance replaces the described one if it takes less than this part of its time.
"""

EDGE = 1.25
"""The least ratio of the bandwidths of neighbouring caches at which a cache's size is visible."""

PART = 1.5
"""A described size of the last cache is kept if it is at most this multiple of the measured one: a
guest of a hypervisor, or a core with busy neighbours, can use half of it or less.
"""


def fit(rounds: Sequence[Round], machine: Processor) -> Fitted:
    """All numbers that the rounds give for a machine, whose description is the starting point."""
    each = [_numbers(one, machine) for one in rounds]
    numbers = {
        path: number([one[path] for one in each], _whole(path, machine))
        for path in each[0]
        if all(path in one for one in each)
    }
    numbers |= _caches(_curve(rounds, machine), machine)
    numbers |= _prefetch(rounds, machine)
    numbers |= _streams(rounds, machine)
    if "memory_bandwidth" in numbers:  # which is that of this machine as it is, whatever else runs
        numbers["costs.runs.memory"] = Number(1.0, 1.0, 1.0)
    seen = [_observed(one, machine) for one in rounds]
    observed = {
        name: number([one[name] for one in seen])
        for name in seen[0]
        if all(name in one for one in seen)
    }
    return Fitted(numbers, observed)


def _curve(rounds: Sequence[Round], machine: Processor) -> dict[float, float]:
    """Bytes per cycle by the size of the buffer that is read; infinity stands for memory."""
    names = {float(size): f"read {size}" for size in sizes(machine)}
    names[inf] = "read memory"
    return {size: median(1 / _cycles(one, n) for one in rounds) for size, n in names.items()}


def _units(value: float) -> float:
    """The fewest units that reach a throughput."""
    return next((one for one in UNITS if one >= SHORT * value), UNITS[-1])


def _at_least(value: float) -> int:
    """The whole number per cycle that explains an observed throughput, which is a lower bound."""
    return max(1, ceil(SHORT * value))


def _issued(value: float, described: int) -> int:
    """Instructions issued per cycle: the described number if the observed one is close to it.

    Short instructions are fetched more slowly than kernels' long ones, depending on code placement.
    """
    return described if FETCHED * described <= value <= described / SHORT else _at_least(value)


def _at_most(value: float) -> int:
    """The whole number of cycles that explains an observed time, which is an upper bound."""
    return max(1, floor(value / SHORT))


def _whole(path: str, machine: Processor) -> Callable[[float], float]:
    """The conversion of a field's measured number: counts become whole."""
    if path == "full_width_units":
        return _units
    if path == "load_bytes_per_cycle":
        full = 4 * machine.lanes(4)
        return lambda value: full * _units(value / full)
    if path == "unit_bits":
        return int
    if path == "loads_per_cycle":
        return _at_least
    if path == "issue_width":
        return lambda value: _issued(value, machine.issue_width)
    if path == "fma_latency":
        return _at_most
    if path.startswith("costs.operations."):
        return lambda value: max(1, round(value))
    return digits


def _cycles(one: Round, name: str) -> float:
    """Cycles per unit of an experiment; the clock experiment is a chain of one-cycle operations."""
    return one[name] / one["clock"]


def _numbers(one: Round, machine: Processor) -> dict[str, float]:
    """The numbers that one round gives."""
    full, *narrower = widths(machine)
    units = 1 / _cycles(one, f"multiply-add {full}")
    found = {
        "gigahertz": 1e-9 / one["clock"],
        "full_width_units": units,
        "fma_latency": _cycles(one, f"latency {full}"),
        "load_bytes_per_cycle": 4 * full / _cycles(one, f"load {full}"),
        "line_crossing": _crossing(one, full, machine),
    }
    if "fresh" in one:
        found["fresh_bandwidth"] = 1 / _cycles(one, "fresh")
    if narrower:
        half = narrower[0]
        found["loads_per_cycle"] = 1 / _cycles(one, f"load {half}")
        twice = _cycles(one, f"multiply-add {full}") / _cycles(one, f"multiply-add {half}") > 1.5
        found["unit_bits"] = machine.vector_bits // (2 if twice else 1)
    for name, size in levels(machine).items():
        near = min(sizes(machine), key=lambda one: abs(one / size - 1))
        found[f"{name.lower()}_bandwidth"] = 1 / _cycles(one, f"read {near}")
    found["memory_bandwidth"] = 1 / _cycles(one, "read memory")
    plain = _cycles(one, "function plain")
    for name in FUNCTIONS:
        more = _cycles(one, f"function {name}") - plain
        found[f"costs.operations.{name}"] = max(more, 0.0) * units
    others = [_cycles(one, f"function {name}") - plain for name in OTHERS]
    found["costs.operations.other_math"] = median(others) * units
    found |= _tiles(one, machine, units)
    if "gather" in one:
        found["costs.tiles.gather_cycles"] = _cycles(one, "gather")
        found["costs.tiles.scattered_store_cycles"] = _cycles(one, "scatter")
    if (waking := _waking(one, machine)) is not None:
        found["costs.threads.least_microseconds"] = REGIONS_WORTH * waking
    return found


def _tiles(one: Round, machine: Processor, units: float) -> dict[str, float]:
    """The tile numbers of the description, from the experiments on tiles."""
    sums = machine.vector_registers + MORE
    lanes = machine.lanes(4)
    found = {
        "issue_width": 1 / _cycles(one, "start"),
        # One more register has the factor.
        "costs.tiles.spill_cycles": (_cycles(one, "spills") - sums / units) / (MORE + 1),
    }
    if lanes > 1:
        steps = lanes.bit_length()
        combined = _cycles(one, "combine") - _cycles(one, f"latency {lanes}")
        found["costs.tiles.combine_cycles"] = combined / steps
        moved = _cycles(one, "transpose") - _cycles(one, f"load {lanes}")
        found["costs.tiles.transpose_cycles"] = moved - steps
    return {path: max(value, LEAST) for path, value in found.items()}


def _crossing(one: Round, lanes: int, machine: Processor) -> float:
    """The extra cost, in loads, of a load across a line's end; only some shifted ones cross."""
    more = _cycles(one, f"load across {lanes}") / _cycles(one, f"load {lanes}") - 1
    return max(LEAST, more * machine.line_bytes / (4 * lanes))


def _waking(one: Round, machine: Processor) -> float | None:
    """Microseconds that a parallel region takes beyond its work; None for a single core."""
    if machine.cores == 1:
        return None
    alone, shared = one["region 1"], one[f"region {machine.cores}"]
    if shared > SHARED * alone:
        return None
    return max(1e6 * (shared - alone / machine.cores), 0.1)


def _caches(curve: Mapping[float, float], machine: Processor) -> dict[str, Number]:
    """Cache sizes, from the buffer sizes at which reading gets slower.

    The described size is kept if the measured edge is near it, as the described one is exact; the
    last cache is shared, so only a part of it may be this core's.
    """
    found: dict[str, Number] = {}
    tried = sorted(curve)
    described = [0, machine.l1_bytes, machine.l2_bytes, machine.l3_bytes, inf]
    for level in (1, 2, 3):
        near, size, far = described[level - 1 : level + 2]
        inside = curve[_first(tried, 2 * near)]
        outside = curve[_first(tried, min(4 * size, max(2 * size, far / 2)) if far < inf else inf)]
        if inside < EDGE * outside:
            continue  # nothing is to be seen of its size
        limit = (inside * outside) ** 0.5
        among = [one for one in tried if one >= 2 * near]
        slow = next(one for one in among if curve[one] < limit)
        fast = max((one for one in among if one < slow), default=among[0])
        most = 2 * slow if level < 3 else PART * (fast * slow) ** 0.5
        value = size if fast / 2 <= size <= most else fast
        found[f"l{level}_bytes"] = Number(value, fast, min(slow, 2 * fast))
    return found


def _first(tried: Sequence[float], size: float) -> float:
    return next(one for one in tried if one >= size)


def _prefetch(rounds: Sequence[Round], machine: Processor) -> dict[str, Number]:
    """The best prefetch distance, if it is clearly better than the described one."""
    known = machine.costs.loops.prefetch_bytes
    if f"ahead {AHEAD[0]}" not in rounds[0]:
        return {}
    times = {bytes: median(one[f"ahead {bytes}"] for one in rounds) for bytes in AHEAD}
    best = min(AHEAD, key=times.__getitem__)
    if known in times and times[best] > CLEARLY * times[known]:
        best = known
    each = [min(AHEAD, key=lambda bytes: one[f"ahead {bytes}"]) for one in rounds]
    return {"costs.loops.prefetch_bytes": Number(best, min(each), max(each))}


def _streams(rounds: Sequence[Round], machine: Processor) -> dict[str, Number]:
    """The best number of streams for reading memory, and the most streams for which prefetching
    pays; the described numbers unless others are clearly better.
    """
    loops = machine.costs.loops
    times = {n: median(one[f"streams {n}"] for one in rounds) for n in STREAMS}
    best = min(STREAMS, key=times.__getitem__)
    if loops.stream_blocks in times and times[best] > CLEARLY * times[loops.stream_blocks]:
        best = loops.stream_blocks
    each = [min(STREAMS, key=lambda n: one[f"streams {n}"]) for one in rounds]
    found = {"costs.loops.stream_blocks": Number(best, min(*each, best), max(*each, best))}
    if (asked := f"streams {ASKED} asked") in rounds[0]:
        gains = [one[asked] / one[f"streams {ASKED}"] for one in rounds]
        counts = [_asked(gain, loops.asked_streams) for gain in gains]
        value = _asked(median(gains), loops.asked_streams)
        found["costs.loops.asked_streams"] = Number(value, min(counts), max(counts))
    return found


def _asked(part: float, described: int) -> int:
    """The most streams for which to prefetch, from the time with prefetches relative to that
    without; the described number if the difference is small.
    """
    if part < CLEARLY:
        return max(ASKED, described)
    return 1 if part > 1 / CLEARLY else described


def _observed(one: Round, machine: Processor) -> dict[str, float]:
    """Measured numbers without a field in the description."""
    found = {
        f"multiply-adds per cycle, {32 * lanes} bits": 1 / _cycles(one, f"multiply-add {lanes}")
        for lanes in widths(machine)
    }
    found["stores per cycle"] = 1 / _cycles(one, "store")
    if f"ahead {AHEAD[0]}" in one:
        known = machine.costs.loops.prefetch_bytes
        ahead = one[f"ahead {known if known in AHEAD else AHEAD[0]}"]
        found["prefetch: speed of reading memory"] = one["read memory"] / ahead
    found["memory: GB/s of one core"] = 1e-9 / one["read memory"]
    if machine.cores > 1:
        for name in (*levels(machine), "memory"):
            if f"all {name}" in one:
                found[f"{name}: bytes per cycle, all cores"] = 1 / _cycles(one, f"all {name}")
        if (waking := _waking(one, machine)) is not None:
            found["parallel region: microseconds"] = waking
    for lanes in widths(machine)[:2]:
        found[f"multiply-add's latency, {32 * lanes} bits"] = _cycles(one, f"latency {lanes}")
    for name in OTHERS:
        more = _cycles(one, f"function {name}") - _cycles(one, "function plain")
        found[f"{name}: multiply-adds"] = more / _cycles(one, f"multiply-add {widths(machine)[0]}")
    return found
