"""What an op declares for the passes over graphs: its role in kernels, and traits.

    class Matmul(NnOp, name="nn.matmul"):
        fusion = Fusion.PRODUCT
        prologue = (Fusion.MOVEMENT,)
        weight_operand = 1

`base.NnOp` has all the declarations with their defaults.
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
    """Elements are moved. A consumer in the same kernel reads them from where they were."""
    PADDING = auto()
    """Elements are added around a tensor."""
    ELEMENTWISE = auto()
    """Each result element depends on the operands' elements at the same index only."""
    REDUCTION = auto()
    """Each result element depends on several elements."""
    NORMALIZATION = auto()
    """Reductions and elementwise ops on them, with a result of the operand's shape."""
    PRODUCT = auto()
    """Sums of products. Elementwise users in the same kernel find the result in registers."""
    CHECK = auto()
    """A condition on a few numbers, or operand 0 as it is if such a condition holds."""


class Broadcasting(Trait):
    """Elementwise on operands that broadcast as in NumPy.

    An operand may be replaced by one of another shape if they still broadcast to the result's.
    """


class Total(Trait):
    """Never fails, whatever the elements are, so that it need not be evaluated where it stands."""


class OnHost(Trait):
    """Computed by the host that runs the program, not in a kernel."""


class Arranging(Trait):
    """Gives the first operand's elements in another order or shape, or with zeros around them.

    Between a constant weight and its product, such an op is computed at compile time.
    """


def operands_by_first_index(form: Comprehension | None) -> set[int] | None:
    """The operands whose first index is the result's first index in this comprehension.

    None if the result's first index is used in any other way: as part of an expression, in another
    dimension, or only in some of an operand's accesses.
    """
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
