"""The func dialect: functions, calls and returns."""

from __future__ import annotations

from ..ir.constraints import AnyFunction
from ..ir.declare import FUNCTION_TYPE
from ..ir.diagnostics import Diagnostic
from ..ir.symbols import lookup_symbol
from ..ir.syntax.attribute_printer import symbol_text
from ..ir.syntax.directive import Directive, directive, listed
from ..ir.syntax.parts import dict_text
from ..ir.traits import Symbol
from .vocabulary import *

registry.dialect("func").doc = __doc__ or ""


@directive("FunctionSignature")
class FunctionSignature(Directive):
    """`private @f(%x: i32 {a.b}) -> (f32 {c.d})`; a declaration lists argument types only.

    Arguments: $visibility, $name, $function_type, $arg_attrs, $res_attrs, $body.
    """

    fragment = 'visibility SYMBOL "(" arguments ")" function_results'
    rules = {  # noqa: RUF012
        "visibility": '| "public" -> public | "private" -> private | "nested" -> nested',
        "arguments": "| named_list -> with_names | typed_list -> types_only",
        "named_list": 'named | named_list "," named',
        "named": 'VALUE ":" TYPE dict_opt [location]',
        "typed_list": 'typed | typed_list "," typed',
        "typed": "TYPE dict_opt",
        "function_results": '| "->" TYPE_NOT_FUNCTION -> one | "->" "(" ")" '
        '| "->" "(" typed_list ")" -> several',
    }

    def read(self, child: Any, state: Any) -> None:
        visibility, name, function_type, arg_attrs, res_attrs, body = self.names
        word, symbol, given, returned = child
        if word:
            state.properties[visibility] = StringAttr(word[0])
        state.properties[name] = state.symbol_name(symbol)
        is_named = bool(given) and given[0] == "with_names"
        args = [item for (item,) in listed(given[1], 1)] if given else []
        results = self._results(returned)
        inputs = tuple(arg[1] if is_named else arg[0] for arg in args)
        state.properties[function_type] = FunctionType(inputs, tuple(r[0] for r in results))
        self._attributes(state, arg_attrs, [arg[2] if is_named else arg[1] for arg in args])
        self._attributes(state, res_attrs, [result[1] for result in results])
        if is_named:
            state.entry_args[body] = [(arg[0], arg[1], arg[3]) for arg in args]

    @staticmethod
    def _results(returned: Any) -> list[Any]:
        if not returned:
            return []
        if returned[0] == "one":
            return [(returned[1], None)]
        return [item for (item,) in listed(returned[1], 1)]

    @staticmethod
    def _attributes(state: Any, name: str, dicts: list[Any]) -> None:
        if any(dicts):
            entries = [DictAttr(tuple((d or {}).items())) for d in dicts]
            state.properties[name] = ArrayAttr(tuple(entries))

    def write(self, op: Any, printer: Any) -> None:
        visibility, name, type, arg_attrs, res_attrs, body = (
            getattr(op, field) for field in self.names
        )
        head = f" {visibility}" if visibility else ""
        head += f" {symbol_text(name)}({self._arguments(type, arg_attrs, body, printer)})"
        head += self._result_text(type.results, res_attrs, printer)
        printer.out.append(head)

    def _arguments(self, type: Any, attrs: Any, body: Any, printer: Any) -> str:
        parts = []
        for i, input in enumerate(type.inputs):
            writer = printer.alias_reader() if body.blocks else printer
            entry = dict_text(attrs, i, writer)
            if body.blocks:
                text = printer.argument(body.blocks[0].args[i], entry)
            else:
                text = f"{printer.type(input)}{entry}"
            parts.append(text)
        return ", ".join(parts)

    @staticmethod
    def _result_text(results: Any, attrs: Any, printer: Any) -> str:
        if not results:
            return ""
        parts = [f"{printer.type(t)}{dict_text(attrs, i, printer)}" for i, t in enumerate(results)]
        plain = len(results) == 1 and not isinstance(results[0], FunctionType)
        if plain and not dict_text(attrs, 0, printer):
            return f" -> {parts[0]}"
        return f" -> ({', '.join(parts)})"


