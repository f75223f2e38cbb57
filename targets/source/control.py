"""Loops, branches, calls and checks as statements of source text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...dialects import cf, func, memref, scf
from ...dialects.marks import PARALLEL
from ...ir.core import Block, Operation, Value
from ...ir.diagnostics import NncError
from ...ir.types import IndexType, Type
from .memory import grouped
from .printer import FunctionPrinter, states
from .printing import stripped


@states(scf.For)
def _for(p: FunctionPrinter, op: scf.For) -> None:
    block, carried = op.body_block, op._operands[3:]
    inits = [t for v in carried for t in p.flat(v)]
    names = p.variables(block.args[1:], "sum", inits)
    counter = block.args[0]
    loop(p, counter, [p.text_of(v) for v in op._operands[:3]], counter.type)
    p.nested(block)
    _yield(p, names, block)
    _results(p, op, names)


def loop(p: FunctionPrinter, counter: Value, bounds: Sequence[str], type: Type) -> None:
    """The head of a counted loop."""
    hint = counter.name_hint
    name = p.fresh(hint if hint and not re.match(r"arg\d|\d", hint) else "i")
    p.values[counter] = name
    kind = p.language.type(type)
    low, high, step = map(stripped, bounds)
    compared = (name, high)
    if not isinstance(type, IndexType):
        signed = p.language.scalars[f"i{p.language.bits(type)}"]
        compared = (f"({signed}){name}", f"({signed}){grouped(high)}")
    p.line(f"for ({kind} {name} = {low}; {compared[0]} < {compared[1]}; {name} += {step}) {{")


def _yield(p: FunctionPrinter, names: Sequence[str], block: Block) -> None:
    p.depth += 1
    p.assign(names, block.last._operands)  # type: ignore[union-attr]
    p.depth -= 1
    p.line("}")


def _results(p: FunctionPrinter, op: Operation, names: Sequence[str]) -> None:
    """Bind results to variables."""
    at = 0
    for result in op.results:
        count = len(p.flat_types(result.type))
        p.bind_flat(result, names[at : at + count])
        at += count


@states(scf.Parallel)
def _parallel(p: FunctionPrinter, op: scf.Parallel) -> None:
    """Nested loops, one iteration after the other."""
    rank = len(op.body_block.args)
    names = p.variables(
        op.results, "total", [t for v in op._operands[3 * rank :] for t in p.flat(v)]
    )
    for i, arg in enumerate(op.body_block.args):
        bounds = [p.text_of(op._operands[i + part * rank]) for part in range(3)]
        loop(p, arg, bounds, arg.type)
        p.depth += 1
    p.block(op.body_block)
    last = op.body_block.last
    for i, region in enumerate(last.regions if last is not None else ()):
        inner = region.blocks[0]
        p.bind_flat(inner.args[0], [names[i]])
        p.bind_flat(inner.args[1], p.flat(last._operands[i]))  # type: ignore[union-attr]
        p.block(inner)
        p.assign([names[i]], inner.last._operands)  # type: ignore[union-attr]
    for _ in range(rank):
        p.depth -= 1
        p.line("}")


@states(scf.While)
def _while(p: FunctionPrinter, op: scf.While) -> None:
    before, after = (region.blocks[0] for region in op.regions)
    names = p.variables(before.args, "state", [t for v in op._operands for t in p.flat(v)])
    passed = p.variables(op.results, "found", None)
    p.line("for (;;) {")
    p.nested(before)
    condition = before.last
    assert isinstance(condition, scf.Condition)
    p.depth += 1
    p.assign(passed, condition._operands[1:])
    p.line(f"if (!{grouped(p.text_of(condition._operands[0]))}) break;")
    at = 0
    for arg in after.args:
        count = len(p.flat_types(arg.type))
        p.bind_flat(arg, passed[at : at + count])
        at += count
    p.depth -= 1
    p.nested(after)
    _yield(p, names, after)


@states(scf.If)
def _if(p: FunctionPrinter, op: scf.If) -> None:
    names = p.variables(op.results, "chosen", None)
    p.line(f"if ({stripped(p.text_of(op._operands[0]))}) {{")
    for i, region in enumerate(r for r in op.regions if r.blocks):
        if i:
            p.line("} else {")
        p.nested(region.blocks[0])
        if op.results:
            p.depth += 1
            p.assign(names, region.blocks[0].last._operands)  # type: ignore[union-attr]
            p.depth -= 1
    p.line("}")


@states(scf.IndexSwitch)
def _switch(p: FunctionPrinter, op: scf.IndexSwitch) -> None:
    names = p.variables(op.results, "chosen", None)
    p.line(f"switch ({stripped(p.text_of(op._operands[0]))}) {{")
    default, *cases = op.regions
    for label, region in [*zip(op.cases, cases, strict=True), (None, default)]:
        p.line("default: {" if label is None else f"case {label}: {{")
        p.nested(region.blocks[0])
        p.depth += 1
        p.assign(names, region.blocks[0].last._operands)  # type: ignore[union-attr]
        p.line("break;")
        p.depth -= 1
        p.line("}")
    p.line("}")


@states(scf.ExecuteRegion, memref.AllocaScope)
def _inline(p: FunctionPrinter, op: Operation) -> None:
    block = op.regions[0].blocks[0]
    if len(op.regions[0].blocks) > 1:
        raise NncError("has several blocks")
    p.block(block)
    for result, value in zip(op.results, block.last._operands, strict=True):  # type: ignore[union-attr]
        p.values[result] = p.values[value]


@states(cf.Assert)
def _assert(p: FunctionPrinter, op: cf.Assert) -> None:
    p.fail(p.text_of(op.arg), op)


@states(func.Return)
def _return(p: FunctionPrinter, op: func.Return) -> None:
    for i, value in enumerate(op._operands):
        for k, text in enumerate(p.flat(value)):
            p.line(f"*out{i}_{k} = {stripped(text)};")
    if p.fails:
        p.line("return 0;")


@states(func.Call)
def _call(p: FunctionPrinter, op: func.Call) -> None:
    arguments = [stripped(t) for v in op._operands for t in p.flat(v)]
    names = p.variables(op.results, "made", None)
    arguments += [f"&{name}" for name in names]
    callee, fails = p.facts.names[op.callee], op.callee in p.facts.failing
    if op.callee in p.facts.heap:
        arguments.append("heap")
    if PARALLEL not in op.attributes:
        text = f"{callee}({', '.join(arguments)});"
    else:
        grain, work = getattr(op.attributes[PARALLEL], "value", 1), p.fresh("work")
        pool, begin, end, *given = arguments
        rest = given[: len(given) - (op.callee in p.facts.heap)]
        words = {"pool": pool, "begin": begin, "end": end, "grain": grain, "work": work}
        for line in p.language.templates["parallel"].splitlines():
            lists = ("".join(f", {one}" for one in some) for some in (rest, given))
            words |= dict(zip(("rest", "given"), lists, strict=True))
            status = f"{work}.status[0] = " if fails else ""
            p.line(line.format(name=callee, status=status, **words))
        text = p.language.templates["worst"].format(work=work) if fails else ""
    if not fails:
        p.line(text)
        return
    status = p.fresh("status")
    p.line(f"const int32_t {status} = {text}")
    p.fail("", op, status)
