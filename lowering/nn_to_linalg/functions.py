"""Convert functions on tensors to functions on buffers.

    func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<?xi64>)
    func.func @f(%x: memref<4xf32>, %y: memref<4xf32>) -> memref<?xi64>

A result of static shape becomes an out-argument, %y: a buffer of the caller to which the function
writes it. So does a kernel's result whose extents the caller can compute from the arguments'. Any
other result is returned as a buffer on the heap, which the caller frees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...dialects import func, memref, nn
from ...dialects.marks import ENTRY, INPUT_DIMS, INPUT_NAMES, INPUTS, KERNEL, OUTPUTS
from ...dialects.nn.base import NnOp
from ...dialects.nn.dimension_names import names_of
from ...dialects.nn.host import is_on_host
from ...dialects.nn.host_types import is_host_type
from ...ir.attributes import ArrayAttr, DictAttr
from ...ir.core import Block, IRMapping, Operation, Value
from ...ir.diagnostics import NncError, PassError
from ...ir.types import FunctionType, MemRefType, TensorType, UnrankedTensorType, size_fault
from ...passes.nn.parts import parts_of
from . import comprehensions, control
from .emitter import Emitter, buffer_type
from .extent_integers import ExtentIntegers
from .extents import Size
from .globals import Globals
from .reading import is_read_through
from .reshaping import reshaped
from .signature import Extents, Signature
from .table import LOWERINGS


def convert_function(
    function: func.FuncOp, globals: Globals, signatures: Mapping[str, Signature]
) -> None:
    """Convert a function's signature and body from tensors to buffers.

    A function without tensors stays as it is. `signatures` are those of the module's functions.
    """
    if not _has_tensors(function):
        return
    _check_values(function)
    old_type = function.function_type
    signature = signatures[function.sym_name]
    _convert_attributes(function, old_type, signature)
    function.function_type = signature.type
    if function.is_declaration:
        return
    if len(function.body.blocks) != 1:
        raise PassError(
            f"@{function.sym_name} has several blocks; only straight-line functions are lowered",
            function.loc,
        )
    old = function.body.block
    new = Block(signature.inputs)
    _Body(old, new, signature, globals, function, signatures).convert()
    old.erase()
    function.body.append(new)


def _has_tensors(function: func.FuncOp) -> bool:
    types = [*function.function_type.inputs, *function.function_type.results]
    types += [v.type for op in function.walk() for v in op.results]
    return any(isinstance(t, TensorType | UnrankedTensorType) for t in types)


def _check_values(function: func.FuncOp) -> None:
    """Raise PassError for tensors that buffers cannot hold and ops that only a host runs."""
    types = (*function.function_type.inputs, *function.function_type.results)
    for op in function.walk():
        if op is function and any(map(is_host_type, types)):
            raise PassError("has arguments or results that only a host handles", op.loc)
        if op is not function and is_on_host(op):
            raise PassError(
                f"'{op.name}' op is computed by a host, in no kernel; nnc.compile and nnc run cut "
                "a program around such operations",
                op.loc,
            )
        types = function.function_type.inputs if op is function else op.result_types
        for fault in filter(None, map(size_fault, types)):
            raise PassError(fault, op.loc)


def _convert_attributes(function: func.FuncOp, old: FunctionType, signature: Signature) -> None:
    """Give out-arguments the attributes of their results, and note an entry's tensor types."""
    if ENTRY in function.attributes:
        function.attributes[INPUTS] = ArrayAttr(old.inputs)
        function.attributes[OUTPUTS] = ArrayAttr(old.results)
    empty = DictAttr(())
    if function.arg_attrs is None and function.res_attrs is None:
        return
    args = list(function.arg_attrs or [empty] * len(old.inputs))
    results = list(function.res_attrs or [empty] * len(old.results))
    pairs = list(zip(results, signature.by_argument, strict=True))
    args += [attrs for attrs, out in pairs if out]
    left = [attrs for attrs, out in pairs if not out]
    function.arg_attrs = ArrayAttr(tuple(args)) if any(a is not empty for a in args) else None
    function.res_attrs = ArrayAttr(tuple(left)) if any(a is not empty for a in left) else None


