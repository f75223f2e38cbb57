"""Programs with steps that only a host can run: compiled parts, and the plan around them.

The entry's operations belong to the host (strings, sequences, calls of Python functions, and
branches and loops with such operations inside) or to a part. There are as few parts as possible:
operations are delayed until they can join a common part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Any

import numpy as np

from ..dialects import func, nn
from ..dialects.builtin import ModuleOp
from ..dialects.marks import (
    COMPLEX_OUTPUTS,
    ENTRY,
    INPUT_DIMS,
    INPUT_NAMES,
    INPUT_STARTS,
    OUTPUT_DIMS,
    OUTPUT_NAMES,
)
from ..dialects.nn.known_values import is_short
from ..ir.attributes import ArrayAttr, StringAttr, UnitAttr
from ..ir.core import Block, IRMapping, Operation, OpResult, Region, Value
from ..ir.diagnostics import NncError
from ..ir.location import node_of
from ..ir.types import FunctionType
from ..runtime.hosted import Choose, Compute, Hosted, HostStep, Plan, Repeat, Step, Values
from ..runtime.model import Model
from ..runtime.program import Signature

MOST_LISTED = 50

_ON_INTEGERS: dict[type[Operation], Callable[..., Any]] = {
    nn.Add: np.add,
    nn.Sub: np.subtract,
    nn.Mul: np.multiply,
    nn.Max: np.maximum,
    nn.Min: np.minimum,
    nn.Equal: np.equal,
    nn.Less: np.less,
    nn.LessEqual: np.less_equal,
    nn.Greater: np.greater,
    nn.GreaterEqual: np.greater_equal,
    nn.And: np.logical_and,
    nn.Or: np.logical_or,
    nn.Not: np.logical_not,
}
"""NumPy functions with the same results on integers as the ops, ten times as fast as interpreting.
"""


def entry_of(module: Operation) -> Any | None:
    """The module's entry function, or None."""
    for op in module.body_block:
        if isinstance(op, func.FuncOp) and ENTRY in op.attributes and op.body.blocks:
            return op
    return None


def is_hosted(module: Operation) -> bool:
    """Whether only a host can run the program: it has host operations, inputs or outputs."""
    entry = entry_of(module)
    if entry is None:
        return False
    type = entry.function_type
    return any(map(nn.is_host_type, (*type.inputs, *type.results))) or any(
        map(nn.is_on_host, entry.body.blocks[0])
    )


def check_compiled_whole(module: Operation) -> None:
    """Raise one NncError that lists what keeps a program from being entirely machine code."""
    if not is_hosted(module):
        return
    entry = entry_of(module)
    assert entry is not None
    faults = [
        f"{kind} '{name.value}' is a value that only a host handles: {type}"
        for kind, names, types in (
            ("input", entry.attributes[INPUT_NAMES], entry.function_type.inputs),
            ("output", entry.attributes[OUTPUT_NAMES], entry.function_type.results),
        )
        for name, type in zip(names, types, strict=True)
        if nn.is_host_type(type)
    ]
    for op in entry.walk():
        if op is entry or isinstance(op, nn.Constant) or op is entry.body.blocks[0].last:
            continue
        if not op.regions and nn.is_on_host(op):
            faults.append(f"{node_of(op.loc) or 'an operation'}: {op.name}")
    faults = list(dict.fromkeys(faults))
    shown = faults[:MOST_LISTED]
    if len(faults) > MOST_LISTED:
        shown.append(f"and {len(faults) - MOST_LISTED} more")
    raise NncError(
        "only a host in Python can run the model, so nnc.compile and nnc run take it, but it "
        "cannot be a file of code:\n  " + "\n  ".join(shown),
        module.loc,
    )


def cut_parts(module: Operation) -> list[Operation]:
    """Move the compiled parts of a verified module at the level of `nn` to new modules.

    The host's operations and calls of @part0, @part1, .. remain. Raises NncError.
    """
    entry = entry_of(module)
    assert entry is not None
    if len(entry.body.blocks) != 1:
        raise NncError("a function with steps of the host has one block", entry.loc)
    others = [op for op in module.body_block if op is not entry]
    for op in others:
        if any(nn.is_on_host(inner) for region in op.regions for inner in region.ops):
            raise NncError("only the entry function may have steps of the host", op.loc)
    cut = _Cut(module, entry, others)
    cut.cut(entry.body.blocks[0])
    for op in others:
        op.erase()
    for constant in [op for op in entry.walk() if isinstance(op, nn.Constant)]:
        if not constant.out.users:
            constant.erase()
    for part in cut.parts:
        made = entry_of(part)
        assert made is not None
        declared = func.FuncOp(made.sym_name, made.function_type, sym_visibility="private")
        module.body_block.append(declared)
    return cut.parts


