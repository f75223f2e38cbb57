"""Copies constants that are passed to branches and loops into them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ...dialects import nn
from ...dialects.builtin import ModuleOp
from ...dialects.func import FuncOp, functions_by_name
from ...ir.builder import Builder
from ...ir.core import Operation
from ...ir.passes import Pass, PassContext
from ...ir.types import FunctionType
from ..dead_code import symbol_references


@dataclass(frozen=True)
class RepeatConstants(
    Pass,
    name="repeat-constants",
    anchor="builtin.module",
    statistics={"arguments": "Number of arguments that became constants"},
):
    """Copy a constant into the functions of branches and loops that get it as an argument.

        %w = nn.constant ..                        func.func private @main_do_0(%x: ..) {
        nn.call_while @main_while_0,          ->     %w = nn.constant ..
          @main_do_0(%x, %w) {carried = 1 ..}        %0 = nn.matmul %x, %w ..

    A layout can then be chosen for it there: the weights of a recurrent network are packed, instead
    of being read row by row in each step. A value that the loop carries changes, and stays an
    argument.
    """

    def run(self, op: Operation, context: PassContext) -> None:
        """Visit callers before the functions they call, so that constants reach nested regions."""
        assert isinstance(op, ModuleOp)
        functions = functions_by_name(op)
        mentions = Counter(symbol_references(op))
        for function in functions.values():
            for call in [c for c in function.walk() if isinstance(c, nn.CallIf | nn.CallWhile)]:
                names = _callees(call)
                if all(n in functions and mentions[n] == names.count(n) for n in names):
                    callees = [functions[n] for n in dict.fromkeys(names)]
                    context.statistic("arguments", _repeat(call, callees))


def _callees(call: nn.CallIf | nn.CallWhile) -> list[str]:
    if isinstance(call, nn.CallIf):
        return [call.then, call.otherwise]
    return [call.before, call.after]


def _repeat(call: nn.CallIf | nn.CallWhile, callees: Sequence[FuncOp]) -> int:
    """Copy the constants among a call's arguments into all functions that it may call; their
    number.

    A constant whose type is more precise than the functions' argument stays an argument.
    """
    first = call.carried if isinstance(call, nn.CallWhile) else 0
    constants = {
        i: constant
        for i, value in enumerate(call.args)
        if i >= first
        and (constant := value.defined_by(nn.Constant)) is not None
        and all(f.function_type.inputs[i] == value.type for f in callees)
    }
    if not constants:
        return 0
    for function in callees:
        _make_constant(function, constants)
    kept = [value for i, value in enumerate(call.args) if i not in constants]
    if isinstance(call, nn.CallIf):
        made: Operation = nn.CallIf(
            call.condition, call.then, call.otherwise, kept, outs=call.result_types
        )
    else:
        made = nn.CallWhile(
            call.before, call.after, kept, call.count, call.carried, outs=call.result_types
        )
    made.loc = call.loc
    Builder.before_op(call).insert(made)
    call.replace_with(*made.results)
    return len(constants)


def _make_constant(function: FuncOp, constants: dict[int, nn.Constant]) -> None:
    """Replace these arguments of a function by copies of the constants."""
    block = function.body.block
    for i, constant in constants.items():
        argument = block.args[i]
        if argument.has_uses:
            copy = constant.clone()
            copy.result.name_hint = argument.name_hint
            block.prepend(copy)
            argument.replace_all_uses_with(copy.result)
    block.args[:] = [argument for i, argument in enumerate(block.args) if i not in constants]
    for i, argument in enumerate(block.args):
        argument.index = i
    type = function.function_type
    inputs = tuple(t for i, t in enumerate(type.inputs) if i not in constants)
    function.function_type = FunctionType(inputs, type.results)
