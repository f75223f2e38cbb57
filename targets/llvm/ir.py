"""The llvm dialect as LLVM IR text.

Each op has a function in `instructions.EMITTERS` that gives its instruction. Constants
and addresses are written where they are used; block arguments become phis. Text goes through
LLVM's parser, which checks it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ...dialects import llvm
from ...dialects.marks import SCALAR_LOOPS
from ...ir.attributes import ArrayAttr, Attribute, IntegerAttr, StringAttr, UnitAttr
from ...ir.core import Block, Operation, Value
from ...ir.diagnostics import NncError
from ...ir.types import VectorType
from ..attribute import TARGET, target_of
from ..base import find_host
from .constants import constant_text, global_text, symbol_text, type_text
from .instructions import EMITTERS, refuse
from .intrinsics import intrinsic
from .places import NO_PLACES, Places


class FunctionWriter:
    """Writes one function; `names` has the name of each value."""

    def __init__(self, module: ModuleWriter) -> None:
        self.module = module
        self.names: dict[Value, str] = {}
        self.labels: dict[Block, str] = {}
        self.lines: list[str] = []

    def typed(self, value: Value) -> str:
        """`float %3`"""
        return f"{type_text(value.type)} {self.names[value]}"

    def arguments(self, values: Iterable[Value]) -> str:
        """`float %3, i64 %4`"""
        names = self.names
        return ", ".join([f"{type_text(v.type)} {names[v]}" for v in values])

    def write(self, func: llvm.Func) -> None:
        """Append the definition's lines."""
        blocks = func.regions[0].blocks
        self._name_everything(blocks)
        incoming = self._incoming(blocks)
        lines, names = self.lines, self.names
        header = self.module.signature(func, [names[a] for a in blocks[0].args])
        scope, place = self.module.places.of(func)
        lines.append(f"define {header}{scope} {{")
        emitters = EMITTERS
        for block in blocks:
            lines.append(f"{self.labels[block]}:")
            if block is not blocks[0]:
                self._write_phis(block, incoming.get(block, []))
            for op in block:
                cls = op.__class__
                emitter = emitters.get(cls)
                if emitter is None and _is_intrinsic(op.name):
                    emitter = emitters[cls] = intrinsic
                if emitter is not None:
                    text = emitter(self, op) + place(op)
                    if op.results:
                        lines.append(f"  {names[op.results[0]]} = {text}")
                    else:
                        lines.append("  " + text)
                elif cls not in _INLINE:
                    raise op.error("has no translation to LLVM IR")
        lines.append("}\n")

    def _name_everything(self, blocks: list[Block]) -> None:
        """Number values in the order of definition, as LLVM's parser requires; inline constants."""
        names, labels, inline = self.names, self.labels, _INLINE
        count = 0
        for i, block in enumerate(blocks):
            labels[block] = f"b{i}"
            for arg in block.args:
                names[arg] = f"%{count}"
                count += 1
            for op in block:
                if op.results:
                    constant = inline.get(op.__class__)
                    if constant is not None:
                        names[op.results[0]] = constant(op)
                    else:
                        names[op.results[0]] = f"%{count}"
                        count += 1

    def _incoming(self, blocks: list[Block]) -> dict[Block, list[tuple[str, Sequence[Value]]]]:
        """The incoming edges of each block: (label, values of the block's arguments)."""
        incoming: dict[Block, list[tuple[str, Sequence[Value]]]] = {}
        for block in blocks:
            edges = successor_values(block.last)
            if block.last is not None and len(edges) > 1:
                _check_edges(block.last, edges)
            for target, values in edges:
                incoming.setdefault(target, []).append((self.labels[block], values))
        return incoming

    def _write_phis(self, block: Block, incoming: list[tuple[str, Sequence[Value]]]) -> None:
        names = self.names
        for i, arg in enumerate(block.args):
            edges: list[str] = []
            for label, values in incoming:
                if len(values) != len(block.args):
                    raise NncError(f"a branch gives {len(values)} of {len(block.args)} arguments")
                edges.append(f"[ {names[values[i]]}, %{label} ]")
            if edges:
                self.lines.append(f"  {names[arg]} = phi {type_text(arg.type)} {', '.join(edges)}")
            else:
                # Nobody branches here, so the value is never seen.
                self.lines.append(f"  {names[arg]} = freeze {type_text(arg.type)} poison")


def _check_edges(op: Operation, edges: list[tuple[Block, Sequence[Value]]]) -> None:
    """Raise NncError if two edges between the same blocks pass different values to a phi."""
    passed: dict[Block, Sequence[Value]] = {}
    for target, values in edges:
        if passed.setdefault(target, values) != values:
            raise op.error("branches to a block with different values; put a block between")


