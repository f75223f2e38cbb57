"""Which of the processors of 64-bit Arm this machine is."""

from __future__ import annotations

import platform

from ..llvm.host import measured
from ..llvm.target import LlvmTarget
from .processors import TARGETS, Aarch64, have

_LIKE = {
    "cortex-a73": "cortex-a72",
    "cortex-a75": "cortex-a72",
    "cortex-a77": "cortex-a76",
    "cortex-a78": "cortex-a76",
    "neoverse-n2": "neoverse-n1",
    "neoverse-v1": "neoverse-n1",
    "neoverse-v3": "neoverse-v2",
    "apple-m2": "apple-m1",
    "apple-m3": "apple-m1",
    "apple-m4": "apple-m1",
}
"""Processors whose machine is nearest to a named one's."""


def host() -> LlvmTarget | None:
    """This machine as a target; None where it is no 64-bit Arm."""
    if platform.machine().lower() not in ("aarch64", "arm64"):
        return None
    import llvmlite.binding as llvm  # type: ignore[import-not-found]

    features, cpu = llvm.get_host_cpu_features().flatten(), llvm.get_host_cpu_name()
    return measured(nearest(cpu, features), cpu, features)


def nearest(cpu: str, features: str) -> Aarch64:
    """The target that describes a processor, whose features are all there."""
    any_processor, *named = TARGETS
    for one in named:
        if one.name == _LIKE.get(cpu, cpu) and one.needs <= have(features):
            return one
    return any_processor
