"""Writes operations as text, in custom or generic form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from ..core import Block, Operation, Region
from .aliases import Aliases
from .attribute_printer import (
    ALIASED,
    AttributePrinter,
    attribute_text,
    key_text,
    quote,
    symbol_text,
)
from .naming import UNKNOWN_VALUE, Naming

__all__ = ["Printer", "attribute_text", "key_text", "print_op", "quote", "symbol_text"]

INDENT = "  "
_NAMES_IN_QUOTES: dict[str, str] = {}


_Plan = tuple[str, str, str, Callable[[Any, Any], None] | None]
"""(dialect, op name without it, full op name, writer of the rest or None for generic form)."""


class _DeferredRegion:
    """A place in the output for a region's text, which is made later instead of by recursion."""

    __slots__ = ("dialect", "empty_block", "entry_args", "indent", "region", "terminators")

    def __init__(self, region, indent, dialect, entry_args, terminators, empty_block) -> None:
        self.region: Region = region
        self.indent: str = indent
        self.dialect: str = dialect
        self.entry_args: bool = entry_args
        self.terminators: bool = terminators
        self.empty_block: bool = empty_block


class AliasReader(AttributePrinter):
    """Writes the aliases that exist already, and makes no new ones."""

    def __init__(self, aliases: Aliases) -> None:
        super().__init__(aliases.names, aliases.distinct)
        self._aliases = aliases

    def attribute(self, attribute: Any, implied: bool = False) -> str:
        if attribute.__class__ in ALIASED and attribute not in self.aliases:
            # What comes later in the text may make one.
            self._aliases.read_ahead = True
        return super().attribute(attribute, implied)


