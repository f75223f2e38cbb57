"""Offsets for the constants that are stored outside of the text, in one or two
blocks of weights.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from hashlib import blake2b

from ..dialects import arith, func, memref
from ..dialects.marks import (
    ENTRY,
    KERNEL,
    MAKER,
    OFFSET,
    PREPARED,
    STORED,
    USED_WEIGHTS,
    WEIGHT,
    WEIGHTS,
)
from ..ir.attributes import ArrayAttr, DenseResource, DictAttr, I64Attr, IntegerAttr, UnitAttr
from ..ir.builder import Builder
from ..ir.core import BlockArgument, Operation
from ..ir.diagnostics import PassError
from ..ir.types import FunctionType, MemRefType, size_fault
from ..runtime.abi import aligned
from ..targets.attribute import target_of
from .needs import bytes_in


def place_weights(module: Operation, functions: Iterable[func.FuncOp]) -> tuple[int, int]:
    """Place constants in %weights and %prepared, and return the bytes of both.

    Constants that a function of `prepare-weights` makes go into %prepared; the constants that these
    are made from come first in %weights, in the order of use.
    """
    globals_ = {g.sym_name: g for g in module.regions[0].ops if isinstance(g, memref.Global)}
    entries = [f for f in functions if ENTRY in f.attributes and f.body.blocks]
    helpers = _helpers(entries, functions)
    uses = {one: _stored_constants(one, globals_) for one in (*entries, *helpers.values())}
    used = {op.symbol for found in uses.values() for op in found}
    makers = _makers(functions, [globals_[name] for name in used])
    for function in makers.values():
        uses[function] = _stored_constants(function, globals_)
    weights, prepared = _Places("weights", WEIGHTS), _Places("prepared", PREPARED)
    stored = module.attribute(STORED)
    if isinstance(stored, DictAttr):
        weights = _SharedPlaces("weights", WEIGHTS, stored)
    for function in (*makers.values(), *entries, *helpers.values()):
        for op in uses[function]:
            places = prepared if op.symbol in makers else weights
            places.give(globals_[op.symbol])
    for name, function in makers.items():
        ends = [weights.end(globals_[op.symbol]) for op in uses[function]]
        function.attributes[USED_WEIGHTS] = I64Attr(max(ends, default=0))
        function.set_arg_attribute(0, OFFSET, I64Attr(prepared.offsets[name]))
    for places in (weights, prepared):
        of_it = {f: [op for op in ops if op.symbol in places.offsets] for f, ops in uses.items()}
        needing = _needing({f for f, ops in of_it.items() if ops}, uses, helpers)
        given: dict[func.FuncOp, BlockArgument] = {}
        for function, ops in of_it.items():
            is_called = function.sym_name in helpers
            if function in needing or (places is weights and not is_called):
                given[function] = places.views(function, ops)
        _pass_on(given, helpers)
    _erase_unused(module, [globals_[name] for name in (*weights.offsets, *prepared.offsets)])
    for places in (weights, prepared):
        if places.table:
            module.attributes[places.mark] = DictAttr(tuple(places.table.items()))
    return weights.total, prepared.total


def _stored_constants(
    function: func.FuncOp, globals_: dict[str, memref.Global]
) -> list[memref.GetGlobal]:
    """The function's uses of constants that are stored outside of the text."""
    return [
        op
        for op in function.walk()
        if isinstance(op, memref.GetGlobal)
        and isinstance(globals_[op.symbol].initial_value, DenseResource)
    ]


def _makers(functions: Iterable[func.FuncOp], used: list[memref.Global]) -> dict[str, func.FuncOp]:
    """{name of a global: the function that makes it}, in their order.

    A function whose global is not used any more is erased.
    """
    found: dict[str, func.FuncOp] = {}
    by_key = {(g.initial_value.key, g.type): g.sym_name for g in used}
    marked = [f for f in functions if MAKER in f.attributes]
    for function in sorted(marked, key=lambda f: f.attributes[MAKER].value):  # type: ignore[attr-defined]
        key = function.arg_attribute(0, WEIGHT)
        name = by_key.get((getattr(key, "value", ""), function.function_type.inputs[0]))
        if name is None:
            function.erase()
        else:
            found[name] = function
    return found


class _Places:
    """A block of constants, with the offset of each. Units: bytes."""

    def __init__(self, name: str, mark: str) -> None:
        self.name, self.mark = name, mark
        self.total = 0
        self.offsets: dict[str, int] = {}
        self.table: dict[str, DictAttr] = {}

    def give(self, target: memref.Global) -> None:
        """Give a constant an offset if it has none."""
        if target.sym_name not in self.offsets:
            self._append(target)

    def _append(self, target: memref.Global) -> None:
        self.offsets[target.sym_name] = self.total
        entry = (("data", target.initial_value), ("offset", I64Attr(self.total)))
        name = target.sym_name
        while name in self.table:
            name += "_"
        self.table[name] = DictAttr(entry)
        self.total += aligned(target.type.num_bytes)

    def end(self, target: memref.Global) -> int:
        """The offset of the first byte behind a constant."""
        return self.offsets[target.sym_name] + target.type.num_bytes

    def views(self, function: func.FuncOp, uses: list[memref.GetGlobal]) -> BlockArgument:
        """Replace uses of constants by views of the block, which becomes an argument of the
        function.
        """
        argument = add_argument(function, bytes_in(None, self.total), self.name, self.mark)
        for op in uses:
            builder = Builder.before_op(op)
            offset = builder.insert(arith.Constant.index(self.offsets[op.symbol])).result
            view = memref.View(argument, offset, [], result=op.result.type)
            op.replace_with(builder.insert(view).result)
        return argument


