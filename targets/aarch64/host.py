"""Which of the processors of 64-bit Arm this machine is."""

from __future__ import annotations

import ctypes
import platform

from ..llvm.host import measured
from ..llvm.target import LlvmTarget, have
from .processors import TARGETS

_LIKE = {
    "cortex-a73": "cortex-a72",
    "cortex-a75": "cortex-a72",
    "cortex-a77": "cortex-a76",
    "cortex-a78": "cortex-a76",
    "neoverse-n2": "neoverse-n1",
    "neoverse-v3": "neoverse-v2",
    "apple-m2": "apple-m1",
    "apple-m3": "apple-m1",
    "apple-m4": "apple-m1",
}
"""For processors without numbers of their own: the processor whose numbers are used."""


def host() -> LlvmTarget | None:
    """This machine as a target; None where it is no 64-bit Arm."""
    if platform.machine().lower() not in ("aarch64", "arm64"):
        return None
    import llvmlite.binding as llvm  # type: ignore[import-not-found]

    features, cpu = llvm.get_host_cpu_features().flatten(), llvm.get_host_cpu_name()
    found = nearest(cpu, features, vector_length())
    return measured(found, cpu, f"{features},{found.features}".strip(","))


def nearest(cpu: str, features: str, length: int = 0) -> LlvmTarget:
    """The most specific target whose features the processor has.

    `length` is the length of its scalable vectors, in units of 128 bits; 0 for none.
    """
    any_processor, *named = TARGETS
    for one in named:
        fits = one.needs <= have(features) and one.scalable in (0, length)
        if one.name == _LIKE.get(cpu, cpu) and fits:
            return one
    if cpu == "neoverse-v1":
        return nearest("neoverse-n1", features)
    return any_processor


_PR_SVE_GET_VL, _VL_BYTES = 51, 0xFFFF
"""Constants of Linux's prctl: the request for the vector length, and the mask of the bytes in its
answer."""


def vector_length() -> int:
    """The length of this process's scalable vectors, in units of 128 bits; 0 if it has none."""
    if platform.system() != "Linux":
        return 0
    answer = ctypes.CDLL(None).prctl(_PR_SVE_GET_VL)
    return 0 if answer < 0 else (answer & _VL_BYTES) // 16