class Printer(AttributePrinter):
    """Writes operations. The elements of assembly formats append their text to `out`.

    `names` maps values to their text.
    """

    def __init__(
        self, naming: Naming, aliases: Aliases | None, generic: bool, debuginfo: bool
    ) -> None:
        if aliases is not None:
            super().__init__(aliases.names, aliases.distinct)
        else:
            super().__init__()
        self._aliases = aliases
        self.names = naming.values
        self._naming = naming
        self.generic = generic
        self.debuginfo = debuginfo
        self.out: list[Any] = []
        self.indent = ""
        self._dialect = "builtin"
        self._plans: dict[type, _Plan] = {}
        self._elided: set[str] = set()

    def attribute(self, attribute: Any, implied: bool = False) -> str:
        if self._aliases is not None:
            name = self._aliases.name_of(attribute)
            if name is not None:
                return name
        return super().attribute(attribute, implied)

    def note_resource(self, attribute: Any) -> None:
        if self._aliases is not None:
            self._aliases.resources.setdefault(attribute.key, attribute)

    def type_alias(self, type: Any) -> str | None:
        return self._aliases.name_of(type) if self._aliases is not None else None

    def alias_reader(self) -> AttributePrinter:
        """A printer for attributes in places where, as upstream, no new aliases are made."""
        if self._aliases is None or self.generic:
            return self
        return AliasReader(self._aliases)

    # -- for elements of formats ---------------------------------------------------------------

    def value(self, value: Any) -> str:
        return self.names[value]

    def values(self, values: Iterable[Any]) -> str:
        names = self.names
        return ", ".join([names[v] for v in values])

    def block_name(self, block: Block) -> str:
        return self._naming.blocks.get(block, "<<UNKNOWN BLOCK>>")

    def region(
        self,
        region: Region,
        *,
        entry_args: bool = True,
        terminators: bool = True,
        empty_block: bool = False,
        indent: str | None = None,
    ) -> None:
        """Write `{`, the blocks of a region, `}`.

        `entry_args` and `empty_block` write the header of an entry block that has arguments or is
        empty; `terminators` writes the terminator of the entry block. `indent` is that of the
        closing brace, by default the operation's.
        """
        parent = region.parent
        dialect = getattr(parent, "default_dialect", "")
        indent = self.indent if indent is None else indent
        self.out.append(
            _DeferredRegion(region, indent, dialect, entry_args, terminators, empty_block)
        )

    def nested(self, op: Operation, named: bool = False) -> None:
        """Write an operation without regions within a line; `named` writes its results' names."""
        self._operation(op, named=named)

    def elide(self, name: str) -> None:
        """Leave an attribute out of the dictionary of the operation being written."""
        self._elided = {*self._elided, name}

    def regions(self, op: Operation, regions: Iterable[Region]) -> None:
        """Write regions separated by commas, without implied terminators."""
        for i, region in enumerate(regions):
            if i:
                self.out.append(", ")
            self.region(region, terminators=not has_implied_terminator(op, region))

    def free_attributes(
        self, op: Operation, elided: Iterable[str] = (), inherent: bool = True
    ) -> list[tuple[str, Any]]:
        """The attributes for `attr-dict`: none of `elided`, no defaults, sorted by name."""
        if self._elided:
            elided = {*elided, *self._elided}
        if not inherent or not op.properties:
            entries = [(k, v) for k, v in op.attributes.items() if k not in elided]
        else:
            entries = self.inherent_attributes(op, elided)
            entries += [(k, v) for k, v in op.attributes.items() if k not in elided]
        if len(entries) > 1:
            entries.sort(key=lambda entry: entry[0])
        return entries

    def inherent_attributes(
        self, op: Operation, elided: Iterable[str] = ()
    ) -> list[tuple[str, Any]]:
        """The properties that text has to give, sorted by name."""
        known = op.definition.attributes
        entries = [
            (k, v)
            for k, v in op.properties.items()
            if k not in elided
            and k not in ("operandSegmentSizes", "resultSegmentSizes")
            and (k not in known or known[k].shows_default or known[k].default != v)
        ]
        if len(entries) > 1:
            entries.sort(key=lambda entry: entry[0])
        return entries

    def attr_dict(self, op: Operation, elided: Iterable[str] = (), keyword: str = "") -> None:
        """Write ` {..}` with the attributes that are not elided, after an optional keyword."""
        entries = self.free_attributes(op, elided)
        if entries:
            head = f" {keyword} {{" if keyword else " {"
            self.out.append(f"{head}{self.entries(entries)}}}")

    def argument(self, arg: Any, attributes: str = "") -> str:
        """A block argument with its type, `%arg0: i32`, and the text of its attributes."""
        text = f"{self.names[arg]}: {self.type(arg.type)}{attributes}"
        return f"{text} {self.argument_location(arg)}" if self.debuginfo else text

    def trailing_location(self, op: Operation) -> str:
        return f"loc({self.inner_location(op.loc)})"

    def argument_location(self, arg: Any) -> str:
        if self._aliases is not None:
            self._aliases.visit_location(arg.loc, deferred=False)
        return f"loc({self.inner_location(arg.loc, spelled=True)})"

    # -- operations ------------------------------------------------------------------------------

    def text_of(self, op: Operation) -> str:
        """The text of the operation and everything in it."""
        done: list[str] = []
        self.out = []
        self._operation(op)
        stack: list[Iterator[Any]] = [iter(self.out)]
        while stack:
            for piece in stack[-1]:
                if piece.__class__ is str:
                    done.append(piece)
                else:
                    stack.append(chain.from_iterable(self._region_pieces(piece)))
                    break
            else:
                stack.pop()
        return "".join(done)

    def _operation(self, op: Operation, named: bool = True) -> None:
        out = self.out
        results = op.results
        if self._elided:
            self._elided = set()
        head = ""
        if results and named:
            if len(results) == 1:
                head = f"{self.names[results[0]]} = "
            else:
                head = f"{self._naming.groups.get(op, f'{UNKNOWN_VALUE}:{len(results)}')} = "
        if self.debuginfo and self._aliases is not None:
            self._aliases.visit_location(op.loc, deferred=True)
        plan = self._plans.get(op.__class__)
        if plan is None:
            plan = self._plans[op.__class__] = self._plan(op)
        dialect, short, name, write = plan
        if write is None:
            self._generic(op, head)
        else:
            out.append(head + (short if dialect == self._dialect else name))
            write(op, self)
        if self.debuginfo:
            out.append(f" {self.trailing_location(op)}")

    def _plan(self, op: Operation) -> _Plan:
        """How operations of a class are written: by its format, or in generic form."""
        definition = getattr(op, "definition", None)
        name = op.name
        if self.generic or definition is None or definition.format is None:
            return "", name, name, None
        dialect, _, short = name.partition(".")
        if "." in short:
            dialect, short = "", name
        return dialect, short, name, definition.format.writer

    def _generic(self, op: Operation, head: str) -> None:
        names = self.names
        out = self.out
        operands = op._operands
        if self._aliases is not None and (op.regions or not self.generic):
            self._aliases.visit_nested_first(op, self.debuginfo)
        name = _NAMES_IN_QUOTES.get(op.name)
        if name is None:
            name = _NAMES_IN_QUOTES[op.name] = quote(op.name)
        text = f"{head}{name}({', '.join([names[v] for v in operands])})"
        if op.successors:
            text += "[" + ", ".join([self.block_name(b) for b in op.successors]) + "]"
        if op.properties:
            text += f" <{{{self.dictionary(op.properties)}}}>"
        if op.regions:
            out.append(f"{text} (")
            for i, region in enumerate(op.regions):
                if i:
                    out.append(", ")
                self.region(region, empty_block=True)
            text = ")"
        if op.attributes:
            text += f" {{{self.dictionary(op.attributes)}}}"
        types = self.function_type([v.type for v in operands], [v.type for v in op.results])
        out.append(f"{text} : {types}")

    def _region_pieces(self, deferred: _DeferredRegion) -> Iterator[list[Any]]:
        """The text of a region in chunks; an op with regions ends a chunk."""
        region, indent = deferred.region, deferred.indent
        inner = indent + INDENT
        newline = "\n" + inner
        dialect = deferred.dialect
        out: list[Any] = ["{"]
        for number, block in enumerate(region.blocks):
            if (
                number
                or (deferred.empty_block and block._first is None)
                or (deferred.entry_args and block.args)
            ):
                out.append(self._block_header(block, indent))
            op = block._first
            last = None if number or deferred.terminators else block._last
            while op is not None and op is not last:
                out.append(newline)
                self.out, self.indent, self._dialect = out, inner, dialect
                self._operation(op)
                if op.regions:
                    yield out
                    out = []
                op = op._next
        out.append(f"\n{indent}}}")
        yield out

    def _block_header(self, block: Block, indent: str) -> str:
        name = self.block_name(block)
        args = f"({', '.join([self.argument(a) for a in block.args])})" if block.args else ""
        return f"\n{indent}{name}{args}:{self._predecessors(block)}"

    def _predecessors(self, block: Block) -> str:
        """The comment that says from where a block is reached."""
        region = block.parent
        if region is None:
            return "  // block is not in a region!"
        edges = self._edges(region).get(block, [])
        if not edges:
            return "" if block is region.blocks[0] else "  // no predecessors"
        if len(edges) == 1:
            return f"  // pred: {self.block_name(edges[0])}"
        return f"  // {len(edges)} preds: {', '.join([self.block_name(b) for b in edges])}"

    def _edges(self, region: Region) -> dict[Block, list[Block]]:
        """For each block of the region the blocks that branch to it, in order."""
        cached = getattr(self, "_edges_of", None)
        if cached is None or cached[0] is not region:
            edges: dict[Block, list[Block]] = {}
            for block in region.blocks:
                if block._last is not None:
                    for target in block._last.successors:
                        edges.setdefault(target, []).append(block)
            self._edges_of = cached = (region, edges)
        return cached[1]


