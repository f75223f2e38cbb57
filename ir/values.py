"""SSA values: results of operations and arguments of blocks. `core.py` has what defines them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from .location import UNKNOWN, Location
from .types import Type

if TYPE_CHECKING:
    from .core import Block, Operation

OpT = TypeVar("OpT", bound="Operation")


class Value:
    """An SSA value: the result of an operation or the argument of a block.

    `name_hint` is the name it had in text, or that it should get; printing makes it unique.
    """

    __slots__ = ("_users", "name_hint", "type")
    # A Type; which kind, the constraints of the defining op say, and no type checker knows.
    type: Any
    name_hint: str | None

    def __init__(self, type: Type, name_hint: str | None = None) -> None:
        self.type = type
        self.name_hint = name_hint
        # None, one operation with one use, or {operation: number of uses}: most values have
        # one use, and a dict for each would double the size of the IR.
        self._users: Operation | dict[Operation, int] | None = None

    # -- uses --------------------------------------------------------------------------

    def _add_use(self, op: Operation) -> None:
        users = self._users
        if users is None:
            self._users = op
        elif users.__class__ is dict:
            users[op] = users.get(op, 0) + 1  # type: ignore[index, attr-defined]
        elif users is op:
            self._users = {op: 2}
        else:
            self._users = {users: 1, op: 1}  # type: ignore[dict-item]

    def _remove_use(self, op: Operation) -> None:
        users = self._users
        if users.__class__ is dict:
            count = users[op] - 1  # type: ignore[index]
            if count:
                users[op] = count  # type: ignore[index]
            else:
                del users[op]  # type: ignore[arg-type]
                if not users:
                    self._users = None
        else:
            self._users = None

    @property
    def users(self) -> list[Operation]:
        """The operations that use the value, each once, oldest use first."""
        users = self._users
        if users is None:
            return []
        return list(users) if users.__class__ is dict else [users]  # type: ignore[list-item]

    @property
    def uses(self) -> list[tuple[Operation, int]]:
        """Every use as (operation, operand number)."""
        return [(op, i) for op in self.users for i, v in enumerate(op._operands) if v is self]

    @property
    def use_count(self) -> int:
        users = self._users
        if users is None:
            return 0
        return sum(users.values()) if users.__class__ is dict else 1  # type: ignore[union-attr]

    @property
    def has_uses(self) -> bool:
        return self._users is not None

    @property
    def has_one_use(self) -> bool:
        return (
            self._users is not None and self._users.__class__ is not dict
        ) or self.use_count == 1

    def replace_all_uses_with(self, other: Value) -> None:
        if other is self:
            return
        for op in self.users:
            operands = op._operands
            for i, operand in enumerate(operands):
                if operand is self:
                    operands[i] = other
                    other._add_use(op)
        self._users = None
        if other.name_hint is None:
            other.name_hint = self.name_hint

    def replace_uses_if(self, other: Value, keep: Callable[[Operation], bool]) -> None:
        """Replace the uses by `other` in those operations for which `keep` is true."""
        for op in self.users:
            if keep(op):
                for i, operand in enumerate(op._operands):
                    if operand is self:
                        op.set_operand(i, other)

    # -- where it is defined -----------------------------------------------------------

    @property
    def owner(self) -> Operation | Block:
        raise NotImplementedError

    @property
    def defining_op(self) -> Operation | None:
        return None

    @property
    def parent_block(self) -> Block | None:
        raise NotImplementedError

    def defined_by(self, op_class: type[OpT]) -> OpT | None:
        """The defining operation if it is of the class, else None."""
        op = self.defining_op
        return op if isinstance(op, op_class) else None


class OpResult(Value):
    """Result number `index` of an operation."""

    __slots__ = ("_owner", "index")

    def __init__(self, type: Type, owner: Operation, index: int) -> None:
        self.type = type
        self.name_hint = None
        self._users = None
        self._owner = owner
        self.index = index

    @property
    def owner(self) -> Operation:
        return self._owner

    @property
    def defining_op(self) -> Operation:
        return self._owner

    @property
    def parent_block(self) -> Block | None:
        return self._owner.parent

    def __repr__(self) -> str:
        return f"<result {self.index} of {self._owner.name}: {self.type}>"


class BlockArgument(Value):
    """Argument number `index` of a block."""

    __slots__ = ("_owner", "index", "loc")

    def __init__(self, type: Type, owner: Block, index: int, loc: Location = UNKNOWN) -> None:
        super().__init__(type)
        self._owner = owner
        self.index = index
        self.loc = loc

    @property
    def owner(self) -> Block:
        return self._owner

    @property
    def parent_block(self) -> Block:
        return self._owner

    def __repr__(self) -> str:
        return f"<block argument {self.index}: {self.type}>"


class IRMapping:
    """A map from values and blocks to their copies."""

    __slots__ = ("blocks", "values")

    def __init__(self, values: Mapping[Value, Value] | None = None) -> None:
        self.values: dict[Value, Value] = dict(values or {})
        self.blocks: dict[Block, Block] = {}

    def __getitem__(self, value: Value) -> Value:
        return self.values.get(value, value)

    def __setitem__(self, old: Value, new: Value) -> None:
        self.values[old] = new
