"""Lowering of a device's kernels: gpu.func to llvm.func, within their gpu.module.

    gpu.func @f(%n: index, %a: memref<?xf32, #gpu.address_space<global>>) workgroup(%w : ..) kernel

        ->

    llvm.mlir.global internal @f_workgroup_0() {addr_space = 3 : i32} : !llvm.array<64 x f32>
    llvm.func ptx_kernelcc @f(%n: i64, %a: !llvm.ptr<1>, %a_size: i64)

A pointer's type says in which memory its buffer lies, except for buffers that branches pass. An
argument of 1 bit is passed as 32 bits. A failing check writes its number, counted over all kernels,
to the status, the last argument of a kernel that has checks, and leaves the kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...dialects import cf, gpu, llvm, memref
from ...dialects.marks import FAILURES, KERNEL, KERNEL_ARGUMENTS, THREADS
from ...ir.attributes import ArrayAttr, Attribute, DictAttr, I64Attr, StringAttr, UnitAttr
from ...ir.builder import Builder
from ...ir.core import Block, Operation, Region, Value
from ...ir.diagnostics import NncError, PassError
from ...ir.location import node_of
from ...ir.types import IndexType, IntegerType, MemRefType, Type, VectorType, i1, i32, i64
from ...runtime.abi import ALIGNMENT
from ...targets.llvm.mathematics import device_functions
from ...targets.llvm.threads import Threads
from .control import lower_graph
from .conversion import LOWERINGS, FunctionLowering, Lowering
from .failing import LIKELY
from .memory import contiguous
from .types import MemRef, TypeConverter, storage_type

ALIGN = "llvm.align"
GLOBAL, WORKGROUP = 1, 3
"""Two address spaces that have these numbers on all devices of LLVM."""


@dataclass(frozen=True)
class _Device:
    """What the lowering of arithmetic asks a processor, answered for a device."""

    has_maxnum: bool = True
    has_half: bool = True

    def dot(self, packing: str, lanes: int, *, accumulates: bool) -> None:
        """None, as devices have no instruction for dot products of small integers."""


class KernelModule:
    """Lowers a module of kernels; its functions share this state."""

    fma = llvm.IntrFma
    compares_f64 = False
    system = "linux"

    def __init__(self, op: gpu.GPUModuleOp, threads: Threads, name: str) -> None:
        self.op = op
        self.threads = threads
        self.name = name
        self.types = TypeConverter(i64)
        self.target = _Device()
        self.made: list[Operation] = []
        self.failures: list[str] = []
        self.needed: dict[str, Operation] = {}

    def need_function(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Add a function of C's library. Raises NncError if devices do not have it."""
        if name in self.needed:
            return
        own = device_functions()
        if name not in own:
            raise NncError(f"needs '{name}' of C's library, which '{self.name}' does not have")
        self.needed[name] = made = own[name].clone()
        for op in made.walk():
            if isinstance(op, llvm.Call) and op.callee:
                self.need_function(op.callee)

    def lower(self) -> Operation:
        """Lower the contents of the module in place, and return it."""
        body = self.op.body.blocks[0]
        for op in list(body):
            if not isinstance(op, gpu.GPUFuncOp):
                raise PassError(f"'{op.name}' has no lowering in a module of kernels", op.loc)
            self.made.append(_Kernel(self, op).lower())
        for op in list(body):
            op.erase()
        for op in (*self.made, *self.needed.values()):
            body.append(op)
        if self.failures:
            self.op.attributes[FAILURES] = ArrayAttr(tuple(map(StringAttr, self.failures)))
        return self.op


