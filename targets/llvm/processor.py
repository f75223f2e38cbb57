"""A processor as LLVM sees it: what makes its code, and the names that LLVM knows."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...ir.diagnostics import NncError
from ..base import Target
from ..processor import Processor

_ARCHITECTURES = frozenset(
    (
        "aarch64",
        "amdgcn",
        "arm",
        "bpf",
        "dx",
        "hexagon",
        "loongarch",
        "mips",
        "nvvm",
        "ppc",
        "r600",
        "riscv",
        "s390",
        "spv",
        "ve",
        "wasm",
        "x86",
        "xcore",
    )
)
"""The prefixes, after `llvm.`, of the names of intrinsics for one architecture."""


@dataclass(frozen=True)
class ProcessorNames:
    """LLVM's names of the processors and features of an architecture.

    LLVM exits the process for an unknown processor, and ignores an unknown feature. `python -c
    'import llvmlite.binding as b; ..create_target_machine(features="+help")'` shows its tables.
    """

    processors: frozenset[str]
    features: frozenset[str]
    intrinsics: str
    """The prefix, after `llvm.`, of the architecture's own intrinsics."""

    def check_processor(self, name: str) -> None:
        """Raise NncError, which suggests the nearest name, for an unknown processor."""
        _check("processor", name, self.processors)

    def check_intrinsic(self, name: str, processor: str) -> None:
        """Raise NncError for another architecture's intrinsic, on which LLVM exits the process."""
        architecture = name.split(".")[1]
        if architecture in _ARCHITECTURES and architecture != self.intrinsics:
            raise NncError(f"'{processor}' has no '{name}', an intrinsic of other processors")

    def check_features(self, text: str) -> None:
        """Check features such as `+avx2,-fma`. Raises NncError, which suggests the nearest name."""
        for one in filter(None, text.split(",")):
            if one[0] not in "+-":
                raise NncError(f"a feature is given as +NAME or -NAME, not '{one}'")
            _check("feature", one[1:], self.features)


def _check(what: str, name: str, known: frozenset[str]) -> None:
    if name not in known:
        from difflib import get_close_matches

        near = ", ".join(get_close_matches(name, sorted(known), 3))
        raise NncError(f"LLVM knows no {what} '{name}'" + (f"; near: {near}" if near else ""))


@dataclass(frozen=True, kw_only=True)
class LlvmProcessor(Target):
    """A target by what LLVM has to know to make code for it."""

    machine: Processor
    triple: str
    cpu: str
    features: str = ""
    """Differences from the features of `cpu`, such as `+avx2,-fma`."""
    abi: str = ""
    """LLVM's name of the ABI, if the triple does not determine it."""
    relocation: str = "pic"
    code_model: str = "small"
    scalable: int = 0
    """The length of scalable vectors that code assumes, in units of 128 bits; LLVM then uses such
    vectors for fixed ones. 0 if it uses none."""
    names: ProcessorNames = field(repr=False)