class _SharedPlaces(_Places):
    """A block that already has some constants; equal constants share their place."""

    def __init__(self, name: str, mark: str, stored: DictAttr) -> None:
        super().__init__(name, mark)
        self.table.update(stored.items())  # type: ignore[arg-type]
        self.by_size: dict[int, list[tuple[DenseResource, int]]] = defaultdict(list)
        self.digests: dict[DenseResource, bytes] = {}
        for entry in self.table.values():
            data, offset = entry.get("data"), entry.get("offset")
            assert isinstance(data, DenseResource) and isinstance(offset, IntegerAttr)
            size = data.type.num_bytes
            self.by_size[size].append((data, offset.value))
            self.total = max(self.total, offset.value + aligned(size))

    def give(self, target: memref.Global) -> None:
        if target.sym_name in self.offsets:
            return
        given = target.initial_value
        assert isinstance(given, DenseResource)
        for data, offset in self.by_size.get(target.type.num_bytes, ()):
            if self._digest(data) == self._digest(given):
                self.offsets[target.sym_name] = offset
                return
        self._append(target)

    def _digest(self, data: DenseResource) -> bytes:
        """A digest of the bytes of a constant: equal for equal constants."""
        found = self.digests.get(data)
        if found is None:
            elements = data.blob.elements(data.type)
            found = self.digests[data] = blake2b(elements.tobytes(), digest_size=16).digest()
            data.blob.release()
        return found


# -- functions between an entry and its kernels ----------------------------------------------------


def _helpers(
    entries: Iterable[func.FuncOp], functions: Iterable[func.FuncOp]
) -> dict[str, func.FuncOp]:
    """The functions other than kernels that entries call, such as the body of a loop, by name."""
    by_name = {f.sym_name: f for f in functions}
    found: dict[str, func.FuncOp] = {}
    work = list(entries)
    while work:
        for call in _calls(work.pop()):
            callee = by_name.get(call.callee)
            if callee is None or call.callee in found or callee.is_declaration:
                continue
            if KERNEL not in callee.attributes and callee.sym_visibility == "private":
                found[call.callee] = callee
                work.append(callee)
    return found


def _calls(function: func.FuncOp) -> list[func.Call]:
    return [op for op in function.walk() if isinstance(op, func.Call)]


def _needing(
    users: set[func.FuncOp], functions: Iterable[func.FuncOp], helpers: dict[str, func.FuncOp]
) -> set[func.FuncOp]:
    """The functions that use constants, and those that call helpers which use constants."""
    found = set(users)
    callees = {f: {helpers.get(c.callee) for c in _calls(f)} for f in functions}
    count = -1
    while count != len(found):
        count = len(found)
        found |= {f for f, called in callees.items() if called & found}
    return found


def _pass_on(given: dict[func.FuncOp, BlockArgument], helpers: dict[str, func.FuncOp]) -> None:
    """Let calls of helpers that got the argument pass the caller's argument to them."""
    for function, argument in given.items():
        for call in _calls(function):
            if helpers.get(call.callee) in given:
                call.args = [*call.args, argument]


def _erase_unused(module: Operation, candidates: list[memref.Global]) -> None:
    used = {op.symbol for op in module.walk() if isinstance(op, memref.GetGlobal)}
    for one in candidates:
        if one.sym_name not in used:
            one.erase()


def add_argument(
    function: func.FuncOp, type: MemRefType, name: str, attribute: str
) -> BlockArgument:
    """Append an argument of this type, with a name and an attribute that marks it."""
    bits = target_of(function).pointer_bits
    most = 1 << (bits - 1)  # distances have a sign
    if (fault := size_fault(type)) or type.num_bytes >= most:
        fault = (
            fault or f"{type.num_bytes} bytes, are {most} or more, which {bits} bits do not address"
        )
        raise PassError(f"the {name} that the function needs, {fault}", function.loc)
    old = function.function_type
    if function.arg_attrs is not None:
        function.arg_attrs = ArrayAttr((*function.arg_attrs, DictAttr(())))
    function.function_type = FunctionType((*old.inputs, type), old.results)
    arg = function.body.block.add_arg(type, function.loc)
    arg.name_hint = name
    function.set_arg_attribute(len(old.inputs), attribute, UnitAttr())
    return arg
