"""Products of 16-bit floats are computed on f32, to which each operand is cast once.

The sums are in f32 in any case. An operand that is cast as it is loaded is cast as often as it is
used, and Winograd's algorithm is for f32 only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from ...dialects import nn
from ...dialects.nn.called import called_outside_loops
from ...dialects.strict_math import is_strict
from ...ir.builder import Builder
from ...ir.core import Operation, Value
from ...ir.decisions import Alternative, Decision, described
from ...ir.location import Location
from ...ir.passes import Pass, PassContext, option
from ...ir.symbols import symbol_name
from ...ir.types import bf16, f16, f32
from ...targets.machine import Machine
from ...targets.roofline import F32, Roofline
from .building import cast, element_of, shape_of, widen
from .fold_batch_norm import is_made_of_constants
from .half_products import multiplies_halves
from .work import Work, work_of


@dataclass(frozen=True)
class WidenProducts(
    Pass,
    name="widen-products",
    anchor="func.func",
    statistics={"wide-products": "Number of convolutions and matrix products on f32"},
):
    """Cast the operands of products of f16 and bf16 to f32, and their results back.

        %y = nn.conv %x, %w    ->    %0 = nn.conv (nn.cast %x), (nn.cast %w)
                                     %y = nn.cast %0

    A convolution's weights must be constant, and few compared with the products, because they take
    twice the bytes; a product in a loop reads them from the cache that holds them. Matrix products
    of bf16 stay where the machine multiplies two at once. On devices matrix products stay as they
    are, and so do all products of a module with strict math. Sums next to products read the same
    f32, so that a tensor of a residual network is stored only once.
    """

    numerics = "rounding"

    target: str = option("", help="a target's name (default: the module's)", alias="machine")

    def run(self, op: Operation, context: PassContext) -> None:
        """Decide on each product separately; `fold-constants` then casts the weights."""
        products = (
            []
            if is_strict(op)
            else [p for p in op.walk() if isinstance(p, nn.Conv | nn.Matmul) and _is_narrow(p)]
        )
        if not products:
            return
        work = work_of(op, self.target)
        is_processor = work.machine.program is work.machine
        is_repeated = _is_repeated(op)
        for product in products:
            weights = product.operands[1]
            if not (is_processor or isinstance(product, nn.Conv)):
                continue
            decided = precision(
                work.machine,
                work.elements(weights),
                products_of(product, work),
                product.loc,
                described(product),
                is_repeated,
                isinstance(product, nn.Matmul) and multiplies_halves(product, work.machine),
            )
            if context.decide(decided).taken == _WIDE:
                compute_wide(product)
                context.statistic("wide-products")
        if is_processor:
            for beside in [one for one in op.walk() if _is_beside_wide(one)]:
                compute_wide(beside)


def _is_repeated(function: Operation) -> bool:
    """Whether a function runs only in loops."""
    module = function.parent_op
    return module is not None and symbol_name(function) not in called_outside_loops(module)


def _is_narrow(product: nn.Conv | nn.Matmul) -> bool:
    """Whether a product is of 16-bit floats, and may be widened."""
    x, weight = product.operands[:2]
    is_constant = isinstance(product, nn.Matmul) or is_made_of_constants(weight)
    return element_of(x) in (f16, bf16) and is_constant


_BESIDE = (nn.Add, nn.Sub, nn.Mul)
"""Ops that stand next to products in residual networks and gates."""


def _is_beside_wide(op: Operation) -> bool:
    """Whether a sum or product of 16-bit elements reads a tensor that will be stored as f32."""
    return (
        isinstance(op, _BESIDE)
        and element_of(op.out) in (f16, bf16)
        and any(map(_is_stored_wide, op.operands))
    )


def _is_stored_wide(value: Value) -> bool:
    """Whether all users of a 16-bit tensor can read the f32 that wide products read."""
    if value.defining_op is None:
        return False
    casts = [user for user in value.users if isinstance(user, nn.Cast)]
    return any(element_of(one.out) is f32 for one in casts) and all(
        isinstance(user, (nn.Cast, *_BESIDE)) for user in value.users
    )


def products_of(product: nn.Conv | nn.Matmul, work: Work) -> float:
    """The number of multiplications of a product.

    An unknown number of rows of a matrix counts as one: a step of a language model, whose time is
    that of reading the weights.
    """
    if isinstance(product, nn.Conv):
        return work.operations(product)
    return float(prod(d or 1 for d in (*shape_of(product.out), shape_of(product.lhs)[-1])))


_NARROW, _WIDE = "16 bits", "f32"


def precision(
    machine: Machine,
    weights: int,
    products: float,
    loc: Location,
    operation: str = "",
    is_repeated: bool = False,
    in_words: bool = False,
) -> Decision:
    """Decide whether the casts that are saved outweigh the larger weights.

    `weights` is how many there are; a product that `is_repeated` in a loop reads them from the
    cache that holds them. A product of bf16 that is `in_words` needs no casts: the machine
    multiplies two at once.
    """
    costs = Roofline(machine)
    arithmetic, read = costs.arithmetic(products), float(F32 * weights)
    beside = costs.beside_home if is_repeated else costs.beside_memory
    in_words = in_words and machine.multiplies_halves
    slower = machine.multiply_adds / (2 * machine.word_multiply_adds)
    narrow = beside((slower if in_words else costs.costs.half_products) * arithmetic, read / 2)
    wide = beside(arithmetic, read)
    return Decision(
        "precision",
        costs.shared((Alternative(_NARROW, narrow), Alternative(_WIDE, wide))),
        _WIDE if wide.cycles < narrow.cycles else _NARROW,
        loc,
        again=lambda m: precision(m, weights, products, loc, operation, is_repeated, in_words),
        operation=operation,
    )


def compute_wide(product: Operation) -> None:
    """conv(x, w, b) -> cast(conv(cast(x), cast(w), cast(b))), and of other operations the same."""
    b = Builder.before_op(product)
    (out,) = product.results
    type = replace(out.type, element_type=f32)
    operands = [widen(b, x) for x in product.operands]
    wide = product.create(operands, [type], product.attributes, product.properties)
    product.replace_with(cast(b, b.insert(wide).results[0], element_of(out)))
