"""--outline-parallel: bodies of parallel loops become functions that a thread pool can call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..dialects import arith, llvm, memref, scf
from ..dialects.func import Call, Constant, FuncOp, Return, functions_by_name
from ..dialects.marks import IN_PLACE, KERNEL, PARALLEL, PARALLEL_BODY, POOL
from ..ir.attributes import DictAttr, I64Attr, UnitAttr
from ..ir.builder import Builder
from ..ir.core import IRMapping, Operation, Value
from ..ir.passes import Pass, PassContext, option
from ..ir.rewriting import constant_int
from ..ir.symbols import new_name, symbol_name
from ..ir.traits import ConstantLike
from ..ir.types import FunctionType, MemRefType, index
from ..targets.processor import Processor, processor_of
from .captures import captures, is_index_arithmetic
from .loop_work import work_of
from .parallel_nest import ParallelNest, move_body, unflattened


@dataclass(frozen=True)
class OutlineParallel(
    Pass,
    name="outline-parallel",
    anchor="builtin.module",
    statistics={"loops": "Number of parallel loops made functions"},
):
    """Make the body of every outermost scf.parallel without results a function.

        func.func @f(%a: memref<64xf32>) {
          scf.parallel (%i) = (%c0) to (%c64) step (%c1) { body(%i, %a) }
            ->
        func.func private @f_parallel_0(%pool: !llvm.ptr {nn.pool}, %begin: index, %end: index,
                                        %a: memref<64xf32>) attributes {nn.parallel_body} {
          scf.for %i = %begin to %end step %c1 { body(%i, %a) }
        func.func @f(%a: memref<64xf32>, %pool: !llvm.ptr {nn.pool}) {
          func.call @f_parallel_0(%pool, %c0, %c64, %a) {nn.parallel = 2731 : i64}

    A loop of several dimensions becomes one loop over all their iterations. The call does the same
    whether its range is run at once or, as lower-to-llvm arranges, in pieces that run at the same
    time. `nn.parallel` is the least number of indices of a piece: as many as have about the work of
    `piece-operations`, for any number of threads. The pool is passed down from the entry function.
    """

    piece_operations: int = option(
        0, help="machine operations of a piece, at least (default: the target's)", least=0
    )

    def run(self, op: Operation, context: PassContext) -> None:
        """Outline parallel loops, then pass the pool to the functions that need it."""
        machine = processor_of(op)
        module = _Module(
            op, machine, self.piece_operations or machine.costs.threads.piece_operations
        )
        for function in module.functions:
            for loop in outermost_parallel(function):
                module.outline(loop, function)
                context.statistic("loops")
        module.pass_pool()


def outermost_parallel(function: FuncOp) -> list[scf.Parallel]:
    """The parallel loops without results that are in no other parallel loop."""
    found: list[scf.Parallel] = []
    stack: list[Operation] = [function]
    while stack:
        op = stack.pop()
        if isinstance(op, scf.Parallel):
            if not op.results:
                found.append(op)
            continue
        nested = [inner for region in op.regions for inner in region.ops]
        stack.extend(reversed(nested))
    return found


@dataclass
class _Module:
    """The functions of a module, and which of them need the pool."""

    op: Operation
    machine: Processor
    piece_operations: int
    functions: list[FuncOp] = field(init=False)
    calls: list[Call] = field(default_factory=list)

    def __post_init__(self) -> None:
        block = self.op.body_block
        self.names = {name for inner in block if (name := symbol_name(inner)) is not None}
        # A function whose address is taken keeps its type.
        fixed = {op.value for op in self.op.walk() if isinstance(op, Constant)}
        self.functions = [
            op
            for op in block
            if isinstance(op, FuncOp)
            and not op.is_declaration
            and op.sym_name not in fixed
            and PARALLEL_BODY not in op.attributes
        ]

    def outline(self, loop: scf.Parallel, function: FuncOp) -> None:
        """Replace the loop by a call of a new function with its body."""
        nest = ParallelNest(loop)
        captured, constants = outside_values(loop)
        name = new_name(f"{function.sym_name}_parallel", self.names)
        builder = Builder.before_op(loop)
        zero = builder.insert(arith.Constant.index(0)).result
        total = nest.total(builder)
        grain = -(-self.piece_operations // max(1, work_of(loop.body_block, self.machine)))
        # The pool is put in front when it is known where it comes from.
        call = Call(name, [zero, total, *captured], outs=[], attributes={PARALLEL: I64Attr(grain)})
        builder.insert(call)
        self.calls.append(call)
        body = _body_function(name, nest, captured, constants, function)
        self.op.body_block.insert_before(body, function)
        loop.erase()

    def pass_pool(self) -> None:
        """Pass the pool to each function with a parallel call, and to all
        functions that call it.
        """
        functions = functions_by_name(self.op)
        callers: dict[str, list[Call]] = {}
        for op in self.op.walk():
            if isinstance(op, Call) and PARALLEL not in op.attributes:
                callers.setdefault(op.callee, []).append(op)
        pools: dict[FuncOp, Value] = {}
        for call in self.calls:
            pool = _pool_of(_function_of(call), pools)
            call.operands = [pool, *call.operands]
        waiting = list(pools)
        while waiting:
            callee = waiting.pop()
            for call in callers.pop(callee.sym_name, ()):
                caller = _function_of(call)
                if caller not in pools:
                    waiting.append(caller)
                pool = _pool_of(caller, pools)
                if len(call.operands) < len(functions[callee.sym_name].function_type.inputs):
                    call.operands = [*call.operands, pool]


def _function_of(op: Operation) -> FuncOp:
    function = op.parent_of(FuncOp)
    assert function is not None
    return function


def _pool_of(function: FuncOp, pools: dict[FuncOp, Value]) -> Value:
    """The argument that is the pool, added at the end if there is none."""
    known = pools.get(function)
    if known is not None:
        return known
    for i, arg in enumerate(function.args):
        if function.arg_attribute(i, POOL) is not None:
            pools[function] = arg
            return arg
    type = function.function_type
    attributes = list(function.arg_attrs or [DictAttr(())] * len(type.inputs))
    function.function_type = FunctionType((*type.inputs, llvm.ptr), type.results)
    function.arg_attrs = [*attributes, DictAttr(((POOL, UnitAttr()),))]
    arg = function.body.blocks[0].add_arg(llvm.ptr)
    arg.name_hint = "pool"
    pools[function] = arg
    return arg


# -- what a body needs -----------------------------------------------------------------------------


def outside_values(loop: scf.Parallel) -> tuple[list[Value], list[Value]]:
    """What the loop's body uses from outside: (values to pass, values to clone).

    Bounds that are not constant are passed.
    """
    bounds = [
        bound
        for i, (lower, upper, step) in enumerate(ParallelNest(loop).bounds)
        # The length of the first dimension follows from the range.
        for bound in ((lower, upper, step) if i else (lower, step))
        if constant_int(bound) is None
    ]
    return captures(list(loop.region.ops), bounds, _is_cloned, loop.body_block.args)


def _is_cloned(op: Operation) -> bool:
    """Whether the body gets a clone of the op, because it costs less than to pass its result."""
    return is_index_arithmetic(op) or op.has_trait(ConstantLike) or isinstance(op, memref.GetGlobal)


def _body_function(
    name: str,
    nest: ParallelNest,
    captured: Sequence[Value],
    constants: Sequence[Value],
    caller: FuncOp,
) -> FuncOp:
    """A new function to which the loop's body is moved."""
    loop = nest.loop
    types = [llvm.ptr, index, index, *(v.type for v in captured)]
    function = FuncOp.of(
        name, types, visibility="private", attributes={PARALLEL_BODY: UnitAttr()}, loc=loop.loc
    )
    function.set_arg_attribute(0, POOL, UnitAttr())
    for i in unaliased(captured, caller):
        function.set_arg_attribute(3 + i, "llvm.noalias", UnitAttr())
    pool, begin, end, *arguments = function.args
    pool.name_hint, begin.name_hint, end.name_hint = "pool", "begin", "end"
    for old, new in zip(captured, arguments, strict=True):
        new.name_hint = old.name_hint
    builder = Builder.at_end(function.body.blocks[0], loop.loc)
    mapping = IRMapping(dict(zip(captured, arguments, strict=True)))
    for constant in constants:
        assert constant.defining_op is not None
        builder.insert(constant.defining_op.clone(mapping))
    lengths = nest.lengths(builder, mapping, first=1)
    one = builder.insert(arith.Constant.index(1)).result
    inner = builder.insert(scf.For.of(begin, end, one))
    builder.insert(Return([]))
    at = Builder.at_end(inner.body_block, loop.loc)
    numbers = unflattened(at, inner.induction_var, lengths)
    places = nest.counters(at, numbers, mapping)
    move_body(loop.body_block, inner.body_block, places, mapping)
    inner.body_block.append(scf.Yield())
    return function


# -- aliasing --------------------------------------------------------------------------------------


def unaliased(captured: Sequence[Value], caller: FuncOp) -> list[int]:
    """The indices of the values that are buffers which no other one of them overlaps.

    lower-to-llvm knows this of a kernel's arguments and of buffers that the kernel makes. Without
    this, it would not know it in the functions of parallel loops.
    """
    roots = [memref.base_buffer(v) if isinstance(v.type, MemRefType) else None for v in captured]
    return [
        i
        for i, root in enumerate(roots)
        if root is not None and roots.count(root) == 1 and _is_own(root, caller)
    ]


def _is_own(root: Value, caller: FuncOp) -> bool:
    """Whether no other buffer of the kernel shares memory with this one."""
    if isinstance(root.defining_op, memref.Alloc | memref.Alloca):
        return True
    for i, arg in enumerate(caller.args if KERNEL in caller.attributes else ()):
        if arg is root:
            return caller.arg_attribute(i, IN_PLACE) is None
    return False
