"""Attributes of the llvm dialect that stand for LLVM's metadata, each a list of parameters.

Loops, memory effects, aliasing and targets here; debug information in `debug_info`.
"""

from __future__ import annotations

from typing import Any

from ...ir.attributes import DistinctAttr, FloatAttr, IntegerAttr, LocationAttr, SymbolRefAttr
from ...ir.declare import ARRAY, AttrKind
from ...ir.parameters import (
    NUMBER,
    STRING,
    TRUTH,
    AttributeDefinition,
    Parameter,
    ParameterError,
    ParametrizedAttr,
    attribute_parameter,
    checked_parameter,
    parametrized,
    word_parameter,
)
from ...ir.types import IntegerType, Type, i1

BOOLEAN = checked_parameter(
    "'true' or 'false'", lambda a: isinstance(a, IntegerAttr) and a.type is i1
)
INTEGER = checked_parameter("an integer", lambda a: isinstance(a, IntegerAttr))
DISTINCT = checked_parameter("a distinct attribute", lambda a: isinstance(a, DistinctAttr))
SYMBOL = checked_parameter("a symbol's name", lambda a: isinstance(a, SymbolRefAttr))
TYPE = checked_parameter("a type", lambda a: isinstance(a, Type))
FLOAT = checked_parameter("a float", lambda a: isinstance(a, FloatAttr))
LOCATION = checked_parameter("a location", lambda a: isinstance(a, LocationAttr))
ANY = attribute_parameter()


def of(name: str) -> Parameter:
    """A parameter that is an attribute of the llvm dialect, `#llvm.NAME`."""
    return attribute_parameter(f"llvm.{name}")


def attribute_of(definition: AttributeDefinition) -> AttrKind[Any]:
    """The kind of an op's attribute that holds an attribute of a definition."""
    return AttrKind(
        f"{definition.name} attribute",
        lambda a: isinstance(a, ParametrizedAttr) and a.definition is definition,
        lambda a: a,
        lambda a: a,
        parameter=attribute_parameter(definition.name),
    )


def array_of(definition: AttributeDefinition, words: str) -> AttrKind[tuple]:
    """The kind of an op's attribute that is an array of attributes of a definition."""
    return AttrKind(
        words,
        lambda a: (
            ARRAY.allows(a)
            and all(
                isinstance(e, ParametrizedAttr) and e.definition is definition
                for e in a.elements  # type: ignore[attr-defined]
            )
        ),
        ARRAY.to_python,
        ARRAY.from_python,
    )


# -- loops -----------------------------------------------------------------------------------------

_FLAG, _COUNT, _LOOP = BOOLEAN.optional(), INTEGER.optional(), of("loop_annotation").optional()