class HostedModel(Hosted):
    """The program of a module that `cut_parts` has left, with its compiled parts."""

    def __init__(self, module: Operation, parts: Sequence[Model]) -> None:
        entry = entry_of(module)
        assert entry is not None
        planner = _Planner()
        block = entry.body.blocks[0]
        plan = planner.plan(block)
        inputs = planner.all(block.args)
        super().__init__(_signature(entry, parts), parts, plan, inputs, planner.constants)
        self._module = module

    def __reduce__(self):
        from ..ir.syntax.printer import print_op

        return _from_text, (print_op(self._module, debuginfo=True), self.parts)

    def __deepcopy__(self, memo: dict[int, Any]) -> HostedModel:
        return HostedModel(self._module, [copy(part) for part in self.parts])


def _from_text(text: str, parts: Sequence[Model]) -> HostedModel:
    from ..ir.syntax.parser import parse_module

    return HostedModel(parse_module(text), parts)


def host_steps(module: Operation) -> list[Operation]:
    """The operations that a host computes."""
    return [op for op in module.walk() if not op.regions and nn.is_on_host(op)]


def _signature(entry: Any, parts: Sequence[Model]) -> Signature:
    """The entry's names and types; the memory of the largest part, and the weights of all."""

    def strings(key: str) -> list[Any]:
        return [a.value for a in entry.attributes[key]]

    def dims(key: str) -> list[list[str]]:
        found = entry.attributes.get(key)
        return [] if found is None else [[dim.value for dim in one] for one in found]

    founds = [part.signature for part in parts]
    return Signature(
        strings(INPUT_NAMES),
        list(entry.function_type.inputs),
        strings(OUTPUT_NAMES),
        list(entry.function_type.results),
        arena_bytes=max((one.arena_bytes for one in founds), default=0),
        weights_bytes=sum(one.weights_bytes for one in founds),
        live_bytes=max((one.live_bytes for one in founds), default=0),
        input_dims=dims(INPUT_DIMS),
        output_dims=dims(OUTPUT_DIMS),
        input_starts=strings(INPUT_STARTS) if INPUT_STARTS in entry.attributes else [],
        failures=[op.message for op in entry.walk() if isinstance(op, nn.Assume)],
        complex_outputs=strings(COMPLEX_OUTPUTS) if COMPLEX_OUTPUTS in entry.attributes else [],
    )


class _Cut:
    """The state of cutting one program: the parts so far."""

    def __init__(self, module: Operation, entry: Operation, others: Sequence[Operation]) -> None:
        self.parts: list[Operation] = []
        self._module, self._entry, self._others = module, entry, others

    def cut(self, block: Block) -> None:
        """Replace the compiled phases of a block by calls of parts."""
        last = block.last
        assert last is not None
        for on_host, ops in _phases(block):
            if not on_host:
                self._part(block, ops)
                continue
            for op in ops:
                op.move_before(last)
                for region in op.regions:
                    self.cut(region.blocks[0])

    def _part(self, block: Block, ops: Sequence[Operation]) -> None:
        """Replace these operations of a block by a call of a new module."""
        inside = set(ops)
        used = dict.fromkeys(value for op in ops for value in _used(op))
        outer = [v for v in used if not (isinstance(v, OpResult) and v.owner in inside)]
        inputs = [v for v in outer if v.defined_by(nn.Constant) is None]
        outputs = [r for op in ops for r in op.results if not _users(r, block) <= inside]
        body = Block()
        mapping = IRMapping()
        for value in outer:
            if (constant := value.defined_by(nn.Constant)) is not None:
                body.append(constant.clone(mapping))
        for value in inputs:
            mapping[value] = argument = body.add_arg(value.type)
            argument.name_hint = value.name_hint
        for op in ops:
            body.append(op.clone(mapping))
        body.append(func.Return([mapping[v] for v in outputs], loc=self._entry.loc))
        call = func.Call(f"part{len(self.parts)}", inputs, outs=[v.type for v in outputs])
        self.parts.append(self._module_of(call.callee, body, inputs, outputs))
        assert block.last is not None
        block.insert_before(call, block.last)
        for old, new in zip(outputs, call.results, strict=True):
            old.replace_all_uses_with(new)
        for op in reversed(ops):
            op.erase()

    def _module_of(
        self, name: str, body: Block, inputs: Sequence[Value], outputs: Sequence[Value]
    ) -> Operation:
        type = FunctionType(tuple(v.type for v in inputs), tuple(v.type for v in outputs))
        names = [f"{v.name_hint or 'value'}.{i}" for i, v in enumerate((*inputs, *outputs))]
        given, made = names[: len(inputs)], names[len(inputs) :]
        main = func.FuncOp(
            sym_name=name,
            function_type=type,
            body=Region([body]),
            loc=self._entry.loc,
            attributes={
                ENTRY: UnitAttr(),
                INPUT_NAMES: ArrayAttr(tuple(map(StringAttr, given))),
                OUTPUT_NAMES: ArrayAttr(tuple(map(StringAttr, made))),
            },
        )
        module = ModuleOp.of([main, *(op.clone() for op in self._others)])
        module.loc = self._module.loc
        module.attributes.update(self._module.attributes)
        module.verify()
        return module


