"""Large batches are computed in parts whose activations stay in cache.

    func.func @main(%x: tensor<8x3x224x224xf32>) -> tensor<8x1000xf32> attributes {nn.entry}

    func.func @main(..) attributes {nn.entry} {
      %x0 = nn.slice %x {starts = [0, 0, 0, 0]} : .. -> tensor<1x3x224x224xf32>
      %y0 = call @main_part(%x0) : (tensor<1x3x224x224xf32>) -> tensor<1x96x14x14xf32>
      %y = nn.concat %y0, %y1, ..
      (the rest on the whole batch)

The first layers of a network have the largest activations and the smallest weights. If one part of
the batch is computed at a time, a layer finds in cache what the one before has written; but the
weights are read once for each part. So the network is cut where that no longer pays, and the layers
after it work on the whole batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from ...dialects import nn
from ...dialects.builtin import ModuleOp
from ...dialects.func import Call, FuncOp, Return
from ...dialects.marks import ENTRY
from ...dialects.nn.traits import Fusion
from ...ir.builder import Builder
from ...ir.core import IRMapping, Operation, Value
from ...ir.decisions import Alternative, Decision, Terms
from ...ir.diagnostics import NncError
from ...ir.passes import Pass, PassContext, option
from ...ir.symbols import symbol_name
from ...ir.types import TensorType
from ...targets.attribute import target_of
from ...targets.costs import BatchCosts
from .batch_independence import rows_of
from .building import element_of, shape_of
from .work import work_of


@dataclass(frozen=True)
class SplitBatch(
    Pass,
    name="split-batch",
    anchor="builtin.module",
    statistics={"parts": "Number of parts that batches were cut into"},
):
    """Run the first layers of an entry function on parts of a batch that fit the cache.

    The layers become a private function, so that their kernels are compiled only once; when these
    are made, `inline` puts its body back for each part.
    Numerics: sums over fewer images may be added in another order.
    """

    numerics = "rounding"

    target: str = option("", help="a target's name (default: the module's)", alias="machine")
    cache_bytes: int = option(
        0, help="bytes of activations that stay in cache (default: the target's)", least=0
    )
    parts: int = option(0, help="the most parts of a batch (default: the target's)", least=0)

    def run(self, op: Operation, context: PassContext) -> None:
        """Split each entry function that has a batch of known size."""
        assert isinstance(op, ModuleOp)
        costs = target_of(op, self.target).machine.costs.batches
        cache, parts = self.cache_bytes or costs.cache, self.parts or costs.parts
        costs = replace(costs, cache=cache, parts=parts)
        for function in list(op.body_block):
            if not isinstance(function, FuncOp) or ENTRY not in function.attributes:
                continue
            if len(function.body.blocks) != 1:
                continue
            layers = Layers.of(function)
            if layers is None:
                continue
            cuts = {cut.name: cut for cut in layers.cuts(costs)}
            found = context.decide(_decision(function, layers, costs, [*cuts.values()]))
            cut = cuts.get(found.taken)
            if cut is None:
                continue
            if _split(op, function, layers, cut):
                context.statistic("parts", cut.parts)
            else:
                why = "an operation cannot have a smaller batch"
                context.decisions.made[-1] = replace(found, taken=_WHOLE, because=why, told="")


_WHOLE = "whole"


def _decision(function: FuncOp, layers: Layers, costs: BatchCosts, cuts: Sequence[Cut]) -> Decision:
    """Decide the number of parts: the one that saves the most time, if it saves enough."""
    work = work_of(function)
    moved = float(sum(n for op in layers.ops if (n := layers.moved(op)) > costs.cache))
    moved += sum(weight_bytes(op, costs) for op in layers.ops)
    products = sum(work.operations(op) for op in layers.ops if op.fusion is Fusion.PRODUCT)
    least = min((moved - cut.saved for cut in cuts), default=moved)

    def terms(saved: float) -> Terms:
        return work.beside_memory(work.arithmetic(products), max(moved - saved, least, 0.0))

    best = max(cuts, key=lambda cut: cut.saved, default=None)
    least_saved = costs.saved_caches * costs.cache
    is_worth = best is not None and best.saved > least_saved

    def detail(cut: Cut) -> str:
        traffic = f"{abs(cut.saved):,.0f} bytes {'saved' if cut.saved >= 0 else 'more'}"
        return f"{cut.count} of {len(layers.ops)} operations, {traffic}"

    return Decision(
        "batch",
        work.shared(
            (
                Alternative(_WHOLE, terms(0.0)),
                *(Alternative(c.name, terms(c.saved), detail(c)) for c in cuts),
            )
        ),
        best.name if best is not None and is_worth else _WHOLE,
        function.loc,
        because=f"parts pay if they save {least_saved:,.0f} bytes between memory and cache",
        operation=f"{function.function_type}, {len(layers.ops)} operations",
    )


@dataclass(frozen=True)
class Cut:
    """A way to split: the first `count` independent ops run on `parts` parts of the batch.

    `saved` is the number of bytes that need not be moved from or to memory.
    """

    count: int
    parts: int
    saved: float

    @property
    def name(self) -> str:
        return f"{self.parts} parts"


@dataclass
class Layers:
    """The ops of a function that treat images independently, in order."""

    batch: int
    ops: list[nn.NnOp] = field(default_factory=list)
    by_parts: dict[nn.NnOp, frozenset[int]] = field(default_factory=dict)

    @staticmethod
    def of(function: FuncOp) -> Layers | None:
        """The independent ops of a function; None if its arguments do not have one batch size."""
        batched: set[Value] = {v for v in function.args if getattr(v.type, "rank", 0) > 1}
        sizes = {shape_of(v)[0] for v in batched}
        batch = sizes.pop() if len(sizes) == 1 else None
        if batch is None or batch < 2:
            return None
        layers = Layers(batch)
        late: set[Value] = set()
        for op in function.body.block:
            touched = any(v in batched for v in op.operands)
            rows = None
            if touched and isinstance(op, nn.NnOp) and late.isdisjoint(op.operands):
                rows = rows_of(op, batched, batch)
            if rows is not None:
                layers.ops.append(op)  # type: ignore[arg-type]
                layers.by_parts[op] = rows  # type: ignore[index]
                batched.update(op.results)
            elif touched or not late.isdisjoint(op.operands):
                late.update(op.results)
        return layers

    def cuts(self, chosen: BatchCosts) -> list[Cut]:
        """For each number of parts, the cut that saves the most bytes moved from and to memory."""
        found = []
        cache = chosen.cache
        costs = list(zip(map(self.moved, self.ops), self.frontiers(), strict=True))
        for parts in range(2, min(chosen.parts, self.batch) + 1):
            if self.batch % parts:
                continue
            best: Cut | None = None
            saved, weights = 0.0, 0.0
            for count, (op, (moved, frontier)) in enumerate(zip(self.ops, costs, strict=True), 1):
                if moved > cache >= moved / parts:
                    saved += moved
                weights += weight_bytes(op, chosen)
                total = saved - (parts - 1) * weights - 2 * frontier
                if best is None or total > best.saved:
                    best = Cut(count, parts, total)
            found += [best] if best is not None else []
        return found

    def moved(self, op: nn.NnOp) -> int:
        """The bytes that an op reads and writes; 0 if it will be fused with another one."""
        if op.fusion in (Fusion.ELEMENTWISE, Fusion.VIEW, Fusion.PADDING):
            return 0
        return sum(_bytes(op.operands[i]) for i in self.by_parts[op]) + sum(map(_bytes, op.results))

    def frontiers(self) -> list[int]:
        """For each op, the bytes of the values that it and earlier ops pass to later ones."""
        place: dict[Operation, int] = {op: i for i, op in enumerate(self.ops)}
        beyond = len(self.ops)
        changes = [0] * (beyond + 1)
        for i, op in enumerate(self.ops):
            for value in op.results:
                last = max((place.get(user, beyond) for user in value.users), default=i)
                changes[i] += _bytes(value)
                changes[last] -= _bytes(value)
        return list(accumulate(changes[:-1]))

    def outputs(self, count: int) -> list[Value]:
        """The values that the first `count` ops pass to later ones."""
        inside = set(self.ops[:count])
        return [
            v for op in self.ops[:count] for v in op.results
            if any(user not in inside for user, _ in v.uses)
        ]  # fmt: skip


def weight_bytes(op: nn.NnOp, costs: BatchCosts) -> int:
    """The bytes of an op's parameters, as many as the fastest algorithm reads."""
    total = sum(_bytes(v) for v in op.operands if v.defined_by(nn.Constant) is not None)
    if isinstance(op, nn.Conv) and op.groups == 1 and shape_of(op.weight)[2:] == (3, 3):
        total *= costs.winograd_weights
    return total


