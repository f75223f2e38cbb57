"""Floats as fixed-point numbers: the formats of values passed between kernels come from ranges
observed in runs; the formats of values inside kernels follow from them, so that no sum or product
ever overflows.

A product has the fraction bits of both factors together, a sum those of the longer addend, up to
`_LONGEST`; the integer bits follow from intervals. Where those are unknown or too wide, as after
exponentials and divisions, a value stays a float.
"""

from __future__ import annotations

from math import isfinite

import numpy as np

from ...dialects import arith, memref
from ...dialects.marks import RANGE
from ...ir.core import Operation
from ...ir.diagnostics import NncError
from ...ir.location import node_of
from ...ir.types import FloatType, Type
from .formats import Format, fraction_bits, whole_bits
from .intervals import RULES, Interval, between
from .ranges import Class, Ranges, Walk

_WIDEST = 64
"""The most bits of a value between two buffers; wider ones stay floats."""
_LONGEST = 2
"""The most fractional bits of a value, as a multiple of the bits of buffers."""
EXACT = frozenset(
    [
        "arith.addf",
        "arith.subf",
        "arith.mulf",
        "arith.negf",
        "arith.maximumf",
        "arith.minimumf",
        "arith.maxnumf",
        "arith.minnumf",
        "arith.select",
        "arith.sitofp",
    ]
)
"""The operations that fixed-point numbers support."""


def is_single(type: Type) -> bool:
    """Whether values of a type (f32) may become fixed-point numbers."""
    return isinstance(type, FloatType) and type.kind == "f32"


class FixedRanges(Ranges):
    """The ranges of a module whose kernels exchange fixed-point numbers of `bits` bits."""

    def __init__(self, module: Operation, bits: int) -> None:
        self.bits, self.module = bits, module
        self.sums_tolerance = 2.0 ** (8 - bits)
        super().__init__(module)

    @property
    def tolerance(self) -> float:
        """The largest relative difference from the reference's results."""
        return self.sums_tolerance

    @property
    def _walk(self) -> type[Walk]:
        return FixedWalk

    def with_floats(self) -> list[str]:
        """The nodes whose kernels keep some floats."""
        return [
            node_of(function.loc) or function.sym_name
            for function in self._functions.values()
            if any(
                is_single(result.type) and result not in self.formats
                for op in function.walk()
                for result in op.results
            )
        ]

    def _choose_formats(self) -> None:
        """Choose the formats of kernels' arguments and of constants."""
        bounds: dict[int, tuple[Class, float, float, str]] = {}

        def add(found: Class, low: float, high: float, node: str) -> None:
            _, least, most, name = bounds.get(id(found), (found, low, high, node))
            bounds[id(found)] = found, min(low, least), max(high, most), name or node

        for function in self._functions.values():
            for i, arg in enumerate(function.args):
                given = function.arg_attribute(i, RANGE)
                if given is not None and is_single(arg.type.element_type):
                    low, high = (one.value for one in given)  # type: ignore[attr-defined]
                    add(self.of(arg), low, high, node_of(function.loc) or function.sym_name)
        for found in list(self._classes.values()):
            if found.constants and is_single(found.type.element_type):
                add(found, found.low, found.high, "weights")
        if not bounds and any(is_single(one.type.element_type) for one in self._classes.values()):
            raise NncError("nothing says between which numbers the floats are: --sample-ranges")
        for found, low, high, node in bounds.values():
            found.format = self._format(low, high, node)
            found.constants = [found.format.rounded(one) for one in found.constants]

    def _format(self, low: float, high: float, node: str) -> Format:
        if not isfinite(low) or not isfinite(high):
            raise NncError(f"{node}: numbers are not finite, which no fixed-point type holds")
        whole = whole_bits(low, high)
        if whole > self.bits:
            raise NncError(
                f"{node}: numbers between {low:g} and {high:g} need {whole} bits before the point, "
                f"and the type has {self.bits}: choose more bits (hls-fixedN)"
            )
        return Format(self.bits, whole, saturates=True)


class FixedWalk(Walk):
    """The ranges of one function's values, with their formats."""

    ranges: FixedRanges

    def operation(self, op: Operation) -> None:
        """Record the ranges of an operation's results, and their formats."""
        super().operation(op)
        for result in op.results:
            if is_single(result.type) and (found := self.format(op)) is not None:
                self.ranges.formats[result] = found
            else:
                self.ranges.formats.pop(result, None)
        if isinstance(op, memref.Store) and is_single(op.value.type):
            self.keep(op)

    def computed(self, op: Operation) -> Interval:
        """The interval of an operation's result; f32 is not rounded, as fixed point is exact."""
        if not op.results or not is_single(op.results[0].type) or op.name not in RULES:
            return super().computed(op)
        return RULES[op.name](*(self.of(v) for v in op.operands))

    def format(self, op: Operation) -> Format | None:
        """The format of an operation's result; None if it stays a float."""
        if isinstance(op, memref.Load):
            return self.ranges.of(op.memref).format
        low, high = self.of(op.results[0]).span
        most = _LONGEST * self.ranges.bits
        if isinstance(op, arith.Constant):
            if not isfinite(low):
                return None
            whole = whole_bits(low, high)
            found = Format(whole + fraction_bits(low, self.ranges.bits - whole), whole)
            self.values[op.results[0]] = between(*2 * [float(found.rounded(np.array(low)))])
            return found
        fraction = self.fraction(op)
        if fraction is None or not isfinite(low) or not isfinite(high):
            return None
        kept = min(fraction, most)
        low -= 2.0**-kept if kept < fraction else 0.0
        if kept < fraction:
            self.values[op.results[0]] = between(low, high)
        whole = whole_bits(low, high)
        return Format(whole + kept, whole) if 0 < whole + kept <= _WIDEST else None

    def fraction(self, op: Operation) -> int | None:
        """The fraction bits of an exact result; None if it is not exact."""
        if op.name not in EXACT:
            return None
        if op.name == "arith.sitofp":
            return 0
        floats = [self.ranges.formats.get(v) for v in op.operands if is_single(v.type)]
        if not all(floats):
            return None
        known = [one.fraction for one in floats if one is not None]
        return sum(known) if op.name == "arith.mulf" else max(known)

    def keep(self, op: memref.Store) -> None:
        """Give a kernel's own buffer a format that holds everything stored in it."""
        found, given = self.ranges.of(op.memref), self.ranges.formats.get(op.value)
        if found.format is not None and found.format.saturates:
            return
        state = self.stores[self.ranges.root(op.memref)].found
        if given is None or state is None or not all(map(isfinite, state.span)):
            found.stays_float = True
        if found.stays_float or given is None or state is None or found.kind or found.is_given:
            found.format = None
            return
        whole = whole_bits(min(found.low, state.span[0]), max(found.high, state.span[1]))
        fraction = max(given.fraction, found.format.fraction if found.format else 0)
        found.stays_float = whole + fraction > _WIDEST
        found.format = None if found.stays_float else Format(whole + fraction, whole)
