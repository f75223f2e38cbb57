"""Run structured ops on NumPy arrays, many points of the iteration space at a time if possible.

Every operand becomes a strided view with an axis for each dimension of the iteration space (of
extent 1 where its map does not use the dimension), so that the body's operations, which are
elementwise, compute all points at once. A reduction whose body ends in `combine(term, out)` is
computed along axes; for another one, the points of the reduced dimensions are visited in turn. A
body with control flow or calls is run for one point after the other.
"""

from __future__ import annotations

import itertools
import math

from .. import memref, tensor
from ..vocabulary import *

_INDEX = "linalg.index"

_POINTS_AT_ONCE = 1 << 22
"""The largest size of intermediate arrays, in elements."""

_REDUCERS = {
    "arith.addf": "add",
    "arith.addi": "add",
    "arith.mulf": "multiply",
    "arith.muli": "multiply",
    "arith.maximumf": "maximum",
    "arith.minimumf": "minimum",
    "arith.maxnumf": "fmax",
    "arith.minnumf": "fmin",
    "arith.maxsi": "maximum",
    "arith.minsi": "minimum",
    "arith.andi": "bitwise_and",
    "arith.ori": "bitwise_or",
}


def run(op: Any, operands: list[Any], frame: Any) -> list[Any]:
    """Execute a structured op: write the buffers in place, and return the result tensors."""
    count = len(op.inputs)
    outputs = [
        a.copy() if isinstance(v.type, TensorType) else a
        for v, a in zip(op.outputs, operands[count:], strict=True)
    ]
    arrays = [*operands[:count], *outputs]
    sizes = _sizes(op, arrays)
    if 0 not in sizes:
        if all(map(_vectorizes, op.body_block)) and all(map(_is_direct, op.maps[count:])):
            _Vectorized(op, arrays, sizes, frame).run()
        else:
            _point_by_point(op, arrays, sizes, frame)
    pairs = zip(op.outputs, outputs, strict=True)
    return [array for value, array in pairs if isinstance(value.type, TensorType)]


def _sizes(op: Any, arrays: Sequence[Any]) -> list[int]:
    """The extent of each dimension, from the operands that a bare dimension indexes."""
    sizes: list[int | None] = [None] * len(op.iterators)
    for map_, array in zip(op.maps, arrays, strict=True):
        for e, n in zip(map_.results, getattr(array, "shape", ()), strict=True):
            if not isinstance(e, AffineDim):
                continue
            if sizes[e.position] not in (None, n):
                raise NncError(
                    f"'{op.name}': dimension d{e.position} has extents {sizes[e.position]} and {n}",
                    op.loc,
                )
            sizes[e.position] = n
    assert None not in sizes, "verified maps index each dimension alone somewhere"
    return sizes  # type: ignore[return-value]


def _vectorizes(op: Operation) -> bool:
    if op.name == _INDEX or isinstance(op, memref.Load | tensor.Extract):
        return True
    return not op.regions and (hasattr(op, "evaluate") or op.name == "linalg.yield")


def _is_direct(map_: AffineMap) -> bool:
    dims = [e for e in map_.results if isinstance(e, AffineDim)]
    return len(set(dims)) == len(dims) and all(e.linear(map_.dim_count) for e in map_.results)


