"""f16 on processors without instructions for it: every number, and every way of rounding."""

import nnc
import numpy as np
import pytest

from ..processor import runnable
from .emulated import require_emulator

BITS = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16)


def cast(target: str, source: str, result: str, values: np.ndarray) -> np.ndarray:
    text = f"""
    func.func @main(%x: tensor<?x{source}>) -> tensor<?x{result}> {{
      %y = nn.cast %x : (tensor<?x{source}>) -> tensor<?x{result}>
      return %y : tensor<?x{result}>
    }}"""
    return nnc.compile(nnc.parse(text), target=target)(values)


def check(target: str) -> None:
    halves = BITS.view(np.float16)
    wide = cast(target, "f16", "f32", halves)
    np.testing.assert_array_equal(wide, halves.astype(np.float32))
    # Signs of zeros too.
    there = ~np.isnan(halves)
    np.testing.assert_array_equal(np.signbit(wide[there]), np.signbit(halves[there]))
    # Each number, what lies just beside it, and the middle between two neighbours.
    exact = halves.astype(np.float32)[there]
    with np.errstate(all="ignore"):
        middle = exact + np.spacing(halves[there]).astype(np.float32) / 2
    near = [np.nextafter(middle, np.float32(sign * np.inf)) for sign in (-1, 1)]
    rest = np.float32([65519.996, 65520, 65535, 1e5, 3e38, 1e-45, 1e-39, np.inf, np.nan])
    numbers = np.concatenate([exact, middle, *near, rest, -rest])
    for element, dtype in (("f32", np.float32), ("f64", np.float64)):
        with np.errstate(over="ignore"):
            want = numbers.astype(np.float16)
        found = cast(target, element, "f16", numbers.astype(dtype))
        np.testing.assert_array_equal(found, want)
        np.testing.assert_array_equal(np.signbit(found)[:-9], np.signbit(want)[:-9])


@pytest.mark.parametrize("target", runnable("x86-64"))
def test_here(target: str) -> None:
    check(target)


@pytest.mark.emulated
@pytest.mark.parametrize("target", ["wasm32-simd", "armv7", "spacemit-x60"])
def test_emulated(target: str) -> None:
    """NEON on 32-bit Arm takes denormal f32s for 0; no number of f16 is one."""
    require_emulator(target)
    check(target)
