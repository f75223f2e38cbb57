"""Reads or makes a model's inputs, and prints, saves or compares its outputs."""

from __future__ import annotations

import argparse
import errno
import io
import json
import math
import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import numpy as np

from ..dialects import nn
from ..dialects.marks import INPUT_NAMES, INPUT_STARTS
from ..driver.comparing.difference import flattened
from ..driver.hosting import entry_of
from ..ir.diagnostics import NncError
from ..ir.files import write_whole
from ..ir.numpy_types import number_kind, type_to_numpy
from ..ir.types import TensorType
from ..runtime.model import in_parts
from .array_files import most_bytes_of, read_arrays
from .command import Streams
from .host_values import (
    MOST_SHOWN,
    as_json,
    describe_value,
    from_json,
    random_value,
    read_json,
)

if TYPE_CHECKING:
    from ..ir.core import Operation
    from ..runtime.model import Model


def gather_inputs(
    executable: Model, args: argparse.Namespace, streams: Streams
) -> dict[str, np.ndarray]:
    """Inputs by name, from `--input` and `--random`; states may be left out.

    Raises NncError for a missing input.
    """
    names = list(executable.input_names)
    types = dict(zip(names, executable.input_types, strict=True))
    files = _files(args.input, names, streams)
    given: dict[str, np.ndarray] = {
        name: read_value(streams.path(file), types[name]) for name, file in files.items()
    }
    states = [n for n in executable.states if not (args.random and types[n].has_static_shape)]
    missing = [n for n in names if n not in given and n not in states]
    if missing and not args.random:
        listed = ", ".join(f"{n}: {types[n]}" for n in missing)
        raise NncError(f"nnc: no value for {listed}; give --input or --random")
    generator = np.random.default_rng(args.seed)
    for name in missing:
        make = partial(random_array, generator=generator, name=name)
        given[name] = random_value(types[name], generator, make)
    return given


def _files(texts: Sequence[str], names: Sequence[str], streams: Streams) -> dict[str, str]:
    """The files of `--input` by the names of inputs.

    Raises NncError for too many files, and for an unknown input name.
    """
    found: dict[str, str] = {}
    free = iter(names)
    for text in texts:
        name, equals, file = text.partition("=")
        if not equals or name not in names:
            if equals and not streams.path(text).exists() and streams.path(file).exists():
                listed = ", ".join(f"'{one}'" for one in names) or "none"
                raise NncError(
                    f"nnc: --input {text}: no input is called '{name}'; there are: {listed}"
                )
            name, file = next((n for n in free if n not in found), ""), text
            if not name:
                raise NncError(f"nnc: '{text}' is one input too many; the model has {len(names)}")
        found[name] = file
    return found


def check_inputs(module: Operation, args: argparse.Namespace, streams: Streams) -> None:
    """Raise NncError if `gather_inputs` will, as far as the module and the folders show it."""
    entry = entry_of(module)
    if entry is None or INPUT_NAMES not in entry.attributes:
        return
    names = [name.value for name in entry.attributes[INPUT_NAMES]]
    starts = [text.value for text in entry.attributes.get(INPUT_STARTS, ())]
    files = _files(args.input, names, streams)
    for file in files.values():
        check_readable(streams.path(file))
    # Behind the inputs, an entry on buffers has its outputs.
    for i, (name, type) in enumerate(zip(names, entry.function_type.inputs, strict=False)):
        if name in files or (starts and starts[i]) or not isinstance(type, TensorType):
            continue
        if not args.random:
            raise NncError(f"nnc: no value for {name}: {type}; give --input or --random")
        _check_shape(type, name)


def _check_shape(type: TensorType, name: str) -> None:
    if not type.has_static_shape:
        raise NncError(f"input '{name}' is {type}: give its shape with --shape {name}=..")


