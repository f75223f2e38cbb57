"""Traits: facts about an operation that passes and the verifier rely on.

A trait is a class; an op lists it in `traits=`. `verify(op)` checks what the trait demands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from .attributes import StringAttr
from .diagnostics import Diagnostic, VerifyError
from .types import ShapedType, UnrankedTensorType


class Trait:
    """Base of traits; most are used as classes, those with parameters as instances."""

    types_only: ClassVar[bool] = False
    """Whether `verify` depends on the types of operands and results only."""

    @classmethod
    def verify(cls, op: Any) -> None:
        """Raise op.error(..) where the operation breaks the trait."""


class Terminator(Trait):
    """Ends a block."""

    @classmethod
    def verify(cls, op: Any) -> None:
        if op.parent is not None and op.next is not None:
            raise op.error("must be the last operation in the parent block")


class Pure(Trait):
    """No effect but its results; may be erased, duplicated and moved where operands dominate."""


class NoMemoryEffect(Trait):
    """No effect but its results, but undefined for some operands, such as a division.

    May be erased and shared with an equal operation that dominates it, but moved to where it
    would not have run only if `op.is_speculatable()`. A `Pure` operation does not list this.
    """


class ReadsMemory(Trait):
    """Only reads memory: may be erased when unused, not moved across writes."""


class WritesMemory(Trait):
    """Writes memory (and may read it)."""


class AllocatesMemory(Trait):
    """Makes a new buffer: may be erased when unused."""


class RecursiveEffects(Trait):
    """Has the effects of the operations in its regions, and none of its own."""


class Commutative(Trait):
    """The order of the two operands does not matter."""


class Idempotent(Trait):
    """f(x, x) is x, or f(f(x)) is f(x)."""


class Involution(Trait):
    """f(f(x)) is x."""


class MovesElements(Trait):
    """Each element of its only result is an element of its first operand, whatever it is."""


class ConstantLike(Trait):
    """Its only result is the attribute `value`; folds to it."""


class Elementwise(Trait):
    """Works element by element on scalars, and on vectors or tensors of equal shape."""

    types_only = True

    @classmethod
    def verify(cls, op: Any) -> None:
        shaped = (ShapedType, UnrankedTensorType)
        operands = [t for t in op.operand_types if isinstance(t, shaped)]
        results = [t for t in op.result_types if isinstance(t, shaped)]
        if operands and not results:
            raise op.error(
                "if an operand is non-scalar, then there must be at least one non-scalar result"
            )
        if results and not operands:
            raise op.error(
                "if a result is non-scalar, then at least one operand must be non-scalar"
            )
        kinds = {(type(t), t.rank) for t in [*operands, *results] if isinstance(t, ShapedType)}
        if len(kinds) > 1:
            raise op.error("all non-scalar operands/results must have the same shape and base type")


class IsolatedFromAbove(Trait):
    """Its regions use no value from outside."""


class SymbolTable(Trait):
    """Its region holds symbols with unique names."""

    @classmethod
    def verify(cls, op: Any) -> None:
        seen: dict[str, Any] = {}
        for block in op.regions[0].blocks if op.regions else ():
            for inner in block:
                name = inner.attribute("sym_name")
                if not isinstance(name, StringAttr):
                    continue
                if name.value in seen:
                    note = Diagnostic(
                        "note", "see existing symbol definition here", seen[name.value].loc
                    )
                    message = f"redefinition of symbol named '{name.value}'"
                    raise VerifyError(message, inner.loc, [note])
                seen[name.value] = inner


class Symbol(Trait):
    """Defines the symbol named by its attribute `sym_name`."""


class SingleBlock(Trait):
    """Each region has at most one block (exactly one, unless it may be empty)."""

    @classmethod
    def verify(cls, op: Any) -> None:
        for i, region in enumerate(op.regions):
            if len(region.blocks) > 1:
                raise op.error(f"expects region #{i} to have 0 or 1 blocks")


class NoTerminator(Trait):
    """The blocks of its regions need no terminator."""


class GraphRegion(Trait):
    """In its regions, a value may be used before the operation that defines it."""


@dataclass(frozen=True)
class HasParent(Trait):
    """Stands directly in one of these operations."""

    names: tuple[str, ...]

    def __init__(self, *names: str) -> None:
        object.__setattr__(self, "names", names)

    def verify(self, op: Any) -> None:
        parent = op.parent_op
        if parent is not None and parent.name not in self.names:
            several = "to be one of " if len(self.names) > 1 else ""
            raise op.error(f"expects parent op {several}'{', '.join(self.names)}'")


@dataclass(frozen=True)
class SingleBlockImplicitTerminator(Trait):
    """One block, ended by an operation of this name, which custom text leaves out."""

    terminator: str

    def verify(self, op: Any) -> None:
        SingleBlock.verify(op)
        for region in op.regions:
            last = region.block.last if region.blocks else None
            if last is not None and last.name != self.terminator:
                raise op.error(
                    f"expects regions to end with '{self.terminator}', found '{last.name}'"
                )


def is_pure(op: Any) -> bool:
    """Whether an operation has no effect but its results, nested operations included."""
    return _whole(op, _is_pure_itself)


def is_erasable(op: Any) -> bool:
    """Whether the operation may be erased when its results are unused."""
    return _whole(op, _is_erasable_itself)


_MAX_DEPTH = 64
"""The deepest regions that are examined: callers ask at every level, so that time would be
quadratic."""


def _whole(op: Any, itself: Callable[[Any], bool | None]) -> bool:
    """`itself(op)` or, if that is None, whether `itself` holds for all ops in its regions."""
    if (holds := itself(op)) is not None:
        return holds
    stack = [(op, 1)]
    while stack:
        at, depth = stack.pop()
        for inner in (inner for region in at.regions for inner in region.ops):
            if inner.has_trait(Terminator):
                continue
            holds = itself(inner)
            if holds is False or depth > _MAX_DEPTH:
                return False
            if holds is None:
                stack.append((inner, depth + 1))
    return True


def _is_pure_itself(op: Any) -> bool | None:
    if op.has_trait(Pure):
        return True
    if op.has_trait(NoMemoryEffect):
        return op.is_speculatable()
    return None if op.has_trait(RecursiveEffects) else False


def _is_erasable_itself(op: Any) -> bool | None:
    if any(map(op.has_trait, (Pure, NoMemoryEffect, ReadsMemory, AllocatesMemory))):
        return not op.has_trait(Terminator) and not op.has_trait(WritesMemory)
    return None if op.has_trait(RecursiveEffects) else False
