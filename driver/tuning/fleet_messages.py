"""The messages between a tuner and its workers: a worker's identity, arrays, times.

All are JSON and bytes, checked when they are read. Only Dask itself uses pickle.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache, cached_property
from hashlib import sha256
from importlib.metadata import version
from math import isfinite, prod
from pathlib import Path
from typing import Any

import numpy as np

from ... import __version__
from ...dialects.builtin import ModuleOp
from ...ir.diagnostics import NncError
from ...ir.syntax.parser import parse_module
from ...targets.attribute import TARGET, detailed, target_of, to_attribute
from ...targets.base import Target
from .worker import Answer, Pairs


class MessageError(ValueError):
    """A message that no worker of this version sends."""


# -- who a worker is -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Identity:
    """A worker: the target that it measures for, its processor, and its version of nnc.

    `target` is the text of an empty module for the target, with the machine's numbers as calibrated
    there.
    """

    target: str
    processor: str
    nnc: str

    @staticmethod
    def of(target: Target, processor: str) -> Identity:
        """The identity of this process as a worker."""
        module = ModuleOp.of([])
        module.attributes[TARGET] = to_attribute(target)
        return Identity(str(module), processor, this_nnc())

    @staticmethod
    def read(message: Any) -> Identity:
        """An identity from a message. Raises MessageError."""
        names = [field.name for field in fields(Identity)]
        if not isinstance(message, Mapping) or sorted(message) != sorted(names):
            raise MessageError("it does not say who it is")
        if not all(isinstance(text, str) for text in message.values()):
            raise MessageError("it does not say who it is")
        found = Identity(**message)
        try:
            _ = found.measured
        except NncError as error:
            raise MessageError(f"its target is not known here: {error.message}") from None
        return found

    def message(self) -> dict[str, str]:
        """The identity as a message."""
        return asdict(self)

    @cached_property
    def measured(self) -> Target:
        """The target of its experiments. Raises NncError."""
        module = parse_module(self.target, "the worker's target")
        if TARGET not in module.attributes:
            raise NncError("the worker's description names no target")
        return target_of(module)

    @cached_property
    def machine(self) -> str:
        """The target's key under which schedules are stored."""
        return detailed(self.measured)


@cache
def this_nnc() -> str:
    """A digest that tells versions of nnc's code apart."""
    root = Path(__file__).parent.parent.parent
    digest = sha256()
    floors = ("ir", "dialects", "runtime", "artifacts", "targets", "passes", "kernels", "memory")
    for floor in (*floors, "lowering", "driver"):
        for path in sorted((root / floor).rglob("*")):
            if path.suffix in (".py", ".mlir", ".lark"):
                digest.update(f"{path.relative_to(root)}\n".encode() + path.read_bytes())
    return f"{__version__}, LLVM {version('llvmlite')}, {digest.hexdigest()[:12]}"


# -- arrays ----------------------------------------------------------------------------------------


def packed(arrays: Mapping[str, Any]) -> bytes:
    """Arrays of numbers by name, as bytes. Raises NncError for other values."""
    rows, parts = [], []
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "biufcV":
            raise NncError(
                f"input '{name}' is not an array of numbers, which a fleet's workers need"
            )
        rows.append([name, str(array.dtype), list(array.shape)])
        parts.append(np.ascontiguousarray(array).tobytes())
    return json.dumps(rows).encode() + b"\n" + b"".join(parts)


def unpacked(data: bytes) -> dict[str, np.ndarray]:
    """The arrays from the bytes of `packed`. Raises MessageError."""
    import ml_dtypes  # noqa: F401  # NumPy then knows the names of its types

    header, _, rest = data.partition(b"\n")
    found: dict[str, np.ndarray] = {}
    try:
        for name, kind, shape in json.loads(header):
            dtype = np.dtype(kind)
            if dtype.kind not in "biufcV" or dtype.hasobject or min([0, *shape]) < 0:
                raise ValueError(kind)
            size = prod(shape) * dtype.itemsize
            found[name] = np.frombuffer(rest[:size], dtype).reshape(shape).copy()
            rest = rest[size:]
    except (ValueError, TypeError, RecursionError) as error:
        raise MessageError(f"arrays that cannot be read ({error})") from None
    if rest:
        raise MessageError("more bytes than the arrays have")
    return found


# -- times -----------------------------------------------------------------------------------------


def answer_message(answer: Answer) -> dict[str, Any]:
    """An answer as a message."""
    return asdict(answer)


def read_answer(message: Any) -> Answer:
    """An answer from a message. Raises MessageError if it is invalid or has impossible times."""
    try:
        kernels = {str(name): _pairs(pairs) for name, pairs in message["kernels"].items()}
        whole, wrong, processor = _pairs(message["whole"]), message["wrong"], message["processor"]
        faults = {str(key): str(fault) for key, fault in message["faults"].items()}
    except (TypeError, KeyError, AttributeError, ValueError) as error:
        raise MessageError(f"an answer that cannot be read ({error})") from None
    if not isinstance(wrong, str) or not isinstance(processor, str):
        raise MessageError("an answer that cannot be read")
    if not (whole or wrong or faults) or any(len(one) != len(whole) for one in kernels.values()):
        raise MessageError("an answer in which times are missing")
    return Answer(kernels, whole, wrong, faults, processor)


def _pairs(message: Any) -> Pairs:
    found = [(float(a), float(b)) for a, b in message]
    if not all(isfinite(a) and isfinite(b) and a >= 0 and b >= 0 for a, b in found):
        raise ValueError("a time that is none")
    return found
