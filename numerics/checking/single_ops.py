"""Find the operation that a pass lowers wrongly, by running each operation alone.

After the conversion to the llvm dialect there is nothing to trace. So every operation that was
executed becomes a function of its own, with its operands as arguments. The pass lowers all of them,
and each is executed on the operands that it had:

    %s = vector.reduction <add>, %v : vector<4xf32> into f32
        ->
    func.func @op_7(%v: vector<4xf32>) -> f32 {
      %s = vector.reduction <add>, %v : vector<4xf32> into f32
      return %s : f32
    }
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...dialects import func, memref
from ...ir.builder import Builder
from ...ir.core import IRMapping, Operation, Value
from ...ir.diagnostics import NncError
from ...ir.passes import Pass, PassContext
from ...ir.traits import Terminator
from ...ir.types import MemRefType
from ...kernels.codegen.vectors.lower_tiles import LowerTiles
from ..buffer_functions import call_flat, function_types
from ..isolated import run_isolated
from ..native_functions import NativeFunctions
from .compare import Difference, Tolerance, find_difference
from .inputs import aligned_copy
from .locate import Place
from .running import without_entry
from .trace import Event, buffers_written

MOST_OPS = 4000


def first_wrong_op(
    module: Operation, events: Sequence[Event], one: Pass, tolerance: Tolerance, seconds: float
) -> Place | None:
    """The first operation whose code after the pass gives other results; None if there is none."""
    chosen = [event for event in events if _stands_alone(event.op)]
    names: dict[Operation, str] = {}
    for event in chosen:
        if event.op not in names and len(names) < MOST_OPS:
            names[event.op] = f"op_{len(names)}"
    lowered = _lowered(module, names, one)
    if lowered is None:
        return None
    lowered_module, types = lowered

    def work() -> tuple[int, Difference] | None:
        native = NativeFunctions(lowered_module, list(types))
        for i, event in enumerate(chosen):
            name = names.get(event.op)
            if name in types:
                found = _check(native, name, types[name], event, tolerance)
                if found is not None:
                    return i, found
        return None

    try:
        found = run_isolated(work, seconds=seconds).value
    except NncError:
        return None
    if found is None:
        return None
    event = chosen[found[0]]
    return Place(event.op, None, found[1])


def _stands_alone(op: Operation) -> bool:
    """Whether the operation can be run outside of its context."""
    if op.has_trait(Terminator) or isinstance(op, func.Call | memref.Dealloc):
        return False
    makes_buffers = any(isinstance(r.type, MemRefType) for r in op.results)
    return not op.regions and not makes_buffers


def _lowered(
    module: Operation, names: dict[Operation, str], one: Pass
) -> tuple[Operation, dict[str, Any]] | None:
    """The functions that the pass accepts, after the pass, and their types before it."""
    holder = without_entry(module)
    for op in list(holder.body_block):
        if not isinstance(op, memref.Global):
            op.drop_all_references()
    for op in list(holder.body_block):
        if not isinstance(op, memref.Global):
            op.detach()
    for op, name in names.items():
        holder.body_block.append(_function_of(op, name))
    types = function_types(holder)
    try:
        # The llvm level takes no tiles, which what was executed still has.
        LowerTiles().run(holder, PassContext())
        one.run(holder, PassContext())
    except NncError:
        return None
    return holder, types


def _function_of(op: Operation, name: str) -> func.FuncOp:
    operands: list[Value] = list(op.operands)
    made = func.FuncOp.of(
        name, [v.type for v in operands], [r.type for r in op.results], loc=op.loc
    )
    mapping = IRMapping()
    builder = Builder.at_end(made.body.block, op.loc)
    seen: set[Value] = set()
    for value, argument in zip(operands, made.args, strict=True):
        if value not in seen:
            mapping[value] = argument
            seen.add(value)
    inner = builder.insert(op.clone(mapping))
    builder.insert(func.Return(list(inner.results)))
    return made


def _check(
    native: NativeFunctions, name: str, type: Any, event: Event, tolerance: Tolerance
) -> Difference | None:
    operands = [aligned_copy(v) for v in event.operands]
    results = call_flat(native, name, type, operands)
    written = [operands[i] for i in buffers_written(event.op)]
    for before, after in zip(event.values, [*results, *written], strict=False):
        found = find_difference(np.asarray(before), np.asarray(after), tolerance)
        if found is not None:
            return found
    return None
