"""Writes the stored cases: functions of jnp and lax as JAX lowers them, inputs and results.

    python test/frontends/stablehlo/make.py

needs JAX (0.10 wrote what is stored). Each case is NAME.mlir and NAME.npz in files/cases.tar.xz.
"""

import io
import os
import tarfile
from importlib import import_module
from pathlib import Path

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import numpy as np
from maker import cases

PARTS = ("elements", "indices", "windows", "programs")
"""The files `make_*.py`, in this order, as all draw their inputs from one generator."""


def stored(array):
    """An array as NumPy alone can store it."""
    array = np.asarray(array)
    small = array.dtype.kind == "V" or array.dtype.name in ("bfloat16", "int4")
    return array.astype(np.float32) if small else array


def main() -> None:
    """Write the archive."""
    for part in PARTS:
        import_module(f"make_{part}")
    target = Path(__file__).parent / "files" / "cases.tar.xz"
    with tarfile.open(target, "w:xz") as archive:

        def add(name: str, data: bytes) -> None:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))

        for name, (fn, args) in sorted(cases.items()):
            function = jax.jit(fn, keep_unused=True)
            add(f"{name}.mlir", function.lower(*args).as_text().encode())
            outs = jax.tree.leaves(function(*args))
            arrays = {f"in{k}": stored(a) for k, a in enumerate(args)}
            arrays |= {f"out{k}": stored(o) for k, o in enumerate(outs)}
            buffer = io.BytesIO()
            np.savez(buffer, **arrays)
            add(f"{name}.npz", buffer.getvalue())


if __name__ == "__main__":
    main()