def check_readable(path: Path) -> None:
    """Raise NncError if a file is missing, a folder, or not to be read; it is not opened, as what
    comes from a pipe can be read only once.
    """
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        path.stat()
        if not os.access(path, os.R_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise NncError(f"cannot read '{path}': {error.strerror or error}") from None


def read_value(path: Path, type: Any) -> Any:
    """A value of a type, read from a file; see `host_values`. Raises NncError."""
    if path.suffix == ".json":
        return from_json(read_json(path), type, path.name)
    arrays = list(read_arrays(path, most_bytes_of(type)).values())
    if isinstance(type, nn.OptionalType):
        type = type.element
    if isinstance(type, nn.SequenceType):
        return arrays
    if len(arrays) != 1:
        raise NncError(f"{path.name}: one array expected, found {len(arrays)}")
    return arrays[0]


def random_array(type: TensorType, generator: np.random.Generator, name: str) -> np.ndarray:
    """Random elements: standard normal floats; 0 or 1 for integers and bools (valid indices)."""
    _check_shape(type, name)
    dtype = type_to_numpy(type.element_type)
    try:
        if number_kind(dtype) in "biu":
            return generator.integers(0, 2, type.shape).astype(dtype)
        return generator.standard_normal(type.shape, dtype=np.float32).astype(dtype)
    except (MemoryError, ValueError):  # NumPy's two ways to say it
        size = math.prod(type.shape) * dtype.itemsize
        message = f"input '{name}' ({type}) takes {size / 1e9:,.0f} GB, more than there is"
        raise NncError(message) from None


def read_expected(path: Path, executable: Model) -> dict[str, Any]:
    """The outputs by name that a file holds. Raises NncError."""
    if path.suffix != ".json":
        sizes = [most_bytes_of(type) for type in executable.output_types]
        known = sum(size or 0 for size in sizes) if None not in sizes else None
        return dict(read_arrays(path, known))
    types = dict(zip(executable.output_names, executable.output_types, strict=True))
    found = read_json(path)
    if not isinstance(found, dict):
        raise NncError(f"{path}: an object with the outputs by name is expected")
    return {
        name: from_json(value, types[name], name) if name in types else np.asarray(value)
        for name, value in found.items()
    }


def save_outputs(path: Path, outputs: Mapping[str, Any]) -> None:
    """Save outputs as .npy for one, as .npz for several, or as .json for values of any kind.

    In JSON, complex numbers have a further dimension of both parts.
    """
    buffer = io.BytesIO()
    if path.suffix == ".json":
        plain = {n: in_parts(v) if _is_complex(v) else v for n, v in outputs.items()}
        text = json.dumps({name: as_json(value) for name, value in plain.items()}, indent=1)
        write_whole(path, f"{text}\n".encode())
        return
    if path.suffix == ".npy" and not all(isinstance(v, np.ndarray) for v in outputs.values()):
        raise NncError(f"an output is not a tensor: name an .npz or .json file, not '{path}'")
    outputs = flattened(outputs)
    if path.suffix == ".npz":
        with ZipFile(buffer, "w") as archive:  # an output may be called as a parameter of savez
            for name, value in outputs.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, np.asarray(value))
    elif len(outputs) == 1:
        np.save(buffer, next(iter(outputs.values())))
    else:
        raise NncError(f"the model has {len(outputs)} outputs: name an .npz file, not '{path}'")
    write_whole(path, buffer.getvalue())


def describe(name: str, array: Any) -> str:
    """One line with name, type, range and first values; several lines for a sequence."""
    if (line := describe_value(name, array)) is not None:
        parts = array[:MOST_SHOWN] if isinstance(array, list) else []
        return "\n".join([line, *(describe(f"{name}[{i}]", one) for i, one in enumerate(parts))])
    shape = "x".join(map(str, array.shape))
    head = f"{name}: {array.dtype}[{shape}]"
    if not array.size:
        return head
    flat = array.reshape(-1)
    values = " ".join(_number(v) for v in flat[:5]) + (" .." if flat.size > 5 else "")
    if number_kind(array.dtype) in "biu":
        flat = flat if array.dtype.kind in "biu" else flat.astype(np.int64)
        return f"{head} min {flat.min()} max {flat.max()}: {values}"
    if array.dtype.kind == "c":
        sizes = np.abs(flat.astype(np.complex128))
        return f"{head} magnitude min {sizes.min():.6g} max {sizes.max():.6g}: {values}"
    wide = flat.astype(np.float64)
    return f"{head} min {wide.min():.6g} max {wide.max():.6g} mean {wide.mean():.6g}: {values}"


def _is_complex(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "c"


def _number(value: Any) -> str:
    if isinstance(value, np.complexfloating):
        return f"{complex(value):.6g}"
    return (
        f"{float(value):.6g}" if number_kind(np.asarray(value).dtype) not in "biu" else str(value)
    )


def compare(
    outputs: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray], tolerance: float
) -> list[str]:
    """Complaints about outputs whose errors exceed `tolerance` of the largest expected value."""
    outputs, expected = flattened(outputs), flattened(expected)
    if not expected:
        return ["no output is expected"]
    if len(outputs) == len(expected) == 1:
        expected = {next(iter(outputs)): next(iter(expected.values()))}
    complaints = []
    for name, want in expected.items():
        got = outputs.get(name)
        if got is not None and got.dtype.kind == "c" and want.shape == (*got.shape, 2):
            got = in_parts(got)
        if got is None or got.shape != want.shape:
            found = "no such output" if got is None else f"shape {got.shape}"
            complaints.append(f"{name}: expected shape {want.shape}, found {found}")
            continue
        if want.dtype.kind == "U":
            if got.tolist() != want.tolist():
                complaints.append(f"{name}: other text than expected")
            continue
        if not (error := _relative_error(got, want)) <= tolerance:
            complaints.append(f"{name}: relative error {error:.3g} exceeds {tolerance:g}")
    return complaints


def _relative_error(got: np.ndarray, want: np.ndarray) -> float:
    """The largest difference relative to the largest finite value; infinite if NaN or infinities
    differ.
    """
    kind = np.complex128 if "c" in (got.dtype.kind, want.dtype.kind) else np.float64
    got, want = got.astype(kind), want.astype(kind)
    finite = np.isfinite(got) & np.isfinite(want)
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    if not (finite | same).all():
        return math.inf
    scale = float(np.max(np.abs(want[finite]), initial=0.0)) or 1.0
    return float(np.max(np.abs(got - want)[finite], initial=0.0)) / scale
