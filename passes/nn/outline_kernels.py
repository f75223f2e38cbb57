"""Kernels become functions; equal ones become one function."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from ...dialects import nn
from ...dialects.builtin import ModuleOp
from ...dialects.func import Call, FuncOp, Return, functions_by_name
from ...dialects.marks import EXPECTED_EXTENTS, KERNEL, REPEATED
from ...dialects.nn.called import called_outside_loops
from ...dialects.nn.known_values import is_short
from ...dialects.nn.traits import Fusion
from ...ir.attributes import Attribute, UnitAttr
from ...ir.core import Operation, Region, Value
from ...ir.passes import Pass, PassContext, option
from ...ir.symbols import new_name, symbol_name
from ...ir.traits import ConstantLike
from ...targets.attribute import target_of


@dataclass(frozen=True)
class OutlineKernels(
    Pass,
    name="outline-kernels",
    anchor="builtin.module",
    statistics={
        "functions": "Number of kernel functions made",
        "kernels-shared": "Number of kernels that use the function of an equal one",
    },
):
    """Make each `nn.kernel` a private function with attribute `nn.kernel`, and call it.

    Kernels that differ only in their operands share a function. It is named after its ops:
    `conv_add_relu_0`. On targets whose idle threads wait without sleeping, kernels that are called
    only in loops get the attribute `nn.repeated`, as starting a parallel loop is cheap for them.
    """

    words: int = option(4, help="the most ops that a kernel's name lists", least=1)

    def run(self, op: Operation, context: PassContext) -> None:
        """Outline every kernel of the module's functions, in order."""
        assert isinstance(op, ModuleOp)
        block = op.body_block
        names = {name for inner in block if (name := symbol_name(inner)) is not None}
        known: dict[Hashable, FuncOp] = {}
        for inner in list(block):
            anchor: Operation = inner
            for kernel in [k for k in inner.walk() if isinstance(k, nn.Kernel)]:
                key = structure(kernel)
                function = known.get(key)
                if function is None:
                    function = self.outline(kernel, names)
                    block.insert_after(function, anchor)
                    anchor = known[key] = function
                    context.statistic("functions")
                else:
                    context.statistic("kernels-shared")
                self.call(kernel, function)
        if target_of(op).keeps_threads_awake:
            _mark_repeated(op)

    def outline(self, kernel: nn.Kernel, names: set[str]) -> FuncOp:
        """A new function to which the kernel's body is moved."""
        body = kernel.body.blocks[0]
        stem = "_".join(self.summary_of(kernel)) or "kernel"
        name = new_name(stem, names)
        function = FuncOp.of(
            name,
            kernel.operand_types,
            kernel.result_types,
            visibility="private",
            attributes={KERNEL: UnitAttr(), **kernel.attributes},
            loc=kernel.loc,
        )
        entry = function.body.blocks[0]
        for old, new in zip(body.args, entry.args, strict=True):
            old.replace_all_uses_with(new)
        for op in list(body):
            op.detach()
            if isinstance(op, nn.Yield):
                entry.append(Return(op.operands, loc=op.loc))
                op.drop_all_references()
            else:
                entry.append(op)
        return function

    def summary_of(self, kernel: nn.Kernel) -> list[str]:
        """The names of the kernel's first ops.

        Constants, movements and ops that only compute extents do not count, unless there is nothing
        else.
        """
        made = [op for op in kernel.body.ops if not _is_unnamed(op)]
        sizes = _from_extents(made)
        ops = [op for op in made if op not in sizes] or made
        moving = (Fusion.MOVEMENT, Fusion.VIEW)
        working = [op for op in ops if nn.fusion_of(op) not in moving] or ops
        words = [op.name.partition(".")[2] for op in working]
        return [w for i, w in enumerate(words) if not i or w != words[i - 1]][: self.words]

    @staticmethod
    def call(kernel: nn.Kernel, function: FuncOp) -> None:
        """Replace the kernel by a call."""
        call = Call(function.sym_name, kernel.operands, outs=kernel.result_types, loc=kernel.loc)
        assert kernel.parent is not None
        kernel.parent.insert_before(call, kernel)
        for old, new in zip(kernel.results, call.results, strict=True):
            old.replace_all_uses_with(new)
        for block in kernel.body.blocks:
            for op in block:
                op.drop_all_references()
        kernel.erase()


def _mark_repeated(module: ModuleOp) -> None:
    """Mark the kernels that are called in loops only."""
    once = called_outside_loops(module)
    for name, function in functions_by_name(module).items():
        if KERNEL in function.attributes and name not in once:
            function.attributes[REPEATED] = UnitAttr()


def _is_unnamed(op: Operation) -> bool:
    return op.has_trait(ConstantLike) or isinstance(op, nn.Yield)


def _from_extents(ops: Sequence[Operation]) -> set[Operation]:
    """The ops that compute from nothing but constants and extents of operands."""
    found: set[Operation] = set()
    for op in ops:
        before = [made for v in op.operands if (made := v.defining_op) is not None]
        computed = [made for made in before if not made.has_trait(ConstantLike)]
        is_inside = len(before) == len(op.operands) and bool(computed)
        follows = isinstance(op, nn.ShapeOf) or (is_inside and found.issuperset(computed))
        if follows and is_short(op.results[0].type):
            found.add(op)
    return found


def structure(kernel: nn.Kernel, apart: Sequence[Operation] = ()) -> Hashable:
    """A key that is equal for kernels that compute the same from operands of equal types.

    Expected extents do not count: those of the first kernel are taken for all. Nor do attributes
    of the ops `apart`.
    """
    numbers: dict[Value, int] = {}
    same = _sorted({k: v for k, v in kernel.attributes.items() if k != EXPECTED_EXTENTS})
    return _region(kernel.body, numbers, set(apart)), tuple(kernel.result_types), same


def _region(region: Region, numbers: dict[Value, int], apart: set[Operation]) -> Hashable:
    blocks = []
    for block in region.blocks:
        for arg in block.args:
            numbers[arg] = len(numbers)
        ops = []
        for op in block:
            ops.append(
                (
                    op.name,
                    tuple(numbers[v] for v in op.operands),
                    tuple(op.result_types),
                    () if op in apart else _sorted(op.properties),
                    () if op in apart else _sorted(op.attributes),
                    tuple(_region(inner, numbers, apart) for inner in op.regions),
                )
            )
            for result in op.results:
                numbers[result] = len(numbers)
        blocks.append((tuple(a.type for a in block.args), tuple(ops)))
    return tuple(blocks)


def _sorted(attributes: Mapping[str, Attribute]) -> Hashable:
    return tuple(sorted(attributes.items(), key=lambda pair: pair[0]))
