"""Rewriting: named patterns, the rewriter, and the drivers that apply them.

    @rewrite(Transpose)
    def merge_transposes(op: Transpose, rewriter: Rewriter) -> None:
        '''transpose(transpose(x, p), q) -> transpose(x, q∘p)'''
        if inner := op.input.defined_by(Transpose):
            rewriter.replace(op, Transpose(inner.input, compose(..)))

A pattern that does nothing to the IR has not matched; there is no return value to forget.
Algebra reads better as a table, see `rewrite_rules.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .attributes import Attribute, DenseElements, FloatAttr, IntegerAttr
from .builder import Builder
from .core import Block, Operation, OpT, Value
from .declare import ValueLike, as_value
from .diagnostics import PassError
from .dialect import registry
from .docstrings import HAS_DOCSTRINGS
from .location import UnknownLoc
from .traits import ConstantLike, is_erasable
from .types import Type


@dataclass(frozen=True)
class Pattern:
    """A named rewrite, tried on the operations of the root classes (all, if there is none)."""

    name: str
    roots: tuple[type[Operation], ...]
    apply: Callable[[Any, Rewriter], None]
    doc: str = ""
    benefit: int = 1


def rewrite(*roots: type[Operation], benefit: int = 1):
    """Decorator: makes a function (op, rewriter) a Pattern of the same name, with dashes.

    The docstring states the rule in one line. Patterns with a higher benefit go first.
    """

    def wrap(function: Callable[[Any, Rewriter], None]) -> Pattern:
        doc = (function.__doc__ or "").strip()
        if not doc and HAS_DOCSTRINGS:
            raise TypeError(f"rewrite '{function.__name__}' needs a docstring that states its rule")
        return Pattern(function.__name__.replace("_", "-"), roots, function, doc, benefit)

    return wrap


class Listener:
    """Callbacks for every change that a Rewriter makes."""

    def inserted(self, op: Operation) -> None: ...
    def modified(self, op: Operation) -> None: ...
    def erased(self, op: Operation) -> None: ...
    def replaced(self, op: Operation, values: Sequence[Value]) -> None: ...


class RewriteTrace(Listener):
    """Callbacks before and after each rule; as a Listener, also for the changes that it makes."""

    def start(self, op: Operation) -> None:
        """Called before a rule is tried on `op`, which is still unchanged."""

    def fired(self, rule: str, op: Operation) -> None:
        """Called after `rule` has changed the IR at `op`, which may be erased by now."""

    def replacement(self, rule: str, op: Operation, values: Sequence[Value]) -> None:
        """Called before a pass without a rewriter replaces `op` by `values`."""


class Rewriter(Builder):
    """A builder placed before the matched operation, through which patterns change the IR."""

    def __init__(self, op: Operation, listener: Listener | None = None) -> None:
        assert op.parent is not None
        super().__init__(op.parent, op, op.loc)
        self.listener = listener or Listener()
        self.changed = False

    def insert(self, op: OpT) -> OpT:
        super().insert(op)
        self.changed = True
        self.listener.inserted(op)
        return op

    def replace(self, op: Operation, new: ValueLike | Sequence[ValueLike | None]) -> None:
        """Replace the results by new values and erase the operation.

        A new operation that is not yet in a block is inserted before `op`.
        """
        if isinstance(new, Operation):
            if new.parent is None:
                if isinstance(new.loc, UnknownLoc):
                    new.loc = op.loc
                assert op.parent is not None
                op.parent.insert_before(new, op)
                self.changed = True
                self.listener.inserted(new)
            values: list[Value | None] = list(new.results)
        elif isinstance(new, Value):
            values = [new]
        else:
            values = [None if v is None else as_value(v) for v in new]
        if len(values) != len(op.results):
            raise ValueError(f"{op.name}: {len(values)} values for {len(op.results)} results")
        self.listener.replaced(op, [v for v in values if v is not None])
        for old, value in zip(op.results, values, strict=True):
            if value is not None:
                users = old.users
                old.replace_all_uses_with(value)
                for user in users:
                    self.listener.modified(user)
        self.erase(op)

    def erase(self, op: Operation) -> None:
        self.changed = True
        for inner in op.walk() if op.regions else (op,):
            self.listener.erased(inner)
        definers = [v.defining_op for v in op._operands]
        op.erase()
        for definer in definers:
            if definer is not None:
                self.listener.modified(definer)

    def set_operand(self, op: Operation, i: int, value: Value) -> None:
        old = op._operands[i].defining_op
        op.set_operand(i, value)
        self.modified(op)
        if old is not None:
            self.listener.modified(old)

    def replace_uses(self, old: Value, new: Value) -> None:
        """Replace all uses of a value, whose definition stays."""
        users = old.users
        old.replace_all_uses_with(new)
        for user in users:
            self.modified(user)

    def modified(self, op: Operation) -> None:
        """Tell that `op` was changed in place."""
        self.changed = True
        self.listener.modified(op)

    def inline_block_before(self, block: Block, op: Operation, args: Sequence[Value]) -> None:
        """Move the operations of `block` before `op`, with `args` for its arguments; erase it."""
        for arg, value in zip(block.args, args, strict=True):
            self.replace_uses(arg, value)
        for inner in block:
            inner.move_before(op)
            self.listener.inserted(inner)
        self.changed = True
        if block.parent is not None:
            block.parent.blocks.remove(block)
            block.parent = None


# -- constants ---------------------------------------------------------------------------------


def constant_value(value: Value) -> Attribute | None:
    """The attribute of a value that a constant-like operation defines."""
    op = value.defining_op
    if op is not None and ConstantLike in op.traits:
        return op.properties.get("value")
    return None


def constant_int(value: Value) -> int | None:
    """The value of an integer or index constant, or of a splat of one."""
    match constant_value(value):
        case IntegerAttr(v):
            return v
        case DenseElements() as dense if dense.is_splat and isinstance(dense.values()[0], int):
            return dense.values()[0]
    return None


def constant_number(value: Value) -> int | float | None:
    """The value of a scalar or splat constant of any numeric type."""
    match constant_value(value):
        case IntegerAttr(v) | FloatAttr(v):
            return v
        case DenseElements() as dense if dense.is_splat and not dense.strings:
            number = dense.values()[0]
            return number if isinstance(number, int | float) else None
    return None


def materialize(attribute: Attribute, type: Type, like: Operation) -> Operation | None:
    """A new constant operation, not yet in a block, of the dialect of `like` if that has one, else
    of `registry.constants`; None if neither can hold the attribute.
    """
    names = [like.name.partition(".")[0], registry.constants]
    for name in names:
        dialect = registry.dialects.get(name)
        make = dialect.materialize_constant if dialect is not None else None
        if make is not None:
            op = make(attribute, type, like.loc)
            if op is not None:
                return op
    return None


# -- drivers -------------------------------------------------------------------------------------


class PatternSet:
    """Patterns by the operation class they start from, the most beneficial first."""

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        self._by_class: dict[type, list[Pattern]] = {}
        self._patterns = sorted(patterns, key=lambda p: -p.benefit)

    def of(self, op_class: type[Operation]) -> list[Pattern]:
        found = self._by_class.get(op_class)
        if found is None:
            found = [p for p in self._patterns if not p.roots or issubclass(op_class, p.roots)]
            self._by_class[op_class] = found
        return found


@dataclass
class _Greedy(Listener):
    """The greedy driver's worklist of operations, each at most once, last in first out."""

    patterns: PatternSet
    trace: RewriteTrace | None = None
    worklist: list[Operation | None] = field(default_factory=list)
    positions: dict[Operation, int] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    rewrites: int = 0

    def push(self, op: Operation) -> None:
        if op not in self.positions:
            self.positions[op] = len(self.worklist)
            self.worklist.append(op)

    def pop(self) -> Operation | None:
        while self.worklist:
            op = self.worklist.pop()
            if op is not None:
                del self.positions[op]
                return op
        return None

    def inserted(self, op: Operation) -> None:
        self.push(op)

    def modified(self, op: Operation) -> None:
        self.push(op)

    def erased(self, op: Operation) -> None:
        at = self.positions.pop(op, None)
        if at is not None:
            self.worklist[at] = None

    def replaced(self, op: Operation, values: Sequence[Value]) -> None: ...