class _Planner:
    """Builds the plan of a program that was cut, and numbers its values."""

    def __init__(self) -> None:
        self.constants: Values = {}
        self._numbers: dict[Value, int] = {}

    def all(self, values: Iterable[Value]) -> list[int]:
        """The numbers of values in plans; elements of constants are stored."""
        return [self._number(value) for value in values]

    def _number(self, value: Value) -> int:
        number = self._numbers.setdefault(value, len(self._numbers))
        constant = value.defined_by(nn.Constant)
        if constant is not None and number not in self.constants:
            self.constants[number] = constant.value.to_numpy()
        return number

    def plan(self, block: Block) -> Plan:
        """The plan of a block: its steps, and the operands of its terminator."""
        last = block.last
        assert last is not None
        ops = [op for op in block if op is not last and not isinstance(op, nn.Constant)]
        return Plan([self._step(op) for op in ops], self.all(last._operands))

    def _step(self, op: Operation) -> Step:
        inputs, outputs = self.all(op._operands), self.all(op.results)
        match op:
            case func.Call():
                return Compute(int(op.callee.removeprefix("part")), inputs, outputs)
            case nn.If():
                plans = tuple(self.plan(region.blocks[0]) for region in op.regions)
                return Choose(op, inputs, outputs, plans=plans)  # type: ignore[arg-type]
            case nn.While():
                before, after = (
                    (self.plan(region.blocks[0]), self.all(region.blocks[0].args))
                    for region in (op.before, op.after)
                )
                return Repeat(op, inputs, outputs, before=before, after=after)
        if op.regions or not hasattr(op, "evaluate"):
            raise NncError(f"{node_of(op.loc)}: '{op.name}' cannot be a step of the host", op.loc)
        if all(map(is_short, (*op.operand_types, *op.result_types))):
            return HostStep(op, inputs, outputs, _ON_INTEGERS.get(type(op)))
        return HostStep(op, inputs, outputs)


# -- which operations are together -----------------------------------------------------------------


def _phases(block: Block) -> list[tuple[bool, list[Operation]]]:
    """The block's operations in phases, alternating between host and compiled.

    An operation is placed as late as its users allow, so that there are as few phases as possible:
    those of the chain of dependent operations that alternates most often.
    """
    ops = [op for op in block if op is not block.last and not isinstance(op, nn.Constant)]
    host = _hosted(ops)
    makers = {op: [m for m in _makers(op) if m in host] for op in ops}
    first: dict[Operation, int] = {}
    for op in ops:
        least = max((first[m] + (host[m] != host[op]) for m in makers[op]), default=0)
        first[op] = least + (least % 2 != host[op])
    end = max(first.values(), default=0)
    latest: dict[Operation, int] = {op: end - (end % 2 != host[op]) for op in ops}
    for op in reversed(ops):
        for maker in makers[op]:
            latest[maker] = min(latest[maker], latest[op] - (host[maker] != host[op]))
    phases: dict[int, list[Operation]] = {}
    for op in ops:
        phases.setdefault(latest[op], []).append(op)
    return [(number % 2 == 1, phases[number]) for number in sorted(phases)]


def _hosted(ops: Sequence[Operation]) -> dict[Operation, bool]:
    """Whether the host computes each operation: the required ones, and cheap ones beside them.

    Arithmetic on indices and the like takes less time on the host than a call of a part.
    """
    host: dict[Operation, bool] = {}
    light: list[Operation] = []
    for op in ops:
        host[op] = nn.is_on_host(op)
        if not host[op] and _is_light(op):
            makers = [m for m in _makers(op) if m in host]
            host[op] = all(host[m] for m in makers)
            light += [op] if host[op] and not makers else []
    for op in reversed(light):
        users = {user for r in op.results for user in _users(r, op.parent)}
        host[op] = not users or any(host.get(user, True) for user in users)
    return host


def _is_light(op: Operation) -> bool:
    """Whether an operation computes a few integers."""
    if not isinstance(op, nn.NnOp) or op.regions or not all(map(is_short, op.result_types)):
        return False
    return isinstance(op, nn.ShapeOf) or all(map(is_short, op.operand_types))


def _makers(op: Operation) -> set[Operation]:
    """The operations that make the values an operation uses, also inside of its regions."""
    return {value.owner for value in _used(op) if isinstance(value, OpResult)}


def _used(op: Operation) -> list[Value]:
    """The values from outside that an operation uses, without duplicates."""
    inner = [one for one in op.walk() if one is not op]
    own = {r for one in inner for r in one.results}
    own |= {a for one in op.walk() for region in one.regions for b in region.blocks for a in b.args}
    return list(dict.fromkeys(v for one in (op, *inner) for v in one._operands if v not in own))


def _users(value: Value, block: Block | None) -> set[Operation]:
    """The operations of a block that use a value, also inside of their regions."""
    found: set[Operation] = set()
    for user in value.users:
        at: Operation | None = user
        while at is not None and at.parent is not block:
            at = at.parent_op
        assert at is not None
        found.add(at)
    return found