parametrized(
    "llvm.loop_vectorize",
    "How to vectorize a loop.",
    alias=True,
    disable=_FLAG,
    predicateEnable=_FLAG,
    scalableEnable=_FLAG,
    width=_COUNT,
    followupVectorized=_LOOP,
    followupEpilogue=_LOOP,
    followupAll=_LOOP,
)
parametrized("llvm.loop_interleave", "How often to interleave a loop.", alias=True, count=INTEGER)
parametrized(
    "llvm.loop_unroll",
    "How to unroll a loop.",
    alias=True,
    disable=_FLAG,
    count=_COUNT,
    runtimeDisable=_FLAG,
    full=_FLAG,
    followupUnrolled=_LOOP,
    followupRemainder=_LOOP,
    followupAll=_LOOP,
)
parametrized(
    "llvm.loop_unroll_and_jam",
    "How to unroll a loop and join what is in it.",
    alias=True,
    disable=_FLAG,
    count=_COUNT,
    followupOuter=_LOOP,
    followupInner=_LOOP,
    followupRemainderOuter=_LOOP,
    followupRemainderInner=_LOOP,
    followupAll=_LOOP,
)
parametrized(
    "llvm.loop_licm",
    "Whether to move invariant code out of a loop.",
    alias=True,
    disable=_FLAG,
    versioningDisable=_FLAG,
)
parametrized(
    "llvm.loop_distribute",
    "Whether to split a loop in several.",
    alias=True,
    disable=_FLAG,
    followupCoincident=_LOOP,
    followupSequential=_LOOP,
    followupFallback=_LOOP,
    followupAll=_LOOP,
)
parametrized(
    "llvm.loop_pipeline",
    "How to pipeline a loop.",
    alias=True,
    disable=_FLAG,
    initiationinterval=_COUNT,
)
parametrized("llvm.loop_peeled", "How many iterations were peeled.", alias=True, count=_COUNT)
parametrized("llvm.loop_unswitch", "Whether to unswitch a loop.", alias=True, partialDisable=_FLAG)
LoopAnnotation = parametrized(
    "llvm.loop_annotation",
    "What LLVM's passes shall do with the loop that a branch closes.",
    alias=True,
    disableNonforced=_FLAG,
    vectorize=of("loop_vectorize").optional(),
    interleave=of("loop_interleave").optional(),
    unroll=of("loop_unroll").optional(),
    unrollAndJam=of("loop_unroll_and_jam").optional(),
    licm=of("loop_licm").optional(),
    distribute=of("loop_distribute").optional(),
    pipeline=of("loop_pipeline").optional(),
    peeled=of("loop_peeled").optional(),
    unswitch=of("loop_unswitch").optional(),
    mustProgress=_FLAG,
    isVectorized=_FLAG,
    startLoc=LOCATION.optional(),
    endLoc=LOCATION.optional(),
    parallelAccesses=of("access_group").list(),
)

# -- memory ----------------------------------------------------------------------------------------

_EFFECT = word_parameter("memory effect", "none", "read", "write", "readwrite")

MemoryEffects = parametrized(
    "llvm.memory_effects",
    "What a function may read and write.",
    other=_EFFECT,
    argMem=_EFFECT,
    inaccessibleMem=_EFFECT,
    errnoMem=_EFFECT,
    targetMem0=_EFFECT,
    targetMem1=_EFFECT,
)
parametrized(
    "llvm.alias_scope_domain",
    "A set of scopes that may exclude each other.",
    alias=True,
    id=ANY,
    description=STRING.optional(),
)
AliasScope = parametrized(
    "llvm.alias_scope",
    "A scope of memory accesses, for `alias_scopes` and `noalias_scopes`.",
    alias=True,
    id=ANY,
    domain=of("alias_scope_domain"),
    description=STRING.optional(),
)
AccessGroup = parametrized(
    "llvm.access_group",
    "A group of memory accesses that a loop annotation can call parallel.",
    alias=True,
    id=DISTINCT,
)
parametrized(
    "llvm.tbaa_root",
    "The root of a tree of types.",
    alias=True,
    bare=True,
    id=STRING.optional(),
)
parametrized("llvm.tbaa_member", "A member of a type.", named=False, typeDesc=ANY, offset=NUMBER)


def _members(piece: Any) -> tuple[Any, ...]:
    if piece[0] != "braced":
        raise ParameterError("expected '{' and members")
    return tuple(_member.read(one) for one in piece[1])


_member = of("tbaa_member")

parametrized(
    "llvm.tbaa_type_desc",
    "A type by which accesses are told apart.",
    alias=True,
    id=STRING,
    members=Parameter(
        _members,
        lambda value, printer: f"{{{', '.join(_member.write(v, printer) for v in value)}}}",
    ),
)
TBAATag = parametrized(
    "llvm.tbaa_tag",
    "What an access touches, by types.",
    alias=True,
    base_type=of("tbaa_type_desc"),
    access_type=of("tbaa_type_desc"),
    offset=NUMBER,
    constant=TRUTH.optional(False),
)
parametrized(
    "llvm.mmra_tag",
    "A tag of the memory model.",
    named=False,
    alias=True,
    separator=":",
    prefix=STRING,
    suffix=STRING,
)
Dereferenceable = parametrized(
    "llvm.dereferenceable",
    "How many bytes lie behind a pointer.",
    bytes=NUMBER,
    mayBeNull=TRUTH.optional(False),
)
parametrized("llvm.address_space", "An address space.", named=False, addressSpace=NUMBER)