class _Kernel(FunctionLowering):
    """Lowers one kernel."""

    def __init__(self, module: KernelModule, op: gpu.GPUFuncOp) -> None:
        self.kernel = op
        size = op.known_block_size
        if size is not None and any(int(n) != 1 for n in size[1:]):
            raise PassError("a kernel's groups have their threads along x", op.loc)
        self.threads = 1 if size is None else int(size[0])
        self.subgroup = gpu.subgroup_size(op)
        self.kinds = ""
        types, attributes = [], []
        for number, arg in enumerate(op.args):
            parts = self._parameters(module.types, number, arg)
            types += [type for type, _ in parts]
            attributes += [given for _, given in parts]
        if any(isinstance(one, cf.Assert) for one in op.walk()):
            self.kinds += "s"
            types.append(llvm.PointerType(GLOBAL))
            attributes.append({})
        made = llvm.Func.define(
            op.sym_name, llvm.function_type(types), arg_attrs=attributes, loc=op.loc
        )
        made.CConv = module.threads.convention
        pairs = module.threads.attributes(self.threads)
        made.passthrough = tuple(ArrayAttr((StringAttr(k), StringAttr(v))) for k, v in pairs)
        made.attributes[KERNEL_ARGUMENTS] = StringAttr(self.kinds)
        made.attributes[THREADS] = I64Attr(self.threads)
        super().__init__(module, made)

    def _parameters(
        self, types: TypeConverter, number: int, arg: Value
    ) -> list[tuple[Type, dict[str, Attribute]]]:
        """The type and attributes of each LLVM value that represents an argument.

        Also notes the letter by which a launch knows each of them.
        """
        if isinstance(arg.type, MemRefType):
            found: dict[str, Attribute] = {"llvm.noundef": UnitAttr()}
            given = self.kernel.arg_attrs[number] if self.kernel.arg_attrs else None
            if isinstance(given, DictAttr) and (bytes := given.get(ALIGN)) is not None:
                found[ALIGN] = bytes
            if KERNEL in self.kernel.attributes and _is_apart(arg):
                found["llvm.noalias"] = UnitAttr()
            sizes = types.flat(arg.type)[1:]
            self.kinds += "a" + "w" * len(sizes)
            return [(llvm.PointerType(GLOBAL), found), *((t, {}) for t in sizes)]
        if isinstance(arg.type, IndexType):
            self.kinds += "w"
            return [(types.index, {})]
        type = i32 if arg.type is i1 else types.scalar(arg.type)
        self.kinds += str(type.byte_width)  # type: ignore[attr-defined]
        return [(type, {})]

    def lower(self) -> llvm.Func:
        """The LLVM function of the kernel."""
        op = self.kernel
        self.loc = op.loc
        entry = self.func.regions[0].blocks[0]
        for arg in entry.args:
            self.depths[arg] = 0
        flat = list(entry.args)
        if self.kinds.endswith("s"):
            self.status = flat.pop()
        at = 0
        for arg in op.args:
            if arg.type is i1:
                self.bind(arg, self.emit(llvm.Trunc, [flat[at]], i1))
                at += 1
            else:
                at += self.bind_flat(arg, flat[at:])
        for number, buffer in enumerate(op.workgroup_buffers):
            self._workgroup(number, buffer)
        for buffer in op.private_buffers:
            self.private(buffer)
        lower_graph(self, op.body, self._leave)
        self.place_constants()
        return self.func

    def flat_memref(self, memref: MemRef, type: MemRefType) -> list[Value]:
        """The pointer of a memref, and its dynamic sizes and strides.

        The pointer has no address space, because blocks take buffers of any memory.
        """
        pointer, *rest = super().flat_memref(memref, type)
        if pointer.type is not llvm.ptr:
            pointer = self.emit(llvm.AddrSpaceCast, [pointer], llvm.ptr)
        return [pointer, *rest]

    def _leave(self, op: Operation) -> bool:
        if not isinstance(op, gpu.Return):
            return False
        self.append(llvm.Return(None))
        return True

    def lower_op(self, op: Operation, table: dict[type[Operation], Lowering] = LOWERINGS) -> None:
        super().lower_op(op, _LOWERINGS if table is LOWERINGS else table)

    # -- buffers -------------------------------------------------------------------------------

    def _workgroup(self, number: int, buffer: Value) -> None:
        type, name = buffer.type, f"{self.kernel.sym_name}_workgroup_{number}"
        assert isinstance(type, MemRefType)
        array = llvm.ArrayType(type.num_elements or 1, storage_type(type.element_type))
        start = Block([])
        Builder.at_end(start).insert(
            llvm.Return(Builder.at_end(start).insert(llvm.Poison(res=array)).res)
        )
        made = llvm.Global(
            name, array, linkage="internal", addr_space=WORKGROUP, alignment=16,
            initializer=Region([start]), loc=self.loc,
        )  # fmt: skip
        self.module.made.append(made)
        address = self.append(llvm.AddressOf(name, res=llvm.PointerType(WORKGROUP))).results[0]
        self.depths[address] = 0
        self.bind(buffer, contiguous(self, address, type.shape))

    def private(self, buffer: Value) -> None:
        """Allocate a thread's own buffer, once at the start of the function."""
        type = buffer.type
        assert isinstance(type, MemRefType)
        if not type.has_static_shape:
            raise NncError("a thread's buffer has a known size")
        properties: dict[str, Attribute] = {
            "elem_type": storage_type(type.element_type),
            "alignment": I64Attr(ALIGNMENT if type.num_bytes >= ALIGNMENT else 16),
        }
        space = llvm.PointerType(self.module.threads.private_space)
        count = self.integer(type.num_elements or 1)
        made = llvm.Alloca.create([count], (space,), None, properties)
        self.func.regions[0].blocks[0].prepend(made)
        pointer = made.results[0]
        self.depths[pointer] = 0
        self.bind(buffer, contiguous(self, pointer, type.shape))

    # -- checks --------------------------------------------------------------------------------

    def require(self, ok: Value, op: cf.Assert) -> None:
        """Emit a check whose condition is the same for all threads of a group."""
        node, message = node_of(op.loc), op.msg or "the kernel failed"
        self.module.failures.append(f"{node}: {message}" if node else message)
        number = self.integer(len(self.module.failures), i32)
        failed, onward = Block(), Block()
        branch = llvm.CondBr.of(ok, onward, [], failed, [])
        branch.branch_weights = LIKELY
        self.append(branch)
        for block in (failed, onward):
            self.func.regions[0].append(block)
        failed.append(llvm.Store.create([number, self.status], (), None, {"alignment": I64Attr(4)}))
        failed.append(llvm.Return(None))
        self.block = onward

    # -- threads -------------------------------------------------------------------------------

    def index(self, number: Value) -> Value:
        """The number of a thread or group as an index."""
        found = self.emit(llvm.ZExt, [number], self.types.index)
        self.non_negative.add(found)
        return found

    def lane(self) -> Value:
        """The number of the thread within its subgroup."""
        number = self.module.threads.thread(self, 0)
        return self.emit(llvm.URem, [number, self.integer(self.subgroup, i32)], i32)

    def shuffled(self, value: Value, lane: Value) -> Value:
        """The value that another thread of the subgroup has; it is passed in words of 32 bits."""
        type = value.type
        if isinstance(type, VectorType):
            found = self.poison(type)
            for i in range(type.num_elements):
                at = self.integer(i, i32)
                part = self.emit(llvm.ExtractElement, [value, at], type.element_type)
                part = self.shuffled(part, lane)
                found = self.emit(llvm.InsertElement, [found, part, at], type)
            return found
        bits = IntegerType(8 * type.byte_width) if type is not i1 else i1
        word = value if type is bits else self.emit(llvm.Bitcast, [value], bits)
        if bits.width > 32:
            halves = VectorType((bits.width // 32,), i32)
            word = self.emit(llvm.Bitcast, [word], halves)
            found = self.emit(llvm.Bitcast, [self.shuffled(word, lane)], bits)
        else:
            whole = word if bits is i32 else self.emit(llvm.ZExt, [word], i32)
            whole = self.module.threads.from_lane(self, whole, lane, self.threads)
            found = whole if bits is i32 else self.emit(llvm.Trunc, [whole], bits)
        return found if type is bits else self.emit(llvm.Bitcast, [found], type)


def _is_apart(buffer: Value) -> bool:
    """Whether a kernel only reads a buffer, or only writes it.

    Otherwise a thread may read, after a barrier, what another one wrote, and LLVM must not assume
    that the buffer's contents stay the same across the barrier.
    """
    reads = writes = False
    waiting = [buffer]
    while waiting:
        for op, number in waiting.pop().uses:
            if op.has_trait(memref.ViewLike):
                waiting += op.results
            elif isinstance(op, memref.Dim):
                continue
            elif op.results:
                reads = True
            else:
                writes = True
                reads = reads or (isinstance(op, memref.Copy) and number == 0)
    return not (reads and writes)


# -- operations --------------------------------------------------------------------------------


def _thread_id(f: _Kernel, op: Any) -> None:
    f.bind(op.results[0], f.index(f.module.threads.thread(f, op.axis)))


def _block_id(f: _Kernel, op: Any) -> None:
    f.bind(op.results[0], f.index(f.module.threads.group(f, op.axis)))


def _grid_dim(f: _Kernel, op: Any) -> None:
    f.bind(op.results[0], f.index(f.module.threads.groups(f, op.axis, f.threads)))


def _block_dim(f: _Kernel, op: Any) -> None:
    f.bind(op.results[0], f.integer(1 if op.axis else f.threads))


def _global_id(f: _Kernel, op: Any) -> None:
    group = f.index(f.module.threads.group(f, op.axis))
    if op.axis == 0:
        first = f.emit(llvm.Mul, [group, f.integer(f.threads)], f.types.index)
        group = f.emit(llvm.Add, [first, f.index(f.module.threads.thread(f, 0))], f.types.index)
    f.bind(op.results[0], group)


def _lane_id(f: _Kernel, op: Any) -> None:
    f.bind(op.results[0], f.index(f.lane()))


def _subgroup_id(f: _Kernel, op: Any) -> None:
    number = f.module.threads.thread(f, 0)
    found = f.emit(llvm.UDiv, [number, f.integer(f.subgroup, i32)], i32)
    f.bind(op.results[0], f.index(found))


def _num_subgroups(f: _Kernel, op: Any) -> None:
    f.bind(op.results[0], f.integer(-(-f.threads // f.subgroup)))


def _subgroup_size(f: _Kernel, op: Any) -> None:
    f.bind(op.results[0], f.integer(f.subgroup))


def _barrier(f: _Kernel, op: Any) -> None:
    f.module.threads.barrier(f)


def _shuffle(f: _Kernel, op: gpu.Shuffle) -> None:
    value, offset, width = (f.value(v) for v in op._operands)
    lane = f.lane()
    step = {"xor": llvm.Xor, "up": llvm.Sub, "down": llvm.Add}.get(op.mode)
    source = offset if step is None else f.emit(step, [lane, offset], i32)
    known = f.known_integer(op.offset)
    inside = op.mode == "xor" and known is not None and 0 <= known < f.subgroup
    found = f.shuffled(value, source)
    if inside and f.known_integer(op.width) == f.subgroup <= f.threads:
        f.bind(op.results[0], found)
        f.bind(op.results[1], f.integer(1, i1))
        return
    there = f.emit(llvm.And, [
        f.icmp("ult", source, width), f.icmp("ult", source, f.integer(f.threads, i32)),
    ], i1)  # fmt: skip
    f.bind(op.results[0], f.emit(llvm.Select, [there, found, value], value.type))
    f.bind(op.results[1], there)


def _alloca(f: _Kernel, op: memref.Alloca) -> None:
    f.private(op.results[0])


def _assert(f: _Kernel, op: cf.Assert) -> None:
    f.require(f.value(op.arg), op)


_OWN: dict[type[Operation], Any] = {
    gpu.ThreadId: _thread_id,
    gpu.BlockId: _block_id,
    gpu.BlockDim: _block_dim,
    gpu.GridDim: _grid_dim,
    gpu.GlobalId: _global_id,
    gpu.LaneId: _lane_id,
    gpu.SubgroupId: _subgroup_id,
    gpu.NumSubgroups: _num_subgroups,
    gpu.SubgroupSize: _subgroup_size,
    gpu.Barrier: _barrier,
    gpu.Shuffle: _shuffle,
    memref.Alloca: _alloca,
    cf.Assert: _assert,
}
_LOWERINGS: dict[type[Operation], Any] = {}


def lower_kernels(op: gpu.GPUModuleOp, threads: Threads, name: str) -> Operation:
    """Lower a module of kernels to the llvm dialect, and return it. Raises NncError."""
    _LOWERINGS.update(LOWERINGS | _OWN)
    return KernelModule(op, threads, name).lower()
