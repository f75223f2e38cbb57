"""Native code through llvmlite: from LLVM IR text to an object file, or to linked addresses."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any

from ...dialects.marks import SCALAR_LOOPS
from ...ir.diagnostics import NncError
from ...ir.timing import Timed, untimed
from ...runtime.program import LinkedCode
from ..base import host
from .apart import interruptible
from .processor import LlvmProcessor

if TYPE_CHECKING:
    import llvmlite.binding as binding

_link_count = count()
_lock = threading.Lock()


@cache
def _all_targets() -> None:
    """Initialize the code generators of other architectures."""
    _llvm().initialize_all_targets()
    _llvm().initialize_all_asmprinters()


@cache
def _llvm() -> Any:
    """llvmlite's binding, with the native target initialized."""
    import llvmlite.binding as binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


def _fault(what: str, error: Exception) -> NncError:
    return NncError(f"LLVM: {what}: {str(error).strip()}")


def llvm_machine(target: LlvmProcessor, opt_level: int = 2) -> binding.TargetMachine:
    """LLVM's target machine. Raises NncError for an unknown processor.

    `opt_level` is the level of LLVM's code generator, and chooses the passes over the IR: 0 none; 1
    a few that clean up; 2 these, and all of `-O2` for functions that `SCALAR_LOOPS` marks; 3 all of
    `-O3`. Code of our schedules gets no faster with more.
    """
    if opt_level not in range(4):
        raise NncError(f"optimization level must be 0 to 3, not {opt_level}")
    llvm = _llvm()
    if target.triple != llvm.get_default_triple():
        _all_targets()
    if target.cpu != llvm.get_host_cpu_name():
        target.names.check_processor(target.cpu)
        target.names.check_features(target.features)
    try:
        return llvm.Target.from_triple(target.triple).create_target_machine(
            cpu=target.cpu,
            features=target.features,
            opt=opt_level,
            reloc=target.relocation,
            codemodel=target.code_model,
            abiname=target.abi,
        )
    except RuntimeError as error:
        raise _fault(f"cannot make code for '{target.cpu}'", error) from None


def parse_and_verify(text: str) -> binding.ModuleRef:
    """LLVM's module of the IR text. Raises NncError if it is invalid."""
    llvm = _llvm()
    try:
        module = llvm.parse_assembly(text, llvm.create_context())
        module.verify()
    except RuntimeError as error:
        raise _fault("the generated IR is not valid", error) from None
    return module


def optimize(module: binding.ModuleRef, machine: binding.TargetMachine, level: int) -> None:
    """Run LLVM's passes over the module, in place; level 1 is a short clean-up.

    Loops are not unrolled below level 3: schedules have unrolled what is worth it.
    """
    llvm = _llvm()
    tuning = llvm.create_pipeline_tuning_options(speed_level=max(2, level))
    if level < 3:
        tuning.loop_unrolling = False
        tuning.loop_interleaving = False
    builder = llvm.create_pass_builder(machine, tuning)
    if level > 1:
        manager = builder.getModulePassManager()
    else:
        manager = llvm.create_new_module_pass_manager()
        manager.add_instruction_combine_pass()
        manager.add_simplify_cfg_pass()
    manager.run(module, builder)


_APART = ("optnone", "noinline")
_OTHER_LEVELS = ("optnone", "alwaysinline", "minsize", "optsize", "optdebug")
_GROUP = re.compile(r"^attributes #\d+ = .*", re.MULTILINE)


def optimize_scalar_loops(
    module: binding.ModuleRef, machine: binding.TargetMachine
) -> binding.ModuleRef:
    """The module with the functions that `SCALAR_LOOPS` marks optimized, and the others cleaned up.

    LLVM skips functions with `optnone`. That attribute can be removed only in the text.
    """
    for function in module.functions:
        marks = b" ".join(function.attributes).decode()
        if not function.is_declaration and SCALAR_LOOPS not in marks:
            for name in _APART:
                function.add_function_attribute(name)
    optimize(module, machine, 2)
    text = _GROUP.sub(lambda group: re.sub(rf" ({'|'.join(_APART)})\b", "", group[0]), str(module))
    module = parse_and_verify(text)
    optimize(module, machine, 1)
    return module


