"""A converter's view of a TensorFlow node: its attributes by name and kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from inspect import signature
from typing import Any

from ...ir.core import Value
from ...ir.types import Type
from ..common.complexes import Pair, by_parts, constant_pair, is_complex
from ..common.graph import Node
from ..common.importer import NodeLayer
from ..common.rows import Convert, Rows
from ..common.strings import LookupTable
from ..wire.protobuf import Record, WireError
from .ignored import IGNORED, plain
from .lists import TensorList
from .schema import dtype_of, element_of, shape_of
from .variables import Variable
from .xla import converter, hlo_layer


class TfRows(Rows):
    """Rows whose annotations say of each operand whether it is a tensor, a list or a variable.

    Operands without annotation are tensors; `Any` accepts everything. Operators that only move
    elements (`MOVES`) are applied to both parts of complex numbers.
    """

    def __call__(self, *kinds: str) -> Callable[[Convert], Convert]:
        register = super().__call__(*kinds)

        def checked(function: Convert) -> Convert:
            converter = _checked(function)
            register(_of_pairs(by_parts(converter) if MOVES.intersection(kinds) else converter))
            return function

        return checked

    def find(self, kind: str) -> Convert | None:
        """The converter of an operator, also of StableHLO's; None if there is none."""
        return super().find(kind) or converter(kind)


def _of_pairs(converter: Convert) -> Convert:
    """The converter, given constants of complex elements as pairs, as other complex tensors are."""

    @wraps(converter)
    def convert(n: TfLayer, *inputs: Any) -> Any:
        return converter(n, *(constant_pair(n, v) if _is_constant_pair(v) else v for v in inputs))

    return convert


def _is_constant_pair(value: Any) -> bool:
    return isinstance(value, Value) and is_complex(value.type)


def _checked(function: Convert) -> Convert:
    parameters = list(signature(function).parameters.values())[1:]
    parameters = [p for p in parameters if p.kind is not p.KEYWORD_ONLY]
    wanted = [_KINDS.get(str(p.annotation).removesuffix(" | None"), _TENSOR) for p in parameters]

    @wraps(function)
    def convert(n: TfLayer, *inputs: Any) -> Any:
        for i, value in enumerate(inputs):
            kind, name = wanted[min(i, len(wanted) - 1)]
            if value is not None and not isinstance(value, kind):
                raise n.error(f"input {i} is not a {name}")
        return function(n, *inputs)

    return convert


MOVES = {
    "AddN", "BatchToSpaceND", "BiasAdd", "BroadcastTo", "ConcatV2", "Cumsum", "Diag", "DiagPart",
    "DynamicPartition", "DynamicStitch", "ExpandDims", "Fill", "GatherNd", "GatherV2",
    "MatrixBandPart", "MatrixDiag", "MatrixDiagPart", "MatrixDiagPartV2", "MatrixDiagPartV3",
    "MatrixDiagV2", "MatrixDiagV3", "MatrixSetDiag", "MatrixSetDiagV2", "MatrixSetDiagV3", "Mean",
    "MirrorPad", "Neg", "OneHot", "Pack", "Pad", "PadV2", "Reshape", "ReverseSequence",
    "ReverseV2", "Roll", "ScatterNd", "SegmentMean", "SegmentSum", "Select", "SelectV2", "Slice",
    "SpaceToBatchND", "Split", "SplitV", "Squeeze", "StridedSlice", "Sum", "TensorScatterAdd",
    "TensorScatterSub", "TensorScatterUpdate", "Tile", "Transpose", "Unpack",
    "UnsortedSegmentSum", "ZerosLike",
}  # fmt: skip
"""Operators that do the same to the real and to the imaginary part, each by itself."""

_TENSOR = (Value, "tensor")
_KINDS = {
    "Any": (object, "value"),
    "Pair": (Pair, "complex tensor"),
    "LookupTable": (LookupTable, "table"),
    "TensorList": (TensorList, "list"),
    "Variable": (Variable, "variable"),
}

rows = TfRows(__package__ or "", IGNORED)


class TfLayer(NodeLayer):
    """A node of TensorFlow's."""

    def unread(self) -> Iterator[tuple[str, Any]]:
        """The attributes that no converter has read, as Python values."""
        return ((name, plain(value)) for name, value in super().unread())

    def has(self, name: str) -> bool:
        """Whether the attribute is there."""
        return name in self.attributes

    def int(self, name: str, default: int | None = None) -> int:
        """An integer attribute. Raises NncError if it is missing and has no default."""
        found = self._of(name, "i", default is None)
        return default if found is None else found  # type: ignore[return-value]

    def float(self, name: str, default: float) -> float:
        """A number."""
        found = self._of(name, "f", False)
        return default if found is None else found

    def flag(self, name: str, default: bool = False) -> bool:
        """A truth value."""
        found = self._of(name, "b", False)
        return default if found is None else found

    def text(self, name: str, default: str = "", cases: tuple[str, ...] = ()) -> str:
        """A text attribute; one of `cases` if there are any. Raises NncError for others."""
        found = self._of(name, "s", False)
        text = default if found is None else bytes(found).decode("utf-8", "replace")
        if cases and text not in cases:
            raise self.error(f"attribute '{name}' is '{text}', expected one of {', '.join(cases)}")
        return text

    def texts(self, name: str) -> list[str]:
        """A list of strings."""
        found = self._of(name, "list", False)
        return [] if found is None else [bytes(s).decode("utf-8", "replace") for s in found.s]

    def ints(self, name: str) -> tuple[int, ...]:
        """A list of integers, empty where it is left out."""
        found = self._of(name, "list", False)
        return () if found is None else tuple(found.i)

    def element(self, name: str, default: Type | None = None) -> Type:
        """An element type, which must be there unless there is a default."""
        if default is not None and name not in self.attributes:
            return default
        number = self._of(name, "type", True)
        try:
            return element_of(number)
        except WireError as error:
            raise self.error(str(error)) from None

    def dtype(self, name: str) -> Any:
        """An element type attribute as NumPy's dtype."""
        self.element(name)
        return dtype_of(self._of(name, "type", True))

    def shape(self, name: str) -> tuple[int | None, ...] | None:
        """A shape, None for one of unknown rank."""
        return shape_of(self._of(name, "shape", False))

    def nhwc(self, x: Value) -> bool:
        """Whether channels are the last dimension."""
        layout = self.text("data_format", "NHWC")
        if layout not in ("NHWC", "NDHWC", "NCHW", "NCDHW", "NWC", "NCW"):
            raise self.error(f"attribute 'data_format' is '{layout}'")
        return layout[-1] == "C"

    def _of(self, name: str, kind: str, needed: bool) -> Any:
        found = self.attributes.get(name)
        if not isinstance(found, Record) or (not found.has(kind) and needed and kind != "i"):
            if needed:
                raise self.error(f"attribute '{name}' is missing")
            return None
        return getattr(found, kind)


def layer_of(importer: Any, node: Node) -> NodeLayer:
    """The layer for a node."""
    return hlo_layer(importer, node) or TfLayer(importer, node)
