"""Arrays in files: .npy, .npz, and ONNX's TensorProto (.pb)."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np

from ..dialects import nn
from ..ir.diagnostics import NncError
from ..ir.types import TensorType

_MAGIC = (b"\x93NUMPY", b"PK\x03\x04", b"PK\x05\x06")
"""The first bytes of .npy files, of archives, and of empty archives."""
_LARGE = 1 << 30
_TIMES = 100
"""An archive of more than _LARGE bytes unpacked is refused if it grows by more than this factor and
its right size is unknown: zeros compress so well, a model's numbers do not."""


def read_arrays(path: Path, most_bytes: int | None = None) -> dict[str, np.ndarray]:
    """The arrays of a file, by name.

    The arrays of an archive may have at most `most_bytes` bytes together, if that is given. Raises
    NncError, for a larger archive before unpacking it.
    """
    try:
        if path.suffix == ".pb":
            import onnx

            tensor = onnx.TensorProto.FromString(path.read_bytes())
            return {tensor.name: onnx.numpy_helper.to_array(tensor)}
        with path.open("rb") as file:
            if not file.read(len(_MAGIC[0])).startswith(_MAGIC):
                raise NncError(f"{path}: not a readable array file: expected .npy, .npz or .pb")
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {path.stem: loaded}
        with loaded:
            _check_size(path, loaded.zip, most_bytes)
            arrays = {name: loaded[name] for name in loaded.files}
    except OSError as error:
        raise NncError(f"cannot read '{path}': {error.strerror or error}") from None
    except NncError:
        raise
    except Exception as error:  # NumPy and protobuf raise many kinds for a broken file
        raise NncError(f"{path}: not a readable array file: {error}") from None
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray):
            raise NncError(f"{path}: '{name}' is not an array")
    return arrays


def _check_size(path: Path, archive: ZipFile, most_bytes: int | None) -> None:
    """Raise NncError if an archive's contents are larger than they should be."""
    inside = sum(one.file_size for one in archive.infolist())
    packed = path.stat().st_size
    heads = 4096 * len(archive.infolist())
    most = max(_LARGE, _TIMES * packed) if most_bytes is None else max(most_bytes, packed) + heads
    if inside > most:
        raise NncError(
            f"{path}: {packed:,} bytes that unpack to {inside:,}, where {most:,} are the most "
            "that is expected"
        )


WIDEST = 16
"""The most bytes of an element in a file, whatever type the model has for it."""


def most_bytes_of(type: Any) -> int | None:
    """The most bytes that the elements of a type take in a file; None if unknown."""
    if not isinstance(type, TensorType) or not type.has_static_shape or nn.is_strings(type):
        return None
    return type.num_elements * WIDEST
