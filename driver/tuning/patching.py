"""Kernels compiled one by one, and a program whose kernels can be replaced while it is loaded.

The program calls its kernels through a table of addresses. Code of a candidate is an object file
with one function of the default kernel's signature, whose address goes into the table:

    llvm.func @main(..) { llvm.call @k0(%a, %b) }

        ->

    llvm.mlir.global external @nnc_kernels() : !llvm.array<1 x ptr>
    llvm.func @nnc_kernel_0(%a, %b) { .. }
    llvm.func @main(..) { llvm.call %table_0(%a, %b) : !llvm.ptr, (..) }

So only the kernels that differ are compiled, and both sides of a comparison have their weights,
inputs and temporaries at the same addresses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from ...dialects import func, llvm, memref, schedule
from ...dialects.builtin import ModuleOp
from ...dialects.marks import ENTRY, IN_PLACE, KERNEL, POOL, SCRATCH
from ...ir.attributes import DenseArrayAttr, DenseResource, I64Array, IntegerAttr, UnitAttr
from ...ir.builder import Builder
from ...ir.core import Operation, Value
from ...ir.diagnostics import NncError
from ...ir.passes import PassContext, PassManager, Pipeline
from ...ir.syntax.parser import parse_module
from ...ir.types import MemRefType, Type, i32, i64
from ...lowering.pipelines import pipeline
from ...runtime.abi import DEVICE_GIVE, DEVICE_LAUNCH, DEVICE_TAKE, KERNELS, PARALLEL_FOR
from ...targets.attribute import target_of
from . import patching_text

TABLE = KERNELS
"""The symbol of the table of kernels' addresses, one for each replaceable function."""
CANDIDATE = "nnc_candidate"
"""The name of the function in a candidate's code that goes into the program's table."""
CANDIDATE_NEEDS = "nnc_candidate_needs"
"""The symbol of what a candidate's code gets from the program: the pool of threads (null for one
thread), its function `nnc_parallel_for`, and the number of its first kernel on a device."""

Marks = Mapping[int, tuple[int, ...]]
"""Maps the number of each argument to the operands that share its buffer; an operand that shares
one maps to ()."""


@dataclass(frozen=True)
class Interface:
    """The calling convention of a kernel in the default program.

    `number` is its row in the table. After `arguments` values come scratch memory of that many
    bytes, if any, and the pool.
    """

    number: int
    arguments: int
    scratch: int
    has_pool: bool
    marks: Marks
    returns_status: bool = False

    @property
    def extra(self) -> int:
        """The number of values after the arguments."""
        return bool(self.scratch) + self.has_pool

    @property
    def alike(self) -> str:
        """What code for kernels of one fingerprint depends on, apart from their schedule."""
        return str((self.arguments, self.scratch, self.has_pool, sorted(self.marks.items())))

    @property
    def symbol(self) -> str:
        """The symbol of the default kernel."""
        return f"nnc_kernel_{self.number}"


def lower_scheduled(
    module: Operation, marks: Callable[[str], Marks | None]
) -> dict[str, tuple[int, bool, Marks]]:
    """Lower a scheduled module to the llvm dialect; returns for each function its bytes of scratch
    memory, whether it takes the pool, and its in-place arguments.

    `marks` gives the in-place arguments of a function whose callers are not in the module; None
    for other functions.
    """
    found: dict[str, tuple[int, bool, Marks]] = {}
    for stage in target_of(module).stages:
        for name in stage.passes:
            PassManager(_alone(name), PassContext(), (), False).run(module)
            functions = [op for op in module.body_block if isinstance(op, func.FuncOp)]
            if name == "plan-memory":
                for one in functions:
                    if (known := marks(one.sym_name)) is not None:
                        _set_marks(one, known)
            for one in functions:
                found[one.sym_name] = (_scratch_bytes(one), _takes(one, POOL), _marks_of(one))
    return found


@cache
def _alone(name: str) -> Pipeline:
    return pipeline(f"builtin.module({name})")


def _takes(function: func.FuncOp, mark: str) -> bool:
    numbers = range(len(function.function_type.inputs))
    return any(function.arg_attribute(i, mark) is not None for i in numbers)


def _scratch_bytes(function: func.FuncOp) -> int:
    for i, type in enumerate(function.function_type.inputs):
        if function.arg_attribute(i, SCRATCH) is not None and isinstance(type, MemRefType):
            return type.num_bytes
    return 0


