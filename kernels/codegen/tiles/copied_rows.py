"""Dimensions of an operand that are one dimension of its copies in workgroup memory.

A copy of four channels of a 3 x 3 window's weights is 36 elements in a row. As one dimension it
is distributed over threads as any row is; as three, neighbouring threads would have elements that
lie apart, since no dimension alone fills a line.

    [16, 4, 3, 3]  ->  [16, 36]      subscripts m, 9 * c + 3 * ky + kx
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ....dialects import memref
from ....ir.affine import AffineExpr
from ....ir.core import Value
from ...model.cached import first_inside
from ...model.plan import Cached, Plan
from ...model.stages import Access
from ..code import Code
from .axes import Number

Groups = tuple[tuple[int, ...], ...]
"""The dimensions of an operand that each dimension of its copies stands for, in their order."""


def copied_rows(plan: Plan, access: Access, cached: Cached) -> Groups | None:
    """The dimensions of an operand by those that are one in its copies; None if each is one.

    They follow one another in memory, and copies have all elements of all but the first. Only
    dimensions of the sum are merged: threads read several places along others, whose rows may have
    to be longer so that these lie in different banks.
    """
    rank = len(access.exprs)
    is_own = access.value.defined_by(memref.Alloc) is not None  # It may become smaller.
    if cached.border is not None or is_own or tuple(cached.order) != tuple(range(rank)):
        return None
    groups: list[list[int]] = []
    for d in range(rank):
        whole = d > 0 and _is_whole(plan, access, cached, d)
        if whole and _follows(access, d) and _is_summed(access, d - 1):
            groups[-1].append(d)
        else:
            groups.append([d])
    longest = max((sum(access.shape[d] != 1 for d in group) for group in groups), default=0)
    return tuple(map(tuple, groups)) if longest > 1 else None


def _is_summed(access: Access, d: int) -> bool:
    """Whether only reductions walk along a dimension."""
    linear, kinds = access.linear[d], access.stage.kinds
    return linear is not None and all(kinds[dim] == "reduction" for dim, _ in linear.terms)


def _is_whole(plan: Plan, access: Access, cached: Cached, d: int) -> bool:
    """Whether each copy has all elements along a dimension of the sum."""
    linear, extents = access.linear[d], access.stage.extents
    if linear is None or linear.constant or not _is_summed(access, d):
        return False
    reach = 1
    for dim, factor in linear.terms:
        first = first_inside(plan, access.stage, dim, cached.at)
        if extents[dim] != 1 and (first is None or first.extent != extents[dim]):
            return False
        if not isinstance(extents[dim], int):
            return False
        reach += factor * (extents[dim] - 1)  # type: ignore[operator]
    return access.shape[d] == reach


def _follows(access: Access, d: int) -> bool:
    """Whether the elements of a dimension follow one another in that of the dimension before."""
    outer, inner, extent = access.strides[d - 1], access.strides[d], access.shape[d]
    known = isinstance(outer, int) and isinstance(inner, int) and isinstance(extent, int)
    return known and outer == inner * extent  # type: ignore[operator]


def _inner_elements(access: Access, group: Sequence[int]) -> list[int]:
    """For each dimension of a group, the elements of those inside of it."""
    shape = access.shape
    return [prod(shape[e] for e in group[i + 1 :]) for i in range(len(group))]  # type: ignore[misc]


def merged_sizes(sizes: Sequence[int], groups: Groups) -> list[int]:
    """The sizes of a copy whose dimensions are merged."""
    return [prod(sizes[d] for d in group) for group in groups]


def merged_number(code: Code, access: Access, number: Number, group: Sequence[int]) -> Number:
    """A number of elements along the first dimension of a group, as elements of the group."""
    return code.multiply(number, _inner_elements(access, group)[0])


def merged_subscripts(
    access: Access, exprs: Sequence[AffineExpr], groups: Groups
) -> tuple[AffineExpr, ...]:
    """The subscripts of a copy whose dimensions are merged."""
    found = list[AffineExpr]()
    for group in groups:
        total: AffineExpr = exprs[group[-1]]
        for d, each in zip(group[:-1], _inner_elements(access, group)[:-1], strict=True):
            total = exprs[d] * each + total
        found.append(total)
    return tuple(found)


def merged_view(code: Code, buffer: Value, groups: Groups) -> Value:
    """The operand with its dimensions merged, made where the buffer or the nest begins."""
    key, scope = ("merged", buffer, groups), code.at_buffer(buffer)
    if key not in scope.cache:
        scope.cache[key] = code.value(memref.CollapseShape.of(buffer, groups), scope)
    return scope.cache[key]
