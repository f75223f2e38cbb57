"""The SSA core: values, operations, blocks and regions.

Operations of a block form a doubly linked list, so inserting and erasing are O(1); the
uses of a value are counted per user, in order. Nothing here knows any dialect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from . import services
from .attributes import Attribute
from .diagnostics import VerifyError
from .location import UNKNOWN, Location
from .traits import Terminator
from .types import Type
from .values import BlockArgument, IRMapping, OpResult, OpT, Value


class Operation:
    """An operation: operands, results, attributes, properties, regions, successors, location.

    `properties` holds the attributes that the op's declaration names (printed `<{..}>` in
    generic form), `attributes` the free ones. A declared op is a subclass of `Op`
    (`declare.py`); one of an unknown dialect is an `UnregisteredOp`.
    """

    __slots__ = (
        "_next",
        "_operands",
        "_prev",
        "attributes",
        "loc",
        "parent",
        "properties",
        "regions",
        "results",
        "successors",
    )
    name: ClassVar[str]
    definition: ClassVar[Any]  # an OpDefinition
    traits: ClassVar[frozenset[Any]] = frozenset()

    def __init__(
        self,
        operands: Sequence[Value] = (),
        result_types: Sequence[Type] = (),
        attributes: Mapping[str, Attribute] | None = None,
        properties: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
        successors: Sequence[Block] = (),
        loc: Location = UNKNOWN,
    ) -> None:
        self._operands: list[Value] = [*operands]
        for value in self._operands:
            # The first use of a value is by far the most common.
            if value._users is None:
                value._users = self
            else:
                value._add_use(self)
        self.results: tuple[OpResult, ...] = tuple(
            [OpResult(type, self, i) for i, type in enumerate(result_types)]
        )
        self.attributes: dict[str, Attribute] = dict(attributes) if attributes else {}
        self.properties: dict[str, Attribute] = dict(properties) if properties else {}
        self.regions: tuple[Region, ...] = tuple(regions)
        for region in self.regions:
            region.parent = self
        self.successors: list[Block] = list(successors)
        self.loc = loc
        self.parent: Block | None = None
        self._prev: Operation | None = None
        self._next: Operation | None = None

    _init = __init__  # also where a subclass has a constructor of its own

    @classmethod
    def create(
        cls: type[OpT],
        operands: Sequence[Value] = (),
        result_types: Sequence[Type] = (),
        attributes: Mapping[str, Attribute] | None = None,
        properties: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
        successors: Sequence[Block] = (),
        loc: Location = UNKNOWN,
    ) -> OpT:
        """An operation from its parts, whatever its constructor looks like; not verified."""
        op = cls.__new__(cls)
        op._init(operands, result_types, attributes, properties, regions, successors, loc)
        return op

    # -- operands and results ------------------------------------------------------------

    @property
    def operands(self) -> Sequence[Value]:
        return tuple(self._operands)

    @operands.setter
    def operands(self, values: Iterable[Value]) -> None:
        for value in self._operands:
            value._remove_use(self)
        self._operands = list(values)
        for value in self._operands:
            value._add_use(self)

    def set_operand(self, i: int, value: Value) -> None:
        self._operands[i]._remove_use(self)
        self._operands[i] = value
        value._add_use(self)

    @property
    def result(self) -> OpResult:
        """The only result."""
        (result,) = self.results
        return result

    @property
    def has_used_results(self) -> bool:
        """Whether anything uses a result."""
        for result in self.results:  # noqa: SIM110, asked of every operation again and again
            if result._users is not None:
                return True
        return False

    @property
    def operand_types(self) -> list[Any]:
        return [v.type for v in self._operands]

    @property
    def result_types(self) -> list[Any]:
        return [v.type for v in self.results]

    # -- attributes ----------------------------------------------------------------------

    def attribute(self, name: str) -> Attribute | None:
        """The property or free attribute of this name, or None."""
        found = self.properties.get(name)
        return self.attributes.get(name) if found is None else found

    # -- traits and structure --------------------------------------------------------------

    @classmethod
    def has_trait(cls, trait: Any) -> bool:
        return trait in cls.traits

    @property
    def region(self) -> Region:
        """The only region."""
        (region,) = self.regions
        return region

    @property
    def body_block(self) -> Block:
        """The first block of the first region."""
        return self.regions[0].blocks[0]

    @property
    def parent_op(self) -> Operation | None:
        block = self.parent
        region = block.parent if block is not None else None
        return region.parent if region is not None else None

    @property
    def outermost(self) -> Operation:
        """The outermost operation around this one; itself if it is in no other."""
        op = self
        while (around := op.parent_op) is not None:
            op = around
        return op

    def parent_of(self, op_class: type[OpT]) -> OpT | None:
        """The nearest enclosing operation of the class."""
        op = self.parent_op
        while op is not None and not isinstance(op, op_class):
            op = op.parent_op
        return op

    def is_ancestor_of(self, other: Operation) -> bool:
        """Whether `other` is this operation or nested in it."""
        at: Operation | None = other
        while at is not None and at is not self:
            at = at.parent_op
        return at is self

    @property
    def next(self) -> Operation | None:
        return self._next

    def walk(self, reverse: bool = False) -> Iterator[Operation]:
        """This operation and all nested ones, parents first (last if `reverse`, from the end).

        The operation just yielded may be erased; iterative, so that depth is no limit.
        """
        if reverse:
            yield from reversed(list(self.walk()))
            return
        stack: list[Operation] = [self]
        while stack:
            op = stack.pop()
            for region in op.regions[::-1]:
                for block in region.blocks[::-1]:
                    inner = block._last
                    while inner is not None:
                        stack.append(inner)
                        inner = inner._prev
            yield op

    # -- changing the structure --------------------------------------------------------------

    def detach(self) -> None:
        """Take the operation out of its block; operands and uses of results stay."""
        if self.parent is not None:
            self.parent._unlink(self)

    def erase(self) -> None:
        """Detach and destroy. Raises ValueError while a result is still used."""
        for result in self.results:
            if result._users is not None:
                user = result.users[0]
                raise ValueError(f"cannot erase '{self.name}': '{user.name}' still uses a result")
        self.detach()
        self.drop_all_references()

    def replace_with(self, *values: Value) -> None:
        """Use the values in place of the results, and erase the operation."""
        for old, new in zip(self.results, values, strict=True):
            old.replace_all_uses_with(new)
        self.erase()

    def drop_all_references(self) -> None:
        """Give up the operands of this and all nested operations."""
        for op in self.walk() if self.regions else (self,):
            for value in op._operands:
                value._remove_use(op)
            op._operands = []
            op.successors = []

    def move_before(self, other: Operation) -> None:
        self.detach()
        assert other.parent is not None
        other.parent.insert_before(self, other)

    def move_after(self, other: Operation) -> None:
        self.detach()
        assert other.parent is not None
        other.parent.insert_after(self, other)

    def clone(self, mapping: IRMapping | None = None) -> Operation:
        """A detached copy; operands are looked up in `mapping`, which learns the new values."""
        mapping = IRMapping() if mapping is None else mapping
        copy = self._clone_without_regions(mapping)
        copy.regions = tuple(region.clone(mapping) for region in self.regions)
        for region in copy.regions:
            region.parent = copy
        return copy

    def _clone_without_regions(self, mapping: IRMapping) -> Operation:
        values, blocks = mapping.values, mapping.blocks
        copy = self.create(
            [values.get(v, v) for v in self._operands],
            self.result_types,
            self.attributes,
            self.properties,
            (),
            [blocks.get(b, b) for b in self.successors],
            self.loc,
        )
        for old, new in zip(self.results, copy.results, strict=True):
            values[old] = new
            new.name_hint = old.name_hint
        return copy

    # -- saying what is wrong -------------------------------------------------------------------

    def error(self, message: str) -> VerifyError:
        """A VerifyError at this operation, in upstream's wording `'name' op message`."""
        return VerifyError(f"'{self.name}' op {message}", self.loc)

    def verify(self) -> None:
        """Check this operation and all nested ones. Raises VerifyError."""
        services.verify(self)

    def fold(self) -> Sequence[Value | Attribute] | None:
        """Values or constant attributes that can replace the results, or None; changes nothing."""
        return None

    def __str__(self) -> str:
        return services.print_op(self)

    def __repr__(self) -> str:
        return f"<{self.name}>"


