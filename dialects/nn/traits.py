"""Declarations of an op that passes over graphs rely on.

    class Matmul(NnOp, name="nn.matmul"):
        fusion = Fusion.PRODUCT
        prologue = (Fusion.MOVEMENT,)
        weight_operand = 1

The declarations and what holds without them stand in `base.NnOp`.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING

from ...ir.traits import Trait
from ..vocabulary import *

if TYPE_CHECKING:
    from ...ir.comprehension import Comprehension


class Fusion(Enum):
    """The role of an op in the kernel that it may be part of."""

    ALONE = auto()
    """The op is a kernel of its own."""
    VIEW = auto()
    """Only the shape changes; no kernel is needed."""
    MOVEMENT = auto()
    """Elements are moved; a consumer can read them from their old places."""
    PADDING = auto()
    """Elements are added around a tensor."""
    ELEMENTWISE = auto()
    """Each result element depends on the operands' elements at the same index only."""
    REDUCTION = auto()
    """Each result element depends on several elements."""
    NORMALIZATION = auto()
    """Reductions and elementwise ops on them, with a result of the operand's shape."""
    PRODUCT = auto()
    """Sums of products: the result is in registers when its elementwise users read it."""


class Broadcasting(Trait):
    """Elementwise on operands that broadcast as in NumPy; any common shape of them will do."""


class Total(Trait):
    """Has a result for any elements, so that it may be evaluated lazily."""


class OnHost(Trait):
    """Computed by the host that runs the program, in no kernel."""


class Arranging(Trait):
    """The first operand's elements in another order or shape, or zeros around them.

    It may stand between a weight and its product, and is done at compile time there.
    """


def operands_by_first_index(form: Comprehension | None) -> set[int] | None:
    """The operands whose first index is the result's first, where nothing else depends on it."""
    if form is None or not form.out.results or not isinstance(form.out.results[0], AffineDim):
        return None
    first = form.out.results[0]
    found, whole = set[int](), set[int]()
    for access in form.accesses:
        using = [i for i, e in enumerate(access.map.results) if first.position in e.dims_used()]
        if not using:
            whole.add(access.operand)
        elif using == [0] and access.map.results[0] == first:
            found.add(access.operand)
        else:
            return None
    return None if whole & found else found