def successor_values(op: Operation | None) -> list[tuple[Block, Sequence[Value]]]:
    """(block, values of its arguments) for each successor of a terminator."""
    match op:
        case llvm.Br():
            return [(op.dest, op.destOperands)]
        case llvm.CondBr():
            return [(op.trueDest, op.trueDestOperands), (op.falseDest, op.falseDestOperands)]
        case llvm.Switch():
            cases = [(block, values) for _, block, values in op.cases()]
            return [(op.defaultDestination, op.defaultOperands), *cases]
    return []


class ModuleWriter:
    """Writes a module: globals, functions, and the declarations that they need."""

    def __init__(
        self, function_attributes: str = "nounwind", line_of: Mapping[Operation, int] | None = None
    ) -> None:
        self.function_attributes = function_attributes
        self.lines: list[str] = []
        self.declarations: dict[str, str] = {}
        self.metadata: dict[str, int] = {}
        self.places = NO_PLACES if line_of is None else Places(line_of, self.node)

    def write(self, module: Operation) -> str:
        """The text of the module. Raises NncError for an op that is not of the llvm dialect."""
        functions: list[str] = []
        for op in module.body_block:
            try:
                functions += self._symbol(op)
            except NncError as error:
                if error.location is not None:
                    raise
                raise op.error(error.message) from None
        self.lines += self.declarations.values()
        self.lines += functions
        self.lines.append(f"attributes #0 = {{ {self.function_attributes} }}")
        self.lines += self.places.named()
        self.lines += [f"!{number} = {text}" for text, number in self.metadata.items()]
        return "\n".join(self.lines) + "\n"

    def _symbol(self, op: Operation) -> list[str]:
        """Write a global or record a declaration; returns a function's lines, placed last."""
        match op:
            case llvm.Global():
                self.lines.append(self._global(op))
            case llvm.Func() if op.is_declaration:
                self.declarations.setdefault(op.sym_name, f"declare {self.signature(op)}")
            case llvm.Func():
                writer = FunctionWriter(self)
                writer.write(op)
                return writer.lines
            case _:
                raise op.error("is not of the llvm dialect, so it has no translation")
        return []

    def node(self, text: str) -> str:
        """`!3`, the metadata node with this text."""
        return f"!{self.metadata.setdefault(text, len(self.metadata))}"

    def declare(self, name: str, result: str, arguments: str, attributes: str = "") -> None:
        """Declare a function unless it is declared."""
        if name not in self.declarations:
            self.declarations[name] = f"declare {result} {name}({arguments}){attributes}"

    def signature(self, func: llvm.Func, names: list[str] | None = None) -> str:
        """The text after `define` or `declare`: result, name, parameters and attributes."""
        refuse(func, *_REFUSED_OF_FUNCTIONS)
        type = func.function_type
        attributes = func.arg_attrs or ()
        parts = []
        for i, t in enumerate(type.inputs):
            words = [type_text(t)]
            if i < len(attributes):
                words += _argument_attributes(attributes[i], func)
            if names is not None:
                words.append(names[i])
            parts.append(" ".join(words))
        if type.variadic:
            parts.append("...")
        linkage = func.linkage
        words = [] if linkage == "external" else [linkage]
        words += [func.visibility_] if func.visibility_ != "default" else []
        if func.CConv != "ccc":
            words.append(_CONVENTIONS.get(func.CConv, func.CConv))
        words_behind = _function_attributes(func)
        if names is not None and has_scalar_loops(func):
            words_behind.append(f'"{SCALAR_LOOPS}"')
        tail = "".join(f" {word}" for word in words_behind)
        head = " ".join([*words, type_text(type.output)])
        return f"{head} {symbol_text(func.sym_name)}({', '.join(parts)}) #0{tail}"

    def _global(self, op: llvm.Global) -> str:
        refuse(op, "section", "comdat", "target_specific_attrs")
        linkage = op.linkage
        words = [symbol_text(op.sym_name), "="]
        value = op.value
        if op.initializer.blocks:
            value = _returned_constant(op)
        if value is None:
            words.append("external" if linkage == "external" else linkage)
        elif linkage != "external":
            words.append(linkage)
        words += [op.visibility_] if op.visibility_ != "default" else []
        if op.thread_local_:
            words.append("thread_local")
        if op.unnamed_addr not in (None, "none"):
            words.append(op.unnamed_addr)
        if op.addr_space:
            words.append(f"addrspace({op.addr_space})")
        if op.externally_initialized:
            words.append("externally_initialized")
        words.append("constant" if op.constant else "global")
        if value is None:
            words.append(type_text(op.global_type))
        elif isinstance(value, str):
            words += [type_text(op.global_type), value]
        else:
            words += global_text(value, op.global_type)
        align = f", align {op.alignment}" if op.alignment else ""
        return " ".join(words) + align