def _marks_of(function: func.FuncOp) -> Marks:
    numbers = range(len(function.function_type.inputs))
    marks = {i: function.arg_attribute(i, IN_PLACE) for i in numbers}
    return {
        i: tuple(map(int, mark)) if isinstance(mark, DenseArrayAttr) else ()
        for i, mark in marks.items()
        if mark is not None
    }


def _set_marks(function: func.FuncOp, marks: Marks) -> None:
    for i in range(len(function.function_type.inputs)):
        over = marks.get(i)
        made = None if over is None else I64Array(over) if over else UnitAttr()
        function.set_arg_attribute(i, IN_PLACE, made)


# -- the default program ---------------------------------------------------------------------------


def make_patchable(
    module: Operation, shapes: Mapping[str, tuple[int, bool, Marks]], names: Sequence[str]
) -> dict[str, Interface]:
    """Make a module after the last stage call these kernels through a table; returns their
    interfaces.

    `shapes` is the result of `lower_scheduled`.
    """
    found: dict[str, Interface] = {}
    if not target_of(module).ends_in_llvm:
        for number, one in enumerate(patching_text.replaceable(module, names)):
            name, (scratch, has_pool, marks) = one.sym_name, shapes[one.sym_name]
            arguments = len(one.function_type.inputs) - bool(scratch) - has_pool
            found[name] = Interface(number, arguments, scratch, has_pool, marks)
            patching_text.mark(module, one, number, found[name].symbol)
        return found
    functions = {op.sym_name: op for op in module.body_block if isinstance(op, llvm.Func)}
    on_device = _is_for_device(module)
    for name in names:
        kernel = functions.get(name)
        if kernel is None or kernel.is_declaration or (on_device and not _launches(kernel)):
            continue
        scratch, has_pool, marks = shapes[name]
        arguments = len(kernel.function_type.inputs) - bool(scratch) - has_pool
        status = kernel.function_type.output == i32
        one = Interface(len(found), arguments, scratch, has_pool, marks, status)
        kernel.sym_name, kernel.linkage = one.symbol, "external"
        found[name] = one
    if found:
        module.body_block.prepend(_global(_TABLE.replace("COUNT", str(len(found)))))
    for call in [op for op in module.walk() if isinstance(op, llvm.Call)]:
        if call.callee in found:
            _call_by_table(call, found[call.callee].number)
    return found


_TABLE = f"""
llvm.mlir.global external @{TABLE}() {{alignment = 8 : i64}} : !llvm.array<COUNT x ptr> {{
  %0 = llvm.mlir.zero : !llvm.array<COUNT x ptr>
  llvm.return %0 : !llvm.array<COUNT x ptr>
}}
"""


def _is_for_device(module: Operation) -> bool:
    target = target_of(module)
    return target.caller is not target


def _launches(function: Operation) -> list[llvm.Call]:
    """The calls that launch kernels of a device."""
    calls = (op for op in function.walk() if isinstance(op, llvm.Call))
    return [one for one in calls if one.callee == DEVICE_LAUNCH]


def _call_by_table(call: llvm.Call, number: int) -> None:
    builder = Builder.before_op(call)
    table = builder.insert(llvm.AddressOf(TABLE, res=llvm.ptr)).res
    row = builder.insert(llvm.GetElementPtr.of(table, [number], llvm.ptr)).res
    address = builder.insert(llvm.Load(row, res=llvm.ptr)).res
    result = call.results[0].type if call.results else None
    made = builder.insert(llvm.Call.of(address, call.callee_operands, result, call.loc))
    for old, new in zip(call.results, made.results, strict=True):
        old.replace_all_uses_with(new)
    call.erase()


# -- candidates ------------------------------------------------------------------------------------


def is_patchable(function: func.FuncOp, module: Operation) -> bool:
    """Whether a kernel can be compiled without the rest of its module."""
    return (
        KERNEL in function.attributes
        and ENTRY not in function.attributes
        and not any(_is_outside(op, module) for op in function.walk())
    )


def _is_outside(op: Operation, module: Operation) -> bool:
    """Whether an operation uses a function, or a constant stored in the weights."""
    if isinstance(op, memref.GetGlobal):
        found = next(
            g for g in module.body_block if isinstance(g, memref.Global) and g.sym_name == op.symbol
        )
        return isinstance(found.initial_value, DenseResource)
    return isinstance(op, func.Call | func.Constant)


