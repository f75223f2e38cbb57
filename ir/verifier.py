"""The verifier: what every operation must satisfy, in upstream's words.

One walk checks each operation's own rules (fields, traits, `verify_op`) and that every
operand is defined before, and visible at, its use. Iterative: nesting depth is no limit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any

from .attributes import Attribute, DenseArrayAttr, DenseElements, DenseResource
from .constraints import Derived, Exactly, Same
from .core import Block, Operation, Region, UnregisteredOp, Value
from .declare import UNIT, Op, OpDefinition, ValueField
from .diagnostics import Diagnostic, NncError, VerifyError
from .dominance import DominanceInfo
from .traits import GraphRegion, IsolatedFromAbove, NoTerminator, Terminator, Trait
from .types import Type


def verify(root: Operation) -> None:
    """Check `root` and all that is nested in it. Raises VerifyError at the first fault."""
    _Walk().run(root)


class _Walk:
    """The walk's state: which values may be used here.

    `visible` holds what the enclosing blocks have defined so far; leaving a block takes its
    values out again. A value of another block of the same region is looked up by dominance.
    """

    def __init__(self) -> None:
        self.dominance = DominanceInfo()

    def run(self, root: Operation) -> None:
        verify_operation(root)
        # A frame: a block to enter or None; the operation whose regions come before the rest of its
        # block; what to forget at the block's end; what is visible.
        stack, checks = list[_Frame](), _CHECKS
        self._push_regions(root, stack, set())
        while stack:
            block, op, defined, visible = stack.pop()
            if block is not None:
                op, defined = block._first, list[Value](block.args)
                visible.update(defined)
                if _is_graph(block):
                    for inner in block:
                        visible.update(inner.results)
            elif op is not None:  # its results are not visible in its own regions
                visible.update(op.results)
                defined += op.results
                op = op._next
            while op is not None:
                for operand in op._operands:
                    if operand not in visible:
                        self._look_up(op, visible)
                        break
                check = checks.get(op.__class__)
                if check is not None:
                    check(op)
                else:
                    verify_operation(op)
                if op.regions:
                    stack.append((None, op, defined, visible))
                    self._push_regions(op, stack, visible)
                    break
                for result in op.results:
                    visible.add(result)
                    defined.append(result)
                op = op._next
            else:
                visible.difference_update(defined)

    def _push_regions(self, op: Operation, stack: list[_Frame], visible: set[Value]) -> None:
        traits = op.traits
        needs_terminator = NoTerminator not in traits and op.__class__ is not UnregisteredOp
        for region in reversed(op.regions):
            inner = set() if IsolatedFromAbove in traits else visible
            for block in reversed(region.blocks):
                if needs_terminator or len(region.blocks) > 1:
                    _verify_terminator(op, block)
                stack.append((block, None, [], inner))

    def _look_up(self, op: Operation, visible: set[Value]) -> None:
        """Check, by dominance, operands that are not among `visible`."""
        for i, operand in enumerate(op._operands):
            if operand not in visible:
                self._check_slowly(op, i, operand)

    def _check_slowly(self, op: Operation, i: int, operand: Value) -> None:
        crosses = _crosses_isolation(operand, op)
        if not crosses:
            if self.dominance.value_dominates(operand, op):
                return
            if op.parent is not None and not self.dominance.is_reachable(op.parent):
                return
        notes = []
        definer = operand.defining_op
        if definer is not None:
            text = f"operand defined here (op in {_place_of(definer, op)})"
            notes.append(Diagnostic("note", text, definer.loc))
        if crosses:
            message = "using value defined outside the region"
            raise VerifyError(f"'{op.name}' op {message}", op.loc, notes)
        raise VerifyError(f"'{op.name}' op operand #{i} does not dominate this use", op.loc, notes)


_Frame = tuple[Block | None, Operation | None, list[Value], set[Value]]


def _is_graph(block: Block) -> bool:
    """Whether values may be used in the block before they are defined."""
    owner = block.parent_op
    return owner is not None and (GraphRegion in owner.traits or owner.__class__ is UnregisteredOp)


def _place_of(definer: Operation, user: Operation) -> str:
    """Where an operation lies, seen from one that uses its result."""
    at = user.parent_op
    if definer.parent is user.parent:
        return "the same block"
    while at is not None and at is not definer:
        at = at.parent_op
    return "another block" if at is None else "a parent region"


def _crosses_isolation(value: Value, op: Operation) -> bool:
    block = value.parent_block
    at: Operation | None = op
    while at is not None and block is not None and at.parent is not None:
        if at.parent.parent is block.parent:
            return False
        at = at.parent_op
        if at is not None and at.has_trait(IsolatedFromAbove):
            return True
    return False


def _verify_terminator(op: Operation, block: Block) -> None:
    last = block.last
    if last is None:
        raise op.error("expects a non-empty block: an empty block needs at least a terminator")
    if not last.has_trait(Terminator) and not isinstance(last, UnregisteredOp):
        raise VerifyError(
            f"'{op.name}' op block with no terminator, its last operation is '{last.name}'",
            last.loc,
        )


def verify_operation(op: Operation) -> None:
    """Check one operation's own rules, without its regions' contents and dominance."""
    check = _CHECKS.get(op.__class__)
    if check is None:
        if not isinstance(op, Op):
            if op.successors:
                _verify_successors(op)
            return
        check = _CHECKS[op.__class__] = _compile(op.definition)
    check(op)


def _verify_successors(op: Operation) -> None:
    region: Region | None = op.parent.parent if op.parent is not None else None
    for successor in op.successors:
        if successor.parent is not region:
            raise op.error("branches to a block of another region")
    if op.next is not None:
        raise op.error("with successors must terminate its parent block")


# -- checks compiled from a declaration ------------------------------------------------------

Check = Callable[[Any], None]
_CHECKS: dict[type, Check] = {}

_MOST_SIGNATURES = 4096
"""The most type combinations that are remembered for an op class."""

_types = attrgetter("type")


def _compile(definition: OpDefinition) -> Check:
    """A function that checks the operations of a class.

    Rules that depend only on the types of operands and results and on the number of parts are
    checked once for each combination of these (types are interned), all others each time.
    """
    signed: list[Check] = [_count_check(definition)]
    signed += _value_checks(definition.operands, "operand", definition)
    signed += _value_checks(definition.results, "result", definition)
    if same := _same_check(definition):
        signed.append(same)
    for part in (*definition.operands, *definition.results):
        if isinstance(part.constraint, Derived):
            signed.append(_derived_check(part, part.constraint))
    others: list[Check] = []
    if attributes := [_attribute_check(a) for a in definition.attributes.values()]:
        others.append(_attributes_check(definition, attributes))
    for trait in sorted(definition.cls.traits, key=_trait_name):
        if not isinstance(trait, type) or trait.verify.__func__ is not Trait.verify.__func__:
            (signed if trait.types_only else others).append(trait.verify)
    if definition.cls.verify_op is not Op.verify_op:
        others.append(definition.cls.verify_op)
    return _joined(definition, tuple(signed), tuple(others))


def _joined(
    definition: OpDefinition, signed: tuple[Check, ...], others: tuple[Check, ...]
) -> Check:
    seen: set[tuple[Any, ...]] = set()
    segments = [
        name
        for name, is_needed in (
            ("operandSegmentSizes", definition.sized_operands),
            ("resultSegmentSizes", definition.sized_results),
        )
        if is_needed
    ]

    def check(op: Operation) -> None:
        if op.successors:
            _verify_successors(op)
        signature = (
            len(op.regions),
            len(op.successors),
            *map(_types, op._operands),
            None,
            *map(_types, op.results),
        )
        if segments:
            signature += tuple([op.properties.get(name) for name in segments])
        if signature not in seen:
            for one in signed:
                one(op)
            if len(seen) >= _MOST_SIGNATURES:
                seen.clear()
            seen.add(signature)
        for one in others:
            one(op)

    return check


def _trait_name(trait: Any) -> str:
    return trait.__name__ if isinstance(trait, type) else type(trait).__name__


def _count_check(definition: OpDefinition) -> Check:
    def bounds(group: tuple[ValueField, ...]) -> tuple[int, int | None]:
        least = sum(f.is_single for f in group)
        if any(f.variadic for f in group):
            return least, None
        return least, len(group)

    operand_bounds, result_bounds = bounds(definition.operands), bounds(definition.results)
    regions = len(definition.regions)
    open_regions = any(r.variadic for r in definition.regions)
    successors = len(definition.successors)
    open_successors = any(s.variadic for s in definition.successors)

    def check(op: Operation) -> None:
        _check_count(op, len(op._operands), operand_bounds, "operand")
        _check_count(op, len(op.results), result_bounds, "result")
        if len(op.regions) != regions and not open_regions:
            raise op.error(f"requires {_count(regions, 'region')}, found {len(op.regions)}")
        if len(op.successors) != successors and not open_successors:
            raise op.error(
                f"requires {_count(successors, 'successor')}, found {len(op.successors)}"
            )
        if definition.sized_operands:
            _check_segments(op, "operandSegmentSizes", definition.operands, len(op._operands))
        if definition.sized_results:
            _check_segments(op, "resultSegmentSizes", definition.results, len(op.results))

    return check


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" + ("s" if n != 1 else "")


def _check_count(op: Operation, n: int, bounds: tuple[int, int | None], noun: str) -> None:
    least, most = bounds
    if (n < least and most == least) or (most is not None and n > most):
        raise op.error(f"expected {_count(least, noun)}, but found {n}")
    if n < least:
        raise op.error(f"expected {least} or more {noun}s, but found {n}")


def _check_segments(op: Operation, name: str, group: tuple[ValueField, ...], total: int) -> None:
    noun = "operand" if name.startswith("operand") else "result"
    sizes = op.properties.get(name)
    if not isinstance(sizes, DenseArrayAttr):
        raise op.error(f"requires attribute '{name}' as array<i32: ..>")
    if len(sizes.values) != len(group):
        raise op.error(
            f"'{name}' attribute for specifying {noun} segments must have {len(group)} elements, "
            f"but got {len(sizes.values)}"
        )
    if min(sizes.values, default=0) < 0:
        raise op.error(f"'{name}' attribute cannot have negative elements")
    if sum(sizes.values) != total:
        raise op.error(
            f"{noun} count ({total}) does not match with the total size ({sum(sizes.values)}) "
            f"specified in attribute '{name}'"
        )
    for part, size in zip(group, sizes.values, strict=True):
        if (part.is_single and size != 1) or (part.optional and size > 1):
            wanted = "1" if part.is_single else "0 or 1"
            raise op.error(
                f"{noun} group '{part.name}' requires {wanted} element, but found {size}"
            )


def _value_checks(
    group: tuple[ValueField, ...], noun: str, definition: OpDefinition
) -> list[Check]:
    by_name = {f.name: f for f in (*definition.operands, *definition.results)}
    single = all(f.is_single for f in group)
    checks: list[Check] = []
    for part in group:
        constraint = part.constraint
        seen = {part.name}
        while (
            isinstance(constraint, Same)
            and constraint.field in by_name
            and constraint.field not in seen
        ):
            seen.add(constraint.field)
            constraint = by_name[constraint.field].constraint
        if isinstance(constraint, Derived | Same) or constraint.description == "any type":
            continue
        checks.append(_constraint_check(part, constraint, noun, single))
    return checks


def _constraint_check(part: ValueField, constraint: Any, noun: str, single: bool) -> Check:
    allows, description, position = constraint.allows, constraint.description, part.position
    exact = constraint.type if isinstance(constraint, Exactly) else None
    prefix = "variadic of " if part.variadic else ""

    def fail(op: Operation, i: int, type: Type) -> VerifyError:
        return op.error(f"{noun} #{i} must be {prefix}{description}, but got '{type}'")

    if single:

        def check_one(op: Operation) -> None:
            values = op._operands if noun == "operand" else op.results
            type = values[position].type
            if type is not exact and not allows(type):
                raise fail(op, position, type)

        return check_one

    def check_group(op: Operation) -> None:
        ranges = op.definition.operand_range if noun == "operand" else op.definition.result_range
        values = op._operands if noun == "operand" else op.results
        start, end = ranges(op, position)
        for i in range(start, end):
            if not allows(values[i].type):
                raise fail(op, i, values[i].type)

    return check_group


def check_before_inference(
    definition: OpDefinition,
    operand_types: Sequence[Sequence[Type]],
    properties: Mapping[str, Attribute],
) -> None:
    """Raise NncError if operands or attributes break rules that `infer_result_types` relies on."""
    if not _infers(definition.cls):
        return
    at = 0
    for part, types in zip(definition.operands, operand_types, strict=True):
        for type in types:
            if not part.constraint.allows(type):
                description = (
                    "variadic of " if part.variadic else ""
                ) + part.constraint.description
                raise NncError(
                    f"'{definition.name}' op operand #{at} must be {description}, but got '{type}'"
                )
            at += 1
    for part in definition.attributes.values():
        if (fault := _attribute_fault(part, properties.get(part.name))) is not None:
            raise NncError(f"'{definition.name}' op {fault}")


@cache
def _infers(cls: type[Op]) -> bool:
    return cls.infer_result_types.__func__ is not Op.infer_result_types.__func__


def _same_check(definition: OpDefinition) -> Check | None:
    """A check that fields tied together by `Same` have one type; None without such fields."""
    parts = (*definition.operands, *definition.results)
    groups: list[set[str]] = []
    for part in parts:
        if isinstance(part.constraint, Same):
            pair = {part.name, part.constraint.field}
            touching = [g for g in groups if g & pair]
            groups = [g for g in groups if not g & pair] + [pair.union(*touching)]
    if not groups:
        return None
    whole = len(groups) == 1 and len(groups[0]) == len(parts) and definition.results
    single = all(p.is_single for p in parts)
    ordered = [[p for p in parts if p.name in g] for g in groups]

    def check(op: Operation) -> None:
        for group in ordered:
            types = []
            for part in group:
                is_operand = part in definition.operands
                values = op._operands if is_operand else op.results
                if single:
                    types.append(values[part.position].type)
                else:
                    ranges = definition.operand_range if is_operand else definition.result_range
                    start, end = ranges(op, part.position)
                    types += [v.type for v in values[start:end]]
            for type in types:
                if type is not types[0]:
                    if whole:
                        raise op.error("requires the same type for all operands and results")
                    names = ", ".join(p.name for p in group)
                    raise op.error(f"failed to verify that all of {{{names}}} have same type")

    return check


def _derived_check(part: ValueField, constraint: Derived) -> Check:
    def check(op: Operation) -> None:
        values = getattr(op, part.name)
        others = getattr(op, constraint.field)
        if values is None or others is None:
            return
        other = others[0] if isinstance(others, tuple) and others else others
        if isinstance(other, tuple):
            return
        expected = constraint.derive(other.type)
        for value in values if isinstance(values, tuple) else (values,):
            if expected is not None and value.type is not expected:
                raise op.error(
                    f"failed to verify that {part.name} is {constraint.description}: "
                    f"expected '{expected}', but got '{value.type}'"
                )

    return check


def _is_required(part: Any) -> bool:
    return not part.optional and part.default is None and part.kind is not UNIT


def _attribute_fault(part: Any, value: Attribute | None) -> str | None:
    """What is wrong with the value of an attribute field; None if nothing is."""
    if value is None:
        return f"requires attribute '{part.name}'" if _is_required(part) else None
    if not part.kind.allows(value):
        return f"attribute '{part.name}' failed to satisfy constraint: {part.kind.description}"
    return None


def _attribute_check(part: Any) -> Check:
    name, allows, required = part.name, part.kind.allows, _is_required(part)

    def check(op: Operation) -> None:
        value: Attribute | None = op.properties.get(name)
        if (required if value is None else not allows(value)) and (
            fault := _attribute_fault(part, value)
        ):
            raise op.error(fault)

    return check


def _attributes_check(definition: OpDefinition, checks: list[Check]) -> Check:
    """The check of all attributes; an interned attribute is checked only once."""
    passed: dict[str, set[Any]] = {name: set() for name in definition.attributes}
    rows = [(name, passed[name], check) for name, check in zip(passed, checks, strict=True)]

    def check(op: Operation) -> None:
        get = op.properties.get
        for name, known, one in rows:
            value = get(name)
            if value.__class__ in _LARGE or value not in known:
                one(op)
                if value.__class__ not in _LARGE and len(known) < _MOST_SIGNATURES:
                    known.add(value)

    return check


_LARGE = (DenseElements, DenseResource)
"""Attributes that are not remembered as verified: comparing them takes longer than checking."""
