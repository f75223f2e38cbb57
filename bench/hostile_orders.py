"""Malicious orders: inputs made to do harm, requests for other users' data."""

from __future__ import annotations

import io
import pickle
import random
import struct
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .hostile_archives import WRITTEN, Upload

TARGET = "c-cortex-m7"
"""A target without measurements, so that a package takes no longer than reading its inputs."""
Order = Mapping[str, Any]


class Inputs:
    """Makes files of inputs for a model with one input `name` of shape [64] in f32.

    `secrets` are paths of other users' files, `address` is where they try to connect.
    """

    def __init__(self, name: str, secrets: Sequence[Path], address: tuple[str, int]) -> None:
        self._name, self._secrets, self._address = name, secrets, address
        self.kinds: Sequence[Callable[[random.Random], bytes]] = (
            self.pickled,
            self.bomb,
            self.huge_header,
            self.evil_header,
            self.other_arrays,
            self.paths,
            self.cut,
            self.odd_values,
        )

    def upload(self, choice: random.Random) -> Upload:
        """A file name and one of the kinds of files."""
        return choice.choice(["in.npz", "x.npz", "-rf.npz"]), choice.choice(self.kinds)(choice)

    def pickled(self, choice: random.Random) -> bytes:
        """An array of objects whose pickle runs a program."""
        code = choice.choice(
            [
                f"import socket; socket.create_connection({self._address!r})",
                f"print(open({str(self._secrets[0])!r}).read())",
                f"open('{WRITTEN}', 'w')",
            ]
        )
        made = io.BytesIO()
        np.lib.format.write_array_header_1_0(
            made, {"descr": "|O", "fortran_order": False, "shape": (64,)}
        )
        return self._archive(made.getvalue() + pickle.dumps(_Runs(code)))

    def bomb(self, choice: random.Random) -> bytes:
        """Zeros that compress to a thousandth of their size, with a right or a wrong header."""
        shape = choice.choice([(64,), (1 << 26,), (1, 1 << 26)])
        return self._archive(_header(shape) + bytes(1 << 26), zipfile.ZIP_DEFLATED)

    def huge_header(self, choice: random.Random) -> bytes:
        """Headers with shapes beyond memory, negative sizes, and too many dimensions."""
        shapes = [(1 << 40, 1 << 20), (-1, 8), (1 << 62, 1 << 62), (1,) * 200, (0, 1 << 60)]
        return self._archive(_header(choice.choice(shapes)) + bytes(256))

    def evil_header(self, choice: random.Random) -> bytes:
        """Headers that run code if evaluated, never end, or are missing."""
        text = choice.choice(
            [
                f"__import__('os').system('touch {WRITTEN}')",
                "(" * 5000,
                "{'descr': [('a', '<f4')] , 'fortran_order': 1, 'shape': ()}",
                "{'descr': '<f4', 'fortran_order': False, 'shape': (64,), 'more': 1}",
                "{'descr': '<U99999999', 'fortran_order': False, 'shape': (8,)}",
            ]
        )
        size = choice.choice([len(text), 65535])
        return self._archive(b"\x93NUMPY\x01\x00" + struct.pack("<H", size) + text.encode())

    def other_arrays(self, choice: random.Random) -> bytes:
        """Arrays of other types, shapes and names than the model's."""
        made = choice.choice(
            [
                np.zeros((64,), np.complex64),
                np.zeros((64,), "M8[s]"),
                np.zeros((64, 1), np.float32),
                np.zeros((), np.float32),
                np.full((64,), "text"),
            ]
        )
        file = io.BytesIO()
        np.save(file, made)
        return self._archive(file.getvalue(), name=choice.choice([self._name, "y", "file", ""]))

    def paths(self, choice: random.Random) -> bytes:
        """Entries whose names are paths, repeated, or links."""
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as archive:
            for name in (f"../../../..{WRITTEN}", str(WRITTEN), f"a/{self._name}.npy", "x\n"):
                archive.writestr(name, _header((64,)) + bytes(256))
            link = zipfile.ZipInfo(f"{self._name}.npy")
            link.external_attr = 0o120777 << 16
            archive.writestr(link, str(choice.choice(self._secrets)))
        return made.getvalue()

    def cut(self, choice: random.Random) -> bytes:
        """A truncated or damaged file."""
        made = bytearray(self._archive(_header((64,)) + bytes(256)))
        for _ in range(choice.randrange(4)):
            made[choice.randrange(len(made))] = choice.randrange(256)
        return bytes(made[: choice.randrange(1, len(made) + 1)])

    def odd_values(self, choice: random.Random) -> bytes:
        """A valid file with special numbers."""
        value = choice.choice([np.nan, np.inf, -np.inf, 1e-45, 3e38])
        return self._archive(_header((64,)) + np.full(64, value, np.float32).tobytes())

    def _archive(self, content: bytes, how: int = zipfile.ZIP_STORED, name: str = "") -> bytes:
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", how) as archive:
            archive.writestr(f"{name or self._name}.npy", content)
        return made.getvalue()


class _Runs:
    """An object that runs a program when it is unpickled."""

    def __init__(self, code: str) -> None:
        self._code = code

    def __reduce__(self) -> tuple[Any, ...]:
        return exec, (self._code,)


def _header(shape: tuple[int, ...]) -> bytes:
    made = io.BytesIO()
    about = {"descr": "<f4", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_2_0(made, about)
    return made.getvalue()


def refused_orders(choice: random.Random, foreign: str) -> Order:
    """An order that must be refused; `foreign` is a file of another user."""
    good = {"targets": [TARGET], "precisions": ["f32"], "threads": [1], "seconds": 0}
    return good | choice.choice(
        [
            {"targets": ["--help"]},
            {"targets": [f"host; touch {WRITTEN}"]},
            {"targets": [TARGET, TARGET]},
            {"targets": []},
            {"targets": ["x" * 201]},
            {"targets": [f"t{i}" for i in range(65)]},
            {"precisions": ["../f32"]},
            {"precisions": [None]},
            {"threads": [0]},
            {"threads": [-1]},
            {"threads": [1 << 70]},
            {"threads": [1.5]},
            {"threads": "1"},
            {"seconds": -1},
            {"seconds": 1 << 80},
            {"seconds": "NaN"},
            {"engines": ["nnc\x00"]},
            {"engines": ["$(id)"]},
            {"inputs": foreign},
            {"inputs": "../../etc/passwd"},
            {"inputs": "A" * 22},
            {"inputs": {"$ne": None}},
            {"user": "bob"},
            {"model": foreign},
        ]
    )