class FuncOp(Op, name="func.func", traits=(IsolatedFromAbove, Symbol)):
    """A function; without a body, the declaration of one.

    `arg_attrs` and `res_attrs` have a dictionary for each argument and result, or are absent.
    Source: upstream func.func.
    """

    sym_name = attribute(SYMBOL_NAME)
    function_type = attribute(FUNCTION_TYPE)
    sym_visibility = attribute(STRING, optional=True)
    arg_attrs: Any = attribute(ARRAY, optional=True)
    res_attrs: Any = attribute(ARRAY, optional=True)
    no_inline = attribute(UNIT)
    body: RegionField = region()

    default_dialect = "func"

    format = (
        "custom<FunctionSignature>($sym_visibility, $sym_name, $function_type, $arg_attrs, "
        "$res_attrs, $body) attr-dict-with-keyword custom<FunctionBody>($body)"
    )
    example = """
        func.func private @half(%arg0: f32 {nn.name = "x"}, %arg1: f32) -> f32 {
          %0 = arith.divf %arg0, %arg1 : f32
          return %0 : f32
        }
    """

    @staticmethod
    def of(
        name: str,
        inputs: Sequence[Type],
        outputs: Sequence[Type] = (),
        *,
        visibility: str | None = None,
        attributes: dict[str, Attribute] | None = None,
        loc: Location = UNKNOWN,
    ) -> FuncOp:
        """A function with an empty entry block, to be filled with a builder."""
        return FuncOp(
            name,
            FunctionType(tuple(inputs), tuple(outputs)),
            visibility,
            body=Region([Block(inputs)]),
            attributes=attributes,
            loc=loc,
        )

    @property
    def is_declaration(self) -> bool:
        """Whether the body is missing."""
        return not self.body.blocks

    @property
    def args(self) -> list[BlockArgument]:
        """The arguments of the entry block."""
        return self.body.blocks[0].args if self.body.blocks else []

    def arg_attribute(self, i: int, name: str) -> Attribute | None:
        """An attribute of argument `i`."""
        return _entry(self.arg_attrs, i).get(name)

    def set_arg_attribute(self, i: int, name: str, value: Attribute | None) -> None:
        """Set an attribute of argument `i`, or remove it."""
        self.arg_attrs = _with_entry(self.arg_attrs, len(self.function_type.inputs), i, name, value)

    def verify_op(self) -> None:
        self._verify_attribute_lists()
        parent = self.parent_op
        if not (parent is None or isinstance(parent, UnregisteredOp)) and not parent.has_trait(
            SymbolTable
        ):
            raise self.error("symbol's parent must have the SymbolTable trait")
        if self.sym_visibility not in (None, "public", "private", "nested"):
            raise self.error(
                'visibility expected to be one of ["public", "private", "nested"], '
                f'but got "{self.sym_visibility}"'
            )
        if self.is_declaration:
            if self.sym_visibility in (None, "public") and parent is not None:
                raise self.error("symbol declaration cannot have public visibility")
            return
        args, inputs = self.args, self.function_type.inputs
        if len(args) != len(inputs):
            raise self.error(
                f"entry block must have {len(inputs)} arguments to match function signature"
            )
        for i, (arg, type) in enumerate(zip(args, inputs, strict=True)):
            if arg.type is not type:
                raise self.error(
                    f"type of entry block argument #{i}('{arg.type}') must match the type of the "
                    f"corresponding argument in function signature('{type}')"
                )

    def _verify_attribute_lists(self) -> None:
        lists = (
            ("argument", self.arg_attrs, len(self.function_type.inputs)),
            ("result", self.res_attrs, len(self.function_type.results)),
        )
        for noun, entries, count in lists:
            if entries is None:
                continue
            if len(entries) != count:
                raise self.error(
                    f"expects {noun} attribute array to have the same number of elements as the "
                    f"number of function {noun}s, got {len(entries)}, but expected {count}"
                )
            for entry in entries:
                if not isinstance(entry, DictAttr):
                    raise self.error(f"expects {noun} attribute dictionary to be a DictionaryAttr")
                if any("." not in key for key, _ in entry.items()):
                    raise self.error(f"{noun}s may only have dialect attributes")


def _entry(entries: Sequence[Any] | None, i: int) -> DictAttr:
    return entries[i] if entries is not None else DictAttr(())


def _with_entry(
    entries: Sequence[Any] | None, count: int, i: int, name: str, value: Attribute | None
) -> ArrayAttr | None:
    all_entries = list(entries or [DictAttr(())] * count)
    own = [(name, value)] if value is not None else []
    all_entries[i] = DictAttr((*own, *((k, v) for k, v in all_entries[i].items() if k != name)))
    return ArrayAttr(tuple(all_entries)) if any(len(e.items()) for e in all_entries) else None


class Return(Op, name="func.return", traits=(Pure, HasParent("func.func"), Terminator)):
    """Ends a function with its results.

    Source: upstream func.return.
    """

    values: Operands = operands()

    format = "attr-dict ($values^ `:` type($values))?"
    example = """
        func.func @f(%arg0: f32, %arg1: i32) -> (f32, i32) {
          return %arg0, %arg1 : f32, i32
        }
    """

    def verify_op(self) -> None:
        func = self.parent_op
        if not isinstance(func, FuncOp):
            return
        wanted = func.function_type.results
        if len(self.values) != len(wanted):
            raise self.error(
                f"has {len(self.values)} operands, but enclosing function (@{func.sym_name}) "
                f"returns {len(wanted)}"
            )
        for i, (value, type) in enumerate(zip(self.values, wanted, strict=True)):
            if value.type is not type:
                raise VerifyError(
                    f"type of return operand {i} ('{value.type}') doesn't match function result "
                    f"type ('{type}') in function @{func.sym_name}",
                    self.loc,
                )


