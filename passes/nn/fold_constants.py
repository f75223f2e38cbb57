"""Computation at compile time of ops whose operands are constants."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ...dialects import nn
from ...dialects.func import FuncOp, Return
from ...dialects.marks import KERNEL, MAKER
from ...dialects.nn.known_values import KnownValues
from ...dialects.nn.traits import Arranging, Total
from ...ir.attributes import DenseElements, DenseResource, UnitAttr
from ...ir.core import Block, Operation, OpResult, Value
from ...ir.diagnostics import NncError
from ...ir.lazy import np
from ...ir.passes import Pass, PassContext, option
from ...ir.rewriting import RewriteTrace, erase_dead_code
from ...ir.types import TensorType
from .building import is_static
from .constants import computed_constant, constant_array, make_constant, name_resource
from .infer_shapes import refine, update_signature


@dataclass(frozen=True)
class FoldConstants(
    Pass,
    name="fold-constants",
    anchor="func.func",
    statistics={"ops-folded": "Number of ops computed at compile time"},
):
    """Compute what is known at compile time, with the ops' `evaluate`.

        %0 = nn.shape_of %x : (tensor<2x?xf32>) ..      %1 = nn.constant dense<2> : tensor<i64>
        %1 = nn.gather %0, %zero ..                 ->

    Types become as precise as the new constants allow. A result that is much larger than its
    operands is not folded, since it is cheaper to compute than to load. There are two exceptions:
    weights of products, as their layout is chosen at compile time, and results of functions such as
    exp and sin.
    """

    limit: int = option(1 << 16, help="results of at most so many bytes are always folded", least=0)
    costly: int = option(1 << 24, help="the same for results of mathematical functions", least=0)

    def run(self, op: Operation, context: PassContext) -> None:
        """Fold in one walk in order, so that new constants are seen by later ops."""
        if isinstance(op.attributes.get(KERNEL), UnitAttr) or MAKER in op.attributes:
            return
        for block in op.regions[0].blocks:
            known = KnownValues()
            costly = _costly(block)
            for inner in block:
                if isinstance(inner, nn.NnOp) and not isinstance(inner, nn.Constant):
                    refine(inner, known)
                    context.statistic(
                        "ops-folded", self.fold(inner, known, inner in costly, context.trace)
                    )
        erase_dead_code(op, context.trace)
        for inner in op.regions[0].ops:
            if isinstance(inner, nn.Constant):
                name_resource(inner)
        if isinstance(op, FuncOp) and not op.is_declaration:
            update_signature(op)

    def fold(
        self, op: nn.NnOp, known: KnownValues, is_costly: bool, trace: RewriteTrace | None
    ) -> int:
        """Replace the op by constants if they can be computed. Returns 1 if so, else 0."""
        if not op.results or not any(result.has_uses for result in op.results):
            return 0
        if nn.is_on_host(op):
            return 0
        if not all(_may_change_type(result) for result in op.results):
            return 0
        constants = self.by_known_elements(op, known)
        if constants is None and self.is_affordable(op, self.costly if is_costly else self.limit):
            constants = self.later(op) or self.by_evaluation(op)
        if constants is None:
            return 0
        block = op.parent
        assert block is not None
        for constant, result in zip(constants, op.results, strict=True):
            constant.loc = op.loc
            constant.result.name_hint = result.name_hint
            block.insert_before(constant, op)
        if trace is not None:
            trace.replacement("evaluate", op, [constant.result for constant in constants])
        op.replace_with(*(constant.result for constant in constants))
        return 1

    @staticmethod
    def by_known_elements(op: nn.NnOp, known: KnownValues) -> list[nn.Constant] | None:
        """The constant of an op of shape arithmetic, if every element of its result is known."""
        from ...ir.numpy_types import type_to_numpy

        if len(op.results) != 1:
            return None
        result = op.results[0]
        found = known.all(result)
        if found is None:
            return None
        dtype = type_to_numpy(result.type.element_type)
        array = np.array(found, np.int64).astype(dtype).reshape(result.type.shape)
        return [make_constant(array)]

    def later(self, op: nn.NnOp) -> list[nn.Constant] | None:
        """A large weight as a constant that is computed when it is read; None if the
        op might fail.
        """
        if not op.has_trait(Total) or len(op.results) != 1:
            return None
        type = op.result_types[0]
        if not isinstance(type, TensorType) or not type.has_static_shape:
            return None
        if type.num_bytes <= self.limit:
            return None
        if not all(_has_elements(value.defined_by(nn.Constant)) for value in op.operands):
            return None
        made = computed_constant(op)
        return None if made is None else [made]

    def by_evaluation(self, op: nn.NnOp) -> list[nn.Constant] | None:
        """The results computed from constant operands; None if that is not possible."""
        if not all(value.defined_by(nn.Constant) for value in op.operands):
            return None
        if not all(map(is_static, op.results)) and not isinstance(op, nn.NonZero):
            return None
        operands: list[Any] = [constant_array(value) for value in op.operands]
        if any(operand is None for operand in operands):
            return None
        try:
            results = op.evaluate(*operands)
        except (NncError, ValueError, IndexError, OverflowError):
            return None  # what fails here fails, with a better message, at run time
        arrays = results if isinstance(results, tuple) else (results,)
        # What was stored, or is weights, is not looked through for equal elements.
        stored = any(map(_is_stored, op.operands)) or is_weight(op)
        return [make_constant(array, stored) for array in arrays]

    @staticmethod
    def is_affordable(op: nn.NnOp, limit: int) -> bool:
        """Whether the results' bytes are at most `limit`, or not much more than those of the
        operands.

        True if shapes are not known yet, too.
        """
        types = op.result_types
        if not all(isinstance(t, TensorType) and t.has_static_shape for t in types):
            return True
        made = sum(t.num_bytes for t in types)
        given = sum(_stored_bytes(v.defined_by(nn.Constant)) for v in op.operands)
        return made <= max(limit, op.growth * given) or is_weight(op)


FUNCTIONS = frozenset(
    (
        *("exp", "expm1", "log", "log1p", "pow", "erf", "erfc"),
        *("sin", "cos", "tan", "asin", "acos", "atan"),
        *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    )
)
"""Scalar functions that take many times as long as loading a number."""


def _costly(block: Block) -> set[Operation]:
    """The ops, of constants only, that use costly functions, and the ops that compute their
    operands.
    """
    fixed: list[nn.NnOp] = []
    made: set[Value] = set()
    for op in block:
        if isinstance(op, nn.Constant) or (
            isinstance(op, nn.NnOp)
            and op.operands
            and not op.regions
            and made.issuperset(op.operands)
        ):
            made.update(op.results)
            fixed.append(op)
    found: set[Operation] = set()
    for op in reversed(fixed):
        leads = any(user in found for result in op.results for user in result.users)
        if leads or (not isinstance(op, nn.Constant) and _takes_functions(op)):
            found.add(op)
    return found


def _takes_functions(op: nn.NnOp) -> bool:
    body = getattr(op, "body", None)
    return isinstance(body, str) and not FUNCTIONS.isdisjoint(re.findall(r"\w+", body))


def is_weight(op: Operation) -> bool:
    """Whether an op's results are used as weights of products only, perhaps after changes of
    layout.

    Sums of several weights are also allowed between.
    """
    users = [(user, result) for result in op.results for user in result.users]
    return bool(users) and all(
        (_hands_on(user, result) and is_weight(user)) or _takes_as_weight(user, result)
        for user, result in users
    )


def _hands_on(user: Operation, value: OpResult) -> bool:
    """Whether a user of weights only changes their layout, or adds others to them."""
    is_first = user.operands[0] is value
    return isinstance(user, nn.Add) or (user.has_trait(Arranging) and is_first)


def _takes_as_weight(user: Operation, value: OpResult) -> bool:
    number = user.weight_operand if isinstance(user, nn.NnOp) else None
    return number is not None and user.operands[number] is value


def _has_elements(op: nn.Constant | None) -> bool:
    """Whether there is a constant, and of numbers."""
    return op is not None and not (isinstance(op.value, DenseElements) and op.value.strings)


def _is_stored(value: Value) -> bool:
    """Whether a constant is a resource, whose elements are stored one by one."""
    op = value.defined_by(nn.Constant)
    return op is not None and isinstance(op.value, DenseResource)


def _stored_bytes(op: nn.Constant | None) -> int:
    if op is None:
        return 0
    value = op.value
    if isinstance(value, DenseElements) and value.is_splat:
        return len(value.data)
    return value.type.num_bytes


def _may_change_type(result: OpResult) -> bool:
    """Whether all users allow the result to have a more precise type."""
    type = result.type
    if isinstance(type, TensorType) and type.has_static_shape:
        return True
    return all(isinstance(user, nn.NnOp | Return) for user in result.users)
