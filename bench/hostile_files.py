"""Broken and malicious uploads: damaged valid files of every format, and files made to do harm."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from fuzz.broken import broken

from .hostile_archives import Archives, Upload
from .hostile_models import Models

_ROOT = Path(__file__).resolve().parent.parent
_LARGEST = 200_000
"""The most bytes of a valid file that is damaged."""
_MOST = 20
"""The number of files of each format, the smallest ones, as those that stay valid are compiled."""
_SUFFIXES = (
    ".onnx", ".pb", ".tflite", ".gguf", ".cfg", ".prototxt", ".caffemodel", ".keras", ".h5", ".pt2",
    ".json", ".param", ".mlmodel", ".txt", ".ubj", ".pdmodel", ".mlir", ".zip",
)  # fmt: skip
_CRAFTED, _CUT = 0.4, 0.2
"""The parts of all uploads that are made to do harm, and that are truncated."""
_CHANGES = (1, 3, 9)
"""The possible numbers of changes to a file; after one change it is often still valid."""


def seeds() -> dict[str, list[Upload]]:
    """Valid files by extension, from the tests of front ends and from onnx itself."""
    import onnx

    folders = [
        _ROOT / "test" / "frontends",
        Path(onnx.__file__).parent / "backend/test/data/simple",
    ]
    found: dict[str, list[Upload]] = {}
    for path in (path for folder in folders for path in sorted(folder.rglob("*"))):
        if path.suffix in _SUFFIXES and path.is_file() and path.stat().st_size <= _LARGEST:
            found.setdefault(path.suffix, []).append((path.name, path.read_bytes()))
    return {
        suffix: sorted(some, key=lambda one: len(one[1]))[: max(3, min(_MOST, len(some) // 2))]
        for suffix, some in found.items()
    }


class Hostile:
    """Makes uploads, the same for the same number and `seed`. `secrets` are paths that they try to
    read, `address` is where they try to connect.
    """

    def __init__(
        self, secrets: Sequence[Path], address: tuple[str, int], seed: str = "hostile"
    ) -> None:
        self._seed, self._seeds = seed, seeds()
        every = [one for some in self._seeds.values() for one in some]
        self._crafted: Sequence[Callable[[random.Random], Upload]] = (
            *Archives(every, secrets, address).kinds,
            *Models(every, secrets).kinds,
        )

    def upload(self, number: int) -> Upload:
        """An upload: six of ten are damaged or truncated, all formats alike; the rest are made to
        do harm.
        """
        choice = random.Random(f"{self._seed} {number}")
        way = choice.random()
        if way < _CRAFTED:
            return choice.choice(self._crafted)(choice)
        name, data = choice.choice(self._seeds[choice.choice(sorted(self._seeds))])
        if way < _CRAFTED + _CUT:
            return name, data[: choice.randrange(len(data) + 1)] or b"\0"
        with suppress(Exception):  # what is no archive any more cannot be changed as one
            for _ in range(choice.choice(_CHANGES)):
                data = broken(data, choice) or b"\0"
        return name, data


def spread(folder: Path, text: str) -> list[Path]:
    """Write files with a secret to places where other users' files would be;
    returns their paths.
    """
    paths = [folder / "secret.txt", folder / "other" / "secret.bin"]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text * 64)
        os.chmod(path, 0o644)
    return paths
