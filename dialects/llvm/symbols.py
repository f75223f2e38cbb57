"""Functions and globals of the llvm dialect."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.attributes import Attribute, DictAttr, StringAttr
from ...ir.core import Block, Region
from ...ir.declare import ANY, ARRAY, I32, I64, SYMBOL_NAME, TYPE, UNIT, Op, attribute, region
from ...ir.location import UNKNOWN, Location
from ...ir.traits import IsolatedFromAbove, Symbol
from ...ir.types import Type
from .attributes import CCONV, LINKAGE, LinkageAttr
from .types import LLVMFunctionType


class Func(Op, name="llvm.func", traits=(IsolatedFromAbove, Symbol)):
    """A function; without a body, a declaration of one defined elsewhere.

    `passthrough` holds LLVM function attributes: `["nounwind", ["target-cpu", "znver4"]]`.
    `arg_attrs` holds a dictionary for each argument: `llvm.noalias`, `llvm.readonly`,
    `llvm.align`, ...
    """

    sym_name: str = attribute(SYMBOL_NAME)
    function_type: LLVMFunctionType = attribute(TYPE)
    linkage: str = attribute(LINKAGE, default="external")
    CConv: str = attribute(CCONV, default="ccc")
    visibility_: int = attribute(I64, default=0)
    unnamed_addr: int = attribute(I64, default=0)
    dso_local: bool = attribute(UNIT)
    arg_attrs: tuple[Attribute, ...] | None = attribute(ARRAY, optional=True)
    res_attrs: tuple[Attribute, ...] | None = attribute(ARRAY, optional=True)
    passthrough: tuple[Attribute, ...] | None = attribute(ARRAY, optional=True)
    no_inline: bool = attribute(UNIT)
    always_inline: bool = attribute(UNIT)
    memory_effects: Attribute | None = attribute(ANY, optional=True)
    body: Region = region()  # type: ignore[assignment]

    format = (
        "custom<LLVMFunction>($sym_name, $function_type, $linkage, $arg_attrs, $res_attrs, $body) "
        "attr-dict-with-keyword custom<FunctionBody>($body)"
    )
    example = """llvm.func internal @scale(%p: !llvm.ptr {llvm.noalias}, %s: f32) -> f32 {
  %x = llvm.load %p : !llvm.ptr -> f32
  %y = llvm.fmul %x, %s : f32
  llvm.return %y : f32
}"""

    @staticmethod
    def define(
        name: str,
        type: LLVMFunctionType,
        *,
        linkage: str = "external",
        arg_attrs: Sequence[dict[str, Attribute]] | None = None,
        passthrough: Sequence[str] = (),
        declaration: bool = False,
        loc: Location = UNKNOWN,
    ) -> Func:
        """A function with an empty entry block, or a declaration."""
        func = Func(
            name,
            type,
            LinkageAttr(linkage),
            arg_attrs=tuple(map(_dictionary, arg_attrs)) if arg_attrs is not None else None,
            passthrough=tuple(map(StringAttr, passthrough)) if passthrough else None,
            loc=loc,
        )
        if not declaration:
            func.regions[0].append(Block(type.inputs))
        return func

    @property
    def is_declaration(self) -> bool:
        """Whether there is no body."""
        return not self.regions[0].blocks

    def verify_op(self) -> None:
        """The entry block's arguments are the function's."""
        if not isinstance(self.function_type, LLVMFunctionType):
            raise self.error(f"requires a type of form !llvm.func, found {self.function_type}")
        if self.is_declaration:
            if self.linkage not in ("external", "extern_weak"):
                raise self.error("external functions must have 'external' or 'extern_weak' linkage")
            return
        found = tuple(a.type for a in self.regions[0].blocks[0].args)
        if found != self.function_type.inputs:
            raise self.error("entry block arguments do not match the function's type")


def _dictionary(entries: dict[str, Attribute]) -> DictAttr:
    return DictAttr(tuple(entries.items()))


class Global(Op, name="llvm.mlir.global", traits=(IsolatedFromAbove, Symbol)):
    """A global variable: its value is an attribute, or what its region returns, or external."""

    sym_name: str = attribute(SYMBOL_NAME)
    global_type: Type = attribute(TYPE)
    value: Attribute | None = attribute(ANY, optional=True)
    linkage: str = attribute(LINKAGE, default="external")
    constant: bool = attribute(UNIT)
    alignment: int | None = attribute(I64, optional=True)
    addr_space: int = attribute(I32, default=0, shows_default=True)
    thread_local_: bool = attribute(UNIT)
    dso_local: bool = attribute(UNIT)
    unnamed_addr: int = attribute(I64, default=0)
    visibility_: int = attribute(I64, default=0)
    initializer: Region = region()

    format = (
        "custom<LLVMGlobal>($linkage, $constant, $thread_local_, $sym_name, $value) "
        "attr-dict custom<LLVMGlobalType>($global_type, $value) custom<OptionalBody>($initializer)"
    )
    example = (
        "llvm.mlir.global internal constant @table(dense<[1.000000e+00, 2.000000e+00]> : "
        "tensor<2xf32>) {addr_space = 0 : i32, alignment = 64 : i64} : !llvm.array<2 x f32>"
    )
