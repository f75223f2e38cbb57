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

from ...ir.affine import AffineDim
from ...ir.traits import Trait

if TYPE_CHECKING:
    from ...ir.comprehension import Comprehension


class Fusion(Enum):
    """The role of an op in the kernel that it may be part of."""

    ALONE = auto()
    """A kernel of its own."""
    VIEW = auto()
    """Renames elements, and stays outside of kernels."""
    MOVEMENT = auto()
    """Has elements at other places, where a consumer may read them."""
    PADDING = auto()
    """A tensor with elements around it."""
    ELEMENTWISE = auto()
    """A result element needs the operands' elements at that place only."""
    REDUCTION = auto()
    """A result element needs several elements."""
    NORMALIZATION = auto()
    """Reductions, and what they are for, on a result of the operand's shape."""
    PRODUCT = auto()
    """Sums of products: the result is still in registers when its elementwise users want it."""


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