class _TracedGreedy(_Greedy):
    """A worklist that also passes changes on to a trace."""

    trace: RewriteTrace

    def inserted(self, op: Operation) -> None:
        super().inserted(op)
        self.trace.inserted(op)

    def modified(self, op: Operation) -> None:
        super().modified(op)
        self.trace.modified(op)

    def replaced(self, op: Operation, values: Sequence[Value]) -> None:
        self.trace.replaced(op, values)


def apply_greedily(
    root: Operation,
    patterns: Iterable[Pattern] | PatternSet,
    *,
    fold: bool = True,
    dce: bool = True,
    max_rewrites: int | None = None,
    trace: RewriteTrace | None = None,
) -> bool:
    """Apply patterns, folds and dead-code removal inside `root` until nothing changes.

    More than `max_rewrites` rewrites (default: 64 for each operation, and 4096) raise a PassError
    that names the rules that fired most, since these probably undo each other. `trace` records
    every rule that fires. Returns whether anything changed.
    """
    make = _Greedy if trace is None else _TracedGreedy
    driver = make(patterns if isinstance(patterns, PatternSet) else PatternSet(patterns), trace)
    ops = [op for op in root.walk() if op is not root]
    for op in reversed(ops):
        driver.push(op)
    limit = max_rewrites if max_rewrites is not None else 64 * len(ops) + 4096
    fired = 0
    while (op := driver.pop()) is not None:
        if trace is not None:
            trace.start(op)
        if dce and not op.has_used_results and _is_dead(op):
            _erase_dead(op, driver)
            driver.rewrites += 1
            if trace is not None:
                trace.fired("dead code", op)
            continue
        if fold and _try_fold(op, driver):
            driver.counts["fold " + op.name] += 1
        elif not _try_patterns(op, driver):
            continue
        fired += 1
        if fired > limit:
            worst = ", ".join(f"'{n}' ({c} times)" for n, c in driver.counts.most_common(4))
            raise PassError(
                f"rewriting does not end: {limit} rewrites; the rules that fire most: {worst}",
                op.loc if op.parent is not None else root.loc,
            )
    return driver.rewrites > 0


