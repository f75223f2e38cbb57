"""Lowers one operation in generic form, with operands of types that its declaration allows.

An operation that passes the verifier must have a lowering, or a message that it has none.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from typing import Any

from .cases import Case
from .op_text import op_classes

_SCALARS = ("f32", "i32", "index", "i1", "i64", "f16", "f64", "i8", "bf16", "i4", "complex<f32>")
_SHAPES = ("", "4x", "2x2x", "1x", "2x3x4x", "0x", "8x", "1x1x")
_OPEN = ("?x", "2x?x", "?x?x")
_OTHERS = (
    *("!llvm.ptr", "!llvm.struct<(i32, f32)>", "!llvm.array<2 x i32>", "vector<[4]xf32>"),
    *(
        "memref<4xf32, strided<[2], offset: 1>>",
        "memref<2x2xf32, affine_map<(d0, d1) -> (d1, d0)>>",
    ),
    *("memref<*xf32>", "tensor<*xf32>", "() -> ()", "(i32) -> i32", "tuple<i32>", "none"),
    *("vector<2x[4]xi1>", "vector<4xindex>", "memref<4xvector<2xf32>>", "vector<4x!llvm.ptr>"),
)
_ATTRIBUTES = (
    *("unit", "true", '"text"', "@f", "[]", "{}", "i32", "vector<4xf32>", "tensor<4xf32>"),
    *(f"{n} : {type}" for n in (0, 1, 2, 4, -1) for type in ("i64", "i32", "index", "i8")),
    *("1.0 : f32", "-0.0 : f64", "dense<1> : vector<4xi32>", "dense<1.0> : tensor<4xf32>"),
    *("array<i64>", "array<i64: 0>", "array<i64: 1, 1>", "array<i64: 0, 1>", "array<i64: 2, 2>"),
    *("array<i64: 1>", "array<i32: 1, 0>", "array<i1: true, false>", "array<i64: 1, 0>"),
    *("affine_map<(d0) -> (d0)>", "affine_map<(d0, d1) -> (d1, d0)>", "affine_map<() -> (0)>"),
    *("[affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]", '["parallel"]', "[unit, 1]"),
    *("[affine_map<(d0) -> (d0)>]", "[#linalg.iterator_type<parallel>]", "[0, 1]", "[true]"),
    *(
        "#vector.kind<add>",
        "#vector.kind<maxnumf>",
        "#arith.fastmath<fast>",
        "#arith.overflow<nsw>",
    ),
    *("[[0], [1]]", "[[0, 1]]", '"add"', "affine_set<(d0) : (d0 >= 0)>", "0.5 : f64"),
)


@cache
def _types() -> list[Any]:
    from nnc.ir.diagnostics import NncError
    from nnc.ir.syntax.parser import parse_type

    texts = [*_SCALARS, *_OTHERS]
    for scalar in _SCALARS:
        for shape in _SHAPES:
            texts += [f"{kind}<{shape}{scalar}>" for kind in ("vector", "tensor", "memref")]
        texts += [f"{kind}<{shape}{scalar}>" for shape in _OPEN for kind in ("tensor", "memref")]
    found = []
    for text in texts:
        try:
            found.append(parse_type(text))
        except NncError:
            continue
    return found


@cache
def _attributes() -> list[Any]:
    from nnc.ir.syntax.parser import parse_attribute

    return [parse_attribute(text) for text in _ATTRIBUTES]


@cache
def _allowed(constraint: Any) -> list[Any]:
    """The types that a constraint allows; if it allows none of the known types, all."""
    return [type for type in _types() if constraint.allows(type)] or _types()


class _Maker:
    """Makes the text of one function around one operation."""

    def __init__(self, choice: random.Random) -> None:
        self.choice = choice
        self.arguments: list[Any] = []

    def function(self, cls: Any) -> str:
        op, results = self._op(cls)
        returned = results if self.choice.random() < 0.7 else []
        names = ", ".join(f"%r#{i}" for i in range(len(returned)))
        given, made = (", ".join(map(str, types)) for types in (self.arguments, returned))
        head = ", ".join(f"%a{i}: {type}" for i, type in enumerate(self.arguments))
        return (
            f'"func.func"() <{{function_type = ({given}) -> ({made}), sym_name = "f"}}> ({{\n'
            f"^bb0({head}):\n{op}\n"
            f'"func.return"({names}) : ({made}) -> ()\n}}) : () -> ()\n'
        )

    def _op(self, cls: Any) -> tuple[str, list[Any]]:
        definition, known = cls.definition, dict[str, Any]()
        operands, given = self._values(definition.operands, known)
        results, made = self._values(definition.results, known)
        properties = self._properties(definition)
        results = self._inferred(cls, operands, properties) or results
        entries = [f"{name} = {value}" for name, value in properties.items()]
        for what, fields, counts in (
            ("operand", definition.operands, given),
            ("result", definition.results, made),
        ):
            if sum(not one.is_single for one in fields) > 1:
                entries.append(f"{what}SegmentSizes = array<i32: {', '.join(map(str, counts))}>")
        first = len(self.arguments)
        self.arguments += operands
        names = ", ".join(f"%a{first + i}" for i in range(len(operands)))
        left = f"%r:{len(results)} = " if results else ""
        text = f'{left}"{definition.name}"({names})'
        text += f" <{{{', '.join(entries)}}}>" if entries else ""
        regions = [self._region(definition, operands, results) for _ in definition.regions]
        text += f" ({', '.join(regions)})" if regions else ""
        given_types, made_types = (", ".join(map(str, types)) for types in (operands, results))
        return f"{text} : ({given_types}) -> ({made_types})", results

    def _values(self, fields: Sequence[Any], known: dict[str, Any]) -> tuple[list[Any], list[int]]:
        types, counts = [], []
        for one in fields:
            count = 1 if one.is_single else self.choice.choice((0, 1, 1, 2, 4))
            counts.append(count)
            for _ in range(count):
                types.append(self._type(one.constraint, known))
                known.setdefault(one.name, types[-1])
        return types, counts

    def _type(self, constraint: Any, known: dict[str, Any]) -> Any:
        from nnc.ir.constraints import Derived, Same

        choice = self.choice
        if isinstance(constraint, Same) and constraint.field in known:
            return known[constraint.field]
        if isinstance(constraint, Derived) and constraint.field in known:
            return constraint.derive(known[constraint.field]) or choice.choice(_types())
        allowed = _allowed(constraint)
        before = [type for type in known.values() if type in allowed]
        return choice.choice(before if before and choice.random() < 0.6 else allowed)

    def _properties(self, definition: Any) -> dict[str, Any]:
        found = {}
        for name, one in definition.attributes.items():
            allowed = [value for value in _attributes() if one.kind.allows(value)]
            if allowed and self.choice.random() < 0.7:
                found[name] = self.choice.choice(allowed)
        return found

    def _inferred(self, cls: Any, operands: list[Any], properties: Any) -> list[Any] | None:
        """The types that the operation infers for its results, if it does."""
        if self.choice.random() < 0.2:
            return None
        try:
            return cls.infer_result_types(operands, properties)
        except Exception:
            return None

    def _region(self, definition: Any, operands: list[Any], results: list[Any]) -> str:
        choice = self.choice
        if choice.random() < 0.15:
            return "{}"
        pool = [*operands, *results, *_types()[: len(_SCALARS)]]
        arguments = [choice.choice(pool) for _ in range(choice.choice((0, 0, 1, 1, 2, 3)))]
        number = len(self.arguments) + 100
        head = ", ".join(f"%b{number + i}: {type}" for i, type in enumerate(arguments))
        yielded = results if choice.random() < 0.5 else arguments[: choice.choice((0, 1, 2))]
        first = len(self.arguments) - len(operands)
        values = []
        for type in yielded:
            if type in arguments:
                values.append(f"%b{number + arguments.index(type)}")
            elif type in operands:
                values.append(f"%a{first + operands.index(type)}")
            else:
                values.append("")
        kept = [(name, type) for name, type in zip(values, yielded, strict=True) if name]
        names, types = ", ".join(n for n, _ in kept), ", ".join(str(t) for _, t in kept)
        last = choice.choice(_ends(definition.name))
        return f'{{\n^bb0({head}):\n"{last}"({names}) : ({types}) -> ()\n}}'


@cache
def _ends(name: str) -> list[str]:
    """The terminators that may end a region of an operation: those of its dialect, and yields."""
    from nnc.ir.traits import Terminator

    dialect = name.partition(".")[0]
    classes = [cls for cls in op_classes() if Terminator in cls.traits]
    own = [cls.name for cls in classes if cls.name.startswith((f"{dialect}.", f"{name}."))]
    return own or ["scf.yield", "linalg.yield"]


def typed_case(choice: random.Random) -> Case:
    """A case that lowers one operation to LLVM's dialect, or one of the stages before it."""
    text = _Maker(choice).function(choice.choice(op_classes()))
    flag = choice.choice(("--lower-all", "--lower-all", "--lower-to-loops", "--canonicalize"))
    return Case("nn-opt", ("%s", flag), text.encode())
