"""Replacement of calls by the bodies of the functions that they call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..dialects.func import Call, FuncOp, Return, functions_by_name
from ..dialects.marks import KERNEL
from ..ir.core import IRMapping, Operation
from ..ir.diagnostics import NncError
from ..ir.passes import Pass, PassContext, option
from .dead_code import symbol_references

MOST = 1_000_000
"""The most operations that a function's calls may become: far more than any model has, and few
enough for the memory of a small machine.
"""


@dataclass(frozen=True)
class Inline(
    Pass,
    name="inline",
    anchor="builtin.module",
    statistics={"inlined": "Number of calls inlined"},
):
    """Replace calls by the bodies of the functions that they call.

        func.func private @twice(%x: f32) -> f32 {
          %y = arith.addf %x, %x : f32
          return %y : f32
        }
        %b = call @twice(%a) : (f32) -> f32    ->    %b = arith.addf %a, %a : f32

    A function of one block is inlined, unless it is a kernel (nn.kernel), recursive, or marked
    `no_inline`; the mark may also be on the call. With `kernels`, kernels are inlined, too. Private
    functions that nothing refers to afterwards are erased. It is an error if calls would become
    more than a million operations.
    """

    kernels: bool = option(False, help="inline kernels, too")

    def run(self, op: Operation, context: PassContext) -> None:
        """Inline called functions before their callers, so that each body is final when it is
        copied.
        """
        functions = functions_by_name(op)
        callees = {
            name: {c.callee for c in calls_of(f) if c.callee in functions}
            for name, f in functions.items()
        }
        inlinable = {
            f.sym_name
            for f in functions.values()
            if (self.kernels or KERNEL not in f.attributes) and _is_inlinable(f, callees)
        }
        order = _callees_first(callees)
        calls = {
            name: [c for c in calls_of(f) if not c.no_inline and c.callee in inlinable]
            for name, f in functions.items()
        }
        _check_sizes(order, functions, calls)
        for name in order:
            for call in calls[name]:
                inline_call(call, functions[call.callee])
                context.statistic("inlined")
        inlined = {call.callee for own in calls.values() for call in own}
        mentioned = {name for f in op.regions[0].ops for name in symbol_references(f)}
        for name in inlined - mentioned:
            if functions[name].sym_visibility == "private":
                functions[name].erase()


def calls_of(function: FuncOp) -> list[Call]:
    """The direct calls within a function."""
    return [op for op in function.walk() if isinstance(op, Call)]


def _callees_first(callees: dict[str, set[str]]) -> list[str]:
    order: list[str] = []
    seen: set[str] = set()
    for top in callees:
        stack = [(top, False)]
        while stack:
            name, is_ready = stack.pop()
            if is_ready:
                order.append(name)
            elif name not in seen:
                seen.add(name)
                stack.append((name, True))
                stack += [(callee, False) for callee in sorted(callees[name])]
    return order


def _check_sizes(
    order: Sequence[str], functions: Mapping[str, FuncOp], calls: Mapping[str, Sequence[Call]]
) -> None:
    """Raise NncError if calls would become more than `MOST` operations.

    n functions that each call the next one twice would become 2**n copies.
    """
    sizes: dict[str, int] = {}
    for name in order:
        inner = sum(sizes[call.callee] for call in calls[name])
        sizes[name] = inner + sum(1 for _ in functions[name].walk())
        if inner > MOST:
            message = f"the calls in '@{name}' would become more than {MOST:,} operations inline"
            raise NncError(message, functions[name].loc)


def _is_inlinable(callee: FuncOp, callees: dict[str, set[str]]) -> bool:
    if callee.no_inline or len(callee.body.blocks) != 1:
        return False
    if not isinstance(callee.body.block.last, Return):
        return False
    reached: set[str] = set()
    work = list(callees[callee.sym_name])
    while work:
        name = work.pop()
        if name not in reached:
            reached.add(name)
            work += callees[name]
    return callee.sym_name not in reached


def inline_call(call: Call, callee: FuncOp) -> None:
    """Replace a call by the operations of the function, which has one block."""
    body, block = callee.body.block, call.parent
    assert block is not None
    mapping = IRMapping(dict(zip(body.args, call.operands, strict=True)))
    for op in body:
        if op is body.last:
            for old, new in zip(call.results, op.operands, strict=True):
                old.replace_all_uses_with(mapping[new])
        else:
            block.insert_before(op.clone(mapping), call)
    call.erase()