def _optimized(
    text: str, target: LlvmProcessor, opt_level: int, timed: Timed = untimed
) -> tuple[binding.ModuleRef, binding.TargetMachine]:
    """The verified and optimized module, and the target machine to emit it with."""
    with timed("Parser"):
        machine = llvm_machine(target, opt_level)
        _check_names(text, target)
        # In front: the alignments that the text leaves out are those of the layout.
        layout = f'target datalayout = "{machine.target_data}"\n'
        module = parse_and_verify(f'{layout}target triple = "{machine.triple}"\n{text}')
    with timed("Passes"):
        if opt_level == 2 and SCALAR_LOOPS not in text:
            optimize(module, machine, 1)
        elif opt_level == 2 and not any(name in text for name in _OTHER_LEVELS):
            module = optimize_scalar_loops(module, machine)
        elif opt_level:
            optimize(module, machine, opt_level)
    return module, machine


_NAMES = re.compile(r'"(target-cpu|tune-cpu|target-features)"="([^"]*)"')
_INTRINSIC = re.compile(r"^declare .*@(llvm\.[\w.]+)\(", re.MULTILINE)


def _check_names(text: str, target: LlvmProcessor) -> None:
    """Raise NncError for a function's processor or feature that LLVM does not know, or for an
    intrinsic of another architecture.
    """
    for name in set(_INTRINSIC.findall(text)):
        target.names.check_intrinsic(name, target.name)
    if '"target-' not in text and '"tune-cpu"' not in text:
        return
    for kind, name in set(_NAMES.findall(text)):
        if kind == "target-features":
            target.names.check_features(name)
        else:
            target.names.check_processor(name)


@interruptible
def emit_object(
    text: str,
    target: LlvmProcessor,
    opt_level: int = 2,
    timed: Timed = untimed,
) -> bytes:
    """A relocatable object file of the LLVM IR text. Raises NncError."""
    module, machine = _optimized(text, target, opt_level, timed)
    try:
        with timed("Code generation"):
            return machine.emit_object(module)
    except RuntimeError as error:
        raise _fault("no code could be made", error) from None


@interruptible
def emit_assembly(text: str, target: LlvmProcessor, opt_level: int = 2) -> str:
    """Assembler text for people, from LLVM IR text. Raises NncError."""
    module, machine = _optimized(text, target, opt_level)
    return machine.emit_assembly(module)


@cache
def _jit() -> binding.LLJIT:
    here = host()
    assert isinstance(here, LlvmProcessor)
    # JITLink keeps an object's sections together, as the small code model needs.
    return _llvm().create_lljit_compiler(llvm_machine(here), use_jit_link=True)


@dataclass
class LoadedCode(LinkedCode):
    """Object code linked into this process; unloaded when the object is no longer referenced."""

    addresses: dict[str, int]
    _tracker: object = field(repr=False)

    def __getitem__(self, name: str) -> int:
        """The address of an exported symbol."""
        return self.addresses[name]


def load_object(
    data: bytes, exports: tuple[str, ...], given: Mapping[str, int] | None = None
) -> LoadedCode:
    """Link an object file into this process, with libc and libm; `given` are addresses of further
    functions.

    Raises NncError for an undefined symbol.
    """
    llvm = _llvm()
    with _lock:
        builder = llvm.JITLibraryBuilder().add_object_img(data).add_current_process()
        for name in exports:
            builder.export_symbol(name)
        for name, address in (given or {}).items():
            builder.import_symbol(name, address)
        try:
            tracker = builder.link(_jit(), f"nnc{next(_link_count)}")
        except RuntimeError as error:
            raise _fault("the code cannot be linked", error) from None
    return LoadedCode({name: tracker[name] for name in exports}, tracker)
