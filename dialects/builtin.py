"""The builtin dialect: the module, and casts that a conversion leaves for the next one."""

from __future__ import annotations

from ..ir.symbols import symbol_name
from ..ir.traits import GraphRegion, Symbol
from .vocabulary import *


class ModuleOp(
    Op,
    name="builtin.module",
    traits=(IsolatedFromAbove, SymbolTable, Symbol, GraphRegion, SingleBlock, NoTerminator),
):
    """The unit of compilation: functions, globals and other symbols.

    Source: upstream builtin.module.
    """

    __slots__ = ("file_resources",)
    file_resources: Any
    """The resources at the end of the file that the module was read from; unset for other modules.
    """

    body_region: RegionField = region()
    sym_name = attribute(SYMBOL_NAME, optional=True)
    sym_visibility = attribute(STRING, optional=True)

    default_dialect = "builtin"
    format = "($sym_name^)? attr-dict-with-keyword $body_region"
    example = """
        module @inner attributes {nn.version = 1 : i64} {
        }
    """

    @staticmethod
    def of(ops: Iterable[Operation] = ()) -> ModuleOp:
        """A module with these operations at its top level."""
        return ModuleOp(Region([Block((), ops)]))

    def lookup(self, name: str) -> Operation | None:
        """The operation that defines the symbol, or None."""
        for op in self.body_block:
            if symbol_name(op) == name:
                return op
        return None

    def verify_op(self) -> None:
        for block in self.body_region.blocks:
            if block.args:
                raise self.error("region should have no arguments")


class UnrealizedConversionCast(Op, name="builtin.unrealized_conversion_cast", traits=(Pure,)):
    """Values of one type system seen as values of another, between two partial conversions.

    Source: upstream builtin.unrealized_conversion_cast.
    """

    inputs: Operands = operands()
    outputs: Results = results()

    format = "($inputs^ `:` type($inputs))? `to` type($outputs) attr-dict"
    example = "%0 = builtin.unrealized_conversion_cast %a : i64 to index"

    def fold(self):
        """X -> y -> x is x, and a cast to the same types is nothing."""
        if [v.type for v in self.inputs] == [v.type for v in self.outputs]:
            return list(self.inputs)
        if not self.inputs:
            return None
        inner = self.inputs[0].defined_by(UnrealizedConversionCast)
        if inner is None or self.inputs != tuple(inner.outputs):
            return None
        if [v.type for v in inner.inputs] == [v.type for v in self.outputs]:
            return list(inner.inputs)
        return None

    def evaluate(self, *inputs):
        """The same values: i64 and index, say, have one form in the interpreter."""
        if len(inputs) != len(self.outputs):
            raise NncError("a cast between different numbers of values has no reference semantics")
        return inputs

    def verify_op(self) -> None:
        if not self.outputs:
            raise self.error("expected at least one result for cast operation")