def candidate_module(
    module: Operation,
    function: func.FuncOp,
    one: schedule.For,
    interface: Interface,
) -> ModuleOp:
    """The module to compile for a kernel with this schedule. The kernel, in `module`, is marked in
    place and not yet scheduled. Raises NncError.
    """
    part = ModuleOp.of(_with_constants(module, function))
    part.attributes.update(module.attributes)
    one.kernel = name = function.sym_name
    part.body_block.append(one)
    if interface.has_pool and target_of(module).ends_in_llvm:
        types: list[Type] = [*[llvm.ptr] * 3, *[i64] * 3]
        type = llvm.function_type(types)
        part.body_block.append(llvm.Func.define(PARALLEL_FOR, type, declaration=True))
    shape = lower_scheduled(part, lambda called: interface.marks if called == name else None)[name]
    if not target_of(module).ends_in_llvm:
        called = (interface.arguments, interface.scratch, interface.has_pool)
        patching_text.add_candidate(part, name, CANDIDATE, *called)
        return part
    part.body_block.prepend(_global(_NEEDS))
    _add_candidate(part, name, interface, *shape[:2])
    if interface.has_pool:
        _use_pool(part)
    if _is_for_device(part):
        _number_launches(part)
    return part


def _with_constants(module: Operation, function: func.FuncOp) -> list[Operation]:
    used = {op.symbol for op in function.walk() if isinstance(op, memref.GetGlobal)}
    found = [g for g in module.body_block if isinstance(g, memref.Global) and g.sym_name in used]
    return [op.clone() for op in (*found, function)]


def _add_candidate(
    part: ModuleOp, name: str, interface: Interface, scratch: int, has_pool: bool
) -> None:
    """Add a function with the default kernel's interface that calls the candidate."""
    kernel = next(f for f in part.body_block if isinstance(f, llvm.Func) and f.sym_name == name)
    given = list(kernel.function_type.inputs[: interface.arguments])
    outputs = [i32] if interface.returns_status else []
    type = llvm.function_type([*given, *[llvm.ptr] * interface.extra], *outputs)
    made = llvm.Func.define(CANDIDATE, type)
    block = made.body.blocks[0]
    builder = Builder.at_end(block)
    arguments: list[Value] = list(block.args[: interface.arguments])
    memory = None
    if scratch and interface.scratch >= scratch:
        arguments.append(block.args[interface.arguments])
    elif scratch:
        memory = _memory(part, builder, scratch)
        arguments.append(memory)
    if has_pool:
        arguments.append(block.args[-1] if interface.has_pool else _need(builder, _POOL_ROW))
    builder.insert(llvm.Call.of(name, arguments))
    if memory is not None:
        _give_back(part, builder, memory)
    if interface.returns_status:
        # Nobody calls the kernel in its own module, so a check that fails ends the process.
        success = builder.insert(llvm.Constant(IntegerAttr(0, i32), res=i32)).result
        builder.insert(llvm.Return(success))
    else:
        builder.insert(llvm.Return())
    part.body_block.append(made)


