"""Lowering of amx: intrinsics on the tile registers that `tile_registers.py` has chosen."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from ...dialects import amx, cf, func, llvm
from ...ir.attributes import DenseElements, IntegerAttr
from ...ir.builder import Builder
from ...ir.core import Block, Operation, Value
from ...ir.diagnostics import PassError
from ...ir.types import TensorType, bf16, i1, i8, i64
from ...runtime.systems import LINUX
from ...targets.x86.tiles import PERMISSION_CALL
from ..entry_signature import entry_of
from .conversion import FunctionLowering, lowers
from .tile_registers import Stretch
from .types import byte_width

PERMISSION = "nnc_ask_for_tiles"
"""The function that asks the system for the tile registers; its result is whether they may be
used."""


def _call(f: FunctionLowering, name: str, args: Sequence[Value | int]) -> None:
    """Call an intrinsic, for whose immediate operands there are numbers."""
    values = [f.integer(arg, i8) if isinstance(arg, int) else arg for arg in args]
    f.append(llvm.CallIntrinsic(f"llvm.x86.{name}", values, op_bundle_operands=()))


def _emit(f: FunctionLowering, op: Any, name: str, tiles: Sequence[Value], *args: Value) -> None:
    """Call an intrinsic on the registers of tiles, in shapes that hold from here on or until here
    where a stretch begins or ends.
    """
    allocation = f.tiles
    assert allocation is not None
    for stretch in allocation.stretches:
        if stretch.first is op:
            _call(f, "ldtilecfg", [f.address_of(_shapes(f, stretch))])
    _call(f, name, [*(allocation.register[tile] for tile in tiles), *args])
    if any(stretch.last is op for stretch in allocation.stretches):
        _call(f, "tilerelease", [])
    for result in op.results:
        f.bind(result, [])


def _shapes(f: FunctionLowering, stretch: Stretch) -> str:
    """The name of a constant that `ldtilecfg` reads: the bytes of rows, and rows, of registers."""
    columns, rows = [0] * 16, [0] * 16
    for number, type in stretch.shapes.items():
        rows[number], columns[number] = type.size
    data = struct.pack("<2B14x16H16B", 1, 0, *columns, *rows)
    sizes = (f"_{rows[n]}x{columns[n]}" for n in range(max(stretch.shapes) + 1))
    name = "nnc.tiles" + "".join(sizes)
    numbers = DenseElements.from_list(
        [byte - 256 * (byte > 127) for byte in data], TensorType((len(data),), i8)
    )
    type = llvm.ArrayType(len(data), i8)
    f.module.needed[name] = llvm.Global(
        name, type, numbers, linkage="internal", constant=True, unnamed_addr="none"
    )
    return name


def _place(f: FunctionLowering, op: amx.TileLoad | amx.TileStore) -> list[Value]:
    """(the address of a tile's first element, the bytes from one row to the next)."""
    memref, type = f.memref(op.base), op.base.type
    pointer = f.address(memref, type, [f.linear(i) for i in op.indices])
    apart = memref.strides[-2] if op.stride is None else f.value(op.stride)
    return [pointer, f.size_value(f.times(apart, byte_width(type.element_type)))]


@lowers(amx.TileZero)
def _zero(f: FunctionLowering, op: amx.TileZero) -> None:
    _emit(f, op, "tilezero", [op.res])


@lowers(amx.TileLoad)
def _load(f: FunctionLowering, op: amx.TileLoad) -> None:
    _emit(f, op, "tileloadd64", [op.res], *_place(f, op))


@lowers(amx.TileStore)
def _store(f: FunctionLowering, op: amx.TileStore) -> None:
    _emit(f, op, "tilestored64", [op.val], *_place(f, op))


@lowers(amx.TileMulI)
def _integers(f: FunctionLowering, op: amx.TileMulI) -> None:
    signs = "".join("u" if zext else "s" for zext in (op.isZextLhs, op.isZextRhs))
    _emit(f, op, f"tdpb{signs}d", [op.res, op.lhs, op.rhs])


@lowers(amx.TileMulF)
def _floats(f: FunctionLowering, op: amx.TileMulF) -> None:
    name = "tdpbf16ps" if op.lhs.type.element_type is bf16 else "tdpfp16ps"
    _emit(f, op, name, [op.res, op.lhs, op.rhs])


_OPS = {amx.TileZero, amx.TileLoad, amx.TileStore, amx.TileMulI, amx.TileMulF}


def prepare_for_tiles(lowering: Any) -> bool:
    """Check that the target has tile registers, if the module computes on tiles; its program then
    begins by asking the system for them, as Linux wants it once for each process, and fails with a
    message where that is refused. Returns whether a function has tiles.
    """
    module: Operation = lowering.module
    used = [op for op in module.walk() if op.__class__ in _OPS]
    for op in used:
        if (feature := _feature_of(op)) not in lowering.target.all_features:
            name = lowering.target.name
            raise PassError(f"'{name}' has no tile registers for it ({feature})", op.loc)
    entry = entry_of(module)
    if used and entry is not None and lowering.system == LINUX.name:
        lowering.need_function("syscall", [i64] * len(PERMISSION_CALL), i64)
        module.body_block.append(_permission())
        _begin_by_asking(entry.regions[0].blocks[0])
    functions = (op for op in module.body_block if isinstance(op, func.FuncOp))
    return bool(used) or any(
        isinstance(t, amx.TileType) for op in functions for t in op.function_type.inputs
    )


def _feature_of(op: Operation) -> str:
    """The feature of a processor that an operation on tiles needs."""
    match op:
        case amx.TileMulI():
            return "amx-int8"
        case amx.TileMulF():
            return "amx-bf16" if op.lhs.type.element_type is bf16 else "amx-fp16"
    return "amx-tile"


def _begin_by_asking(block: Block) -> None:
    message = "the processor's tile registers (AMX) are not there, or the system does not give them"
    first, call = block.first, func.Call(PERMISSION, (), outs=(i1,))
    assert first is not None
    for op in (call, cf.Assert(call.results[0], message)):
        block.insert_before(op, first)


def _permission() -> llvm.Func:
    """The function `PERMISSION`: one system call."""
    made = llvm.Func.define(PERMISSION, llvm.function_type((), i1), linkage="internal")
    b = Builder.at_end(made.body.blocks[0])
    numbers = [b.insert(llvm.Constant(IntegerAttr(n, i64), res=i64)).res for n in PERMISSION_CALL]
    status = b.insert(llvm.Call.of("syscall", numbers, i64)).result
    none = b.insert(llvm.Constant(IntegerAttr(0, i64), res=i64)).res
    b.insert(llvm.Return(b.insert(llvm.ICmp("eq", status, none)).res))
    return made
