"""Attributes of the llvm dialect that stand for debug information, each a list of parameters.

Their names and parameters are those of LLVM's DIBuilder; words that start with `DW_` are DWARF's.
"""

from __future__ import annotations

from typing import Any

from ...ir.parameters import (
    NUMBER,
    STRING,
    TRUTH,
    Parameter,
    ParameterError,
    flags_parameter,
    parametrized,
    word_parameter,
)
from .metadata import ANY, DISTINCT, array_of, attribute_of, of

_TAG = word_parameter("tag", prefix="DW_TAG_").optional()
_ENCODING = word_parameter("encoding", prefix="DW_ATE_").optional()
_NAME, _COUNT, _FLAG = STRING.optional(), NUMBER.optional(0), TRUTH.optional(False)
_FILE, _NODE, _EXPRESSION = of("di_file").optional(), ANY.optional(), of("di_expression").optional()

_FLAGS = flags_parameter(
    "debug info flag",
    {"Public": ("Private", "Protected")},
    *("Zero", "Bit0", "Bit1", "Private", "Protected", "Public", "FwdDecl", "AppleBlock"),
    *("ReservedBit4", "Virtual", "Artificial", "Explicit", "Prototyped", "ObjcClassComplete"),
    *("ObjectPointer", "Vector", "StaticMember", "LValueReference", "RValueReference"),
    *("ExportSymbols", "SingleInheritance", "MultipleInheritance", "VirtualInheritance"),
    *("IntroducedVirtual", "BitField", "NoReturn", "TypePassByValue", "TypePassByReference"),
    *("EnumClass", "Thunk", "NonTrivial", "BigEndian", "LittleEndian", "AllCallsDescribed"),
).optional(("Zero",))
_SUBPROGRAM_FLAGS = flags_parameter(
    "subprogram flag",
    {},
    *("Virtual", "PureVirtual", "LocalToUnit", "Definition", "Optimized", "Pure", "Elemental"),
    *("Recursive", "MainSubprogram", "Deleted", "ObjCDirect"),
).optional(())

# -- expressions -----------------------------------------------------------------------------------


