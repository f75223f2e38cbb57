"""Native code through llvmlite: LLVM IR text in, optimized; an object file or addresses out."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any

from ..ir.diagnostics import NncError
from ..ir.timing import Timed, untimed

if TYPE_CHECKING:
    import llvmlite.binding as binding

_link_count = count()
_lock = threading.Lock()


@cache
def _llvm() -> Any:
    """The binding of llvmlite, with the native target ready."""
    import llvmlite.binding as binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


_X86_NAMES = """
    x86-64 x86-64-v2 x86-64-v3 x86-64-v4 nocona core2 penryn nehalem westmere sandybridge
    ivybridge haswell broadwell skylake skylake-avx512 cascadelake cooperlake cannonlake
    icelake-client icelake-server rocketlake tigerlake alderlake raptorlake meteorlake
    arrowlake arrowlake-s lunarlake pantherlake gracemont sierraforest grandridge
    clearwaterforest sapphirerapids emeraldrapids graniterapids graniterapids-d diamondrapids
    bonnell silvermont goldmont goldmont-plus tremont knl knm k8 k8-sse3 opteron opteron-sse3
    athlon64 athlon64-sse3 athlon-fx amdfam10 barcelona btver1 btver2 bdver1 bdver2 bdver3
    bdver4 znver1 znver2 znver3 znver4 znver5
"""

X86_PROCESSORS = frozenset(_X86_NAMES.split())
"""The 64-bit x86 processors by LLVM's names. LLVM ends the process for one it does not know."""


def _fault(what: str, error: Exception) -> NncError:
    return NncError(f"LLVM: {what}: {str(error).strip()}")


@dataclass(frozen=True)
class NativeTarget:
    """A processor that code is made for; empty `cpu` and `features` mean this machine's.

    `opt_level` is that of LLVM's code generator. Its passes over the IR: none for 0; for 1 the
    few that clean up; for 2 those, and the loop passes if the module has loops over scalars;
    for 3 all of `-O3`. Code that our schedules made is no faster for more.
    """

    cpu: str = ""
    features: str = ""
    opt_level: int = 2

    def __post_init__(self) -> None:
        if self.opt_level not in range(4):
            raise NncError(f"optimization level must be 0 to 3, not {self.opt_level}")

    @property
    def cpu_name(self) -> str:
        """The processor's name as LLVM knows it."""
        return self.cpu or _llvm().get_host_cpu_name()

    @property
    def feature_text(self) -> str:
        """`+avx2,-avx512f,..`; the host's where neither processor nor features are given."""
        if self.features or self.cpu:
            return self.features
        return _llvm().get_host_cpu_features().flatten()

    def machine(self) -> binding.TargetMachine:
        """LLVM's target machine. Raises NncError for an unknown processor."""
        llvm = _llvm()
        triple = llvm.get_default_triple()
        if self.cpu and triple.startswith("x86_64") and self.cpu not in X86_PROCESSORS:
            known = ", ".join(sorted(X86_PROCESSORS))
            raise NncError(f"unknown processor '{self.cpu}'; LLVM knows {known}")
        try:
            return llvm.Target.from_default_triple().create_target_machine(
                cpu=self.cpu_name,
                features=self.feature_text,
                opt=self.opt_level,
                reloc="pic",
                codemodel="small",
            )
        except RuntimeError as error:
            raise _fault(f"cannot make code for '{self.cpu_name}'", error) from None


def parse_and_verify(text: str) -> binding.ModuleRef:
    """LLVM's module of the IR text. Raises NncError where LLVM finds a fault."""
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


def optimized_module(
    text: str, target: NativeTarget, scalar_loops: bool, timed: Timed = untimed
) -> tuple[binding.ModuleRef, binding.TargetMachine]:
    """The verified and optimized module, and the machine that emits it."""
    with timed("Parser"):
        machine = target.machine()
        module = parse_and_verify(text)
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    level = target.opt_level
    if level == 2 and not scalar_loops:
        level = 1
    if level:
        with timed("Passes"):
            optimize(module, machine, level)
    return module, machine


def emit_object(
    text: str,
    target: NativeTarget | None = None,
    scalar_loops: bool = True,
    timed: Timed = untimed,
) -> bytes:
    """A relocatable object file of the LLVM IR text. Raises NncError.

    Without `scalar_loops`, the code has no loops that LLVM might vectorize.
    """
    module, machine = optimized_module(text, target or NativeTarget(), scalar_loops, timed)
    try:
        with timed("Code generation"):
            return machine.emit_object(module)
    except RuntimeError as error:
        raise _fault("no code could be made", error) from None


def emit_assembly(text: str, target: NativeTarget | None = None, scalar_loops: bool = True) -> str:
    """Assembler text of the LLVM IR text, for people. Raises NncError."""
    module, machine = optimized_module(text, target or NativeTarget(), scalar_loops)
    return machine.emit_assembly(module)


@cache
def _jit() -> binding.LLJIT:
    # JITLink keeps an object's sections together, as the small code model needs.
    return _llvm().create_lljit_compiler(NativeTarget().machine(), use_jit_link=True)


@dataclass
class LoadedCode:
    """Object code linked into this process; unloaded when it is no longer referenced."""

    addresses: dict[str, int]
    _tracker: object = field(repr=False)

    def __getitem__(self, name: str) -> int:
        """The address of an exported symbol."""
        return self.addresses[name]


def load_object(data: bytes, exports: tuple[str, ...]) -> LoadedCode:
    """Link an object file into this process, libc and libm included.

    Raises NncError for a symbol that is nowhere defined.
    """
    llvm = _llvm()
    with _lock:
        builder = llvm.JITLibraryBuilder().add_object_img(data).add_current_process()
        for name in exports:
            builder.export_symbol(name)
        try:
            tracker = builder.link(_jit(), f"nnc{next(_link_count)}")
        except RuntimeError as error:
            raise _fault("the code cannot be linked", error) from None
    return LoadedCode({name: tracker[name] for name in exports}, tracker)
