"""Lowering of vector.mask: one operation under a mask."""

from __future__ import annotations

from typing import Any

from ...dialects import llvm, vector
from ...ir.core import Operation, Value
from ...ir.types import FloatType, IntegerType, VectorType
from .conversion import FunctionLowering, element_scalar, lowers
from .vectors import bind_rows


@lowers(vector.Mask)
def _mask(f: FunctionLowering, op: vector.Mask) -> None:
    masked = op.masked
    yielded = op.maskRegion.block.last
    assert yielded is not None
    if masked is not None:
        _lower_masked(f, op, masked)
    for result, value in zip(op.results, yielded._operands, strict=True):
        rows = f.rows(value)
        if masked is not None and op.passthru is not None:
            parts = zip(f.rows(op.mask), rows, f.rows(op.passthru), strict=True)
            rows = [f.emit(llvm.Select, list(part), part[1].type) for part in parts]
        if isinstance(result.type, VectorType):
            bind_rows(f, result, rows)
        else:
            f.bind(result, rows[0])


def _lower_masked(f: FunctionLowering, op: vector.Mask, masked: Operation) -> None:
    """The operation, with the mask where it could otherwise do what it must not."""
    match masked:
        case vector.TransferRead() | vector.TransferWrite():
            twin = masked.clone(with_regions=False)
            twin.mask = op.mask  # type: ignore[attr-defined]
            f.lower_op(twin)
            for old, new in zip(masked.results, twin.results, strict=True):
                f.values[old] = f.values[new]
            twin.drop_all_references()
        case vector.Reduction() | vector.MultiReduction():
            source = masked._operands[0]
            kept = f.values[source]
            f.values[source] = _or_neutral(f, op.mask, source, masked.kind)
            f.lower_op(masked)
            f.values[source] = kept
        case _:
            f.lower_op(masked)


def _or_neutral(f: FunctionLowering, mask: Value, source: Value, kind: str) -> Any:
    """The elements, those that are masked off replaced by what changes no combination."""
    rows = []
    for bits, row in zip(f.rows(mask), f.rows(source), strict=True):
        scalar = element_scalar(row.type)
        number = neutral(kind, scalar)
        make = f.number if isinstance(scalar, FloatType) else f.integer
        rows.append(f.emit(llvm.Select, [bits, row, make(number, row.type)], row.type))  # type: ignore[arg-type]
    return rows if len(rows) > 1 else rows[0]


def neutral(kind: str, scalar: Any) -> float | int:
    """What combined with a value gives the value."""
    if isinstance(scalar, FloatType):
        # The largest and smallest are of numbers that are not NaN, or NaN anyway.
        infinity = float("inf")
        return {"add": -0.0, "mul": 1.0}.get(
            kind, -infinity if kind.startswith("max") else infinity
        )
    assert isinstance(scalar, IntegerType)
    half = 1 << (scalar.width - 1)
    table = {"mul": 1, "and": -1, "minui": -1, "maxsi": -half, "minsi": half - 1}
    return table.get(kind, 0)
