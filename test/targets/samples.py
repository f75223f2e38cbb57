"""Which tests run on which targets in CI, family by family; `bench/targets.py` prints it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sample:
    """Which targets of a family a test runs on: not each on all, as emulators are slow."""

    operators: tuple[str, ...] = ()
    """Every nn op."""
    shapes: tuple[str, ...] = ()
    """Convolutions, remainders and movements of many shapes."""
    networks: tuple[str, ...] = ()
    """Every small network."""
    threads: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    """Libraries in a C program, and the command line."""


SAMPLES = {
    "aarch64": Sample(
        operators=("neoverse-v2", "neoverse-v1"),
        shapes=("aarch64", "a64fx"),
        networks=("cortex-a76", "neoverse-v1"),
        threads=("cortex-a72", "apple-m1-linux"),
        programs=("cortex-a76",),
    ),
    "armv7": Sample(
        operators=("armv7",),
        shapes=("cortex-a7",),
        networks=("cortex-a7",),
        threads=("armv7",),
        programs=("cortex-a9",),
    ),
    "riscv": Sample(
        operators=("riscv64", "riscv64-v"),
        shapes=("riscv64-v",),
        networks=("spacemit-x60",),
        threads=("riscv64-v",),
        programs=("riscv64",),
    ),
    "wasm": Sample(
        operators=("wasm32", "wasm32-simd"),
        shapes=("wasm32-simd",),
        networks=("wasm32-simd", "wasm32-relaxed-simd"),
        threads=("wasm32-simd",),
    ),
    # In Wine, on any x86.
    "windows": Sample(
        operators=("x86-64-windows",),
        networks=("x86-64-windows",),
        threads=("x86-64-windows",),
    ),
    # The one that CONTRIBUTING.md shows.
    "power": Sample(shapes=("power8",), threads=("power8",)),
}
