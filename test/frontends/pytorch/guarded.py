"""Writes programs whose traces took branches: `python -m nnc.test.frontends.pytorch.guarded`.

`guards.npz` has, for each program, extents and numbers of inputs, whether PyTorch's module takes
them, and the sum of what it gives.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch.export import Dim

from .make import FILES, stripped


def inputs_of(name: str, numbers: Sequence[int]) -> list[np.ndarray]:
    """The inputs of a program, flat, for some extents and numbers."""
    rows, columns, last = numbers
    if name == "of_numbers":
        return [_waves(rows, columns), np.array(last), _waves(2)]
    return [_waves(rows, columns), _waves(last)]


def _waves(*shape: int) -> np.ndarray:
    return np.sin(np.arange(math.prod(shape), dtype=np.float32)).reshape(shape)


class Branches(torch.nn.Module):
    """Branches by extents, of which a trace takes one each."""

    def forward(self, x, y):
        rows, columns = x.shape
        x = x * 2 if rows > 4 else x - 1
        x = x + 1 if rows * columns % 4 == 0 else x - 1
        x = x * 3 if math.ceil(rows / 3) == 2 or columns * 0.75 < 2 else x / 3
        x = x + y.sum() if y.shape[0] // (columns // 3) != 7 else x
        return x - max(rows, 7) if max(rows, 7) * 2 < columns + 11 else x


class Decimals(torch.nn.Module):
    """Branches by extents times decimal fractions, which f64 rounds: 0.29 * 100 is below 29."""

    def forward(self, x, y):
        rows, columns = x.shape
        x = x * 2 if int(rows * 0.29) == 28 else x - 1
        x = x + 1 if columns * 0.1 * 3 > columns * 0.3 else x - 1
        x = x * 3 if math.ceil(columns / 0.7) <= 10 else x / 3
        return x + y.sum() if math.floor(2.5 - y.shape[0] * 1.1) == -9 else x * 5


class Equal(torch.nn.Module):
    """A branch for square matrices, and a second input of as many rows."""

    def forward(self, x, y):
        return x @ x + y if x.shape[0] == x.shape[1] else x[0] + y


class OfRange(torch.nn.Module):
    """Extents between bounds, one of them twice another."""

    def forward(self, x, y):
        return x.sum() + y


class Apart(torch.nn.Module):
    """Two inputs with extents of one symbol, which is no extent itself."""

    def forward(self, x, y):
        return x.sum() + y


class OfNumbers(torch.nn.Module):
    """A branch by a number, which is an input among nested ones that have names."""

    def forward(self, x, *, more):
        count, nested = more["counts"]
        return x * count + nested["y"][0] if count % 3 == 2 else x - nested["y"][1]


def programs() -> dict[str, tuple[torch.nn.Module, Sequence[int], Any, Sequence[Sequence[int]]]]:
    """Modules, example numbers, dynamic shapes, and the numbers to try."""
    both, rows = dict.fromkeys((0, 1), Dim.AUTO), Dim("rows", min=3, max=9)
    pair = {0: 2 * rows - 2, 1: 2 * rows - 2}
    nested = {"x": {0: Dim.AUTO}, "more": {"counts": (Dim.AUTO, {"y": None})}}
    few, one = range(1, 13), range(3, 4)
    return {
        "branches": (Branches(), (6, 10, 5), (both, {0: Dim.AUTO}), (few, range(1, 15), range(4, 30, 7))),
        "decimals": (Decimals(), (100, 7, 10), (both, {0: Dim.AUTO}), (range(96, 104), range(1, 13), (10,))),
        "decimals_too": (Decimals(), (105, 5, 10), (both, {0: Dim.AUTO}), (range(96, 108), range(5, 8), (9, 10, 11))),
        "equal": (Equal(), (5, 5, 5), (both, {0: Dim.AUTO}), (range(1, 5),) * 3),
        "of_range": (OfRange(), (5, 3, 10), ({0: rows}, {0: 2 * rows}), (few, one, range(2, 26, 2))),
        "of_hidden": (Apart(), (8, 8, 16), (pair, {0: 3 * rows + 1}), (range(2, 19, 2),) * 2 + (range(7, 33, 3),)),
        "of_numbers": (OfNumbers(), (4, 3, 5), nested, (range(2, 5), one, range(2, 10))),
    }  # fmt: skip


def main() -> None:
    """Write the files."""
    arrays = {}
    for name, (model, example, dynamic, tried) in programs().items():
        args, kwargs = _nested(name, example)
        program = torch.export.export(model, args, kwargs, dynamic_shapes=dynamic)
        module, found = program.module(), []
        for numbers in itertools.product(*tried):
            args, kwargs = _nested(name, numbers)
            try:
                found.append((*numbers, 1, float(module(*args, **kwargs).sum())))
            except (AssertionError, ZeroDivisionError):
                found.append((*numbers, 0, 0.0))
        arrays[name] = np.array(found)
        (FILES / f"guards_{name}.pt2").write_bytes(stripped(program))
    np.savez_compressed(FILES / "guards.npz", **arrays)


def _nested(name: str, numbers: Sequence[int]) -> tuple[Any, Any]:
    """The positional and the named inputs."""
    flat = [torch.from_numpy(x) for x in inputs_of(name, numbers)]
    if name == "of_numbers":
        return (flat[0],), {"more": {"counts": (int(flat[1]), {"y": flat[2]})}}
    return tuple(flat), {}


if __name__ == "__main__":
    with torch.no_grad():
        main()
