"""Blocked layouts for grouped convolutions.

Groups of many channels have blocks of their own. If groups have few channels, a block holds the
same channel of as many groups as a vector has lanes; then no lane is empty and nothing is
broadcast. This shuffles the channels, which dense convolutions before and after can do by the order
of their weights.

    channel = group * C + c    ->    channel = (group / B * C + c) * B + group % B
"""

from __future__ import annotations

import math
from typing import Any, TypeGuard

from ...dialects import nn
from ...dialects.nn.traits import Broadcasting
from ...ir.builder import Builder
from ...ir.core import Operation, Value
from .building import is_arranged_constant, reshape, shape_of


def is_narrow(conv: nn.Conv, block: int) -> bool:
    """Whether groups are too small for blocks of their own, but many enough to fill the lanes."""
    M, C = shape_of(conv.weight)[:2]
    if M is None or C is None:
        return False
    return conv.groups % block == 0 and min(C, M // conv.groups) < block


# -- channels in another order -----------------------------------------------------------------


def shuffled(b: Builder, x: Value, axis: int, shape: tuple[int, int, int]) -> Value:
    """x with dimension `axis` split into `shape`, three numbers, whose last two are exchanged."""
    whole = shape_of(x)
    lead, tail = whole[:axis], whole[axis + 1 :]
    apart = reshape(b, x, (*lead, *shape, *tail))
    order = (*range(axis), axis, axis + 2, axis + 1, *range(axis + 3, axis + 3 + len(tail)))
    return reshape(b, b.insert(nn.Transpose(apart, order)), whole)


def shuffle_operand(conv: nn.Conv, block: int) -> Value:
    """The operand of a narrow convolution with its channels in the shuffled order."""
    C = shape_of(conv.weight)[1]
    shape = (conv.groups // block, block, C)
    chain: list[Operation] = []
    value = conv.x
    while value.has_one_use and (op := value.defining_op) is not None:
        chain.append(op)
        if _is_dense(op):
            for member in chain:
                _shuffle_constants(member, shape)
            return conv.x
        if not _is_along_channels(op):
            break
        value = op.operands[0]
    return shuffled(Builder.before_op(conv), conv.x, 1, shape)


def unshuffle_result(conv: nn.Conv, result: Value, block: int) -> Value:
    """The result of a narrow convolution with its channels in the plain order, for its users.

    Users that form a chain up to dense convolutions work on the shuffled channels instead.
    """
    per_group = shape_of(conv.weight)[0] // conv.groups
    shape = (conv.groups // block, block, per_group)
    chain: list[Operation] = []
    value = conv.out
    while value.has_one_use:
        (user,) = value.users
        if _is_dense(user) and user.x is value:
            for member in chain:
                _shuffle_constants(member, shape)
            b = Builder.before_op(user)
            user.set_operand(1, shuffled(b, user.weight, 1, shape))
            return result
        if not _is_along_channels(user):
            break
        chain.append(user)
        value = user.results[0]
    back = (shape[0], shape[2], shape[1])
    return shuffled(Builder.before_op(conv), result, 1, back)


def _is_dense(op: Operation) -> TypeGuard[nn.Conv]:
    """Whether an op is a convolution without groups, with constant weights."""
    return isinstance(op, nn.Conv) and op.groups == 1 and is_arranged_constant(op.weight)


def _is_along_channels(op: Operation) -> bool:
    """Whether an op is elementwise on one tensor and constants of one number or one for each
    channel.
    """
    if not op.has_trait(Broadcasting):
        return False
    shape = shape_of(op.results[0])
    return shape_of(op.operands[0]) == shape and all(
        value.defined_by(nn.Constant) is not None
        and (math.prod(shape_of(value)) == 1 or _is_per_channel(value, shape))
        for value in op.operands[1:]
    )


def _is_per_channel(value: Value, shape: tuple[Any, ...]) -> bool:
    own = shape_of(value)
    own = (1,) * (len(shape) - len(own)) + own
    return own == (1, shape[1], *(1,) * (len(shape) - 2))


def _shuffle_constants(op: Operation, shape: tuple[int, int, int]) -> None:
    """Put the constants of an op that have a number for each channel into the shuffled order."""
    b = Builder.before_op(op)
    for i, value in enumerate(op.operands[1:], 1):
        own = shape_of(value)
        if math.prod(own) != 1:
            axis = 0 if _is_dense(op) else own.index(math.prod(own))
            op.set_operand(i, shuffled(b, value, axis, shape))


# -- blocks that fit together ------------------------------------------------------------------


def same_channels(start: Value) -> set[Value]:
    """The values with the channels of `start`, reached by ops that treat each channel alone."""
    channels, found, pending = shape_of(start)[1], set[Value](), [start]
    while pending:
        value = pending.pop()
        shape = shape_of(value)
        if value in found or len(shape) < 3 or shape[1] != channels:
            continue
        found.add(value)
        near = [value.defining_op] if value.defining_op is not None else []
        for op in (*near, *value.users):
            if isinstance(op, nn.NnOp) and op.keeps_channels:
                pending += [*op.operands, *op.results]
    return found