def _bytes(value: Value) -> int:
    type = value.type
    assert isinstance(type, TensorType)
    return type.num_elements * getattr(type.element_type, "byte_width", 8)


def _split(module: ModuleOp, function: FuncOp, layers: Layers, cut: Cut) -> bool:
    """Make a cut; False, with nothing changed, if an op cannot work on a smaller batch."""
    ops, outputs = layers.ops[: cut.count], layers.outputs(cut.count)
    sliced, shared = _inputs(ops, layers.by_parts)
    if sliced.keys() & shared.keys():
        return False
    part = _part_function(f"{function.sym_name}_part", ops, sliced, shared, outputs, cut.parts)
    if part is None:
        return False
    _rename(part, module)
    module.body_block.insert_after(part, function)
    b = Builder.before_op(_move_users_behind(ops))
    rows: list[list[Value]] = [[] for _ in outputs]
    for number in range(cut.parts):
        pieces = [_piece(b, value, number, cut.parts) for value in sliced]
        types = part.function_type.results
        call = b.insert(Call(part.sym_name, [*pieces, *shared], outs=types, loc=ops[0].loc))
        for found, value in zip(rows, call.results, strict=True):
            found.append(value)
    for value, parts in zip(outputs, rows, strict=True):
        whole = b.insert(nn.Concat(parts, 0)).result
        value.replace_all_uses_with(whole)
    for op in ops:
        op.drop_all_references()
    for op in ops:
        op.erase()
    return True