class UnregisteredOp(Operation):
    """An operation of a dialect that is not loaded: any operands, results and attributes."""

    __slots__ = ("name",)

    @classmethod
    def named(cls, name: str, *args: Any, **kwargs: Any) -> UnregisteredOp:
        op = cls.create(*args, **kwargs)
        op.name = name  # type: ignore[misc]
        return op

    def _clone_without_regions(self, mapping: IRMapping) -> Operation:
        copy = super()._clone_without_regions(mapping)
        copy.name = self.name  # type: ignore[misc]
        return copy


class Block:
    """A list of operations with arguments."""

    __slots__ = ("_first", "_last", "_order", "args", "label", "parent")

    def __init__(self, arg_types: Iterable[Type] = (), ops: Iterable[Operation] = ()) -> None:
        self.args: list[BlockArgument] = [
            BlockArgument(type, self, i) for i, type in enumerate(arg_types)
        ]
        self.parent: Region | None = None
        self.label: str | None = None
        self._first: Operation | None = None
        self._last: Operation | None = None
        self._order: dict[Operation, int] | None = None
        for op in ops:
            self.append(op)

    def __iter__(self) -> Iterator[Operation]:
        """In order; the operation just yielded may be erased or moved."""
        op = self._first
        while op is not None:
            following = op._next
            yield op
            op = following

    def __reversed__(self) -> Iterator[Operation]:
        op = self._last
        while op is not None:
            previous = op._prev
            yield op
            op = previous

    @property
    def ops(self) -> list[Operation]:
        return list(self)

    @property
    def first(self) -> Operation | None:
        return self._first

    @property
    def last(self) -> Operation | None:
        return self._last

    @property
    def terminator(self) -> Operation | None:
        """The last operation if it is a terminator."""
        last = self._last
        return last if last is not None and last.has_trait(Terminator) else None

    @property
    def parent_op(self) -> Operation | None:
        return self.parent.parent if self.parent is not None else None

    @property
    def is_entry(self) -> bool:
        return self.parent is not None and self.parent.blocks[0] is self

    @property
    def predecessors(self) -> list[Block]:
        """Blocks of the same region that branch here."""
        if self.parent is None:
            return []
        return [b for b in self.parent.blocks if b._last is not None and self in b._last.successors]

    def add_arg(self, type: Type, loc: Location = UNKNOWN) -> BlockArgument:
        arg = BlockArgument(type, self, len(self.args), loc)
        self.args.append(arg)
        return arg

    # -- the list ------------------------------------------------------------------------

    def append(self, op: Operation) -> None:
        assert op.parent is None, "the operation is already in a block"
        op.parent, op._prev, op._next = self, self._last, None
        if self._last is None:
            self._first = op
        else:
            self._last._next = op
        self._last = op
        self._order = None

    def insert_before(self, op: Operation, anchor: Operation) -> None:
        assert op.parent is None and anchor.parent is self
        previous = anchor._prev
        op.parent, op._prev, op._next = self, previous, anchor
        anchor._prev = op
        if previous is None:
            self._first = op
        else:
            previous._next = op
        self._order = None

    def insert_after(self, op: Operation, anchor: Operation) -> None:
        if anchor._next is None:
            self.append(op)
        else:
            self.insert_before(op, anchor._next)

    def prepend(self, op: Operation) -> None:
        if self._first is None:
            self.append(op)
        else:
            self.insert_before(op, self._first)

    def _unlink(self, op: Operation) -> None:
        previous, following = op._prev, op._next
        if previous is None:
            self._first = following
        else:
            previous._next = following
        if following is None:
            self._last = previous
        else:
            following._prev = previous
        op.parent = op._prev = op._next = None
        if self._order is not None:
            self._order.pop(op, None)  # the others stay in order

    def comes_before(self, a: Operation, b: Operation) -> bool:
        """Whether a precedes b, both in this block; numbers the operations if it has grown."""
        if self._order is None:
            self._order = {op: i for i, op in enumerate(self)}
        return self._order[a] < self._order[b]

    def erase(self) -> None:
        """Destroy the block and its operations; they may use each other."""
        for op in self:
            op.drop_all_references()
        for op in self:
            op.detach()
        if self.parent is not None:
            self.parent.blocks.remove(self)
            self.parent = None