class _Body:
    """The conversion of a function's block."""

    def __init__(
        self,
        old: Block,
        new: Block,
        signature: Signature,
        globals: Globals,
        function: func.FuncOp,
        signatures: Mapping[str, Signature],
    ) -> None:
        self.signatures = signatures
        self.old, self.new, self.signature, self.function = old, new, signature, function
        self.e = Emitter(new, globals, function.loc)
        if KERNEL not in function.attributes:
            self.e.parts = parts_of(old)
        self.mapping = IRMapping()
        for before, after in zip(old.args, new.args, strict=False):
            after.name_hint = before.name_hint
            if isinstance(before.type, TensorType):
                self.e.buffers[before] = after
            else:
                self.mapping[before] = after
        names = names_of(function.attributes.get(INPUT_DIMS))
        self._name_extents(names)
        self.integers: ExtentIntegers | None = None
        """In a kernel: the integers that follow from the extents of its operands."""
        if KERNEL in function.attributes and any(isinstance(op, nn.ShapeOf) for op in old):
            self.integers = ExtentIntegers(self.e, old, new, names)

    def _name_extents(self, names: Sequence[Sequence[str]]) -> None:
        """Treat extents of equal name as equal; an entry checks at run time that they are."""
        for number, (arg, dims) in enumerate(zip(self.new.args, names, strict=False)):
            for axis, name in enumerate(dims):
                if name and self.e.name_extent(arg, axis, name):
                    self._require_equal(number, axis, name)

    def _require_equal(self, number: int, axis: int, name: str) -> None:
        """Emit a check that an argument's extent equals the first extent of the same name."""
        if ENTRY not in self.function.attributes:
            return
        e = self.e
        first, at = e.named[name]
        given = self.function.attributes.get(INPUT_NAMES)
        names = [n.value for n in given] if isinstance(given, ArrayAttr) else []  # type: ignore[attr-defined]
        this, other = (
            f"'{names[i]}'" if i < len(names) else str(i)
            for i in (number, list[Value](self.new.args).index(first))
        )
        extent = e.insert(memref.Dim(self.new.args[number], e.index(axis))).result
        text = f"dimension '{name}' of input {this} differs from that of input {other}"
        e.require_equal(extent, e.size(first, at), text)

    def convert(self) -> None:
        last = self.old.last
        if not isinstance(last, func.Return):
            name = self.function.sym_name
            raise PassError(f"@{name} does not end in func.return", self.function.loc)
        outs = self._out_arguments(last)
        for op in self.old:
            if op is not last:
                self.convert_op(op)
        self.e.loc = last.loc
        returned = self._return(last, outs)
        if self.integers is not None:
            self.integers.erase_unread()
        # Schedules move a kernel's stages, so nothing but stages may stand between them.
        at_end = KERNEL in self.function.attributes
        free_buffers(self.new, self.e.owned, returned, at_end)

    # -- results -----------------------------------------------------------------------

    def _out_arguments(self, last: func.Return) -> list[Value | None]:
        """For each result its out-argument, or None; an op whose value is returned writes there
        directly.
        """
        rest = iter(self.new.args[len(self.old.args) :])
        outs: list[Value | None] = [
            next(rest) if by_argument else None for by_argument in self.signature.by_argument
        ]
        for value, out in zip(last.values, outs, strict=True):
            if out is not None:
                out.name_hint = value.name_hint or "out"
                self._place(value, out)
        return outs

    def _place(self, value: Value, out: Value) -> None:
        e = self.e
        definer = value.defining_op
        if value in e.placed or definer is None or isinstance(definer, nn.Constant):
            return
        e.placed[value] = out
        if isinstance(definer, nn.Reshape | nn.Assume) and definer.x.type.has_static_shape:
            source = definer.x
            made = source.defining_op
            if made is None or isinstance(made, nn.Constant) or source in e.placed:
                return
            e.loc = definer.loc
            self._place(source, reshaped(e, out, buffer_type(source.type).shape))
            e.shared[value] = source

    def _return(self, last: func.Return, outs: list[Value | None]) -> list[Value]:
        e = self.e
        results: list[Value] = []
        for value, out in zip(last.values, outs, strict=True):
            if not isinstance(value.type, TensorType):
                results.append(self.mapping[value])
                continue
            buffer = e.buffer(value)
            if out is None:
                results.append(self._heap_result(value, buffer, results))
            elif not (e.placed.get(value) is out and buffer is out):
                e.copy(buffer, out)
        e.insert(func.Return(results))
        return results

    def _heap_result(self, value: Value, buffer: Value, earlier: list[Value]) -> Value:
        """A buffer that the caller may free: `buffer`, or a copy of it.

        It is copied if this function does not own it, or already returns it as an earlier result.
        """
        e = self.e
        root = memref.base_buffer(buffer)
        if root in e.owned and all(memref.base_buffer(r) is not root for r in earlier):
            return buffer
        copy = e.alloc_typed(buffer_type(value.type), e.sizes(buffer))
        e.copy(buffer, copy)
        return copy

    # -- operations ----------------------------------------------------------------------

    def convert_op(self, op: Operation) -> None:
        """Convert one operation. The PassError that it may raise names the operation."""
        e = self.e
        e.loc = op.loc
        try:
            self._convert_op(op)
        except NncError as error:
            if error.location is not None:
                raise
            raise PassError(f"'{op.name}' op {error.message}", op.loc) from None
        for result in op.results:
            e.settle(result)
            made = e.buffers.get(result)
            if made is not None and made.name_hint is None:
                made.name_hint = result.name_hint

    def _convert_op(self, op: Operation) -> None:
        match op:
            case nn.Constant():
                return  # made where it is used
            case _ if is_read_through(op):
                return  # its users read its operand instead
            case NnOp() if self.integers is not None and self.integers.computes(op):
                return
            case nn.Slice() | nn.Concat() if op in self.e.parts.ops:
                self.e.buffers[op.out] = self.e.part(op.out)
            case nn.Kernel():
                self._inline(op)
            case func.Call():
                self._call(op)
            case nn.CallIf():
                control.lower_if(self.e, op, self.signatures)
            case nn.CallWhile():
                control.lower_while(self.e, op, self.signatures)
            case NnOp():
                self._lower(op)
            case _ if any(isinstance(v.type, TensorType) for v in (*op.operands, *op.results)):
                raise PassError(
                    f"'{op.name}' op works on tensors, but only nn operations can be lowered "
                    "to linalg",
                    op.loc,
                )
            case _:
                self.e.insert(op.clone(self.mapping))

    def _lower(self, op: NnOp) -> None:
        lowering = LOWERINGS.get(type(op))
        if lowering is not None:
            lowering(self.e, op)
        elif op.comprehension() is not None:
            comprehensions.lower(self.e, op)
        else:
            raise PassError(
                f"'{op.name}' op cannot be lowered to linalg: it has no tensor comprehension and "
                "no lowering of its own; composite operations must be decomposed first "
                "(--decompose)",
                op.loc,
            )

    def _inline(self, kernel: nn.Kernel) -> None:
        """Convert the operations of a kernel that has no function of its own."""
        e = self.e
        block = kernel.body.block
        for arg, value in zip(block.args, kernel.operands, strict=True):
            e.buffers[arg] = e.buffer(value)
        last = block.last
        assert last is not None
        for value, result in zip(last.operands, kernel.results, strict=True):
            place = e.placed.get(result)
            if place is not None and value.defining_op is not None:
                e.placed.setdefault(value, place)
        for op in block:
            if op is not last:
                self.convert_op(op)
        for value, result in zip(last.operands, kernel.results, strict=True):
            e.bind(result, e.buffer(value))

    def _call(self, op: func.Call) -> None:
        """Convert a call: pass buffers for some results, and receive the others."""
        e = self.e
        type = FunctionType(tuple(op.operand_types), tuple(op.result_types))
        signature = self.signatures.get(op.callee) or Signature.of(type)
        args = [e.buffer(v) if isinstance(v.type, TensorType) else self.mapping[v] for v in op.args]
        returned = []
        given = list(args)
        kinds = zip(op.outs, signature.by_argument, signature.extents, strict=True)
        for result, by_argument, extents in kinds:
            if not by_argument:
                returned.append(result)
            elif extents is None:
                args.append(e.destination(result))
            else:
                args.append(e.destination(result, self._sizes(extents, given)))
        call = e.insert(
            func.Call(op.callee, args, outs=list(signature.outputs), attributes=op.attributes)
        )
        for result, made in zip(returned, call.outs, strict=True):
            if isinstance(result.type, TensorType):
                e.buffers[result] = made
                e.owned.append(made)
            else:
                self.mapping[result] = made

    def _sizes(self, extents: Extents, args: Sequence[Value]) -> list[Size]:
        """The extents that a call's result will have."""
        e = self.e
        symbols = {s: e.size(args[arg], axis) for s, (arg, axis) in extents.sources.items()}
        return [e.evaluated(size, symbols) for size in extents.shape]


# -- the life of buffers --------------------------------------------------------------------------


def free_buffers(
    block: Block, owned: list[Value], returned: list[Value], at_end: bool = False
) -> None:
    """Free each owned buffer after its last use in the block, also by views and in nested regions.

    With `at_end`, free it before the block's terminator. `returned` buffers are not freed.
    """
    given = {memref.base_buffer(v) for v in returned if isinstance(v.type, MemRefType)}
    wanted = set(owned) - given
    last: dict[Value, Operation] = {}
    for op in block:
        for inner in op.walk():
            for value in inner.operands:
                if (base := memref.base_buffer(value)) in wanted:
                    last[base] = op
    for buffer in owned:
        if buffer not in wanted:
            continue
        definer = buffer.defining_op
        assert definer is not None
        dealloc = memref.Dealloc(buffer, loc=definer.loc)
        if at_end:
            assert block.last is not None
            block.insert_before(dealloc, block.last)
        else:
            block.insert_after(dealloc, last.get(buffer, definer))
