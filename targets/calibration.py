"""The numbers that `nnc calibrate` measured on this machine: their file, and machines with them.

There is a file for each processor, in a folder of the user's. The target `host` takes its numbers;
named targets keep their own, unless `NNC_CALIBRATION` is `all`. A file that is damaged, of another
version or implausible is not used.
"""

from __future__ import annotations

import os
import platform
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import Any

from ..ir.cache_home import data_home
from ..ir.diagnostics import NncError
from ..ir.files import folders_of, write_whole
from ..ir.sealed_json import sealed, unsealed
from .machine import Machine

VERSION = 3
"""The version of the experiments and their numbers; calibrations of other versions are repeated."""

SWITCH = "NNC_CALIBRATION"
"""The environment variable that says which targets use measured numbers: `on` (the default) only
`host`, `all` also named targets, `off` none."""

LEAST = 0.01
"""The least number in a calibration: it stands for 0, as machine descriptions have no zeros."""

BOUNDS: Mapping[str, tuple[float, float]] = {
    "cores": (1, 4096),
    "gigahertz": (0.05, 10),
    "full_width_units": (1 / 16, 8),
    "unit_bits": (32, 4096),
    "fma_latency": (1, 40),
    "loads_per_cycle": (1, 8),
    "load_bytes_per_cycle": (4, 1024),
    "line_crossing": (LEAST, 16),
    "issue_width": (1, 32),
    "l1_bytes": (4 << 10, 1 << 20),
    "l2_bytes": (64 << 10, 64 << 20),
    "l3_bytes": (256 << 10, 4 << 30),
    "l2_bandwidth": (1, 512),
    "l3_bandwidth": (0.25, 256),
    "memory_bandwidth": (0.05, 128),
    "fresh_bandwidth": (0.01, 64),
    "launch_microseconds": (0.1, 100_000),
    "copy_bandwidth": (0.01, 2000),
    "workgroup_bandwidth": (0.5, 4096),
    "cache_bandwidth": (0.5, 4096),
    "costs.groups.group_cycles": (1, 1_000_000),
    "costs.groups.barrier_cycles": (1, 1_000_000),
    "costs.runs.memory": (0.25, 4),
    "costs.threads.least_microseconds": (0.5, 2000),
    "costs.tiles.gather_cycles": (0.1, 100),
    "costs.tiles.scattered_store_cycles": (0.1, 100),
    "costs.tiles.spill_cycles": (LEAST, 100),
    "costs.tiles.combine_cycles": (LEAST, 100),
    "costs.tiles.transpose_cycles": (LEAST, 100),
    "costs.loops.prefetch_bytes": (256, 1 << 16),
    "costs.loops.stream_blocks": (1, 16),
    "costs.loops.asked_streams": (1, 16),
    "costs.operations.absf": (1, 20),
    "costs.operations.divf": (1, 200),
    "costs.operations.sqrt": (1, 200),
    "costs.operations.rsqrt": (1, 300),
    **{f"costs.operations.{n}": (1, 1000) for n in ("exp", "log", "tanh", "erf", "sin", "cos")},
    "costs.operations.powf": (1, 5000),
    "costs.operations.other_math": (1, 5000),
}
"""The fields of a machine that can be measured, with their plausible range."""

WHOLE = (
    "cores",
    "costs.groups.",
    "_bytes",
    "_bits",
    "fma_latency",
    "issue_width",
    "_per_cycle",
    "costs.operations.",
    "stream",
)
"""Fields whose names contain one of these hold whole numbers."""

SECOND = ("memory_bandwidth", "fresh_bandwidth")
"""Fields in bytes per cycle of which the bytes per second do not depend on the clock."""


@dataclass(frozen=True)
class Number:
    """A measured number: the value to use, and those of the fastest and the slowest of the runs
    that agree.
    """

    value: float
    low: float
    high: float

    @property
    def spread(self) -> float:
        """The difference of the two extremes relative to their mean."""
        return 2 * (self.high - self.low) / (self.high + self.low) if self.high > 0 else 0.0


@dataclass(frozen=True)
class Calibration:
    """Numbers by fields of a machine, others without a field, and how they were measured."""

    machine: str
    """The processor and its system, as `identity` spells them."""
    numbers: Mapping[str, Number]
    observed: Mapping[str, Number] = field(default_factory=dict)
    about: Mapping[str, str] = field(default_factory=dict)
    """The date, the number of rounds, and what disturbed the measurement."""


def identity(name: str, processor: str, machine: Machine) -> str:
    """The key of a machine's calibration: the machine as described, not as measured."""
    levels = (getattr(machine, f"l{level}_bytes", 0) for level in (1, 2, 3))
    caches = " ".join(str(size) for size in levels if size)
    return f"{name}, {processor or 'any'}, {model_name()}, {machine.cores} cores, caches {caches}"


