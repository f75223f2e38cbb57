"""Experiments on a device, and its numbers from them: launches, copies, groups, memories."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ...dialects.marks import DEVICE
from ...ir.attributes import DictAttr
from ...ir.diagnostics import NncError
from ...ir.syntax.parser import parse_module
from ...targets.groups import GroupMachine
from ..compile import load_module, run_stages
from .kernels import LANES, NOTHING, Kernel, Text, pairs
from .measuring import Experiment
from .numbers import Fitted, digits, number
from .sampling import Round

SIDE, STEPS = 16, 9
"""The size and number of consecutive softmaxes, so small that only their launches take time."""
COPIED = 2 << 20
"""The floats that are copied to the device."""
AGREE = 0.1
"""The relative difference up to which runs agree: a driver's threads take part."""


CPU_DEVICE = "opencl-cpu"
"""The target whose device is this machine's processor."""


def _softmaxes(count: int) -> Text:
    type = f"tensor<{SIDE}x{SIDE}xf32>"
    names = ["%x", *(f"%{i}" for i in range(1, count)), "%y"]
    lines = "\n".join(
        f"  {names[i + 1]} = nn.softmax {names[i]} {{axis = 1 : i64}} : ({type}) -> {type}"
        for i in range(count)
    )
    return Text(
        f"func.func @main(%x: {type}) -> {type} {{\n{lines}\n  return %y : {type}\n}}\n", SIDE**2
    )


def device_experiments(target: str, machine: GroupMachine) -> Iterator[Experiment]:
    """Networks of one launch and of several, copies, and pairs of kernels.

    Raises NncError if the target does not launch them.
    """
    networks = {"few launches": _softmaxes(1), "many launches": _softmaxes(STEPS)}
    few, many = (launches_of(network, target) for network in networks.values())
    if many <= few:
        raise NncError(f"'{target}' launches nothing in a network of {STEPS} softmaxes")
    texts = [(name, network, float(many - few)) for name, network in networks.items()]
    for floats, name in ((LANES, "no copy"), (COPIED, "copy")):
        one = Kernel(body=NOTHING, groups=1, threads=1, floats=floats, copied=floats)
        texts.append((name, one.text(), 1.0))
    for name, pair in pairs(machine).items():
        for kernel, what in ((pair.less, "less"), (pair.more, "more")):
            texts.append((f"{name}: {what}", kernel.text(), pair.difference))
    for name, text, units in texts:
        yield Experiment(name=name, loop=text, units=units, in_cycles=False, agree=AGREE)


def launches_of(network: Text, target: str) -> int:
    """The number of kernel launches in the program of a network."""
    module = run_stages(load_module(parse_module(network.text())), target=target)
    found = module.attributes.get(DEVICE)
    return getattr(found.get("launches"), "value", 0) if isinstance(found, DictAttr) else 0


def fit_device(rounds: Sequence[Round], machine: GroupMachine) -> Fitted:
    """The numbers of a device from all rounds; cycles are counted at the described clock rate."""
    each = [_numbers(one, machine) for one in rounds]
    return Fitted({path: number([one[path] for one in each], _taken(path)) for path in each[0]}, {})


def _taken(path: str) -> Callable[[float], float]:
    return round if path.startswith("costs.groups.") else digits


def _numbers(one: Round, machine: GroupMachine) -> dict[str, float]:
    def more(name: str) -> float:
        """Cycles per unit of work by which the two kernels of a pair differ."""
        seconds = max(one[f"{name}: more"] - one[f"{name}: less"], 1e-15)
        return seconds * 1e9 * machine.gigahertz

    found = {
        "launch_microseconds": 1e6 * max(one["many launches"] - one["few launches"], 1e-9),
        "copy_bandwidth": 4e-9 * COPIED / max(one["copy"] - one["no copy"], 1e-9),
        "costs.groups.group_cycles": more("groups"),
        "costs.groups.barrier_cycles": more("barriers"),
    }
    for name, field in MEMORIES.items():
        found[field] = 1 / (more(name) * machine.cores)
    return found


MEMORIES = {
    "workgroup": "workgroup_bandwidth",
    "cache": "cache_bandwidth",
    "l2": "l2_bandwidth",
    "memory": "memory_bandwidth",
}
"""The machine's bandwidth field for each memory that kernels read."""
