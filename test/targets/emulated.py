"""Models for another processor, run under its emulator beside this machine's."""

import ctypes
import ctypes.util
import shutil
from importlib.util import find_spec

from nnc.targets.base import target
from nnc.targets.emulator import Emulator

from ..conftest import skip_unless_ci
from .samples import SAMPLES

TOLERANCES = {
    # Of one operation, as the native tests of x86 have it: sums in another order.
    "operator": 1e-4,
    # One rounding to 11 bits is 5e-4; sums of products are rounded once, at the end.
    "f16": 2e-3,
    # Relative to the largest result. Both machines round each multiply-add once but add up in
    # different orders, with tiles of other sizes: about 1e-7 times the square root of the depth.
    "squeezenet": 1e-5,
    "mobilenet_v2": 1e-5,
    "resnet18": 1e-5,
    "bert": 1e-5,
    "gpt2": 1e-5,
    "lstm": 1e-5,
    "detector": 1e-5,
}
"""The largest difference from what the same model gives on this machine, by kind."""

PROGRAM_FLAGS = ("-O2", "-s")
"""For the C programs of tests: Zig makes a C library for each level of optimization, with and without
names of symbols. That of libraries and of the runner is there."""


def sampled(test: str) -> list[str]:
    """The targets of all families that a kind of test runs on."""
    return [name for one in SAMPLES.values() for name in getattr(one, test)]


DEFECTS = {("riscv64-v", "nn.cast"): (8, 0)}
"""What QEMU ends with a failed assertion for, and the version that no longer does.

Of conversions of vectors of floats that round toward zero (`vfcvt.rtz.x.f.v` and its kin), 7.2
asks twice for where it is: "decode_save_opc: Assertion `ctx->insn_start != NULL' failed".
"""


def emulated(name: str, op: str) -> bool:
    """Whether the emulator that is installed runs what a target's code has for an operation."""
    emulator, since = target(name).emulator, DEFECTS.get((name, op))
    if since is None or emulator is None or emulator.missing():
        return True
    assert isinstance(emulator, Emulator)
    return emulator.version() >= since


def require_opencl() -> None:
    """Skip the running test where nothing runs OpenCL; fail it in CI."""
    if ctypes.util.find_library("OpenCL") is None:
        skip_unless_ci("no OpenCL library is installed")
    count = ctypes.c_uint32()
    found = ctypes.CDLL(ctypes.util.find_library("OpenCL"))
    found.clGetPlatformIDs(0, None, ctypes.byref(count))
    if not count.value:
        skip_unless_ci("no OpenCL driver is installed")


def require_emulator(name: str) -> None:
    """Skip the running test where a target's code is not emulated; fail it in CI."""
    emulator = target(name).emulator
    assert emulator is not None
    if emulator.missing():
        skip_unless_ci("QEMU, a libc for it, Wine, or Node is not installed")
    if not find_spec("ziglang"):
        skip_unless_ci("ziglang is not installed")
    assert shutil.which(emulator.program)
