"""Operations in generic form made from their declarations: right counts, mostly wrong types.

The texts are well-formed SSA, so that they reach the operations' own verifiers.
"""

from __future__ import annotations

import random
from functools import cache
from typing import Any

from . import vocabulary


@cache
def op_classes() -> list[Any]:
    """Every declared operation."""
    from .grammar_text import language

    language()
    from nnc.ir.dialect import registry

    return [cls for _, cls in sorted(registry.ops.items())]


class OpMaker:
    """Writes a function with a few operations, and the operations that define their operands."""

    def __init__(self, choice: random.Random) -> None:
        self.choice = choice
        self.types = [vocabulary.type_text(choice) for _ in range(choice.choice((1, 2, 3)))]
        self.values: list[tuple[str, str]] = []
        self.lines: list[str] = []
        self.counter = 0

    def operand(self) -> tuple[str, str]:
        """A value and its type: an existing value or a new one."""
        if self.values and self.choice.random() < 0.6:
            return self.choice.choice(self.values)
        type = self.choice.choice(self.types)
        name = f"%s{self.counter}"
        self.counter += 1
        if self.choice.random() < 0.3:
            self.lines.append(
                f'{name} = "arith.constant"() <{{value = {self.constant(type)}}}> : () -> {type}'
            )
        else:
            self.lines.append(f'{name} = "test.source"() : () -> {type}')
        self.values.append((name, type))
        return name, type

    def constant(self, type: str) -> str:
        literal = vocabulary.number(self.choice)
        if type.startswith(("tensor", "vector", "memref")):
            return f"dense<{literal}> : {type}"
        return f"{literal} : {type}"

    def count(self, field: Any) -> int:
        if self.choice.random() < 0.03:
            return self.choice.choice((0, 1, 2, 5))
        if field.is_single:
            return 1
        return self.choice.choice((0, 1)) if field.optional else self.choice.choice((0, 1, 2, 3))

    def op(self, cls: Any, depth: int = 0) -> None:
        """Append one operation of the class."""
        choice, definition = self.choice, cls.definition
        groups = [self.count(f) for f in definition.operands]
        operands = [self.operand() for count in groups for _ in range(count)]
        made = [self.count(f) for f in definition.results]
        same = [t for _, t in operands] or self.types
        results = [
            choice.choice(same if choice.random() < 0.7 else self.types) for _ in range(sum(made))
        ]
        entries = self.properties(definition, groups, made)
        properties = f" <{{{', '.join(entries)}}}>" if entries else ""
        blocks = ", ".join(["^bb0"] * len(definition.successors))
        successors = f" [{blocks}]" if blocks else ""
        regions = ", ".join(self.region(depth) for _ in range(self.region_count(definition)))
        regions = f" ({regions})" if regions else ""
        left = ""
        if results:
            left = f"%r{self.counter}:{len(results)} = "
            self.values += [(f"%r{self.counter}#{i}", t) for i, t in enumerate(results)]
            self.counter += 1
        names = ", ".join(name for name, _ in operands)
        types = ", ".join(type for _, type in operands)
        self.lines.append(
            f'{left}"{definition.name}"({names}){successors}{properties}{regions}'
            f" : ({types}) -> ({', '.join(results)})"
        )

    def region_count(self, definition: Any) -> int:
        fixed = len(definition.regions)
        return fixed if self.choice.random() < 0.95 else self.choice.choice((0, 1, 2))

    def properties(self, definition: Any, groups: list[int], made: list[int]) -> list[str]:
        entries = []
        for name in definition.attributes:
            if self.choice.random() < 0.75:
                entries.append(f"{name} = {vocabulary.attribute_text(self.choice)}")
        for what, sizes in (("operand", groups), ("result", made)):
            if self.choice.random() < 0.9 and self.segmented(definition, what):
                listed = ", ".join(map(str, sizes))
                text = f"array<i32: {listed}>" if sizes else "array<i32>"
                entries.append(f"{what}SegmentSizes = {text}")
        return entries

    @staticmethod
    def segmented(definition: Any, what: str) -> bool:
        fields = definition.operands if what == "operand" else definition.results
        return sum(not f.is_single for f in fields) > 1

    def region(self, depth: int) -> str:
        """A region with arguments and, sometimes, operations and a terminator."""
        choice = self.choice
        arguments = ", ".join(
            f"%a{self.counter + i}: {choice.choice(self.types)}"
            for i in range(choice.choice((0, 1, 1, 2, 3)))
        )
        if choice.random() < 0.1:
            return "{\n}"
        inner = OpMaker(choice)
        inner.types, inner.counter = self.types, self.counter + 1000 * (depth + 1)
        inner.values = list(self.values)
        for part in filter(None, arguments.split(", %")):
            name, _, type = part.partition(": ")
            inner.values.append((f"%{name.lstrip('%')}", type))
        if depth < 2:
            for _ in range(choice.choice((0, 0, 1, 2))):
                inner.op(choice.choice(op_classes()), depth + 1)
        terminators = (
            "linalg.yield",
            "scf.yield",
            "func.return",
            "affine.yield",
            "t.end",
            "scf.condition",
        )
        name, type = inner.operand()
        yielded = choice.choice((f"({name}) : ({type})", "() : ()"))
        inner.lines.append(f'"{choice.choice(terminators)}"{yielded} -> ()')
        self.counter += 10
        body = "\n".join(inner.lines)
        return f"{{\n^bb0({arguments}):\n{body}\n}}"


def op_text(choice: random.Random) -> str:
    """A function with a few operations in generic form."""
    maker = OpMaker(choice)
    for _ in range(choice.choice((1, 1, 2, 3))):
        maker.op(choice.choice(op_classes()))
    body = "\n".join(maker.lines)
    if choice.random() < 0.2:
        return f"{body}\n"
    head = '"func.func"() <{function_type = () -> (), sym_name = "f"}> ({\n'
    return f'{head}{body}\n"func.return"() : () -> ()\n}}) : () -> ()\n'
