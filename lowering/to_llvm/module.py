"""Lowering a module: its functions and globals, and the entry that C code calls."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import func, gpu, llvm, memref
from ...dialects.marks import ENTRY, FAILURES, IN_PLACE, KERNEL, PARALLEL_BODY, USED_WEIGHTS
from ...ir.attributes import ArrayAttr, Attribute, StringAttr, UnitAttr
from ...ir.core import Operation
from ...ir.diagnostics import NncError, PassError
from ...ir.symbols import symbol_name
from ...ir.types import IntegerType, MemRefType, Type, i32
from ...runtime.c_library import define_missing
from ...targets.attribute import target_of
from ...targets.llvm.target import llvm_target_of
from ..checks import Checks
from ..entry_signature import entry_of
from .control import lower_graph
from .conversion import FunctionLowering
from .entry import make_entry
from .heap import CallHeap
from .kernels import lower_kernels
from .loops import bind_all
from .matrices import prepare_for_tiles
from .memory import lower_global
from .messages import make_failure
from .offsets import keep_offsets
from .prepare import make_prepare
from .tile_registers import TileAllocation
from .types import TypeConverter


class ModuleLowering:
    """Lowers a module's functions and globals, and collects the C functions that they call."""

    def __init__(self, module: Operation) -> None:
        self.module = module
        self.target = target = llvm_target_of(module)
        self.types = TypeConverter(IntegerType(target.pointer_bits))
        # LLVM 22 ends the process for the maximum of two f64 on 32-bit Arm, without vectors of f64.
        self.compares_f64 = target.machine.widest_lane < 8
        self.system = target.system
        self.needed: dict[str, llvm.Func] = {}
        self.has_tiles = prepare_for_tiles(self)
        self.heap = CallHeap(module)
        self.checks = Checks(module)

    @property
    def fma(self) -> type[Operation]:
        """The intrinsic for a * b + c. It rounds twice where the target cannot round once."""
        return llvm.IntrFma if self.target.exact_fma else llvm.IntrFMulAdd

    def need_function(
        self, name: str, inputs: Sequence[Type], output: Type | None = None, pure: bool = False
    ) -> None:
        """Declare a C function; a `pure` one depends on nothing but its arguments."""
        if name in self.needed:
            return
        type = llvm.function_type(tuple(inputs), *(() if output is None else (output,)))
        attributes = ["nofree", "willreturn", "memory(none)"] if pure else []
        self.needed[name] = llvm.Func.define(name, type, declaration=True, passthrough=attributes)

    def defines(self, name: str) -> bool:
        """Whether the module has a function of this name."""
        return any(symbol_name(op) == name for op in self.module.body_block)

    def lower(self) -> None:
        """Replace the contents of the module."""
        body = self.module.body_block
        entry = entry_of(self.module)
        makers = [
            op for op in body if isinstance(op, func.FuncOp) and USED_WEIGHTS in op.attributes
        ]
        made = [self._lower_at_top(op) for op in body]
        if entry is not None:
            nnc_run, attributes = make_entry(self, entry)
            made.append(nnc_run)
            self.module.attributes.update(attributes)
            if messages := [check.message for check in self.checks.of(entry.sym_name)]:
                made += make_failure(messages)
                self.module.attributes[FAILURES] = ArrayAttr(tuple(map(StringAttr, messages)))
        if makers:
            nnc_prepare, attributes = make_prepare(makers)
            made.append(nnc_prepare)
            self.module.attributes.update(attributes)
        define_missing(self.needed, self.system)
        for op in list(body):
            op.drop_all_references()
        for op in list(body):
            op.detach()
        self._add_needed(made)
        for op in made:
            body.append(op)

    def _lower_at_top(self, op: Operation) -> Operation:
        """What takes the place of an operation of the module."""
        match op:
            case func.FuncOp() | memref.Global():
                return self._lower_symbol(op)
            case gpu.GPUModuleOp() if (device := target_of(self.module)).threads is not None:
                op.detach()
                return lower_kernels(op, device.threads, device.name)
            case llvm.Func() | llvm.Global() | gpu.GPUModuleOp():
                op.detach()
                return op
        raise PassError(
            f"'{op.name}' has no lowering to the llvm dialect at the top of a module", op.loc
        )

    def _add_needed(self, made: list[Operation]) -> None:
        """Append the C functions that the code needs to the module.

        Those that `made` declares are defined there. Raises PassError if it uses a name otherwise.
        """
        defined = {op.sym_name: op for op in made}  # type: ignore[attr-defined]
        for name, needed in self.needed.items():
            found = defined.get(name)
            if found is None:
                self.module.body_block.append(needed)
            elif not isinstance(found, llvm.Func) or not found.is_declaration:
                raise PassError(f"'{name}' is a C function that the code needs", found.loc)
            elif not needed.is_declaration:
                made[made.index(found)] = needed

    def _lower_symbol(self, op: func.FuncOp | memref.Global) -> Operation:
        try:
            if isinstance(op, func.FuncOp):
                return self.function(op)
            return lower_global(self.types, op)
        except NncError as error:
            if error.location is None:
                raise PassError(f"'{op.name}' op {error.message}", op.loc) from None
            raise

    # -- functions ---------------------------------------------------------------------------

    def function(self, op: func.FuncOp) -> llvm.Func:
        """The LLVM function of a function of the loop level."""
        type = op.function_type
        inputs = [t for i in type.inputs for t in self.types.flat(i)]
        inputs += [llvm.ptr] if op.sym_name in self.heap.users else []
        status = [i32] if self.checks.of(op.sym_name) else []
        result = self.types.function_results([*status, *type.results])
        made = llvm.Func.define(
            op.sym_name,
            llvm.function_type(inputs, *(() if result is None else (result,))),
            linkage="external" if op.is_declaration or not _is_private(op) else "internal",
            arg_attrs=self._argument_attributes(op),
            declaration=op.is_declaration,
            loc=op.loc,
        )
        made.attributes.update(op.attributes)
        if KERNEL in op.attributes:
            # LLVM would inline a kernel that is called once.
            made.no_inline = True
        if not op.is_declaration:
            self._body(op, made)
        return made

    def _body(self, op: func.FuncOp, made: llvm.Func) -> None:
        f = FunctionLowering(self, made)
        f.loc = op.loc
        f.tiles = TileAllocation(op) if self.has_tiles else None
        entry = made.regions[0].blocks[0]
        if op.sym_name in self.heap.users:
            f.call_heap = entry.args[-1]
        bind_all(f, op.args, entry.args)
        for arg in entry.args:
            f.depths[arg] = 0
        if PARALLEL_BODY in op.attributes:
            # After the pool come begin and end of a piece of a loop, which starts at 0.
            f.non_negative.update(f.value(arg) for arg in op.args[1:3])
        lower_graph(f, op.body)
        f.place_constants()
        if self.target.adds_offsets:
            keep_offsets(made)

    def _argument_attributes(self, op: func.FuncOp) -> list[dict[str, Attribute]] | None:
        """The attributes of all LLVM arguments: the given ones, and `noalias` for a kernel's
        buffers.
        """
        found: list[dict[str, Attribute]] = []
        kernel = KERNEL in op.attributes
        for i, type in enumerate(op.function_type.inputs):
            given = dict(op.arg_attrs[i].items()) if op.arg_attrs else {}
            kept = {key: value for key, value in given.items() if key.startswith("llvm.")}
            if isinstance(type, MemRefType):
                kept["llvm.noundef"] = UnitAttr()
                if kernel and IN_PLACE not in given:
                    kept["llvm.noalias"] = UnitAttr()
            found.append(kept)
            found += [{}] * (len(self.types.flat(type)) - 1)
        found += [{}] if op.sym_name in self.heap.users else []
        return found if any(found) else None


def _is_private(op: func.FuncOp) -> bool:
    called_here = any(mark in op.attributes for mark in (ENTRY, USED_WEIGHTS))
    return op.sym_visibility in ("private", "nested") or called_here
