"""Functions and globals of the llvm dialect."""

# ruff: noqa: N815 - the names of properties are upstream's

from __future__ import annotations

from ...ir.declare import TYPE
from ...ir.traits import Symbol
from ..vocabulary import *
from .attributes import (
    CCONV,
    FRAME_POINTER,
    LINKAGE,
    UNNAMED_ADDR,
    UWTABLE_KIND,
    VISIBILITY,
    LinkageAttr,
)
from .checks import check_initializer, is_bytes
from .debug_info import GLOBAL_EXPRESSIONS
from .metadata import MemoryEffects, TargetFeatures, VecTypeHint, VScaleRange, attribute_of
from .types import LLVMFunctionType, is_llvm_type

SYMBOL_PATH = instance(SymbolRefAttr, "symbol reference attribute")


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
    visibility_: str = attribute(VISIBILITY, default="default")
    unnamed_addr: str | None = attribute(UNNAMED_ADDR, optional=True)
    sym_visibility: str | None = attribute(STRING, optional=True)
    dso_local: bool = attribute(UNIT)
    comdat: SymbolRefAttr | None = attribute(SYMBOL_PATH, optional=True)
    convergent: bool = attribute(UNIT)
    personality: str | None = attribute(SYMBOL, optional=True)
    garbageCollector: str | None = attribute(STRING, optional=True)
    passthrough: tuple[Attribute, ...] | None = attribute(ARRAY, optional=True)
    arg_attrs: tuple[Attribute, ...] | None = attribute(ARRAY, optional=True)
    res_attrs: tuple[Attribute, ...] | None = attribute(ARRAY, optional=True)
    function_entry_count: int | None = attribute(I64, optional=True)
    memory_effects: Attribute | None = attribute(attribute_of(MemoryEffects), optional=True)
    arm_streaming: bool = attribute(UNIT)
    arm_locally_streaming: bool = attribute(UNIT)
    arm_streaming_compatible: bool = attribute(UNIT)
    arm_new_za: bool = attribute(UNIT)
    arm_in_za: bool = attribute(UNIT)
    arm_out_za: bool = attribute(UNIT)
    arm_inout_za: bool = attribute(UNIT)
    arm_preserves_za: bool = attribute(UNIT)
    section: str | None = attribute(STRING, optional=True)
    alignment: int | None = attribute(I64, optional=True)
    vscale_range: Attribute | None = attribute(attribute_of(VScaleRange), optional=True)
    frame_pointer: str | None = attribute(FRAME_POINTER, optional=True)
    target_cpu: str | None = attribute(STRING, optional=True)
    tune_cpu: str | None = attribute(STRING, optional=True)
    reciprocal_estimates: str | None = attribute(STRING, optional=True)
    prefer_vector_width: str | None = attribute(STRING, optional=True)
    target_features: Attribute | None = attribute(attribute_of(TargetFeatures), optional=True)
    no_infs_fp_math: bool | None = attribute(BOOL, optional=True)
    no_nans_fp_math: bool | None = attribute(BOOL, optional=True)
    no_signed_zeros_fp_math: bool | None = attribute(BOOL, optional=True)
    denormal_fp_math: str | None = attribute(STRING, optional=True)
    denormal_fp_math_f32: str | None = attribute(STRING, optional=True)
    fp_contract: str | None = attribute(STRING, optional=True)
    instrument_function_entry: str | None = attribute(STRING, optional=True)
    instrument_function_exit: str | None = attribute(STRING, optional=True)
    no_inline: bool = attribute(UNIT)
    always_inline: bool = attribute(UNIT)
    inline_hint: bool = attribute(UNIT)
    no_unwind: bool = attribute(UNIT)
    will_return: bool = attribute(UNIT)
    optimize_none: bool = attribute(UNIT)
    vec_type_hint: Attribute | None = attribute(attribute_of(VecTypeHint), optional=True)
    work_group_size_hint: tuple[int, ...] | None = attribute(I32_ARRAY, optional=True)
    reqd_work_group_size: tuple[int, ...] | None = attribute(I32_ARRAY, optional=True)
    intel_reqd_sub_group_size: int | None = attribute(I32, optional=True)
    uwtable_kind: str | None = attribute(UWTABLE_KIND, optional=True)
    body: Region = region()  # type: ignore[assignment]

    format = (
        "custom<LLVMFunction>($sym_name, $function_type, $arg_attrs, $res_attrs, $body) "
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
            unnamed_addr="none",
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
        """Check that the entry block's arguments are the function's."""
        if not isinstance(self.function_type, LLVMFunctionType):
            raise self.error(
                "attribute 'function_type' failed to satisfy constraint: type attribute of LLVM "
                "function type"
            )
        if self.linkage in ("common", "appending"):
            raise self.error(f"functions cannot have '{self.linkage}' linkage")
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
    externally_initialized: bool = attribute(UNIT)
    dso_local: bool = attribute(UNIT)
    unnamed_addr: str | None = attribute(UNNAMED_ADDR, optional=True)
    visibility_: str = attribute(VISIBILITY, default="default")
    section: str | None = attribute(STRING, optional=True)
    comdat: SymbolRefAttr | None = attribute(SYMBOL_PATH, optional=True)
    dbg_exprs: tuple[Attribute, ...] | None = attribute(GLOBAL_EXPRESSIONS, optional=True)
    target_specific_attrs: tuple[Attribute, ...] | None = attribute(ARRAY, optional=True)
    initializer: Region = region()

    format = (
        "custom<LLVMGlobal>($sym_name, $value) attr-dict "
        "custom<LLVMGlobalType>($global_type, $value) custom<OptionalBody>($initializer)"
    )
    example = (
        "llvm.mlir.global internal constant @table(dense<[1.000000e+00, 2.000000e+00]> : "
        "tensor<2xf32>) {addr_space = 0 : i32, alignment = 64 : i64} : !llvm.array<2 x f32>"
    )

    def verify_op(self) -> None:
        """Check that there is a value or a body, not both, of the global's type."""
        type = self.global_type
        if type.name in ("llvm.void", "llvm.token", "llvm.label", "llvm.metadata", "llvm.func"):
            raise self.error("expects type to be a valid element type for an LLVM global")
        if not type.name.startswith("llvm.") and not is_llvm_type(type):
            raise self.error("expects type to be a valid element type for an LLVM global")
        if isinstance(self.value, StringAttr):
            size = len(self.value.value.encode("utf-8", "surrogateescape"))
            if not is_bytes(type, size):
                raise self.error(
                    "requires an i8 array type of the length equal to that of the string attribute"
                )
        if self.linkage == "appending" and type.name != "llvm.array":
            raise self.error("expected array type for 'appending' linkage")
        if self.initializer.blocks and self.value is not None:
            raise self.error("cannot have both initializer value and region")
        if self.linkage == "common" and not _is_zero(self.value):
            raise self.error("expected zero value for 'common' linkage")
        check_initializer(self, self.initializer, self.global_type)


def _is_zero(value: Any) -> bool:
    if isinstance(value, IntegerAttr | FloatAttr):
        return value.value == 0
    if isinstance(value, DenseElements):
        return value.is_splat and not any(value.data)
    return value is None