def _is_dead(op: Operation) -> bool:
    return bool(op.results) and is_erasable(op)


def _erase_dead(op: Operation, driver: _Greedy) -> None:
    definers = [v.defining_op for v in op._operands]
    for inner in op.walk() if op.regions else (op,):
        driver.erased(inner)
    op.erase()
    for definer in definers:
        if definer is not None:
            driver.push(definer)


def _try_fold(op: Operation, driver: _Greedy) -> bool:
    if ConstantLike in op.traits or (folded := op.fold()) is None:
        return False
    values: list[Value] = []
    made: list[Operation] = []
    for new, result in zip(folded, op.results, strict=True):
        if isinstance(new, Value):
            if new is result:
                return False
            values.append(new)
            continue
        constant = materialize(new, result.type, op)
        if constant is None:
            return False
        made.append(constant)
        values.append(constant.result)
    rewriter = Rewriter(op, driver)
    for constant in made:
        rewriter.insert(constant)
    rewriter.replace(op, values)
    driver.rewrites += 1
    if driver.trace is not None:
        driver.trace.fired("fold", op)
    return True


def _try_patterns(op: Operation, driver: _Greedy) -> bool:
    for pattern in driver.patterns.of(type(op)):
        rewriter = Rewriter(op, driver)
        pattern.apply(op, rewriter)
        if rewriter.changed:
            if driver.trace is not None:
                driver.trace.fired(pattern.name, op)
            driver.counts[pattern.name] += 1
            driver.rewrites += 1
            if op.parent is not None:
                driver.push(op)
            return True
    return False


class _Gone(Listener):
    """Records erased operations, and passes changes on to a trace."""

    def __init__(self, trace: RewriteTrace | None) -> None:
        self.ops: set[Operation] = set()
        self.trace = trace or Listener()

    def erased(self, op: Operation) -> None:
        self.ops.add(op)

    def inserted(self, op: Operation) -> None:
        self.trace.inserted(op)

    def replaced(self, op: Operation, values: Sequence[Value]) -> None:
        self.trace.replaced(op, values)


def apply_once(
    root: Operation,
    patterns: Iterable[Pattern] | PatternSet,
    trace: RewriteTrace | None = None,
) -> bool:
    """Try the patterns once on each operation that is inside `root` now, in order.

    For lowerings, whose patterns replace each operation by others that need no second look.
    """
    table = patterns if isinstance(patterns, PatternSet) else PatternSet(patterns)
    listener, changed = _Gone(trace), False
    for op in [op for op in root.walk() if op is not root]:
        if op in listener.ops:
            continue
        candidates = table.of(type(op))
        if trace is not None and candidates:
            trace.start(op)
        for pattern in candidates:
            rewriter = Rewriter(op, listener)
            pattern.apply(op, rewriter)
            if rewriter.changed:
                changed = True
                if trace is not None:
                    trace.fired(pattern.name, op)
                break
    return changed


def erase_dead_code(root: Operation, trace: RewriteTrace | None = None) -> bool:
    """Erase the operations inside `root` whose results nobody uses and that have no effect."""
    return apply_greedily(root, (), fold=False, trace=trace)