def _returned_constant(op: llvm.Global) -> str:
    last = op.initializer.block.last
    if isinstance(last, llvm.Return) and last.arg is not None:
        source = last.arg.defining_op
        constant = _INLINE.get(type(source)) if source is not None else None
        if source is not None and constant is not None:
            return constant(source)
    raise op.error("its region must return one constant")


_REFUSED_OF_FUNCTIONS = (
    *("comdat", "personality", "garbageCollector", "section", "vscale_range", "convergent"),
    *("arm_streaming", "arm_locally_streaming", "arm_streaming_compatible", "arm_new_za"),
    *("arm_in_za", "arm_out_za", "arm_inout_za", "arm_preserves_za", "memory_effects"),
    *("vec_type_hint", "work_group_size_hint", "reqd_work_group_size", "res_attrs"),
    "intel_reqd_sub_group_size",
)
"""Attributes of functions that affect results and are not translated, so that they are errors."""

_CONVENTIONS = {"ptx_kernelcc": "ptx_kernel", "amdgpu_kernelcc": "amdgpu_kernel"}
"""LLVM's keywords for calling conventions that upstream's dialect names differently."""

_WORDS_OF_FUNCTIONS = {
    "no_inline": "noinline",
    "always_inline": "alwaysinline",
    "inline_hint": "inlinehint",
    "no_unwind": "nounwind",
    "will_return": "willreturn",
    "optimize_none": "optnone",
}
_PAIRS_OF_FUNCTIONS = {
    "target_cpu": "target-cpu",
    "tune_cpu": "tune-cpu",
    "reciprocal_estimates": "reciprocal-estimates",
    "prefer_vector_width": "prefer-vector-width",
    "no_infs_fp_math": "no-infs-fp-math",
    "no_nans_fp_math": "no-nans-fp-math",
    "no_signed_zeros_fp_math": "no-signed-zeros-fp-math",
    "denormal_fp_math": "denormal-fp-math",
    "denormal_fp_math_f32": "denormal-fp-math-f32",
    "fp_contract": "fp-contract",
    "instrument_function_entry": "instrument-function-entry",
    "instrument_function_exit": "instrument-function-exit",
    "frame_pointer": "frame-pointer",
}

_ARGUMENT_WORDS = {
    "llvm.noalias": "noalias",
    "llvm.nocapture": "captures(none)",
    "llvm.readonly": "readonly",
    "llvm.writeonly": "writeonly",
    "llvm.readnone": "readnone",
    "llvm.nonnull": "nonnull",
    "llvm.noundef": "noundef",
    "llvm.nofree": "nofree",
    "llvm.signext": "signext",
    "llvm.zeroext": "zeroext",
    "llvm.inreg": "inreg",
}


def _argument_attributes(attributes: Attribute, func: llvm.Func) -> list[str]:
    words = []
    for key, value in attributes.items():  # type: ignore[attr-defined]
        if key in _ARGUMENT_WORDS and isinstance(value, UnitAttr):
            words.append(_ARGUMENT_WORDS[key])
        elif key == "llvm.align" and isinstance(value, IntegerAttr):
            words.append(f"align {value.value}")
        elif key == "llvm.dereferenceable" and isinstance(value, IntegerAttr):
            words.append(f"dereferenceable({value.value})")
        elif key.startswith("llvm."):
            raise func.error(f"argument attribute '{key}' has no translation to LLVM IR")
    return words


def _function_attributes(func: llvm.Func) -> list[str]:
    words = [word for key, word in _WORDS_OF_FUNCTIONS.items() if key in func.properties]
    for key, word in _PAIRS_OF_FUNCTIONS.items():
        value = getattr(func, key)
        if value is not None:
            text = str(value).lower() if isinstance(value, bool) else value
            words.append(f'"{word}"="{text}"')
    if func.target_features is not None:
        given = func.target_features.value("features")  # type: ignore[attr-defined]
        features = ",".join(f.value for f in given)
        words.append(f'"target-features"="{features}"')
    if func.alignment is not None:
        words.append(f"align {func.alignment}")
    if func.uwtable_kind not in (None, "none"):
        words.append("uwtable(sync)" if func.uwtable_kind == "sync" else "uwtable")
    for entry in func.passthrough or ():
        match entry:
            case StringAttr(word):
                words.append(word)
            case ArrayAttr((StringAttr(key), StringAttr(value))):
                words.append(f'"{key}"="{value}"')
            case _:
                raise func.error(f"'passthrough' holds {entry}, not a string or a pair of them")
    return words


