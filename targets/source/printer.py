"""Prints functions of the loops level as structured source text: the code that languages share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, ClassVar

from ...dialects import arith, func, memref
from ...dialects.marks import FIRST_CHECK, IN_PLACE, KERNEL, POOL, REPLACED
from ...ir.attributes import IntegerAttr
from ...ir.core import Block, Operation, Value
from ...ir.diagnostics import NncError, PassError
from ...ir.location import node_of
from ...ir.traits import Pure
from ...ir.types import IndexType, MemRefType, Type, i1
from .facts import Facts
from .language import Language
from .memory import (
    Buffer,
    from_parts,
    grouped,
    parts_of,
    plus,
    view,
)
from .printing import OPERATIONS, Printing, stripped

STATEMENTS: dict[type[Operation], Callable[[Any, Any], None]] = {}
_LONGEST = 60
"""The most characters of an expression that is written inline where it is used."""


class FunctionPrinter(Printing):
    """Prints one function."""

    operations: ClassVar[Mapping[str, Callable[[Any, Any], Any]]] = OPERATIONS
    """Functions that make an operation's expression, by name; the language's templates cover the
    others."""
    statements: ClassVar[Mapping[type[Operation], Callable[[Any, Any], None]]] = STATEMENTS

    def __init__(self, language: Language, facts: Facts, op: func.FuncOp) -> None:
        super().__init__(language)
        self.facts, self.op, self.name = facts, op, facts.names[op.sym_name]
        self.lines: list[str] = []
        self.taken = set(facts.names.values())
        self.depth = 1
        self.fails = op.sym_name in facts.failing
        self.on_heap = op.sym_name in facts.heap

    # -- the function ------------------------------------------------------------------------

    def text(self) -> str:
        """The whole function."""
        head = self.head(named=True)
        node = node_of(self.op.loc) if KERNEL in self.op.attributes else ""
        above = f"/* {node.replace('*/', '* /')} */\n" if node else ""
        block = self.op.body.blocks[0]
        if len(self.op.body.blocks) > 1:
            raise PassError(
                f"branches between blocks have no form in {self.language.name}", self.op.loc
            )
        parameters = [name for arg in block.args for name in self.flat(arg)]
        self.first = len(self.lines)
        self.block(block)
        lines = without_unused(self.lines)
        named = set(re.findall(r"\w+", " ".join(lines)))
        unused = [f"    (void){name};" for name in parameters if name not in named]
        return "\n".join([above + head + " {", *unused, *lines, "}", ""])

    def head(self, named: bool = False) -> str:
        """The declaration; if `named`, it also binds the arguments to names."""
        op, parameters = self.op, []
        for i, arg in enumerate(op.args):
            own = op.arg_attribute(i, "llvm.noalias") is not None
            own = own or (KERNEL in op.attributes and op.arg_attribute(i, IN_PLACE) is None)
            hint = arg.name_hint or f"arg{i}"
            if op.arg_attribute(i, POOL) is not None:
                hint = "pool"
            parameters += self.parameters(arg, hint, own)
        for i, type in enumerate(op.function_type.results):
            parameters += [f"{t}*out{i}_{k}" for k, t in enumerate(self.flat_types(type))]
        if self.on_heap:
            parameters.append(f"{self.language.templates['heap']}heap")
        result = "int32_t" if self.fails else "void"
        text = self.language.templates["function"].format(
            result=result,
            name=self.name,
            parameters=", ".join(parameters) or "void",
            kernel=self.language.templates["kernel"] if KERNEL in op.attributes else "",
        )
        return text.removeprefix("static ") if REPLACED in op.attributes else text

    def parameters(self, arg: Value, hint: str, own: bool) -> list[str]:
        """The declarations of the parameters for an argument, which is bound to their names. `own`
        means that no other argument refers to its memory.
        """
        names = self.bind_names(arg, hint)
        types = self.argument_types(arg)
        if isinstance(arg.type, MemRefType) and own:
            types[0] += self.language.templates["restrict"]
        return [f"{type}{name}" for type, name in zip(types, names, strict=True)]

    def task(self) -> str:
        """The function that runs one piece of a parallel loop's range, by calling this body."""
        rest = self.op.args[3:]
        fields = [
            (t, f"a{i}") for i, t in enumerate(t for a in rest for t in self.argument_types(a))
        ]
        words, heap = self.language.templates, self.on_heap
        return words["task"].format(
            name=self.name,
            fields=" ".join(f"{type}{name};" for type, name in fields),
            given="".join(f", work->{name}" for _, name in fields) + (", &heap" if heap else ""),
            status="work->status[piece] = " if self.fails else "",
            before=words["heap_before"].format() if heap else "",
            after=words["heap_after"].format() if heap else "",
        )

    # -- names -------------------------------------------------------------------------------

    def fresh(self, hint: str) -> str:
        """A name that is not yet used in the function."""
        base = self.language.identifier(hint)
        name, number = base, 0
        while name in self.taken or (hint == "v" and not number):
            number += 1
            name = f"{base}{'' if hint == 'v' else '_'}{number}"
            if hint == "v" and number == 1:
                number = len(self.taken)
                name = f"v{number}"
        self.taken.add(name)
        return name

    def flat_types(self, type: Type) -> list[str]:
        """The C types that represent a value, each with the space or star after it."""
        if isinstance(type, MemRefType):
            beside = self.language.scalars["index"] + " "
            return [
                self.pointer_type(type),
                *[beside] * len(parts_of(type, _blank(type))),
            ]
        if str(type) == "!llvm.ptr":
            return [self.language.templates["pool"]]
        return [self.language.type(type) + " "]

    def given_type(self, arg: Value) -> str:
        """The type of a tensor argument of the caller."""
        return self.pointer_type(arg.type)  # type: ignore[arg-type]

    def argument_types(self, arg: Value) -> list[str]:
        """The types that represent an argument; elements are const if it is only read."""
        types = self.flat_types(arg.type)
        if isinstance(arg.type, MemRefType):
            types[0] = self.pointer_type(arg.type, self.facts.reads.only(arg))
        return types

    def pointer_type(self, type: MemRefType, constant: bool = False) -> str:
        """The type of a pointer to a buffer's elements, perhaps constant ones."""
        name = self.language.scalars[self.language.stored(type.element_type)]
        return f"{self.language.space(type)}{'const ' if constant else ''}{name} *"

    def flat(self, value: Value) -> list[str]:
        """The texts that represent a value; masks have lanes of 32 bits."""
        if isinstance(value.type, MemRefType):
            buffer = self.values[value]
            return [buffer.pointer, *map(str, parts_of(value.type, buffer))]
        return [self.mask(value, 32) if self.is_mask(value.type) else str(self.values[value])]

    def all_flat(self, values: Sequence[Value]) -> list[str]:
        """The texts that represent several values."""
        return [text for value in values for text in self.flat(value)]

    def bind_all(self, values: Sequence[Value], texts: Sequence[str]) -> None:
        """Bind several values, in order, to the texts that represent them."""
        rest = iter(texts)
        for value in values:
            self.bind_flat(value, list(islice(rest, len(self.flat_types(value.type)))))

    def bind_flat(self, value: Value, texts: Sequence[str]) -> None:
        """Bind a value to the texts that represent it."""
        if isinstance(value.type, MemRefType):
            self.values[value] = from_parts(value.type, texts[0], texts[1:])
        else:
            self.values[value] = texts[0]
            if self.is_mask(value.type):
                self.widths[value] = 32
            if isinstance(value.type, IndexType):
                self.wild.add(value)

    def bind_names(self, value: Value, hint: str) -> list[str]:
        """Bind a value to new names, and return these."""
        count = len(self.flat_types(value.type)) - 1
        names = [self.fresh(hint + part) for part in ("", *(f"_{i}" for i in range(count)))]
        self.bind_flat(value, names)
        return names

    # -- statements --------------------------------------------------------------------------

    def enter(self, op: Operation) -> None:
        """Print the start of a loop's body: nothing, except in languages with pragmas."""

    def line(self, text: str) -> None:
        """Append a line."""
        self.lines.append("    " * self.depth + text)

    @contextmanager
    def braces(self, head: str) -> Iterator[None]:
        """Print `head` and braces around the context's lines; `else` follows a closed brace."""
        if head == "else":
            self.lines.pop()
            head = "} else"
        self.line(head + " {")
        self.depth += 1
        yield
        self.depth -= 1
        self.line("}")

    def constant(self, kind: str, name: str, text: str, template: str = "constant") -> None:
        """Declare a name for the value of an expression."""
        self.line(self.language.templates[template].format(stripped(text), T=kind, name=name))

    def template_of(self, value: Value) -> str:
        """The name of the template that declares a value."""
        return "constant"

    def local(self, name: str, buffer: Value) -> None:
        """Declare a local array at the start of the function."""
        text = self.language.templates["local"].format(
            kind=self.element_kind(buffer), name=name, count=max(1, buffer.type.num_elements)
        )
        self.lines.insert(self.first, f"    {text}")

    def element_kind(self, buffer: Value) -> str:
        """The type of a buffer's elements in memory."""
        return self.language.scalars[self.language.stored(buffer.type.element_type)]

    def declare(self, value: Value, expression: str) -> str:
        """Declare a new name for a value, given by an expression."""
        type, mask = value.type, self.widths.get(value, 32)
        name = self.fresh(
            value.name_hint if value.name_hint and not value.name_hint.isdigit() else "v"
        )
        kind = self.language.type(type, mask)
        self.constant(kind, name, expression, self.template_of(value))
        self.values[value] = name
        return name

    def variables(
        self, values: Sequence[Value], hint: str, inits: Sequence[str] | None
    ) -> list[str]:
        """Declare variables for values, with initial values if given; returns their names."""
        found: list[str] = []
        for value in values:
            types = self.flat_types(value.type)
            names = self.bind_names(value, hint)
            for type, name in zip(types, names, strict=True):
                start = f" = {stripped(inits[len(found)])}" if inits is not None else ""
                self.variable(type, name, start)
                found.append(name)
        return found

    def variable(self, type: str, name: str, start: str) -> None:
        """Declare a variable of a type as of `flat_types`, perhaps with an initial value."""
        words = {"kind": type, "name": name, "start": start}
        self.line(self.language.templates["variable"].format(**words))

    def assign(self, names: Sequence[str], values: Sequence[Value]) -> None:
        """Assign new values to variables, all at once."""
        texts = [stripped(t) for t in self.all_flat(values)]
        pairs = [(n, t) for n, t in zip(names, texts, strict=True) if n != t]
        changed = {n for n, _ in pairs}
        types = [t for v in values for t in self.flat_types(v.type)]
        kinds = dict(zip(names, types, strict=True))
        for i, (name, text) in enumerate(pairs):
            if set(re.findall(r"\w+", text)) & changed - {name}:
                kept = self.fresh("next")
                self.variable(kinds[name], kept, f" = {text}")
                pairs[i] = (name, kept)
        for name, text in pairs:
            self.line(f"{name} = {text};")

    def fail(self, ok: str, op: Operation, status: str | None = None) -> None:
        """Return a failure status from the function unless the condition `ok` holds."""
        first = op.attributes.get(FIRST_CHECK)
        if not isinstance(first, IntegerAttr):
            raise NncError(
                "has a check whose failure cannot be reported, as the entry does not call its "
                "function"
            )
        before = first.value
        number = str(before + 1) if status is None else str(plus(status, before))
        test = f"!{grouped(ok)}" if status is None else f"{status} != 0"
        self.line(f"if ({test}) return {number};")

    def block(self, block: Block) -> None:
        """Print the operations of a block except its terminator, which the caller prints."""
        last = block.terminator
        for op in block:
            if op is last and not isinstance(op, func.Return):
                return
            self.operation(op)

    def operation(self, op: Operation) -> None:
        """Print one operation. Raises PassError for an unsupported one."""
        if op.results and op.has_trait(Pure) and not op.has_used_results:
            return
        try:
            statement = self.statements.get(type(op))
            if statement is not None:
                statement(self, op)
                return
            found = self.viewed(op)
            if not found:
                self.expression(op)
        except NncError as error:
            if error.location is None:
                raise PassError(f"'{op.name}' op {error.message}", op.loc) from None
            raise

    def viewed(self, op: Operation) -> bool:
        """Bind the result of a view operation; returns whether it was one."""
        if not op.results or not isinstance(op.results[0].type, MemRefType) or not op._operands:
            return False
        source, result = self.values[op._operands[0]], op.results[0]
        constant = self.facts.reads.only(result)
        cast = lambda p, t: f"({self.pointer_type(t, constant)}){grouped(p)}"  # noqa: E731
        found = view(op, source, self.mixed, cast) if isinstance(source, Buffer) else None
        if found is None:
            return False
        if found.pointer != source.pointer:
            name = self.fresh(result.name_hint or "view")
            kind = self.pointer_type(result.type, constant)
            self.line(f"{kind}const {name} = {found.pointer};")
            found = Buffer(name, found.sizes, found.strides)
        self.values[op.results[0]] = found
        if isinstance(op, memref.ExtractStridedMetadata):
            for result, size in zip(op.results[2:], (*source.sizes, *source.strides), strict=True):
                self.values[result] = size
            self.values[op.results[1]] = 0
        return True

    def expression(self, op: Operation) -> None:
        """Bind a result to its expression: inline if it is short and used once, else to a name."""
        known = self.operations.get(op.name)
        found = known(self, op) if known is not None else self.from_table(op)
        (result,) = op.results
        if (
            isinstance(found, int)
            or isinstance(op, arith.Constant)
            or (
                _is_address(op)
                and (result.has_one_use or re.fullmatch(r"\w+", found))
                and len(found) < _LONGEST
            )
        ):
            self.values[result] = found
        else:
            self.declare(result, found)


def without_unused(lines: Sequence[str]) -> list[str]:
    """The lines without declarations of names that no later line uses."""
    kept: list[str] = []
    named: set[str] = set()
    for line in reversed(lines):
        found = _DECLARED.match(line)
        if found is None or found[1] in named:
            kept.append(line)
            named.update(re.findall(r"\w+", line if found is None else line[found.end() :]))
    return kept[::-1]


_DECLARED = re.compile(r" +(?:const |NNC_KEPT )?\w+ (?:\*const )?(\w+) = ")


def _blank(type: MemRefType) -> Buffer:
    return Buffer("", ("",) * type.rank, ("",) * type.rank)


def _is_address(op: Operation) -> bool:
    """Whether an operation computes an index or truth value, so that nothing is rounded."""
    type = op.results[0].type
    return op.has_trait(Pure) and (isinstance(type, IndexType) or type is i1)


def states(*classes: type[Operation]) -> Callable[[Any], Any]:
    """Register the function that prints operations as statements."""

    def register(function: Any) -> Any:
        for one in classes:
            STATEMENTS[one] = function
        return function

    return register
