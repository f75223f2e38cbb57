"""The report of a compile for a device: launches, host kernels, copies, expected time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..dialects import func, gpu
from ..dialects.marks import CYCLES, ENTRY, KERNEL, ON_HOST
from ..ir.attributes import ArrayAttr, DictAttr, I64Attr, IntegerAttr, StringAttr
from ..ir.core import Operation
from ..ir.location import node_of
from ..ir.types import MemRefType
from ..kernels.model.executions import executions
from ..targets.attribute import target_of


def device_note(module: Operation) -> DictAttr:
    """The value of `marks.DEVICE` for a module whose memory is planned."""
    functions = func.functions_by_name(module)
    calls = list(calls_of_kernels(module))
    hosted = [one for one in calls if ON_HOST in functions[one.callee].attributes]
    times = Counter[Operation]()
    for one in executions(module):
        times[one.op] += one.times
    cycles = launches = 0
    for one in calls:
        kernel = functions[one.callee]
        if ON_HOST not in kernel.attributes:
            cycles += times[one] * _number(kernel, CYCLES)
            launches += times[one] * _launches(kernel)
    machine = target_of(module).machine
    lines = dict.fromkeys(
        f"{node_of(one.loc) or one.callee}: {functions[one.callee].attributes[ON_HOST].value}"  # type: ignore[attr-defined]
        for one in hosted
    )
    copies = [op for op in module.walk() if isinstance(op, gpu.Memcpy)]
    copied = sum(times.get(op, 1) * _bytes(op) for op in copies)
    return DictAttr(
        (
            ("launches", I64Attr(launches)),
            ("host", ArrayAttr(tuple(map(StringAttr, lines)))),
            ("copied", I64Attr(copied)),
            ("microseconds", I64Attr(round(cycles / machine.cycles_per_microsecond))),
        )
    )


def calls_of_kernels(module: Operation) -> Iterator[func.Call]:
    """The calls of kernels that the entry makes, directly or through other functions."""
    functions = func.functions_by_name(module)
    waiting = [f for f in functions.values() if ENTRY in f.attributes]
    seen = set(waiting)
    while waiting:
        for op in waiting.pop().walk():
            callee = functions.get(op.callee) if isinstance(op, func.Call) else None
            if callee is None or not isinstance(op, func.Call):
                continue
            if KERNEL in callee.attributes:
                yield op
            elif callee not in seen:
                seen.add(callee)
                waiting.append(callee)


def _launches(function: func.FuncOp) -> int:
    return sum(isinstance(op, gpu.LaunchFunc) for op in function.walk())


def _number(op: Operation, name: str) -> int:
    found = op.attributes.get(name)
    return found.value if isinstance(found, IntegerAttr) else 0


def _bytes(op: gpu.Memcpy) -> int:
    """The bytes of a copy between host and device; 0 for another copy, or if they are unknown."""
    types = [v.type for v in (op.dst, op.src) if isinstance(v.type, MemRefType)]
    crosses = len({type.memory_space for type in types}) == 2
    return types[0].num_bytes if crosses and types[0].has_static_shape else 0