class _ConstantRange(AttributeDefinition):
    """`<i8, -4, 12>`: the type stands once for both bounds."""

    def from_syntax(self, child: Any) -> ParametrizedAttr:
        made = super().from_syntax(child)
        type, lower, upper = made.values
        if isinstance(type, IntegerType):
            bounds = [IntegerAttr(b, type).value for b in (lower, upper)]
            return ParametrizedAttr(self, (type, *bounds))
        return made


ConstantRange = parametrized(
    "llvm.constant_range",
    "The values that a result may have.",
    _ConstantRange,
    named=False,
    type=TYPE,
    lower=NUMBER,
    upper=NUMBER,
)

# -- functions, modules and targets ----------------------------------------------------------------

VScaleRange = parametrized(
    "llvm.vscale_range", "The least and the largest vscale.", minRange=INTEGER, maxRange=INTEGER
)


def _strings(piece: Any) -> tuple[Any, ...]:
    if piece[0] == "attribute" and ARRAY.allows(piece[1]):
        return piece[1].elements
    raise ParameterError("expected a list of strings")


TargetFeatures = parametrized(
    "llvm.target_features",
    'Features of a processor: `<["+avx", "-sse"]>`.',
    named=False,
    features=Parameter(
        _strings, lambda v, printer: f"[{', '.join(printer.attribute(s) for s in v)}]"
    ),
)
parametrized(
    "llvm.target",
    "A processor.",
    triple=STRING,
    chip=STRING,
    features=of("target_features").optional(),
)
BlockTag = parametrized("llvm.blocktag", "A block's number in its function.", id=NUMBER)
BlockAddress = parametrized(
    "llvm.blockaddress", "A block of a function.", function=SYMBOL, tag=of("blocktag")
)
VecTypeHint = parametrized(
    "llvm.vec_type_hint",
    "The type that a kernel computes on.",
    hint=TYPE,
    is_signed=TRUTH.optional(False),
)
parametrized("llvm.undef", "An undefined value.")
parametrized("llvm.poison", "A poisonous value.")
parametrized("llvm.zero", "A value of zeros.")
parametrized(
    "llvm.mlir.workgroup_attribution",
    "Memory that a work group shares.",
    named=False,
    num_elements=INTEGER,
    element_type=TYPE,
)
parametrized(
    "llvm.mlir.module_flag",
    "An entry of a module's flags: how it is merged, its key, its value.",
    named=False,
    behavior=word_parameter(
        "behavior",
        *("error", "warning", "require", "override", "append", "append_unique", "max", "min"),
    ),
    key=STRING,
    value=ANY,
)
_CALL: Any = {"from": SYMBOL.optional(), "to": SYMBOL.optional()}  # `from` is a word of Python's
parametrized(
    "llvm.cgprofile_entry",
    "How often one function calls another.",
    **_CALL,
    count=NUMBER,
)
parametrized(
    "llvm.profile_summary_detailed",
    "A row of a profile's summary.",
    cut_off=NUMBER,
    min_count=NUMBER,
    num_counts=NUMBER,
)
parametrized(
    "llvm.profile_summary",
    "The summary of a profile.",
    format=word_parameter("format", "SampleProfile", "InstrProf", "CSInstrProf"),
    total_count=NUMBER,
    max_count=NUMBER,
    max_internal_count=NUMBER,
    max_function_count=NUMBER,
    num_counts=NUMBER,
    num_functions=NUMBER,
    is_partial_profile=NUMBER.optional(),
    partial_profile_ratio=FLOAT.optional(),
    detailed_summary=of("profile_summary_detailed").list(),
)
parametrized("llvm.dependent_libraries", "Libraries to link with.", named=False, libs=STRING.list())
