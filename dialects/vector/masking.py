"""Semantics of vector.mask on NumPy values, for the operations that may be masked."""

from __future__ import annotations

from ..vocabulary import *
from .compute import MultiReduction, Reduction
from .transfers import TransferRead, TransferWrite


def run_masked(op: Any, operands: list[Any], frame: Any) -> list[Any]:
    """The results of a vector.mask; `operands` are the mask and, if any, the passthru."""
    mask, passthru = operands[0], operands[1] if len(operands) > 1 else None
    masked = op.masked
    if masked is None:
        return [frame.value(v) for v in op.maskRegion.block.last.operands]
    values = [frame.value(v) for v in masked.operands]
    match masked:
        case TransferRead() | TransferWrite():
            # The mask goes where the op's own would be: last.
            results = _with_mask(masked, values, mask, frame)
        case Reduction():
            return [_masked_reduction(masked, values, mask)]
        case MultiReduction():
            return [_masked_multi_reduction(masked, values, mask)]
        case _:
            results = frame.run_op(masked, values)
    if passthru is not None and results:
        return [np.where(mask, results[0], passthru).astype(results[0].dtype)]
    return list(results)


def _with_mask(masked: Operation, values: list[Any], mask: Any, frame: Any) -> list[Any]:
    twin = masked.clone()
    twin.mask = _placeholder(mask)  # type: ignore[attr-defined]
    results = twin.interpret([*values, mask], frame)  # type: ignore[attr-defined]
    twin.drop_all_references()
    return results


def _placeholder(mask: Any) -> Any:
    """A value that only stands for an operand, so that the clone counts its operands right."""
    return Value(VectorType(mask.shape, i1))


def _masked_reduction(op: Reduction, values: list[Any], mask: Any) -> Any:
    vector, *acc = values
    kept = vector[mask]
    if not len(kept):
        return acc[0] if acc else neutral(op.kind, vector.dtype)
    return op.evaluate(kept, *acc)


def _masked_multi_reduction(op: MultiReduction, values: list[Any], mask: Any) -> Any:
    source, acc = values
    blank = neutral(op.kind, source.dtype)
    return op.evaluate(np.where(mask, source, blank).astype(source.dtype), acc)


def neutral(kind: str, dtype: Any) -> Any:
    """The identity element of a kind of combination."""
    dtype = np.dtype(dtype)
    if kind in ("add", "or", "xor", "maxui"):
        return dtype.type(0)
    if kind == "mul":
        return dtype.type(1)
    if kind in ("and", "minui"):
        return dtype.type(True) if dtype.kind == "b" else np.invert(dtype.type(0))
    lowest = kind.startswith("max")
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return dtype.type(info.min if lowest else info.max)
    return dtype.type(-np.inf if lowest else np.inf)
