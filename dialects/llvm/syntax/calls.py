"""The directives of llvm's calls: callee, operand bundles, signature."""

from __future__ import annotations

from ....ir.syntax.directive import Directive, directive, listed
from ....ir.syntax.parts import TARGET, chain, dict_text, target_text
from ...vocabulary import *
from .symbols import WORDS, Words, dictionaries, words_of

_TARGET = {"call_target": "SYMBOL -> symbol | VALUE -> value"}


_VARARG = {"call_vararg": '| "vararg" "(" TYPE ")"'}


@directive("OpBundles")
class OpBundles(Directive):
    """` ["align"(%p, %n : !llvm.ptr, i64), "cold"()]`, or nothing.

    Arguments: $op_bundle_operands, type($op_bundle_operands), $op_bundle_tags. The number of
    operands of each is in $op_bundle_sizes.
    """

    fragment = "op_bundles"
    rules = {  # noqa: RUF012
        "op_bundles": '| "[" "]" -> none | "[" bundle_list "]" -> some',
        "bundle_list": 'bundle | bundle_list "," bundle',
        "bundle": 'STRING "(" ")" | STRING "(" values ":" types ")"',
    }

    def fields(self):
        yield from super().fields()
        yield "attribute", "op_bundle_sizes"

    def read(self, child: Any, state: Any) -> None:
        operands, _, tags = self.names
        bundles = chain(child[0][1]) if child[0] and child[0][0] == "some" else []
        state.operands[operands] = [name for b in bundles if len(b) > 1 for name in b[1]]
        state.types[operands] = [type for b in bundles if len(b) > 1 for type in b[2]]
        sizes = tuple(len(b[1]) if len(b) > 1 else 0 for b in bundles)
        state.properties["op_bundle_sizes"] = DenseArrayAttr(i32, sizes)
        if bundles:
            state.properties[tags] = ArrayAttr(tuple(StringAttr(b[0][0]) for b in bundles))

    def write(self, op: Any, printer: Any) -> None:
        operands, _, tags = (getattr(op, name) for name in self.names)
        if not op.op_bundle_sizes:
            return
        parts, at = [], 0
        for tag, size in zip(tags or (), op.op_bundle_sizes, strict=False):
            values = operands[at : at + size]
            at += size
            types = ", ".join([printer.type(v.type) for v in values])
            inner = f"{printer.values(values)} : {types}" if values else ""
            parts.append(f"{printer.attribute(tag)}({inner})")
        printer.out.append(f" [{', '.join(parts)}]")

    def present(self, op: Any) -> bool:
        """Whether the op has operand bundles."""
        return bool(op.op_bundle_sizes)


class _Callee(Directive):
    """What calls and invokes share: words, the callee, its arguments."""

    words: tuple[str, ...] = ("CConv",)

    def fields(self):
        yield from super().fields()
        for name in self.words:
            yield "attribute", name

    def read_callee(self, words: Any, target: Any, names: Any, state: Any) -> None:
        taken = Words(state, words)
        for field in self.words:
            taken.take(field)
        taken.done()
        callee, operands = self.names[:2]
        kind, value = target
        if kind == "symbol":
            state.properties[callee] = value
            state.operands[operands] = list(names)
        else:
            state.operands[operands] = [value, *names]

    def callee_text(self, op: Any, printer: Any) -> str:
        head = words_of(op, *self.words)
        operands = getattr(op, self.names[1])
        if self.names[0] in op.properties:
            return f"{head} {printer.attribute(op.properties[self.names[0]])}" + (
                f"({printer.values(operands)})"
            )
        return f"{head} {printer.value(operands[0])}({printer.values(operands[1:])})"


@directive("CallHead")
class CallHead(_Callee):
    """` fastcc tail @f(%x) vararg(!llvm.func<..>)`

    Arguments: $callee, $callee_operands, $var_callee_type. The words are those of $CConv and
    $TailCallKind.
    """

    words = ("CConv", "TailCallKind")
    fragment = 'words call_target "(" values_opt ")" call_vararg'
    rules = {**WORDS, **_TARGET, **_VARARG}  # noqa: RUF012

    def read(self, child: Any, state: Any) -> None:
        words, target, names, vararg = child
        self.read_callee(words, target, names, state)
        if vararg:
            state.properties[self.names[2]] = vararg[0]

    def write(self, op: Any, printer: Any) -> None:
        variadic = getattr(op, self.names[2])
        tail = f" vararg({printer.type(variadic)})" if variadic is not None else ""
        printer.out.append(self.callee_text(op, printer) + tail)


@directive("InvokeHead")
class InvokeHead(_Callee):
    """` fastcc @f(%x) to ^bb1 unwind ^bb2(%y : i64) vararg(!llvm.func<..>)`

    Arguments: $callee, $callee_operands, $var_callee_type, $normalDest, $normalDestOperands,
    $unwindDest, $unwindDestOperands.
    """

    fragment = (
        'words call_target "(" values_opt ")" "to" branch_target "unwind" branch_target call_vararg'
    )
    rules = {**WORDS, **_TARGET, **_VARARG, **TARGET}  # noqa: RUF012

    def read(self, child: Any, state: Any) -> None:
        words, target, names, normal, unwind, vararg = child
        self.read_callee(words, target, names, state)
        for (block, *passed), dest, operands in (
            (normal, self.names[3], self.names[4]),
            (unwind, self.names[5], self.names[6]),
        ):
            state.successors[dest] = [block]
            state.operands[operands] = list(passed[0]) if passed else []
            state.types[operands] = list(passed[1]) if passed else []
        if vararg:
            state.properties[self.names[2]] = vararg[0]

    def write(self, op: Any, printer: Any) -> None:
        variadic, normal, passed, unwind, passed_on = (getattr(op, n) for n in self.names[2:])
        tail = f" vararg({printer.type(variadic)})" if variadic is not None else ""
        printer.out.append(
            f"{self.callee_text(op, printer)} to {target_text(printer, normal, passed)} "
            f"unwind {target_text(printer, unwind, passed_on)}{tail}"
        )


