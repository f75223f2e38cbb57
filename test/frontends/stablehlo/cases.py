"""The stored cases: functions of JAX as text, with inputs and JAX's own results."""

import io
import tarfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np

FILES = Path(__file__).parent / "files"

LOOSE = {
    "dot_bf16": 2e-3,  # JAX does not round where the text says so
}
"""Other tolerances than 1e-4 of the largest value."""


@cache
def archive(name: str) -> Mapping[str, bytes]:
    """All files of an archive by name."""
    with tarfile.open(FILES / f"{name}.tar.xz") as archive:
        members = ((m.name, archive.extractfile(m)) for m in archive.getmembers())
        return {name: file.read() for name, file in members if file is not None}


def stored() -> Mapping[str, bytes]:
    """The functions as text, with inputs and results."""
    return archive("cases")


def names() -> list[str]:
    """The names of all cases."""
    return sorted(name.removesuffix(".mlir") for name in stored() if name.endswith(".mlir"))


def text(name: str) -> str:
    """A case's text as JAX wrote it."""
    return stored()[f"{name}.mlir"].decode()


def arrays(name: str) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """A case's inputs and results."""
    found = np.load(io.BytesIO(stored()[f"{name}.npz"]))
    lists = [], []
    for key in found.files:
        lists[key.startswith("out")].append(found[key])
    return lists
