"""What a kernel in tile form is, and its text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

MAPS = """
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#row = affine_map<(i, j) -> (i, 0)>
#swap = affine_map<(i, j) -> (j, i)>
"""

PRODUCT = (
    "{indexing_maps = [#mk, #kn, #mn], "
    'iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}'
)


@dataclass
class TileKernel:
    """A function @f over buffers, and the arguments after it ran on random ones."""

    text: str
    arguments: Callable[[np.random.Generator], list[np.ndarray]]
    expected: Callable[..., None]
    """Writes into copies of the arguments."""
    tolerance: float = 1e-4
    native: bool = True


def function(arguments: str, body: str, attributes: str = "attributes {nn.kernel} ") -> str:
    """The text of @f, with constants for all small numbers that it names."""
    import re

    numbers = sorted({int(n) for n in re.findall(r"%c(\d+)\b", body)})
    constants = "\n".join(f"%c{n} = arith.constant {n} : index" for n in numbers)
    return (
        f"{MAPS}\nfunc.func @f({arguments}) {attributes}{{\n"
        f"%pad = ub.poison : f32\n{constants}\n{body}\nreturn\n}}"
    )


def floats(*shapes, dtype=np.float32):
    def make(rng):
        return [rng.standard_normal(s).astype(dtype) for s in shapes]

    return make