def _inputs(
    ops: list[nn.NnOp], by_parts: dict[nn.NnOp, frozenset[int]]
) -> tuple[dict[Value, None], dict[Value, None]]:
    """The values from outside that are sliced, and those passed whole; whole
    constants are copied.
    """
    made = {v for op in ops for v in op.results}
    sliced: dict[Value, None] = {}
    shared: dict[Value, None] = {}
    for op in ops:
        for i, value in enumerate(op.operands):
            if value in made:
                continue
            if i in by_parts[op]:
                sliced[value] = None
            elif value.defined_by(nn.Constant) is None:
                shared[value] = None
    return sliced, shared


def _part_function(
    name: str,
    ops: list[nn.NnOp],
    sliced: dict[Value, None],
    shared: dict[Value, None],
    outputs: list[Value],
    parts: int,
) -> FuncOp | None:
    """A function of the ops on one part of the batch; None if an op cannot be split."""
    inputs = [*(_part_type(v, parts) for v in sliced), *(v.type for v in shared)]
    results = [_part_type(v, parts) for v in outputs]
    function = FuncOp.of(name, inputs, results, visibility="private", loc=ops[0].loc)
    mapping = IRMapping()
    b = Builder.at_end(function.body.block)
    for old, new in zip((*sliced, *shared), function.args, strict=True):
        mapping[old] = new
        new.name_hint = old.name_hint
    for op in ops:
        for value in op.operands:
            constant = value.defined_by(nn.Constant)
            if constant is not None and value not in mapping.values:
                b.insert(constant.clone(mapping))
        copy = b.insert(op.clone(mapping))
        for result in copy.results:
            result.type = _part_type(result, parts)
        try:
            copy.verify_op()  # type: ignore[attr-defined]
        except NncError:
            return None
    b.insert(Return([mapping[v] for v in outputs]))
    return function


def _part_type(value: Value, parts: int) -> TensorType:
    rows, *rest = shape_of(value)
    return TensorType((rows // parts, *rest), element_of(value))


def _piece(b: Builder, value: Value, number: int, parts: int) -> Value:
    """The part with index `number` of a batch."""
    type = _part_type(value, parts)
    starts = (number * type.shape[0], *(0,) * (type.rank - 1))
    return b.insert(nn.Slice(value, starts=starts, out=type)).result


def _move_users_behind(ops: list[nn.NnOp]) -> Operation:
    """Move the ops that depend on `ops` to the end of the block. Returns the first of them."""
    inside, made = set(ops), {v for op in ops for v in op.results}
    block = ops[0].parent
    assert block is not None
    users = []
    for op in list(block):
        if op not in inside and (op is block.last or not made.isdisjoint(op.operands)):
            made.update(op.results)
            users.append(op)
    for op in users:
        op.detach()
    for op in users:
        block.append(op)
    return users[0]


def _rename(function: FuncOp, module: ModuleOp) -> None:
    """Give the function a name that is unique in the module."""
    taken = {symbol_name(op) for op in module.body_block}
    stem, number = function.sym_name, 0
    while function.sym_name in taken:
        function.sym_name = f"{stem}_{number}"
        number += 1