class _Vectorized:
    """The execution of an op on whole arrays."""

    def __init__(self, op: Any, arrays: list[Any], sizes: list[int], frame: Any) -> None:
        self.op, self.frame, self.sizes = op, frame, sizes
        self.block = op.body_block
        self.inputs = len(op.inputs)
        self.views = [self._view(a, m) for a, m in zip(arrays, op.maps, strict=True)]
        self.reductions = [d for d, kind in enumerate(op.iterators) if kind != "parallel"]

    def _view(self, array: Any, map_: AffineMap) -> Any:
        """The operand as a view with an axis for each dimension; a copy if its map
        is not linear.
        """
        rank = len(self.sizes)
        if not isinstance(array, np.ndarray):
            return np.asarray(array).reshape((1,) * rank)
        linear = [e.linear(map_.dim_count) for e in map_.results]
        if None in linear:
            return self._gathered(array, map_.results)
        steps, offset = [0] * rank, []
        for axis, (factors, constant) in enumerate(linear):  # type: ignore[misc]
            low = constant + sum(
                f * (n - 1) for f, n in zip(factors, self.sizes, strict=True) if f < 0
            )
            top = constant + sum(
                f * (n - 1) for f, n in zip(factors, self.sizes, strict=True) if f > 0
            )
            if low < 0 or top >= array.shape[axis]:
                raise NncError(
                    f"'{self.op.name}': indices {low} to {top} of a dimension of size "
                    f"{array.shape[axis]}",
                    self.op.loc,
                )
            offset.append(constant)
            for d, factor in enumerate(factors):
                steps[d] += factor * array.strides[axis]
        used = {d for e in map_.results for d in e.dims_used()}
        shape = [n if d in used else 1 for d, n in enumerate(self.sizes)]
        start = array[tuple(slice(o, None) for o in offset)] if offset else array
        return np.lib.stride_tricks.as_strided(start, shape, steps)

    def _gathered(self, array: Any, exprs: Sequence[AffineExpr]) -> Any:
        grids = [self._coordinates(d) for d in range(len(self.sizes))]
        at = tuple(e.evaluate(grids) for e in exprs)
        return array[_checked(self.op, array, at)]

    def _coordinates(self, d: int) -> Any:
        shape = [1] * len(self.sizes)
        shape[d] = -1
        return np.arange(self.sizes[d], dtype=np.int64).reshape(shape)

    def run(self) -> None:
        """Execute all points of the iteration space."""
        fold = self._fold() if self.reductions else None
        if fold and self._contract(*fold):
            return
        inner = self._inner_reductions() if fold else []
        outer = [d for d in self.reductions if d not in inner]
        for point in itertools.product(*(range(self.sizes[d]) for d in outer)):
            fixed = dict(zip(outer, point, strict=True))
            if fold:
                self._reduce_at(fixed, inner, *fold)
            else:
                self._store(fixed, self._body(fixed))

    def _inner_reductions(self) -> list[int]:
        """The innermost reduced dimensions that can be computed along axes within
        the memory limit.
        """
        points = math.prod(n for d, n in enumerate(self.sizes) if d not in self.reductions)
        inner: list[int] = []
        for d in reversed(self.reductions):
            points *= self.sizes[d]
            if points > _POINTS_AT_ONCE:
                break
            inner.append(d)
        return inner

    def _fold(self) -> tuple[str, Value] | None:
        """(combiner, term) if the body is `yield combine(term, out)` with one output, else None."""
        if len(self.views) != self.inputs + 1:
            return None
        out = self.block.args[-1]
        last = self.block.last.operands[0].defining_op
        if last is None or last.name not in _REDUCERS or last.parent is not self.block:
            return None
        if out.use_count != 1 or out not in last.operands or not last.result.has_one_use:
            return None
        (term,) = (v for v in last.operands if v is not out)
        return _REDUCERS[last.name], term

    def _at(self, view: Any, fixed: dict[int, int]) -> Any:
        for d, i in fixed.items():
            at = i if view.shape[d] > 1 else 0
            view = view[(slice(None),) * d + (slice(at, at + 1),)]
        return view

    def _body(self, fixed: dict[int, int], only: Value | None = None) -> list[Any]:
        """The values that the body yields at the points, or only that of the value `only`."""
        env: dict[Value, Any] = {
            arg: self._at(view, fixed)
            for arg, view in zip(self.block.args, self.views, strict=True)
        }
        if only in env:
            return [env[only]]
        for op in self.block:
            values = [env[v] if v in env else self.frame.value(v) for v in op.operands]
            if op.name == "linalg.yield":
                return values
            if op.name == _INDEX:
                found: Any = self._at(self._coordinates(op.dim), fixed)
            elif isinstance(op, memref.Load | tensor.Extract):
                found = values[0][_checked(op, values[0], tuple(values[1:]))]
            else:
                found = op.evaluate(*values)
            if not isinstance(found, tuple):
                found = (found,)
            env.update(zip(op.results, found, strict=True))
            if only is not None and only in env:
                return [env[only]]
        raise AssertionError("a verified body ends with linalg.yield")

    def _store(self, fixed: dict[int, int], values: list[Any]) -> None:
        for view, value in zip(self.views[self.inputs :], values, strict=True):
            self._at(view, fixed)[...] = value

    def _reduce_at(
        self, fixed: dict[int, int], inner: list[int], combiner: str, term: Value
    ) -> None:
        ufunc = getattr(np, combiner)
        (value,) = self._body(fixed, only=term)
        shape = [1 if d in fixed else n for d, n in enumerate(self.sizes)]
        out = self.views[-1]
        if inner:
            value = np.broadcast_to(value, shape)
            value = ufunc.reduce(value, axis=tuple(inner), keepdims=True, dtype=out.dtype)
        out[...] = ufunc(out, value)

    def _contract(self, combiner: str, term: Value) -> bool:
        """Compute `out += a * b` as a matrix product; False, with nothing done, if it is not of
        this form.
        """
        product = term.defining_op
        if combiner != "add" or product is None or product.parent is not self.block:
            return False
        if product.name not in ("arith.mulf", "arith.muli") or len(self.block.ops) != 3:
            return False
        args = [self.block.args.index(v) for v in product.operands if v in self.block.args]
        out = self.views[-1]
        if len(args) != 2 or out.dtype.kind not in "fi" or out.dtype.itemsize < 4:
            return False
        terms: list[Any] = []
        for i in args:
            view = self.views[i]
            kept = [d for d in range(view.ndim) if view.shape[d] > 1]
            terms += [view.reshape([view.shape[d] for d in kept]), kept]
        kept = [d for d in range(out.ndim) if out.shape[d] > 1]
        present = {d for dims in terms[1::2] for d in dims}
        if any(d not in present for d in kept):
            return False
        repeats = math.prod(self.sizes[d] for d in self.reductions if d not in present)
        total = np.einsum(*terms, kept, optimize=True) * out.dtype.type(repeats)
        out[...] += total.reshape(out.shape).astype(out.dtype)
        return True


