"""Lowering of amx: tiles are values of a type of their own, for which LLVM has intrinsics."""

from __future__ import annotations

from typing import Any

from ...dialects import amx, cf, func, llvm
from ...ir.attributes import IntegerAttr
from ...ir.builder import Builder
from ...ir.core import Operation, Value
from ...ir.types import bf16, i1, i16, i64
from ...runtime.systems import LINUX
from ...targets.x86.tiles import PERMISSION_CALL
from ..entry_signature import entry_of
from .conversion import FunctionLowering, lowers
from .types import byte_width

PERMISSION = "nnc_ask_for_tiles"
"""The function that asks the system for the tile registers; its result is whether they may be
used."""


_PREFIX, _SUFFIX = "llvm.x86.", ".internal"


def _sizes(f: FunctionLowering, tile: amx.TileType) -> list[Value]:
    """(rows, bytes of a row) of a tile."""
    return [f.integer(tile.shape[0], i16), f.integer(tile.row_bytes, i16)]


def _call(f: FunctionLowering, name: str, args: list[Value]) -> Value:
    """The tile that an intrinsic makes."""
    made = llvm.CallIntrinsic(f"{_PREFIX}{name}{_SUFFIX}", args, op_bundle_operands=(), res=llvm.X86AMXType())
    return f.append(made).results[0]


def _place(f: FunctionLowering, op: amx.TileLoad | amx.TileStore) -> list[Value]:
    """(the address of a tile's first element, the bytes from one row to the next)."""
    memref, type = f.memref(op.base), op.base.type
    pointer = f.address(memref, type, [f.linear(i) for i in op.indices])
    apart = memref.strides[-2] if op.stride is None else f.value(op.stride)
    return [pointer, f.size_value(f.times(apart, byte_width(type.element_type)))]


@lowers(amx.TileZero)
def _zero(f: FunctionLowering, op: amx.TileZero) -> None:
    f.bind(op.res, _call(f, "tilezero", _sizes(f, op.res.type)))


@lowers(amx.TileLoad)
def _load(f: FunctionLowering, op: amx.TileLoad) -> None:
    f.bind(op.res, _call(f, "tileloadd64", [*_sizes(f, op.res.type), *_place(f, op)]))


@lowers(amx.TileStore)
def _store(f: FunctionLowering, op: amx.TileStore) -> None:
    operands = [*_sizes(f, op.val.type), *_place(f, op), f.value(op.val)]
    f.append(llvm.CallIntrinsic(f"{_PREFIX}tilestored64{_SUFFIX}", operands, op_bundle_operands=()))


@lowers(amx.TileMulI, amx.TileMulF)
def _product(f: FunctionLowering, op: amx.TileMulI | amx.TileMulF) -> None:
    if isinstance(op, amx.TileMulI):
        signs = "".join("u" if zext else "s" for zext in (op.isZextLhs, op.isZextRhs))
        name = f"tdpb{signs}d"
    else:
        name = "tdpbf16ps" if op.lhs.type.element_type is bf16 else "tdpfp16ps"
    rows, columns = _sizes(f, op.acc.type)
    steps = f.integer(op.lhs.type.row_bytes, i16)
    tiles = [f.value(v) for v in (op.acc, op.lhs, op.rhs)]
    f.bind(op.res, _call(f, name, [rows, columns, steps, *tiles]))


def ask_for_tiles(lowering: Any) -> None:
    """Let a program that computes on tiles begin by asking the system for them, as Linux wants it
    once for each process; it fails with a message where that is refused.
    """
    module: Operation = lowering.module
    entry = entry_of(module)
    used = any(isinstance(op, amx.TileZero | amx.TileLoad) for op in module.walk())
    if entry is None or lowering.system != LINUX.name or not used:
        return
    lowering.need_function("syscall", [i64] * len(PERMISSION_CALL), i64)
    module.body_block.append(_permission())
    first = entry.regions[0].blocks[0].first
    assert first is not None
    message = "the processor's tile registers (AMX) are not there, or the system does not give them"
    call = func.Call(PERMISSION, (), outs=(i1,))
    for op in (call, cf.Assert(call.results[0], message)):
        entry.regions[0].blocks[0].insert_before(op, first)


def _permission() -> llvm.Func:
    """The function `PERMISSION`: one system call."""
    made = llvm.Func.define(PERMISSION, llvm.function_type((), i1), linkage="internal")
    b = Builder.at_end(made.body.blocks[0])
    numbers = [b.insert(llvm.Constant(IntegerAttr(n, i64), res=i64)).res for n in PERMISSION_CALL]
    status = b.insert(llvm.Call.of("syscall", numbers, i64)).result
    none = b.insert(llvm.Constant(IntegerAttr(0, i64), res=i64)).res
    b.insert(llvm.Return(b.insert(llvm.ICmp("eq", status, none)).res))
    return made
