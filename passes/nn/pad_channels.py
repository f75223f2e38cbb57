"""Channels of zeros, so that the number of channels fills whole vectors.

728 channels are 13 blocks of 56, which are three and a half vectors of 16. Where half a vector
takes as long as a whole one, an eighth of the time is lost; 736 channels are 46 whole vectors.

The zeros come from the weights of the convolutions that write a tensor, and the weights of those
that read it are 0 there. The ops between them pass them on. What else reads such a tensor gets a
slice of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ...dialects import nn
from ...dialects.nn.pooling import PoolingOp
from ...dialects.nn.reductions import ReductionOp
from ...dialects.nn.traits import Broadcasting
from ...dialects.strict_math import is_strict
from ...ir.builder import Builder
from ...ir.core import Block, Operation, Value
from ...ir.decisions import Alternative, Decision, Terms, described
from ...ir.lazy import np
from ...ir.numpy_types import type_to_numpy
from ...ir.passes import Pass, PassContext, option
from ...ir.types import FloatType, TensorType
from ...targets.attribute import target_of
from .building import element_of, is_arranged_constant, scalar, shape_of
from .fold_batch_norm import is_made_of_constants
from .integer_products import integer_conv
from .layout_blocks import Layouts
from .layout_costs import conv_terms
from .work import Work, work_of

_NOT_ZERO = (nn.ReduceLogSum, nn.ReduceLogSumExp)
"""The reductions of zeros that are not 0."""
AS_THEY_ARE, PADDED = "as the model has them", "with zeros to whole vectors"


@dataclass(frozen=True)
class PadChannels(
    Pass,
    name="pad-channels",
    anchor="func.func",
    statistics={"channels-padded": "Number of channels of zeros appended"},
):
    """Append channels of zeros between convolutions where their number fills no whole vectors.

        %y = nn.conv %x, %w                      %u = nn.pad %w      // zeros: results 728 to 735
        %z = nn.conv %y, %v             ->       %y = nn.conv %x, %u
                                                 %t = nn.pad %v      // zeros for channels 728 ..
                                                 %z = nn.conv %y, %t

    Weights must be constant. All tensors whose channels ops pass on one by one are padded alike, if
    their convolutions then take less time by the machine's description. An infinite element may
    give NaN instead of an infinity, because it is multiplied by the zeros. A module with strict
    math keeps its channels.
    """

    numerics = "approximate"

    target: str = option("", help="a target's name (default: the module's)", alias="machine")
    block: int = option(0, help="channels of a whole vector (default: the target's)", least=0)

    def run(self, op: Operation, context: PassContext) -> None:
        """Decide for each set of tensors of the same channels."""
        machine = target_of(op, self.target).machine
        costs = machine.costs.layouts
        block = self.block or costs.block
        blocks = op.regions[0].blocks
        if block == 1 or is_strict(op) or not blocks:
            return
        body = blocks[0]
        convolutions = [c for c in body if isinstance(c, nn.Conv)]
        integers = {c: found for c in convolutions if (found := integer_conv(c, machine))}
        layouts = Layouts(replace(costs, block=block), machine, integers)
        dense = [conv for conv in convolutions if conv not in integers and is_dense(conv)]
        work, done = None, set[Value]()
        for value in [v for conv in dense for v in (conv.x, conv.out)]:
            count = shape_of(value)[1]
            if value in done or not count or count % block == 0:
                continue
            channels = Channels.of(value, body, integers)
            done.update(channels.values)
            if channels.can_be_padded():
                work = work or work_of(op, self.target)
                decision = _decision(channels, block, layouts, work)
                if context.decide(decision).taken == PADDED:
                    channels.pad(-count % block)
                    context.statistic("channels-padded", -count % block)


def is_dense(conv: nn.Conv) -> bool:
    """Whether a convolution has no groups, and weights and bias that are constant."""
    return conv.groups == 1 and _has_constants(conv)


def _has_constants(conv: nn.Conv) -> bool:
    is_float = isinstance(element_of(conv.x), FloatType)
    is_known = is_arranged_constant(conv.weight) and None not in shape_of(conv.weight)
    return is_float and is_known and (conv.bias is None or is_made_of_constants(conv.bias))


@dataclass
class Channels:
    """Tensors of the same channels: those that convolutions write, and those that ops make of them
    channel by channel.

    `along` are the latter ops. `made` and `read` are the convolutions that mix channels, and write
    and read the tensors.
    """

    count: int
    rank: int
    block: Block
    values: dict[Value, None] = field(default_factory=dict)
    along: dict[Operation, None] = field(default_factory=dict)
    made: dict[nn.Conv, None] = field(default_factory=dict)
    read: dict[nn.Conv, None] = field(default_factory=dict)

    @classmethod
    def of(cls, value: Value, block: Block, others: Mapping[nn.Conv, object]) -> Channels:
        """The tensors of the same channels as a value that ops of a block write or read.

        `others` are convolutions that are left as they are.
        """
        found, pending = cls(shape_of(value)[1], len(shape_of(value)), block), [value]
        while pending:
            value = pending.pop()
            if value in found.values:
                continue
            found.values[value] = None
            near = [value.defining_op] if value.defining_op is not None else []
            for op in (*near, *value.users):
                if op in others or op.parent is not found.block:
                    continue
                if found.goes_along(op):
                    found.along[op] = None
                    pending += [v for v in (*op.operands, *op.results) if found.has(v)]
                elif isinstance(op, nn.Conv) and is_dense(op):
                    if op.out is value:
                        found.made[op] = None
                    if op.x is value:
                        found.read[op] = None
        return found

    def has(self, value: Value) -> bool:
        """Whether a value's dimension 1 are the channels, by its shape."""
        shape = shape_of(value)
        return len(shape) == self.rank and shape[1] == self.count

    def goes_along(self, op: Operation) -> bool:
        """Whether an op makes each channel of its result from the same channel of its operands,
        also if there are more channels.
        """
        if len(op.results) != 1 or not self.has(op.results[0]):
            return False
        match op:
            case nn.Conv():
                return op.is_depthwise and op.groups > 1 and _has_constants(op)
            case nn.Pad():
                is_plain = op.mode == "constant" and op.pads[1] == op.pads[self.rank + 1] == 0
                return is_plain and (op.value is None or _number(op.value) == 0)
            case nn.Resize():
                return op.roi is None and not op.samples(1, shape_of(op.x))
            case ReductionOp() | PoolingOp():
                return op.keeps_channels and not isinstance(op, _NOT_ZERO)
        if not op.has_trait(Broadcasting):
            return False
        return all(self.has(v) or self._is_parameter(v) for v in op.operands)

    def _is_parameter(self, value: Value) -> bool:
        """Whether an operand has one number, or constants for each channel and a lower rank."""
        place = self.place_in(value)
        return _number(value) is not None or (place == 0 and is_made_of_constants(value))

    def place_in(self, value: Value) -> int | None:
        """The dimension of the channels in an operand that is broadcast; None if it has none."""
        shape = shape_of(value)
        place = len(shape) - self.rank + 1
        return place if place >= 0 and shape[place] == self.count != 1 else None

    def can_be_padded(self) -> bool:
        """Whether zeros in the channels appended give finite numbers in all tensors."""
        fillers = dict.fromkeys(self.values, 0.0)
        for op in self.block:
            if op in self.along and not isinstance(op, nn.Conv):
                numbers = [fillers.get(v, _number(v) or 0.0) for v in op.operands]
                if not op.has_trait(Broadcasting) and numbers[0] != 0:
                    return False
                filler = _value(op, numbers) if op.has_trait(Broadcasting) else 0.0
                if not math.isfinite(filler):
                    return False
                fillers[op.results[0]] = filler
        return True

    @property
    def writers(self) -> list[Operation]:
        """The ops that can write more channels."""
        return [*self.made, *self.along]

    @property
    def entries(self) -> list[Value]:
        """The tensors that other ops write, to which zeros have to be appended."""
        written = {op.results[0] for op in self.writers}
        return [value for value in self.values if value not in written]

    @property
    def exits(self) -> list[Value]:
        """The tensors that other ops read, which need the channels without the zeros."""
        inside = {*self.along, *self.read}
        results = [op.results[0] for op in self.writers]
        return [value for value in results if any(user not in inside for user in value.users)]

    def pad(self, more: int) -> None:
        """Append `more` channels to all tensors."""
        inside, entries, exits = {*self.along, *self.read}, self.entries, self.exits
        for conv in self.read:
            _pad_operand(conv, 1, 1, more)
        for op in self.writers:
            self._pad_parameters(op, more)
            self._widen(op.results[0], more)
        for value in exits:
            made = value.defining_op
            assert made is not None
            N, count, *rest = shape_of(value)
            whole = TensorType((N, count - more, *rest), element_of(value))
            cut = Builder.after_op(made).insert(nn.Slice(value, (0,) * self.rank, out=whole))
            value.replace_uses_if(cut.out, lambda op, cut=cut: op not in inside and op is not cut)
        for value in entries:
            made = value.defining_op
            b = Builder.at_start(self.block) if made is None else Builder.after_op(made)
            value.replace_uses_if(padded(b, value, 1, more), inside.__contains__)

    @staticmethod
    def _widen(value: Value, more: int) -> None:
        N, count, *rest = shape_of(value)
        value.type = TensorType((N, count + more, *rest), element_of(value))

    def _pad_parameters(self, op: Operation, more: int) -> None:
        """Append zeros to the operands of an op that have numbers for each channel."""
        if isinstance(op, nn.Conv):
            _pad_operand(op, 1, 0, more)
            if op.bias is not None:
                _pad_operand(op, 2, 0, more)
            if op.groups > 1:
                op.groups += more
            return
        for i, value in enumerate(op.operands):
            if value not in self.values and self.place_in(value) == 0:
                _pad_operand(op, i, 0, more)


