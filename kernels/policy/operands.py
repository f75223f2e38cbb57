"""A stage's accesses as the cost models see them: accesses with equal strides are one operand."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from math import gcd

from ...dialects import memref
from ..model.stages import Access, Stage

FAR = 1 << 20
"""The stride that models assume where it is not known. Units: elements."""


@dataclass(eq=False)
class Operand:
    """Accesses of a stage with equal strides: they differ in their buffer or first element only."""

    access: Access
    """The first of the accesses."""
    is_temporary: bool
    """Whether the buffer is a temporary of the kernel."""
    count: int = field(default=0, init=False)
    """How many accesses there are."""
    strides: list[int] = field(init=False)
    """The stride along each dimension of the stage. Units: elements."""
    alone: list[int] = field(init=False)
    """Dimensions of the stage that index a dimension of the buffer by themselves."""
    windows: list[list[tuple[int, int]]] = field(init=False)
    """Indices that are sums of several dimensions, each as its (dimension, factor)."""

    def __post_init__(self) -> None:
        access = self.access
        unknown = [FAR * (d in access.used) for d in range(access.stage.rank)]
        self.strides = [c if isinstance(c, int) else FAR for c in access.coefficients or unknown]
        terms = [
            [(d, abs(factor)) for d, factor in index.terms]
            for index in access.linear
            if index is not None
        ]
        self.alone = [t[0][0] for t in terms if len(t) == 1]
        self.windows = [t for t in terms if len(t) > 1]

    def slides(self, dim: int) -> bool:
        """Whether a window slides along the dimension."""
        return any(d == dim for window in self.windows for d, _ in window)

    def lines(self, lane: int, run: int, line: int) -> float:
        """How many cache lines of `line` elements `run` neighbours along a dimension take.

        They begin where the strides of other dimensions allow, on average. A whole row that the
        next one follows with no gap shares lines with it. Units: elements.
        """
        apart = [abs(s) for d, s in enumerate(self.strides) if s and d != lane]
        if run < line or run in apart:
            return run / line
        begins = gcd(line, *apart)
        return (-(-run // begins) * begins + line - begins) / line

    def elements(self, sizes: Mapping[int, int], lane: int | None) -> int:
        """How many elements are read at `sizes` points along each dimension but `lane`."""
        count = 1
        for d in self.alone:
            if d != lane:
                count *= sizes.get(d, 1)
        for window in self.windows:
            every, reach = 1, 1
            for d, factor in window:
                if d != lane and (n := sizes.get(d, 1)) > 1:
                    every *= n
                    reach += factor * (n - 1)
            count *= min(every, reach)
        return count


def operands(accesses: Iterable[Access]) -> list[Operand]:
    """The operands of these accesses to buffers, in order."""
    found: dict[object, Operand] = {}
    for access in accesses:
        if access.is_scalar:
            continue
        made = access.value.defined_by(memref.Alloc) is not None
        terms = [index.terms if index is not None else access for index in access.linear]
        key = (*terms, *access.strides, access.shape, made)
        if key not in found:
            found[key] = Operand(access, made)
        found[key].count += 1
    return list(found.values())


def form_of(stage: Stage) -> Hashable:
    """A key of a stage within its kernel, which also changes when operands are copied."""
    accesses = [
        (a.exprs, *map(str, a.strides), *a.shape, a.value.defined_by(memref.Alloc) is not None)
        for a in stage.accesses
        if not a.is_scalar
    ]
    return (stage.index, *accesses)