def _checked(op: Operation, array: Any, at: tuple) -> tuple:
    """The index arrays. Raises NncError where an index is outside of the array."""
    for axis, position in enumerate(at):
        if np.any(np.asarray(position) < 0) or np.any(np.asarray(position) >= array.shape[axis]):
            raise NncError(
                f"'{op.name}': an index of dimension {axis} is out of bounds for size "
                f"{array.shape[axis]}",
                op.loc,
            )
    return at


def _point_by_point(op: Any, arrays: list[Any], sizes: list[int], frame: Any) -> None:
    """Execute the body for one point after the other, with the interpreter."""
    maps, block, inputs = op.maps, op.body_block, len(op.inputs)
    for point in np.ndindex(*sizes):
        places = [m.evaluate(point) for m in maps]
        for arg, array, place in zip(block.args, arrays, places, strict=True):
            scalar = not isinstance(array, np.ndarray)
            frame.values[arg] = array if scalar else array[_checked(op, array, place)]
        for inner in block:
            if inner.name == "linalg.yield":
                break
            if inner.name == _INDEX:
                frame.values[inner.result] = np.int64(point[inner.dim])
            else:
                frame.run_op(inner, [frame.value(v) for v in inner.operands])
        for array, place, value in zip(
            arrays[inputs:], places[inputs:], inner.operands, strict=True
        ):
            array[place] = frame.value(value)
