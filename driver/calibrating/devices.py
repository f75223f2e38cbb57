"""The experiments on a device: small networks whose launches and copies are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...dialects.marks import DEVICE
from ...ir.attributes import DictAttr
from ...ir.diagnostics import NncError
from ...ir.syntax.parser import parse_module
from ...targets.groups import GroupMachine
from ..compile import load_module, run_stages
from .measuring import Experiment, Round
from .numbers import Fitted, number

ROWS, COLUMNS = 4096, 1024
"""Of what is copied and read: 16 MB."""
SIDE, STEPS = 16, 9
"""Softmaxes in a row, of so few elements that only their launches take time."""


@dataclass(frozen=True)
class Network:
    """A function of one input and one output as IR of the graph."""

    body: str
    rows: int
    columns: int
    result: str

    @property
    def bytes(self) -> int:
        """Of the input."""
        return 4 * self.rows * self.columns

    @property
    def dtype(self) -> np.dtype:
        return np.dtype("f4")

    @property
    def shape(self) -> tuple[int, ...]:
        return self.rows, self.columns

    @property
    def input(self) -> str:
        return f"tensor<{self.rows}x{self.columns}xf32>"

    def text(self) -> str:
        """The function; `%x` is its input, `%y` its output."""
        return (
            f"func.func @main(%x: {self.input}) -> {self.result} {{\n{self.body}\n"
            f"  return %y : {self.result}\n}}\n"
        )


def _softmaxes(count: int) -> Network:
    type = f"tensor<{SIDE}x{SIDE}xf32>"
    names = ["%x", *(f"%{i}" for i in range(1, count)), "%y"]
    lines = (
        f"  {names[i + 1]} = nn.softmax {names[i]} {{axis = 1 : i64}} : ({type}) -> {type}"
        for i in range(count)
    )
    return Network("\n".join(lines), SIDE, SIDE, type)


def _reading() -> Network:
    """The mean of each row, which reads all."""
    of, to = f"tensor<{ROWS}x{COLUMNS}xf32>", f"tensor<{ROWS}x1xf32>"
    line = "%y = nn.reduce_mean %x {axes = array<i64: 1>, keep_dims = true}"
    return Network(f"  {line} : ({of}) -> {to}", ROWS, COLUMNS, to)


def _copying() -> Network:
    """The first rows of what was copied whole."""
    of, to = f"tensor<{ROWS}x{COLUMNS}xf32>", f"tensor<1x{COLUMNS}xf32>"
    line = f"  %s = nn.slice %x {{starts = array<i64: 0, 0>, steps = array<i64: {ROWS}, 1>}}"
    return Network(
        f"{line} : ({of}) -> {to}\n  %y = nn.relu %s : ({to}) -> {to}", ROWS, COLUMNS, to
    )


NETWORKS = {
    "few launches": _softmaxes(1),
    "many launches": _softmaxes(STEPS),
    "copy": _copying(),
    "copy and read": _reading(),
}


def device_experiments(target: str) -> list[Experiment]:
    """The networks; of each of the first two, how many launches it has is in its units.

    Raises NncError where the target does not launch them.
    """
    few, many = (launches_of(NETWORKS[name], target) for name in ("few launches", "many launches"))
    if many <= few:
        raise NncError(f"'{target}' launches nothing in a network of {STEPS} softmaxes")
    return [
        Experiment(name=name, loop=network, units=many - few if "launches" in name else 1)
        for name, network in NETWORKS.items()
    ]


def launches_of(network: Network, target: str) -> int:
    """How many launches the program of a network has."""
    module = run_stages(load_module(parse_module(network.text())), target=target)
    found = module.attributes.get(DEVICE)
    return getattr(found.get("launches"), "value", 0) if isinstance(found, DictAttr) else 0


def fit_device(rounds: Sequence[Round], machine: GroupMachine) -> Fitted:
    """What the rounds say of a device; cycles are those of the described clock."""
    each = [_numbers(one) for one in rounds]
    numbers = {path: number([one[path] for one in each]) for path in each[0]}
    # A bound of memory's bandwidth alone: on PoCL the means' own work takes longer.
    rates = [_reading_rate(one, machine) for one in rounds]
    return Fitted(numbers, {"means of rows: bytes per cycle of one core": number(rates)})


def _numbers(one: Round) -> dict[str, float]:
    launch = max(one["many launches"] - one["few launches"], 1e-9)
    return {
        "launch_microseconds": 1e6 * launch,
        "copy_bandwidth": 1e-9 * NETWORKS["copy"].bytes / one["copy"],
    }


def _reading_rate(one: Round, machine: GroupMachine) -> float:
    seconds = max(one["copy and read"] - one["copy"], 1e-9)
    return NETWORKS["copy"].bytes / (seconds * 1e9 * machine.gigahertz * machine.cores)