def has_implied_terminator(op: Operation, region: Region) -> bool:
    """Whether the region's terminator is the one that its op implies, and can be left out.

    It can if it has no operands, results or attributes, and its op no results.
    """
    from ..traits import SingleBlockImplicitTerminator

    if len(region.blocks) != 1 or (last := region.blocks[0]._last) is None:
        return False
    implied = any(
        isinstance(trait, SingleBlockImplicitTerminator) and trait.terminator == last.name
        for trait in op.traits
    )
    return implied and not (op.results or last._operands or last.results or last.attributes)


def print_op(
    op: Operation, generic: bool = False, debuginfo: bool = False, names: bool = False
) -> str:
    """The text of an operation, without a newline at the end.

    `generic` writes the form that needs no dialect, `debuginfo` all locations, `names` keeps
    the names that values had in text. The definitions of aliases are written only if `op` is not
    nested in another operation; else there are no aliases.
    """
    top = op.outermost
    naming = Naming(top, hints=not generic, keep=names)
    if op is not top:
        return Printer(naming, None, generic, debuginfo).text_of(op)
    aliases = Aliases()
    return with_definitions(
        op, aliases, lambda: Printer(naming, aliases, generic, debuginfo).text_of(op)
    )


def with_definitions(
    op: Operation, aliases: Aliases, write: Callable[[], str], resource_limit: int | None = None
) -> str:
    """The text that `write` makes of an operation, between the definitions of its aliases.

    At the end are the resources that it uses, and those of the file that it was read from;
    those whose text is longer than `resource_limit` are left out.
    """
    text = write()
    if aliases.are_provisional:
        aliases.number()
        head = aliases.definitions(early=True)
        text = write()
    else:
        head = aliases.definitions(early=True)
    tail = aliases.definitions(early=False)
    read = getattr(op, "file_resources", None)
    if read is not None or aliases.resources:
        from .text_resources import file_section

        tail += file_section(aliases.resources, read, resource_limit)
    return head + text + tail