def _operations(piece: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if piece[0] == "attribute" and not getattr(piece[1], "elements", True):
        return ()
    if piece[0] != "words":
        raise ParameterError("expected a list of operations '[DW_OP_..]'")
    for word, _ in piece[1]:
        if not word.startswith("DW_OP_"):
            raise ParameterError(f"'{word}' is not an operation; expected one that starts DW_OP_")
    return tuple(piece[1])


def _operations_text(operations: Any, printer: Any) -> str:
    texts = [f"{word}({', '.join(args)})" if args else word for word, args in operations]
    return f"[{', '.join(texts)}]"


_expression = parametrized(
    "llvm.di_expression",
    "How to get a variable's value: DWARF operations.",
    named=False,
    operations=Parameter(_operations, _operations_text, ()),
)

# -- types -----------------------------------------------------------------------------------------

parametrized("llvm.di_null_type", "No type: the result of a subroutine without one.", alias=True)
parametrized(
    "llvm.di_basic_type",
    "A scalar type.",
    alias=True,
    tag=_TAG,
    name=STRING,
    sizeInBits=_COUNT,
    encoding=_ENCODING,
)
parametrized(
    "llvm.di_composite_type",
    "A type with members or elements.",
    alias=True,
    recId=DISTINCT.optional(),
    isRecSelf=_FLAG,
    tag=_TAG,
    name=_NAME,
    file=_FILE,
    line=_COUNT,
    scope=_NODE,
    baseType=_NODE,
    flags=_FLAGS,
    sizeInBits=_COUNT,
    alignInBits=_COUNT,
    dataLocation=_EXPRESSION,
    rank=_EXPRESSION,
    allocated=_EXPRESSION,
    associated=_EXPRESSION,
    elements=ANY.list(),
)
parametrized(
    "llvm.di_derived_type",
    "A type made from another: a pointer, a member, a name.",
    alias=True,
    tag=_TAG,
    name=_NAME,
    baseType=_NODE,
    sizeInBits=_COUNT,
    alignInBits=_COUNT,
    offsetInBits=_COUNT,
    dwarfAddressSpace=NUMBER.optional(),
    extraData=_NODE,
)
parametrized(
    "llvm.di_subroutine_type",
    "The type of a function: its result and its arguments.",
    alias=True,
    callingConvention=word_parameter("calling convention", prefix="DW_CC_").optional(),
    types=ANY.list(),
)
parametrized(
    "llvm.di_string_type",
    "A type of strings.",
    alias=True,
    tag=_TAG,
    name=STRING,
    sizeInBits=_COUNT,
    alignInBits=_COUNT,
    stringLength=_NODE,
    stringLengthExp=_EXPRESSION,
    stringLocationExp=_EXPRESSION,
    encoding=_ENCODING,
)
parametrized(
    "llvm.di_subrange",
    "The range of an array's dimension.",
    count=_NODE,
    lowerBound=_NODE,
    upperBound=_NODE,
    stride=_NODE,
)
parametrized(
    "llvm.di_generic_subrange",
    "The range of a dimension of an array of any rank.",
    count=_NODE,
    lowerBound=ANY,
    upperBound=_NODE,
    stride=ANY,
)

# -- scopes ----------------------------------------------------------------------------------------

parametrized(
    "llvm.di_file",
    "A source file.",
    named=False,
    alias=True,
    separator=" in ",
    name=STRING,
    directory=STRING,
)
parametrized(
    "llvm.di_compile_unit",
    "A unit of compilation.",
    alias=True,
    id=DISTINCT,
    sourceLanguage=word_parameter("language", prefix="DW_LANG_"),
    file=of("di_file"),
    producer=_NAME,
    isOptimized=TRUTH,
    emissionKind=word_parameter(
        "emission kind", "None", "Full", "LineTablesOnly", "DebugDirectivesOnly"
    ),
    nameTableKind=word_parameter("name table", "Default", "GNU", "None", "Apple").optional(
        "Default"
    ),
    splitDebugFilename=_NAME,
)
parametrized(
    "llvm.di_subprogram",
    "A function.",
    alias=True,
    recId=DISTINCT.optional(),
    isRecSelf=_FLAG,
    id=DISTINCT.optional(),
    compileUnit=of("di_compile_unit").optional(),
    scope=_NODE,
    name=_NAME,
    linkageName=_NAME,
    file=_FILE,
    line=_COUNT,
    scopeLine=_COUNT,
    subprogramFlags=_SUBPROGRAM_FLAGS,
    type=of("di_subroutine_type").optional(),
    retainedNodes=ANY.list(),
    annotations=ANY.list(),
)
parametrized(
    "llvm.di_lexical_block",
    "A block of statements.",
    alias=True,
    scope=ANY,
    file=_FILE,
    line=_COUNT,
    column=_COUNT,
)
parametrized(
    "llvm.di_lexical_block_file",
    "A part of a scope that comes from another file.",
    alias=True,
    scope=ANY,
    file=_FILE,
    discriminator=NUMBER,
)
parametrized(
    "llvm.di_module",
    "A module.",
    alias=True,
    file=_FILE,
    scope=_NODE,
    name=_NAME,
    configMacros=_NAME,
    includePath=_NAME,
    apinotes=_NAME,
    line=_COUNT,
    isDecl=_FLAG,
)
parametrized(
    "llvm.di_namespace",
    "A namespace.",
    alias=True,
    name=_NAME,
    scope=_NODE,
    exportSymbols=TRUTH,
)
parametrized(
    "llvm.di_common_block",
    "A common block of Fortran.",
    alias=True,
    scope=ANY,
    decl=of("di_global_variable").optional(),
    name=STRING,
    file=_FILE,
    line=_COUNT,
)

# -- variables and labels --------------------------------------------------------------------------

parametrized(
    "llvm.di_global_variable",
    "A global variable.",
    alias=True,
    scope=_NODE,
    name=_NAME,
    linkageName=_NAME,
    file=of("di_file"),
    line=NUMBER,
    type=ANY,
    isLocalToUnit=_FLAG,
    isDefined=_FLAG,
    alignInBits=_COUNT,
)
_global_expression = parametrized(
    "llvm.di_global_variable_expression",
    "A global variable, and how to get its value.",
    alias=True,
    var=of("di_global_variable"),
    expr=_EXPRESSION,
)
_local_variable = parametrized(
    "llvm.di_local_variable",
    "A local variable or an argument.",
    alias=True,
    scope=ANY,
    name=_NAME,
    file=_FILE,
    line=_COUNT,
    arg=_COUNT,
    alignInBits=_COUNT,
    type=_NODE,
    flags=_FLAGS,
)
_label = parametrized(
    "llvm.di_label", "A label.", alias=True, scope=ANY, name=_NAME, file=_FILE, line=_COUNT
)
parametrized(
    "llvm.di_imported_entity",
    "What one scope imports from another.",
    alias=True,
    tag=_TAG,
    scope=ANY,
    entity=ANY,
    file=_FILE,
    line=_COUNT,
    name=_NAME,
    elements=ANY.list(),
)
parametrized("llvm.di_annotation", "A note: a name and a value.", name=STRING, value=STRING)

EXPRESSION = attribute_of(_expression)
LOCAL_VARIABLE = attribute_of(_local_variable)
LABEL = attribute_of(_label)
GLOBAL_EXPRESSIONS = array_of(_global_expression, "an array of variable expressions")

NO_OPERATIONS = _expression()
"""`#llvm.di_expression<>`: the variable's value is unchanged."""
