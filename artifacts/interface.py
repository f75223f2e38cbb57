"""A model's interface as data, for generating bindings and the JSON description."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from ..ir.types import TensorType
from ..runtime.abi import ALIGNMENT, FIRST_FAILURE
from ..runtime.program import Signature

BYTES = {
    "f8E4M3FN": "float8_e4m3fn",
    "f8E4M3FNUZ": "float8_e4m3fnuz",
    "f8E5M2": "float8_e5m2",
    "f8E5M2FNUZ": "float8_e5m2fnuz",
    "f8E8M0FNU": "float8_e8m0fnu",
    "f4E2M1FN": "float4_e2m1fn",
    "i4": "int4",
    "ui4": "uint4",
    "i2": "int2",
    "ui2": "uint2",
}
"""The usual names of element types of at most one byte."""

BELOW_A_BYTE = frozenset(name for name in BYTES if not name.startswith("f8"))
"""The element types of less than a byte, which use its low bits."""


@dataclass(frozen=True)
class TensorInterface:
    """An input or output.

    `type` is the IR's name of the element type, `f32` or `i1`; `shape` has None for an extent known
    only at run time, and `dims` the names of such extents, if they have any.
    """

    name: str
    type: str
    shape: tuple[int | None, ...]
    dims: tuple[str | None, ...]

    @property
    def fixed(self) -> bool:
        """Whether all extents are known; otherwise the library allocates the output."""
        return None not in self.shape

    @property
    def count(self) -> int:
        """The number of elements; unknown extents count as 1."""
        return prod(extent for extent in self.shape if extent is not None)

    def shape_text(self) -> str:
        """The shape in words: `batch x 3 x 224 x 224`, with `?` for unnamed extents."""
        extents = [
            (name or "?") if extent is None else str(extent)
            for extent, name in zip(self.shape, self.dims, strict=True)
        ]
        return " x ".join(extents) or "scalar"

    def as_json(self) -> dict[str, Any]:
        """The entry of the JSON file. `dims` is included if a dimension has a name.

        `element_bytes` is included if an element of fewer bits is stored in the low bits of a byte.
        """
        about: dict[str, Any] = {"name": self.name, "type": self.type, "shape": list(self.shape)}
        if self.type in BELOW_A_BYTE:
            about["element_bytes"] = 1
        return about | ({"dims": list(self.dims)} if any(self.dims) else {})


@dataclass(frozen=True)
class Interface:
    """The interface of a library for its callers. Units: bytes.

    `prefix` starts the library's C names; `weights` says whether they are `inside` the library or
    `beside` it, in a file.
    """

    prefix: str
    target: str
    inputs: tuple[TensorInterface, ...]
    outputs: tuple[TensorInterface, ...]
    arena_bytes: int
    live_bytes: int
    weights_bytes: int
    prepared_bytes: int
    prepare_arena_bytes: int
    weights: str
    failures: tuple[str, ...] = ()
    """The messages, each with its node, for the statuses from FIRST_FAILURE on."""

    @staticmethod
    def of(found: Signature, prefix: str, target: str, *, inside: bool) -> Interface:
        """The interface of a program with this signature, compiled for `target`."""
        return Interface(
            prefix,
            target,
            _tensors(found.input_names, found.input_types, found.input_dims),
            _tensors(found.output_names, found.output_types, found.output_dims),
            found.arena_bytes,
            found.live_bytes,
            found.weights_bytes,
            found.prepared_bytes,
            found.prepare_arena_bytes,
            "inside" if inside else "beside",
            tuple(found.failures),
        )

    def as_json(self) -> dict[str, Any]:
        """The JSON file beside a library. Outputs say who allocates them."""
        outputs = [
            one.as_json() | {"allocated_by": "caller" if one.fixed else "library"}
            for one in self.outputs
        ]
        return vars(self) | {
            "inputs": [one.as_json() for one in self.inputs],
            "outputs": outputs,
            "alignment": ALIGNMENT,
            "failures": [
                {"status": FIRST_FAILURE + number, "message": message}
                for number, message in enumerate(self.failures)
            ],
        }


def _tensors(
    names: Sequence[str], types: Sequence[TensorType], dims: Sequence[Sequence[str]]
) -> tuple[TensorInterface, ...]:
    """Tensors by name and type; `dims` has the dimensions' names of each, or is empty."""
    return tuple(
        TensorInterface(
            name,
            str(type.element_type),
            type.shape,
            tuple(
                known if extent is None and known else None
                for extent, known in zip(type.shape, named, strict=True)
            ),
        )
        for name, type, named in zip(
            names, types, dims or [[""] * type.rank for type in types], strict=True
        )
    )