def llvm_ir(module: Operation, line_of: Mapping[Operation, int] | None = None) -> str:
    """The LLVM IR text of a module of the llvm dialect. Raises NncError for untranslatable ops.

    With `line_of`, instructions have debug locations: the lines, from 1, of their operations.
    """
    one = target_of(module) if TARGET in module.attributes else find_host()
    length = getattr(one, "scalable", 0)
    scalable = f" vscale_range({length},{length})" if length else ""
    return ModuleWriter(f"nounwind{scalable}", line_of).write(module)


_SEQUENTIAL = (llvm.Call, llvm.AtomicRMW, llvm.CmpXchg, llvm.Fence)


def has_scalar_loops(func: llvm.Func) -> bool:
    """Whether a function has loops over memory that LLVM might vectorize.

    They have no vector, atomic or call, and at least one access whose stride does not depend on a
    number known only at run time. For other loops LLVM takes seconds to find that it can do
    nothing.
    """
    seen: set[Block] = set()
    loops = accesses = False
    for block in func.regions[0].blocks:
        seen.add(block)
        for op in block:
            if any(isinstance(r.type, VectorType) for r in op.results):
                return False
            if isinstance(op, _SEQUENTIAL):
                return False
            if isinstance(op, (llvm.Load, llvm.Store)):
                if op.ordering != "not_atomic":
                    return False
                accesses = accesses or not _has_unknown_stride(op.addr)
        loops = loops or (block.last is not None and any(s in seen for s in block.last.successors))
    return loops and accesses


def _has_unknown_stride(address: Value) -> bool:
    """Whether the last index of an address is a product of unknown factors."""
    op = address.defining_op
    while isinstance(op, llvm.GetElementPtr) and not op.dynamicIndices:
        op = op.base.defining_op
    return isinstance(op, llvm.GetElementPtr) and _is_unknown_product(op.dynamicIndices[-1])


def _is_unknown_product(value: Value) -> bool:
    """Whether an integer is a product of unknown factors, or a sum with such a product."""
    seen, waiting = {value}, [value]
    while waiting:
        op = waiting.pop().defining_op
        if isinstance(op, llvm.Mul) and not any(v.defined_by(llvm.Constant) for v in op.operands):
            return True
        if isinstance(op, llvm.Add):
            waiting += [v for v in op.operands if v not in seen]
            seen.update(op.operands)
    return False


# -- values without an instruction -----------------------------------------------------------


def _constant(op: Operation) -> str:
    return constant_text(op.properties["value"], op.results[0].type)


UNTRANSLATED = frozenset(
    (
        *("llvm.mlir.none", "llvm.invoke", "llvm.landingpad", "llvm.resume", "llvm.indirectbr"),
        *("llvm.blockaddress", "llvm.blocktag", "llvm.mlir.alias", "llvm.mlir.ifunc"),
        *("llvm.mlir.global_ctors", "llvm.mlir.global_dtors", "llvm.comdat"),
        *("llvm.comdat_selector", "llvm.linker_options", "llvm.module_flags"),
        *("llvm.intr.experimental.noalias.scope.decl", "llvm.intr.dbg.declare"),
        *("llvm.intr.dbg.value", "llvm.intr.dbg.label", "llvm.intr.coro.suspend"),
        "llvm.intr.experimental.constrained.uitofp",
        "llvm.intr.experimental.constrained.sitofp",
        "llvm.intr.experimental.constrained.fptrunc",
        "llvm.intr.experimental.constrained.fpext",
    )
)
"""Ops that are errors: exceptions, indirect branches, hints for debuggers or linkers, and
intrinsics with metadata arguments."""


def _is_intrinsic(name: str) -> bool:
    """Whether the op is a call of LLVM's intrinsic of its name."""
    return name.startswith("llvm.intr.") and name not in UNTRANSLATED


_INLINE: dict[type[Operation], Callable[[Operation], str]] = {
    llvm.Constant: _constant,
    llvm.Zero: lambda op: "null" if op.result_types[0] is llvm.ptr else "zeroinitializer",
    llvm.Undef: lambda op: "undef",
    llvm.Poison: lambda op: "poison",
    llvm.DSOLocalEquivalent: lambda op: (
        "dso_local_equivalent " + symbol_text(op.properties["function_name"].root)  # type: ignore[attr-defined]
    ),
    llvm.AddressOf: lambda op: symbol_text(op.properties["global_name"].root),  # type: ignore[attr-defined]
}
