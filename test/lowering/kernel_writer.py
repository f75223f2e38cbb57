"""A writer of kernels as loops, for the kernels of the tests."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass
class Kernel:
    """A function @k over buffers; the last `outputs` arguments are written."""

    text: str
    shapes: list[tuple[int, ...]]
    expected: Callable[..., list[np.ndarray]]
    outputs: int = 1
    dtypes: list | None = None

    def arguments(self, seed: int = 0) -> list[np.ndarray]:
        rng = np.random.default_rng(seed)
        dtypes = self.dtypes or [np.float32] * len(self.shapes)
        found = []
        for shape, dtype in zip(self.shapes, dtypes, strict=True):
            if np.dtype(dtype).kind == "f":
                found.append(rng.standard_normal(shape).astype(dtype))
            else:
                found.append(rng.integers(0, 2, shape).astype(dtype))
        return found


class Writer:
    """Puts the text of a kernel together."""

    def __init__(self, *arguments: tuple[str, str]) -> None:
        self.arguments = arguments
        self.lines: list[str] = []
        self.temporaries: list[tuple[str, str]] = []
        self.types = dict(arguments)

    def constant(self, name: str, value: str, type: str = "f32") -> None:
        self.lines.append(f"%{name} = arith.constant {value} : {type}")
        self.types[name] = type

    def alloc(self, name: str, type: str, sizes: str = "") -> None:
        self.lines.append(f"%{name} = memref.alloc({sizes}) : {type}")
        self.types[name] = type
        self.temporaries.append((name, type))

    def line(self, text: str) -> None:
        self.lines.append(text)

    def fill(self, value: str, out: str) -> None:
        self.lines.append(
            f"linalg.fill ins(%{value} : {self.types[value]}) outs(%{out} : {self.types[out]})"
        )

    def generic(self, dims, kinds, inputs, outputs, body, yields, elements=None) -> None:
        """`inputs` and `outputs` are (buffer, index expressions); body names them i0.. and o0.."""
        maps = [f"affine_map<({dims}) -> ({at})>" for _, at in (*inputs, *outputs)]
        names = {"p": "parallel", "r": "reduction"}
        iterators = ", ".join(f'"{names[k]}"' for k in kinds)
        ins = ", ".join(f"%{n}" for n, _ in inputs)
        outs = ", ".join(f"%{n}" for n, _ in outputs)
        in_types = ", ".join(self.types[n] for n, _ in inputs)
        out_types = ", ".join(self.types[n] for n, _ in outputs)

        def element(name):
            type = self.types[name]
            return (
                type.split("<")[-1].split("x")[-1].rstrip(">") if "strided" not in type else "f32"
            )

        args = [f"%i{k}: {element(n)}" for k, (n, _) in enumerate(inputs)]
        args += [f"%o{k}: {element(n)}" for k, (n, _) in enumerate(outputs)]
        yielded = ", ".join(f"%{v}" for v, _ in yields)
        types = ", ".join(t for _, t in yields)
        head = f"ins({ins} : {in_types}) " if inputs else ""
        self.lines.append(
            f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{iterators}]}} "
            f"{head}outs({outs} : {out_types}) {{\n^bb0({', '.join(args)}):\n"
            + "\n".join(body)
            + f"\nlinalg.yield {yielded} : {types}\n}}"
        )

    def text(self) -> str:
        arguments = ", ".join(f"%{n}: {t}" for n, t in self.arguments)
        frees = [f"memref.dealloc %{n} : {t}" for n, t in self.temporaries]
        body = "\n".join([*self.lines, *frees, "return"])
        return f"func.func private @k({arguments}) attributes {{nn.kernel}} {{\n{body}\n}}"


def memref(*shape, type="f32"):
    return "memref<" + "".join(f"{'?' if d is None else d}x" for d in shape) + type + ">"


MULTIPLY_ADD = ["%p = arith.mulf %i0, %i1 : f32", "%s = arith.addf %o0, %p : f32"]
