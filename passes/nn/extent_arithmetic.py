"""Extents computed by ops of a graph: small integer tensors, from the shapes of other tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...dialects import nn
from ...ir.builder import Builder
from ...ir.core import Value
from ...ir.polynomial import Poly, Size
from ...ir.types import TensorType, i64
from .building import integers


class ExtentArithmetic:
    """Inserts ops that compute sizes from the extents of some tensors.

    `sources` has, for each symbol, a (tensor, axis) whose extent it is.
    """

    def __init__(self, sources: Mapping[Any, tuple[Value, int]]) -> None:
        self.sources = sources

    def is_computable(self, size: Size | None) -> bool:
        """Whether all symbols of a size are extents of these tensors."""
        if not isinstance(size, Poly):
            return size is not None
        return all(symbol in self.sources for symbol in size.symbols)

    def vector(self, b: Builder, sizes: Sequence[Size]) -> Value:
        """One or more sizes as a 1-D tensor of i64."""
        parts = [self.computed(b, size) for size in sizes]
        return parts[0] if len(parts) == 1 else b.insert(nn.Concat(parts, axis=0)).result

    def computed(self, b: Builder, size: Size) -> Value:
        """A size as a 1-D tensor of one i64."""
        if isinstance(size, int):
            return integers(b, [size])
        total: Value | None = None
        for product, factor in size.terms.items():
            term = None if factor != 1 or not product else self._extent(b, product[0])
            rest = product if term is None else product[1:]
            term = integers(b, [factor]) if term is None else term
            for symbol in rest:
                term = b.insert(nn.Mul(term, self._extent(b, symbol))).result
            total = term if total is None else b.insert(nn.Add(total, term)).result
        assert total is not None
        return total

    def _extent(self, b: Builder, symbol: Any) -> Value:
        source, axis = self.sources[symbol]
        shape = b.insert(nn.ShapeOf(source))
        return b.insert(nn.Slice(shape, (axis,), out=TensorType((1,), i64))).result