class Call(Op, name="func.call"):
    """Call a function of this module.

    Source: upstream func.call.
    """

    callee = attribute(SYMBOL)
    args: Operands = operands()
    arg_attrs: Any = attribute(ARRAY, optional=True)
    res_attrs: Any = attribute(ARRAY, optional=True)
    no_inline = attribute(UNIT)
    outs: Results = results()

    format = "$callee `(` $args `)` attr-dict `:` functional-type($args, results)"
    example = """
        func.func private @g(f32, i32) -> (f32, i32)
        func.func @f(%arg0: f32, %arg1: i32) -> i32 {
          %0:2 = call @g(%arg0, %arg1) : (f32, i32) -> (f32, i32)
          return %0#1 : i32
        }
    """

    def interpret(self, operands, frame):
        return frame.call(self.callee, operands)

    def verify_op(self) -> None:
        callee = lookup_symbol(self, self.callee)
        if not isinstance(callee, FuncOp):
            if self.parent_op is None:
                return
            raise self.error(f"'{self.callee}' does not reference a valid function")
        if not isinstance(callee.function_type, FunctionType):
            return  # the function itself is in error
        inputs, outputs = callee.function_type.inputs, callee.function_type.results
        if len(self.args) != len(inputs):
            raise self.error("incorrect number of operands for callee")
        for i, (value, type) in enumerate(zip(self.args, inputs, strict=True)):
            if value.type is not type:
                raise self.error(
                    f"operand type mismatch: expected operand type '{type}', but provided "
                    f"'{value.type}' for operand number {i}"
                )
        if len(self.outs) != len(outputs):
            raise self.error("incorrect number of results for callee")
        for i, (value, type) in enumerate(zip(self.outs, outputs, strict=True)):
            if value.type is not type:
                raise self._result_mismatch(i, outputs)

    def _result_mismatch(self, i: int, outputs: Sequence[Type]) -> VerifyError:
        found = ", ".join(f"'{t}'" for t in self.result_types)
        wanted = ", ".join(f"'{t}'" for t in outputs)
        notes = [
            Diagnostic("note", f"      op result types: {found}", self.loc),
            Diagnostic("note", f"function result types: {wanted}", self.loc),
        ]
        return VerifyError(f"'{self.name}' op result type mismatch at index {i}", self.loc, notes)


@directive("CalleeType")
class CalleeType(Directive):
    """The function type of an indirect call's callee, which gives all other types.

    Arguments: type($callee), type($operands), type($outs).
    """

    fragment = "function_type"

    def read(self, child: Any, state: Any) -> None:
        callee, given, outs = self.names
        state.types[callee] = [child[0]]
        state.types[given] = list(child[0].inputs)
        state.types[outs] = list(child[0].results)

    def write(self, op: Any, printer: Any) -> None:
        printer.out.append(" " + printer.type(getattr(op, self.names[0]).type))


class CallIndirect(Op, name="func.call_indirect"):
    """Call a function that is given as a value.

    Source: upstream func.call_indirect.
    """

    callee: Operand = operand(AnyFunction)
    callee_operands: Operands = operands()
    arg_attrs: Any = attribute(ARRAY, optional=True)
    res_attrs: Any = attribute(ARRAY, optional=True)
    outs: Results = results()

    format = (
        "$callee `(` $callee_operands `)` attr-dict `:` "
        "custom<CalleeType>(type($callee), type($callee_operands), type($outs))"
    )
    example = """
        func.func @f(%arg0: (f32) -> i32, %arg1: f32) -> i32 {
          %0 = call_indirect %arg0(%arg1) : (f32) -> i32
          return %0 : i32
        }
    """

    def interpret(self, operands, frame):
        return frame.call(operands[0], operands[1:])

    def verify_op(self) -> None:
        type = self.callee.type
        assert isinstance(type, FunctionType)
        if [v.type for v in self.callee_operands] != list(type.inputs):
            raise self.error("failed to verify that callee input types match argument types")
        if self.result_types != list(type.results):
            raise self.error("failed to verify that callee result types match result types")


class Constant(Op, name="func.constant", traits=(Pure, ConstantLike)):
    """A function as a value.

    Source: upstream func.constant.
    """

    value = attribute(SYMBOL)
    out: Result = result()

    result_name = "f"

    format = "attr-dict $value `:` type($out)"
    example = """
        func.func private @g(f32) -> i32
        func.func @f() -> ((f32) -> i32) {
          %f = constant @g : (f32) -> i32
          return %f : (f32) -> i32
        }
    """

    def fold(self):
        return [self.properties["value"]]

    def evaluate(self):
        return self.value

    def verify_op(self) -> None:
        if self.parent_op is None:
            return
        callee = lookup_symbol(self, self.value)
        if not isinstance(callee, FuncOp):
            raise self.error(f"reference to undefined function '{self.value}'")
        if callee.function_type is not self.out.type:
            raise self.error("reference to function with mismatched type")


def functions_by_name(module: Operation) -> dict[str, FuncOp]:
    """{name: function} of a module."""
    return {op.sym_name: op for op in module.regions[0].ops if isinstance(op, FuncOp)}


def materialize_constant(attribute: Attribute, type: Type, loc: Location) -> Operation | None:
    """`func.constant` of a symbol reference."""
    if isinstance(attribute, SymbolRefAttr) and isinstance(type, FunctionType):
        return Constant(attribute, out=type, loc=loc)
    return None


registry.dialect("func").materialize_constant = materialize_constant
