"""Ops that nothing in nnc makes itself, as tables: a paragraph for each.

    dynamic_slice: A slice of known sizes at a start that is known when the program runs.
      input:tensor start_indices:tensor* !slice_sizes:ints -> result:tensor
    = custom<SomeOperands>(operands) `,` `sizes` `=` $slice_sizes FUNCTIONAL
    > %r = stablehlo.dynamic_slice %x, %i, sizes = [2] :
      (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>

First the name, the traits that not all ops of the table have (`resume Terminator: ...`), and a
summary, then the fields: `input:tensor` is an operand and its kind, `rhs:=lhs` one of the same type
as another, `!slice_sizes:ints` an attribute, `^body` a region, and what follows `->` the results;
behind a kind, `*` means any number, `?` that it may be absent. `=` begins the format, which a
generic form needs not; `>` begins each line of the example. A line without a mark goes on with the
one before. Several results are named in text as the fields are.
"""

from __future__ import annotations

import re
from textwrap import dedent

from ..ir import traits as traits_module
from .vocabulary import *

FUNCTIONAL = "attr-dict `:` functional-type(operands, results)"
"""What the word FUNCTIONAL in a format stands for."""

_TAKEN = {"name", *dir(Op)}
_OPERANDS = {"": operand, "*": operands, "?": optional_operand}
_RESULTS = {"": result, "*": results, "?": optional_result}


class OpTable:
    """The ops of a dialect that a text declares; each is declared when it is first used.

    `values` and `attributes` give the meaning of the kinds of fields; an attribute's may be a pair
    (kind, default). All ops have the traits and the base. They belong to `module`, which also has
    the directives of their formats.
    """

    def __init__(
        self,
        dialect: str,
        module: str,
        values: Mapping[str, Constraint],
        attributes: Mapping[str, AttrKind[Any] | tuple[AttrKind[Any], Any]],
        text: str,
        traits: Sequence[Any] = (),
        base: type[Op] = Op,
    ) -> None:
        self.module, self.values, self.attributes = module, values, attributes
        self.traits, self.base = traits, base
        self.verifiers: dict[str, Callable[[Any], None]] = {}
        self.paragraphs: dict[str, tuple[list[str], str]] = {}
        for paragraph in dedent(text).strip().split("\n\n"):
            head, _, rest = paragraph.partition(": ")
            name, *own = head.split()
            self.paragraphs[f"{dialect}.{name}"] = own, rest
        registry.defer_ops(self.paragraphs, self._declare)

    def verifies(self, *names: str) -> Callable[[Callable[[Any], None]], Callable[[Any], None]]:
        """A decorator: the function checks ops of these names beyond what their fields say."""

        def note(function: Callable[[Any], None]) -> Callable[[Any], None]:
            self.verifiers |= dict.fromkeys(names, function)
            return function

        return note

    def _declare(self, name: str) -> Any:
        own, paragraph = self.paragraphs[name]
        summary, *lines = paragraph.splitlines()
        fields, format, example = "", "", []
        for line in lines:
            text = line.strip()
            match line[0], text[0]:
                case "=", _:
                    format = text[2:]
                case ">", _:
                    example.append(line[2:])
                case _ if example:
                    example[-1] += f" {text}"
                case _ if format:
                    format += f" {text}"
                case _:
                    fields += f" {text}"
        word = name.partition(".")[2]
        class_name = "".join(part.title() for part in re.split("[._]", word))
        body = {
            "__module__": self.module,
            "__qualname__": class_name,
            "__doc__": summary,
            "format": format.replace("FUNCTIONAL", FUNCTIONAL) or None,
            "example": "\n".join(["", *example]),
            **self._fields(fields),
        }
        if word in self.verifiers:
            body["verify_op"] = self.verifiers[word]
        names = [key for key, field in body.items() if isinstance(field, Result)]
        if len(names) > 1:
            body["result_names"] = lambda op: names
        traits = [*self.traits, *(getattr(traits_module, word) for word in own)]
        return OpMeta(class_name, (self.base,), body, name=name, traits=traits)

    def _fields(self, text: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        made: Mapping[str, Callable[[Constraint], Any]] = _OPERANDS
        for word in text.split():
            if word == "->":
                made = _RESULTS
                continue
            bare = word.rstrip("*?")
            count = word[len(bare) :]
            name, _, kind = bare.lstrip("!^").partition(":")
            if word.startswith("^"):
                found[name] = region(variadic=count == "*")
            elif word.startswith("!"):
                # A name that every operation has, such as `name`, gets another one in Python.
                key = f"{name}_" if name in _TAKEN else name
                given = self.attributes[kind]
                known, default = given if isinstance(given, tuple) else (given, None)
                found[key] = attribute(known, default=default, optional=count == "?", key=name)
            else:
                same = Same(kind[1:]) if kind.startswith("=") else None
                found[name] = made[count](same or self.values[kind])
        return found