def model_name() -> str:
    """The processor's name as its maker gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    rows = (line.partition(":") for line in lines)
    found = next((value.strip() for key, _, value in rows if key.strip() == "model name"), "")
    return found or platform.machine()


def file_of(machine: str) -> Path:
    """The file that stores the calibration of a machine."""
    digest = sha256(machine.encode("utf-8", "surrogatepass")).hexdigest()
    return data_home() / "calibration" / f"{digest[:16]}.json"


def is_on() -> bool:
    """Whether the host uses measured numbers. Raises NncError for an invalid NNC_CALIBRATION."""
    return _switch() != "off"


def is_for_all() -> bool:
    """Whether named targets use measured numbers too. Raises NncError as `is_on` does."""
    return _switch() == "all"


def _switch() -> str:
    given = os.environ.get(SWITCH, "on").strip() or "on"
    if given not in ("on", "off", "all"):
        raise NncError(f"{SWITCH} is 'on', 'off' or 'all', not '{given}'")
    return given


def calibrated(name: str, processor: str, machine: Machine) -> Machine:
    """The machine with its measured numbers, if there is a valid file; else unchanged."""
    if not is_on():
        return machine
    try:
        found = stored(identity(name, processor, machine))
        return machine if found is None else with_numbers(machine, found.numbers)
    except NncError as error:
        text = f"{error.message}; the built-in numbers are used"
        warnings.warn(text, RuntimeWarning, stacklevel=2)
        return machine


def with_numbers(machine: Machine, numbers: Mapping[str, Number]) -> Machine:
    """A machine with new values in some fields. Raises NncError if it lacks one of them."""
    values = {path: number.value for path, number in numbers.items()}
    if clock := values.get("gigahertz"):
        for path in SECOND:
            values.setdefault(path, getattr(machine, path) * machine.gigahertz / clock)
    if os.environ.get("NNC_MEMORY_BANDWIDTH", "").strip():
        values["memory_bandwidth"] = (
            machine.memory_bandwidth * machine.gigahertz / (clock or machine.gigahertz)
        )
        values.pop("costs.runs.memory", None)
    return _with_values(machine, values)


def _with_values(one: Any, values: Mapping[str, float]) -> Any:
    """A dataclass with new values for fields by paths such as `costs.operations.exp`."""
    floats = {field.name for field in fields(one) if field.type == "float"}
    own: dict[str, Any] = {}
    inner: dict[str, dict[str, float]] = {}
    for path, value in values.items():
        name, _, rest = path.partition(".")
        if rest:
            inner.setdefault(name, {})[rest] = value
            continue
        old = getattr(one, name, None)
        if isinstance(old, bool) or not isinstance(old, int | float):
            raise NncError(f"a {type(one).__name__} has no number '{path}'")
        own[name] = float(value) if name in floats else int(value)
    for name, rest in inner.items():
        if not hasattr(one, name):
            raise NncError(f"a {type(one).__name__} has no '{name}'")
        own[name] = _with_values(getattr(one, name), rest)
    return replace(one, **own)


# -- the file --------------------------------------------------------------------------------------


def stored(machine: str) -> Calibration | None:
    """A machine's stored calibration; None if there is none. Raises NncError if it is damaged."""
    path = file_of(machine)
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise NncError(f"cannot read '{path}': {error.strerror or error}") from None
    again = "`nnc calibrate` measures anew, `nnc calibrate --forget` removes it"
    try:
        about = unsealed(text)
        version = about.get("version")
        if version != VERSION:
            raise NncError(f"it is of version {version}, not of {VERSION}")
        if about.get("machine") != machine:
            raise ValueError("it is of another machine")
        numbers, observed = (_numbers(about[key]) for key in ("numbers", "observed"))
        check_plausible(numbers)
        said = {str(key): str(value) for key, value in about["about"].items()}
    except NncError as error:
        raise NncError(f"the calibration '{path}' is refused: {error.message}; {again}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise NncError(f"the calibration '{path}' is damaged ({error}); {again}") from None
    return Calibration(machine, numbers, observed, said)


def _numbers(given: Any) -> dict[str, Number]:
    found = {}
    for path, row in given.items():
        values = [row[key] for key in ("value", "low", "high")]
        for value in values:
            if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
                raise ValueError(f"'{path}' is {value!r}")
        found[path] = Number(*values)
    return found


def check_plausible(numbers: Mapping[str, Number]) -> None:
    """Raise NncError for a number that is out of bounds or inconsistent with the others."""
    for path, number in numbers.items():
        if (text := implausible(path, number)) is not None:
            raise NncError(text)
    sizes = [numbers[f"l{i}_bytes"].value for i in (1, 2, 3) if f"l{i}_bytes" in numbers]
    if sizes != sorted(sizes):
        raise NncError("a cache is larger than the one behind it")


def implausible(path: str, number: Number) -> str | None:
    """Why a number is implausible; None if it is plausible."""
    if path not in BOUNDS:
        return f"there is no number '{path}'"
    if any(part in path for part in WHOLE) and number.value != int(number.value):
        return f"{path} is {number.value:g}; expected a whole number"
    low, high = BOUNDS[path]
    if not low <= number.value <= high:
        return f"{path} is {number.value:g}; expected {low:g} to {high:g}"
    return None


def store(found: Calibration) -> Path:
    """Store a calibration; returns its file. Raises NncError if implausible or unwritable."""
    check_plausible(found.numbers)
    path = file_of(found.machine)
    about = {"version": VERSION, **asdict(found)}
    with folders_of([path]):
        write_whole(path, sealed(about, indent=1))
    return path


def forget(machine: str) -> bool:
    """Remove a machine's stored calibration; returns whether there was one. Raises NncError."""
    path = file_of(machine)
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise NncError(f"cannot remove '{path}': {error.strerror or error}") from None
    return True
