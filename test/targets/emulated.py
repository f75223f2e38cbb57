"""Models for another processor, run under its emulator beside this machine's."""

import shutil
from importlib.util import find_spec

from nnc.targets.base import target

from ..conftest import skip_unless_ci

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
}
"""The largest difference from what the same model gives on this machine, by kind."""


def require_emulator(name: str) -> None:
    """Skip the running test where a target's code is not emulated; fail it in CI."""
    emulator = target(name).emulator
    assert emulator is not None
    if emulator.missing():
        skip_unless_ci("QEMU or a libc for it is not installed")
    if not find_spec("ziglang"):
        skip_unless_ci("ziglang is not installed")
    assert shutil.which(emulator.program)
