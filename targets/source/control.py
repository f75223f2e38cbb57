"""Loops, branches, calls and checks as statements of source text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager

from ...dialects import cf, func, memref, scf, vector
from ...dialects.marks import PARALLEL
from ...ir.core import Block, Operation, Value
from ...ir.diagnostics import NncError
from ...ir.types import IndexType
from .memory import grouped, summand
from .printer import FunctionPrinter, states
from .printing import stripped


@states(scf.For)
def _for(p: FunctionPrinter, op: scf.For) -> None:
    block = op.body_block
    names = p.variables(block.args[1:], "sum", p.all_flat(op._operands[3:]))
    with loop(p, block.args[0], [p.text_of(v) for v in op._operands[:3]]), reads_here(p, block):
        p.enter(op)
        p.block(block)
        p.assign(names, block.last._operands)  # type: ignore[union-attr]
    p.bind_all(op.results, names)


def loop(p: FunctionPrinter, counter: Value, bounds: Sequence[str]) -> AbstractContextManager[None]:
    """Print a counted loop; the context is its body."""
    hint = counter.name_hint
    name = p.fresh(hint if hint and not re.match(r"arg\d|\d", hint) else "i")
    p.values[counter] = name
    low, high, step = map(stripped, bounds)
    type, first, last = counter.type, name, summand(high)
    if not isinstance(type, IndexType):
        signed = p.language.scalars[f"i{p.language.bits(type)}"]
        first, last = p.cast(name, signed), p.cast(grouped(high), signed)
    words = {"kind": p.language.type(type), "name": name, "low": low, "step": step}
    return p.braces(p.language.templates["for"].format(first=first, last=last, **words))


_LOADS = (memref.Load, vector.Load)
FEW = 8
"""The most loads in a loop whose position is left to the C compiler."""


@contextmanager
def reads_here(p: FunctionPrinter, block: Block) -> Iterator[None]:
    """Keep loads that a loop repeats inside of the loop, if there are many.

    C compilers would hoist all of them, and have no registers for them.
    """
    loads = [op for op in block if isinstance(op, _LOADS)]
    repeated = [op for op in loads if not any(v.parent_block is block for v in op.indices)]
    template = p.language.templates.get("here")
    starts = dict.fromkeys(v for op in repeated for v in op.indices)
    kept = {v: p.values[v] for v in starts if re.fullmatch(r"[a-z]\w*", str(p.values[v]))}
    if template is None or len(loads) <= FEW or not repeated:
        kept = {}
    for value, name in kept.items():
        p.values[value] = p.fresh(name)
        p.line(template.format(name, name=p.values[value]))  # type: ignore[union-attr]
    yield
    p.values.update(kept)


@states(scf.Parallel)
def _parallel(p: FunctionPrinter, op: scf.Parallel) -> None:
    """Print a parallel loop as nested sequential loops."""
    rank = len(op.body_block.args)
    names = p.variables(op.results, "total", p.all_flat(op._operands[3 * rank :]))
    with ExitStack() as loops:
        for i, arg in enumerate(op.body_block.args):
            bounds = [p.text_of(op._operands[i + part * rank]) for part in range(3)]
            loops.enter_context(loop(p, arg, bounds))
        p.block(op.body_block)
        last = op.body_block.last
        for i, region in enumerate(last.regions if last is not None else ()):
            inner = region.blocks[0]
            p.bind_flat(inner.args[0], [names[i]])
            p.bind_flat(inner.args[1], p.flat(last._operands[i]))  # type: ignore[union-attr]
            p.block(inner)
            p.assign([names[i]], inner.last._operands)  # type: ignore[union-attr]


@states(scf.While)
def _while(p: FunctionPrinter, op: scf.While) -> None:
    before, after = (region.blocks[0] for region in op.regions)
    names = p.variables(before.args, "state", p.all_flat(op._operands))
    passed = p.variables(op.results, "found", None)
    condition = before.last
    assert isinstance(condition, scf.Condition)
    with p.braces(p.language.templates["forever"]):
        p.block(before)
        p.assign(passed, condition._operands[1:])
        p.line(f"if (!{grouped(p.text_of(condition._operands[0]))}) {{ break; }}")
        p.bind_all(after.args, passed)
        p.block(after)
        p.assign(names, after.last._operands)  # type: ignore[union-attr]


@states(scf.If)
def _if(p: FunctionPrinter, op: scf.If) -> None:
    names = p.variables(op.results, "chosen", None)
    head = f"if ({stripped(p.text_of(op._operands[0]))})"
    for region in (r for r in op.regions if r.blocks):
        with p.braces(head):
            _chosen(p, names, region.blocks[0])
        head = "else"


def _chosen(p: FunctionPrinter, names: Sequence[str], block: Block) -> None:
    """Print a block, then assign the values that it yields to variables."""
    p.block(block)
    if names:
        p.assign(names, block.last._operands)  # type: ignore[union-attr]


@states(scf.IndexSwitch)
def _switch(p: FunctionPrinter, op: scf.IndexSwitch) -> None:
    names = p.variables(op.results, "chosen", None)
    default, *cases = op.regions
    with p.braces(f"switch ({stripped(p.text_of(op._operands[0]))})"):
        for label, region in [*zip(op.cases, cases, strict=True), (None, default)]:
            with p.braces("default:" if label is None else f"case {label}:"):
                _chosen(p, names, region.blocks[0])
                p.line("break;")


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
    arguments = [stripped(t) for t in p.all_flat(op._operands)]
    names = p.variables(op.results, "made", None)
    arguments += [f"&{name}" for name in names]
    callee, fails = p.facts.names[op.callee], op.callee in p.facts.failing
    callee = p.facts.called.get(op.callee, callee)
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
    p.constant("int32_t", status, text.removesuffix(";"))
    p.fail("", op, status)
