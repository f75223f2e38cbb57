"""--lower-to-circuit: one function of integers and buffers of one dimension, which CIRCT reads."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from ..artifacts.bindings.names import identifiers, snake_case
from ..dialects import arith, func, memref, scf
from ..dialects.marks import PORT_NAMES, PORT_RESULTS
from ..ir.attributes import ArrayAttr, StringAttr
from ..ir.builder import Builder
from ..ir.core import Operation, Value
from ..ir.diagnostics import PassError
from ..ir.passes import Pass, PassContext
from ..ir.types import FunctionType, IndexType, IntegerType, MemRefType, Type
from ..kernels.codegen.addresses.flatten_addresses import flatten
from .entry_signature import entry_of, signature_of

_TAKEN: frozenset[str] = frozenset(
    f"arith.{name}"
    for name in (
        *("constant", "addi", "subi", "muli", "andi", "ori", "xori", "shli", "shrsi", "shrui"),
        *("remsi", "remui", "cmpi", "select", "extsi", "extui", "trunci", "index_cast"),
    )
) | frozenset(
    (
        "scf.for",
        "scf.if",
        "scf.yield",
        "memref.load",
        "memref.store",
        "memref.alloca",
        "func.return",
    )
)
"""The operations for which CIRCT's Handshake has hardware. Quotients are not among them: CIRCT of
PyCDE 0.12.1 divides signed integers as unsigned ones, and unsigned ones as signed ones."""

_CHOICES: dict[type[Operation], str] = {
    arith.MaxSI: "sgt",
    arith.MaxUI: "ugt",
    arith.MinSI: "slt",
    arith.MinUI: "ult",
}
"""For the larger or smaller of two integers, the relation by which the first one is chosen."""


_PORTS = frozenset(("clock", "reset", "start", "done"))
"""The ports that each circuit has."""


@dataclass(frozen=True)
class LowerToCircuit(
    Pass,
    name="lower-to-circuit",
    anchor="builtin.module",
    statistics={"constants": "Number of constants that became arguments"},
):
    """Turn the entry into a function that CIRCT makes a circuit of by its Handshake dialect.

        func.func @main(%x: memref<2x4xi8>, %y: memref<2xi32>) attributes {nn.entry, ..} {
          %w = memref.get_global @w : memref<4xi8>
          %a = memref.load %x[%i, %k] : memref<2x4xi8>
    ->
        func.func @main(%x: memref<8xi8>, %y: memref<2xi32>, %w: memref<4xi8>)
            attributes {argNames = ["x", "y", "w", "start"], resNames = ["done"]} {
          %a = memref.load %x[%j] : memref<8xi8>

    Buffers have one dimension. Constants become arguments: memories outside of the circuit, each
    with the name and the numbers of its `memref.global`. `argNames` are the names of the ports.
    All other attributes that upstream does not have are removed. It is an error if an operation is
    left for which Handshake has no hardware, such as those on floats.
    """

    def run(self, op: Operation, context: PassContext) -> None:
        entry = entry_of(op)
        if entry is None:
            raise PassError("no function is marked nn.entry", op.loc)
        for other in list(op.body_block):
            if isinstance(other, func.FuncOp) and other is not entry:
                raise PassError(
                    f"a circuit is one function, but @{other.sym_name} is called: run "
                    "--inline=kernels=true first",
                    other.loc,
                )
        signature = signature_of(entry)
        for inner in list(entry.walk()):
            _simplify(inner)
        flatten(entry)
        constants = _constants_to_arguments(op, entry)
        context.statistic("constants", len(constants))
        _flatten(entry)
        for inner in entry.walk():
            if inner is not entry:
                _check(inner)
        _remove_marks(op, entry)
        names = [*signature.input_names, *signature.output_names, *constants]
        ports = [*identifiers(names, "port", snake_case, _PORTS), "start"]
        entry.attributes[PORT_NAMES] = ArrayAttr(tuple(map(StringAttr, ports)))
        entry.attributes[PORT_RESULTS] = ArrayAttr((StringAttr("done"),))


def _simplify(op: Operation) -> None:
    """Replace copies by loops, and the larger or smaller of two integers by a choice."""
    if (relation := _CHOICES.get(type(op))) is not None:
        b = Builder.before_op(op)
        chosen = b(arith.CmpI(relation, *op.operands)).result
        op.replace_with(b(arith.Select(chosen, *op.operands)).result)
    elif isinstance(op, memref.Copy) and op.source.type.has_static_shape:
        _copy(Builder.before_op(op), op.source, op.target)
        op.erase()


def _copy(b: Builder, source: Value, target: Value) -> None:
    """Loops that copy a buffer."""
    zero, one = (b(arith.Constant.index(n)).result for n in (0, 1))
    indices = []
    for extent in source.type.shape:
        end = b(arith.Constant.index(extent)).result
        loop = b(scf.For.of(zero, end, one))
        loop.body_block.append(scf.Yield([]))
        indices.append(loop.induction_var)
        b = Builder.at_start(loop.body_block)
        b.loc = loop.loc
    b(memref.Store(b(memref.Load(source, indices)).result, target, indices))


def _constants_to_arguments(module: Operation, entry: func.FuncOp) -> list[str]:
    """Add an argument for each constant that is read; gives the constants' names."""
    block, found = entry.body.block, {}
    for op in list(entry.walk()):
        if isinstance(op, memref.GetGlobal):
            if op.symbol not in found:
                found[op.symbol] = block.add_arg(op.result.type, op.loc)
            op.replace_with(found[op.symbol])
    for op in list(module.body_block):
        if isinstance(op, memref.Global):
            op.erase()
    return list(found)


def _flatten(entry: func.FuncOp) -> None:
    """Give all buffers one dimension."""
    for op in list(entry.walk()):
        if isinstance(op, memref.ReinterpretCast) and _is_whole(op):
            op.replace_with(op.source)
    buffers = [*entry.body.block.args]
    buffers += [op.result for op in entry.walk() if isinstance(op, memref.Alloca)]
    for buffer in buffers:
        type = buffer.type
        if isinstance(type, MemRefType) and type.rank != 1 and type.has_static_shape:
            buffer.type = MemRefType((prod(type.shape),), type.element_type)  # type: ignore[arg-type]
            if type.rank == 0:
                _subscribe(buffer)
    types = tuple(arg.type for arg in entry.body.block.args)
    entry.function_type = FunctionType(types, entry.function_type.results)


def _is_whole(op: memref.ReinterpretCast) -> bool:
    """Whether a view is all of a dense buffer, as one dimension."""
    type, source = op.result.type, op.source.type
    return (
        type.rank == 1
        and type.has_static_shape
        and source.layout is None
        and type.num_elements == source.num_elements
        and type.strides_and_offset() == ((1,), 0)
    )


def _subscribe(buffer: Value) -> None:
    """Add a subscript to accesses of a buffer that had no dimension."""
    for op in buffer.users:
        zero = Builder.before_op(op)(arith.Constant.index(0)).result
        op.operands = [*op.operands, zero]


def _check(op: Operation) -> None:
    """Raise PassError for an operation that has no hardware."""
    values = (*op.operands, *op.results)
    other = next((v.type for v in values if not _is_whole_number(v.type)), None)
    if op.name not in _TAKEN or other is not None:
        kind = "" if other is None else f" on {other}"
        raise PassError(
            f"'{op.name}'{kind} has no circuit: CIRCT's Handshake adds, multiplies, shifts, "
            "compares and selects integers; the target 'hls' has all else",
            op.loc,
        )


def _is_whole_number(type: Type) -> bool:
    if isinstance(type, MemRefType):
        return type.rank == 1 and type.has_static_shape and _is_whole_number(type.element_type)
    return isinstance(type, IntegerType | IndexType)


def _remove_marks(module: Operation, entry: func.FuncOp) -> None:
    """Remove the attributes that upstream does not have."""
    module.attributes.clear()
    for op in entry.walk():
        op.attributes.clear()
    entry.arg_attrs = None