_SIGNATURE = {
    "signature": '"(" typed_list_opt ")" signature_results',
    "signature_results": '"->" TYPE_NOT_FUNCTION -> one | "->" "(" typed_list_opt ")" -> several',
    "typed_list_opt": "| typed_list",
    "typed_list": 'typed | typed_list "," typed',
    "typed": "TYPE dict_opt",
}


class _Signature(Directive):
    """Types of arguments and results, each with a dictionary of attributes or none."""

    rules = _SIGNATURE

    def fields(self):
        yield from super().fields()
        yield "attribute", "arg_attrs"
        yield "attribute", "res_attrs"

    def read_signature(self, child: Any, state: Any, result: str) -> list[Any]:
        """Store the signature's attributes and result. Returns the types of the arguments."""
        inputs, outputs = child
        given = chain(inputs[0]) if inputs else []
        if outputs[0] == "one":
            returned = [(outputs[1], None)]
        else:
            returned = chain(outputs[1][0]) if outputs[1] else []
        state.types[result] = [type for type, _ in returned if str(type) != "!llvm.void"]
        for name, found in (("arg_attrs", given), ("res_attrs", returned)):
            if any(entries for _, entries in found):
                state.properties[name] = dictionaries([entries for _, entries in found])
        return [type for type, _ in given]

    @staticmethod
    def signature_text(op: Any, types: list[Any], printer: Any) -> str:
        results = [v.type for v in op.results]
        if op.arg_attrs is None and op.res_attrs is None:
            return printer.function_type(types, results)
        inputs = [
            printer.type(t) + dict_text(op.arg_attrs, i, printer) for i, t in enumerate(types)
        ]
        extra = dict_text(op.res_attrs, 0, printer) if results else ""
        outputs = [printer.type(t) for t in results]
        if len(results) == 1 and not extra and not isinstance(results[0], FunctionType):
            return f"({', '.join(inputs)}) -> {outputs[0]}"
        return f"({', '.join(inputs)}) -> ({', '.join(outputs)}{extra})"


@directive("Signature")
class Signature(_Signature):
    """`(f32 {llvm.noundef}) -> f32`. Arguments: $args, type($args), type($res)."""

    fragment = "signature"

    def read(self, child: Any, state: Any) -> None:
        args, _, result = self.names
        state.types[args] = self.read_signature(child[0], state, result)

    def write(self, op: Any, printer: Any) -> None:
        types = [v.type for v in getattr(op, self.names[0])]
        printer.out.append(f" {self.signature_text(op, types, printer)}")


@directive("CallType")
class CallType(_Signature):
    """`(f32) -> f32`, after `!llvm.ptr, ` for a call through a pointer.

    Arguments: $callee, $callee_operands, type($callee_operands), type($res).
    """

    fragment = "call_type"
    rules = {  # noqa: RUF012
        **_SIGNATURE,
        "call_type": 'signature -> direct | TYPE_NOT_FUNCTION "," signature -> indirect',
    }

    def read(self, child: Any, state: Any) -> None:
        _, operands, _, result = self.names
        _, *pointer, signature = child[0]
        state.types[operands] = [*pointer, *self.read_signature(signature, state, result)]

    def write(self, op: Any, printer: Any) -> None:
        types = [v.type for v in getattr(op, self.names[1])]
        head = " "
        if self.names[0] not in op.properties:
            head = f" {printer.type(types[0])}, "
            types = types[1:]
        printer.out.append(head + self.signature_text(op, types, printer))


@directive("LandingpadClauses")
class LandingpadClauses(Directive):
    """` cleanup (catch %x : !llvm.ptr) (filter %y : !llvm.array<..>) `

    Arguments: $cleanup, $clauses, type($clauses).
    """

    fragment = "pad_cleanup pad_clauses"
    rules = {  # noqa: RUF012
        "pad_cleanup": '| "cleanup" -> cleanup',
        "pad_clauses": "| pad_clauses pad_clause",
        "pad_clause": '"(" "catch" VALUE ":" TYPE ")" -> catch '
        '| "(" "filter" VALUE ":" TYPE ")" -> filter',
    }

    def read(self, child: Any, state: Any) -> None:
        cleanup, clauses = self.names[:2]
        flag, found = child
        given = [clause for (clause,) in listed(found, 1)]
        if flag:
            state.properties[cleanup] = state.definition.attributes[cleanup].kind.from_python(True)
        state.operands[clauses] = [value for _, value, _ in given]
        state.types[clauses] = [type for _, _, type in given]
        for word, (_, pos), type in given:
            if (word == "filter") is not (type.name == "llvm.array"):
                state.fail(
                    f"a filter clause takes an array, a catch clause another type; found '{type}'",
                    pos,
                )

    def write(self, op: Any, printer: Any) -> None:
        cleanup, clauses = (getattr(op, name) for name in self.names[:2])
        text = " cleanup" if cleanup else ""
        for value in clauses:
            word = "filter" if value.type.name == "llvm.array" else "catch"
            text += f" ({word} {printer.value(value)} : {printer.type(value.type)})"
        printer.out.append(text)