def _pad_operand(op: Operation, i: int, axis: int, more: int) -> None:
    op.set_operand(i, padded(Builder.before_op(op), op.operands[i], axis, more))


def padded(b: Builder, x: Value, axis: int, more: int) -> Value:
    """x with `more` zeros at the end of a dimension."""
    rank = len(shape_of(x))
    pads = [0] * (2 * rank)
    pads[rank + axis] = more
    return b.insert(nn.Pad(x, scalar(b, 0, element_of(x)), pads=pads)).result


def _number(value: Value) -> float | None:
    """The number in a constant of one element; None for other values."""
    made = value.defined_by(nn.Constant)
    if made is None or math.prod(shape_of(value)) != 1:
        return None
    return float(made.value.to_numpy().reshape(()))


def _value(op: Operation, numbers: Iterable[float]) -> float:
    """An elementwise op's result for these numbers."""
    assert isinstance(op, nn.NnOp)
    types = [type_to_numpy(element_of(v)) for v in op.operands]
    with np.errstate(all="ignore"):
        found = op.evaluate(*(np.array(n, t) for n, t in zip(numbers, types, strict=True)))
    return float(np.asarray(found))


def _decision(channels: Channels, block: int, layouts: Layouts, work: Work) -> Decision:
    """Decide whether the zeros save more time in convolutions than it takes to append them to other
    tensors, and to cut them off.

    What is on the other side of a convolution is taken to fill blocks.
    """
    makers = [op for op in channels.writers if isinstance(op, nn.Conv)]
    more = (channels.count + -channels.count % block) / channels.count
    own = layouts.block_of(channels.count)

    def time(conv: nn.Conv, is_padded: bool) -> Terms:
        inside = block if is_padded else own
        blocks = [
            inside if v in channels.values else layouts.block_of(shape_of(v)[1] or block) or block
            for v in (conv.x, conv.out)
        ]
        factors = [more if is_padded and conv in ends else 1.0 for ends in (channels.read, makers)]
        return conv_terms(conv, None if None in blocks else blocks[1], layouts, work, factors)

    every = dict.fromkeys((*makers, *channels.read))
    first = next(iter(every))
    moved = [v for v in (*channels.entries, *channels.exits) if not v.defined_by(nn.Constant)]
    copies = [work.kernel(0, 2 * [work.bytes(value)]) for value in moved]
    before = Terms.sum(time(conv, False) for conv in every)
    after = Terms.sum((*copies, *(time(conv, True) for conv in every)))
    return Decision(
        "channels",
        work.shared((Alternative(AS_THEY_ARE, before), Alternative(PADDED, after))),
        PADDED if after.cycles < before.cycles else AS_THEY_ARE,
        first.loc,
        operation=described(first),
    )