def _memory(part: ModuleOp, builder: Builder, bytes: int) -> Value:
    """The address of `bytes` bytes of scratch memory: a free slot of memory in the code itself, or
    memory allocated on the device.
    """
    if _is_for_device(part):
        size = builder.insert(llvm.Constant(IntegerAttr(bytes, i64), res=i64)).result
        name = _declared(part, DEVICE_TAKE, [i64], llvm.ptr)
        return builder.insert(llvm.Call.of(name, [size], llvm.ptr)).results[0]
    bytes = -(-bytes // _LINE) * _LINE
    numbers = {
        "TAKE": _TAKE,
        "GIVE": _GIVE,
        "BYTES": bytes,
        "SLOT": bytes + _LINE,
        "ALL": _SLOTS * (bytes + _LINE),
    }
    text = _MEMORY
    for name, number in numbers.items():
        text = text.replace(name, str(number))
    for op in list(parse_module(text).body_block):
        part.body_block.prepend(op.clone())
    return builder.insert(llvm.Call.of(_TAKE, [], llvm.ptr)).results[0]


def _give_back(part: ModuleOp, builder: Builder, memory: Value) -> None:
    """Give back the scratch memory that `_memory` has taken."""
    if _is_for_device(part):
        number = builder.insert(llvm.PtrToInt(memory, res=i64)).res
        builder.insert(llvm.Call.of(_declared(part, DEVICE_GIVE, [i64]), [number]))
    else:
        builder.insert(llvm.Call.of(_GIVE, [memory]))


def _global(text: str) -> Operation:
    return next(iter(parse_module(text).body_block)).clone()


_TAKE, _GIVE = "nnc_candidate_take", "nnc_candidate_give"
_SLOTS = 4
"""How many threads may be in a candidate's code before others wait: those of loops side by side."""
_LINE = 64  # bytes
_MEMORY = """
llvm.mlir.global internal @nnc_candidate_scratch() {alignment = 64 : i64} : !llvm.array<ALL x i8> {
  %0 = llvm.mlir.zero : !llvm.array<ALL x i8>
  llvm.return %0 : !llvm.array<ALL x i8>
}
llvm.func internal @TAKE() -> !llvm.ptr {
  %first = llvm.mlir.constant(0 : i64) : i64
  %slot = llvm.mlir.constant(SLOT : i64) : i64
  %all = llvm.mlir.constant(ALL : i64) : i64
  %free = llvm.mlir.constant(0 : i32) : i32
  %taken = llvm.mlir.constant(1 : i32) : i32
  %memory = llvm.mlir.addressof @nnc_candidate_scratch : !llvm.ptr
  llvm.br ^look(%first : i64)
^look(%at: i64):
  %found = llvm.getelementptr %memory[%at] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %flag = llvm.getelementptr %found[BYTES] : (!llvm.ptr) -> !llvm.ptr, i8
  %old = llvm.atomicrmw xchg %flag, %taken acquire : !llvm.ptr, i32
  %is_free = llvm.icmp "eq" %old, %free : i32
  %after = llvm.add %at, %slot : i64
  %is_last = llvm.icmp "eq" %after, %all : i64
  %next = llvm.select %is_last, %first, %after : i1, i64
  llvm.cond_br %is_free, ^found, ^look(%next : i64)
^found:
  llvm.return %found : !llvm.ptr
}
llvm.func internal @GIVE(%slot: !llvm.ptr) {
  %free = llvm.mlir.constant(0 : i32) : i32
  %flag = llvm.getelementptr %slot[BYTES] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %free, %flag atomic release {alignment = 4 : i64} : i32, !llvm.ptr
  llvm.return
}
"""
_NEEDS = f"""
llvm.mlir.global external @{CANDIDATE_NEEDS}() {{alignment = 8 : i64}} : !llvm.array<3 x ptr> {{
  %0 = llvm.mlir.zero : !llvm.array<3 x ptr>
  llvm.return %0 : !llvm.array<3 x ptr>
}}
"""
_POOL_ROW, _PARALLEL_ROW, _FIRST_ROW = range(3)


def _need(builder: Builder, row: int) -> Value:
    table = builder.insert(llvm.AddressOf(CANDIDATE_NEEDS, res=llvm.ptr)).res
    at = builder.insert(llvm.GetElementPtr.of(table, [row], llvm.ptr)).res
    return builder.insert(llvm.Load(at, res=llvm.ptr)).res


def _use_pool(part: ModuleOp) -> None:
    """Call the default program's pool, so that it is not compiled into each candidate."""
    functions = {op.sym_name: op for op in part.body_block if isinstance(op, llvm.Func)}
    if PARALLEL_FOR not in functions:
        return
    for call in [op for op in part.walk() if isinstance(op, llvm.Call)]:
        if call.callee == PARALLEL_FOR:
            builder = Builder.before_op(call)
            function = _need(builder, _PARALLEL_ROW)
            builder.insert(llvm.Call.of(function, call.callee_operands, None, call.loc))
            call.erase()
    functions[PARALLEL_FOR].erase()


# -- candidates on devices -------------------------------------------------------------------------


def _declared(part: ModuleOp, name: str, inputs: list[Type], output: Type | None = None) -> str:
    """The name of a function of the program, declared once."""
    if not any(isinstance(f, llvm.Func) and f.sym_name == name for f in part.body_block):
        outputs = [] if output is None else [output]
        type = llvm.function_type(inputs, *outputs)
        part.body_block.prepend(llvm.Func.define(name, type, declaration=True))
    return name


def _number_launches(part: ModuleOp) -> None:
    """Number the candidate's launches by its own kernels, added after the program's.

    Raises NncError if it launches none.
    """
    calls = _launches(part)
    if not calls:
        raise NncError("the host would carry it out, and the default is launched on the device")
    for call in calls:
        builder = Builder.before_op(call)
        first = builder.insert(llvm.PtrToInt(_need(builder, _FIRST_ROW), res=i32)).res
        number = builder.insert(llvm.Add(call.callee_operands[0], first, res=i32)).res
        call.set_operand(0, number)