class Region:
    """A list of blocks inside an operation; the first is the entry."""

    __slots__ = ("blocks", "parent")

    def __init__(self, blocks: Iterable[Block] = ()) -> None:
        self.blocks: list[Block] = []
        self.parent: Operation | None = None
        for block in blocks:
            self.append(block)

    @property
    def block(self) -> Block:
        """The only block."""
        (block,) = self.blocks
        return block

    @property
    def ops(self) -> Iterator[Operation]:
        for block in self.blocks:
            yield from block

    def append(self, block: Block) -> Block:
        return self.insert(block, len(self.blocks))

    def insert(self, block: Block, at: int) -> Block:
        assert block.parent is None, "the block is already in a region"
        block.parent = self
        self.blocks.insert(at, block)
        return block

    def clone(self, mapping: IRMapping) -> Region:
        """A copy of the blocks and operations, also where a value is used before its definition."""
        copy = Region()
        for block in self.blocks:
            new = copy.append(Block())
            new.label = block.label
            for arg in block.args:
                twin = new.add_arg(arg.type, arg.loc)
                twin.name_hint = arg.name_hint
                mapping.values[arg] = twin
            mapping.blocks[block] = new
        for block in self.blocks:
            new = mapping.blocks[block]
            for op in block:
                new.append(op.clone(mapping))
        for op in copy.ops:
            for i, operand in enumerate(op._operands):
                twin_value = mapping.values.get(operand)
                if twin_value is not None and twin_value is not operand:
                    op.set_operand(i, twin_value)
        return copy
