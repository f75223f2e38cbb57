"""Builds operations from the tuples that the parser actions made of a text.

Names become values, labels become blocks. It is one pass, outermost operations first, with an
explicit stack instead of recursion, so regions may nest to any depth.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..core import Block, Operation, Region, UnregisteredOp, Value
from ..diagnostics import Diagnostic, NncError, ParseError
from ..dialect import registry
from ..location import FileLineColLoc
from ..traits import (
    IsolatedFromAbove,
    NoTerminator,
    SingleBlock,
    SingleBlockImplicitTerminator,
    Terminator,
)
from .actions_locations import resolve_location
from .op_state import Name, OpState
from .scopes import Forward, Frame, Scope

if TYPE_CHECKING:
    from .session import Session

_RESULT = re.compile(r"%([\w$.-]+)(?::(\d+))?", re.ASCII)


def implied_terminator(op: Operation) -> str | None:
    """The name of the terminator that text may leave out of the op's regions, or None."""
    for trait in op.traits:
        if isinstance(trait, SingleBlockImplicitTerminator):
            return trait.terminator
    return None


class Builder:
    """Makes the operations of one text."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._file = session.source.name
        self._starts = session.source.line_starts
        self._scopes: list[Scope] = [Scope()]
        self._frames: list[Frame] = []
        self._pending: list[tuple[Region, Any, list[Any] | None, Operation]] = []
        self._at_end: dict[Region, Callable[[Region], None]] = {}

    def build(self, items: list[Any]) -> list[Operation]:
        """The operations at the top of the text."""
        top = Block()
        self._frames.append(Frame(Region(), iter(items), top, True))
        frames = self._frames
        while frames:
            frame = frames[-1]
            for item in frame.ops:
                op = self._operation(item)
                frame.block.append(op)
                if len(self._pending) > frame.outer_pending:
                    self._enter_next()
                    break
            else:
                if not self._next_block(frame):
                    self._leave(frame)
                    if frames and len(self._pending) > frames[-1].outer_pending:
                        self._enter_next()
        ops = top.ops
        for op in ops:
            op.detach()
        return ops

    # -- regions and blocks ----------------------------------------------------------------------

    def _enter_next(self) -> None:
        """Start on the region that comes next in the text."""
        region, node, entry_args, op = self._pending.pop()
        ops, blocks = node
        isolated = op.has_trait(IsolatedFromAbove)
        if isolated:
            self._scopes.append(Scope())
        entry = Block()
        frame = Frame(region, iter(ops), entry, isolated)
        frame.rest = iter(blocks)
        frame.outer_pending = len(self._pending)
        if entry_args is None:
            frame.is_generic, entry_args = True, []
        self._frames.append(frame)
        if ops or entry_args:
            region.append(entry)
            for (name, pos), type, loc in entry_args:
                self._add_argument(entry, name, pos, type, loc)
        elif not blocks:
            frame.ops = iter(())
            if self._wants_block(op):
                region.append(entry)

    @staticmethod
    def _wants_block(op: Operation) -> bool:
        """Whether `{}` in the op's own syntax means one empty block."""
        return op.has_trait(SingleBlock) and op.has_trait(NoTerminator)

    def _next_block(self, frame: Frame) -> bool:
        node = next(frame.rest, None)
        if node is None:
            return False
        (label, pos), args, ops = node
        known = frame.blocks.get(label)
        if known is not None and known[2]:
            note = self.session.diagnostic("previously defined here", known[1], severity="note")
            raise self.session.error(f"redefinition of block '{label}'", pos, notes=[note])
        block = known[0] if known is not None else Block()
        frame.blocks[label] = (block, pos, True)
        block.label = label[1:]
        frame.region.append(block)
        frame.block = block
        frame.ops = iter(ops)
        for (name, at), type, loc in args:
            self._add_argument(block, name, at, type, loc)
        return True

    def _add_argument(self, block: Block, name: str, pos: int, type: Any, loc: Any) -> None:
        place = self._place(pos) if loc is None else resolve_location(self.session, loc)
        arg = block.add_arg(type, place)
        self._define(name, arg, pos)

    def _leave(self, frame: Frame) -> None:
        """End a region: all its blocks must exist; its names go out of use."""
        for label, (_block, pos, defined) in frame.blocks.items():
            if not defined:
                raise self.session.error(f"reference to an undefined block '{label}'", pos)
        self._frames.pop()
        owner = frame.region.parent
        if owner is not None and not frame.is_generic:
            self._add_terminator(owner, frame.region)
            if frame.region in self._at_end:
                self._at_end.pop(frame.region)(frame.region)
        if frame.isolated:
            scope = self._scopes.pop()
            for forward in scope.forward.values():
                raise self.session.error(
                    f"use of undeclared SSA value name '{forward.name}'", forward.pos
                )
        else:
            values = self._scopes[-1].values
            for name in frame.defined:
                values.pop(name, None)
            values.update(frame.shadowed)

    @staticmethod
    def _add_terminator(owner: Operation, region: Region) -> None:
        """Append the implied terminator to a region of one block if the text left it out."""
        name = implied_terminator(owner)
        if name is None or len(region.blocks) != 1:
            return
        block = region.blocks[0]
        last = block._last
        if last is not None and (last.name == name or last.has_trait(Terminator)):
            return
        cls: Any = registry.find_op(name)
        if cls is not None:
            parts = [part for part in cls.definition.regions if not part.variadic]
            regions = [Region([Block()]) for _ in parts]
            block.append(cls.create(regions=regions, loc=owner.loc))

    # -- names -----------------------------------------------------------------------------------

    def _define(self, name: str, value: Value, pos: int) -> None:
        """Bind the name to the value, and replace the placeholder of earlier uses by it."""
        scope = self._scopes[-1]
        if name in scope.values:
            self._shadow(name, scope.values[name], pos)
        if scope.forward:
            forward = scope.forward.pop(name, None)
            if forward is not None:
                if forward.type is not value.type:
                    raise self._type_clash(name, forward.pos, forward.type, value.type)
                forward.replace_all_uses_with(value)
        scope.values[name] = value
        value.name_hint = None if name[1:2].isdigit() else name[1:].partition("#")[0]
        frames = self._frames
        if frames:
            frames[-1].defined.append(name)

    def _shadow(self, name: str, first: Value, pos: int) -> None:
        """Let a region define a name that a result of an operation around it has too.

        Such results are defined where their operation ends, so the name is free until then.
        Raises ParseError if the name belongs to any other value.
        """
        owner = first.defining_op  # None for a block argument
        if owner is None or owner not in [frame.region.parent for frame in self._frames]:
            raise self._redefinition(name, first, pos)
        self._frames[-1].shadowed.setdefault(name, first)

    def _redefinition(self, name: str, first: Value, pos: int) -> ParseError:
        owner = first.defining_op
        loc = owner.loc if owner is not None else getattr(first, "loc", None)
        notes = [Diagnostic("note", "previously defined here", loc)]
        if isinstance(loc, FileLineColLoc) and loc.file == self._file and loc.line:
            line = self.session.source.line(loc.line)
            column = line.rfind(name, 0, loc.column + len(name))
            if column >= 0:
                place = FileLineColLoc(loc.file, loc.line, column + 1)
                span = (column, column + len(name))
                notes = [Diagnostic("note", "previously defined here", place, (), line, span)]
        return self.session.error(f"redefinition of SSA value '{name}'", pos, notes=notes)

    def _type_clash(self, name: str, pos: int, wanted: Any, found: Any) -> ParseError:
        return self.session.error(
            f"use of value '{name}' expects different type than prior uses: "
            f"'{wanted}' vs '{found}'",
            self._find(name, pos),
        )

    def _find(self, name: str, pos: int) -> int:
        """Where the name stands at or after an offset."""
        match = re.compile(re.escape(name) + r"(?![\w$.#-])").search(self.session.text, pos)
        return match.start() if match is not None else pos

    def value(self, name: str, type: Any, pos: int) -> Value:
        """The value of a name, which must be of the type."""
        value = self._scopes[-1].values.get(name)
        if value is None:
            return self._other_value(name, type, pos)
        if value.type is not type:
            raise self._type_clash(name, pos, type, value.type)
        return value

    def _other_value(self, name: str, type: Any, pos: int) -> Value:
        """The value of a name that is not defined: `%x` means `%x#0`, and `%x#0` means `%x`.

        Any other name gets a placeholder until it is defined.
        """
        scope = self._scopes[-1]
        base, _, number = name.partition("#")
        other = scope.values.get(base if number == "0" else f"{name}#0")
        if other is None and number and (base in scope.values or f"{base}#0" in scope.values):
            raise self.session.error(
                f"reference to invalid result number of '{base}'", self._find(name, pos)
            )
        if other is not None:
            return self.value(base if number == "0" else f"{name}#0", type, pos)
        forward = scope.forward.get(name)
        if forward is None:
            forward = scope.forward[name] = Forward(type, name, self._find(name, pos))
        elif forward.type is not type:
            raise self._type_clash(name, pos, type, forward.type)
        return forward

    def type_of(self, name: Name) -> Any:
        """The type of a value that must be known already."""
        text, pos = name
        scope = self._scopes[-1]
        value = scope.values.get(text) or scope.values.get(f"{text}#0")
        value = value or scope.values.get(text.removesuffix("#0")) or scope.forward.get(text)
        if value is None:
            raise self.session.error(
                f"use of undeclared SSA value name '{text}'", self._find(text, pos)
            )
        return value.type

    def _block_named(self, label: str, pos: int) -> Block:
        frame = self._frames[-1]
        known = frame.blocks.get(label)
        if known is None:
            known = frame.blocks[label] = (Block(), pos, False)
        return known[0]

    # -- operations ------------------------------------------------------------------------------

    def _place(self, pos: int) -> FileLineColLoc:
        starts = self._starts
        line = bisect_right(starts, pos)
        return FileLineColLoc(self._file, line, pos - starts[line - 1] + 1)

    def _operation(self, item: Any) -> Operation:
        results, body, location = item
        try:
            op = self._generic(body) if body.__class__ is list else self._custom(body)
        except ParseError:
            raise
        except NncError as fault:
            raise self.session.error(fault.message, body[0][1]) from None
        if location is not None:
            op.loc = resolve_location(self.session, location)
        if results is not None:
            self._name_results(op, *results)
        return op

    def _name_results(self, op: Operation, text: str, pos: int) -> None:
        values = op.results
        if len(values) == 1 and ":" not in text and "," not in text:
            self._define(text, values[0], pos)
            return
        at = 0
        for match in _RESULT.finditer(text):
            name, count = "%" + match[1], int(match[2] or 1)
            here = pos + match.start()
            if count == 0:
                raise self.session.error("expected named operation to have atleast 1 result", here)
            if at + count > len(values):
                at += count
                continue
            if count == 1:
                self._define(name, values[at], here)
            else:
                for i in range(count):
                    self._define(f"{name}#{i}", values[at + i], here)
            at += count
        if at != len(values):
            if not values:
                raise self.session.error("cannot name an operation with no results", pos)
            raise self.session.error(
                f"operation defines {len(values)} results but was provided {at} to bind", pos
            )

    def _generic(self, body: list[Any]) -> Operation:
        (name, pos), names, successors, properties, nodes, attributes, type = body
        inputs = type.inputs
        if len(names) != len(inputs):
            raise self.session.error(
                f"expected {len(names)} operand types but had {len(inputs)}",
                pos,
            )
        values = self._scopes[-1].values
        operands = []
        for operand, wanted in zip(names, inputs, strict=True):
            value = values.get(operand)
            if value is None or value.type is not wanted:
                value = self.value(operand, wanted, pos)
            operands.append(value)
        regions = [Region() for _ in nodes] if nodes else ()
        blocks = [self._block_named(*label) for label in successors] if successors else ()
        cls: Any = registry.ops.get(name) or registry.find_op(name)
        if cls is None:
            cls, op = UnregisteredOp, UnregisteredOp.__new__(UnregisteredOp)
            op.name = self._unregistered(name, pos)  # type: ignore[misc]
            defaults: Any = properties
        else:
            op = cls.__new__(cls)
            defaults, attributes = self._split(cls.definition, properties, attributes, pos)
        place = self._place(pos)
        op._init(operands, type.results, attributes, defaults, regions, blocks, place)
        if nodes:
            for region, node in zip(reversed(regions), reversed(nodes), strict=True):
                self._pending.append((region, node, None, op))
        return op

    def _unregistered(self, name: str, pos: int) -> str:
        dialect = name.partition(".")[0]
        known = registry.dialects.get(dialect)
        if known is not None and known.declared_ops and not known.is_subset:
            raise self.session.error(
                f"unregistered operation '{name}' found in dialect ('{dialect}') that does not "
                "allow unknown operations",
                pos,
            )
        if not self.session.allow_unregistered:
            if known is not None and known.declared_ops:
                raise self.session.error(
                    f"operation '{name}' is not in the part of dialect '{dialect}' that nnc has; "
                    "--allow-unregistered-dialect permits it in generic form",
                    pos,
                )
            raise self.session.error(
                f"operation '{name}' is of the unregistered dialect '{dialect}'; "
                "--allow-unregistered-dialect permits it",
                pos,
            )
        return name

    def _split(self, definition: Any, properties: Any, attributes: Any, pos: int) -> Any:
        """The properties, completed with defaults, and the attributes that are no properties."""
        full = dict(definition.defaults)
        if properties:
            for key, value in properties.items():
                if not definition.is_inherent(key):
                    self._unknown_property(definition, key, pos)
                full[key] = value
        # With `<{..}>` in the text, an attribute with the name of a property stays an attribute.
        if attributes and not properties:
            is_inherent = definition.is_inherent
            if any(is_inherent(key) for key in attributes):
                full.update((k, v) for k, v in attributes.items() if is_inherent(k))
                attributes = {k: v for k, v in attributes.items() if not is_inherent(k)}
        return full, attributes

    def _unknown_property(self, definition: Any, key: str, pos: int) -> None:
        """Raise ParseError, unless unknown names are allowed and upstream's op may have it."""
        name = definition.name
        if not registry.dialects[definition.dialect].is_subset:
            raise self.session.error(f"'{name}' op has no property '{key}'", pos)
        if not self.session.allow_unregistered:
            raise self.session.error(
                f"'{name}' op: property '{key}' is not among those that nnc has of it; "
                "--allow-unregistered-dialect permits it",
                pos,
            )

    def _custom(self, body: tuple[Any, ...]) -> Operation:
        definition, pos = body[0]
        state = OpState(self.session, definition, pos)
        definition.format.read(body[1:], state)
        groups = state.operand_names()
        types = state.resolve_types(groups, self.type_of)
        operands = [
            self.value(name, type, at)
            for (_, names), group in zip(groups, types, strict=True)
            for (name, at), type in zip(names, group, strict=True)
        ]
        nodes = self._region_nodes(state)
        regions = [Region() for _ in nodes]
        results = state.result_types(types, regions)
        if definition.sized_operands or definition.sized_results:
            state.properties.update(
                definition.segment_properties(
                    [len(names) for _, names in groups], [len(group) for group in results]
                )
            )
        labels = state.all_successors
        if labels is None:
            given = state.successors
            labels = [x for part in definition.successors for x in given.get(part.name, ())]
        op = definition.cls.__new__(definition.cls)
        op._init(
            operands,
            [one for group in results for one in group],
            state.attributes,
            state.properties,
            regions,
            [self._block_named(*label) for label in labels],
            self._place(pos),
        )
        for finish in state.finish:
            finish(op)
        for name, ended in state.at_region_end.items():
            self._at_end[getattr(op, name)] = ended
        for region, (node, args) in zip(reversed(regions), reversed(nodes), strict=True):
            # A `{}` in the text (a list) gets a block if its terminator is implied.
            is_empty = node.__class__ is list and not (node[0] or node[1] or args)
            if is_empty and not region.blocks and implied_terminator(op) is not None:
                region.append(Block())
            self._pending.append((region, node, args, op))
        return op

    @staticmethod
    def _region_nodes(state: OpState) -> list[tuple[Any, list[Any]]]:
        """For each region its parsed text and the entry arguments that the op's syntax declares."""
        if state.all_regions is not None:
            return [(node, []) for node in state.all_regions]
        found = []
        for part in state.definition.regions:
            nodes = state.regions.get(part.name)
            if nodes is None:
                nodes = [] if part.variadic else [([], [])]
            args = state.entry_args.get(part.name, [])
            found += [(node, args) for node in nodes]
        return found
